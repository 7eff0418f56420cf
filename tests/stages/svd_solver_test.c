/* SPDX-License-Identifier: Apache-2.0 */
/* The svd stage's solvers against each other and against spectra that are known: matrices are made
 * from orthogonal cosines, so that every singular value and vector has a closed form. */
#include "stages/svd.h"
#include "tests/support/near.h"
#include "tests/support/stage_harness.h"

#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static ek_backend *backend;

/* Row i of the orthonormal cosine basis of R^m (DCT-II), at j. Rows from 1 on have mean zero. */
static double cosine(int64_t i, int64_t j, int64_t m)
{
    double scale = sqrt((i == 0 ? 1.0 : 2.0) / (double)m);
    return scale * cos(PI * (double)i * ((double)j + 0.5) / (double)m);
}

/* A made of modes 1, 2 ... r with singular values s: time vectors cosine(i, t, n), space vectors
 * cosine(i, c, p); plus `mean` in every value. */
static double *known_matrix(int64_t n, int64_t p, const double *s, int64_t r, double mean)
{
    double *a = calloc((size_t)(n * p), sizeof *a);
    assert_non_null(a);
    for (int64_t i = 1; i <= r; i++) {
        for (int64_t t = 0; t < n; t++) {
            double u = s[i - 1] * cosine(i, t, n);
            for (int64_t c = 0; c < p; c++) {
                a[t * p + c] += u * cosine(i, c, p);
            }
        }
    }
    for (int64_t i = 0; i < n * p; i++) {
        a[i] += mean;
    }
    return a;
}

static ek_status run(const double *a, const int64_t shape[2], const ek_svd_options *options,
                     stage_outcome *got)
{
    stage_series series = {shape[1], 1, {{.rows = shape[0], .dtype = EK_F64, .data = a}}};
    stage_case test = {.backend = backend,
                       .stage = &ek_stage_svd,
                       .options = options,
                       .series = &series,
                       .chunk_rows = 17,
                       .empty_chunks = true,
                       .decoded = true};
    return stage_run(&test, got);
}

/* The modes asked for are those of the known matrix, in value and, up to sign, in pattern. */
static void check_known(const stage_outcome *got, const double *s, int64_t k, double tol)
{
    int64_t n = got->extent[EK_AXIS_TIME], p = got->extent[EK_AXIS_CELL];
    assert_int_equal(got->extent[EK_AXIS_MODE], k);
    for (int64_t i = 0; i < k; i++) {
        const double *eof = stage_array(got, "eof") + i * p, *pc = stage_array(got, "pc") + i * n;
        double cos_space = 0.0, cos_time = 0.0;
        ek_assert_near1(stage_array(got, "singular_value")[i], s[i], 0.0, 1e-13 * s[0]);
        for (int64_t c = 0; c < p; c++) {
            cos_space += eof[c] * cosine(i + 1, c, p);
        }
        for (int64_t t = 0; t < n; t++) {
            cos_time += pc[t] * cosine(i + 1, t, n) / s[i];
        }
        ek_assert_near1(fabs(cos_space), 1.0, tol, 0.0);
        ek_assert_near1(cos_space * cos_time, 1.0, tol, 0.0);
    }
}

static void check_leading(const int64_t shape[2], const double *s, int64_t r, int64_t k)
{
    double *a = known_matrix(shape[0], shape[1], s, r, 0.0);
    ek_svd_options options = {.modes = k, .solver = EK_SVD_CHEBYSHEV};
    stage_outcome got;
    ek_assert_ok(run(a, shape, &options, &got));
    check_known(&got, s, EK_MIN(k, r), 1e-10);
    assert_int_equal(stage_int(&got, "rank"), EK_MIN(k, r));
    assert_true(stage_array(&got, "residual")[0] <= 2e-14);
    assert_true(stage_array(&got, "orthogonality_error")[0] <= 1e-12);
    assert_true(stage_int(&got, "n_multiplies") > 0);
    double total = 0.0;
    for (int64_t i = 0; i < r; i++) {
        total += s[i] * s[i];
    }
    ek_assert_near1(stage_array(&got, "total_variance")[0], total / (double)(shape[0] - 1), 1e-12,
                    0.0);
    stage_outcome_fini(&got);
    free(a);
}

static const int64_t wide[2] = {300, 420}, tall[2] = {420, 300};

/* A spectrum as data have it. */
static void test_falling_spectrum(void **state)
{
    (void)state;
    double s[280];
    for (int i = 0; i < 280; i++) {
        s[i] = 100.0 * pow(0.9, i) + 0.5;
    }
    check_leading(wide, s, 280, 5);
    check_leading(tall, s, 280, 5);
    check_leading(wide, s, 280, 20);
}

/* Neighbours one in a thousand apart, also where the block ends: high degrees are needed. */
static void test_flat_spectrum(void **state)
{
    (void)state;
    double s[280];
    for (int i = 0; i < 280; i++) {
        s[i] = 10.0 - 0.01 * i;
    }
    check_leading(wide, s, 280, 6);
    check_leading(tall, s, 280, 3);
}

/* Ten decades: the filter's first rounds see columns that are nearly dependent. */
static void test_steep_spectrum(void **state)
{
    (void)state;
    double s[40];
    for (int i = 0; i < 40; i++) {
        s[i] = pow(10.0, -0.25 * i);
    }
    double *a = known_matrix(wide[0], wide[1], s, 40, 0.0);
    ek_svd_options options = {.modes = 12, .solver = EK_SVD_CHEBYSHEV};
    stage_outcome got;
    ek_assert_ok(run(a, wide, &options, &got));
    check_known(&got, s, 12, 1e-6);
    stage_outcome_fini(&got);
    free(a);
}

/* Fewer modes than columns in the block, and than were asked for. */
static void test_low_rank(void **state)
{
    (void)state;
    const double s[] = {9.0, 5.0, 4.0, 1.0, 0.5};
    check_leading(wide, s, 5, 10);
    check_leading(tall, s, 5, 3);
    check_leading(tall, s, 1, 4);
}

/* Two equal singular values: each vector is one of many, their span is one. */
static void test_equal_pair(void **state)
{
    (void)state;
    const double s[] = {9.0, 9.0, 4.0, 1.0};
    double *a = known_matrix(wide[0], wide[1], s, 4, 0.0);
    ek_svd_options options = {.modes = 3, .solver = EK_SVD_CHEBYSHEV};
    stage_outcome got;
    ek_assert_ok(run(a, wide, &options, &got));
    ek_assert_near(stage_array(&got, "singular_value"), s, 3, 1e-13, 0.0);
    for (int64_t i = 1; i <= 2; i++) {
        double squares = 0.0;
        for (int m = 0; m < 2; m++) {
            double part = 0.0;
            for (int64_t c = 0; c < wide[1]; c++) {
                part += stage_array(&got, "eof")[m * wide[1] + c] * cosine(i, c, wide[1]);
            }
            squares += part * part;
        }
        ek_assert_near1(squares, 1.0, 1e-12, 0.0);
    }
    stage_outcome_fini(&got);
    free(a);
}

/* Cells with gaps and constant cells leave rows of zeros in a Gram matrix over space, more of them
 * than the block has columns to spare. */
static void test_mostly_missing(void **state)
{
    (void)state;
    enum { N = 400, P = 300, LEFT = 8 };
    double *a = calloc((size_t)(N * P), sizeof *a);
    double *kept = calloc((size_t)(N * LEFT), sizeof *kept);
    assert_true(a != NULL && kept != NULL);
    for (int t = 0; t < N; t++) {
        for (int c = 0; c < P; c++) {
            bool use = c % 37 == 5;
            a[t * P + c] = use ? cos(0.1 * t * (c + 3)) * (c + 1) : (c == 7 ? 3.5 : (double)NAN);
            if (use) {
                kept[t * LEFT + c / 37] = a[t * P + c];
            }
        }
    }
    stage_outcome all, few;
    const int64_t full[2] = {N, P}, small[2] = {N, LEFT};
    ek_svd_options options = {
        .modes = 6, .solver = EK_SVD_CHEBYSHEV, .centring = EK_SVD_CENTRING_MEAN};
    ek_assert_ok(run(a, full, &options, &few));
    options.solver = EK_SVD_SYEVD;
    ek_assert_ok(run(kept, small, &options, &all));
    assert_int_equal(stage_int(&few, "n_cells_used"), LEFT + 1); /* and the constant one */
    ek_assert_near(stage_array(&few, "singular_value"), stage_array(&all, "singular_value"), 6,
                   1e-12, 0.0);
    ek_assert_near(stage_array(&few, "pc"), stage_array(&all, "pc"), (int64_t)6 * N, 1e-9, 1e-9);
    stage_outcome_fini(&all);
    stage_outcome_fini(&few);
    free(a);
    free(kept);
}

/* centring=mean finds the modes of what varies, whatever is added to all values. */
static void test_centring(void **state)
{
    (void)state;
    const double s[] = {9.0, 5.0, 4.0, 1.0, 0.5};
    const int64_t *shapes[] = {wide, tall};
    for (int i = 0; i < 4; i++) {
        const int64_t *shape = shapes[i % 2];
        double *a = known_matrix(shape[0], shape[1], s, 5, 101325.0);
        ek_svd_options options = {.modes = 4,
                                  .solver = i < 2 ? EK_SVD_CHEBYSHEV : EK_SVD_SYEVD,
                                  .centring = EK_SVD_CENTRING_MEAN};
        stage_outcome got;
        ek_assert_ok(run(a, shape, &options, &got));
        int64_t n = shape[0];
        for (int64_t m = 0; m < 4; m++) {
            ek_assert_near1(stage_array(&got, "singular_value")[m], s[m], 1e-8, 0.0);
            double sum = 0.0;
            for (int64_t t = 0; t < n; t++) {
                sum += stage_array(&got, "pc")[m * n + t];
            }
            ek_assert_near1(sum, 0.0, 0.0, 1e-8);
        }
        ek_assert_near1(stage_array(&got, "mean")[3], 101325.0, 1e-13, 0.0);
        stage_outcome_fini(&got);
        free(a);
    }
}

/* auto takes the iteration where the modes are few of many. */
static void test_choice(void **state)
{
    (void)state;
    const double s[] = {9.0, 5.0, 4.0, 1.0, 0.5};
    double *a = known_matrix(wide[0], wide[1], s, 5, 0.0);
    const struct {
        int64_t modes;
        const char *solver;
    } cases[] = {{3, "time Gram float64, Chebyshev"}, {60, "syevd"}, {0, "syevd"}};
    for (size_t i = 0; i < EK_COUNT(cases); i++) {
        stage_outcome got;
        ek_svd_options options = {.modes = cases[i].modes};
        ek_assert_ok(run(a, wide, &options, &got));
        bool found = strstr(got.spec.attrs[0].text, cases[i].solver) != NULL ||
                     (cases[i].modes == 60 && strstr(got.spec.attrs[0].text, "dsytrd") != NULL);
        assert_string_equal(got.spec.attrs[0].name, "solver");
        assert_true(found);
        stage_outcome_fini(&got);
    }
    stage_outcome got;
    assert_int_equal(run(a, wide, &(ek_svd_options){.solver = EK_SVD_CHEBYSHEV}, &got), EK_ENOTSUP);
    ek_assert_message("solver=chebyshev takes up to");
    free(a);
}

/* The same bits again, and from a captured run. */
static void test_repeats(void **state)
{
    (void)state;
    double s[30];
    for (int i = 0; i < 30; i++) {
        s[i] = 30.0 - i;
    }
    double *a = known_matrix(wide[0], wide[1], s, 30, 0.0);
    ek_svd_options options = {.modes = 5};
    stage_outcome one, two;
    ek_assert_ok(run(a, wide, &options, &one));
    ek_assert_ok(run(a, wide, &options, &two));
    assert_true(stage_same_bits(&one, &two));
    stage_outcome_fini(&one);
    stage_outcome_fini(&two);
    free(a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_falling_spectrum), cmocka_unit_test(test_flat_spectrum),
        cmocka_unit_test(test_steep_spectrum),   cmocka_unit_test(test_low_rank),
        cmocka_unit_test(test_equal_pair),       cmocka_unit_test(test_mostly_missing),
        cmocka_unit_test(test_centring),         cmocka_unit_test(test_choice),
        cmocka_unit_test(test_repeats),
    };
    backend = stage_backend(argc, argv);
    int failed = STAGE_SKIPPED;
    if (backend != NULL) {
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    }
    ek_backend_destroy(backend);
    return failed;
}
