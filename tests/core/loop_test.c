/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop and the io thread. Nothing is asserted inside callbacks, since cmocka jumps. */
#include "tests/support/near.h"

#include "core/alloc.h"
#include "core/loop.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, POSTS = 200 };

typedef struct poster {
    ek_loop *loop;
    ek_task tasks[POSTS];
    int ran;
    bool in_order;
    struct poster *all;
} poster;

static void count_task(ek_task *task)
{
    poster *self = task->user;
    self->in_order = self->in_order && task == &self->tasks[self->ran];
    self->ran++;
    int total = 0;
    for (int i = 0; i < THREADS; i++) {
        total += self->all[i].ran;
    }
    if (total == THREADS * POSTS) {
        ek_loop_stop(self->loop);
    }
}

static void *post_all(void *user)
{
    poster *self = user;
    for (int i = 0; i < POSTS; i++) {
        ek_loop_post(self->loop, &self->tasks[i]);
    }
    return NULL;
}

static void posts_of_all_threads_run_in_order(void **state)
{
    (void)state;
    int64_t before = ek_alloc_live();
    ek_loop *loop = NULL;
    ek_assert_ok(ek_loop_create(&loop));
    poster posters[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        posters[i] = (poster){.loop = loop, .in_order = true, .all = posters};
        for (int j = 0; j < POSTS; j++) {
            posters[i].tasks[j] = (ek_task){.run = count_task, .user = &posters[i]};
        }
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, post_all, &posters[i]), 0);
    }
    ek_assert_ok(ek_loop_run(loop));
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(posters[i].ran, POSTS);
        assert_true(posters[i].in_order);
    }
    ek_loop_destroy(loop);
    assert_int_equal(ek_alloc_live(), before);
}

typedef struct repeat {
    ek_loop *loop;
    ek_task task;
    int left;
} repeat;

static void run_again(ek_task *task)
{
    repeat *self = task->user;
    if (--self->left == 0) {
        ek_loop_stop(self->loop);
    } else {
        ek_loop_post(self->loop, task);
    }
}

static void a_task_may_post_itself(void **state)
{
    (void)state;
    ek_loop *loop = NULL;
    ek_assert_ok(ek_loop_create(&loop));
    repeat r = {.loop = loop};
    r.task = (ek_task){.run = run_again, .user = &r};
    for (int i = 0; i < 2; i++) { /* the loop may run again */
        r.left = 10;
        ek_loop_post(loop, &r.task);
        ek_assert_ok(ek_loop_run(loop));
        assert_int_equal(r.left, 0);
    }
    ek_loop_post(loop, &r.task); /* a post that never runs is dropped with the loop */
    ek_loop_destroy(loop);
    ek_loop_destroy(NULL);
}

typedef struct ticks {
    ek_loop *loop;
    int fast, slow;
} ticks;

static void fast_tick(void *user)
{
    ticks *t = user;
    t->fast++;
}

static void slow_tick(void *user)
{
    ticks *t = user;
    if (++t->slow == 3) {
        ek_loop_stop(t->loop);
    }
}

static void timers_repeat(void **state)
{
    (void)state;
    int64_t before = ek_alloc_live();
    ek_loop *loop = NULL;
    ek_assert_ok(ek_loop_create(&loop));
    ticks t = {.loop = loop};
    ek_assert_ok(ek_loop_every(loop, 0, fast_tick, &t));
    ek_assert_ok(ek_loop_every(loop, 10, slow_tick, &t));
    ek_alloc_fail_at(1);
    assert_int_equal(ek_loop_every(loop, 10, slow_tick, &t), EK_ENOMEM);
    ek_assert_ok(ek_loop_run(loop));
    assert_int_equal(t.slow, 3);
    assert_true(t.fast >= 3);
    ek_loop_destroy(loop);
    assert_int_equal(ek_alloc_live(), before);
}

static void stop_on_interrupt(void *user)
{
    ticks *t = user;
    t->slow++;
    ek_loop_stop(t->loop);
}

static void send_interrupt(ek_task *task)
{
    kill(getpid(), *(int *)task->user);
}

static void interrupts_reach_the_loop(void **state)
{
    (void)state;
    ek_loop *loop = NULL;
    ek_assert_ok(ek_loop_create(&loop));
    ticks t = {.loop = loop};
    ek_assert_ok(ek_loop_on_interrupt(loop, stop_on_interrupt, &t));
    ek_assert_ok(ek_loop_on_interrupt(loop, stop_on_interrupt, &t));
    int numbers[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++) {
        ek_task task = {.run = send_interrupt, .user = &numbers[i]};
        ek_loop_post(loop, &task);
        ek_assert_ok(ek_loop_run(loop));
        assert_int_equal(t.slow, i + 1);
    }
    ek_loop_destroy(loop);
}

static void creation_survives_no_memory(void **state)
{
    (void)state;
    ek_loop *loop = NULL;
    ek_alloc_fail_at(1);
    assert_int_equal(ek_loop_create(&loop), EK_ENOMEM);
    assert_null(loop);
}

static ek_status fail_with_detail(void *user)
{
    return EK_FAIL_CODE(EK_ENETCDF, *(int *)user, "The file is not there.");
}

static ek_status call_nested(void *user)
{
    return ek_io_call(fail_with_detail, user);
}

static ek_status where(void *user)
{
    *(pthread_t *)user = pthread_self();
    return EK_OK;
}

static void io_calls_bring_errors_back(void **state)
{
    (void)state;
    int code = -31;
    ek_error_clear();
    assert_int_equal(ek_io_call(fail_with_detail, &code), EK_EINTERNAL);
    ek_assert_message("without ek_io_acquire");
    for (int i = 0; i < 3; i++) { /* the thread starts again after its end */
        ek_assert_ok(ek_io_acquire());
        ek_assert_ok(ek_io_acquire());
        ek_error_clear();
        assert_int_equal(ek_io_call(fail_with_detail, &code), EK_ENETCDF);
        assert_int_equal(ek_error_last()->foreign_code, -31);
        assert_int_equal(ek_io_call(call_nested, &code), EK_ENETCDF);
        ek_assert_message("The file is not there.");
        ek_io_release();
        pthread_t first, second;
        ek_assert_ok(ek_io_call(where, &first));
        ek_assert_ok(ek_io_call(where, &second));
        assert_true(pthread_equal(first, second));
        assert_false(pthread_equal(first, pthread_self()));
        ek_io_release();
    }
    assert_int_equal(ek_io_call(fail_with_detail, &code), EK_EINTERNAL);
}

static int counted; /* touched on the io thread only, read after its end */

static ek_status count_call(void *user)
{
    (void)user;
    counted++;
    return EK_OK;
}

static void count_posted(ek_task *task)
{
    (void)task;
    counted++;
}

static void *use_io(void *failures)
{
    for (int i = 0; i < 50; i++) {
        bool ok = ek_io_acquire() == EK_OK;
        if (ok) {
            ek_task task = {.run = count_posted};
            ek_io_post(&task);
            ok = ek_io_call(count_call, NULL) == EK_OK; /* behind the posted task */
            ek_io_release();
        }
        if (!ok) {
            atomic_fetch_add((_Atomic int *)failures, 1);
        }
    }
    return NULL;
}

static void io_serves_all_threads(void **state)
{
    (void)state;
    counted = 0;
    _Atomic int failures = 0;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, use_io, &failures), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(atomic_load(&failures), 0);
    assert_int_equal(counted, THREADS * 50 * 2);
}

static void release_finishes_what_was_posted(void **state)
{
    (void)state;
    static ek_task tasks[20];
    counted = 0;
    ek_assert_ok(ek_io_acquire());
    for (int i = 0; i < 20; i++) {
        tasks[i].run = count_posted;
        ek_io_post(&tasks[i]);
    }
    ek_io_release();
    assert_int_equal(counted, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(posts_of_all_threads_run_in_order),
        cmocka_unit_test(a_task_may_post_itself),
        cmocka_unit_test(timers_repeat),
        cmocka_unit_test(interrupts_reach_the_loop),
        cmocka_unit_test(creation_survives_no_memory),
        cmocka_unit_test(io_calls_bring_errors_back),
        cmocka_unit_test(io_serves_all_threads),
        cmocka_unit_test(release_finishes_what_was_posted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
