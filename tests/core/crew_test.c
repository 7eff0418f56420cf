/* SPDX-License-Identifier: Apache-2.0 */
#include "core/crew.h"
#include "tests/support/near.h"

#include <stdatomic.h>
#include <stdlib.h>

#define JOBS 100

typedef struct work {
    ek_loop *loop;
    ek_crew *crew;
    atomic_int counts[JOBS];
    int rounds, ended;
    int fail_at; /* -1: none */
} work;

static ek_status one_job(void *user, int job)
{
    work *w = user;
    atomic_fetch_add(&w->counts[job], 1);
    return job == w->fail_at ? EK_FAIL(EK_EIO, "job %d was made to fail", job) : EK_OK;
}

static void ended(ek_task *task)
{
    work *w = task->user;
    if (++w->ended < w->rounds) {
        ek_crew_start(w->crew, JOBS, one_job, w, task);
    } else {
        ek_loop_stop(w->loop);
    }
}

static void begin(ek_task *task)
{
    work *w = task->user;
    task->run = ended;
    ek_crew_start(w->crew, JOBS, one_job, w, task);
}

static void run(work *w)
{
    ek_task task = {.run = begin, .user = w};
    ek_assert_ok(ek_loop_create(&w->loop));
    ek_assert_ok(ek_crew_create(&w->crew, w->loop, JOBS));
    ek_loop_post(w->loop, &task);
    ek_assert_ok(ek_loop_run(w->loop));
}

static void end(work *w)
{
    ek_crew_destroy(w->crew);
    ek_loop_destroy(w->loop);
}

static void every_job_runs_once_a_round(void **state)
{
    (void)state;
    work w = {.rounds = 3, .fail_at = -1};
    run(&w);
    assert_int_equal(w.ended, 3);
    ek_assert_ok(ek_crew_status(w.crew));
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(atomic_load(&w.counts[i]), 3);
    }
    end(&w);
}

static void a_failure_is_told_and_the_rest_passed_over(void **state)
{
    (void)state;
    work w = {.rounds = 1, .fail_at = 0};
    run(&w);
    assert_int_equal(w.ended, 1);
    assert_int_equal(ek_crew_status(w.crew), EK_EIO);
    ek_assert_message("job 0 was made to fail");
    w.fail_at = -1;
    end(&w);
}

static void threads_are_decided_once(void **state)
{
    (void)state;
    int threads = ek_crew_threads(0);
    assert_true(threads >= 1);
    assert_int_equal(ek_crew_threads(threads + 5), threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_decided_once),
        cmocka_unit_test(every_job_runs_once_a_round),
        cmocka_unit_test(a_failure_is_told_and_the_rest_passed_over),
    };
    setenv("UV_THREADPOOL_SIZE", "4", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
