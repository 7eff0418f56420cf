/* SPDX-License-Identifier: Apache-2.0 */
/* The svd stage against closed forms and against what defines a decomposition: orthonormal EOFs,
 * orthogonal components, the matrix given back, the eigenvalues' sum. */
#include "stages/svd.h"
#include "tests/support/near.h"
#include "tests/support/stage_harness.h"

#include <stdlib.h>
#include <string.h>

static ek_backend *backend;

static double random_unit(void)
{
    static uint32_t state = 99;
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / 16777216.0 - 0.5;
}

static void center(double *a, int64_t n, int64_t p)
{
    for (int64_t c = 0; c < p; c++) {
        double sum = 0.0;
        for (int64_t t = 0; t < n; t++) {
            sum += a[t * p + c];
        }
        for (int64_t t = 0; t < n; t++) {
            a[t * p + c] -= sum / (double)n;
        }
    }
}

/* A centred random matrix whose columns have variances falling off by a factor of about 50. */
static double *random_matrix(int64_t n, int64_t p)
{
    double *a = malloc((size_t)(n * p) * sizeof *a);
    assert_non_null(a);
    for (int64_t i = 0; i < n * p; i++) {
        a[i] = random_unit() * (1.0 + 50.0 / (1.0 + (double)(i % p)));
    }
    center(a, n, p);
    return a;
}

static stage_series series_of(const double *a, int64_t n, int64_t p)
{
    return (stage_series){p, 1, {{.rows = n, .dtype = EK_F64, .data = a}}};
}

static stage_case case_of(const stage_series *series, const ek_svd_options *options)
{
    return (stage_case){.backend = backend,
                        .stage = &ek_stage_svd,
                        .options = options,
                        .series = series,
                        .chunk_rows = 7,
                        .n_removed = 1,
                        .empty_chunks = true,
                        .decoded = true};
}

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        sum += isnan(a[i]) ? 0.0 : a[i] * b[i];
    }
    return sum;
}

/* EOFs have unit norm and PCs the norm s, both are orthogonal, signs and facts are as promised. */
static void check_modes(const stage_outcome *got, double tol)
{
    int64_t k = got->extent[EK_AXIS_MODE];
    int64_t n = got->extent[EK_AXIS_TIME], p = got->extent[EK_AXIS_CELL];
    const double *eof = stage_array(got, "eof"), *pc = stage_array(got, "pc");
    const double *s = stage_array(got, "singular_value");
    double total = stage_array(got, "total_variance")[0];
    for (int64_t i = 0; i < k; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double unit = i == j ? 1.0 : 0.0;
            ek_assert_near1(dot(eof + i * p, eof + j * p, p), unit, tol, tol);
            ek_assert_near1(dot(pc + i * n, pc + j * n, n), unit * s[i] * s[j], tol,
                            tol * s[0] * s[0]);
        }
        ek_assert_near1(stage_array(got, "eigenvalue")[i], s[i] * s[i] / (double)(n - 1), 1e-14,
                        0.0);
        ek_assert_near1(stage_array(got, "variance_fraction")[i],
                        s[i] * s[i] / (double)(n - 1) / total, 1e-13, 0.0);
        double largest = 0.0;
        for (int64_t c = 0; c < p; c++) {
            double v = eof[i * p + c];
            largest = fabs(v) > fabs(largest) * (1.0 + 1e-6) ? v : largest;
        }
        assert_true(largest > 0.0);
        assert_true(i == 0 || s[i] <= s[i - 1]);
    }
}

/* sum of pc_i eof_i gives the matrix back; `used` says which cells took part (NULL: all). */
static void check_product(const stage_outcome *got, const double *a, const uint8_t *used)
{
    int64_t k = got->extent[EK_AXIS_MODE];
    int64_t n = got->extent[EK_AXIS_TIME], p = got->extent[EK_AXIS_CELL];
    const double *eof = stage_array(got, "eof"), *pc = stage_array(got, "pc");
    double scale = stage_array(got, "singular_value")[0];
    for (int64_t c = 0; c < p; c++) {
        if (used != NULL && used[c] == 0) {
            assert_true(isnan(eof[c]) && isnan(eof[(k - 1) * p + c]));
            continue;
        }
        for (int64_t t = 0; t < n; t++) {
            double sum = 0.0;
            for (int64_t i = 0; i < k; i++) {
                sum += pc[i * n + t] * eof[i * p + c];
            }
            ek_assert_near1(sum, a[t * p + c], 0.0, 1e-12 * scale);
        }
    }
}

static void check_shape(int64_t n, int64_t p)
{
    double *a = random_matrix(n, p);
    stage_series series = series_of(a, n, p);
    stage_case test = case_of(&series, NULL);
    stage_outcome got;
    ek_assert_ok(stage_run(&test, &got));
    int64_t rank = EK_MIN(n - 1, p);
    assert_int_equal(got.extent[EK_AXIS_MODE], rank);
    assert_int_equal(stage_int(&got, "rank"), rank);
    assert_int_equal(stage_int(&got, "n_cells_used"), p);
    check_modes(&got, 1e-10);
    check_product(&got, a, NULL);
    ek_assert_near1(stage_array(&got, "total_variance")[0], dot(a, a, n * p) / (double)(n - 1),
                    1e-13, 0.0);
    double shares = 0.0;
    for (int64_t i = 0; i < rank; i++) {
        shares += stage_array(&got, "variance_fraction")[i];
    }
    ek_assert_near1(shares, 1.0, 1e-12, 0.0);
    stage_outcome_fini(&got);
    free(a);
}

static void test_more_cells_than_steps(void **state)
{
    (void)state;
    check_shape(23, 61);
}

static void test_more_steps_than_cells(void **state)
{
    (void)state;
    check_shape(61, 23);
}

static void test_as_many_of_both(void **state)
{
    (void)state;
    check_shape(16, 16);
    check_shape(2, 2);
    check_shape(2, 300);
    check_shape(300, 1);
}

/* A few leading modes come from another solver on the host: they must be those of all modes. */
static void test_leading_modes(void **state)
{
    (void)state;
    const int64_t shapes[][2] = {{40, 90}, {90, 40}};
    for (int i = 0; i < 2; i++) {
        int64_t n = shapes[i][0], p = shapes[i][1], k = 5;
        double *a = random_matrix(n, p);
        stage_series series = series_of(a, n, p);
        stage_case test = case_of(&series, NULL);
        stage_outcome all, few;
        ek_assert_ok(stage_run(&test, &all));
        test.options = &(ek_svd_options){.modes = k};
        ek_assert_ok(stage_run(&test, &few));
        assert_int_equal(few.extent[EK_AXIS_MODE], k);
        assert_int_equal(stage_int(&few, "rank"), stage_int(&all, "rank"));
        ek_assert_near(stage_array(&few, "singular_value"), stage_array(&all, "singular_value"), k,
                       1e-12, 0.0);
        ek_assert_near(stage_array(&few, "eof"), stage_array(&all, "eof"), k * p, 1e-9, 1e-9);
        ek_assert_near(stage_array(&few, "pc"), stage_array(&all, "pc"), k * n, 1e-9, 1e-9);
        check_modes(&few, 1e-11);
        stage_outcome_fini(&all);
        stage_outcome_fini(&few);
        free(a);
    }
}

/* 0, 1, 2 ... 63 as four steps of a 4 x 4 grid: one mode, in which all cells move alike. */
static void test_counting_up(void **state)
{
    (void)state;
    double a[64];
    for (int i = 0; i < 64; i++) {
        a[i] = i;
    }
    center(a, 4, 16);
    stage_series series = series_of(a, 4, 16);
    stage_case test = case_of(&series, NULL);
    stage_outcome got;
    ek_assert_ok(stage_run(&test, &got));
    assert_int_equal(got.extent[EK_AXIS_MODE], 1);
    for (int c = 0; c < 16; c++) {
        ek_assert_near1(stage_array(&got, "eof")[c], 0.25, 1e-14, 0.0);
    }
    const double pc[] = {-96.0, -32.0, 32.0, 96.0};
    ek_assert_near(stage_array(&got, "pc"), pc, 4, 1e-14, 0.0);
    ek_assert_near1(stage_array(&got, "eigenvalue")[0], 20480.0 / 3.0, 1e-14, 0.0);
    ek_assert_near1(stage_array(&got, "variance_fraction")[0], 1.0, 1e-14, 0.0);
    assert_string_equal(got.spec.arrays[ek_spec_array(&got.spec, "eigenvalue")].units, "K2");
    stage_outcome_fini(&got);
}

/* Every column twice and one constant: half the rank, and a cluster of null eigenvalues. */
static void test_rank_deficient(void **state)
{
    (void)state;
    enum { N = 50, HALF = 6, P = 2 * HALF + 1 };
    for (int turn = 0; turn < 2; turn++) {
        double *half = random_matrix(N, HALF);
        double a[N * P];
        for (int t = 0; t < N; t++) {
            for (int c = 0; c < P; c++) {
                a[t * P + c] = c < 2 * HALF ? half[t * HALF + c % HALF] : 0.0;
            }
        }
        stage_series series = series_of(a, N, P);
        ek_svd_options options = {.modes = turn == 0 ? 0 : 3};
        stage_case test = case_of(&series, &options);
        stage_outcome got;
        ek_assert_ok(stage_run(&test, &got));
        assert_int_equal(got.extent[EK_AXIS_MODE], turn == 0 ? HALF : 3);
        assert_int_equal(stage_int(&got, "rank"), HALF);
        check_modes(&got, 1e-10);
        if (turn == 0) {
            check_product(&got, a, NULL);
        }
        stage_outcome_fini(&got);
        free(half);
    }
}

static void check_missing(int64_t n, int64_t p)
{
    double *a = random_matrix(n, p);
    uint8_t used[64];
    memset(used, 1, sizeof used);
    used[0] = used[5] = used[p - 1] = 0;
    a[0] = (double)NAN;
    a[(n - 1) * p + 5] = (double)NAN;
    for (int64_t t = 0; t < n; t++) {
        a[t * p + p - 1] = (double)NAN;
    }
    stage_series series = series_of(a, n, p);
    stage_case test = case_of(&series, NULL);
    stage_outcome got;
    ek_assert_ok(stage_run(&test, &got));
    assert_int_equal(stage_int(&got, "n_cells_used"), p - 3);
    assert_int_equal(got.extent[EK_AXIS_MODE], EK_MIN(n - 1, p - 3));
    check_modes(&got, 1e-10);
    check_product(&got, a, used);
    stage_outcome_fini(&got);
    free(a);
}

static void test_missing_cells(void **state)
{
    (void)state;
    check_missing(20, 40);
    check_missing(40, 20);
}

/* The launch does not matter. Nor does the size of chunks: over time each value has its place, over
 * space the products of values stored alike are exact. */
static void check_ways(int64_t n, int64_t p)
{
    int16_t a[360];
    for (int64_t i = 0; i < n * p; i++) {
        a[i] = (int16_t)(1000.0 * random_unit());
    }
    stage_series series = {
        p, 1, {{.rows = n, .dtype = EK_I16, .scale = 0.1, .offset = -3.0, .data = a}}};
    stage_case test = case_of(&series, &(ek_svd_options){.centring = EK_SVD_CENTRING_MEAN});
    test.decoded = false;
    stage_outcome first, again;
    ek_assert_ok(stage_run(&test, &first));
    check_modes(&first, 1e-11);
    for (int i = 0; i < 4; i++) {
        test.chunk_rows = (const int64_t[]){1, 3, 0, n}[i];
        test.captured = i % 2 == 1;
        ek_assert_ok(stage_run(&test, &again));
        int64_t k = again.extent[EK_AXIS_MODE];
        assert_memory_equal(stage_array(&first, "eof"), stage_array(&again, "eof"),
                            (size_t)(k * p) * sizeof(double));
        assert_memory_equal(stage_array(&first, "singular_value"),
                            stage_array(&again, "singular_value"), (size_t)k * sizeof(double));
        ek_assert_near(stage_array(&first, "pc"), stage_array(&again, "pc"), k * n, 1e-12, 1e-12);
        int launches = again.needs.sweeps > 1 ? again.needs.later[0].chunk_launches
                                              : again.needs.chunk_launches;
        assert_int_equal(again.captured_size, test.captured ? launches : 0);
        stage_outcome_fini(&again);
    }
    stage_outcome_fini(&first);
}

static void test_ways_to_run(void **state)
{
    (void)state;
    check_ways(30, 12);
    check_ways(12, 30);
}

/* Files packed each in its own way, added up over space in the units of the first: the modes of
 * the values. */
static void test_packed_apart(void **state)
{
    (void)state;
    enum { N = 20, P = 7 };
    int16_t packed[N * P];
    float plain[N * P];
    double a[2 * N * P];
    for (int i = 0; i < N * P; i++) {
        packed[i] = (int16_t)(3000.0 * random_unit());
        plain[i] = (float)(20.0 * random_unit() + 280.0);
        a[i] = packed[i] * 0.01 + 270.0;
        a[N * P + i] = (double)plain[i];
    }
    center(a, 2 * N, P);
    stage_series apart = {
        P,
        2,
        {{.rows = N, .dtype = EK_I16, .scale = 0.01, .offset = 270, .data = packed},
         {.rows = N, .dtype = EK_F32, .data = plain}}};
    stage_case test = case_of(&apart, &(ek_svd_options){.centring = EK_SVD_CENTRING_MEAN});
    test.decoded = false;
    stage_outcome got;
    ek_assert_ok(stage_run(&test, &got));
    check_modes(&got, 1e-11);
    check_product(&got, a, NULL);
    stage_outcome_fini(&got);
}

static void expect_refusal(const double *a, int64_t n, int64_t p, const char *message)
{
    stage_series series = series_of(a, n, p);
    stage_case test = case_of(&series, NULL);
    stage_outcome got;
    assert_int_equal(stage_run(&test, &got), EK_EDATA);
    ek_assert_message(message);
}

static void test_refusals(void **state)
{
    (void)state;
    double zeros[20] = {0};
    double gaps[20] = {0};
    for (int c = 0; c < 4; c++) {
        gaps[c * 4 + c] = (double)NAN;
    }
    expect_refusal(zeros, 1, 20, "at least 2 time steps; 'air' has 1");
    expect_refusal(zeros, 5, 4, "does not vary");
    expect_refusal(gaps, 5, 4, "missing at some step");
    stage_series series = series_of(zeros, 5, 4);
    stage_case test = case_of(&series, &(ek_svd_options){.modes = -1});
    stage_outcome got;
    assert_int_equal(stage_run(&test, &got), EK_EINVAL);
    ek_assert_message("modes");
}

/* More modes than there can be: as many as there are. */
static void test_too_many_modes(void **state)
{
    (void)state;
    double *a = random_matrix(5, 9);
    stage_series series = series_of(a, 5, 9);
    stage_case test = case_of(&series, &(ek_svd_options){.modes = 1000});
    stage_outcome got;
    ek_assert_ok(stage_run(&test, &got));
    assert_int_equal(got.spec.extent[EK_AXIS_MODE], 4);
    assert_int_equal(got.extent[EK_AXIS_MODE], 4);
    stage_outcome_fini(&got);
    free(a);
}

/* The sign is decided by the first of nearly equal extremes, whatever their signs. */
static void test_sign_of_near_ties(void **state)
{
    (void)state;
    enum { N = 8, P = 3 };
    double a[N * P];
    for (int t = 0; t < N; t++) {
        double wave = cos(3.14159265358979 * t / N * 2.0);
        a[t * P] = 0.5 * wave;
        a[t * P + 1] = -wave;
        a[t * P + 2] = wave * (1.0 + 1e-9);
    }
    stage_series series = series_of(a, N, P);
    stage_case test = case_of(&series, &(ek_svd_options){.modes = 1});
    stage_outcome got;
    ek_assert_ok(stage_run(&test, &got));
    const double *eof = stage_array(&got, "eof");
    assert_true(eof[0] < 0.0 && eof[1] > 0.0 && eof[2] < 0.0);
    assert_true(stage_array(&got, "pc")[0] < 0.0);
    stage_outcome_fini(&got);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_more_cells_than_steps), cmocka_unit_test(test_more_steps_than_cells),
        cmocka_unit_test(test_as_many_of_both),       cmocka_unit_test(test_leading_modes),
        cmocka_unit_test(test_counting_up),           cmocka_unit_test(test_rank_deficient),
        cmocka_unit_test(test_missing_cells),         cmocka_unit_test(test_ways_to_run),
        cmocka_unit_test(test_packed_apart),          cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_too_many_modes),        cmocka_unit_test(test_sign_of_near_ties),
    };
    backend = stage_backend(argc, argv);
    int failed = STAGE_SKIPPED;
    if (backend != NULL) {
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    }
    ek_backend_destroy(backend);
    return failed;
}
