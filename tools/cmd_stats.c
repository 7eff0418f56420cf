/* SPDX-License-Identifier: Apache-2.0 */
/* ekman stats: statistics of each cell over time, summed up over the grid. */
#include "tools/print.h"

#include <math.h>
#include <string.h>

/* A statistic over the grid: cells without a value are left out; every cell counts the same. */
typedef struct summary {
    double min, mean, max;
    int64_t n_cells;
} summary;

static double value_at(const ek_array_spec *array, const void *values, int64_t i)
{
    return array->dtype == EK_I32 ? ((const int32_t *)values)[i] : ((const double *)values)[i];
}

static summary summarise(const ek_array_spec *array, const void *values, int64_t n)
{
    summary s = {.min = INFINITY, .max = -INFINITY};
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double value = value_at(array, values, i);
        if (isnan(value)) {
            continue;
        }
        s.min = fmin(s.min, value);
        s.max = fmax(s.max, value);
        sum += value;
        s.n_cells++;
    }
    if (s.n_cells == 0) {
        s.min = NAN;
        s.max = NAN;
    }
    s.mean = s.n_cells > 0 ? sum / (double)s.n_cells : NAN;
    return s;
}

/* Sums up array i of the result; false with an error if the report does not hold it. */
static bool get_summary(const job_run *run, int i, summary *out)
{
    int64_t n = 0;
    const ek_array_spec *array = &ek_plan_spec(run->plan, run->result)->arrays[i];
    const void *values = ek_report_array(run->report, run->result, array->name, &n);
    if (values == NULL) {
        return false;
    }
    *out = summarise(array, values, n);
    return true;
}

static ek_status print_table(const job_run *run)
{
    const ek_spec *spec = ek_plan_spec(run->plan, run->result);
    print_head(stdout, run);
    printf("\n%-10s  %14s  %14s  %14s  %10s\n", "statistic", "minimum", "mean", "maximum", "cells");
    for (int i = 0; i < spec->n_arrays; i++) {
        summary s;
        if (!get_summary(run, i, &s)) {
            return ek_error_last()->status;
        }
        printf("%-10s  %14.7g  %14.7g  %14.7g  %10lld\n", spec->arrays[i].name, s.min, s.mean,
               s.max, (long long)s.n_cells);
    }
    printf("Minimum, mean and maximum are over the grid's cells, each counted alike.\n");
    print_cost(stdout, run);
    return EK_OK;
}

static ek_status to_json(const job_run *run, json_t **out)
{
    const ek_spec *spec = ek_plan_spec(run->plan, run->result);
    json_t *statistics = json_object();
    for (int i = 0; i < spec->n_arrays; i++) {
        summary s;
        if (!get_summary(run, i, &s)) {
            json_decref(statistics);
            return ek_error_last()->status;
        }
        json_t *one = json_object();
        json_object_set_new(one, "min", report_real(s.min));
        json_object_set_new(one, "mean", report_real(s.mean));
        json_object_set_new(one, "max", report_real(s.max));
        json_object_set_new(one, "n_cells", json_integer(s.n_cells));
        json_object_set_new(statistics, spec->arrays[i].name, one);
    }
    *out = report_head(run);
    json_object_set_new(*out, "statistics", statistics);
    return EK_OK;
}

static ek_status run_stats(const cli_job *job, job_run *run)
{
    EK_TRY(job_prepare(run, job));
    EK_TRY(job_execute(run));
    if (job->json == NULL || strcmp(job->json, "-") != 0) {
        EK_TRY(print_table(run));
    }
    if (job->json == NULL) {
        return EK_OK;
    }
    json_t *object = NULL;
    EK_TRY(to_json(run, &object));
    return report_write(object, job->json);
}

int cmd_stats(int argc, char **argv)
{
    cli_job job = {0};
    job_run run = {0};
    ek_status rc = cli_parse_job(&job, "ekman", argc, argv);
    if (rc == EK_OK) {
        rc = run_stats(&job, &run);
    }
    int code = rc == EK_OK ? cli_flush("ekman stats") : cli_fail("ekman stats");
    job_close(&run);
    cli_job_free(&job);
    return code;
}
