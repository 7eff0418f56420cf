/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints and states: a run that was interrupted and resumed gives the bits of an unbroken one;
 * finished states go on and join; a file of another plan, or a damaged one, is refused. */
#include "graphs/nodes.h"
#include "graphs/run.h"
#include "graphs/state.h"
#include "tests/support/memory_stages.h"
#include "tests/support/near.h"
#include "tests/support/spread.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS  40
#define CELLS 7

static float reals[ROWS * CELLS];
static int16_t shorts[ROWS * CELLS];
static double times[ROWS];
static double moved[ROWS];
static int n_reads;
static ek_plan_options on_backend = {.backend = "host"}; /* or what the argument says */

/* Reals, then packed integers in two packings, with missing values: all of reduce's accumulators.
 */
static memory_input mixed = {
    .cells = CELLS,
    .times = times,
    .n_segments = 3,
    .segments = {{.rows = 16, .dtype = EK_F32, .scale = 1, .data = reals},
                 {.rows = 12,
                  .dtype = EK_I16,
                  .scale = 0.1,
                  .offset = 5,
                  .n_missing = 1,
                  .missing = {-99},
                  .data = shorts},
                 {.rows = 12, .dtype = EK_I16, .scale = 0.2, .offset = 1, .data = shorts}},
};
static memory_input plain = {
    .cells = CELLS,
    .times = times,
    .n_segments = 1,
    .segments = {{.rows = ROWS, .dtype = EK_F32, .scale = 1, .data = reals}},
};

static int setup(void **state)
{
    (void)state;
    char folder[] = "/tmp/ekman-checkpoint-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    for (int i = 0; i < ROWS; i++) {
        times[i] = i;
        moved[i] = i + 1;
    }
    for (int i = 0; i < ROWS * CELLS; i++) {
        reals[i] = (float)(sin(0.37 * i) + 0.01 * i);
        shorts[i] = (int16_t)(i % 11 == 3 ? -99 : (i * 37) % 200 - 100);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char folder[4096];
    assert_non_null(getcwd(folder, sizeof folder));
    const char *names[] = {"point", "point.part", "a", "b", "c", "ab", "abc", "bad"};
    for (size_t i = 0; i < EK_COUNT(names); i++) {
        unlink(names[i]);
    }
    return rmdir(folder);
}

static ek_pipeline *make(void)
{
    ek_pipeline *p = NULL;
    ek_assert_ok(ek_pipeline_create(&p, "test"));
    return p;
}

/* Everything reduce can do, in one pass. */
static ek_pipeline *make_reduce(const memory_input *input, int64_t chunk, collected *into)
{
    ek_pipeline *p = make();
    ek_node *up = ek_upload(p, memory_add(p, input, chunk), NULL);
    collect_add(p, ek_download(p, ek_reduce(p, up, &(ek_reduce_options){.op = 0xff}), NULL), into);
    return p;
}

/* Three passes: a mean, written when the first is over; a fold that sweeps twice over the stream
 * itself, and one that decomposes the anomalies. */
static ek_pipeline *make_passes(const memory_input *input, int64_t chunk, collected *into)
{
    ek_pipeline *p = make();
    ek_node *up = ek_upload(p, memory_add(p, input, chunk), NULL);
    ek_node *mean = ek_reduce(p, up, NULL);
    ek_node *anomaly = ek_anomaly(p, up, mean, NULL);
    collect_add(p, ek_download(p, mean, NULL), &into[0]);
    collect_add(p, ek_download(p, spread_add(p, anomaly), NULL), &into[1]);
    collect_add(p, ek_download(p, ek_svd(p, anomaly, &(ek_svd_options){.modes = 2}), NULL),
                &into[2]);
    return p;
}

static ek_status run(ek_pipeline *p, const ek_plan_options *plan_options,
                     const ek_run_options *options)
{
    ek_plan *plan = NULL;
    ek_status rc = ek_plan_create(&plan, p, plan_options);
    if (rc == EK_OK) {
        rc = ek_run(plan, options, NULL);
    }
    ek_plan_destroy(plan);
    ek_pipeline_destroy(p);
    return rc;
}

/* In the middle of a run the cuts come from the interrupt alone. */
static const ek_run_options at_interrupt = {
    .checkpoint = "point", .checkpoint_s = 1e6, .handle_interrupt = true};
static const ek_run_options resumed = {
    .checkpoint = "point", .checkpoint_s = 1e-3, .handle_interrupt = true, .resume = true};

static memory_input interrupted_at(const memory_input *input, int read)
{
    memory_input copy = *input;
    n_reads = 0;
    copy.n_reads = &n_reads;
    copy.interrupt_at_read = read;
    return copy;
}

static void assert_same(const collected *a, const collected *b)
{
    assert_int_equal(a->spec.n_arrays, b->spec.n_arrays);
    assert_memory_equal(a->extent, b->extent, sizeof a->extent);
    for (int i = 0; i < a->spec.n_arrays; i++) {
        assert_memory_equal(a->array[i], b->array[i],
                            ek_array_bytes(&a->spec.arrays[i], a->extent));
    }
}

static void a_resumed_pass_gives_the_same_bits(void **state)
{
    (void)state;
    int64_t live = ek_alloc_live();
    collected whole = {0};
    collected again = {0};
    ek_assert_ok(run(make_reduce(&mixed, 2, &whole), &on_backend, NULL));
    for (int read = 1; read <= 20; read += 3) {
        memory_input input = interrupted_at(&mixed, read);
        int rc = run(make_reduce(&input, 2, &again), &on_backend, &at_interrupt);
        if (rc == EK_ECANCELED) {
            ek_assert_message("to go on, resume from point");
            assert_int_equal(access("point", R_OK), 0);
            assert_int_equal(again.put, 0);
            collected_fini(&again);
            ek_assert_ok(run(make_reduce(&mixed, 2, &again), &on_backend, &resumed));
        }
        assert_int_equal(access("point", F_OK), -1);
        assert_same(&whole, &again);
        collected_fini(&again);
    }
    collected_fini(&whole);
    assert_int_equal(ek_alloc_live(), live);
}

/* Interrupts again and again until the run ends, in whatever pass it then is. */
static void resume_to_the_end(const ek_plan_options *options, int every, const collected *whole)
{
    collected again[3] = {{.put = 0}};
    int rc = EK_ECANCELED;
    int stops = -1;
    ek_run_options how = resumed;
    how.checkpoint_s = 1e6;
    for (; rc == EK_ECANCELED && stops < 40; stops++) {
        for (int i = 0; i < 3; i++) {
            collected_fini(&again[i]);
        }
        memory_input input = interrupted_at(&plain, every);
        rc = run(make_passes(&input, 4, again), options, &how);
    }
    ek_assert_ok(rc);
    assert_true(stops > 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(again[i].committed, 1);
        assert_same(&whole[i], &again[i]);
        collected_fini(&again[i]);
    }
}

static void resumed_passes_give_the_same_bits(void **state)
{
    (void)state;
    int64_t live = ek_alloc_live();
    collected whole[3] = {{.put = 0}};
    ek_assert_ok(run(make_passes(&plain, 4, whole), &on_backend, NULL));
    ek_plan_options options = on_backend;
    for (int every = 4; every <= 9; every++) {
        options.reread = every % 2 == 0;
        resume_to_the_end(&options, every, whole);
    }
    for (int i = 0; i < 3; i++) {
        collected_fini(&whole[i]);
    }
    assert_int_equal(ek_alloc_live(), live);
}

/* leave_point leaves a checkpoint of make_reduce(&mixed, 2). */
static void leave_point(void)
{
    collected into = {0};
    unlink("point");
    memory_input input = interrupted_at(&mixed, 6);
    assert_int_equal(run(make_reduce(&input, 2, &into), &on_backend, &at_interrupt), EK_ECANCELED);
    collected_fini(&into);
}

static void chunks_may_be_cut_in_another_way(void **state)
{
    (void)state;
    collected whole = {0};
    collected again = {0};
    leave_point();
    assert_int_equal(run(make_reduce(&mixed, 40, &again), &on_backend, &resumed), EK_EINVAL);
    ek_assert_message("choose chunks of 2 steps, as then");
    ek_assert_ok(run(make_reduce(&mixed, 1, &again), &on_backend, &resumed));
    ek_assert_ok(run(make_reduce(&mixed, 2, &whole), &on_backend, NULL));
    assert_same(&whole, &again);
    collected_fini(&whole);
    collected_fini(&again);
}

static ek_status resume_reduce(const memory_input *input, const ek_reduce_options *reduce,
                               const ek_run_options *options)
{
    ek_pipeline *p = make();
    ek_node *up = ek_upload(p, memory_add(p, input, 2), NULL);
    ek_download(p, ek_reduce(p, up, reduce), NULL);
    return run(p, &on_backend, options);
}

static void what_differs_is_named(void **state)
{
    (void)state;
    const ek_reduce_options all = {.op = 0xff};
    leave_point();
    assert_int_equal(
        resume_reduce(&mixed, &(ek_reduce_options){.op = 0xff, .ddof = EK_DDOF_0}, &resumed),
        EK_EINVAL);
    ek_assert_message("point was made with ddof=1 at 'reduce', this plan has ddof=0");
    memory_input other = mixed;
    other.segments[1].scale = 0.3;
    assert_int_equal(resume_reduce(&other, &all, &resumed), EK_EINVAL);
    ek_assert_message("stored their values in another way");
    other = mixed;
    other.segments[2].rows = 11;
    assert_int_equal(resume_reduce(&other, &all, &resumed), EK_EINVAL);
    ek_assert_message("one has 40 steps, the other 39");
    other = mixed;
    other.times = moved;
    assert_int_equal(resume_reduce(&other, &all, &resumed), EK_EINVAL);
    ek_assert_message("other time steps than this plan's: step 0 is at 0 and 1");
    collected into[3] = {{.put = 0}};
    assert_int_equal(run(make_passes(&mixed, 2, into), &on_backend, &resumed), EK_EINVAL);
    ek_assert_message("other stages");
    unlink("point");
}

static void nothing_is_overwritten_unasked(void **state)
{
    (void)state;
    const ek_reduce_options all = {.op = 0xff};
    ek_run_options anew = resumed;
    anew.resume = false;
    leave_point();
    assert_int_equal(resume_reduce(&mixed, NULL, &anew), EK_EINVAL);
    ek_assert_message("point is of another run, and would be overwritten");
    ek_assert_ok(resume_reduce(&mixed, &all, &anew));
    assert_int_equal(access("point", F_OK), -1);
    FILE *file = fopen("bad", "w");
    assert_non_null(file);
    fputs("a thesis", file);
    fclose(file);
    anew.checkpoint = "bad";
    assert_int_equal(resume_reduce(&mixed, &all, &anew), EK_ETRUNC);
    assert_int_equal(resume_reduce(&mixed, &all, &(ek_run_options){.state = "bad"}), EK_EINVAL);
    ek_assert_message("bad would be overwritten by a state file");
    anew.checkpoint = "no/such/folder/point";
    assert_int_equal(resume_reduce(&mixed, &all, &anew), EK_EIO);
    anew.checkpoint = anew.state = "a";
    assert_int_equal(resume_reduce(&mixed, &all, &anew), EK_EINVAL);
    assert_int_equal(resume_reduce(&mixed, &all, &(ek_run_options){.resume = true}), EK_EINVAL);
}

static void sinks_of_streams_are_refused(void **state)
{
    (void)state;
    collected into = {0};
    ek_pipeline *p = make();
    ek_node_name_set(collect_add(p, memory_add(p, &plain, 3), &into), "tape");
    assert_int_equal(run(p, &on_backend, &resumed), EK_ENOTSUP);
    ek_assert_message("node 'tape' takes a stream step by step");
}

static ek_status make_state(const memory_input *input, const char *path, const char *from,
                            collected *into)
{
    ek_plan_options options = on_backend;
    options.from_state = from;
    return run(make_reduce(input, 5, into), &options, &(ek_run_options){.state = path});
}

/* end_state makes the result from the state alone. */
static void end_state(const char *path, collected *into)
{
    ek_plan_options options = on_backend;
    options.from_state = path;
    ek_pipeline *p = make();
    ek_node *up = ek_upload(p, ek_recall(p, path), NULL);
    collect_add(p, ek_download(p, ek_reduce(p, up, &(ek_reduce_options){.op = 0xff}), NULL), into);
    ek_assert_ok(run(p, &options, NULL));
}

/* Cuts `input` into periods of one segment each. */
static memory_input period(const memory_input *input, int segment)
{
    memory_input part = *input;
    part.n_segments = 1;
    part.segments[0] = input->segments[segment];
    for (int s = 0; s < segment; s++) {
        part.times += input->segments[s].rows;
    }
    return part;
}

static void a_state_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    int64_t live = ek_alloc_live();
    collected whole = {0};
    collected part = {0};
    collected ended = {0};
    ek_assert_ok(run(make_reduce(&mixed, 5, &whole), &on_backend, NULL));
    const char *names[] = {"a", "ab", "abc"};
    for (int i = 0; i < 3; i++) {
        memory_input input = period(&mixed, i);
        collected_fini(&part);
        ek_assert_ok(make_state(&input, names[i], i > 0 ? names[i - 1] : NULL, &part));
    }
    assert_same(&whole, &part);
    end_state("abc", &ended);
    assert_same(&whole, &ended);
    memory_input again = period(&mixed, 1);
    assert_int_equal(make_state(&again, "bad", "ab", &part), EK_EDATA);
    ek_assert_message("the periods overlap or are not in order");
    assert_int_equal(access("bad", F_OK), 0); /* the thesis of an earlier test */
    collected_fini(&whole);
    collected_fini(&part);
    collected_fini(&ended);
    assert_int_equal(ek_alloc_live(), live);
}

/* A run from a state has checkpoints, too. */
static void a_run_from_a_state_resumes(void **state)
{
    (void)state;
    collected whole = {0};
    collected into = {0};
    ek_plan_options options = on_backend;
    ek_assert_ok(run(make_reduce(&mixed, 5, &whole), &on_backend, NULL));
    memory_input first = period(&mixed, 0);
    memory_input rest = mixed;
    rest.n_segments = 2;
    memmove(rest.segments, rest.segments + 1, 2 * sizeof rest.segments[0]);
    rest.times = times + 16;
    ek_assert_ok(make_state(&first, "a", NULL, &into));
    collected_fini(&into);
    options.from_state = "a";
    memory_input stop = interrupted_at(&rest, 5);
    assert_int_equal(run(make_reduce(&stop, 2, &into), &options, &at_interrupt), EK_ECANCELED);
    assert_int_equal(run(make_reduce(&rest, 2, &into), &on_backend, &resumed), EK_EINVAL);
    ek_assert_message("point was made with another finished state before it");
    ek_assert_ok(run(make_reduce(&rest, 2, &into), &options, &resumed));
    assert_same(&whole, &into);
    collected_fini(&whole);
    collected_fini(&into);
}

/* Exact integers give the bits of one run, however the period is divided. */
static void states_join(void **state)
{
    (void)state;
    int64_t live = ek_alloc_live();
    collected whole = {0};
    collected ended = {0};
    const char *names[] = {"a", "b", "c"};
    ek_assert_ok(run(make_reduce(&mixed, 5, &whole), &on_backend, NULL));
    for (int i = 0; i < 3; i++) {
        collected part = {0};
        memory_input input = period(&mixed, i);
        ek_assert_ok(make_state(&input, names[i], NULL, &part));
        collected_fini(&part);
    }
    ek_assert_ok(ek_state_merge("abc", names, 3));
    end_state("abc", &ended);
    assert_same(&whole, &ended);
    const char *wrong[] = {"b", "a"};
    assert_int_equal(ek_state_merge("ab", wrong, 2), EK_EDATA);
    ek_assert_message("not in order");
    collected_fini(&whole);
    collected_fini(&ended);
    assert_int_equal(ek_alloc_live(), live);
}

/* Sums of reals are moved to another origin: compared with one run and a plain loop. */
static void states_of_reals_join(void **state)
{
    (void)state;
    collected part = {0};
    collected ended = {0};
    memory_input halves[2] = {plain, plain};
    halves[0].segments[0].rows = 23;
    halves[1].segments[0].rows = ROWS - 23;
    halves[1].segments[0].data = reals + (size_t)23 * CELLS;
    halves[1].times = times + 23;
    const char *names[] = {"a", "b"};
    for (int i = 0; i < 2; i++) {
        ek_assert_ok(make_state(&halves[i], names[i], NULL, &part));
        collected_fini(&part);
    }
    ek_assert_ok(ek_state_merge("ab", names, 2));
    end_state("ab", &ended);
    for (int c = 0; c < CELLS; c++) {
        double sum = 0, squares = 0, min = INFINITY, max = -INFINITY;
        for (int t = 0; t < ROWS; t++) {
            double x = (double)reals[t * CELLS + c];
            sum += x;
            min = fmin(min, x);
            max = fmax(max, x);
        }
        for (int t = 0; t < ROWS; t++) {
            double d = (double)reals[t * CELLS + c] - sum / ROWS;
            squares += d * d;
        }
        ek_assert_near1(collected_array(&ended, "mean")[c], sum / ROWS, 1e-13, 0);
        ek_assert_near1(collected_array(&ended, "var")[c], squares / (ROWS - 1), 1e-13, 0);
        ek_assert_near1(collected_array(&ended, "sum")[c], sum, 1e-13, 0);
        assert_true(collected_array(&ended, "min")[c] == min);
        assert_true(collected_array(&ended, "max")[c] == max);
    }
    collected_fini(&ended);
}

static void folds_without_merge_have_no_state(void **state)
{
    (void)state;
    collected into[3] = {{.put = 0}};
    assert_int_equal(
        run(make_passes(&plain, 4, into), &on_backend, &(ek_run_options){.state = "a"}),
        EK_ENOTSUP);
    ek_assert_message("node 'spread': what 'spread' accumulates cannot be gone on with");
    leave_point();
    const char *names[] = {"point", "point"};
    assert_int_equal(ek_state_merge("ab", names, 2), EK_EINVAL);
    ek_assert_message("point is a checkpoint on the way");
    unlink("point");
}

static void show_tells_what_is_in_a_file(void **state)
{
    (void)state;
    leave_point();
    char *text = ek_state_text("point");
    assert_non_null(text);
    assert_non_null(strstr(text, "checkpoint of the pipeline 'test'"));
    assert_non_null(strstr(text, "pass      1 of 1, "));
    assert_non_null(strstr(text, "variable  air, K, 7 cells"));
    assert_non_null(
        strstr(text, "node      reduce (reduce) op=mean,std,var,min,max,range,sum,count"));
    ek_free(text);
}

static void write_file(const char *path, const unsigned char *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* A state with any one byte changed, or cut at any byte, is refused. */
static void damage_is_found(void **state)
{
    (void)state;
    static unsigned char bytes[20000];
    leave_point();
    FILE *file = fopen("point", "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(n > 1000 && n < sizeof bytes - 1);
    int64_t live = ek_alloc_live();
    for (size_t i = 0; i < n; i++) {
        bytes[i] ^= (unsigned char)(1u << (i % 8));
        write_file("bad", bytes, n);
        assert_null(ek_state_text("bad"));
        bytes[i] ^= (unsigned char)(1u << (i % 8));
        write_file("bad", bytes, i);
        assert_null(ek_state_text("bad"));
    }
    write_file("bad", bytes, n + 1);
    assert_null(ek_state_text("bad"));
    ek_assert_message("goes on after its end");
    bytes[n - 1] ^= 1; /* in the accumulators: found when they are loaded */
    write_file("bad", bytes, n);
    ek_run_options options = resumed;
    options.checkpoint = "bad";
    assert_int_equal(resume_reduce(&mixed, &(ek_reduce_options){.op = 0xff}, &options), EK_EDATA);
    ek_assert_message("state file bad: it is damaged (checksum of node 'reduce')");
    assert_int_equal(ek_alloc_live(), live);
    unlink("bad");
    unlink("point");
}

static void allocations_may_fail(void **state)
{
    (void)state;
    leave_point();
    int64_t live = ek_alloc_live();
    ek_status rc = EK_ENOMEM;
    const ek_reduce_options all = {.op = 0xff};
    for (int64_t n = 1; rc == EK_ENOMEM && n < 2000; n++) {
        ek_pipeline *p = make();
        ek_node *up = ek_upload(p, memory_add(p, &mixed, 2), NULL);
        ek_download(p, ek_reduce(p, up, &all), NULL);
        ek_alloc_fail_at(n);
        rc = run(p, &on_backend, &resumed);
        ek_alloc_fail_at(0);
        assert_int_equal(ek_alloc_live(), live);
    }
    ek_assert_ok(rc);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resumed_pass_gives_the_same_bits),
        cmocka_unit_test(resumed_passes_give_the_same_bits),
        cmocka_unit_test(chunks_may_be_cut_in_another_way),
        cmocka_unit_test(what_differs_is_named),
        cmocka_unit_test(nothing_is_overwritten_unasked),
        cmocka_unit_test(sinks_of_streams_are_refused),
        cmocka_unit_test(a_state_goes_on_with_the_same_bits),
        cmocka_unit_test(a_run_from_a_state_resumes),
        cmocka_unit_test(states_join),
        cmocka_unit_test(states_of_reals_join),
        cmocka_unit_test(folds_without_merge_have_no_state),
        cmocka_unit_test(show_tells_what_is_in_a_file),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(allocations_may_fail),
    };
    if (argc > 1) {
        ek_backend *probe = NULL;
        on_backend.backend = argv[1];
        if (ek_backend_create(&probe, argv[1], NULL, 0) != EK_OK) {
            printf("skipped: %s\n", ek_error_last()->message);
            return 77;
        }
        ek_backend_destroy(probe);
    }
    return cmocka_run_group_tests(tests, setup, teardown);
}
