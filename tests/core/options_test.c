/* SPDX-License-Identifier: Apache-2.0 */
/* Option tables: defaults, copying, text, ranges, and that no failure leaks. */
#include "tests/support/near.h"

#include "core/options.h"

#include <string.h>

typedef struct sample {
    int64_t modes, free_int;
    bool fast;
    const char *path;
    const char *const *files;
    int n_files;
    int type;
    unsigned ops;
} sample;

static const ek_choice types[] = {{"float64", 1, "8 bytes"}, {"float32", 2, "4"}, {NULL, 0, NULL}};
static const ek_choice ops[] = {{"mean", 1, ""}, {"std", 2, ""}, {"min", 4, ""}, {NULL, 0, NULL}};

static const ek_option table[] = {
    {.name = "modes",
     .type = EK_OPTION_INT,
     .offset = offsetof(sample, modes),
     .fallback = "10",
     .min = 1,
     .max = 100},
    {.name = "any", .type = EK_OPTION_INT, .offset = offsetof(sample, free_int)},
    {.name = "fast", .type = EK_OPTION_BOOL, .offset = offsetof(sample, fast)},
    {.name = "path",
     .type = EK_OPTION_STRING,
     .offset = offsetof(sample, path),
     .required = true,
     .help = "the file to write"},
    {.name = "files",
     .type = EK_OPTION_STRINGS,
     .offset = offsetof(sample, files),
     .count_offset = offsetof(sample, n_files)},
    {.name = "type",
     .type = EK_OPTION_ENUM,
     .offset = offsetof(sample, type),
     .fallback = "float64",
     .choices = types},
    {.name = "ops",
     .type = EK_OPTION_FLAGS,
     .offset = offsetof(sample, ops),
     .fallback = "mean,std",
     .choices = ops},
    {.name = NULL},
};

static void zero_means_default(void **state)
{
    (void)state;
    sample from = {.path = "out.nc"}, to = {0};
    ek_assert_ok(ek_options_copy(table, &to, &from));
    assert_int_equal(to.modes, 10);
    assert_int_equal(to.free_int, 0);
    assert_false(to.fast);
    assert_string_equal(to.path, "out.nc");
    assert_ptr_not_equal(to.path, from.path);
    assert_int_equal(to.n_files, 0);
    assert_int_equal(to.type, 1);
    assert_int_equal(to.ops, 3);
    ek_options_free(table, &to);
    assert_null(to.path);
}

static void given_values_are_copied(void **state)
{
    (void)state;
    int64_t before = ek_alloc_live();
    const char *files[] = {"a.nc", "b.nc"};
    sample from = {.modes = 5,
                   .free_int = -7,
                   .fast = true,
                   .path = "out.nc",
                   .files = files,
                   .n_files = 2,
                   .type = 2,
                   .ops = 4};
    sample to = {0};
    ek_assert_ok(ek_options_copy(table, &to, &from));
    assert_int_equal(to.modes, 5);
    assert_int_equal(to.free_int, -7);
    assert_true(to.fast);
    assert_int_equal(to.n_files, 2);
    assert_string_equal(to.files[1], "b.nc");
    assert_int_equal(to.type, 2);
    assert_int_equal(to.ops, 4);

    sample again = {0}; /* a copy of a copy is the same */
    ek_assert_ok(ek_options_copy(table, &again, &to));
    assert_int_equal(again.n_files, 2);
    ek_options_free(table, &again);
    ek_options_free(table, &to);
    assert_int_equal(ek_alloc_live(), before);
}

static void copy_refuses(const sample *from, const char *part)
{
    int64_t before = ek_alloc_live();
    sample to = {0};
    assert_int_equal(ek_options_copy(table, &to, from), EK_EINVAL);
    ek_assert_message(part);
    assert_int_equal(ek_alloc_live(), before);
}

static void bad_values_are_refused(void **state)
{
    (void)state;
    const char *holes[] = {"a.nc", NULL};
    copy_refuses(NULL, "Option path must be given: the file to write.");
    copy_refuses(&(sample){.path = ""}, "path must not be empty");
    copy_refuses(&(sample){.path = "x", .modes = 101},
                 "Option modes cannot be \"101\"; it takes an integer from 1 to 100.");
    copy_refuses(&(sample){.path = "x", .type = 9}, "one of float64, float32");
    copy_refuses(&(sample){.path = "x", .ops = 8}, "mean, std, min");
    copy_refuses(&(sample){.path = "x", .files = holes, .n_files = 2}, "Entry 1 of option files");
    copy_refuses(&(sample){.path = "x", .n_files = 2}, "no list");
    copy_refuses(&(sample){.path = "x", .n_files = -1}, "count of -1");
}

static void set_refuses(const char *name, const char *text, const char *part)
{
    sample to = {0};
    assert_int_equal(ek_options_set(table, &to, name, text), EK_EINVAL);
    ek_assert_message(part);
    ek_options_free(table, &to);
}

static void text_is_parsed(void **state)
{
    (void)state;
    int64_t before = ek_alloc_live();
    sample to = {0};
    ek_assert_ok(ek_options_set(table, &to, "modes", "42"));
    ek_assert_ok(ek_options_set(table, &to, "any", "-9223372036854775808"));
    ek_assert_ok(ek_options_set(table, &to, "fast", "yes"));
    ek_assert_ok(ek_options_set(table, &to, "fast", "off"));
    ek_assert_ok(ek_options_set(table, &to, "path", "one"));
    ek_assert_ok(ek_options_set(table, &to, "path", "two"));
    ek_assert_ok(ek_options_set(table, &to, "files", "a.nc"));
    ek_assert_ok(ek_options_set(table, &to, "files", "b, c.nc"));
    ek_assert_ok(ek_options_set(table, &to, "type", "float32"));
    ek_assert_ok(ek_options_set(table, &to, "ops", "min,mean"));
    assert_int_equal(to.modes, 42);
    assert_true(to.free_int == INT64_MIN);
    assert_false(to.fast);
    assert_string_equal(to.path, "two");
    assert_int_equal(to.n_files, 2);
    assert_string_equal(to.files[1], "b, c.nc");
    assert_int_equal(to.type, 2);
    assert_int_equal(to.ops, 5);
    ek_options_free(table, &to);
    assert_int_equal(ek_alloc_live(), before);
}

static void bad_text_is_refused(void **state)
{
    (void)state;
    const char *numbers[] = {"", "x", " 5", "5 ", "5x", "0x5", "1.0", "0", "101", "-", "1e2"};
    for (size_t i = 0; i < EK_COUNT(numbers); i++) {
        set_refuses("modes", numbers[i], "from 1 to 100");
    }
    set_refuses("any", "9223372036854775808", "an integer.");
    set_refuses("fast", "maybe", "true or false");
    set_refuses("path", "", "empty");
    set_refuses("files", "", "empty");
    set_refuses("type", "float", "one of float64, float32");
    set_refuses("ops", "mean,", "mean, std, min");
    set_refuses("ops", "", "mean, std, min");
    set_refuses("mods", "1", "the options are modes, any, fast, path, files, type, ops");
    assert_int_equal(ek_options_set(NULL, NULL, "x", "1"), EK_EINVAL);
}

static void values_become_text(void **state)
{
    (void)state;
    const char *files[] = {"a.nc", "b.nc"};
    sample s = {.modes = 3, .path = "p", .files = files, .n_files = 2, .type = 2, .ops = 5};
    const char *expected[] = {"3", "0", "false", "p", "a.nc b.nc", "float32", "mean,min"};
    const char *described[] = {"an integer from 1 to 100; default 10",
                               "an integer",
                               "true or false; default false",
                               "text; required",
                               "texts",
                               "one of float64, float32; default float64",
                               "any of, joined by commas: mean, std, min; default mean,std"};
    char text[128];
    for (int i = 0; i < 7; i++) {
        ek_options_format(&table[i], &s, text, sizeof text);
        assert_string_equal(text, expected[i]);
        ek_option_describe(&table[i], text, sizeof text);
        assert_string_equal(text, described[i]);
    }
    ek_options_format(&table[4], &s, text, 6);
    assert_string_equal(text, "a.nc ");
    ek_option_describe(&table[0], text, 1);
    assert_string_equal(text, "");
}

static void no_failure_leaks(void **state)
{
    (void)state;
    const char *files[] = {"a.nc", "b.nc", "c.nc"};
    sample from = {.path = "out.nc", .files = files, .n_files = 3};
    int64_t before = ek_alloc_live();
    ek_status rc = EK_ENOMEM;
    for (int n = 1; rc != EK_OK; n++) {
        sample to = {0};
        ek_alloc_fail_at(n);
        rc = ek_options_copy(table, &to, &from);
        ek_alloc_fail_at(0);
        assert_true(rc == EK_OK || rc == EK_ENOMEM);
        ek_options_free(table, &to);
        assert_int_equal(ek_alloc_live(), before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_means_default),     cmocka_unit_test(given_values_are_copied),
        cmocka_unit_test(bad_values_are_refused), cmocka_unit_test(text_is_parsed),
        cmocka_unit_test(bad_text_is_refused),    cmocka_unit_test(values_become_text),
        cmocka_unit_test(no_failure_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
