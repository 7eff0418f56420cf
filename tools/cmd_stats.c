/* SPDX-License-Identifier: Apache-2.0 */
/* ekman stats: statistics of each cell over time, summed up over the grid. */
#include "tools/summary.h"

#include <string.h>

static ek_status print_table(const job_run *run)
{
    const ek_spec *spec = ek_plan_spec(run->plan, run->result);
    print_head(stdout, run);
    printf("\n%-10s  %14s  %14s  %14s  %10s\n", "statistic", "minimum", "mean", "maximum", "cells");
    for (int i = 0; i < spec->n_arrays; i++) {
        summary s;
        if (!summary_get(run, run->result, i, &s)) {
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
        if (!summary_get(run, run->result, i, &s)) {
            json_decref(statistics);
            return ek_error_last()->status;
        }
        json_object_set_new(statistics, spec->arrays[i].name, summary_json(&s));
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
