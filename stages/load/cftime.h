/* SPDX-License-Identifier: Apache-2.0 */
/* Times of the CF conventions: numbers in units such as "hours since 1800-01-01" and one of the CF
 * calendars. A decoded time is an instant: whole microseconds on the calendar's own day count. The
 * three calendars of the real world share one count (days since 1970-01-01), so that their instants
 * compare. Years are numbered astronomically: year 0 is the one before year 1. */
#ifndef EK_STAGES_LOAD_CFTIME_H
#define EK_STAGES_LOAD_CFTIME_H

#include "stages/load/calendar.h"

EK_BEGIN_DECLS

typedef struct ek__cftime {
    ek__calendar calendar;
    int64_t unit_us;   /* microseconds in a unit */
    int64_t origin_us; /* instant of the reference date */
} ek__cftime;

#define EK_CFTIME_TEXT 32

/* ek__cftime_parse understands "UNIT since DATE [TIME] [ZONE]"; UNIT from microseconds to weeks.
 * `calendar` NULL or "" is the standard one. EK_EDATA says why the units cannot be decoded. */
ek_status ek__cftime_parse(const char *units, const char *calendar, ek__cftime *out);

/* ek__cftime_decode turns a value into an instant: rounded to a microsecond, or to a whole second
 * if the value is one as far as a double tells. EK_EDATA if the value is not finite or out of range
 * (about 70 000 years). */
ek_status ek__cftime_decode(const ek__cftime *time, double value, int64_t *instant_us);

/* ek__cftime_encode turns an instant into a value; exact where it is a whole number of units, or a
 * fraction that a double holds. */
double ek__cftime_encode(const ek__cftime *time, int64_t instant_us);

/* ek__cftime_format writes "1948-01-01 06:00", with seconds where there are any, rounded to them.
 */
void ek__cftime_format(const ek__cftime *time, int64_t instant_us, char *out, size_t size);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_CFTIME_H */
