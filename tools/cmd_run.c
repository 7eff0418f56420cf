/* SPDX-License-Identifier: Apache-2.0 */
/* ekman run: a pipeline written as text, and what each of its results holds. */
#include "tools/summary.h"

#include <string.h>

static bool has_flag(const ek_node *node, unsigned flag)
{
    return (ek_node_stage(node)->flags & flag) != 0;
}

/* Whether the node brings a result, and not a stream, to the host. */
static bool is_result(const job_run *run, const ek_node *node)
{
    return has_flag(node, EK_STAGE_DOWNLOAD) && ek_plan_spec(run->plan, node)->kind == EK_RESULT;
}

/* The file that a sink writes, NULL if it is none or writes none. */
static const char *output_of(const ek_node *node)
{
    const ek_option *o = has_flag(node, EK_STAGE_SINK) ? ek_node_stage(node)->options : NULL;
    while (o != NULL && o->name != NULL &&
           (o->type != EK_OPTION_STRING || (o->text & EK_TEXT_WORD) == 0)) {
        o++;
    }
    if (o == NULL || o->name == NULL) {
        return NULL;
    }
    const void *field = (const char *)ek_node_options(node) + o->offset;
    return *(const char *const *)field;
}

static ek_status check_report(const job_run *run, const char *option, const char *path)
{
    if (path == NULL) {
        return EK_OK;
    }
    ek_status rc = EK_OK;
    json_t *files = report_files(run);
    for (size_t i = 0; i < json_array_size(files) && rc == EK_OK; i++) {
        const char *file = json_string_value(json_array_get(files, i));
        if (file != NULL && cli_same_file(file, path)) {
            rc = EK_FAIL(EK_EINVAL, "%s would overwrite the input '%s'", option, path);
        }
    }
    json_decref(files);
    for (int i = 0; i < ek_pipeline_size(run->pipeline) && rc == EK_OK; i++) {
        const ek_node *node = ek_pipeline_node(run->pipeline, i);
        const char *output = output_of(node);
        if (output != NULL && cli_same_file(output, path)) {
            rc = EK_FAIL(EK_EINVAL, "%s and the node '%s' both name '%s'", option,
                         ek_node_name(node), path);
        }
    }
    return rc;
}

/* No two sinks, and no report, may want the same file. */
static ek_status check_outputs(const job_run *run)
{
    int n = ek_pipeline_size(run->pipeline);
    for (int i = 0; i < n; i++) {
        const ek_node *node = ek_pipeline_node(run->pipeline, i);
        for (int k = 0; k < i && output_of(node) != NULL; k++) {
            const ek_node *other = ek_pipeline_node(run->pipeline, k);
            if (output_of(other) != NULL && cli_same_file(output_of(other), output_of(node))) {
                return EK_FAIL(EK_EINVAL, "the nodes '%s' and '%s' both write '%s'",
                               ek_node_name(other), ek_node_name(node), output_of(node));
            }
        }
    }
    EK_TRY(check_report(run, "--json", run->job->json));
    return check_report(run, "--report", run->job->report);
}

static ek_status print_result(const job_run *run, const ek_node *node)
{
    const ek_spec *spec = ek_plan_spec(run->plan, node);
    int64_t n_modes = ek_report_modes(run->report, node);
    printf("\n%s", ek_node_name(ek_node_input(node, 0)));
    if (n_modes > 0) {
        printf(": %lld mode%s", (long long)n_modes, n_modes == 1 ? "" : "s");
    }
    printf("\n%-18s  %14s  %14s  %14s  %10s\n", "array", "minimum", "mean", "maximum", "values");
    for (int i = 0; i < spec->n_arrays; i++) {
        summary s;
        if (!summary_get(run, node, i, &s)) {
            return ek_error_last()->status;
        }
        printf("%-18s  %14.7g  %14.7g  %14.7g  %10lld\n", spec->arrays[i].name, s.min, s.mean,
               s.max, (long long)s.n_cells);
    }
    return EK_OK;
}

static ek_status print_results(const job_run *run)
{
    int n = ek_pipeline_size(run->pipeline);
    print_head(stdout, run);
    for (int i = 0; i < n; i++) {
        const ek_node *node = ek_pipeline_node(run->pipeline, i);
        if (is_result(run, node)) {
            EK_TRY(print_result(run, node));
        }
    }
    print_cost(stdout, run);
    for (int i = 0; i < n; i++) {
        const ek_node *node = ek_pipeline_node(run->pipeline, i);
        const char *output = output_of(node);
        if (output != NULL) {
            printf("'%s' written to %s\n", ek_node_name(node), output);
        }
    }
    return EK_OK;
}

static bool has_axis(const ek_array_spec *array, ek_axis axis)
{
    return (array->n_axes > 0 && array->axes[0] == axis) ||
           (array->n_axes > 1 && array->axes[1] == axis);
}

/* The values of an array over modes, or of a scalar; NULL for one over cells or time. */
static json_t *small_array(const job_run *run, const ek_node *node, const ek_array_spec *array)
{
    int64_t n = 0;
    if (has_axis(array, EK_AXIS_CELL) || has_axis(array, EK_AXIS_TIME)) {
        return NULL;
    }
    const void *values = ek_report_array(run->report, node, array->name, &n);
    json_t *list = json_array();
    for (int64_t i = 0; values != NULL && i < n; i++) {
        json_array_append_new(list, array->dtype == EK_I32
                                        ? json_integer(((const int32_t *)values)[i])
                                        : report_real(((const double *)values)[i]));
    }
    return list;
}

static json_t *result_json(const job_run *run, const ek_node *node)
{
    const ek_spec *spec = ek_plan_spec(run->plan, node);
    json_t *arrays = json_object();
    for (int i = 0; i < spec->n_arrays; i++) {
        summary s;
        if (!summary_get(run, node, i, &s)) {
            json_decref(arrays);
            return NULL;
        }
        json_t *one = summary_json(&s);
        json_t *values = small_array(run, node, &spec->arrays[i]);
        json_object_set_new(one, "units", report_text(spec->arrays[i].units));
        if (values != NULL) {
            json_object_set_new(one, "values", values);
        }
        json_object_set_new(arrays, spec->arrays[i].name, one);
    }
    json_t *attributes = json_object();
    for (int i = 0; i < spec->n_attrs; i++) {
        json_object_set_new(attributes, spec->attrs[i].name, report_text(spec->attrs[i].text));
    }
    json_t *object = json_object();
    json_object_set_new(object, "node", report_text(ek_node_name(ek_node_input(node, 0))));
    json_object_set_new(object, "n_modes", json_integer(ek_report_modes(run->report, node)));
    json_object_set_new(object, "attributes", attributes);
    json_object_set_new(object, "arrays", arrays);
    return object;
}

static ek_status to_json(const job_run *run, json_t **out)
{
    char *text = ek_pipeline_text(run->pipeline);
    json_t *results = json_array();
    json_t *outputs = json_object();
    ek_status rc = text != NULL ? EK_OK : EK_ENOMEM;
    for (int i = 0; i < ek_pipeline_size(run->pipeline) && rc == EK_OK; i++) {
        const ek_node *node = ek_pipeline_node(run->pipeline, i);
        if (is_result(run, node)) {
            json_t *result = result_json(run, node);
            rc = result != NULL ? EK_OK : ek_error_last()->status;
            json_array_append_new(results, result);
        } else if (output_of(node) != NULL) {
            json_object_set_new(outputs, ek_node_name(node), report_text(output_of(node)));
        }
    }
    if (rc == EK_OK) {
        *out = report_head(run);
        json_object_set_new(*out, "pipeline", report_text(text));
        json_object_set(*out, "results", results);
        json_object_set(*out, "outputs", outputs);
    }
    ek_free(text);
    json_decref(results);
    json_decref(outputs);
    return rc;
}

static ek_status run_text(const cli_job *job, job_run *run)
{
    EK_TRY(job_prepare(run, job));
    EK_TRY(check_outputs(run));
    EK_TRY(job_execute(run));
    if (job->json == NULL || strcmp(job->json, "-") != 0) {
        EK_TRY(print_results(run));
    }
    if (job->json == NULL) {
        return EK_OK;
    }
    json_t *object = NULL;
    EK_TRY(to_json(run, &object));
    return report_write(object, job->json);
}

int cmd_run(int argc, char **argv)
{
    cli_job job = {0};
    job_run run = {0};
    ek_status rc = cli_parse_job(&job, "ekman", argc, argv);
    if (rc == EK_OK) {
        rc = run_text(&job, &run);
    }
    int code = rc == EK_OK ? cli_flush("ekman run") : job_fail(&run, "ekman run");
    job_close(&run);
    cli_job_free(&job);
    return code;
}
