/* SPDX-License-Identifier: Apache-2.0 */
/* ekman lab: the same EOF analysis and the same statistics done in several ways on one series, side
 * by side, with a verdict: what a GPU costs when it is used badly, and what graphs gain. */
#include "tools/lab/trials.h"
#include "tools/print.h"

#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { KEY_BACKEND = 256, KEY_JSON, KEY_ROUNDS };

#define EOF_AGREES   1e-6 /* first fractions, relative */
#define CELLS_AGREES 1e-5 /* statistics, relative */

typedef struct lab_job {
    const char *const *paths;
    int n_paths;
    const char *variable, *backend, *json;
    int rounds;
    bool text;
} lab_job;

static const struct argp_option options[] = {
    {"variable", 'v', "NAME", 0, "variable to read; default: the only one with a time axis", 0},
    {"backend", KEY_BACKEND, "NAME", 0,
     "auto (default): all trials that work here; cuda: an error without a GPU; host: the CPU's "
     "only",
     0},
    {"rounds", KEY_ROUNDS, "N", 0, "rounds of each trial, of which the fastest counts; default 3",
     0},
    {"json", KEY_JSON, "FILE", 0,
     "results as JSON; - is standard output, which then holds nothing else", 0},
    {0}};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    lab_job *job = state->input;
    switch (key) {
    case 'v':
        job->variable = arg;
        return 0;
    case KEY_BACKEND:
        job->backend = cli_parse_backend(state, arg);
        return 0;
    case KEY_ROUNDS:
        job->rounds = (int)cli_parse_count(state, "rounds", arg, 1, 100);
        return 0;
    case KEY_JSON:
        job->json = arg;
        return 0;
    case ARGP_KEY_ARGS:
        job->paths = (const char *const *)(state->argv + state->next);
        job->n_paths = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "give a file; `ekman sample` writes one to try this on");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse_option,
    .args_doc = "FILE...",
    .doc = "Reads a series into memory and does two things with it, each in several ways: an EOF "
           "analysis (on the CPU; on the GPU with the SVD back on the CPU; all on the GPU; all on "
           "the GPU and captured as a graph), and mean, standard deviation, range and variance of "
           "each cell (a loop over cells on the CPU; the same loop as GPU launches; these launches "
           "in one "
           "graph; vectorised on CPU and GPU). Checks that all give the same answer and says what "
           "limits each.\vOne year of a 2.5 degree grid needs about 1 GB of memory. Without a GPU "
           "only the CPU's trials run."};

static bool usable_device(const char *backend)
{
    ek_backend *found = NULL;
    if (strcmp(backend, "host") == 0 || ek_backend_create(&found, "auto", NULL, 0) != EK_OK) {
        return false;
    }
    bool cuda = ek_backend_which(found) == EK_BACKEND_CUDA;
    ek_backend_destroy(found);
    return cuda;
}

static void print_trial(const lab_trial *t, const lab_trial *base)
{
    char launches[32];
    bool loop = t->way == LAB_CELLS_LOOP;
    snprintf(launches, sizeof launches, "%lld", (long long)t->launches);
    printf("%-16s %9.2f ms %7.1fx %9s %7lld %8.1f %8.1f %8.1f  %.9g  %s\n", lab_way_name(t->way),
           1e3 * t->wall_s, base->wall_s / t->wall_s, loop ? "" : launches,
           (long long)t->graph_launches, t->up_bytes / 0x1p20, t->down_bytes / 0x1p20,
           t->middle_bytes / 0x1p20, t->answer, lab_way_summary(t->way));
}

static void print_heading(bool eof)
{
    printf("\n%s\n%-16s %12s %8s %9s %7s %8s %8s %8s  %s\n",
           eof ? "EOF analysis" : "Mean, standard deviation, range and variance of each cell", "",
           "time", "speed-up", "launches", "graphs", "MiB up", "down", "midway",
           eof ? "fraction of mode 1" : "mean of std");
}

/* What each trial shows, in words. */
static void print_verdict(const lab_trial *t)
{
    printf("\n");
    if (t[LAB_EOF_NAIVE].wall_s > 0) {
        printf("naive: %.0f %% of its time is the SVD on the host, while the GPU idles; %.0f MiB "
               "cross back in the middle. It is %.2f times as fast as the CPU alone.\n",
               100 * t[LAB_EOF_NAIVE].host_s / t[LAB_EOF_NAIVE].wall_s,
               t[LAB_EOF_NAIVE].middle_bytes / 0x1p20,
               t[LAB_EOF_CPU].wall_s / t[LAB_EOF_NAIVE].wall_s);
        printf("fixed: nothing crosses in the middle, and it is %.1f times as fast as naive. What "
               "limits it now is the eigensolver on the GPU; a graph of %lld launches changes that "
               "by %.0f %%.\n",
               t[LAB_EOF_NAIVE].wall_s / t[LAB_EOF_FIXED].wall_s,
               (long long)t[LAB_EOF_FIXED].launches,
               100 * (1 - t[LAB_EOF_GRAPH].wall_s / t[LAB_EOF_FIXED].wall_s));
    }
    if (t[LAB_CELLS_LAUNCHED].wall_s > 0) {
        const lab_trial *launched = &t[LAB_CELLS_LAUNCHED];
        printf(
            "gpu loop: %lld launches of %.1f us each; it is %.2f times as fast as the loop on the "
            "CPU. In one graph each takes %.2f us (%.1f times as fast; making the graph took "
            "%.2f s once). Doing all cells in one kernel is %.0f times as fast as the loop.\n",
            (long long)launched->launches, 1e6 * launched->wall_s / (double)launched->launches,
            t[LAB_CELLS_LOOP].wall_s / launched->wall_s,
            1e6 * t[LAB_CELLS_CAPTURED].wall_s / (double)launched->launches,
            launched->wall_s / t[LAB_CELLS_CAPTURED].wall_s, t[LAB_CELLS_CAPTURED].capture_s,
            launched->wall_s / t[LAB_CELLS_GPU].wall_s);
    }
    if (t[LAB_CELLS_CPU].wall_s > 0) {
        printf("vectorised cpu: %.1f times as fast as the loop over cells, by reading memory in "
               "order.\n",
               t[LAB_CELLS_LOOP].wall_s / t[LAB_CELLS_CPU].wall_s);
    }
}

static json_t *trial_json(const lab_trial *t)
{
    return json_pack("{s:s, s:s, s:s, s:f, s:f, s:I, s:I, s:f, s:f, s:f, s:f, s:f}", "kind",
                     lab_way_is_eof(t->way) ? "eof" : "cells", "way", lab_way_name(t->way),
                     "summary", lab_way_summary(t->way), "wall_s", t->wall_s, "capture_s",
                     t->capture_s, "launches", (json_int_t)t->launches, "graph_launches",
                     (json_int_t)t->graph_launches, "up_bytes", t->up_bytes, "down_bytes",
                     t->down_bytes, "middle_bytes", t->middle_bytes, "host_s", t->host_s, "answer",
                     t->answer);
}

static ek_status check_answer(const lab_trial *t, const lab_trial *base)
{
    double limit = lab_way_is_eof(t->way) ? EOF_AGREES : CELLS_AGREES;
    if (!(fabs(t->answer - base->answer) <= limit * fabs(base->answer))) {
        return EK_FAIL(EK_EDATA, "the trial '%s' gives %.9g where '%s' gives %.9g",
                       lab_way_name(t->way), t->answer, lab_way_name(base->way), base->answer);
    }
    return EK_OK;
}

static ek_status run_trials(const lab_job *job, const lab_series *series, lab_trial *trials)
{
    bool device = usable_device(job->backend);
    if (!device && strcmp(job->backend, "cuda") == 0) {
        return EK_FAIL(EK_ENOTSUP, "no usable GPU; `ekman probe` says what is missing");
    }
    if (!device && job->text) {
        printf("no GPU is used, so only the CPU's trials run; `ekman probe` says why\n");
    }
    for (int w = 0; w < LAB_WAYS; w++) {
        lab_way way = (lab_way)w;
        const lab_trial *base = &trials[lab_way_is_eof(way) ? LAB_EOF_CPU : LAB_CELLS_LOOP];
        if (job->text && (way == LAB_EOF_CPU || way == LAB_CELLS_LOOP)) {
            print_heading(lab_way_is_eof(way));
        }
        if (lab_way_needs_device(way) && !device) {
            continue;
        }
        if (lab_run(way, series, job->rounds, &trials[w]) != EK_OK) {
            return ek_error_prefix("trial '%s'", lab_way_name(way));
        }
        EK_TRY(check_answer(&trials[w], base));
        if (job->text) {
            print_trial(&trials[w], base);
            fflush(stdout);
        }
    }
    return EK_OK;
}

static ek_status write_json(const lab_job *job, const lab_series *series, const lab_trial *trials)
{
    json_t *list = json_array();
    for (int w = 0; w < LAB_WAYS; w++) {
        if (trials[w].wall_s > 0) {
            json_array_append_new(list, trial_json(&trials[w]));
        }
    }
    return report_write(json_pack("{s:s, s:s, s:I, s:I, s:o}", "version", EK_VERSION_STRING,
                                  "variable", series->name, "n_time", (json_int_t)series->n_time,
                                  "n_cells", (json_int_t)series->n_cells, "trials", list),
                        job->json);
}

static ek_status run_lab(lab_job *job)
{
    lab_series series = {0};
    lab_trial trials[LAB_WAYS] = {{0}};
    job->text = job->json == NULL || strcmp(job->json, "-") != 0;
    ek_status rc = lab_read(job->paths, job->n_paths, job->variable, &series);
    if (rc == EK_OK && job->text) {
        printf("%s [%s]: %lld steps of %lld cells, float32, in memory; the fastest of %d rounds\n",
               series.name, series.units, (long long)series.n_time, (long long)series.n_cells,
               job->rounds);
    }
    rc = rc == EK_OK ? run_trials(job, &series, trials) : rc;
    if (rc == EK_OK && job->text) {
        print_verdict(trials);
    }
    if (rc == EK_OK && job->json != NULL) {
        rc = write_json(job, &series, trials);
    }
    lab_series_free(&series);
    return rc;
}

int cmd_lab(int argc, char **argv)
{
    static char name[] = "ekman lab";
    lab_job job = {.backend = "auto", .rounds = 3};
    argv[0] = name;
    argp_err_exit_status = CLI_USAGE;
    argp_program_version = "ekman " EK_VERSION_STRING;
    argp_parse(&argp, argc, argv, 0, NULL, &job);
    ek_status rc = run_lab(&job);
    return rc == EK_OK ? cli_flush(name) : cli_fail(name);
}
