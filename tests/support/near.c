/* SPDX-License-Identifier: Apache-2.0 */
/* Assertions for floating-point arrays and for statuses. */
#include "tests/support/near.h"

#include "core/status.h"

#include <math.h>
#include <string.h>

/* How far outside the tolerance: at most 1 is near. */
static double excess(double actual, double expected, double rtol, double atol)
{
    if (isnan(actual) || isnan(expected)) {
        return isnan(actual) && isnan(expected) ? 0 : INFINITY;
    }
    if (actual == expected) {
        return 0;
    }
    if (isinf(actual) || isinf(expected)) {
        return INFINITY;
    }
    double tolerance = atol + rtol * fabs(expected);
    double error = fabs(actual - expected);
    return tolerance > 0 ? error / tolerance : INFINITY;
}

void ek__assert_near(const double *actual, const double *expected, int64_t n, double rtol,
                     double atol, const char *file, int line)
{
    int64_t worst = -1, bad = 0;
    double worst_excess = 1;
    for (int64_t i = 0; i < n; i++) {
        double e = excess(actual[i], expected[i], rtol, atol);
        if (e > 1) {
            bad++;
        }
        if (e > worst_excess) {
            worst_excess = e;
            worst = i;
        }
    }
    if (worst >= 0) {
        print_error("%lld of %lld values differ; worst at %lld: %.17g, expected %.17g "
                    "(rtol %g, atol %g)\n",
                    (long long)bad, (long long)n, (long long)worst, actual[worst], expected[worst],
                    rtol, atol);
        _fail(file, line);
    }
}

double ek_nmse(const double *actual, const double *expected, int64_t n)
{
    double error = 0, norm = 0;
    for (int64_t i = 0; i < n; i++) {
        error += (actual[i] - expected[i]) * (actual[i] - expected[i]);
        norm += expected[i] * expected[i];
    }
    return error == 0 ? 0 : error / norm;
}

void ek__assert_ok(int status, const char *call, const char *file, int line)
{
    if (status != EK_OK) {
        print_error("%s: %s: %s\n", call, ek_status_name((ek_status)status),
                    ek_error_last()->message);
        _fail(file, line);
    }
}

void ek__assert_message(const char *part, const char *file, int line)
{
    if (strstr(ek_error_last()->message, part) == NULL) {
        print_error("\"%s\" is not in the error \"%s\"\n", part, ek_error_last()->message);
        _fail(file, line);
    }
}
