/* SPDX-License-Identifier: Apache-2.0 */
/* The time axis of one file. */
#include "stages/load/times.h"

#include "stages/load/packing.h"

#include <stdio.h>
#include <string.h>

static ek_status count_steps(ek__times *out)
{
    out->values = ek_alloc((size_t)out->n, sizeof(double));
    out->units = ek_strdup("1");
    for (int64_t i = 0; out->values != NULL && i < out->n; i++) {
        out->values[i] = (double)i;
    }
    out->increasing = true;
    return out->values != NULL && out->units != NULL ? EK_OK : EK_ENOMEM;
}

static void find_disorder(ek__times *out)
{
    out->disorder = -1;
    for (int64_t i = 1; i < out->n && out->disorder < 0; i++) {
        if (!(out->values[i] > out->values[i - 1])) { /* also where one is NaN */
            out->disorder = i;
        }
    }
    out->increasing = out->disorder < 0;
}

static ek_status decode_all(ek__times *out)
{
    EK_TRY(ek__cftime_parse(out->units, out->calendar, &out->clock));
    for (int64_t i = 0; i < out->n; i++) {
        int64_t instant_us = 0;
        EK_TRY(ek__cftime_decode(&out->clock, out->values[i], &instant_us));
    }
    return EK_OK;
}

static ek_status read_coordinate(const ek__nc_file *file, const ek__nc_var *coordinate,
                                 ek__times *out)
{
    bool packed = false;
    EK_TRY(ek__packing_values(file, coordinate, &out->values, &packed));
    EK_TRY(ek__nc_text(file, coordinate->id, "units", &out->units));
    EK_TRY(ek__nc_text(file, coordinate->id, "calendar", &out->calendar));
    EK_TRY(ek__nc_text(file, coordinate->id, "long_name", &out->long_name));
    if (out->units == NULL) {
        out->units = ek_strdup("1");
    }
    return out->units != NULL ? EK_OK : EK_ENOMEM;
}

ek_status ek__times_read(const ek__nc_file *file, const ek__variable *v, ek_field *notes,
                         ek__times *out)
{
    const ek__nc_dim *dim = &v->var.dims[v->time_dim];
    *out = (ek__times){.n = dim->size, .disorder = -1};
    ek__nc_var coordinate;
    EK_TRY(ek__nc_coordinate(file, dim, &coordinate, &out->has_values));
    if (!out->has_values) {
        EK_TRY(count_steps(out));
        return ek_field_note(notes, "%s has no coordinate variable; time steps are counted from 0",
                             dim->name);
    }
    ek__nc_file home = ek__nc_home(file, &coordinate);
    EK_TRY(read_coordinate(&home, &coordinate, out));
    find_disorder(out);
    ek_status rc = decode_all(out);
    out->decodable = rc == EK_OK;
    if (rc == EK_EDATA) {
        char why[EK_ERROR_MESSAGE_MAX];
        snprintf(why, sizeof(why), "%s", ek_error_last()->message);
        ek_error_clear();
        rc = ek_field_note(notes, "times are not decoded: %s", why);
    }
    return rc;
}

void ek__times_free(ek__times *times)
{
    ek_free(times->values);
    ek_free(times->units);
    ek_free(times->calendar);
    ek_free(times->long_name);
    *times = (ek__times){0};
}

int64_t ek__times_instant(const ek__times *times, int64_t i)
{
    int64_t instant_us = 0;
    if (ek__cftime_decode(&times->clock, times->values[i], &instant_us) != EK_OK) {
        return 0; /* not reached: all steps were decoded when the axis was read */
    }
    return instant_us;
}

void ek__times_text(const ek__times *times, int64_t i, char *out, size_t size)
{
    if (times->decodable) {
        ek__cftime_format(&times->clock, ek__times_instant(times, i), out, size);
    } else {
        snprintf(out, size, "%g %s", times->values[i], times->units);
    }
}
