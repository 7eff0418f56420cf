/* SPDX-License-Identifier: Apache-2.0 */
/* Several sources in one pipeline: read in step whatever their own chunks are, refused where their
 * time axes differ, and each read only in the passes that need it; and the stage that combines two
 * streams, against a plain loop. */
#include "graphs/nodes.h"
#include "graphs/run.h"
#include "tests/support/memory_stages.h"
#include "tests/support/near.h"

#include <math.h>
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS  50
#define CELLS 9

static int16_t stored_u[ROWS * CELLS];
static float stored_v[ROWS * CELLS];
static double times[ROWS], other_times[ROWS];
static memory_input u, v;
static ek_plan_options on_backend = {.backend = "host"}; /* or what the argument says */

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS * CELLS; i++) {
        stored_u[i] = (int16_t)(1000 * sin(0.37 * i));
        stored_v[i] = (float)(8 * cos(0.21 * i) - 0.01 * i);
    }
    stored_u[3 * CELLS + 2] = stored_u[31 * CELLS] = 9999;
    stored_v[4 * CELLS + 2] = -1;
    stored_v[7 * CELLS + 5] = (float)NAN;
    stored_v[8 * CELLS + 5] = 0;
    for (int t = 0; t < ROWS; t++) {
        times[t] = other_times[t] = 6.0 * t;
    }
    u = (memory_input){
        .cells = CELLS,
        .n_segments = 2,
        .segments = {{30, EK_I16, 0.01, 0.5, 1, {9999}, stored_u},
                     {ROWS - 30, EK_I16, 0.02, -1, 1, {9999}, stored_u + 30 * CELLS}},
        .name = "uwnd",
        .units = "m s-1",
        .times = times,
    };
    v = (memory_input){
        .cells = CELLS,
        .n_segments = 1,
        .segments = {{ROWS, EK_F32, 1, 0, 1, {-1}, stored_v}},
        .name = "vwnd",
        .units = "m s-1",
        .times = times,
    };
    return 0;
}

static ek_pipeline *make(void)
{
    ek_pipeline *p = NULL;
    ek_assert_ok(ek_pipeline_create(&p, "test"));
    return p;
}

static ek_status run(ek_pipeline *p, const ek_plan_options *options, ek_counts *counts)
{
    ek_plan *plan = NULL;
    ek_report *report = NULL;
    ek_status rc = ek_plan_create(&plan, p, options);
    if (rc == EK_OK) {
        rc = ek_run(plan, NULL, &report);
    }
    if (rc == EK_OK && counts != NULL) {
        *counts = ek_report_counts(report);
    }
    ek_report_destroy(report);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(p);
    return rc;
}

/* Chunk lengths of the two sources. */
typedef struct cuts {
    int64_t u, v;
} cuts;

static ek_pipeline *make_combined(int op, cuts chunk, collected *into)
{
    ek_pipeline *p = make();
    ek_node *a = ek_upload(p, memory_add(p, &u, chunk.u), NULL);
    ek_node *b = ek_upload(p, memory_add(p, &v, chunk.v), NULL);
    ek_node *both = ek_combine(p, a, b, &(ek_combine_options){.op = op});
    collect_add(p, ek_download(p, both, NULL), into);
    return p;
}

static double expected(int op, int t, int c)
{
    double a = memory_value(&u, t, c), b = memory_value(&v, t, c);
    volatile double aa = a * a, bb = b * b; /* two roundings */
    double values[] = {a + b, a - b, a * b, a / b, sqrt(aa + bb)};
    return isfinite(values[op - 1]) ? values[op - 1] : (double)NAN;
}

static void check_combined(int op, cuts chunk, const ek_plan_options *options)
{
    collected into = {0};
    ek_assert_ok(run(make_combined(op, chunk, &into), options, NULL));
    int n_missing = 0;
    for (int t = 0; t < ROWS; t++) {
        for (int c = 0; c < CELLS; c++) {
            double value = expected(op, t, c);
            ek_assert_near(&into.values[t * CELLS + c], &value, 1, 0, 0);
            n_missing += isnan(value) ? 1 : 0;
        }
    }
    assert_int_equal(n_missing, op == EK_COMBINE_DIV ? 5 : 4);
    collected_fini(&into);
}

static void two_sources_combine_like_a_loop(void **state)
{
    (void)state;
    static const cuts chunks[] = {{7, 7}, {0, 0}, {7, 12}, {13, 5}, {1, 50}};
    for (int op = EK_COMBINE_ADD; op <= EK_COMBINE_HYPOT; op++) {
        for (size_t i = 0; i < EK_COUNT(chunks); i++) {
            check_combined(op, chunks[i], &on_backend);
        }
    }
    ek_plan_options options = on_backend;
    options.launch = EK_LAUNCH_SERIAL;
    options.slots = 1;
    check_combined(EK_COMBINE_HYPOT, chunks[2], &options);
}

/* One source is read by jobs on pool threads, the other by the io thread, and the other way round.
 */
static void sources_are_read_each_in_its_way(void **state)
{
    (void)state;
    u.n_jobs = 3;
    check_combined(EK_COMBINE_SUB, (cuts){6, 4}, &on_backend);
    v.n_jobs = 2;
    check_combined(EK_COMBINE_SUB, (cuts){6, 4}, &on_backend);
    u.n_jobs = 0;
    check_combined(EK_COMBINE_SUB, (cuts){6, 4}, &on_backend);
    v.n_jobs = 0;
}

static void names_and_units_are_combined(void **state)
{
    (void)state;
    static const struct {
        int op;
        const char *name, *units;
    } rows[] = {
        {EK_COMBINE_ADD, "uwnd_add_vwnd", "m s-1"},
        {EK_COMBINE_HYPOT, "uwnd_hypot_vwnd", "m s-1"},
        {EK_COMBINE_MUL, "uwnd_mul_vwnd", "(m s-1) (m s-1)"},
        {EK_COMBINE_DIV, "uwnd_div_vwnd", "1"},
    };
    for (size_t i = 0; i < EK_COUNT(rows); i++) {
        collected into = {0};
        ek_assert_ok(run(make_combined(rows[i].op, (cuts){0, 0}, &into), &on_backend, NULL));
        assert_string_equal(into.spec.arrays[0].name, rows[i].name);
        assert_string_equal(into.spec.arrays[0].units, rows[i].units);
        collected_fini(&into);
    }
}

static void other_time_steps_are_refused(void **state)
{
    (void)state;
    collected into = {0};
    v.times = other_times;
    other_times[17] = 103;
    assert_int_equal(run(make_combined(1, (cuts){7, 7}, &into), &on_backend, NULL), EK_ESHAPE);
    ek_assert_message("nodes 'memory' and 'memory2'");
    ek_assert_message("step 17 is at 102 and 103 1");
    other_times[17] = times[17];
    v.segments[0].rows = ROWS - 1;
    assert_int_equal(run(make_combined(1, (cuts){7, 7}, &into), &on_backend, NULL), EK_ESHAPE);
    ek_assert_message("one has 50 steps, the other 49");
    setup(NULL);
}

static void other_units_or_grids_are_refused(void **state)
{
    (void)state;
    collected into = {0};
    v.units = "km h-1";
    assert_int_equal(run(make_combined(EK_COMBINE_ADD, (cuts){7, 7}, &into), &on_backend, NULL),
                     EK_EINVAL);
    ek_assert_message("combine: op=add wants equal units");
    ek_assert_ok(run(make_combined(EK_COMBINE_MUL, (cuts){7, 7}, &into), &on_backend, NULL));
    assert_string_equal(into.spec.arrays[0].units, "(m s-1) (km h-1)");
    collected_fini(&into);
    setup(NULL);
    v.cells = CELLS / 3;
    assert_int_equal(run(make_combined(EK_COMBINE_ADD, (cuts){7, 7}, &into), &on_backend, NULL),
                     EK_ESHAPE);
    ek_assert_message("combine: the streams at 'a' (uwnd) and 'b' (vwnd) are on different grids");
    setup(NULL);
}

/* The first pass needs u alone, the second both: v is read once, u is kept or read again. */
static void a_pass_reads_the_sources_it_needs(void **state)
{
    (void)state;
    collected into = {0};
    for (int reread = 0; reread < 2; reread++) {
        ek_counts counts = {0};
        ek_plan_options options = on_backend;
        options.reread = reread == 1;
        ek_pipeline *p = make();
        ek_node *a = ek_upload(p, memory_add(p, &u, 6), NULL);
        ek_node *b = ek_upload(p, memory_add(p, &v, 6), NULL);
        ek_node *anomaly = ek_anomaly(p, a, ek_reduce(p, a, NULL), NULL);
        collect_add(p, ek_download(p, ek_combine(p, anomaly, b, NULL), NULL), &into);
        ek_assert_ok(run(p, &options, &counts));
        size_t bytes = (reread ? 2 : 1) * sizeof(stored_u) + sizeof(stored_v);
        assert_int_equal(counts.upload_bytes, bytes);
        for (int c = 0; c < CELLS; c++) {
            double sum = 0;
            int n = 0;
            for (int t = 0; t < ROWS; t++) {
                bool valid = !isnan(memory_value(&u, t, c));
                sum += valid ? memory_value(&u, t, c) : 0;
                n += valid ? 1 : 0;
            }
            double value = memory_value(&u, 11, c) - sum / n + memory_value(&v, 11, c);
            ek_assert_near1(into.values[11 * CELLS + c], value, 0, 1e-12);
        }
        collected_fini(&into);
    }
}

static void a_failing_source_is_named(void **state)
{
    (void)state;
    for (int jobs = 0; jobs < 3; jobs += 2) {
        int64_t live = ek_alloc_live();
        collected into = {0};
        v.fail_at_chunk = 4;
        v.n_jobs = jobs;
        assert_int_equal(run(make_combined(1, (cuts){5, 5}, &into), &on_backend, NULL), EK_EIO);
        ek_assert_message("memory2, chunk 4: made to fail");
        assert_int_equal(into.dropped, 1);
        assert_int_equal(ek_alloc_live(), live);
        collected_fini(&into);
    }
    setup(NULL);
}

#define FILE_VALUES (12 * 30 * 30)

/* read_plainly reads a variable of the file as the netCDF library does. */
static void read_plainly(const char *path, const char *name, float *values)
{
    int ncid = 0, id = 0;
    assert_int_equal(nc_open(path, NC_NOWRITE, &ncid), NC_NOERR);
    assert_int_equal(nc_inq_varid(ncid, name, &id), NC_NOERR);
    assert_int_equal(nc_get_var_float(ncid, id, values), NC_NOERR);
    nc_close(ncid);
}

/* Two variables of one file make a wind speed; -1e34 is missing there. */
static void two_variables_of_a_file(void **state)
{
    (void)state;
    static float x[FILE_VALUES], y[FILE_VALUES];
    const char *const path = EK_TEST_DATA "/coads_wind_climatology_subset.nc";
    read_plainly(path, "UWND", x);
    read_plainly(path, "VWND", y);
    collected into = {0};
    ek_pipeline *p = make();
    ek_load_options load = {.paths = &path, .n_paths = 1, .variable = "UWND", .chunk = 5};
    ek_node *a = ek_upload(p, ek_load(p, &load), NULL);
    load.variable = "VWND";
    load.chunk = 2;
    ek_node *b = ek_upload(p, ek_load(p, &load), NULL);
    ek_combine_options options = {.op = EK_COMBINE_HYPOT, .name = "wspd"};
    collect_add(p, ek_download(p, ek_combine(p, a, b, &options), NULL), &into);
    ek_assert_ok(run(p, &on_backend, NULL));
    assert_int_equal(into.put, 6);
    assert_string_equal(into.spec.arrays[0].name, "wspd");
    int n_valid = 0;
    for (int i = 0; i < FILE_VALUES; i++) {
        bool valid = x[i] > -1e33F && y[i] > -1e33F;
        volatile double xx = (double)x[i] * (double)x[i], yy = (double)y[i] * (double)y[i];
        double speed = valid ? sqrt(xx + yy) : (double)NAN;
        ek_assert_near(&into.values[i], &speed, 1, 0, 0);
        n_valid += valid ? 1 : 0;
    }
    assert_true(n_valid > FILE_VALUES / 2);
    collected_fini(&into);
}

static void the_plan_names_all_sources(void **state)
{
    (void)state;
    collected into = {0};
    ek_plan *plan = NULL;
    ek_pipeline *p = make_combined(EK_COMBINE_HYPOT, (cuts){7, 12}, &into);
    ek_assert_ok(ek_plan_create(&plan, p, &on_backend));
    char *text = ek_plan_format(plan, EK_FORMAT_TEXT);
    assert_non_null(text);
    assert_non_null(strstr(text, "memory: uwnd[time 50, cell 9] int16"));
    assert_non_null(strstr(text, "memory: vwnd[time 50, cell 9] float32"));
    assert_non_null(strstr(text, "memory2: reads a chunk into pinned memory"));
    assert_non_null(strstr(text, "8 of at most 7 steps")); /* u's two segments by 7 */
    ek_free(text);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_sources_combine_like_a_loop),
        cmocka_unit_test(sources_are_read_each_in_its_way),
        cmocka_unit_test(names_and_units_are_combined),
        cmocka_unit_test(other_time_steps_are_refused),
        cmocka_unit_test(other_units_or_grids_are_refused),
        cmocka_unit_test(a_pass_reads_the_sources_it_needs),
        cmocka_unit_test(a_failing_source_is_named),
        cmocka_unit_test(two_variables_of_a_file),
        cmocka_unit_test(the_plan_names_all_sources),
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
    return cmocka_run_group_tests(tests, setup, NULL);
}
