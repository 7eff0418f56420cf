/* SPDX-License-Identifier: Apache-2.0 */
/* ekman eof: an EOF analysis, as a table, a map, JSON and a netCDF file. */
#include "tools/print.h"
#include "tools/textmap.h"

#include <math.h>
#include <string.h>

#define BARS_MAX 30

typedef struct eof_result {
    int64_t n_modes;
    const double *singular_values, *fractions, *eof;
    double total_variance, n_used;
} eof_result;

static ek_status get_result(const job_run *run, eof_result *out)
{
    int64_t n = 0;
    const ek_report *report = run->report;
    out->n_modes = ek_report_modes(report, run->result);
    out->singular_values = ek_report_array(report, run->result, "singular_value", &n);
    out->fractions = ek_report_array(report, run->result, "variance_fraction", &n);
    out->eof = ek_report_array(report, run->result, "eof", &n);
    if (out->singular_values == NULL || out->fractions == NULL || out->eof == NULL) {
        return ek_error_last()->status;
    }
    out->total_variance = ek_report_number(report, run->result, "total_variance");
    out->n_used = ek_report_number(report, run->result, "n_cells_used");
    return EK_OK;
}

static void print_table(const job_run *run, const eof_result *r)
{
    const char *solver = print_attr(run, "solver");
    const ek_field *field = ek_plan_field(run->plan);
    print_head(stdout, run);
    if (solver != NULL) {
        printf("solver    %s\n", solver);
    }
    printf("used      %.0f of %lld cells; total variance %.6g", r->n_used,
           (long long)field->n_cells, r->total_variance);
    if (field->units != NULL) {
        printf(" (%s)2", field->units);
    }
    printf("\n\n  mode  singular value  variance %%  cumulative %%\n");
    double cumulative = 0;
    for (int64_t i = 0; i < r->n_modes; i++) {
        cumulative += r->fractions[i];
        printf("%6lld  %14.6g  %10.3f  %12.3f\n", (long long)(i + 1), r->singular_values[i],
               100 * r->fractions[i], 100 * cumulative);
    }
    print_cost(stdout, run);
}

static void draw_map(const job_run *run, const eof_result *r)
{
    textmap_style style = textmap_style_for(stdout);
    textmap_draw(stdout, ek_plan_field(run->plan), r->eof, "EOF 1 (unit norm)", style);
    textmap_bars(stdout, r->fractions, EK_MIN(r->n_modes, BARS_MAX), "Fraction of variance by mode",
                 style);
}

static json_t *reals(const double *values, int64_t n)
{
    json_t *array = json_array();
    for (int64_t i = 0; i < n; i++) {
        json_array_append_new(array, report_real(values[i]));
    }
    return array;
}

static json_t *to_json(const job_run *run, const eof_result *r)
{
    const char *solver = print_attr(run, "solver");
    json_t *object = report_head(run);
    json_object_set_new(object, "solver", solver != NULL ? json_string(solver) : json_null());
    json_object_set_new(object, "n_cells_used",
                        isfinite(r->n_used) ? json_integer((json_int_t)r->n_used) : json_null());
    json_object_set_new(object, "total_variance", report_real(r->total_variance));
    json_object_set_new(object, "n_modes", json_integer(r->n_modes));
    json_object_set_new(object, "singular_values", reals(r->singular_values, r->n_modes));
    json_object_set_new(object, "variance_fractions", reals(r->fractions, r->n_modes));
    return object;
}

static ek_status run_eof(const cli_job *job, job_run *run)
{
    eof_result result = {0};
    bool only_json = job->json != NULL && strcmp(job->json, "-") == 0;
    EK_TRY(job_prepare(run, job));
    EK_TRY(job_execute(run));
    EK_TRY(get_result(run, &result));
    if (!only_json) {
        print_table(run, &result);
    }
    if (!only_json && job->map) {
        draw_map(run, &result);
    }
    return job->json != NULL ? report_write(to_json(run, &result), job->json) : EK_OK;
}

int cmd_eof(int argc, char **argv)
{
    cli_job job = {0};
    job_run run = {0};
    ek_status rc = cli_parse_job(&job, "ekman", argc, argv);
    if (rc == EK_OK) {
        rc = run_eof(&job, &run);
    }
    int code = rc == EK_OK ? cli_flush("ekman eof") : cli_fail("ekman eof");
    job_close(&run);
    cli_job_free(&job);
    return code;
}
