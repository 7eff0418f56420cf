/* SPDX-License-Identifier: Apache-2.0 */
/* Several files along time: their order, and one time axis for all of them. */
#include "stages/load/dataset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAP_STEPS 1.5 /* more between two files than this many usual steps is worth a note */
#define GAP_NOTES 3   /* the rest is counted */

static int by_instant(const void *left, const void *right)
{
    const ek__member *a = left;
    const ek__member *b = right;
    int64_t first = ek__times_instant(&a->times, 0);
    int64_t second = ek__times_instant(&b->times, 0);
    return first < second ? -1 : first > second;
}

static int by_value(const void *left, const void *right)
{
    const ek__member *a = left;
    const ek__member *b = right;
    return a->times.values[0] < b->times.values[0] ? -1 : a->times.values[0] > b->times.values[0];
}

static bool all_decodable(const ek__dataset *d)
{
    bool all = true;
    for (int i = 0; i < d->n_members; i++) {
        all = all && d->members[i].times.decodable;
    }
    return all;
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

/* Refuses a member whose times cannot be compared with the first one's. */
static ek_status check_comparable(const ek__member *first, const ek__member *m, bool decodable)
{
    if (decodable &&
        !ek__calendar_comparable(first->times.clock.calendar, m->times.clock.calendar)) {
        return EK_FAIL(EK_EDATA, "%s has the calendar %s and %s the calendar %s; they do not join",
                       first->path, ek__calendar_name(first->times.clock.calendar), m->path,
                       ek__calendar_name(m->times.clock.calendar));
    }
    if (!decodable && (!same_text(first->times.units, m->times.units) ||
                       !same_text(first->times.calendar, m->times.calendar))) {
        return EK_FAIL(EK_EDATA,
                       "the times of %s (units \"%s\") and %s (units \"%s\") cannot be compared, "
                       "so the files cannot be put in order",
                       first->path, first->times.units, m->path, m->times.units);
    }
    return EK_OK;
}

static ek_status check_increasing(const ek__member *m)
{
    if (!m->times.has_values) {
        return EK_FAIL(EK_EDATA,
                       "%s has no time coordinate, so it cannot be put in order with other files; "
                       "load it alone",
                       m->path);
    }
    if (!m->times.increasing) {
        char text[2][96];
        ek__times_text(&m->times, m->times.disorder - 1, text[0], sizeof(text[0]));
        ek__times_text(&m->times, m->times.disorder, text[1], sizeof(text[1]));
        return EK_FAIL(EK_EDATA,
                       "%s: the times do not increase at step %lld (%s after %s); sort the file "
                       "before it is joined with others",
                       m->path, (long long)m->times.disorder, text[1], text[0]);
    }
    return EK_OK;
}

static ek_status check_overlap(const ek__member *a, const ek__member *b, bool decodable)
{
    int64_t last = a->n_rows - 1;
    bool apart = decodable ? ek__times_instant(&a->times, last) < ek__times_instant(&b->times, 0)
                           : a->times.values[last] < b->times.values[0];
    if (apart) {
        return EK_OK;
    }
    char text[2][96];
    ek__times_text(&a->times, last, text[0], sizeof(text[0]));
    ek__times_text(&b->times, 0, text[1], sizeof(text[1]));
    return EK_FAIL(EK_EDATA,
                   "%s and %s overlap in time: the first ends at %s, the second begins "
                   "at %s; leave one out or cut it",
                   a->path, b->path, text[0], text[1]);
}

ek_status ek__series_order(ek__dataset *d)
{
    if (d->n_members == 1) {
        return EK_OK;
    }
    bool decodable = all_decodable(d);
    for (int i = 0; i < d->n_members; i++) {
        EK_TRY(check_increasing(&d->members[i]));
        EK_TRY(check_comparable(&d->members[0], &d->members[i], decodable));
    }
    qsort(d->members, (size_t)d->n_members, sizeof(*d->members), decodable ? by_instant : by_value);
    for (int i = 1; i < d->n_members; i++) {
        EK_TRY(check_overlap(&d->members[i - 1], &d->members[i], decodable));
    }
    return EK_OK;
}

static bool same_clock(const ek__cftime *a, const ek__cftime *b)
{
    return a->calendar == b->calendar && a->unit_us == b->unit_us && a->origin_us == b->origin_us;
}

/* Copies a member's times into the field's axis, in the first file's units. */
static void copy_times(ek__dataset *d, const ek__member *m)
{
    const ek__times *first = &d->members[0].times;
    bool rebase =
        first->decodable && m->times.decodable && !same_clock(&first->clock, &m->times.clock);
    double *to = d->field->time.values + m->row0;
    for (int64_t i = 0; i < m->n_rows; i++) {
        to[i] = rebase ? ek__cftime_encode(&first->clock, ek__times_instant(&m->times, i))
                       : m->times.values[i];
    }
}

static ek_status copy_words(ek__dataset *d)
{
    ek_time_axis *axis = &d->field->time;
    const ek__member *last = &d->members[d->n_members - 1];
    ek__times *first = &d->members[0].times;
    axis->has_values = first->has_values;
    axis->units = ek_strdup(first->units);
    axis->calendar = ek_strdup(first->calendar);
    axis->long_name = ek_strdup(first->long_name);
    if (axis->units == NULL || (axis->calendar == NULL && first->calendar != NULL) ||
        (axis->long_name == NULL && first->long_name != NULL)) {
        return EK_ENOMEM;
    }
    if (first->decodable && last->times.decodable) {
        ek__times_text(first, 0, axis->first, sizeof(axis->first));
        ek__times_text(&last->times, last->n_rows - 1, axis->last, sizeof(axis->last));
    }
    return EK_OK;
}

static int by_number(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static ek_status usual_step(const ek_field *field, double *out)
{
    size_t n = (size_t)field->n_time - 1;
    double *steps = ek_alloc(n, sizeof(double));
    if (steps == NULL) {
        return EK_ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        steps[i] = field->time.values[i + 1] - field->time.values[i];
    }
    qsort(steps, n, sizeof(double), by_number);
    *out = steps[n / 2];
    ek_free(steps);
    return EK_OK;
}

/* Notes where time is missing between two files. */
static ek_status note_gaps(ek__dataset *d)
{
    double step = 0;
    EK_TRY(usual_step(d->field, &step));
    int n_gaps = 0;
    for (int i = 1; i < d->n_members; i++) {
        const ek__member *a = &d->members[i - 1];
        const ek__member *b = &d->members[i];
        double gap = d->field->time.values[b->row0] - d->field->time.values[b->row0 - 1];
        if (gap > GAP_STEPS * step && n_gaps++ < GAP_NOTES) {
            EK_TRY(ek_field_note(d->field, "time steps are missing between %s and %s", a->path,
                                 b->path));
        }
    }
    if (n_gaps > GAP_NOTES) {
        return ek_field_note(d->field, "time steps are missing between %d more pairs of files",
                             n_gaps - GAP_NOTES);
    }
    return EK_OK;
}

static ek_status note_single(ek__dataset *d)
{
    const ek__times *times = &d->members[0].times;
    if (!times->increasing) {
        return ek_field_note(d->field,
                             "the times do not increase at step %lld; the order of the file is "
                             "kept",
                             (long long)times->disorder);
    }
    return EK_OK;
}

ek_status ek__series_join(ek__dataset *d)
{
    ek_field *field = d->field;
    for (int i = 0; i < d->n_members; i++) {
        d->members[i].row0 = field->n_time;
        field->n_time += d->members[i].n_rows;
    }
    field->time.values = ek_alloc((size_t)field->n_time, sizeof(double));
    if (field->time.values == NULL) {
        return EK_ENOMEM;
    }
    for (int i = 0; i < d->n_members; i++) {
        copy_times(d, &d->members[i]);
    }
    EK_TRY(copy_words(d));
    EK_TRY(d->n_members == 1 ? note_single(d) : note_gaps(d));
    for (int i = 0; i < d->n_members; i++) {
        ek__times_free(&d->members[i].times); /* the field's axis has taken over */
    }
    return EK_OK;
}
