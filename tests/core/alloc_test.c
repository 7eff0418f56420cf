/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation: counting, growing, and failing on demand. */
#include "tests/support/near.h"

#include "core/alloc.h"

#include <string.h>

static void live_is_counted(void **state)
{
    (void)state;
    int64_t before = ek_alloc_live();
    int *numbers = ek_alloc(10, sizeof *numbers);
    char *empty = ek_alloc(0, 8);
    char *text = ek_strdup("air");
    char *made = ek_strprintf("%s-%d", text, 7);
    assert_non_null(empty);
    assert_int_equal(numbers[9], 0);
    assert_string_equal(made, "air-7");
    assert_int_equal(ek_alloc_live(), before + 4);
    ek_free(numbers);
    ek_free(empty);
    ek_free(text);
    ek_free(made);
    ek_free(NULL);
    assert_int_equal(ek_alloc_live(), before);
    assert_null(ek_strdup(NULL));
}

static void too_much_is_refused(void **state)
{
    (void)state;
    int64_t before = ek_alloc_live();
    ek_error_clear();
    assert_null(ek_alloc(SIZE_MAX / 2, 16));
    assert_int_equal(ek_error_last()->status, EK_ENOMEM);
    assert_int_equal(ek_alloc_live(), before);
}

static void fail_at_hits_once(void **state)
{
    (void)state;
    int64_t before = ek_alloc_live();
    ek_alloc_fail_at(2);
    char *first = ek_alloc(1, 1);
    char *second = ek_alloc(1, 1);
    char *third = ek_alloc(1, 1);
    assert_non_null(first);
    assert_null(second);
    assert_non_null(third);
    ek_free(first);
    ek_free(third);
    ek_alloc_fail_at(1);
    assert_true(ek_alloc_count_one());
    assert_false(ek_alloc_count_one());
    ek_alloc_count_free();
    assert_int_equal(ek_alloc_live(), before);
}

static void grow_keeps_and_zeroes(void **state)
{
    (void)state;
    int64_t before = ek_alloc_live();
    int *array = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 100; i++) {
        ek_assert_ok(ek_grow(&array, &capacity, i, sizeof *array));
        assert_int_equal(array[i], 0);
        array[i] = (int)i + 1;
    }
    for (int i = 0; i < 100; i++) {
        assert_int_equal(array[i], i + 1);
    }
    assert_int_equal(capacity, 128);
    assert_int_equal(ek_alloc_live(), before + 1);

    int *kept = array;
    ek_alloc_fail_at(1);
    assert_int_equal(ek_grow(&array, &capacity, capacity, sizeof *array), EK_ENOMEM);
    assert_ptr_equal(array, kept);
    assert_int_equal(capacity, 128);
    ek_free(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(live_is_counted),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(fail_at_hits_once),
        cmocka_unit_test(grow_keeps_and_zeroes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
