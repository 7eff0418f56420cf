/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of the backend: the n-th call of each of its functions fails, for every n until a run goes
 * through. Each time the error is the injected one, sinks drop what they have, and no memory is
 * left. */
#include "graphs/internal.h"
#include "graphs/nodes.h"
#include "graphs/run.h"
#include "tests/support/memory_stages.h"
#include "tests/support/near.h"
#include "tests/support/spread.h"

#include <math.h>

#define ROWS  14
#define CELLS 5

static float values[ROWS * CELLS];
static memory_input input = {
    .cells = CELLS,
    .n_segments = 1,
    .segments = {{.rows = ROWS, .dtype = EK_F32, .scale = 1, .data = values}},
};

static const ek_backend_ops *real;
static int countdown; /* the call that fails; all on the loop's thread */

static ek_status strike(void)
{
    return --countdown == 0 ? EK_FAIL(EK_EIO, "injected") : EK_OK;
}

static ek_status bad_mem_alloc(ek_backend *backend, ek_space space, size_t bytes, void **out)
{
    EK_TRY(strike());
    return real->mem_alloc(backend, space, bytes, out);
}

static ek_status bad_queue_create(ek_backend *backend, ek_queue **out)
{
    EK_TRY(strike());
    return real->queue_create(backend, out);
}

static ek_status bad_copy(ek_queue *queue, void *dst, const void *src, size_t bytes)
{
    EK_TRY(strike());
    return real->copy(queue, dst, src, bytes);
}

static ek_status bad_fill(ek_queue *queue, void *dst, int byte, size_t bytes)
{
    EK_TRY(strike());
    return real->fill(queue, dst, byte, bytes);
}

static ek_status bad_launch(ek_queue *queue, const ek_kernel *kernel, const void *args,
                            size_t bytes)
{
    EK_TRY(strike());
    return real->launch(queue, kernel, args, bytes);
}

static ek_status bad_notify(ek_queue *queue, ek_notify_fn fn, void *user)
{
    EK_TRY(strike());
    return real->notify(queue, fn, user);
}

static ek_status bad_event_create(ek_backend *backend, ek_event **out)
{
    EK_TRY(strike());
    return real->event_create(backend, out);
}

static ek_status bad_event_record(ek_event *event, ek_queue *queue)
{
    EK_TRY(strike());
    return real->event_record(event, queue);
}

static ek_status bad_event_wait(ek_event *event, ek_queue *queue)
{
    EK_TRY(strike());
    return real->event_wait(event, queue);
}

static ek_status bad_event_elapsed(ek_event *start, ek_event *stop, double *seconds)
{
    EK_TRY(strike());
    return real->event_elapsed(start, stop, seconds);
}

static ek_status bad_capture_begin(ek_queue *queue)
{
    EK_TRY(strike());
    return real->capture_begin(queue);
}

static ek_status bad_graph_launch(ek_graph *graph, ek_queue *queue)
{
    EK_TRY(strike());
    return real->graph_launch(graph, queue);
}

static ek_pipeline *make(collected *stream, collected *result)
{
    ek_pipeline *p = NULL;
    ek_assert_ok(ek_pipeline_create(&p, "test"));
    ek_node *a = ek_upload(p, memory_add(p, &input, 4), NULL);
    ek_node *b = ek_upload(p, memory_add(p, &input, 3), NULL);
    ek_node *both = ek_combine(p, a, b, NULL);
    ek_node *anomaly = ek_anomaly(p, both, ek_reduce(p, both, NULL), NULL);
    collect_add(p, ek_download(p, anomaly, NULL), stream);
    collect_add(p, ek_download(p, spread_add(p, b), NULL), result);
    return p;
}

/* run_with runs once with the n-th call of the functions in `bad` failing. */
static ek_status run_with(const ek_backend_ops *bad, int n, ek_launch launch)
{
    collected stream = {0}, result = {0};
    ek_plan *plan = NULL;
    ek_pipeline *p = make(&stream, &result);
    ek_plan_options options = {.backend = "host", .slots = 2, .launch = launch};
    ek_assert_ok(ek_plan_create(&plan, p, &options));
    countdown = n;
    plan->backend->ops = bad;
    ek_status rc = ek_run(plan, NULL, NULL);
    plan->backend->ops = real;
    assert_int_equal(stream.committed, rc == EK_OK ? stream.opened : 0);
    assert_int_equal(result.committed, rc == EK_OK ? result.opened : 0);
    assert_int_equal(stream.dropped, rc == EK_OK ? 0 : stream.opened);
    ek_error error = *ek_error_last();
    ek_plan_destroy(plan);
    ek_pipeline_destroy(p);
    collected_fini(&stream);
    collected_fini(&result);
    return rc == EK_OK ? EK_OK : ek_error_set(&error);
}

static void check(const ek_backend_ops *bad, const char *name, ek_launch launch)
{
    int64_t live = ek_alloc_live();
    ek_status rc = EK_EIO;
    int n = 0;
    while (rc != EK_OK) {
        rc = run_with(bad, ++n, launch);
        if (rc != EK_OK) {
            assert_int_equal(rc, EK_EIO);
            ek_assert_message("injected");
        }
        if (ek_alloc_live() != live || n > 500) {
            fail_msg("%s, call %d: %lld allocations left", name, n,
                     (long long)(ek_alloc_live() - live));
        }
    }
    if (n < 2) {
        fail_msg("%s is never called", name);
    }
}

static void every_backend_call_may_fail(void **state)
{
    (void)state;
    ek_backend *host = NULL;
    ek_assert_ok(ek_backend_create(&host, "host", NULL, 0));
    real = host->ops;
    ek_backend_ops bad = *real;
#define CHECK(member, launch)                                                                      \
    bad.member = bad_##member;                                                                     \
    check(&bad, #member, launch);                                                                  \
    bad.member = real->member
    CHECK(mem_alloc, EK_LAUNCH_GRAPH);
    CHECK(queue_create, EK_LAUNCH_GRAPH);
    CHECK(event_create, EK_LAUNCH_GRAPH);
    CHECK(copy, EK_LAUNCH_GRAPH);
    CHECK(fill, EK_LAUNCH_GRAPH);
    CHECK(launch, EK_LAUNCH_GRAPH);
    CHECK(launch, EK_LAUNCH_STREAM);
    CHECK(notify, EK_LAUNCH_GRAPH);
    CHECK(event_record, EK_LAUNCH_GRAPH);
    CHECK(event_wait, EK_LAUNCH_GRAPH);
    CHECK(event_elapsed, EK_LAUNCH_GRAPH);
    CHECK(capture_begin, EK_LAUNCH_GRAPH);
    CHECK(graph_launch, EK_LAUNCH_GRAPH);
#undef CHECK
    ek_backend_destroy(host);
}

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS * CELLS; i++) {
        values[i] = (float)sin(0.37 * i);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_backend_call_may_fail)};
    return cmocka_run_group_tests(tests, setup, NULL);
}
