/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver saw of a run in mode graph: how often each chunk costs a launch, a copy, a
 * callback or an allocation, and that copies overlap kernels. Skips itself without a device or
 * CUPTI. */
#include "graphs/nodes.h"
#include "graphs/run.h"
#include "tests/support/activity.h"
#include "tools/bench/launch_stages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CHUNKS = 40, STAGES = 8, CELLS = 1 << 20, STEPS = 2000 };

static activity *records;
static size_t n_records;

/* Kernels of a millisecond a chunk, so that a chunk's copy has something to overlap with. */
static ek_status run_chain(void)
{
    ek_pipeline *pipeline = NULL;
    ek_plan *plan = NULL;
    ek_plan_options options = {.backend = "cuda", .launch = EK_LAUNCH_GRAPH};
    rows_options rows = {.cells = CELLS, .chunks = CHUNKS};
    work_options work = {.steps = STEPS};
    ek_status rc = EK_OK;
    EK_GOTO(ek_pipeline_create(&pipeline, "activity"), done);
    ek_node *node =
        ek_upload(pipeline, ek_pipeline_add(pipeline, &rows_stage, NULL, 0, &rows), NULL);
    for (int i = 0; i + 1 < STAGES; i++) {
        node = ek_pipeline_add(pipeline, &work_stage, &node, 1, &work);
    }
    ek_download(pipeline, ek_pipeline_add(pipeline, &tally_stage, &node, 1, &work), NULL);
    EK_GOTO(ek_plan_create(&plan, pipeline, &options), done);
    EK_GOTO(ek_run(plan, NULL, NULL), done);
done:
    ek_plan_destroy(plan);
    ek_pipeline_destroy(pipeline);
    return rc;
}

static uint64_t first_launch(void)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < n_records; i++) {
        if (records[i].kind == ACTIVITY_GRAPH_LAUNCH && records[i].start_ns < first) {
            first = records[i].start_ns;
        }
    }
    return first;
}

static uint64_t last_launch(void)
{
    uint64_t last = 0;
    for (size_t i = 0; i < n_records; i++) {
        if (records[i].kind == ACTIVITY_GRAPH_LAUNCH && records[i].end_ns > last) {
            last = records[i].end_ns;
        }
    }
    return last;
}

/* count returns how many records of a kind there are (bytes 0: of any size). */
static int count(activity_kind kind, uint64_t bytes)
{
    int n = 0;
    for (size_t i = 0; i < n_records; i++) {
        n += records[i].kind == kind && (bytes == 0 || records[i].bytes == bytes);
    }
    return n;
}

static void one_graph_launch_a_chunk(void **state)
{
    (void)state;
    assert_int_equal(count(ACTIVITY_GRAPH_LAUNCH, 0), CHUNKS);
}

static void kernels_are_seen_inside_graphs(void **state)
{
    (void)state;
    int inside = 0;
    for (size_t i = 0; i < n_records; i++) {
        inside += records[i].kind == ACTIVITY_KERNEL && records[i].graph_node != 0;
    }
    assert_int_equal(inside, CHUNKS * STAGES);
}

/* The header goes by itself: it is needed again where the values stay on the device. Once more for
 * the warm-up. */
static void one_copy_of_values_a_chunk(void **state)
{
    (void)state;
    assert_int_equal(count(ACTIVITY_COPY_IN, CELLS * sizeof(float)), CHUNKS);
    assert_int_equal(count(ACTIVITY_COPY_IN, sizeof(ek_chunk_header)), CHUNKS + 1);
    assert_int_equal(count(ACTIVITY_COPY_IN, 0), 2 * CHUNKS + 1);
    assert_int_equal(count(ACTIVITY_COPY_OUT, 0), 1); /* the result */
}

/* And one for the end of the pass. */
static void one_callback_a_chunk(void **state)
{
    (void)state;
    assert_int_equal(count(ACTIVITY_CALLBACK, 0), CHUNKS + 1);
}

static void nothing_is_allocated_while_chunks_flow(void **state)
{
    (void)state;
    uint64_t from = first_launch(), to = last_launch();
    int before = 0, during = 0;
    for (size_t i = 0; i < n_records; i++) {
        bool allocates = records[i].kind == ACTIVITY_ALLOCATION;
        before += allocates && records[i].start_ns < from;
        during += allocates && records[i].start_ns >= from && records[i].start_ns <= to;
    }
    assert_true(before > 0); /* the recording works */
    assert_int_equal(during, 0);
}

/* overlaps says whether some kernel ran during a copy. */
static bool overlaps(const activity *copy)
{
    for (size_t i = 0; i < n_records; i++) {
        const activity *kernel = &records[i];
        if (kernel->kind == ACTIVITY_KERNEL && kernel->start_ns < copy->end_ns &&
            copy->start_ns < kernel->end_ns) {
            return true;
        }
    }
    return false;
}

static void copies_overlap_kernels(void **state)
{
    (void)state;
    int overlapping = 0;
    for (size_t i = 0; i < n_records; i++) {
        bool values =
            records[i].kind == ACTIVITY_COPY_IN && records[i].bytes == CELLS * sizeof(float);
        overlapping += values && overlaps(&records[i]);
    }
    print_message("%d of %d copies overlap kernels\n", overlapping, CHUNKS);
    assert_true(overlapping >= CHUNKS / 2);
}

int main(void)
{
    char reason[256] = "", device[256] = "";
    bool recording = activity_start(reason, sizeof reason);
    bool usable = ek_cuda_device_count(device, sizeof device) > 0;
    if (!recording || !usable) {
        printf("skipped: %s\n", usable ? reason : device);
        return 77;
    }
    ek_status rc = run_chain();
    records = activity_stop(&n_records);
    if (rc != EK_OK) {
        fprintf(stderr, "%s\n", ek_error_last()->message);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_graph_launch_a_chunk),
        cmocka_unit_test(kernels_are_seen_inside_graphs),
        cmocka_unit_test(one_copy_of_values_a_chunk),
        cmocka_unit_test(one_callback_a_chunk),
        cmocka_unit_test(nothing_is_allocated_while_chunks_flow),
        cmocka_unit_test(copies_overlap_kernels),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(records);
    return failed;
}
