/* SPDX-License-Identifier: Apache-2.0 */
/* EOFs and statistics of real files against answers computed independently in float64 (NumPy; see
 * tests/data/README.md). Arguments: directory with reference.json and the files; backend. */
#include "core/backend.h"
#include "graphs/run.h"
#include "pipelines/eof.h"
#include "pipelines/stats.h"
#include "tests/support/near.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define RTOL 1e-9

static const char *directory, *backend;
static json_t *cases;

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value)) {
        fail_msg("reference.json: no number '%s'", key);
    }
    return json_number_value(value);
}

static ek_load_options load_options(const json_t *item, const char **path, char *buffer,
                                    size_t size)
{
    snprintf(buffer, size, "%s/%s", directory, json_string_value(json_object_get(item, "file")));
    *path = buffer;
    return (ek_load_options){
        .paths = path,
        .n_paths = 1,
        .variable = json_string_value(json_object_get(item, "variable")),
    };
}

/* run plans and runs; the caller destroys all three. */
static void run(ek_pipeline *pipeline, ek_plan **plan, ek_report **report)
{
    ek_plan_options options = {.backend = backend};
    ek_assert_ok(ek_plan_create(plan, pipeline, &options));
    ek_assert_ok(ek_run(*plan, NULL, report));
}

/* check compares one number, naming case and quantity. */
static void check(const json_t *item, const char *what, double actual, double expected,
                  double scale)
{
    if (!(fabs(actual - expected) <= RTOL * scale)) {
        fail_msg("%s: %s is %.15g, the reference says %.15g (off by %.2g of %.3g)",
                 json_string_value(json_object_get(item, "file")), what, actual, expected,
                 fabs(actual - expected) / scale, scale);
    }
}

/* check_pattern compares EOF 1: its extremes, sums and samples. Values are relative to its largest.
 */
static void check_pattern(const json_t *item, const json_t *eof1, const double *eof, int64_t cells)
{
    int64_t n_lon = (int64_t)number(item, "n_lon");
    double sum = 0, sum_abs = 0, min = INFINITY, max = -INFINITY;
    int64_t used = 0;
    for (int64_t c = 0; c < cells; c++) {
        if (!isnan(eof[c])) {
            used++;
            sum += eof[c];
            sum_abs += fabs(eof[c]);
            min = fmin(min, eof[c]);
            max = fmax(max, eof[c]);
        }
    }
    double largest = fmax(fabs(min), fabs(max));
    assert_int_equal(used, (int64_t)number(item, "n_cells_used"));
    check(item, "EOF 1 max", max, number(json_object_get(eof1, "max"), "value"), largest);
    check(item, "EOF 1 min", min, number(json_object_get(eof1, "min"), "value"), largest);
    check(item, "EOF 1 mean", sum / (double)used, number(eof1, "mean"), largest);
    check(item, "EOF 1 mean |.|", sum_abs / (double)used, number(eof1, "mean_abs"), largest);
    size_t i;
    json_t *sample;
    json_array_foreach(json_object_get(eof1, "samples"), i, sample)
    {
        int64_t c = (int64_t)number(sample, "j") * n_lon + (int64_t)number(sample, "i");
        check(item, "EOF 1 sample", eof[c], number(sample, "value"), largest);
    }
}

static void check_eof(const json_t *item)
{
    char buffer[512];
    const char *path = NULL;
    ek_eof_options options = {.load = load_options(item, &path, buffer, sizeof(buffer))};
    ek_pipeline *pipeline = NULL;
    ek_node *result = NULL;
    ek_plan *plan = NULL;
    ek_report *report = NULL;
    ek_assert_ok(ek_pipeline_eof(&pipeline, &result, &options));
    run(pipeline, &plan, &report);

    const json_t *answer = json_object_get(item, "eof");
    answer = json_object_get(json_object_get(answer, "time_mean"), "unweighted");
    const json_t *values = json_object_get(answer, "singular_values");
    const json_t *fractions = json_object_get(answer, "variance_fraction");
    int64_t modes = ek_report_modes(report, result), cells = 0;
    const double *s = ek_report_array(report, result, "singular_value", NULL);
    const double *fraction = ek_report_array(report, result, "variance_fraction", NULL);
    const double *eof = ek_report_array(report, result, "eof", &cells);
    const double *pc = ek_report_array(report, result, "pc", NULL);
    for (size_t k = 0; k < json_array_size(values) && (int64_t)k < modes; k++) {
        double expected = json_number_value(json_array_get(values, k));
        check(item, "singular value", s[k], expected, expected);
        expected = json_number_value(json_array_get(fractions, k));
        check(item, "variance fraction", fraction[k], expected, expected);
    }
    assert_true(modes + 1 >= EK_MIN(10, (int64_t)number(item, "n_time")));
    double total = number(answer, "total_variance");
    check(item, "total variance", ek_report_number(report, result, "total_variance"), total, total);
    assert_int_equal((int64_t)ek_report_number(report, result, "n_cells_used"),
                     (int64_t)number(item, "n_cells_used"));
    check_pattern(item, json_object_get(answer, "eof1"), eof, cells / modes);
    const json_t *pc1 = json_object_get(answer, "pc1");
    double scale = fmax(fabs(number(pc1, "max")), fabs(number(pc1, "min")));
    check(item, "PC 1 first", pc[0], number(pc1, "first"), scale);
    check(item, "PC 1 last", pc[(int64_t)number(item, "n_time") - 1], number(pc1, "last"), scale);

    ek_report_destroy(report);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(pipeline);
}

static void check_stats(const json_t *item)
{
    char buffer[512];
    const char *path = NULL;
    ek_stats_options options = {.load = load_options(item, &path, buffer, sizeof(buffer)),
                                .reduce.op = 0xff};
    ek_pipeline *pipeline = NULL;
    ek_node *result = NULL;
    ek_plan *plan = NULL;
    ek_report *report = NULL;
    ek_assert_ok(ek_pipeline_stats(&pipeline, &result, &options));
    run(pipeline, &plan, &report);

    int64_t n_lon = (int64_t)number(item, "n_lon"), cells = 0;
    const double *mean = ek_report_array(report, result, "mean", &cells);
    const double *std = ek_report_array(report, result, "std", NULL);
    const double *min = ek_report_array(report, result, "min", NULL);
    const double *max = ek_report_array(report, result, "max", NULL);
    const int32_t *count = ek_report_array(report, result, "count", NULL);
    double lowest = INFINITY, highest = -INFINITY, missing = 0;
    for (int64_t c = 0; c < cells; c++) {
        lowest = fmin(lowest, min[c]);
        highest = fmax(highest, max[c]);
        missing += number(item, "n_time") - count[c];
    }
    const json_t *field = json_object_get(item, "field");
    double scale = fmax(fabs(number(field, "min")), fabs(number(field, "max")));
    check(item, "minimum", lowest, number(field, "min"), scale);
    check(item, "maximum", highest, number(field, "max"), scale);
    check(item, "missing values", missing, number(item, "n_missing_values"), 1);
    size_t i;
    json_t *cell;
    json_array_foreach(json_object_get(item, "cells"), i, cell)
    {
        int64_t c = (int64_t)number(cell, "j") * n_lon + (int64_t)number(cell, "i");
        double expected = number(cell, "std_n_minus_1");
        check(item, "mean", mean[c], number(cell, "mean"), fabs(number(cell, "mean")));
        check(item, "std", std[c], expected, fmax(expected, 1e-6 * fabs(mean[c])));
    }
    ek_report_destroy(report);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(pipeline);
}

static void eofs_equal_the_reference(void **state)
{
    (void)state;
    size_t i;
    json_t *item;
    json_array_foreach(cases, i, item) check_eof(item);
}

static void statistics_equal_the_reference(void **state)
{
    (void)state;
    size_t i;
    json_t *item;
    json_array_foreach(cases, i, item) check_stats(item);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eofs_equal_the_reference),
        cmocka_unit_test(statistics_equal_the_reference),
    };
    char path[512];
    ek_backend *probe = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: reference_test DIRECTORY BACKEND\n");
        return 2;
    }
    directory = argv[1];
    backend = argv[2];
    if (ek_backend_create(&probe, backend, NULL, 0) != EK_OK) {
        printf("skipped: %s\n", ek_error_last()->message);
        return 77;
    }
    ek_backend_destroy(probe);
    snprintf(path, sizeof(path), "%s/reference.json", directory);
    json_error_t error;
    json_t *reference = json_load_file(path, 0, &error);
    if (reference == NULL) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        return 1;
    }
    cases = json_object_get(reference, "cases");
    printf("%zu cases of %s on %s\n", json_array_size(cases), path, backend);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(reference);
    return failed;
}
