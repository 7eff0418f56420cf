/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON report. Numbers have 17 significant digits, so that reading them back gives the same
 * float64. */
#include "tools/print.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

json_t *report_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *report_text(const char *text)
{
    json_t *string = text != NULL ? json_string(text) : NULL;
    return string != NULL ? string : json_null();
}

/* The files that a node reads, from the option that names them. */
static void append_files(json_t *files, const ek_node *node)
{
    const char *options = ek_node_options(node);
    for (const ek_option *o = ek_node_stage(node)->options; o != NULL && o->name != NULL; o++) {
        if (o->type != EK_OPTION_STRINGS || (o->text & EK_TEXT_GLOB) == 0) {
            continue;
        }
        const void *list = options + o->offset;
        const void *count = options + o->count_offset;
        for (int i = 0; i < *(const int *)count; i++) {
            json_array_append_new(files, report_text((*(const char *const *const *)list)[i]));
        }
    }
}

json_t *report_files(const job_run *run)
{
    json_t *files = json_array();
    for (int i = 0; i < ek_pipeline_size(run->pipeline); i++) {
        append_files(files, ek_pipeline_node(run->pipeline, i));
    }
    return files;
}

static json_t *dims_object(const ek_field *field)
{
    json_t *dims = json_object();
    for (int i = 0; i < field->n_dims; i++) {
        json_object_set_new(dims, field->dims[i].name, json_integer(field->dims[i].size));
    }
    return dims;
}

static void set_counts(json_t *object, const job_run *run)
{
    ek_counts counts = ek_report_counts(run->report);
    json_object_set_new(object, "seconds", report_real(ek_report_seconds(run->report)));
    json_object_set_new(object, "device_seconds",
                        report_real(ek_report_device_seconds(run->report)));
    ek_times times = ek_report_times(run->report);
    json_object_set_new(object, "read_seconds", report_real(times.read));
    json_object_set_new(object, "upload_seconds", report_real(times.upload));
    json_object_set_new(object, "compute_seconds", report_real(times.compute));
    json_object_set_new(object, "closing_seconds", report_real(times.closing));
    json_object_set_new(object, "passes", json_integer(ek_plan_passes(run->plan)));
    json_object_set_new(object, "chunks", json_integer(counts.chunks));
    json_object_set_new(object, "launches", json_integer(counts.launches));
    json_object_set_new(object, "graph_launches", json_integer(counts.graph_launches));
    json_object_set_new(object, "graphs", json_integer(counts.graphs));
    json_object_set_new(object, "graph_nodes", json_integer(counts.graph_nodes));
    json_object_set_new(object, "upload_bytes", json_integer(counts.upload_bytes));
    json_object_set_new(object, "download_bytes", json_integer(counts.download_bytes));
}

json_t *report_head(const job_run *run)
{
    const ek_field *field = ek_plan_field(run->plan);
    json_t *object = json_object();
    json_object_set_new(object, "version", json_string(EK_VERSION_STRING));
    json_object_set_new(object, "command", report_text(run->job->command));
    json_object_set_new(object, "files", report_files(run));
    json_object_set_new(object, "output", report_text(run->job->output));
    json_object_set_new(object, "variable", report_text(field->name));
    json_object_set_new(object, "units", report_text(field->units));
    json_object_set_new(object, "dimensions", dims_object(field));
    json_object_set_new(object, "n_time", json_integer(field->n_time));
    json_object_set_new(object, "n_cells", json_integer(field->n_cells));
    json_object_set_new(object, "backend", report_text(ek_plan_backend(run->plan)));
    json_object_set_new(object, "backend_reason", report_text(ek_plan_backend_reason(run->plan)));
    json_object_set_new(object, "launch", report_text(ek_launch_name(ek_plan_launch(run->plan))));
    set_counts(object, run);
    return object;
}

/* A device or a pipe must be written to, not replaced. */
static bool is_special(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

static ek_status write_file(const json_t *object, const char *path, size_t flags)
{
    ek_status rc = EK_OK;
    bool direct = is_special(path);
    char *temporary = direct ? ek_strdup(path) : ek_strprintf("%s.part-%ld", path, (long)getpid());
    if (temporary == NULL) {
        return EK_ENOMEM;
    }
    FILE *file = fopen(temporary, "w");
    if (file == NULL) {
        rc = EK_FAIL_CODE(EK_EIO, errno, "cannot write '%s': %s", path, strerror(errno));
        goto done;
    }
    bool written = json_dumpf(object, file, flags) == 0 && fputc('\n', file) != EOF;
    written = fclose(file) == 0 && written;
    if (!written || (!direct && rename(temporary, path) != 0)) {
        rc = EK_FAIL_CODE(EK_EIO, errno, "cannot write '%s': %s", path, strerror(errno));
    }
    if (rc != EK_OK && !direct) {
        unlink(temporary);
    }
done:
    ek_free(temporary);
    return rc;
}

ek_status report_dump(json_t *object, const char *path, size_t flags)
{
    ek_status rc = EK_OK;
    if (object == NULL) {
        return EK_FAIL(EK_ENOMEM, "out of memory for the JSON report");
    }
    if (strcmp(path, "-") != 0) {
        rc = write_file(object, path, flags);
    } else if (json_dumpf(object, stdout, flags) != 0 || putchar('\n') == EOF) {
        rc = EK_FAIL_CODE(EK_EIO, errno, "cannot write to standard output: %s", strerror(errno));
    }
    json_decref(object);
    return rc;
}

ek_status report_write(json_t *object, const char *path)
{
    return report_dump(object, path, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
}
