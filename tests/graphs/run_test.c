/* SPDX-License-Identifier: Apache-2.0 */
/* Running: what goes wrong is told with stage and chunk, sinks see whole streams or nothing, and a
 * second pass gives the same whether its chunks were kept or are read again. */
#include "graphs/nodes.h"
#include "graphs/run.h"
#include "tests/support/memory_stages.h"
#include "tests/support/near.h"
#include "tests/support/spread.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS  40
#define CELLS 7

static float values[ROWS * CELLS];
static memory_input input = {
    .cells = CELLS,
    .n_segments = 1,
    .segments = {{.rows = ROWS, .dtype = EK_F32, .scale = 1, .data = values}},
};

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS * CELLS; i++) {
        values[i] = (float)(sin(0.37 * i) + 0.01 * i);
    }
    return 0;
}

/* run plans and runs a pipeline on the host and frees plan and pipeline. */
static ek_status run(ek_pipeline *p, const ek_plan_options *options, ek_counts *counts)
{
    ek_plan *plan = NULL;
    ek_report *report = NULL;
    ek_status rc = ek_plan_create(&plan, p, options);
    if (rc == EK_OK) {
        rc = ek_run(plan, NULL, &report);
    }
    if (rc == EK_OK && counts != NULL) {
        *counts = ek_report_counts(report);
    }
    ek_report_destroy(report);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(p);
    return rc;
}

static ek_pipeline *make(void)
{
    ek_pipeline *p = NULL;
    ek_assert_ok(ek_pipeline_create(&p, "test"));
    return p;
}

static ek_plan_options on_backend = {.backend = "host"}; /* or what the argument says */

static void a_failing_read_names_stage_and_chunk(void **state)
{
    (void)state;
    int64_t live = ek_alloc_live();
    collected into = {0};
    memory_input broken = input;
    broken.fail_at_chunk = 3;
    ek_pipeline *p = make();
    ek_node *up = ek_upload(p, memory_add(p, &broken, 4), NULL);
    collect_add(p, ek_download(p, ek_reduce(p, up, NULL), NULL), &into);
    assert_int_equal(run(p, &on_backend, NULL), EK_EIO);
    ek_assert_message("memory, chunk 3: made to fail");
    assert_int_equal(into.opened, 1);
    assert_int_equal(into.dropped, 1);
    assert_int_equal(into.put, 0);
    assert_int_equal(ek_alloc_live(), live);
}

static ek_pipeline *make_two_passes(collected *into, const memory_input *from, int64_t chunk)
{
    ek_pipeline *p = make();
    ek_node *up = ek_upload(p, memory_add(p, from, chunk), NULL);
    ek_node *anomaly = ek_anomaly(p, up, ek_reduce(p, up, NULL), NULL);
    collect_add(p, ek_download(p, anomaly, NULL), into);
    return p;
}

/* Pool threads may end chunks out of order; folds and sinks see them in order of time. */
static void chunks_read_by_jobs_keep_their_order(void **state)
{
    (void)state;
    collected plain = {0}, jobs = {0};
    memory_input late = input;
    late.n_jobs = 2;
    late.late_first = true;
    ek_assert_ok(run(make_two_passes(&plain, &input, 6), &on_backend, NULL));
    ek_assert_ok(run(make_two_passes(&jobs, &late, 6), &on_backend, NULL));
    assert_memory_equal(plain.values, jobs.values, sizeof(double) * ROWS * CELLS);
    collected_fini(&plain);
    collected_fini(&jobs);
}

static void a_failing_job_names_stage_and_chunk(void **state)
{
    (void)state;
    int64_t live = ek_alloc_live();
    collected into = {0};
    memory_input broken = input;
    broken.n_jobs = 3;
    broken.fail_at_chunk = 2;
    assert_int_equal(run(make_two_passes(&into, &broken, 6), &on_backend, NULL), EK_EIO);
    ek_assert_message("memory, chunk 2: made to fail");
    assert_int_equal(into.dropped, 1);
    assert_int_equal(ek_alloc_live(), live);
    collected_fini(&into);
}

/* load straight into a sink: no device in between. */
static void a_stream_may_stay_on_the_host(void **state)
{
    (void)state;
    collected into = {0};
    ek_pipeline *p = make();
    collect_add(p, memory_add(p, &input, 3), &into);
    ek_assert_ok(run(p, &on_backend, NULL));
    assert_int_equal(into.put, 14);
    assert_int_equal(into.committed, 1);
    for (int i = 0; i < ROWS * CELLS; i++) {
        assert_true(into.values[i] == (double)values[i]);
    }
    collected_fini(&into);
}

static void a_second_pass_keeps_or_rereads(void **state)
{
    (void)state;
    collected kept = {0}, reread = {0};
    ek_counts a = {0}, b = {0};
    ek_plan_options options = on_backend;
    ek_assert_ok(run(make_two_passes(&kept, &input, 6), &options, &a));
    options.reread = true;
    ek_assert_ok(run(make_two_passes(&reread, &input, 6), &options, &b));
    assert_memory_equal(kept.values, reread.values, sizeof(double) * ROWS * CELLS);
    assert_int_equal(a.upload_bytes, sizeof(values));
    assert_int_equal(b.upload_bytes, 2 * sizeof(values));
    for (int c = 0; c < CELLS; c++) {
        double sum = 0;
        for (int t = 0; t < ROWS; t++) {
            sum += kept.values[t * CELLS + c];
        }
        ek_assert_near1(sum, 0.0, 0, 1e-12);
    }
    collected_fini(&kept);
    collected_fini(&reread);
}

/* A fold of two sweeps beside one that ends after the first, and one of its stream's anomalies: the
 * second sweep begins from what the first one left. */
static void a_fold_sweeps_twice(void **state)
{
    (void)state;
    collected into = {0};
    ek_counts counts = {0};
    ek_pipeline *p = make();
    ek_node *up = ek_upload(p, memory_add(p, &input, 6), NULL);
    ek_node *mean = ek_reduce(p, up, NULL);
    ek_download(p, ek_reduce(p, ek_anomaly(p, up, mean, NULL), NULL), NULL);
    collect_add(p, ek_download(p, spread_add(p, up), NULL), &into);
    ek_assert_ok(run(p, &on_backend, &counts));
    assert_int_equal(into.put, 1);
    assert_int_equal(counts.upload_bytes, sizeof(values));
    for (int c = 0; c < CELLS; c++) {
        double sum = 0, squares = 0;
        for (int t = 0; t < ROWS; t++) {
            sum += (double)values[t * CELLS + c];
        }
        for (int t = 0; t < ROWS; t++) {
            double apart = (double)values[t * CELLS + c] - sum / ROWS;
            squares += apart * apart;
        }
        assert_true(collected_array(&into, "squares")[c] == squares);
    }
    collected_fini(&into);
}

static void counts_tell_what_was_launched(void **state)
{
    (void)state;
    collected into = {0};
    ek_counts graph = {0}, stream = {0};
    ek_plan_options options = on_backend;
    ek_assert_ok(run(make_two_passes(&into, &input, 10), &options, &graph));
    collected_fini(&into);
    options.launch = EK_LAUNCH_STREAM;
    ek_assert_ok(run(make_two_passes(&into, &input, 10), &options, &stream));
    collected_fini(&into);
    assert_int_equal(graph.chunks, 4);
    assert_int_equal(graph.graph_launches, 8); /* 4 chunks, 2 passes */
    assert_int_equal(graph.graphs, 6);         /* 3 slots, 2 passes */
    assert_int_equal(stream.graph_launches, 0);
    assert_true(stream.launches > graph.launches);
    assert_int_equal(graph.download_bytes, 8 * ROWS * CELLS);
}

/* What the plan says a chunk costs is what is captured. */
static void captured_operations_are_the_planned_ones(void **state)
{
    (void)state;
    ek_plan *plan = NULL;
    ek_report *report = NULL;
    ek_pipeline *p = make();
    ek_node *up = ek_upload(p, memory_add(p, &input, 10), NULL);
    ek_node *mean = ek_reduce(p, up, NULL);
    ek_node *anomaly = ek_anomaly(p, up, mean, NULL);
    ek_download(p, ek_svd(p, anomaly, NULL), NULL);
    ek_download(p, spread_add(p, anomaly), NULL);
    ek_assert_ok(ek_plan_create(&plan, p, &on_backend));
    ek_assert_ok(ek_run(plan, NULL, &report));
    ek_counts counts = ek_report_counts(report);
    int planned = 0;
    for (int k = 0; k < ek_plan_passes(plan); k++) {
        planned += ek_plan_chunk_launches(plan, k);
    }
    assert_int_equal(ek_plan_passes(plan), 3);
    assert_int_equal(counts.graphs, 9);
    assert_int_equal(counts.graph_nodes, 3 * planned);
    ek_report_destroy(report);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(p);
}

static void a_plan_runs_again(void **state)
{
    (void)state;
    collected into = {0};
    ek_plan *plan = NULL;
    ek_pipeline *p = make_two_passes(&into, &input, 8);
    ek_assert_ok(ek_plan_create(&plan, p, &on_backend));
    ek_assert_ok(ek_run(plan, NULL, NULL));
    double first = into.values[11];
    ek_assert_ok(ek_run(plan, NULL, NULL));
    assert_true(into.values[11] == first);
    assert_int_equal(into.committed, 2);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(p);
    collected_fini(&into);
}

static void results_come_by_name(void **state)
{
    (void)state;
    ek_plan *plan = NULL;
    ek_report *report = NULL;
    ek_pipeline *p = make();
    ek_node *up = ek_upload(p, memory_add(p, &input, 8), NULL);
    ek_node *mean = ek_reduce(p, up, NULL);
    ek_node *svd = ek_svd(p, ek_anomaly(p, up, mean, NULL), &(ek_svd_options){.modes = 2});
    ek_node *down = ek_download(p, svd, NULL);
    ek_assert_ok(ek_plan_create(&plan, p, &on_backend));
    ek_assert_ok(ek_run(plan, NULL, &report));
    int64_t n = 0;
    assert_non_null(ek_report_array(report, down, "eof", &n));
    assert_int_equal(n, 2 * CELLS);
    assert_int_equal(ek_report_modes(report, down), 2);
    assert_true(ek_report_number(report, down, "n_cells_used") == CELLS);
    assert_true(isnan(ek_report_number(report, down, "nonsense")));
    assert_null(ek_report_array(report, down, "nonsense", NULL));
    ek_assert_message("has no array 'nonsense'");
    assert_null(ek_report_array(report, svd, "eof", NULL));
    ek_assert_message("only a 'download' node has");
    assert_true(ek_report_seconds(report) > 0);
    assert_true(ek_report_device_seconds(report) > 0);
    ek_report_destroy(report);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(p);
}

static void on_progress(const ek_progress *progress, void *user)
{
    *(ek_progress *)user = *progress;
}

static void progress_ends_complete(void **state)
{
    (void)state;
    collected into = {0};
    ek_progress last = {0};
    ek_plan *plan = NULL;
    ek_report *report = NULL;
    ek_pipeline *p = make_two_passes(&into, &input, 8);
    ek_run_options options = {.on_progress = on_progress, .user = &last, .progress_ms = 1};
    ek_assert_ok(ek_plan_create(&plan, p, &on_backend));
    ek_assert_ok(ek_run(plan, &options, &report));
    assert_int_equal(last.pass, 1);
    assert_int_equal(last.n_passes, 2);
    assert_int_equal(last.steps_done, ROWS);
    assert_int_equal(last.n_steps, ROWS);
    ek_report_destroy(report);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(p);
    collected_fini(&into);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failing_read_names_stage_and_chunk),
        cmocka_unit_test(chunks_read_by_jobs_keep_their_order),
        cmocka_unit_test(a_failing_job_names_stage_and_chunk),
        cmocka_unit_test(a_stream_may_stay_on_the_host),
        cmocka_unit_test(a_second_pass_keeps_or_rereads),
        cmocka_unit_test(a_fold_sweeps_twice),
        cmocka_unit_test(counts_tell_what_was_launched),
        cmocka_unit_test(captured_operations_are_the_planned_ones),
        cmocka_unit_test(a_plan_runs_again),
        cmocka_unit_test(results_come_by_name),
        cmocka_unit_test(progress_ends_complete),
    };
    setenv("UV_THREADPOOL_SIZE", "4", 1); /* a chunk that waits for another needs a thread */
    if (argc > 1) {
        ek_backend *probe = NULL;
        on_backend.backend = argv[1];
        if (ek_backend_create(&probe, argv[1], NULL, 0) != EK_OK) {
            printf("skipped: %s\n", ek_error_last()->message);
            return 77;
        }
        ek_backend_destroy(probe);
    }
    return cmocka_run_group_tests(tests, setup, NULL);
}
