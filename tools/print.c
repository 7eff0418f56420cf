/* SPDX-License-Identifier: Apache-2.0 */
/* What eof and stats print above and below their tables. */
#include "tools/print.h"

#include <string.h>

static void print_variable(FILE *out, const ek_field *field)
{
    fprintf(out, "variable  %s", field->name);
    if (field->long_name != NULL) {
        fprintf(out, ", %s", field->long_name);
    }
    if (field->units != NULL) {
        fprintf(out, " [%s]", field->units);
    }
    fprintf(out, "\nfiles     %s\n", field->source != NULL ? field->source : "");
}

static void print_grid(FILE *out, const ek_field *field)
{
    fputs("grid      ", out);
    for (int i = 0; i < field->n_dims; i++) {
        fprintf(out, "%s%s %lld", i == 0 ? "" : " x ", field->dims[i].name,
                (long long)field->dims[i].size);
    }
    fprintf(out, "%s%lld cells\n", field->n_dims > 0 ? " = " : "", (long long)field->n_cells);
}

static void print_period(FILE *out, const ek_field *field)
{
    fprintf(out, "period    %lld steps", (long long)field->n_time);
    if (field->time.first[0] != '\0') {
        fprintf(out, ", %s to %s", field->time.first, field->time.last);
    }
    fputc('\n', out);
}

void print_head(FILE *out, const job_run *run)
{
    const ek_field *field = ek_plan_field(run->plan);
    print_variable(out, field);
    print_grid(out, field);
    print_period(out, field);
    const char *reason = ek_plan_backend_reason(run->plan); /* starts with the backend's name */
    bool told = reason != NULL && reason[0] != '\0';
    fprintf(out, "backend   %s\n", told ? reason : ek_plan_backend(run->plan));
}

void print_cost(FILE *out, const job_run *run)
{
    ek_counts counts = ek_report_counts(run->report);
    fprintf(out, "\n%.3f s: reading %.3f s, %s %.3f s, in part at once; %lld chunk%s",
            ek_report_seconds(run->report), ek_report_times(run->report).read,
            strcmp(ek_plan_backend(run->plan), "host") == 0 ? "computing" : "on the device",
            ek_report_device_seconds(run->report), (long long)counts.chunks,
            counts.chunks == 1 ? "" : "s");
    if (ek_plan_launch(run->plan) == EK_LAUNCH_GRAPH) {
        fprintf(out, ", %lld graph launches", (long long)counts.graph_launches);
    } else {
        fprintf(out, ", %lld launches", (long long)counts.launches);
    }
    fprintf(out, ", %.1f MiB up, %.1f MiB down\n", (double)counts.upload_bytes / 0x1p20,
            (double)counts.download_bytes / 0x1p20);
    if (run->job->output != NULL) {
        fprintf(out, "written to %s\n", run->job->output);
    }
}

const char *print_attr(const job_run *run, const char *name)
{
    const ek_spec *spec = ek_plan_spec(run->plan, run->result);
    for (int i = 0; spec != NULL && i < spec->n_attrs; i++) {
        if (strcmp(spec->attrs[i].name, name) == 0) {
            return spec->attrs[i].text;
        }
    }
    return NULL;
}
