/* SPDX-License-Identifier: Apache-2.0 */
/* What a run remembers: distributions against sorted values, and bounded memory however many chunks
 * there are. */
#include "graphs/nodes.h"
#include "graphs/record.h"
#include "tests/support/memory_stages.h"
#include "tests/support/near.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#define MANY (EK__KEPT_CHUNKS + 1)

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void quantiles_are_good_to_two_percent(void **state)
{
    (void)state;
    enum { N = 9973 };
    static double values[N];
    static ek__spread spread;
    double sum = 0;
    for (int i = 0; i < N; i++) { /* 3 us to 20 s, in no order */
        values[i] = 3e-6 * exp(15.7 * (double)((i * 7919) % N) / N);
        ek__spread_add(&spread, values[i]);
        sum += values[i];
    }
    qsort(values, N, sizeof values[0], by_size);
    static const double quantiles[] = {0.001, 0.25, 0.5, 0.9, 0.99, 1.0};
    for (size_t i = 0; i < EK_COUNT(quantiles); i++) {
        double expected = values[(int)ceil(quantiles[i] * N) - 1];
        ek_assert_near1(ek__spread_quantile(&spread, quantiles[i]), expected, 0.0101, 0);
    }
    assert_int_equal(spread.n, N);
    assert_true(spread.min == values[0] && spread.max == values[N - 1]);
    ek_assert_near1(spread.sum, sum, 0, 0);
}

static void extremes_have_their_place(void **state)
{
    (void)state;
    static ek__spread spread;
    assert_true(isnan(ek__spread_quantile(&spread, 0.5)));
    ek__spread_add(&spread, 0);
    ek__spread_add(&spread, 0);
    ek__spread_add(&spread, 1e9);
    assert_true(ek__spread_quantile(&spread, 0.5) == 0);
    assert_true(spread.max == 1e9 && ek__spread_quantile(&spread, 0.99) <= 1e9);
}

/* json_of runs a mean over `rows` rows, one a chunk, and returns the report. */
static json_t *json_of(int64_t rows)
{
    static float values[MANY];
    memory_input input = {
        .cells = 1,
        .n_segments = 1,
        .segments = {{.rows = rows, .dtype = EK_F32, .scale = 1, .data = values}}};
    ek_pipeline *p = NULL;
    ek_plan *plan = NULL;
    ek_report *report = NULL;
    ek_assert_ok(ek_pipeline_create(&p, "many"));
    ek_download(p, ek_reduce(p, ek_upload(p, memory_add(p, &input, 1), NULL), NULL), NULL);
    ek_assert_ok(ek_plan_create(&plan, p, &(ek_plan_options){.backend = "host"}));
    ek_assert_ok(ek_run(plan, NULL, &report));
    char *text = ek_report_json(report);
    assert_non_null(text);
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    ek_free(text);
    ek_report_destroy(report);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(p);
    return json;
}

static json_t *first_pass(json_t *report)
{
    return json_array_get(json_object_get(report, "passes"), 0);
}

static void chunks_are_kept_up_to_a_number(void **state)
{
    (void)state;
    int64_t live = ek_alloc_live();
    json_t *all = json_of(EK__KEPT_CHUNKS);
    json_t *kept = json_object_get(json_object_get(first_pass(all), "chunks"), "read");
    assert_int_equal(json_array_size(kept), EK__KEPT_CHUNKS);
    json_decref(all);

    json_t *many = json_of(MANY);
    assert_true(json_is_null(json_object_get(first_pass(many), "chunks")));
    json_t *read = json_object_get(json_object_get(first_pass(many), "chunk_seconds"), "read");
    assert_int_equal(json_integer_value(json_object_get(read, "n")), MANY);
    double p50 = json_number_value(json_object_get(read, "p50"));
    assert_true(p50 > 0 && p50 <= json_number_value(json_object_get(read, "p99")));
    json_decref(many);
    assert_int_equal(ek_alloc_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_good_to_two_percent),
        cmocka_unit_test(extremes_have_their_place),
        cmocka_unit_test(chunks_are_kept_up_to_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
