/* SPDX-License-Identifier: Apache-2.0 */
/* Variables and attributes of an output file (CF conventions 1.11). */
#include "stages/write_cf.h"

#include "core/version.h"
#include "stages/load/nc.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define CHUNK_BYTES_MAX (INT64_C(1) << 31) /* HDF5 allows less than 4 GiB */

ek_status ek__cf_text(const ek__cf *cf, int varid, const char *name, const char *text)
{
    if (text == NULL || text[0] == '\0') {
        return EK_OK;
    }
    return EK_NC(nc_put_att_text(cf->ncid, varid, name, strlen(text), text), cf->path, name);
}

bool ek__cf_has_axis(const ek_array_spec *array, ek_axis axis)
{
    bool found = false;
    for (int i = 0; i < array->n_axes; i++) {
        found = found || array->axes[i] == axis;
    }
    return found;
}

bool ek__cf_is_time_statistic(const ek_array_spec *array)
{
    return !ek__cf_has_axis(array, EK_AXIS_TIME) && strstr(array->cell_methods, "time:") != NULL;
}

const char *ek__cf_array_name(const ek__cf *cf, int i)
{
    const ek_array_spec *array = &cf->spec->arrays[i];
    const char *full = cf->spec->field->name;
    size_t n = strlen(array->name);
    /* The room for names in a spec is short; a stream's long name is its field's. */
    bool is_cut = n == sizeof(array->name) - 1 && strncmp(array->name, full, n) == 0;
    return is_cut ? full : array->name;
}

/* Expands the symbolic axes of an array into dimensions of the file. */
static int array_dims(const ek__cf *cf, const ek_array_spec *array, int *dims)
{
    int n = 0;
    for (int i = 0; i < array->n_axes; i++) {
        if (array->axes[i] == EK_AXIS_CELL) {
            for (int k = 0; k < cf->spec->field->n_dims; k++) {
                dims[n++] = cf->grid_dims[k];
            }
        } else {
            dims[n++] = array->axes[i] == EK_AXIS_TIME ? cf->time_dim : cf->mode_dim;
        }
    }
    return n;
}

/* Storage: a stream by time steps; an array of maps by maps, if it is compressed. */
static ek_status define_storage(const ek__cf *cf, const ek_array_spec *array, int id,
                                const int *dims, int n_dims)
{
    bool stream = cf->spec->kind == EK_STREAM;
    if (n_dims == 0 || (!stream && cf->options->deflate == 0)) {
        return EK_OK;
    }
    size_t shape[2 + EK_FIELD_DIMS_MAX];
    bool maps = array->n_axes == 2 && array->axes[1] == EK_AXIS_CELL;
    int64_t bytes = (int64_t)sizeof(double);
    for (int i = 0; i < n_dims; i++) {
        EK_TRY(EK_NC(nc_inq_dimlen(cf->ncid, dims[i], &shape[i]), cf->path, array->name));
        shape[i] = (maps && i == 0) || shape[i] == 0 ? 1 : shape[i];
        bytes = bytes > CHUNK_BYTES_MAX ? bytes : bytes * (int64_t)shape[i];
    }
    if (bytes <= CHUNK_BYTES_MAX) {
        EK_TRY(EK_NC(nc_def_var_chunking(cf->ncid, id, NC_CHUNKED, shape), cf->path, array->name));
    }
    if (cf->options->deflate > 0) {
        EK_TRY(EK_NC(nc_def_var_deflate(cf->ncid, id, 1, 1, (int)cf->options->deflate), cf->path,
                     array->name));
    }
    return EK_OK;
}

/* The coordinates attribute of an array: auxiliary and scalar coordinates of the grid, and the
 * period of a statistic over time. */
static ek_status define_coordinates(const ek__cf *cf, const ek_array_spec *array, int id)
{
    const ek_field *field = cf->spec->field;
    char list[1024] = "";
    size_t used = 0;
    for (int i = 0; i < field->n_coords && ek__cf_has_axis(array, EK_AXIS_CELL); i++) {
        if (ek__cf_is_auxiliary(field, &field->coords[i]) && used < sizeof(list)) {
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", used > 0 ? " " : "",
                                     field->coords[i].name);
        }
    }
    if (cf->period_id >= 0 && ek__cf_is_time_statistic(array) && used < sizeof(list)) {
        snprintf(list + used, sizeof(list) - used, "%s%s", used > 0 ? " " : "", cf->period_name);
    }
    return ek__cf_text(cf, id, "coordinates", list);
}

static ek_status define_mapping(const ek__cf *cf, const ek_array_spec *array, int id)
{
    const ek_field *field = cf->spec->field;
    bool carried = false;
    for (int i = 0; i < field->n_coords; i++) {
        carried = carried || ek__cf_is_mapping(field, &field->coords[i]);
    }
    return carried && ek__cf_has_axis(array, EK_AXIS_CELL)
               ? ek__cf_text(cf, id, "grid_mapping", field->grid_mapping)
               : EK_OK;
}

static ek_status define_fill(const ek__cf *cf, int id, nc_type type, const char *name)
{
    double fill = EK_CF_FILL;
    float fill_float = (float)EK_CF_FILL;
    if (type == NC_INT) {
        return EK_OK;
    }
    const void *value = type == NC_FLOAT ? (const void *)&fill_float : (const void *)&fill;
    return EK_NC(nc_def_var_fill(cf->ncid, id, NC_FILL, value), cf->path, name);
}

static ek_status define_array(ek__cf *cf, int i)
{
    const ek_array_spec *array = &cf->spec->arrays[i];
    const char *name = ek__cf_array_name(cf, i);
    int dims[2 + EK_FIELD_DIMS_MAX];
    int n_dims = array_dims(cf, array, dims);
    nc_type floating = cf->options->type == EK_WRITE_FLOAT32 ? NC_FLOAT : NC_DOUBLE;
    nc_type type = array->dtype == EK_I32 ? NC_INT : floating;
    int *id = &cf->array_ids[i];
    EK_TRY(EK_NC(nc_def_var(cf->ncid, name, type, n_dims, dims, id), cf->path, name));
    EK_TRY(define_fill(cf, *id, type, name));
    EK_TRY(define_storage(cf, array, *id, dims, n_dims));
    EK_TRY(ek__cf_text(cf, *id, "long_name", array->long_name));
    EK_TRY(ek__cf_text(cf, *id, "standard_name", array->standard_name));
    EK_TRY(ek__cf_text(cf, *id, "units", array->units));
    EK_TRY(ek__cf_text(cf, *id, "cell_methods", array->cell_methods));
    EK_TRY(ek__cf_text(cf, *id, "comment", array->comment));
    EK_TRY(define_coordinates(cf, array, *id));
    return define_mapping(cf, array, *id);
}

static ek_status define_history(const ek__cf *cf)
{
    const ek_field *field = cf->spec->field;
    const char *command = cf->options->command;
    char date[32] = "";
    struct tm utc;
    time_t now = time(NULL);
    if (gmtime_r(&now, &utc) != NULL) {
        strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    char *history = ek_strprintf(
        "%s: %s%s%s", date, command != NULL ? command : "ekman " EK_VERSION_STRING,
        field->history != NULL ? "\n" : "", field->history != NULL ? field->history : "");
    if (history == NULL) {
        return EK_ENOMEM;
    }
    ek_status rc = ek__cf_text(cf, NC_GLOBAL, "history", history);
    ek_free(history);
    return rc;
}

/* "Sea surface temperature: mean, std", or the one variable's long name. */
static ek_status define_title(const ek__cf *cf)
{
    const ek_spec *spec = cf->spec;
    const ek_field *field = spec->field;
    char title[512];
    const char *what = field->long_name != NULL ? field->long_name : field->name;
    if (spec->n_arrays == 1) {
        what = spec->arrays[0].long_name[0] != '\0' ? spec->arrays[0].long_name : what;
        snprintf(title, sizeof(title), "%s", what);
        return ek__cf_text(cf, NC_GLOBAL, "title", title);
    }
    size_t used = (size_t)snprintf(title, sizeof(title), "%.200s", what);
    for (int i = 0; i < spec->n_arrays && used < sizeof(title); i++) {
        used += (size_t)snprintf(title + used, sizeof(title) - used, "%s%s", i == 0 ? ": " : ", ",
                                 spec->arrays[i].name);
    }
    return ek__cf_text(cf, NC_GLOBAL, "title", title);
}

static ek_status define_globals(const ek__cf *cf)
{
    const ek_spec *spec = cf->spec;
    EK_TRY(ek__cf_text(cf, NC_GLOBAL, "Conventions", "CF-1.11"));
    EK_TRY(define_title(cf));
    EK_TRY(define_history(cf));
    EK_TRY(ek__cf_text(cf, NC_GLOBAL, "source", spec->field->source));
    EK_TRY(ek__cf_text(cf, NC_GLOBAL, "ekman_version", EK_VERSION_STRING));
    for (int i = 0; i < spec->n_attrs; i++) {
        EK_TRY(ek__cf_text(cf, NC_GLOBAL, spec->attrs[i].name, spec->attrs[i].text));
    }
    return EK_OK;
}

ek_status ek__cf_define(ek__cf *cf)
{
    const ek_spec *spec = cf->spec;
    cf->time_id = cf->mode_id = cf->period_id = cf->period_bounds_id = -1;
    cf->coord_ids = ek_alloc((size_t)spec->field->n_coords, sizeof(int));
    if (cf->coord_ids == NULL) {
        return EK_ENOMEM;
    }
    for (int i = 0; i < spec->field->n_coords; i++) {
        cf->coord_ids[i] = -1;
    }
    for (int i = 0; i < spec->n_arrays; i++) {
        for (int axis = 0; axis < EK_AXES; axis++) {
            cf->uses[axis] = cf->uses[axis] || ek__cf_has_axis(&spec->arrays[i], (ek_axis)axis);
        }
    }
    EK_TRY(ek__cf_coords_define(cf));
    for (int i = 0; i < spec->n_arrays; i++) {
        EK_TRY(define_array(cf, i));
    }
    EK_TRY(define_globals(cf));
    EK_TRY(EK_NC(nc_enddef(cf->ncid), cf->path, "header"));
    return ek__cf_coords_write(cf);
}

void ek__cf_fini(ek__cf *cf)
{
    ek_free(cf->coord_ids);
    cf->coord_ids = NULL;
}
