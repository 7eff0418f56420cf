/* SPDX-License-Identifier: Apache-2.0 */
/* The anomaly stage against plain loops: the same bits for every stored type, chunk size, launch
 * and backend; and its refusals. */
#include "stages/anomaly.h"
#include "stages/reduce.h"
#include "tests/support/near.h"
#include "tests/support/stage_harness.h"

#define ROWS  41
#define CELLS 1100 /* more than a tile of the host kernels */

static ek_backend *backend, *host;
static int16_t packed[ROWS * CELLS];
static float floats[ROWS * CELLS];

/* Two pieces, stored differently; missing: cell 2 at step 5, cell 4 always. */
static stage_series make_series(void)
{
    for (int i = 0; i < ROWS * CELLS; i++) {
        int cell = i % CELLS, row = i / CELLS;
        packed[i] = (int16_t)((row * 37 + cell * 11) % 901 - 300);
        floats[i] = 250.0f + (float)((row * 53 + cell * 29) % 997) * 0.07f;
        if ((cell == 2 && row == 5) || cell == 4) {
            packed[i] = -32767;
            floats[i] = NAN;
        }
    }
    return (stage_series){
        .cells = CELLS,
        .n_pieces = 2,
        .pieces = {{.rows = ROWS,
                    .dtype = EK_I16,
                    .scale = 0.01,
                    .offset = 273.15,
                    .n_missing = 1,
                    .missing = {-32767.0},
                    .data = packed},
                   {.rows = ROWS, .dtype = EK_F32, .data = floats}},
    };
}

static stage_outcome run_reduce(const stage_series *series, unsigned op)
{
    stage_outcome out;
    stage_case test = {.backend = backend,
                       .stage = &ek_stage_reduce,
                       .options = &(ek_reduce_options){.op = op},
                       .series = series};
    ek_assert_ok(stage_run(&test, &out));
    return out;
}

static void test_against_loops(void **state)
{
    (void)state;
    stage_series series = make_series();
    stage_outcome stats = run_reduce(&series, EK_REDUCE_MEAN | EK_REDUCE_MIN);
    const double *mean = stage_array(&stats, "mean");
    for (int i = 0; i < 8; i++) {
        stage_outcome got;
        stage_case test = {.backend = i == 7 ? host : backend,
                           .stage = &ek_stage_anomaly,
                           .series = &series,
                           .second = &stats,
                           .chunk_rows = (const int64_t[]){0, 1, 3, 7, 7, 0, 40, 0}[i],
                           .empty_chunks = i == 3 || i == 4,
                           .captured = i >= 4,
                           .decoded = i == 6};
        ek_assert_ok(stage_run(&test, &got));
        assert_int_equal(got.row_bytes_used, 2 * ROWS * CELLS * sizeof(double));
        for (int64_t k = 0; k < 2 * ROWS * CELLS; k++) {
            double want = stage_value(&series, k / CELLS, k % CELLS) - mean[k % CELLS];
            ek_assert_near(&((const double *)got.rows)[k], &want, 1, 0.0, 0.0);
        }
        assert_int_equal(got.captured_size, test.captured ? got.needs.chunk_launches : 0);
        assert_false(got.spec.packed);
        assert_int_equal(got.spec.n_removed, 1);
        assert_string_equal(got.spec.arrays[0].name, "air");
        assert_string_equal(got.spec.arrays[0].units, "K");
        assert_string_equal(got.spec.arrays[0].long_name,
                            "Air temperature anomaly from the time mean");
        stage_outcome_fini(&got);
    }
    stage_outcome_fini(&stats);
}

static void test_refuses_other_results(void **state)
{
    (void)state;
    stage_series series = make_series();
    stage_outcome stats = run_reduce(&series, EK_REDUCE_MAX);
    stage_outcome got;
    stage_case test = {
        .backend = backend, .stage = &ek_stage_anomaly, .series = &series, .second = &stats};
    assert_int_equal(stage_run(&test, &got), EK_EINVAL);
    ek_assert_message("port 'mean'");
    ek_assert_message("reduce op=mean");
    stage_outcome_fini(&stats);

    stats = run_reduce(&series, EK_REDUCE_MEAN);
    series.cells = CELLS - 1;
    assert_int_equal(stage_run(&test, &got), EK_ESHAPE);
    ek_assert_message("1100 cells");
    stage_outcome_fini(&stats);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_loops),
        cmocka_unit_test(test_refuses_other_results),
    };
    backend = stage_backend(argc, argv);
    host = stage_backend(1, argv);
    int failed = STAGE_SKIPPED;
    if (backend != NULL && host != NULL) {
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    }
    ek_backend_destroy(backend);
    ek_backend_destroy(host);
    return failed;
}
