/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/lab/trials.h"

#include "graphs/nodes.h"
#include "tools/lab/percell.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const struct {
    const char *name, *summary;
    bool eof, device;
} ways[LAB_WAYS] = {
    [LAB_EOF_CPU] = {"cpu", "all on the host", true, false},
    [LAB_EOF_NAIVE] = {"naive", "anomalies on the GPU, back to the host for the SVD", true, true},
    [LAB_EOF_FIXED] = {"fixed", "all on the GPU, one launch per kernel", true, true},
    [LAB_EOF_GRAPH] = {"graph", "all on the GPU, captured", true, true},
    [LAB_CELLS_LOOP] = {"cpu loop", "one cell after another on the host", false, false},
    [LAB_CELLS_LAUNCHED] = {"gpu loop", "one launch per cell and statistic", false, true},
    [LAB_CELLS_CAPTURED] = {"gpu loop, graph", "the same launches in one graph", false, true},
    [LAB_CELLS_CPU] = {"vectorised cpu", "reduce on the host", false, false},
    [LAB_CELLS_GPU] = {"vectorised gpu", "reduce on the GPU, one launch per kernel", false, true},
    [LAB_CELLS_GRAPH] = {"fused gpu", "reduce on the GPU, captured", false, true},
};

const char *lab_way_name(lab_way way)
{
    return ways[way].name;
}

const char *lab_way_summary(lab_way way)
{
    return ways[way].summary;
}

bool lab_way_is_eof(lab_way way)
{
    return ways[way].eof;
}

bool lab_way_needs_device(lab_way way)
{
    return ways[way].device;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A pipeline with its plan, and the node whose result is wanted. */
typedef struct bench {
    ek_pipeline *pipeline;
    ek_node *result;
    ek_plan *plan;
} bench;

static void bench_close(bench *b)
{
    ek_plan_destroy(b->plan);
    ek_pipeline_destroy(b->pipeline);
    *b = (bench){0};
}

static ek_status bench_plan(bench *b, bool device, ek_launch launch)
{
    EK_TRY(ek_pipeline_status(b->pipeline));
    ek_plan_options options = {.backend = device ? "cuda" : "host", .launch = launch, .slots = 1};
    return ek_plan_create(&b->plan, b->pipeline, &options);
}

/* Adds what a run cost to the trial. */
static void add_cost(lab_trial *trial, const ek_report *report)
{
    ek_counts counts = ek_report_counts(report);
    double prepare = ek_report_times(report).prepare;
    trial->wall_s += ek_report_seconds(report) - prepare;
    trial->capture_s += prepare;
    trial->launches += counts.launches;
    trial->graph_launches += counts.graph_launches;
}

static ek_status first_fraction(const ek_report *report, const ek_node *node, double *out)
{
    int64_t n = 0;
    const double *fractions = ek_report_array(report, node, "variance_fraction", &n);
    if (fractions == NULL || n < 1) {
        return ek_error_last()->status;
    }
    *out = fractions[0];
    return EK_OK;
}

static ek_status mean_std(const ek_report *report, const ek_node *node, double *out)
{
    int64_t n = 0;
    const double *std = ek_report_array(report, node, "std", &n);
    if (std == NULL || n < 1) {
        return ek_error_last()->status;
    }
    *out = 0;
    for (int64_t i = 0; i < n; i++) {
        *out += isfinite(std[i]) ? std[i] / (double)n : 0;
    }
    return EK_OK;
}

/* Runs the plan `rounds` + 1 times and keeps the fastest but the first. */
static ek_status run_rounds(bench *b, lab_way way, int rounds, lab_trial *out)
{
    for (int i = 0; i <= rounds; i++) {
        ek_report *report = NULL;
        lab_trial trial = *out;
        EK_TRY(ek_run(b->plan, NULL, &report));
        trial.wall_s = trial.capture_s = 0;
        trial.launches = trial.graph_launches = 0;
        add_cost(&trial, report);
        ek_counts counts = ek_report_counts(report);
        trial.up_bytes = (double)counts.upload_bytes;
        trial.down_bytes = (double)counts.download_bytes;
        ek_status rc = ways[way].eof ? first_fraction(report, b->result, &trial.answer)
                                     : mean_std(report, b->result, &trial.answer);
        ek_report_destroy(report);
        EK_TRY(rc);
        if (i <= 1 || trial.wall_s < out->wall_s) {
            *out = trial;
        }
    }
    return EK_OK;
}

static ek_node *add_svd(ek_pipeline *p, ek_node *stream)
{
    return ek_download(p, ek_svd(p, stream, NULL), NULL);
}

/* One pipeline, on one backend. */
static ek_status run_plain(lab_way way, const lab_series *series, int rounds, lab_trial *out)
{
    bench b = {0};
    EK_TRY(ek_pipeline_create(&b.pipeline, lab_way_name(way)));
    ek_pipeline *p = b.pipeline;
    ek_node *up = ek_upload(p, lab_array(p, series, series->n_time), NULL);
    if (ways[way].eof) {
        ek_node *mean = ek_reduce(p, up, NULL);
        b.result = add_svd(p, ek_anomaly(p, up, mean, NULL));
    } else if (way == LAB_CELLS_LAUNCHED || way == LAB_CELLS_CAPTURED) {
        b.result = ek_download(p, lab_percell(p, up), NULL);
    } else {
        unsigned op = EK_REDUCE_MEAN | EK_REDUCE_STD | EK_REDUCE_RANGE | EK_REDUCE_VAR;
        b.result = ek_download(p, ek_reduce(p, up, &(ek_reduce_options){.op = op}), NULL);
    }
    bool graph = way == LAB_EOF_GRAPH || way == LAB_CELLS_CAPTURED || way == LAB_CELLS_GRAPH;
    ek_status rc = bench_plan(&b, ways[way].device, graph ? EK_LAUNCH_GRAPH : EK_LAUNCH_STREAM);
    rc = rc == EK_OK ? run_rounds(&b, way, rounds, out) : rc;
    bench_close(&b);
    return rc;
}

/* The anomalies of the naive way, from the device back into memory. */
static ek_status plan_anomalies(bench *b, const lab_series *series, lab_series *anomalies)
{
    EK_TRY(ek_pipeline_create(&b->pipeline, "naive, on the device"));
    ek_pipeline *p = b->pipeline;
    ek_node *up = ek_upload(p, lab_array(p, series, series->n_time), NULL);
    ek_node *anomaly = ek_anomaly(p, up, ek_reduce(p, up, NULL), NULL);
    lab_keep(p, ek_download(p, anomaly, NULL), anomalies, false);
    return bench_plan(b, true, EK_LAUNCH_STREAM);
}

static ek_status plan_decomposition(bench *b, const lab_series *anomalies)
{
    EK_TRY(ek_pipeline_create(&b->pipeline, "naive, on the host"));
    ek_pipeline *p = b->pipeline;
    b->result = add_svd(p, ek_upload(p, lab_array(p, anomalies, anomalies->n_time), NULL));
    return bench_plan(b, false, EK_LAUNCH_STREAM);
}

/* One round of the naive way: first half, second half. */
static ek_status run_halves(bench *first, bench *second, const lab_series *anomalies,
                            lab_trial *out)
{
    ek_report *report = NULL;
    EK_TRY(ek_run(first->plan, NULL, &report));
    add_cost(out, report);
    ek_counts counts = ek_report_counts(report);
    ek_report_destroy(report);
    out->up_bytes = (double)counts.upload_bytes;
    out->down_bytes = out->middle_bytes = (double)counts.download_bytes;
    if (second->plan == NULL) {
        EK_TRY(plan_decomposition(second, anomalies));
    }
    EK_TRY(ek_run(second->plan, NULL, &report));
    out->host_s = ek_report_seconds(report);
    out->wall_s += out->host_s;
    ek_status rc = first_fraction(report, second->result, &out->answer);
    ek_report_destroy(report);
    return rc;
}

static ek_status run_naive(const lab_series *series, int rounds, lab_trial *out)
{
    bench first = {0};
    bench second = {0};
    lab_series anomalies = {0};
    ek_status rc = plan_anomalies(&first, series, &anomalies);
    for (int i = 0; i <= rounds && rc == EK_OK; i++) {
        lab_trial trial = {.way = LAB_EOF_NAIVE};
        rc = run_halves(&first, &second, &anomalies, &trial);
        if (rc == EK_OK && (i <= 1 || trial.wall_s < out->wall_s)) {
            *out = trial;
        }
    }
    bench_close(&second);
    bench_close(&first);
    lab_series_free(&anomalies);
    return rc;
}

static ek_status run_loop(const lab_series *series, int rounds, lab_trial *out)
{
    int64_t n = series->n_cells;
    double *statistics = ek_alloc((size_t)(LAB_STATISTICS * n), sizeof(double));
    if (statistics == NULL) {
        return EK_ENOMEM;
    }
    ek_status rc = EK_OK;
    for (int i = 0; i < rounds && rc == EK_OK; i++) {
        double began = now();
        rc = lab_loop(series->singles, series->n_time, n, statistics);
        double seconds = now() - began;
        out->wall_s = i == 0 ? seconds : fmin(out->wall_s, seconds);
    }
    for (int64_t i = 0; i < n; i++) {
        double std = statistics[LAB_STD * n + i];
        out->answer += isfinite(std) ? std / (double)n : 0;
    }
    ek_free(statistics);
    return rc;
}

ek_status lab_run(lab_way way, const lab_series *series, int rounds, lab_trial *out)
{
    *out = (lab_trial){.way = way};
    if (way == LAB_EOF_NAIVE) {
        return run_naive(series, rounds, out);
    }
    if (way == LAB_CELLS_LOOP) {
        return run_loop(series, rounds, out);
    }
    return run_plain(way, series, rounds, out);
}

ek_status lab_read(const char *const *paths, int n_paths, const char *variable, lab_series *out)
{
    bench b = {0};
    EK_TRY(ek_pipeline_create(&b.pipeline, "reading"));
    ek_load_options load = {.paths = paths, .n_paths = n_paths, .variable = variable};
    lab_keep(b.pipeline, ek_load(b.pipeline, &load), out, true);
    ek_status rc = bench_plan(&b, false, EK_LAUNCH_STREAM);
    rc = rc == EK_OK ? ek_run(b.plan, NULL, NULL) : rc;
    bench_close(&b);
    return rc;
}
