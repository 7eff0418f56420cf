/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: what is recorded, how it is passed on, and that threads do not see each other's. */
#include "tests/support/near.h"

#include "core/status.h"

#include <pthread.h>
#include <string.h>

static void names_and_texts(void **state)
{
    (void)state;
    assert_string_equal(ek_status_name(EK_OK), "EK_OK");
    assert_string_equal(ek_status_name(EK_EINVAL), "EK_EINVAL");
    assert_string_equal(ek_status_text(EK_ENOMEM), "out of memory");
    assert_string_equal(ek_status_name((ek_status)12345), "EK_UNKNOWN");
    assert_string_equal(ek_status_text((ek_status)12345), "unknown status");
}

static void record_keeps_detail(void **state)
{
    (void)state;
    assert_int_equal(EK_FAIL_CODE(EK_EIO, 28, "No room for %s.", "a.nc"), EK_EIO);
    const ek_error *error = ek_error_last();
    assert_int_equal(error->status, EK_EIO);
    assert_int_equal(error->foreign_code, 28);
    assert_string_equal(error->file, "status_test.c");
    assert_true(error->line > 0);
    assert_string_equal(error->message, "No room for a.nc.");
    ek_error_clear();
    assert_int_equal(ek_error_last()->status, EK_OK);
    assert_string_equal(ek_error_last()->message, "");
}

static void record_may_quote_the_last_error(void **state)
{
    (void)state;
    EK_FAIL(EK_EIO, "The disk is full.");
    EK_FAIL(EK_EDATA, "Giving up. %s", ek_error_last()->message);
    assert_string_equal(ek_error_last()->message, "Giving up. The disk is full.");
}

static void prefix_goes_in_front(void **state)
{
    (void)state;
    EK_FAIL(EK_EDATA, "All missing.");
    assert_int_equal(ek_error_prefix("%s, chunk %d", "svd", 3), EK_EDATA);
    assert_string_equal(ek_error_last()->message, "svd, chunk 3: All missing.");
}

static void long_texts_are_cut(void **state)
{
    (void)state;
    char text[3 * EK_ERROR_MESSAGE_MAX];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    EK_FAIL(EK_EDATA, "%s", text);
    const char *message = ek_error_last()->message;
    assert_int_equal(strlen(message), EK_ERROR_MESSAGE_MAX - 1);
    assert_string_equal(message + EK_ERROR_MESSAGE_MAX - 4, "...");

    ek_error_prefix("front");
    assert_int_equal(strlen(message), EK_ERROR_MESSAGE_MAX - 1);
    assert_memory_equal(message, "front: xxx", 10);
    ek_error_prefix("%s", text);
    assert_int_equal(strlen(message), EK_ERROR_MESSAGE_MAX - 1);

    /* A text that fits exactly is left whole. */
    text[EK_ERROR_MESSAGE_MAX - 1 - 3] = '\0';
    EK_FAIL(EK_EDATA, "%s", text);
    ek_error_prefix("p");
    assert_int_equal(strlen(message), EK_ERROR_MESSAGE_MAX - 1);
    assert_int_equal(message[EK_ERROR_MESSAGE_MAX - 2], 'x');
}

static void *fail_elsewhere(void *user)
{
    EK_FAIL(EK_ENETCDF, "Only here.");
    *(ek_error *)user = *ek_error_last();
    return NULL;
}

static void threads_have_their_own(void **state)
{
    (void)state;
    ek_error_clear();
    ek_error other;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, &other), 0);
    pthread_join(thread, NULL);
    assert_int_equal(ek_error_last()->status, EK_OK);
    assert_int_equal(ek_error_set(&other), EK_ENETCDF);
    assert_string_equal(ek_error_last()->message, "Only here.");
    assert_int_equal(ek_error_set(ek_error_last()), EK_ENETCDF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_texts),
        cmocka_unit_test(record_keeps_detail),
        cmocka_unit_test(record_may_quote_the_last_error),
        cmocka_unit_test(prefix_goes_in_front),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(threads_have_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
