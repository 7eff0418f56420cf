/* SPDX-License-Identifier: Apache-2.0 */
/* Dates and day numbers of the CF calendars.
 *
 * The day numbers of the Gregorian and Julian calendars count a year from March, so that the leap
 * day comes last: day of year = (153 * month' + 2) / 5 + day - 1, month' = 0 for March. */
#include "stages/load/calendar.h"

#include <stdlib.h>
#include <string.h>

#define YEARS_MAX  200000    /* keeps every instant in microseconds far inside int64 */
#define SWITCH_DAY (-141427) /* 1582-10-15 Gregorian, the day after 1582-10-04 Julian */

static int64_t march_day(int month, int day)
{
    return (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
}

static int64_t gregorian_to_day(ek__date d)
{
    int64_t year = d.year - (d.month <= 2 ? 1 : 0);
    int64_t leaps = ek__floor_div(year, 4) - ek__floor_div(year, 100) + ek__floor_div(year, 400);
    return 365 * year + leaps + march_day(d.month, d.day) - 719468;
}

static int64_t julian_to_day(ek__date d)
{
    int64_t year = d.year - (d.month <= 2 ? 1 : 0);
    return 365 * year + ek__floor_div(year, 4) + march_day(d.month, d.day) - 719470;
}

/* From a year counted from March and a day in it. */
static ek__date march_date(int64_t year, int64_t day_of_year)
{
    int64_t month = (5 * day_of_year + 2) / 153;
    ek__date d = {.year = year + (month >= 10 ? 1 : 0),
                  .month = (int)(month < 10 ? month + 3 : month - 9),
                  .day = (int)(day_of_year - (153 * month + 2) / 5 + 1)};
    return d;
}

static ek__date gregorian_from_day(int64_t day)
{
    int64_t shifted = day + 719468;
    int64_t era = ek__floor_div(shifted, 146097);
    int64_t in_era = shifted - era * 146097;
    int64_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    return march_date(year + era * 400, in_era - (365 * year + year / 4 - year / 100));
}

static ek__date julian_from_day(int64_t day)
{
    int64_t shifted = day + 719470;
    int64_t era = ek__floor_div(shifted, 1461);
    int64_t in_era = shifted - era * 1461;
    int64_t year = (in_era - in_era / 1460) / 365;
    return march_date(year + era * 4, in_era - 365 * year);
}

static const int month_start[2][13] = {
    {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365},
    {0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366}};

static ek__date fixed_from_day(int64_t day, int leap)
{
    int64_t length = 365 + leap;
    int64_t year = ek__floor_div(day, length);
    int64_t in_year = day - year * length;
    int month = 1;
    while (month_start[leap][month] <= in_year) {
        month++;
    }
    ek__date d = {
        .year = year, .month = month, .day = (int)in_year - month_start[leap][month - 1] + 1};
    return d;
}

int64_t ek__date_to_day(ek__calendar calendar, ek__date d)
{
    switch (calendar) {
    case EK_CALENDAR_PROLEPTIC:
        return gregorian_to_day(d);
    case EK_CALENDAR_JULIAN:
        return julian_to_day(d);
    case EK_CALENDAR_NOLEAP:
        return 365 * d.year + month_start[0][d.month - 1] + d.day - 1;
    case EK_CALENDAR_ALL_LEAP:
        return 366 * d.year + month_start[1][d.month - 1] + d.day - 1;
    case EK_CALENDAR_360_DAY:
        return 360 * d.year + 30 * (d.month - 1) + d.day - 1;
    default: {
        int64_t day = gregorian_to_day(d);
        return day >= SWITCH_DAY ? day : julian_to_day(d);
    }
    }
}

ek__date ek__date_from_day(ek__calendar calendar, int64_t day)
{
    switch (calendar) {
    case EK_CALENDAR_PROLEPTIC:
        return gregorian_from_day(day);
    case EK_CALENDAR_JULIAN:
        return julian_from_day(day);
    case EK_CALENDAR_NOLEAP:
        return fixed_from_day(day, 0);
    case EK_CALENDAR_ALL_LEAP:
        return fixed_from_day(day, 1);
    case EK_CALENDAR_360_DAY: {
        int64_t year = ek__floor_div(day, 360);
        int in_year = (int)(day - year * 360);
        ek__date d = {.year = year, .month = in_year / 30 + 1, .day = in_year % 30 + 1};
        return d;
    }
    default:
        return day >= SWITCH_DAY ? gregorian_from_day(day) : julian_from_day(day);
    }
}

/* A date is valid if it survives the way to a day number and back. */
bool ek__date_is_valid(ek__calendar calendar, ek__date d)
{
    if (d.month < 1 || d.month > 12 || d.day < 1 || d.day > 31 || llabs(d.year) > YEARS_MAX) {
        return false;
    }
    ek__date back = ek__date_from_day(calendar, ek__date_to_day(calendar, d));
    return back.year == d.year && back.month == d.month && back.day == d.day;
}

static const struct {
    const char *name;
    ek__calendar calendar;
} calendars[] = {
    {"standard", EK_CALENDAR_STANDARD},  {"proleptic_gregorian", EK_CALENDAR_PROLEPTIC},
    {"julian", EK_CALENDAR_JULIAN},      {"noleap", EK_CALENDAR_NOLEAP},
    {"all_leap", EK_CALENDAR_ALL_LEAP},  {"360_day", EK_CALENDAR_360_DAY},
    {"gregorian", EK_CALENDAR_STANDARD}, {"365_day", EK_CALENDAR_NOLEAP},
    {"366_day", EK_CALENDAR_ALL_LEAP},
};

const char *ek__calendar_name(ek__calendar calendar)
{
    return calendars[calendar].name;
}

bool ek__calendar_comparable(ek__calendar a, ek__calendar b)
{
    return a == b || (a <= EK_CALENDAR_JULIAN && b <= EK_CALENDAR_JULIAN);
}

ek_status ek__calendar_parse(const char *text, ek__calendar *out)
{
    *out = EK_CALENDAR_STANDARD;
    if (text == NULL || text[0] == '\0') {
        return EK_OK;
    }
    for (size_t i = 0; i < EK_COUNT(calendars); i++) {
        if (strcasecmp(text, calendars[i].name) == 0) {
            *out = calendars[i].calendar;
            return EK_OK;
        }
    }
    return EK_FAIL(EK_EDATA, "the calendar \"%s\" is not one of the CF conventions", text);
}
