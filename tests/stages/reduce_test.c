/* SPDX-License-Identifier: Apache-2.0 */
/* The reduce stage against plain loops, for every stored type, missing values and packings; and the
 * same bits for any chunk size, launch and backend. */
#include "stages/reduce.h"
#include "tests/support/near.h"
#include "tests/support/stage_harness.h"

#include <string.h>

#define ROWS  61
#define CELLS 29
#define ALL   255u

static ek_backend *backend, *host;

static uint32_t random_state = 12345;

static uint32_t next_random(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

static void put_raw(void *data, ek_dtype dtype, int64_t i, int64_t value)
{
    switch (dtype) {
    case EK_I8:
        ((int8_t *)data)[i] = (int8_t)(value % 100);
        break;
    case EK_U8:
        ((uint8_t *)data)[i] = (uint8_t)(value & 0xff);
        break;
    case EK_I16:
        ((int16_t *)data)[i] = (int16_t)value;
        break;
    case EK_U16:
        ((uint16_t *)data)[i] = (uint16_t)(value & 0xffff);
        break;
    case EK_I32:
        ((int32_t *)data)[i] = (int32_t)value * 1000;
        break;
    case EK_U32:
        ((uint32_t *)data)[i] = (uint32_t)(value + 40000) * 50000u;
        break;
    case EK_F32:
        ((float *)data)[i] = 280.0f + (float)value * 0.0013f;
        break;
    default:
        ((double *)data)[i] = 280.0 + (double)value * 0.0013;
        break;
    }
}

/* Random values around 500, but cell 3 is constant, and missing: most of cell 5, all of cell 7,
 * some of all others. The marker of a missing value is 77 before put_raw. */
static void fill(void *data, ek_dtype dtype, int64_t rows)
{
    for (int64_t i = 0; i < rows * CELLS; i++) {
        int64_t cell = i % CELLS;
        int64_t value = (int64_t)(next_random() % 2000) - 500;
        bool missing = value % 7 == 0 || cell == 7 || (cell == 5 && i / CELLS != 10);
        if (cell == 3) {
            missing = false;
            value = 31;
        }
        put_raw(data, dtype, i, missing ? 77 : value == 77 ? 78 : value);
    }
}

static double missing_marker(ek_dtype dtype)
{
    double marker = 0.0;
    put_raw(&marker, dtype, 0, 77);
    return ek_chunk_raw(&marker, dtype, 0);
}

static stage_series one_piece(ek_dtype dtype, void *data)
{
    fill(data, dtype, ROWS);
    return (stage_series){
        .cells = CELLS,
        .n_pieces = 1,
        .pieces = {{.rows = ROWS,
                    .dtype = dtype,
                    .scale = dtype == EK_F32 || dtype == EK_F64 ? 0.0 : 0.01,
                    .offset = dtype == EK_F32 || dtype == EK_F64 ? 0.0 : 273.15,
                    .n_missing = 2,
                    .missing = {missing_marker(dtype), -12345.0},
                    .data = data}},
    };
}

/* Two passes in long double. */
static void expect(const stage_series *series, int ddof, int64_t c, double *out)
{
    int64_t n = 0;
    long double sum = 0.0L, squares = 0.0L;
    double min = INFINITY, max = -INFINITY;
    for (int64_t t = 0; t < stage_series_rows(series); t++) {
        double x = stage_value(series, t, c);
        if (!isnan(x)) {
            n++;
            sum += x;
            min = fmin(min, x);
            max = fmax(max, x);
        }
    }
    long double mean = sum / (long double)n;
    for (int64_t t = 0; t < stage_series_rows(series); t++) {
        double x = stage_value(series, t, c);
        squares += isnan(x) ? 0.0L : (x - mean) * (x - mean);
    }
    double var = n > ddof ? (double)(squares / (long double)(n - ddof)) : (double)NAN;
    double nan = (double)NAN;
    double values[] = {(double)mean, sqrt(var), var, min, max, max - min, (double)sum};
    for (int i = 0; i < 7; i++) {
        out[i] = n > 0 ? values[i] : nan;
    }
    out[7] = (double)n;
}

static void check_against_loops(const stage_outcome *got, const stage_series *series, int ddof)
{
    static const char *const names[] = {"mean", "std", "var", "min", "max", "range", "sum"};
    int count = ek_spec_array(&got->spec, "count");
    for (int64_t c = 0; c < series->cells; c++) {
        double want[8];
        expect(series, ddof, c, want);
        for (int i = 0; i < 7; i++) {
            const double *array = stage_array(got, names[i]);
            /* The loops round, too, and a mean or sum near zero has lost digits. */
            double atol = i == 0 || i == 6 ? 1e-12 : 1e-16;
            ek_assert_near(&array[c], &want[i], 1, 2e-13, atol);
        }
        assert_int_equal(((const int32_t *)got->array[count])[c], (int32_t)want[7]);
    }
}

/* Runs a case in many ways, which must all give the bits of the first, and returns that. */
static stage_outcome run_all_ways(const stage_series *series, const ek_reduce_options *options,
                                  bool decoded)
{
    stage_case base = {.backend = backend,
                       .stage = &ek_stage_reduce,
                       .options = options,
                       .series = series,
                       .decoded = decoded};
    stage_outcome first;
    ek_assert_ok(stage_run(&base, &first));
    for (int i = 0; i < 6; i++) {
        stage_case other = base;
        stage_outcome again;
        other.chunk_rows = (const int64_t[]){1, 3, 17, 5, 0, 0}[i];
        other.empty_chunks = i == 1 || i == 3;
        other.captured = i >= 3;
        other.backend = i == 5 ? host : backend;
        ek_assert_ok(stage_run(&other, &again));
        assert_true(stage_same_bits(&first, &again));
        if (other.captured) {
            assert_int_equal(again.captured_size, again.needs.chunk_launches);
        }
        stage_outcome_fini(&again);
    }
    return first;
}

static void test_every_type(void **state)
{
    (void)state;
    static const ek_dtype types[] = {EK_I8, EK_U8, EK_I16, EK_U16, EK_I32, EK_U32, EK_F32, EK_F64};
    for (size_t i = 0; i < EK_COUNT(types); i++) {
        double data[ROWS * CELLS];
        stage_series series = one_piece(types[i], data);
        for (int ddof = 0; ddof <= 1; ddof++) {
            ek_reduce_options options = {ALL, ddof == 0 ? EK_DDOF_0 : EK_DDOF_1};
            stage_outcome got = run_all_ways(&series, &options, false);
            check_against_loops(&got, &series, ddof);
            stage_outcome_fini(&got);
            got = run_all_ways(&series, &options, true);
            check_against_loops(&got, &series, ddof);
            stage_outcome_fini(&got);
        }
    }
}

static void test_constant_and_missing_cells(void **state)
{
    (void)state;
    int16_t data[ROWS * CELLS];
    stage_series series = one_piece(EK_I16, data);
    stage_outcome got = run_all_ways(&series, &(ek_reduce_options){ALL, 0}, false);
    double decoded = stage_value(&series, 0, 3);
    assert_true(stage_array(&got, "var")[3] == 0.0 && stage_array(&got, "std")[3] == 0.0);
    assert_true(stage_array(&got, "range")[3] == 0.0);
    assert_true(stage_array(&got, "mean")[3] == decoded && stage_array(&got, "min")[3] == decoded);
    assert_true(isnan(stage_array(&got, "mean")[7]) && isnan(stage_array(&got, "sum")[7]));
    assert_true(isnan(stage_array(&got, "var")[5]) && !isnan(stage_array(&got, "mean")[5]));
    stage_outcome_fini(&got);
}

static void test_negative_scale(void **state)
{
    (void)state;
    int16_t data[ROWS * CELLS];
    stage_series series = one_piece(EK_I16, data);
    series.pieces[0].scale = -0.5;
    stage_outcome got = run_all_ways(&series, &(ek_reduce_options){ALL, 0}, false);
    check_against_loops(&got, &series, 1);
    stage_outcome_fini(&got);
}

static void test_many_missing_values(void **state)
{
    (void)state;
    int16_t data[ROWS * CELLS];
    stage_series series = one_piece(EK_I16, data);
    stage_piece *piece = &series.pieces[0];
    piece->n_missing = 6;
    for (int i = 1; i < 6; i++) {
        piece->missing[i] = i == 1 ? NAN : i == 2 ? 1e30 : i == 3 ? 100.5 : (double)(100 + i);
    }
    stage_outcome got = run_all_ways(&series, &(ek_reduce_options){ALL, 0}, false);
    check_against_loops(&got, &series, 1);
    stage_outcome_fini(&got);
}

static void test_packing_changes(void **state)
{
    (void)state;
    int16_t a[ROWS * CELLS], c[ROWS * CELLS];
    float b[ROWS * CELLS];
    uint8_t d[ROWS * CELLS];
    stage_series series = {.cells = CELLS, .n_pieces = 4};
    series.pieces[0] = one_piece(EK_I16, a).pieces[0];
    series.pieces[1] = one_piece(EK_F32, b).pieces[0];
    series.pieces[2] = one_piece(EK_I16, c).pieces[0];
    series.pieces[2].scale = 0.02;
    series.pieces[2].offset = 250.0;
    series.pieces[3] = one_piece(EK_U8, d).pieces[0];
    stage_outcome got = run_all_ways(&series, &(ek_reduce_options){ALL, 0}, false);
    check_against_loops(&got, &series, 1);
    stage_outcome_fini(&got);
}

/* Sums that a statistic does not need are left out; it has the bits that it has among all. */
static void test_each_alone(void **state)
{
    (void)state;
    static const char *const names[] = {"mean", "std", "var", "min", "max", "range", "sum"};
    int16_t a[ROWS * CELLS], c[ROWS * CELLS];
    float b[ROWS * CELLS];
    stage_series series = {.cells = CELLS, .n_pieces = 3};
    series.pieces[0] = one_piece(EK_I16, a).pieces[0];
    series.pieces[1] = one_piece(EK_I16, c).pieces[0];
    series.pieces[1].scale = 0.02;
    series.pieces[2] = one_piece(EK_F32, b).pieces[0];
    stage_outcome all = run_all_ways(&series, &(ek_reduce_options){ALL, 0}, false);
    for (size_t i = 0; i < EK_COUNT(names); i++) {
        stage_outcome one = run_all_ways(&series, &(ek_reduce_options){1u << i, 0}, false);
        for (int64_t cell = 0; cell < CELLS; cell++) {
            double got = stage_array(&one, names[i])[cell];
            double want = stage_array(&all, names[i])[cell];
            assert_true(got == want || (isnan(got) && isnan(want)));
        }
        stage_outcome_fini(&one);
    }
    stage_outcome_fini(&all);
}

/* More cells than a tile and no multiple of a vector; infinities; and missing values that a float
 * cannot be, which match nothing. */
static void test_wide(void **state)
{
    (void)state;
    enum { WIDE = 2051, STEPS = 6 };
    static float data[STEPS * WIDE];
    for (int i = 0; i < STEPS * WIDE; i++) {
        data[i] = i % 11 == 0 ? -9e33f : i % 7 == 0 ? INFINITY : (float)(i % 1000) / 8.0f;
    }
    for (int n = 0; n <= 3; n++) {
        stage_piece piece = {.rows = STEPS, .dtype = EK_F32, .n_missing = n, .data = data};
        piece.missing[0] = (double)-9e33f;
        piece.missing[1] = 1e300;
        piece.missing[2] = 0.1; /* no float is that */
        stage_series series = {WIDE, 1, {piece}};
        unsigned op = EK_REDUCE_MIN | EK_REDUCE_MAX | EK_REDUCE_COUNT; /* exact at any size */
        stage_outcome got = run_all_ways(&series, &(ek_reduce_options){op, 0}, false);
        for (int64_t c = 0; c < WIDE; c++) {
            double want[8];
            expect(&series, 1, c, want);
            double min = stage_array(&got, "min")[c], max = stage_array(&got, "max")[c];
            assert_true(min == want[3] || (isnan(min) && isnan(want[3])));
            assert_true(max == want[4] || (isnan(max) && isnan(want[4])));
        }
        stage_outcome_fini(&got);
    }
}

/* Full-range values: squares and products that need their 64 and 128 bits. */
static void test_extreme_integers(void **state)
{
    (void)state;
    enum { STEPS = 4000 };
    static int16_t low[STEPS];
    static uint16_t high[STEPS];
    for (int i = 0; i < STEPS; i++) {
        low[i] = i % 2 == 0 ? INT16_MIN : INT16_MAX;
        high[i] = i % 2 == 0 ? UINT16_MAX : UINT16_MAX - 2;
    }
    stage_series series = {1, 1, {{.rows = STEPS, .dtype = EK_I16, .data = low}}};
    stage_outcome got = run_all_ways(&series, &(ek_reduce_options){ALL, EK_DDOF_0}, false);
    assert_true(stage_array(&got, "mean")[0] == -0.5);
    assert_true(stage_array(&got, "var")[0] == 32767.5 * 32767.5);
    stage_outcome_fini(&got);
    series.pieces[0].dtype = EK_U16;
    series.pieces[0].data = high;
    got = run_all_ways(&series, &(ek_reduce_options){ALL, EK_DDOF_0}, false);
    assert_true(stage_array(&got, "mean")[0] == 65534.0 && stage_array(&got, "var")[0] == 1.0);
    stage_outcome_fini(&got);
}

static void test_words(void **state)
{
    (void)state;
    float data[ROWS * CELLS];
    stage_series series = one_piece(EK_F32, data);
    stage_case test = {.backend = backend, .stage = &ek_stage_reduce, .series = &series};
    stage_outcome got;
    ek_assert_ok(stage_run(&test, &got));
    assert_int_equal(got.spec.n_arrays, 1); /* the default is the mean alone */
    const ek_array_spec *mean = &got.spec.arrays[0];
    assert_string_equal(mean->name, "mean");
    assert_string_equal(mean->units, "K");
    assert_string_equal(mean->long_name, "Air temperature, time mean");
    assert_string_equal(mean->standard_name, "air_temperature");
    assert_string_equal(mean->cell_methods, "time: mean");
    stage_outcome_fini(&got);
    test.options = &(ek_reduce_options){EK_REDUCE_VAR | EK_REDUCE_COUNT, EK_DDOF_0};
    ek_assert_ok(stage_run(&test, &got));
    assert_string_equal(got.spec.arrays[0].units, "K2");
    assert_string_equal(got.spec.arrays[0].standard_name, "");
    assert_string_equal(got.spec.arrays[1].name, "count");
    assert_string_equal(got.spec.attrs[0].text, "0");
    stage_outcome_fini(&got);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type),      cmocka_unit_test(test_constant_and_missing_cells),
        cmocka_unit_test(test_negative_scale),  cmocka_unit_test(test_many_missing_values),
        cmocka_unit_test(test_packing_changes), cmocka_unit_test(test_extreme_integers),
        cmocka_unit_test(test_each_alone),      cmocka_unit_test(test_wide),
        cmocka_unit_test(test_words),
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
