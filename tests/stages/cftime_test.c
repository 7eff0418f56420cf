/* SPDX-License-Identifier: Apache-2.0 */
/* CF times: known dates of every calendar (made with the Python package cftime), exactness of
 * rebasing, and what cannot be decoded. */
#include "tests/support/near.h"

#include "stages/load/cftime.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *units, *calendar;
    double value;
    const char *date;
} known[] = {
    {"hours since 1-1-1 00:00:0.0", "gregorian", 17067420.0, "1948-01-15 12:00"},
    {"hours since 1-1-1 00:00:0.0", "gregorian", 17628444.0, "2012-01-15 12:00"},
    {"hours since 1-1-1 00:00:0.0", "gregorian", 0.0, "0001-01-01 00:00"},
    {"days since 1800-01-01", "standard", 0.0, "1800-01-01 00:00"},
    {"days since 1800-01-01", "standard", -657073.0, "0001-01-01 00:00"},
    {"days since 1800-01-01", "standard", -79548.0, "1582-03-07 00:00"},
    {"days since 1800-01-01", "standard", -79623.0, "1581-12-22 00:00"},
    {"days since 1800-01-01", "standard", 52961.25, "1945-01-02 06:00"},
    {"days since 1582-10-04", "standard", 0.0, "1582-10-04 00:00"},
    {"days since 1582-10-04", "standard", 1.0, "1582-10-15 00:00"},
    {"days since 1582-10-04", "proleptic_gregorian", 0.0, "1582-10-04 00:00"},
    {"days since 1582-10-04", "proleptic_gregorian", 1.0, "1582-10-05 00:00"},
    {"days since 1582-10-04", "proleptic_gregorian", 11.0, "1582-10-15 00:00"},
    {"days since 1582-10-04", "julian", 0.0, "1582-10-04 00:00"},
    {"days since 1582-10-04", "julian", 1.0, "1582-10-05 00:00"},
    {"days since 1582-10-04", "julian", 11.0, "1582-10-15 00:00"},
    {"days since 1900-02-28", "julian", 1.0, "1900-02-29 00:00"},
    {"days since 1900-02-28", "julian", 2.0, "1900-03-01 00:00"},
    {"days since 1900-02-28", "gregorian", 1.0, "1900-03-01 00:00"},
    {"days since 2000-02-28", "Proleptic_Gregorian", 1.0, "2000-02-29 00:00"},
    {"days since 2000-02-28", "Proleptic_Gregorian", 2.0, "2000-03-01 00:00"},
    {"days since 2000-02-28", "Proleptic_Gregorian", -800000.0, "-0191-11-01 00:00"},
    {"seconds since 1970-01-01T00:00:00Z", "GREGORIAN", -694310400.0, "1948-01-01 00:00"},
    {"seconds since 1970-01-01T00:00:00Z", "GREGORIAN", 1748736000.0, "2025-06-01 00:00"},
    {"seconds since 1970-01-01T00:00:00Z", "GREGORIAN", 1000000000.0, "2001-09-09 01:46:40"},
    {"minutes since 1999-12-31 23:59:30", "standard", 0.5, "2000-01-01 00:00"},
    {"minutes since 1999-12-31 23:59:30", "standard", -1.0, "1999-12-31 23:58:30"},
    {"hours since 1900-01-01 00:00:00.0", "gregorian", 692496.0, "1979-01-01 00:00"},
    {"hours since 1900-01-01 00:00:00.0", "gregorian", 1071600.0, "2022-04-01 00:00"},
    {"days since 2000-02-28", "noleap", 0.0, "2000-02-28 00:00"},
    {"days since 2000-02-28", "noleap", 1.0, "2000-03-01 00:00"},
    {"days since 2000-02-28", "noleap", 306.0, "2000-12-31 00:00"},
    {"days since 2000-02-28", "noleap", -59.0, "1999-12-31 00:00"},
    {"days since 2000-02-28", "noleap", -365000.0, "1000-02-28 00:00"},
    {"days since 0001-01-01", "365_day", 0.0, "0001-01-01 00:00"},
    {"days since 0001-01-01", "365_day", 730000.75, "2001-01-01 18:00"},
    {"days since 2001-02-28", "all_leap", 1.0, "2001-02-29 00:00"},
    {"days since 2001-02-28", "all_leap", 2.0, "2001-03-01 00:00"},
    {"days since 2001-02-28", "all_leap", 366.0, "2002-02-28 00:00"},
    {"days since 2001-02-28", "366_day", -60.0, "2000-12-30 00:00"},
    {"hours since 1970-01-01 00:00:00", "360_day", -946800.0, "1860-06-01 00:00"},
    {"hours since 1970-01-01 00:00:00", "360_day", 1118160.0, "2099-06-01 00:00"},
    {"hours since 1970-01-01 00:00:00", "360_day", 0.0, "1970-01-01 00:00"},
    {"days since 2000-02-30", "360_day", 0.0, "2000-02-30 00:00"},
    {"days since 2000-02-30", "360_day", 1.0, "2000-03-01 00:00"},
    {"days since 2000-02-30", "360_day", -30.0, "2000-01-30 00:00"},
    {"hours since 2000-01-01 12:00 +06:00", "standard", 0.0, "2000-01-01 06:00"},
    {"milliseconds since 2000-01-01", "standard", 90061000.0, "2000-01-02 01:01:01"},
    {"microseconds since 2000-01-01", "standard", 3600000000.0, "2000-01-01 01:00"},
    {"seconds since 1992-10-8 15:15:42.25 -6:00", "standard", 0.0, "1992-10-08 21:15:42"},
    {"weeks since 2000-01-01", "standard", 2.0, "2000-01-15 00:00"},
    {"hour since 0000-01-01 00:00:00", "", 366.0, "0000-01-16 06:00"},
};

static void known_dates_are_decoded(void **state)
{
    (void)state;
    for (size_t i = 0; i < EK_COUNT(known); i++) {
        ek__cftime time;
        int64_t instant_us = 0;
        char text[EK_CFTIME_TEXT];
        ek_assert_ok(ek__cftime_parse(known[i].units, known[i].calendar, &time));
        ek_assert_ok(ek__cftime_decode(&time, known[i].value, &instant_us));
        ek__cftime_format(&time, instant_us, text, sizeof(text));
        assert_string_equal(text, known[i].date);
        assert_true(ek__cftime_encode(&time, instant_us) == known[i].value);
    }
}

static const char *const calendar_names[] = {
    "standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"};

/* Every day over 800 years is one step after the day before, and dates never go back. */
static void days_follow_each_other(void **state)
{
    (void)state;
    for (size_t c = 0; c < EK_COUNT(calendar_names); c++) {
        ek__cftime time;
        ek_assert_ok(ek__cftime_parse("days since 1400-01-01", calendar_names[c], &time));
        char before[EK_CFTIME_TEXT] = "";
        for (int day = 0; day < 292000; day++) {
            int64_t instant_us = 0;
            char date[EK_CFTIME_TEXT];
            ek_assert_ok(ek__cftime_decode(&time, day, &instant_us));
            ek__cftime_format(&time, instant_us, date, sizeof(date));
            assert_true(strcmp(before, date) < 0);
            strcpy(before, date);
        }
    }
}

/* A date that a day number gives is read back as the reference date of that day. */
static void dates_and_day_numbers_agree(void **state)
{
    (void)state;
    for (size_t c = 0; c < EK_COUNT(calendar_names); c++) {
        ek__cftime time;
        ek_assert_ok(ek__cftime_parse("days since 0004-01-01", calendar_names[c], &time));
        for (int day = 0; day < 800000; day += 97) {
            int64_t instant_us = 0;
            char units[64] = "hours since ";
            ek__cftime other;
            ek_assert_ok(ek__cftime_decode(&time, day, &instant_us));
            ek__cftime_format(&time, instant_us, units + strlen(units), EK_CFTIME_TEXT);
            ek_assert_ok(ek__cftime_parse(units, calendar_names[c], &other));
            assert_true(other.origin_us == instant_us);
        }
    }
}

static void whole_hours_rebase_exactly(void **state)
{
    (void)state;
    ek__cftime days;
    ek__cftime hours;
    ek_assert_ok(ek__cftime_parse("days since 1-1-1", "standard", &days));
    ek_assert_ok(ek__cftime_parse("hours since 1900-01-01", "standard", &hours));
    for (int hour = -900000; hour < 2000000; hour += 1009) {
        int64_t instant_us = 0;
        ek_assert_ok(ek__cftime_decode(&hours, hour, &instant_us));
        double value = ek__cftime_encode(&days, instant_us);
        ek_assert_ok(ek__cftime_decode(&days, value, &instant_us));
        assert_true(ek__cftime_encode(&hours, instant_us) == hour);
    }
}

static void what_cannot_be_decoded_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *units, *calendar, *message;
    } bad[] = {
        {"months", NULL, "months"},
        {"days since 0", "gregorian", "days since 0"},
        {"days since 0000-00-00", "noleap", "does not exist in the noleap calendar"},
        {"hours from base_time", NULL, "hours from base_time"},
        {"months since 2000-01-01", NULL, "no fixed length"},
        {"days since 2000-01-01", "365_days", "365_days"},
        {"days since 1582-10-10", "standard", "does not exist"},
        {"days since 2001-02-29", "standard", "does not exist"},
        {"days since 2000-02-29", "noleap", "does not exist"},
        {"days since 2000-01-31", "360_day", "does not exist"},
        {"days since 2000-01-01 25:00", NULL, "not of the form"},
        {"days since 2000-01-01 00:00:00 EST", NULL, "not of the form"},
        {"days since yesterday", NULL, "not of the form"},
        {"since 2000-01-01", NULL, "not of the form"},
        {"", NULL, "not of the form"},
    };
    for (size_t i = 0; i < EK_COUNT(bad); i++) {
        ek__cftime time;
        assert_int_equal(ek__cftime_parse(bad[i].units, bad[i].calendar, &time), EK_EDATA);
        ek_assert_message(bad[i].message);
    }
}

static void values_out_of_range_are_refused(void **state)
{
    (void)state;
    ek__cftime time;
    int64_t instant_us = 0;
    ek_assert_ok(ek__cftime_parse("days since 2000-01-01", "standard", &time));
    assert_int_equal(ek__cftime_decode(&time, NAN, &instant_us), EK_EDATA);
    assert_int_equal(ek__cftime_decode(&time, INFINITY, &instant_us), EK_EDATA);
    assert_int_equal(ek__cftime_decode(&time, 9.969209968386869e36, &instant_us), EK_EDATA);
}

static void only_real_calendars_compare(void **state)
{
    (void)state;
    assert_true(ek__calendar_comparable(EK_CALENDAR_STANDARD, EK_CALENDAR_PROLEPTIC));
    assert_true(ek__calendar_comparable(EK_CALENDAR_360_DAY, EK_CALENDAR_360_DAY));
    assert_false(ek__calendar_comparable(EK_CALENDAR_STANDARD, EK_CALENDAR_NOLEAP));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_dates_are_decoded),
        cmocka_unit_test(days_follow_each_other),
        cmocka_unit_test(dates_and_day_numbers_agree),
        cmocka_unit_test(whole_hours_rebase_exactly),
        cmocka_unit_test(what_cannot_be_decoded_is_refused),
        cmocka_unit_test(values_out_of_range_are_refused),
        cmocka_unit_test(only_real_calendars_compare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
