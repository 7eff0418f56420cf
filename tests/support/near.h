/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing floating-point arrays. Also brings cmocka in with the headers it needs before it. */
#ifndef EK_TESTS_SUPPORT_NEAR_H
#define EK_TESTS_SUPPORT_NEAR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* ek_assert_near fails the test if any of n values is farther from the expected one than atol +
 * rtol * |expected|, naming the worst index. NaN is near NaN only, and an infinity only itself. */
#define ek_assert_near(actual, expected, n, rtol, atol)                                            \
    ek__assert_near((actual), (expected), (n), (rtol), (atol), __FILE__, __LINE__)

void ek__assert_near(const double *actual, const double *expected, int64_t n, double rtol,
                     double atol, const char *file, int line);

/* ek_assert_near1 compares two numbers. */
#define ek_assert_near1(actual, expected, rtol, atol)                                              \
    ek__assert_near(&(double){(actual)}, &(double){(expected)}, 1, (rtol), (atol), __FILE__,       \
                    __LINE__)

/* ek_nmse returns sum((actual - expected)^2) / sum(expected^2), 0 / 0 being 0. */
double ek_nmse(const double *actual, const double *expected, int64_t n);

/* ek_assert_ok fails the test with the last error's message if the status is not EK_OK. */
#define ek_assert_ok(expr) ek__assert_ok((int)(expr), #expr, __FILE__, __LINE__)

void ek__assert_ok(int status, const char *call, const char *file, int line);

/* ek_assert_message fails the test unless the last error's message holds `part`. */
#define ek_assert_message(part) ek__assert_message((part), __FILE__, __LINE__)

void ek__assert_message(const char *part, const char *file, int line);

#endif /* EK_TESTS_SUPPORT_NEAR_H */
