/* SPDX-License-Identifier: Apache-2.0 */
/* The contract that every stage keeps, on every backend that is here: host == cuda, whole ==
 * streamed in chunks, graph == stream == serial, any number of slots, kept == read again; a short
 * last chunk; the n-th allocation failing leaks nothing. Run with the argument "cuda" (the gpu
 * test) it wants a device and is skipped without one. */
#include "stages/stages.h"
#include "tests/contract/contract.h"
#include "tests/support/near.h"

#include <stdio.h>
#include <string.h>

static const char *backend = "host";
static contract_input *inputs;
static int n_inputs;

static bool refused(const contract_stage *stage, const contract_input *input)
{
    return stage->fold_of_matrix && (input->one_step || input->no_cells);
}

/* each calls fn for every stage and input that fit together. */
static void each(void (*fn)(const contract_stage *stage, const contract_input *input))
{
    for (int s = 0; s < n_contract_stages; s++) {
        for (int i = 0; i < n_inputs; i++) {
            if (!refused(&contract_stages[s], &inputs[i])) {
                fn(&contract_stages[s], &inputs[i]);
            }
        }
    }
}

/* run runs and fails the test with the error's message if it does not go well. */
static void run(const contract_stage *stage, const contract_input *input, contract_way way,
                collected *out)
{
    if (contract_run(stage, input, way, out) != EK_OK) {
        fail_msg("%s (%s) on '%s', chunk %lld: %s", stage->name, stage->what, input->name,
                 (long long)way.chunk, ek_error_last()->message);
    }
}

/* compare runs one way and holds it against a run made before. */
static void compare(const contract_stage *stage, const contract_input *input, contract_way way,
                    const collected *before, double rtol)
{
    char what[256];
    collected now = {0};
    snprintf(what, sizeof(what), "%s (%s) on '%s', %s, %s, %d slots, chunk %lld%s", stage->name,
             stage->what, input->name, way.backend, ek_launch_name(way.launch), way.slots,
             (long long)way.chunk, way.reread ? ", reread" : "");
    run(stage, input, way, &now);
    contract_same(what, before, &now, rtol);
    collected_fini(&now);
}

static void check_launches(const contract_stage *stage, const contract_input *input)
{
    static const contract_way ways[] = {
        {.launch = EK_LAUNCH_GRAPH, .slots = 3},
        {.launch = EK_LAUNCH_SERIAL, .slots = 3},
        {.launch = EK_LAUNCH_GRAPH, .slots = 1},
        {.launch = EK_LAUNCH_GRAPH, .slots = 7},
        {.launch = EK_LAUNCH_STREAM, .slots = 2},
        {.launch = EK_LAUNCH_GRAPH, .slots = 2, .reread = true},
    };
    collected before = {0};
    contract_way way = {.backend = backend, .launch = EK_LAUNCH_STREAM, .slots = 3, .chunk = 8};
    run(stage, input, way, &before);
    for (size_t i = 0; i < EK_COUNT(ways); i++) {
        way = ways[i];
        way.backend = backend;
        way.chunk = 8;
        compare(stage, input, way, &before, 0);
    }
    collected_fini(&before);
}

static void launch_modes_and_slots_give_the_same_bits(void **state)
{
    (void)state;
    each(check_launches);
}

static void check_chunks(const contract_stage *stage, const contract_input *input)
{
    static const int64_t chunks[] = {1, 3, 16, 52};
    collected whole = {0};
    contract_way way = {.backend = backend, .launch = EK_LAUNCH_GRAPH, .slots = 3};
    run(stage, input, way, &whole);
    for (size_t i = 0; i < EK_COUNT(chunks); i++) {
        way.chunk = chunks[i];
        double rtol = input->exact ? 0 : 1e-13;
        compare(stage, input, way, &whole, stage->fold_of_matrix ? stage->rtol : rtol);
    }
    collected_fini(&whole);
}

static void one_chunk_equals_many(void **state)
{
    (void)state;
    each(check_chunks);
}

static void check_backends(const contract_stage *stage, const contract_input *input)
{
    collected host = {0};
    contract_way way = {.backend = "host", .launch = EK_LAUNCH_STREAM, .slots = 3, .chunk = 8};
    run(stage, input, way, &host);
    way.backend = backend;
    way.launch = EK_LAUNCH_GRAPH;
    compare(stage, input, way, &host, stage->rtol);
    collected_fini(&host);
}

static void backends_agree(void **state)
{
    (void)state;
    each(check_backends);
}

/* transfers decode as a plain double-precision loop does. */
static void values_are_decoded(void **state)
{
    (void)state;
    for (int i = 0; i < n_inputs; i++) {
        const memory_input *input = &inputs[i].input;
        collected got = {0};
        contract_way way = {.backend = backend, .launch = EK_LAUNCH_GRAPH, .slots = 2, .chunk = 5};
        run(&contract_stages[0], &inputs[i], way, &got);
        for (int64_t k = 0; k < memory_rows(input) * input->cells; k++) {
            double expected = memory_value(input, k / input->cells, k % input->cells);
            ek_assert_near(&got.values[k], &expected, 1, 0, 0);
        }
        collected_fini(&got);
    }
}

static void hopeless_inputs_are_refused(void **state)
{
    (void)state;
    int n_refused = 0;
    for (int s = 0; s < n_contract_stages; s++) {
        for (int i = 0; i < n_inputs; i++) {
            collected got = {0};
            contract_way way = {.backend = backend, .launch = EK_LAUNCH_GRAPH, .chunk = 5};
            if (!refused(&contract_stages[s], &inputs[i])) {
                continue;
            }
            n_refused++;
            assert_int_equal(contract_run(&contract_stages[s], &inputs[i], way, &got), EK_EDATA);
            ek_assert_message("svd");
            assert_int_equal(got.committed, 0);
            assert_int_equal(got.dropped, got.opened);
            collected_fini(&got);
        }
    }
    assert_true(n_refused >= 6);
}

/* The n-th allocation fails, for every n until the job goes through: each time the error says so,
 * and all memory is given back. */
static void check_allocation_failures(const contract_stage *stage)
{
    contract_way way = {.backend = backend, .launch = EK_LAUNCH_GRAPH, .slots = 2, .chunk = 16};
    collected warm = {0};
    run(stage, &inputs[6], way, &warm); /* what the process allocates once and keeps */
    collected_fini(&warm);
    int64_t before = ek_alloc_live();
    ek_status rc = EK_ENOMEM;
    for (int64_t n = 1; rc != EK_OK; n++) {
        collected got = {0};
        ek_alloc_fail_at(n);
        rc = contract_run(stage, &inputs[6], way, &got);
        ek_alloc_fail_at(0);
        if (rc != EK_OK) {
            assert_int_equal(rc, EK_ENOMEM);
            assert_int_equal(got.committed, 0);
        }
        if (ek_alloc_live() != before) {
            fail_msg("%s: allocation %lld failing leaves %lld behind", stage->name, (long long)n,
                     (long long)(ek_alloc_live() - before));
        }
        collected_fini(&got);
        assert_true(n < 2000);
    }
}

static void failing_allocations_leak_nothing(void **state)
{
    (void)state;
    for (int s = 0; s < n_contract_stages; s++) {
        check_allocation_failures(&contract_stages[s]);
    }
}

/* load and write work with files; their contract is in tests/stages. All others are above. */
static void every_stage_is_covered(void **state)
{
    (void)state;
    for (int i = 0; ek_stages[i] != NULL; i++) {
        const ek_stage *stage = ek_stages[i];
        bool covered = (stage->flags & (EK_STAGE_SOURCE | EK_STAGE_SINK)) != 0;
        for (int s = 0; s < n_contract_stages; s++) {
            covered = covered || strcmp(contract_stages[s].name, stage->name) == 0;
        }
        if (!covered) {
            fail_msg("stage '%s' has no row in contract.c", stage->name);
        }
        assert_int_equal(stage->api, EK_STAGE_API);
        assert_true(stage->summary != NULL && strlen(stage->summary) > 10);
        assert_ptr_equal(ek_stage_find(stage->name), stage);
        for (const ek_option *o = stage->options; o != NULL && o->name != NULL; o++) {
            assert_true(o->help != NULL && strlen(o->help) > 5);
        }
    }
}

static int setup(void **state)
{
    (void)state;
    n_inputs = contract_inputs(&inputs);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    contract_inputs_fini(inputs, n_inputs);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stage_is_covered),
        cmocka_unit_test(values_are_decoded),
        cmocka_unit_test(launch_modes_and_slots_give_the_same_bits),
        cmocka_unit_test(one_chunk_equals_many),
        cmocka_unit_test(backends_agree),
        cmocka_unit_test(hopeless_inputs_are_refused),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    if (argc > 1) {
        ek_backend *probe = NULL;
        backend = argv[1];
        if (ek_backend_create(&probe, backend, NULL, 0) != EK_OK) {
            printf("skipped: %s\n", ek_error_last()->message);
            return 77;
        }
        ek_backend_destroy(probe);
    }
    return cmocka_run_group_tests(tests, setup, teardown);
}
