/* SPDX-License-Identifier: Apache-2.0 */
/* What launches cost: the same chain of short stages over many one-row chunks,
 * launched as one graph a chunk, kernel by kernel, and with a wait after every
 * stage, in turn in one process. Answers are compared with a plain loop. Run by
 * tools/bench/launch; prints a JSON object for each case. */
#include "graphs/nodes.h"
#include "graphs/run.h"
#include "tools/bench/launch_clock.h"
#include "tools/bench/launch_stages.h"

#include <argp.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MAX  99
#define STAGES_MAX  64
#define CHUNKS_MIN  200
#define SPARE_SLOTS 8
#define SURFACE_S   0.15 /* of kernels in a case of the surface */
#define CALIBRATION 20000

typedef enum figure {
    CHUNK_S,      /* from one chunk to the next */
    LOOP_CPU_S,   /* processor time of the loop's thread meanwhile */
    COMPUTE_S,    /* the region of a chunk on the device, by events */
    SUBMIT_P99_S, /* its median is among the calls */
    WALL_S,       /* the whole run */
    CALLS,        /* the median of each clock_call */
    FIGURES = CALLS + CLOCK_CALLS
} figure;

typedef struct bench_case {
    const char *name;
    int stages;
    double kernel_s; /* wanted */
    int64_t chunks;
    int slots;
    bool serial; /* measure this launch mode, too */
} bench_case;

typedef struct bench {
    const char *backend, *commit, *only;
    bench_case headline;
    int rounds;
    bool untimed;
    int64_t cells;
    double base_s, step_s; /* a kernel's time: base and per step */
    ek_backend_props props;
} bench;

typedef struct bench_run {
    bench_case shape;
    int64_t steps;
    ek_launch launch;
} bench_run;

/* ---- one run ---- */

static ek_node *build(ek_pipeline *pipeline, const bench *b, const bench_run *run)
{
    rows_options rows = {.cells = b->cells, .chunks = run->shape.chunks};
    work_options work = {.steps = run->steps};
    ek_node *node = ek_pipeline_add(pipeline, &rows_stage, NULL, 0, &rows);
    node = ek_upload(pipeline, node, NULL);
    for (int i = 0; i + 1 < run->shape.stages; i++) {
        node = ek_pipeline_add(pipeline, &work_stage, &node, 1, &work);
    }
    node = ek_pipeline_add(pipeline, &tally_stage, &node, 1, &work);
    return ek_download(pipeline, node, NULL);
}

/* check compares the sums of the first and the last cell with a plain loop's.
 */
static ek_status check(const bench *b, const bench_run *run, const double *sums)
{
    int64_t cells[2] = {0, b->cells - 1};
    for (int k = 0; k < 2; k++) {
        double made[ROWS_PERIOD], sum = 0;
        for (int r = 0; r < ROWS_PERIOD; r++) {
            made[r] = work_value((double)rows_value(r, cells[k]), run->steps * run->shape.stages);
        }
        for (int64_t c = 0; c < run->shape.chunks; c++) {
            sum += made[c % ROWS_PERIOD];
        }
        if (sums[cells[k]] != sum) {
            return EK_FAIL(EK_EINTERNAL, "with launch=%s cell %lld adds up to %.17g, not %.17g",
                           ek_launch_name(run->launch), (long long)cells[k], sums[cells[k]], sum);
        }
    }
    return EK_OK;
}

static void read_figures(const bench_run *run, const ek_report *report, double *out)
{
    out[CHUNK_S] = clock_per_chunk();
    out[LOOP_CPU_S] = clock_cpu_per_chunk();
    out[COMPUTE_S] = ek_report_times(report).compute / (double)run->shape.chunks;
    out[SUBMIT_P99_S] = clock_quantile(CLOCK_SUBMIT, 0.99);
    out[WALL_S] = ek_report_seconds(report);
    for (clock_call call = 0; call < CLOCK_CALLS; call++) {
        out[CALLS + call] = clock_quantile(call, 0.5);
    }
}

static ek_status run_once(const bench *b, const bench_run *run, double *figures)
{
    ek_pipeline *pipeline = NULL;
    ek_plan *plan = NULL;
    ek_report *report = NULL;
    ek_plan_options options = {
        .backend = b->backend, .launch = run->launch, .slots = run->shape.slots};
    ek_status rc = EK_OK;
    EK_GOTO(ek_pipeline_create(&pipeline, "launch"), done);
    ek_node *result = build(pipeline, b, run);
    EK_GOTO(ek_plan_create(&plan, pipeline, &options), done);
    EK_GOTO(clock_reset(run->shape.chunks), done);
    EK_GOTO(ek_run(plan, NULL, &report), done);
    EK_GOTO(check(b, run, ek_report_array(report, result, "sum", NULL)), done);
    read_figures(run, report, figures);
done:
    ek_report_destroy(report);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(pipeline);
    return rc;
}

/* ---- one case ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void median(int rounds, double (*samples)[FIGURES], double *out)
{
    for (int f = 0; f < FIGURES; f++) {
        double sorted[ROUNDS_MAX];
        for (int r = 0; r < rounds; r++) {
            sorted[r] = samples[r][f];
        }
        qsort(sorted, (size_t)rounds, sizeof(double), ascending);
        out[f] = sorted[rounds / 2];
    }
}

static double microseconds(double seconds)
{
    return round(seconds * 1e9) * 1e-3;
}

static json_t *mode_object(const double *f)
{
    json_t *calls = json_object();
    for (clock_call call = 0; call < CLOCK_CALLS; call++) {
        if (f[CALLS + call] > 0) {
            json_object_set_new(calls, clock_name(call), json_real(microseconds(f[CALLS + call])));
        }
    }
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "chunk_us",
                     microseconds(f[CHUNK_S]), "chunks_per_s", round(1 / f[CHUNK_S]),
                     "submit_p50_us", microseconds(f[CALLS + CLOCK_SUBMIT]), "submit_p99_us",
                     microseconds(f[SUBMIT_P99_S]), "loop_cpu_us", microseconds(f[LOOP_CPU_S]),
                     "compute_us", microseconds(f[COMPUTE_S]), "device_busy",
                     round(1e3 * f[COMPUTE_S] / f[CHUNK_S]) * 1e-3, "wall_s", f[WALL_S], "calls_us",
                     calls);
}

static void print_line(const bench *b, const bench_case *at, double (*modes)[FIGURES])
{
    double graph_s = modes[EK_LAUNCH_GRAPH][CHUNK_S], stream_s = modes[EK_LAUNCH_STREAM][CHUNK_S];
    double chunks = (double)at->chunks;
    json_t *line = json_pack(
        "{s:s, s:s, s:f, s:f, s:f, s:i, s:f, s:I, s:I, s:i, s:o, s:o}", "bench", "launch", "case",
        at->name, "ours_s", graph_s * chunks, "theirs_s", stream_s * chunks, "ratio",
        stream_s / graph_s, "stages", at->stages, "kernel_us", microseconds(at->kernel_s), "chunks",
        (json_int_t)at->chunks, "cells", (json_int_t)b->cells, "slots", at->slots, "graph",
        mode_object(modes[EK_LAUNCH_GRAPH]), "stream", mode_object(modes[EK_LAUNCH_STREAM]));
    if (at->serial) {
        json_object_set_new(line, "serial", mode_object(modes[EK_LAUNCH_SERIAL]));
    }
    json_object_update_new(line, json_pack("{s:b, s:i, s:s, s:s, s:s}", "untimed", b->untimed,
                                           "rounds", b->rounds, "machine", b->props.device,
                                           "libraries", b->props.libraries, "commit", b->commit));
    json_dumpf(line, stdout, JSON_REAL_PRECISION(6));
    printf("\n");
    fflush(stdout);
    json_decref(line);
}

static ek_status measure(const bench *b, const bench_case *at)
{
    static double samples[EK_LAUNCH_SERIAL + 1][ROUNDS_MAX][FIGURES];
    double modes[EK_LAUNCH_SERIAL + 1][FIGURES] = {{0}};
    ek_launch last = at->serial ? EK_LAUNCH_SERIAL : EK_LAUNCH_STREAM;
    bench_run run = {.shape = *at};
    run.steps = (int64_t)fmax(0, round((at->kernel_s - b->base_s) / b->step_s));
    for (int r = 0; r < b->rounds; r++) {
        for (run.launch = EK_LAUNCH_GRAPH; run.launch <= last; run.launch++) {
            EK_TRY(run_once(b, &run, samples[run.launch][r]));
        }
    }
    for (ek_launch launch = EK_LAUNCH_GRAPH; launch <= last; launch++) {
        median(b->rounds, samples[launch], modes[launch]);
    }
    print_line(b, at, modes);
    return EK_OK;
}

/* calibrate finds how long a kernel takes inside a graph without steps, and per
 * step. The first run is for the libraries to load. */
static ek_status calibrate(bench *b)
{
    double figures[FIGURES] = {0};
    bench_run run = {.shape = {.stages = 10, .chunks = CHUNKS_MIN, .slots = b->headline.slots},
                     .launch = EK_LAUNCH_GRAPH};
    EK_TRY(run_once(b, &run, figures));
    EK_TRY(run_once(b, &run, figures));
    b->base_s = figures[COMPUTE_S] / 10;
    run.steps = strcmp(b->backend, "host") == 0 ? 10 : CALIBRATION;
    EK_TRY(run_once(b, &run, figures));
    b->step_s = (figures[COMPUTE_S] / 10 - b->base_s) / (double)run.steps;
    return b->step_s > 0 ? EK_OK : EK_FAIL(EK_EINTERNAL, "more steps took no longer");
}

/* headline measures its case, and again with chunks to spare: in a ring too short, chunks wait for
 * the loop and not for the device. */
static ek_status headline(const bench *b)
{
    bench_case spare = b->headline;
    spare.name = "headline, spare slots";
    spare.slots = SPARE_SLOTS;
    EK_TRY(measure(b, &b->headline));
    return b->headline.slots < SPARE_SLOTS ? measure(b, &spare) : EK_OK;
}

static ek_status surface(const bench *b)
{
    static const int stages[] = {1, 2, 5, 10, 20, 40};
    static const double kernels_us[] = {2, 5, 10, 20, 50, 100};
    for (size_t s = 0; s < EK_COUNT(stages); s++) {
        for (size_t k = 0; k < EK_COUNT(kernels_us); k++) {
            char name[64];
            snprintf(name, sizeof name, "%d stages of %g us", stages[s], kernels_us[k]);
            bench_case at = {.name = name,
                             .stages = stages[s],
                             .kernel_s = kernels_us[k] * 1e-6,
                             .slots = b->headline.slots};
            double chunks = SURFACE_S / (at.kernel_s * stages[s]);
            at.chunks = (int64_t)fmin(fmax(chunks, CHUNKS_MIN), (double)b->headline.chunks);
            EK_TRY(measure(b, &at));
        }
    }
    return EK_OK;
}

static ek_status prepare(bench *b)
{
    ek_backend *backend = NULL;
    EK_TRY(ek_backend_create(&backend, b->backend, NULL, 0));
    b->backend = ek_backend_which(backend) == EK_BACKEND_CUDA ? "cuda" : "host";
    ek_status rc = ek_backend_get_props(backend, &b->props);
    ek_backend_destroy(backend);
    return rc == EK_OK ? calibrate(b) : rc;
}

/* ---- the command line ---- */

static long number(struct argp_state *state, const char *option, const char *text, long most)
{
    char *end = NULL;
    long value = strtol(text, &end, 10);
    if (*end != '\0' || value < 1 || value > most) {
        argp_error(state, "--%s takes a number from 1 to %ld", option, most);
    }
    return value;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    bench *b = state->input;
    switch (key) {
    case 'b':
        b->backend = arg;
        return 0;
    case 'k':
        b->headline.kernel_s = 1e-6 * (double)number(state, "kernel-us", arg, 100000);
        return 0;
    case 's':
        b->headline.stages = (int)number(state, "stages", arg, STAGES_MAX);
        return 0;
    case 'n':
        b->headline.chunks = number(state, "chunks", arg, 1000000);
        return 0;
    case 'l':
        b->headline.slots = (int)number(state, "slots", arg, 64);
        return 0;
    case 'p':
        b->cells = number(state, "cells", arg, 1 << 24);
        return 0;
    case 'r':
        b->rounds = (int)number(state, "rounds", arg, ROUNDS_MAX);
        return 0;
    case 'o':
        b->only = arg;
        return 0;
    case 'u':
        b->untimed = true;
        return 0;
    case 'c':
        b->commit = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"backend", 'b', "NAME", 0, "auto, host or cuda; default auto", 0},
        {"only", 'o', "CASES", 0, "headline or surface; default both", 0},
        {"stages", 's', "N", 0, "of the headline; default 20", 0},
        {"kernel-us", 'k', "N", 0, "length of the headline's kernels; default 2", 0},
        {"chunks", 'n', "N", 0, "of the headline, the most of the surface; default 4000", 0},
        {"slots", 'l', "N", 0, "chunks in flight; default 3", 0},
        {"cells", 'p', "N", 0, "values of a chunk; default 10512", 0},
        {"rounds", 'r', "N", 0, "repeats, of which the median counts; default 3", 0},
        {"untimed", 'u', NULL, 0, "without the events that only time a chunk", 0},
        {"commit", 'c', "TEXT", 0, "the commit to name in the output", 0},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Measures a chain of short stages launched as graphs, singly, and "
               "one by one."};
    bench b = {.backend = "auto",
               .commit = "unknown",
               .only = "",
               .headline = {"headline", 20, 2e-6, 4000, 3, true},
               .rounds = 3,
               .cells = 10512};
    argp_parse(&argp, argc, argv, 0, NULL, &b);
    ek_status rc = prepare(&b);
    clock_leave_out(b.untimed); /* calibration needs the times */
    if (rc == EK_OK && strcmp(b.only, "surface") != 0) {
        rc = headline(&b);
    }
    if (rc == EK_OK && strcmp(b.only, "headline") != 0) {
        rc = surface(&b);
    }
    clock_free();
    if (rc != EK_OK) {
        fprintf(stderr, "bench-launch: %s\n", ek_error_last()->message);
    }
    return rc == EK_OK ? 0 : 1;
}
