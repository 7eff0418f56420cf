/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two fields lie on the same grid and have the same time steps, and where they first differ
 * if not. */
#include "core/field.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PLACE_TOLERANCE 1e-6 /* float32 and float64 copies of one coordinate are the same place */

static const char *or_none(const char *text)
{
    return text != NULL ? text : "none";
}

bool ek_field_times_differ(const ek_field *a, const ek_field *b, char *text, size_t size)
{
    const ek_time_axis *x = &a->time, *y = &b->time;
    if (a->n_time != b->n_time) {
        snprintf(text, size, "one has %" PRId64 " steps, the other %" PRId64, a->n_time, b->n_time);
        return true;
    }
    if (x->values == NULL || y->values == NULL) {
        return false; /* steps are only counted */
    }
    if (x->has_values != y->has_values) {
        snprintf(text, size, "one has a time coordinate, the other only counts its steps");
        return true;
    }
    if (strcmp(or_none(x->units), or_none(y->units)) != 0) {
        snprintf(text, size, "their units are '%s' and '%s'", or_none(x->units), or_none(y->units));
        return true;
    }
    if (strcmp(or_none(x->calendar), or_none(y->calendar)) != 0) {
        snprintf(text, size, "their calendars are '%s' and '%s'", or_none(x->calendar),
                 or_none(y->calendar));
        return true;
    }
    for (int64_t i = 0; i < a->n_time; i++) {
        if (x->values[i] != y->values[i]) {
            snprintf(text, size, "step %" PRId64 " is at %.15g and %.15g %s", i, x->values[i],
                     y->values[i], or_none(x->units));
            return true;
        }
    }
    return false;
}

static const ek_coord *find_coord(const ek_field *field, const char *name)
{
    for (int i = 0; i < field->n_coords; i++) {
        if (strcmp(field->coords[i].name, name) == 0) {
            return &field->coords[i];
        }
    }
    return NULL;
}

static bool coords_differ(const ek_coord *a, const ek_coord *b, char *text, size_t size)
{
    if (a->values == NULL || b->values == NULL) {
        return false;
    }
    if (a->n_values != b->n_values) {
        snprintf(text, size, "'%s' has %" PRId64 " values and %" PRId64, a->name, a->n_values,
                 b->n_values);
        return true;
    }
    for (int64_t i = 0; i < a->n_values; i++) {
        double x = a->values[i], y = b->values[i];
        bool same = (isnan(x) && isnan(y)) ||
                    fabs(x - y) <= PLACE_TOLERANCE * fmax(1, fmax(fabs(x), fabs(y)));
        if (!same) {
            snprintf(text, size, "value %" PRId64 " of '%s' is %.9g and %.9g", i, a->name, x, y);
            return true;
        }
    }
    return false;
}

bool ek_field_grids_differ(const ek_field *a, const ek_field *b, char *text, size_t size)
{
    if (a->n_dims != b->n_dims) {
        snprintf(text, size, "one has %d dimensions besides time, the other %d", a->n_dims,
                 b->n_dims);
        return true;
    }
    for (int i = 0; i < a->n_dims; i++) {
        if (a->dims[i].size != b->dims[i].size) {
            snprintf(text, size, "'%s' has %" PRId64 " points, '%s' has %" PRId64, a->dims[i].name,
                     a->dims[i].size, b->dims[i].name, b->dims[i].size);
            return true;
        }
    }
    for (int i = 0; i < a->n_coords; i++) {
        const ek_coord *other = find_coord(b, a->coords[i].name);
        if (other != NULL && coords_differ(&a->coords[i], other, text, size)) {
            return true;
        }
    }
    return false;
}
