/* SPDX-License-Identifier: Apache-2.0 */
/* One suite for every backend: `backend_test` runs it on host, `backend_test cuda` on cuda, and is
 * skipped where there is no device. Callbacks and kernels assert nothing, since cmocka jumps. */
#include "tests/support/near.h"
#include "tests/support/vectors.h"

#include "core/alloc.h"
#include "core/backend.h"

#include <stdio.h>
#include <string.h>
#include <uv.h>

enum { N = 1000, BYTES = N * sizeof(double) };

static const char *backend_name = "host";

typedef struct bench {
    int64_t live;
    ek_backend *backend;
    ek_queue *queue, *other;
    double *pinned, *device, *device2;
} bench;

static int set_up(void **state)
{
    bench *b = test_calloc(1, sizeof *b);
    b->live = ek_alloc_live();
    ek_assert_ok(ek_backend_create(&b->backend, backend_name, NULL, 0));
    ek_assert_ok(ek_queue_create(b->backend, &b->queue));
    ek_assert_ok(ek_queue_create(b->backend, &b->other));
    void *ptr = NULL;
    ek_assert_ok(ek_mem_alloc(b->backend, EK_SPACE_PINNED, BYTES, &ptr));
    b->pinned = ptr;
    ek_assert_ok(ek_mem_alloc(b->backend, EK_SPACE_DEVICE, BYTES, &ptr));
    b->device = ptr;
    ek_assert_ok(ek_mem_alloc(b->backend, EK_SPACE_DEVICE, BYTES, &ptr));
    b->device2 = ptr;
    for (int i = 0; i < N; i++) {
        b->pinned[i] = i;
    }
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    bench *b = *state;
    ek_alloc_fail_at(0);
    ek_queue_destroy(b->queue);
    ek_queue_destroy(b->other);
    ek_mem_free(b->backend, EK_SPACE_PINNED, b->pinned);
    ek_mem_free(b->backend, EK_SPACE_DEVICE, b->device);
    ek_mem_free(b->backend, EK_SPACE_DEVICE, b->device2);
    ek_backend_destroy(b->backend);
    bool leaked = ek_alloc_live() != b->live;
    test_free(b);
    return leaked ? -1 : 0;
}

static ek_status upload(bench *b, ek_queue *queue)
{
    return ek_queue_copy(queue, b->device, b->pinned, BYTES);
}

static ek_status download(bench *b, ek_queue *queue)
{
    return ek_queue_copy(queue, b->pinned, b->device, BYTES);
}

static ek_status scale(bench *b, ek_queue *queue, double factor)
{
    vector_args args = {.x = b->device, .factor = factor, .n = N};
    return ek_queue_launch(queue, &vector_scale_add, &args, sizeof args);
}

static void check_pinned(const bench *b, double factor)
{
    double expected[N];
    for (int i = 0; i < N; i++) {
        expected[i] = factor * i;
    }
    ek_assert_near(b->pinned, expected, N, 0, 0);
}

static void properties_are_filled(void **state)
{
    bench *b = *state;
    ek_backend_props props;
    ek_assert_ok(ek_backend_get_props(b->backend, &props));
    assert_true(props.free_bytes > 0);
    assert_true(props.free_bytes <= props.total_bytes);
    assert_true(strlen(props.device) > 0);
    assert_true(strlen(props.libraries) > 0);
    assert_string_equal(ek_backend_name(b->backend), backend_name);
    bool host = ek_backend_which(b->backend) == EK_BACKEND_HOST;
    assert_int_equal(host, strcmp(backend_name, "host") == 0);
    assert_int_equal(host, ek_queue_native(b->queue) == NULL);
}

static void memory_is_aligned(void **state)
{
    bench *b = *state;
    const ek_space spaces[] = {EK_SPACE_HOST, EK_SPACE_PINNED, EK_SPACE_DEVICE};
    const size_t sizes[] = {0, 1, 257};
    for (size_t i = 0; i < 9; i++) {
        void *ptr = NULL;
        ek_assert_ok(ek_mem_alloc(b->backend, spaces[i / 3], sizes[i % 3], &ptr));
        assert_non_null(ptr);
        assert_int_equal((uintptr_t)ptr % 256, 0);
        ek_mem_free(b->backend, spaces[i / 3], ptr);
        ek_alloc_fail_at(1);
        assert_int_equal(ek_mem_alloc(b->backend, spaces[i / 3], 1, &ptr), EK_ENOMEM);
        assert_null(ptr);
    }
    void *ptr = NULL;
    assert_int_equal(ek_mem_alloc(b->backend, EK_SPACE_DEVICE, SIZE_MAX - 5, &ptr), EK_ENOMEM);
    ek_mem_free(b->backend, EK_SPACE_DEVICE, NULL);
}

static void work_runs_in_order(void **state)
{
    bench *b = *state;
    ek_assert_ok(upload(b, b->queue));
    for (int i = 0; i < 300; i++) { /* more than a ring's first size */
        ek_assert_ok(scale(b, b->queue, 4));
        ek_assert_ok(scale(b, b->queue, 0.25));
    }
    ek_assert_ok(scale(b, b->queue, 3));
    ek_assert_ok(ek_queue_copy(b->queue, b->device2, b->device, BYTES));
    ek_assert_ok(ek_queue_fill(b->queue, b->device, 0, BYTES));
    ek_assert_ok(ek_queue_copy(b->queue, b->device, NULL, 0));
    ek_assert_ok(ek_queue_fill(b->queue, NULL, 0, 0));
    vector_args add = {.x = b->device, .y = b->device2, .factor = 1, .n = N};
    ek_assert_ok(ek_queue_launch(b->queue, &vector_scale_add, &add, sizeof add));
    add.factor = 99; /* the arguments were copied */
    ek_assert_ok(download(b, b->queue));
    ek_assert_ok(ek_queue_sync(b->queue));
    check_pinned(b, 3);
}

static void bad_launches_are_refused(void **state)
{
    bench *b = *state;
    char args[EK_KERNEL_ARGS_MAX + 1] = {0};
    assert_int_equal(ek_queue_launch(b->queue, &vector_scale_add, args, sizeof args), EK_EINTERNAL);
    ek_assert_message("scale_add");
    ek_kernel nothing = {.name = "nothing"};
    assert_int_equal(ek_queue_launch(b->queue, &nothing, args, 0), EK_ENOTSUP);
    ek_assert_message("nothing");
    ek_assert_ok(ek_queue_sync(b->queue));
}

static void events_order_queues(void **state)
{
    bench *b = *state;
    ek_event *start = NULL, *uploaded = NULL, *scaled = NULL;
    ek_assert_ok(ek_event_create(b->backend, &start));
    ek_assert_ok(ek_event_create(b->backend, &uploaded));
    ek_assert_ok(ek_event_create(b->backend, &scaled));
    bool done = false;
    ek_assert_ok(ek_event_query(start, &done));
    assert_true(done); /* never recorded */
    double seconds = 0;
    assert_int_equal(ek_event_elapsed(start, scaled, &seconds), EK_EINVAL);
    ek_assert_ok(ek_event_wait(start, b->other)); /* of nothing: no wait */

    ek_assert_ok(ek_event_record(start, b->queue));
    double factor = 1;
    for (int i = 0; i < 20; i++) { /* the same events over and over, as slots use them */
        ek_assert_ok(upload(b, b->queue));
        ek_assert_ok(ek_event_record(uploaded, b->queue));
        ek_assert_ok(ek_event_wait(uploaded, b->other));
        ek_assert_ok(scale(b, b->other, 2));
        ek_assert_ok(ek_event_record(scaled, b->other));
        ek_assert_ok(ek_event_wait(scaled, b->queue));
        ek_assert_ok(download(b, b->queue));
        factor *= 2;
    }
    ek_assert_ok(ek_queue_sync(b->queue));
    check_pinned(b, factor);
    ek_assert_ok(ek_event_query(scaled, &done));
    assert_true(done);
    ek_assert_ok(ek_event_elapsed(start, scaled, &seconds));
    assert_true(seconds > 0 && seconds < 60);
    ek_event_destroy(start);
    ek_event_destroy(uploaded);
    ek_event_destroy(scaled);
    ek_event_destroy(NULL);
}

typedef struct note {
    uv_sem_t *delivered;
    int seen;
} note;

static int notes_seen;

static void take_note(void *user)
{
    note *self = user;
    self->seen = ++notes_seen;
    uv_sem_post(self->delivered);
}

static void notifications_come_after_the_work(void **state)
{
    bench *b = *state;
    uv_sem_t delivered;
    assert_int_equal(uv_sem_init(&delivered, 0), 0);
    notes_seen = 0;
    note notes[20] = {0};
    ek_assert_ok(upload(b, b->queue));
    for (int i = 0; i < 20; i++) {
        notes[i].delivered = &delivered;
        ek_assert_ok(scale(b, b->queue, 2));
        ek_assert_ok(ek_queue_notify(b->queue, take_note, &notes[i]));
    }
    ek_assert_ok(download(b, b->queue));
    for (int i = 0; i < 20; i++) {
        uv_sem_wait(&delivered);
    }
    ek_assert_ok(ek_queue_sync(b->queue));
    check_pinned(b, 1 << 20);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(notes[i].seen, i + 1);
    }
    uv_sem_destroy(&delivered);
}

/* hold is a notification that takes until the test lets it go. */
static void hold(void *user)
{
    uv_sem_wait(user);
}

/* On cuda: a held notification would keep the queue's later work from the other queue for ever. */
static void work_does_not_wait_for_notifications(void **state)
{
    bench *b = *state;
    if (ek_backend_which(b->backend) != EK_BACKEND_CUDA) {
        skip();
    }
    uv_sem_t release;
    ek_event *event = NULL;
    assert_int_equal(uv_sem_init(&release, 0), 0);
    ek_assert_ok(ek_event_create(b->backend, &event));
    ek_assert_ok(ek_queue_notify(b->queue, hold, &release));
    ek_assert_ok(upload(b, b->queue));
    ek_assert_ok(scale(b, b->queue, 2));
    ek_assert_ok(download(b, b->queue));
    ek_assert_ok(ek_event_record(event, b->queue));
    ek_assert_ok(ek_event_wait(event, b->other));
    ek_assert_ok(ek_queue_sync(b->other));
    check_pinned(b, 2);
    uv_sem_post(&release);
    ek_assert_ok(ek_queue_sync(b->queue));
    ek_event_destroy(event);
    uv_sem_destroy(&release);
}

static ek_status chunk_work(bench *b, ek_queue *queue)
{
    EK_TRY(upload(b, queue));
    EK_TRY(scale(b, queue, 2));
    EK_TRY(ek_queue_copy(queue, b->device2, b->device, BYTES));
    EK_TRY(ek_queue_fill(queue, b->device, 0, BYTES));
    vector_args add = {.x = b->device, .y = b->device2, .factor = 1, .n = N};
    EK_TRY(ek_queue_launch(queue, &vector_scale_add, &add, sizeof add));
    return download(b, queue);
}

static void a_captured_graph_replays(void **state)
{
    bench *b = *state;
    ek_assert_ok(chunk_work(b, b->queue)); /* warm-up */
    ek_assert_ok(ek_queue_sync(b->queue));
    check_pinned(b, 2);
    ek_assert_ok(ek_capture_begin(b->queue));
    ek_assert_ok(chunk_work(b, b->queue));
    ek_graph *graph = NULL;
    ek_assert_ok(ek_capture_end(b->queue, &graph));
    bool host = ek_backend_which(b->backend) == EK_BACKEND_HOST;
    assert_true(host ? ek_graph_size(graph) == 6 : ek_graph_size(graph) >= 6);
    ek_assert_ok(ek_queue_sync(b->queue));
    check_pinned(b, 2); /* recording ran nothing */
    for (int i = 0; i < 3; i++) {
        ek_assert_ok(ek_graph_launch(graph, b->queue));
    }
    ek_assert_ok(ek_queue_sync(b->queue));
    check_pinned(b, 16);
    ek_assert_ok(ek_graph_launch(graph, b->queue));
    ek_graph_destroy(graph); /* while it may still run */
    ek_assert_ok(ek_queue_sync(b->queue));
    check_pinned(b, 32);
    ek_graph_destroy(NULL);
}

static void an_empty_capture_is_legal(void **state)
{
    bench *b = *state;
    ek_graph *graph = NULL;
    ek_assert_ok(ek_capture_begin(b->queue));
    ek_assert_ok(ek_capture_end(b->queue, &graph));
    assert_int_equal(ek_graph_size(graph), 0);
    ek_assert_ok(ek_graph_launch(graph, b->queue));
    ek_assert_ok(ek_queue_sync(b->queue));
    ek_graph_destroy(graph);
}

/* Makes mistake number `which` on a queue that is being captured. */
static ek_status blunder(bench *b, int which, ek_event *event, ek_graph *graph)
{
    char args[1] = {0};
    switch (which) {
    case 0:
        return ek_queue_notify(b->queue, take_note, NULL);
    case 1:
        return ek_event_record(event, b->queue);
    case 2:
        return ek_event_wait(event, b->queue);
    case 3:
        return ek_graph_launch(graph, b->queue);
    case 4:
        return ek_queue_sync(b->queue);
    case 5:
        return ek_capture_begin(b->queue);
    default:
        return ek_queue_launch(b->queue, &(ek_kernel){.name = "nothing"}, args, 0);
    }
}

static void a_failed_capture_leaves_the_queue_usable(void **state)
{
    bench *b = *state;
    ek_event *event = NULL;
    ek_graph *empty = NULL;
    ek_assert_ok(ek_event_create(b->backend, &event));
    ek_assert_ok(ek_capture_begin(b->queue));
    ek_assert_ok(ek_capture_end(b->queue, &empty));
    for (int which = 0; which < 7; which++) {
        ek_graph *graph = empty;
        ek_assert_ok(ek_capture_begin(b->queue));
        ek_assert_ok(upload(b, b->queue));
        assert_int_equal(blunder(b, which, event, empty), EK_ENOTSUP);
        ek_error_clear();
        assert_int_equal(ek_capture_end(b->queue, &graph), EK_ENOTSUP);
        ek_assert_message("The capture failed: ");
        ek_assert_message(which < 6 ? "not allowed while" : "nothing");
        assert_null(graph);
        ek_assert_ok(ek_queue_sync(b->queue));
    }
    ek_graph *graph = NULL;
    assert_int_equal(ek_capture_end(b->queue, &graph), EK_EINVAL);
    ek_assert_ok(ek_capture_begin(b->queue));
    ek_assert_ok(upload(b, b->queue));
    ek_assert_ok(ek_capture_end(b->queue, &graph));
    ek_assert_ok(ek_graph_launch(graph, b->queue));
    ek_assert_ok(ek_queue_sync(b->queue));
    ek_graph_destroy(graph);
    ek_graph_destroy(empty);
    ek_event_destroy(event);
    ek_assert_ok(ek_capture_begin(b->other)); /* destroyed while capturing */
    ek_assert_ok(upload(b, b->other));
}

static void a_refusing_kernel_is_reported(void **state)
{
    bench *b = *state;
    if (ek_backend_which(b->backend) != EK_BACKEND_HOST) {
        assert_int_equal(ek_queue_launch(b->queue, &vector_refuse, NULL, 0), EK_EDATA);
        ek_assert_ok(ek_queue_sync(b->queue));
        return;
    }
    uv_sem_t delivered;
    assert_int_equal(uv_sem_init(&delivered, 0), 0);
    ek_event *event = NULL;
    ek_assert_ok(ek_event_create(b->backend, &event));
    note n = {.delivered = &delivered};
    ek_assert_ok(upload(b, b->queue));
    ek_assert_ok(ek_queue_launch(b->queue, &vector_refuse, NULL, 0));
    ek_assert_ok(ek_queue_fill(b->queue, b->device, 0xff, BYTES)); /* skipped */
    ek_assert_ok(ek_event_record(event, b->queue));
    ek_assert_ok(ek_queue_notify(b->queue, take_note, &n));
    ek_assert_ok(ek_event_wait(event, b->other));
    ek_assert_ok(ek_queue_fill(b->other, b->device, 0xff, BYTES)); /* skipped too */
    uv_sem_wait(&delivered);
    bool done = false;
    ek_error_clear();
    assert_int_equal(ek_event_query(event, &done), EK_EDATA);
    assert_true(done);
    ek_assert_message("taste");
    for (int i = 0; i < 2; i++) { /* it stays */
        ek_error_clear();
        assert_int_equal(ek_queue_sync(b->queue), EK_EDATA);
        ek_assert_message("taste");
    }
    assert_int_equal(ek_queue_sync(b->other), EK_EDATA);
    memcpy(b->pinned, b->device, BYTES);
    check_pinned(b, 1);
    ek_event_destroy(event);
    uv_sem_destroy(&delivered);
}

static void a_graph_stops_at_a_refusal(void **state)
{
    bench *b = *state;
    if (ek_backend_which(b->backend) != EK_BACKEND_HOST) {
        skip();
    }
    ek_graph *graph = NULL;
    ek_assert_ok(ek_capture_begin(b->queue));
    ek_assert_ok(upload(b, b->queue));
    ek_assert_ok(ek_queue_launch(b->queue, &vector_refuse, NULL, 0));
    ek_assert_ok(ek_queue_fill(b->queue, b->device, 0xff, BYTES));
    ek_assert_ok(ek_capture_end(b->queue, &graph));
    ek_assert_ok(ek_graph_launch(graph, b->queue));
    ek_assert_ok(ek_graph_launch(graph, b->queue));
    ek_graph_destroy(graph);
    assert_int_equal(ek_queue_sync(b->queue), EK_EDATA);
    memcpy(b->pinned, b->device, BYTES);
    check_pinned(b, 1);
}

static void steady_state_allocates_nothing(void **state)
{
    bench *b = *state;
    uv_sem_t delivered;
    assert_int_equal(uv_sem_init(&delivered, 0), 0);
    note n = {.delivered = &delivered};
    ek_event *event = NULL;
    ek_graph *graph = NULL;
    ek_assert_ok(ek_event_create(b->backend, &event));
    ek_assert_ok(chunk_work(b, b->queue));
    ek_assert_ok(ek_queue_sync(b->queue));
    ek_assert_ok(ek_capture_begin(b->queue));
    ek_assert_ok(chunk_work(b, b->queue));
    ek_assert_ok(ek_capture_end(b->queue, &graph));
    for (int i = 0; i < 100; i++) {
        ek_assert_ok(ek_graph_launch(graph, b->queue));
        ek_assert_ok(ek_event_record(event, b->queue));
        ek_assert_ok(ek_event_wait(event, b->other));
        ek_assert_ok(chunk_work(b, b->other));
        ek_assert_ok(ek_event_record(event, b->other));
        ek_assert_ok(ek_event_wait(event, b->queue));
        ek_assert_ok(ek_queue_notify(b->queue, take_note, &n));
        uv_sem_wait(&delivered);
        if (i == 0) {
            ek_alloc_fail_at(1); /* from now on an allocation would fail */
        }
    }
    ek_assert_ok(ek_queue_sync(b->queue));
    ek_graph_destroy(graph);
    ek_event_destroy(event);
    uv_sem_destroy(&delivered);
}

/* Everything that allocates, in one go; *b is of its own. */
static ek_status whole_life(bench *b)
{
    ek_event *event = NULL;
    ek_graph *graph = NULL;
    ek_status rc = EK_OK;
    EK_GOTO(ek_backend_create(&b->backend, backend_name, NULL, 0), done);
    EK_GOTO(ek_queue_create(b->backend, &b->queue), done);
    EK_GOTO(ek_event_create(b->backend, &event), done);
    EK_GOTO(ek_mem_alloc(b->backend, EK_SPACE_PINNED, BYTES, (void **)&b->pinned), done);
    EK_GOTO(ek_mem_alloc(b->backend, EK_SPACE_DEVICE, BYTES, (void **)&b->device), done);
    EK_GOTO(scale(b, b->queue, 1), done);
    EK_GOTO(ek_capture_begin(b->queue), done);
    for (int i = 0; i < 20 && rc == EK_OK; i++) {
        rc = scale(b, b->queue, 1);
    }
    ek_status end = ek_capture_end(b->queue, &graph);
    EK_GOTO(rc != EK_OK ? rc : end, done);
    EK_GOTO(ek_graph_launch(graph, b->queue), done);
    EK_GOTO(ek_event_record(event, b->queue), done);
    EK_GOTO(ek_queue_sync(b->queue), done);
done:
    ek_graph_destroy(graph);
    ek_event_destroy(event);
    ek_queue_destroy(b->queue);
    if (b->backend != NULL) {
        ek_mem_free(b->backend, EK_SPACE_PINNED, b->pinned);
        ek_mem_free(b->backend, EK_SPACE_DEVICE, b->device);
    }
    ek_backend_destroy(b->backend);
    return rc;
}

static void no_failed_allocation_leaks(void **state)
{
    (void)state;
    int64_t before = ek_alloc_live();
    ek_status rc = EK_ENOMEM;
    int n = 0;
    while (rc != EK_OK) {
        bench b = {0};
        ek_alloc_fail_at(++n);
        rc = whole_life(&b);
        ek_alloc_fail_at(0);
        assert_true(rc == EK_OK || rc == EK_ENOMEM);
        assert_int_equal(ek_alloc_live(), before);
    }
    assert_true(n > 5);
}

static void backends_are_chosen_by_name(void **state)
{
    (void)state;
    char reason[256] = "";
    ek_backend *backend = NULL;
    assert_int_equal(ek_backend_create(&backend, "opencl", reason, sizeof reason), EK_EINVAL);
    ek_assert_message("auto, host and cuda");
    assert_null(backend);
    ek_assert_ok(ek_backend_create(&backend, "auto", reason, sizeof reason));
    assert_memory_equal(reason, ek_backend_name(backend), 4);
    assert_true(strlen(reason) > 6);
    print_message("%s\n", reason);
    bool cuda = ek_backend_which(backend) == EK_BACKEND_CUDA;
    ek_backend_destroy(backend);
    ek_assert_ok(ek_backend_create(&backend, NULL, NULL, 0));
    ek_backend_destroy(backend);
    ek_backend_destroy(NULL);
    ek_status rc = ek_backend_create(&backend, "cuda", NULL, 0);
    assert_int_equal(rc, cuda ? EK_OK : EK_ENOTSUP);
    if (!cuda) {
        ek_assert_message("Use backend=host");
        assert_null(backend);
    }
    ek_backend_destroy(backend);
}

static bool cuda_is_usable(void)
{
#ifdef EK_HAVE_CUDA
    char why[256] = "";
    int count = ek_cuda_device_count(why, sizeof why);
    printf("%s\n", why);
    return count > 0;
#else
    printf("this build has no CUDA\n");
    return false;
#endif
}

#define ON_BENCH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(int argc, char **argv)
{
    if (argc > 1) {
        backend_name = argv[1];
    }
    if (strcmp(backend_name, "cuda") == 0 && !cuda_is_usable()) {
        return 77;
    }
    const struct CMUnitTest tests[] = {
        ON_BENCH(properties_are_filled),
        ON_BENCH(memory_is_aligned),
        ON_BENCH(work_runs_in_order),
        ON_BENCH(bad_launches_are_refused),
        ON_BENCH(events_order_queues),
        ON_BENCH(notifications_come_after_the_work),
        ON_BENCH(work_does_not_wait_for_notifications),
        ON_BENCH(a_captured_graph_replays),
        ON_BENCH(an_empty_capture_is_legal),
        ON_BENCH(a_failed_capture_leaves_the_queue_usable),
        ON_BENCH(a_refusing_kernel_is_reported),
        ON_BENCH(a_graph_stops_at_a_refusal),
        ON_BENCH(steady_state_allocates_nothing),
        cmocka_unit_test(no_failed_allocation_leaks),
        cmocka_unit_test(backends_are_chosen_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
