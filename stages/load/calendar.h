/* SPDX-License-Identifier: Apache-2.0 */
/* The calendars of the CF conventions. Each has a day count of its own; the three of the real world
 * share one, days since 1970-01-01. Years are numbered astronomically: year 0 is the one before
 * year 1. */
#ifndef EK_STAGES_LOAD_CALENDAR_H
#define EK_STAGES_LOAD_CALENDAR_H

#include "core/status.h"

EK_BEGIN_DECLS

typedef enum ek__calendar {
    EK_CALENDAR_STANDARD, /* Julian before 1582-10-15, Gregorian from then on */
    EK_CALENDAR_PROLEPTIC,
    EK_CALENDAR_JULIAN,
    EK_CALENDAR_NOLEAP,
    EK_CALENDAR_ALL_LEAP,
    EK_CALENDAR_360_DAY
} ek__calendar;

typedef struct ek__date {
    int64_t year;
    int month, day; /* from 1 */
} ek__date;

/* ek__calendar_parse finds a calendar by its CF name; NULL or "" is the standard one. */
ek_status ek__calendar_parse(const char *text, ek__calendar *out);

/* ek__calendar_name returns the CF name. */
const char *ek__calendar_name(ek__calendar calendar);

/* ek__calendar_comparable says whether days of the two calendars are on one count. */
bool ek__calendar_comparable(ek__calendar a, ek__calendar b);

/* ek__date_to_day and ek__date_from_day convert between a valid date and its day number. */
int64_t ek__date_to_day(ek__calendar calendar, ek__date d);
ek__date ek__date_from_day(ek__calendar calendar, int64_t day);

/* ek__date_is_valid says whether the calendar has this date. */
bool ek__date_is_valid(ek__calendar calendar, ek__date d);

/* ek__floor_div divides towards minus infinity. */
static inline int64_t ek__floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

EK_END_DECLS

#endif /* EK_STAGES_LOAD_CALENDAR_H */
