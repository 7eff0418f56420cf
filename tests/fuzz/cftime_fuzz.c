/* SPDX-License-Identifier: Apache-2.0 */
/* Time units and calendars. */
#include "tests/fuzz/fuzz.h"

#include "stages/load/cftime.h"

#include <math.h>
#include <string.h>

/* Decodes a value; what is decoded can be written and, where it is a whole number of units that a
 * double holds with ease, encoded again. */
static void check_value(const ek__cftime *time, double value)
{
    int64_t instant_us = 0;
    char text[EK_CFTIME_TEXT];
    if (ek__cftime_decode(time, value, &instant_us) != EK_OK) {
        return;
    }
    ek__cftime_format(time, instant_us, text, sizeof(text));
    FUZZ_REQUIRE(strlen(text) >= 16);
    double again = ek__cftime_encode(time, instant_us);
    FUZZ_REQUIRE(value != floor(value) || fabs(value) > 1e6 || again == value);
}

void fuzz_cftime(const uint8_t *data, size_t n)
{
    static const double values[] = {0,    1,    -1,   0.5,  365.25, -657073,  17628444, 1e9,
                                    -1e9, 1e12, 1e15, 1e18, -1e18,  INFINITY, NAN};
    char text[1024];
    size_t length = EK_MIN(n, sizeof(text) - 1);
    memcpy(text, data, length);
    text[length] = '\0';
    char *calendar = strchr(text, '\n');
    if (calendar != NULL) {
        *calendar++ = '\0';
    }
    ek__cftime time;
    ek_status rc = ek__cftime_parse(text, calendar, &time);
    FUZZ_REQUIRE(rc == EK_OK || rc == EK_EDATA);
    if (rc != EK_OK) {
        return;
    }
    FUZZ_REQUIRE(time.unit_us > 0);
    for (size_t i = 0; i < EK_COUNT(values); i++) {
        check_value(&time, values[i]);
    }
}
