/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding and encoding of CF times, in exact integer arithmetic. */
#include "stages/load/cftime.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_US INT64_C(1000000)
#define MINUTE_US (60 * SECOND_US)
#define HOUR_US   (60 * MINUTE_US)
#define DAY_US    (24 * HOUR_US)

static int64_t parse_unit(const char *text, size_t length)
{
    static const struct {
        const char *name;
        int64_t us;
    } units[] = {
        {"microsecond", 1},
        {"microseconds", 1},
        {"microsec", 1},
        {"microsecs", 1},
        {"us", 1},
        {"millisecond", 1000},
        {"milliseconds", 1000},
        {"millisec", 1000},
        {"millisecs", 1000},
        {"msec", 1000},
        {"msecs", 1000},
        {"ms", 1000},
        {"second", SECOND_US},
        {"seconds", SECOND_US},
        {"sec", SECOND_US},
        {"secs", SECOND_US},
        {"s", SECOND_US},
        {"minute", MINUTE_US},
        {"minutes", MINUTE_US},
        {"min", MINUTE_US},
        {"mins", MINUTE_US},
        {"hour", HOUR_US},
        {"hours", HOUR_US},
        {"hr", HOUR_US},
        {"hrs", HOUR_US},
        {"h", HOUR_US},
        {"day", DAY_US},
        {"days", DAY_US},
        {"d", DAY_US},
        {"week", 7 * DAY_US},
        {"weeks", 7 * DAY_US},
    };
    for (size_t i = 0; i < EK_COUNT(units); i++) {
        if (strlen(units[i].name) == length && strncasecmp(text, units[i].name, length) == 0) {
            return units[i].us;
        }
    }
    return 0;
}

static const char *skip_blanks(const char *text)
{
    while (isspace((unsigned char)*text)) {
        text++;
    }
    return text;
}

/* Reads 1 to `most` digits; returns NULL if there are none or more. */
static const char *parse_digits(const char *text, int most, int64_t *out)
{
    int n = 0;
    *out = 0;
    while (isdigit((unsigned char)text[n]) && n <= most) {
        *out = *out * 10 + (text[n] - '0');
        n++;
    }
    return n >= 1 && n <= most ? text + n : NULL;
}

static const char *parse_date(const char *text, ek__date *out)
{
    int64_t sign = *text == '-' ? -1 : 1;
    text += *text == '-' || *text == '+' ? 1 : 0;
    int64_t part[3] = {0};
    for (int i = 0; i < 3; i++) {
        if (i > 0 && *text++ != '-') {
            return NULL;
        }
        text = parse_digits(text, i == 0 ? 6 : 2, &part[i]);
        if (text == NULL) {
            return NULL;
        }
    }
    *out = (ek__date){.year = sign * part[0], .month = (int)part[1], .day = (int)part[2]};
    return text;
}

/* Reads H[:M[:S[.fraction]]]. */
static const char *parse_clock(const char *text, int64_t *out_us)
{
    static const int64_t scale[] = {HOUR_US, MINUTE_US, SECOND_US};
    static const int64_t most[] = {23, 59, 59};
    *out_us = 0;
    for (int i = 0; i < 3; i++) {
        int64_t value = 0;
        text = parse_digits(text, 2, &value);
        if (text == NULL || value > most[i]) {
            return NULL;
        }
        *out_us += value * scale[i];
        if (i < 2 && *text != ':') {
            return text;
        }
        text += i < 2 ? 1 : 0;
    }
    if (*text == '.') {
        text++;
        for (int64_t us = SECOND_US / 10; isdigit((unsigned char)*text); us /= 10) {
            *out_us += (*text++ - '0') * us;
        }
    }
    return text;
}

/* Reads Z, UTC, GMT, or an offset of +H, +HH, +HMM, +HHMM, +H:MM or +HH:MM. */
static const char *parse_zone(const char *text, int64_t *out_us)
{
    *out_us = 0;
    if (strncasecmp(text, "UTC", 3) == 0 || strncasecmp(text, "GMT", 3) == 0) {
        return text + 3;
    }
    if (*text == 'Z' || *text == 'z') {
        return text + 1;
    }
    if (*text != '+' && *text != '-') {
        return text;
    }
    int64_t sign = *text++ == '-' ? -1 : 1;
    int64_t hours = 0;
    int64_t minutes = 0;
    const char *end = parse_digits(text, 4, &hours);
    if (end != NULL && *end == ':') {
        end = parse_digits(end + 1, 2, &minutes);
    } else if (end != NULL && end - text > 2) {
        minutes = hours % 100;
        hours /= 100;
    }
    if (end == NULL || hours > 23 || minutes > 59) {
        return NULL;
    }
    *out_us = sign * (hours * HOUR_US + minutes * MINUTE_US);
    return end;
}

/* Reads what follows "since" into the instant of the reference date. */
static ek_status parse_reference(const char *text, const char *units, ek__cftime *out)
{
    ek__date d = {0};
    int64_t clock_us = 0;
    int64_t zone_us = 0;
    const char *at = parse_date(text, &d);
    if (at != NULL && (isspace((unsigned char)*at) || *at == 'T' || *at == 't')) {
        at = *at == 'T' || *at == 't' ? at + 1 : skip_blanks(at);
        at = isdigit((unsigned char)*at) ? parse_clock(at, &clock_us) : at;
    }
    if (at != NULL) {
        at = parse_zone(skip_blanks(at), &zone_us);
    }
    if (at == NULL || *skip_blanks(at) != '\0') {
        return EK_FAIL(EK_EDATA,
                       "the reference date of the time units \"%s\" is not of the form "
                       "YEAR-MONTH-DAY [HOUR:MINUTE:SECOND]",
                       units);
    }
    if (!ek__date_is_valid(out->calendar, d)) {
        return EK_FAIL(EK_EDATA,
                       "the reference date of the time units \"%s\" does not exist in the %s "
                       "calendar",
                       units, ek__calendar_name(out->calendar));
    }
    out->origin_us = ek__date_to_day(out->calendar, d) * DAY_US + clock_us - zone_us;
    return EK_OK;
}

ek_status ek__cftime_parse(const char *units, const char *calendar, ek__cftime *out)
{
    *out = (ek__cftime){0};
    EK_TRY(ek__calendar_parse(calendar, &out->calendar));
    const char *unit = skip_blanks(units);
    size_t length = strcspn(unit, " \t");
    const char *since = skip_blanks(unit + length);
    if (strncasecmp(since, "since", 5) != 0 || !isspace((unsigned char)since[5])) {
        return EK_FAIL(EK_EDATA, "the time units \"%s\" are not of the form \"UNIT since DATE\"",
                       units);
    }
    out->unit_us = parse_unit(unit, length);
    if (out->unit_us == 0) {
        return EK_FAIL(EK_EDATA,
                       "the unit of the time units \"%s\" has no fixed length (it must be seconds, "
                       "minutes, hours, days or weeks)",
                       units);
    }
    return parse_reference(skip_blanks(since + 5), units, out);
}

/* Moves an instant to the next whole second if that is closer than the value's last digit can tell:
 * an hour is no exact number of days. */
static int64_t snap_to_second(int64_t instant_us, double value, int64_t unit_us)
{
    double digit = nextafter(fabs(value), INFINITY) - fabs(value);
    int64_t tolerance_us = (int64_t)ceil(digit * (double)unit_us);
    int64_t nearest_us = ek__floor_div(instant_us + SECOND_US / 2, SECOND_US) * SECOND_US;
    return llabs(nearest_us - instant_us) <= tolerance_us ? nearest_us : instant_us;
}

ek_status ek__cftime_decode(const ek__cftime *time, double value, int64_t *instant_us)
{
    double whole = floor(value);
    double limit = (double)INT64_MAX / 4.0 / (double)time->unit_us;
    if (!isfinite(value) || fabs(whole) > limit) {
        return EK_FAIL(EK_EDATA, "the time %g is missing or out of range", value);
    }
    /* The whole units are exact; only the fraction is rounded. */
    int64_t whole_us = time->origin_us + (int64_t)whole * time->unit_us;
    int64_t fraction_us = llround((value - whole) * (double)time->unit_us);
    *instant_us =
        fraction_us == 0 ? whole_us : snap_to_second(whole_us + fraction_us, value, time->unit_us);
    return EK_OK;
}

double ek__cftime_encode(const ek__cftime *time, int64_t instant_us)
{
    int64_t elapsed_us = instant_us - time->origin_us;
    int64_t whole = elapsed_us / time->unit_us;
    int64_t rest_us = elapsed_us % time->unit_us;
    return (double)whole + (double)rest_us / (double)time->unit_us;
}

void ek__cftime_format(const ek__cftime *time, int64_t instant_us, char *out, size_t size)
{
    int64_t instant = ek__floor_div(instant_us + SECOND_US / 2, SECOND_US);
    int64_t day = ek__floor_div(instant, DAY_US / SECOND_US);
    ek__date d = ek__date_from_day(time->calendar, day);
    int seconds = (int)(instant - day * (DAY_US / SECOND_US));
    int used =
        snprintf(out, size, "%s%04lld-%02d-%02d %02d:%02d", d.year < 0 ? "-" : "",
                 (long long)llabs(d.year), d.month, d.day, seconds / 3600, seconds / 60 % 60);
    if (seconds % 60 != 0 && used > 0 && (size_t)used < size) {
        snprintf(out + used, size - (size_t)used, ":%02d", seconds % 60);
    }
}
