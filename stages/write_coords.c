/* SPDX-License-Identifier: Apache-2.0 */
/* Dimensions and coordinates of an output file: the grid's, carried over from the input; time; the
 * period of statistics over time; mode numbers. */
#include "stages/load/nc.h"
#include "stages/write_cf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_dimension_coord(const ek_field *field, const ek_coord *coord)
{
    return coord->n_dims == 1 && coord->n_vertices == 0 &&
           strcmp(coord->name, field->dims[coord->dims[0]].name) == 0;
}

bool ek__cf_is_mapping(const ek_field *field, const ek_coord *coord)
{
    size_t n = strlen(coord->name);
    const char *at = field->grid_mapping != NULL ? strstr(field->grid_mapping, coord->name) : NULL;
    while (at != NULL && !((at == field->grid_mapping || at[-1] == ' ') &&
                           (at[n] == '\0' || at[n] == ':' || at[n] == ' '))) {
        at = strstr(at + 1, coord->name);
    }
    return at != NULL && coord->n_dims == 0;
}

bool ek__cf_is_auxiliary(const ek_field *field, const ek_coord *coord)
{
    return coord->n_vertices == 0 && !is_dimension_coord(field, coord) &&
           !ek__cf_is_mapping(field, coord);
}

static bool name_is_taken(const ek_field *field, const char *name)
{
    bool taken = strcmp(field->time.name, name) == 0;
    for (int i = 0; i < field->n_dims; i++) {
        taken = taken || strcmp(field->dims[i].name, name) == 0;
    }
    for (int i = 0; i < field->n_coords; i++) {
        taken = taken || strcmp(field->coords[i].name, name) == 0;
    }
    return taken;
}

/* Writes a name that the input does not use, made from `base`. */
static void free_name(const ek_field *field, const char *base, char *out, size_t size)
{
    snprintf(out, size, "%s", base);
    for (int i = 2; name_is_taken(field, out) && i < 100; i++) {
        snprintf(out, size, "%.*s_%d", (int)size - 4, base, i);
    }
}

static ek_status define_dim(const ek__cf *cf, const char *name, size_t size, int *id)
{
    return EK_NC(nc_def_dim(cf->ncid, name, size, id), cf->path, name);
}

/* Finds or defines the dimension of a bounds variable's vertices. */
static ek_status vertex_dim(ek__cf *cf, int64_t size, int *id)
{
    for (int i = 0; i < cf->n_vertex_dims; i++) {
        if (cf->vertex_sizes[i] == size) {
            *id = cf->vertex_dims[i];
            return EK_OK;
        }
    }
    if (cf->n_vertex_dims == (int)EK_COUNT(cf->vertex_dims)) {
        return EK_FAIL(EK_ENOTSUP, "%s: the grid has bounds of too many kinds", cf->path);
    }
    char base[32] = "bnds";
    char name[64];
    if (size != 2) {
        snprintf(base, sizeof(base), "nv%lld", (long long)size);
    }
    free_name(cf->spec->field, base, name, sizeof(name));
    EK_TRY(define_dim(cf, name, (size_t)size, id));
    cf->vertex_sizes[cf->n_vertex_dims] = size;
    cf->vertex_dims[cf->n_vertex_dims++] = *id;
    return EK_OK;
}

/* Attributes that no longer hold in the output: packing and limits of stored values, and names of
 * variables that are not carried over. */
static bool attr_is_dropped(const ek_field *field, const ek_attr *attr)
{
    static const char *const dropped[] = {
        "scale_factor", "add_offset",     "valid_min",     "valid_max",           "valid_range",
        "actual_range", "_FillValue",     "missing_value", "_Unsigned",           "coordinates",
        "climatology",  "formula_terms",  "cell_measures", "ancillary_variables", "CLASS",
        "NAME",         "REFERENCE_LIST", "DIMENSION_LIST"};
    for (size_t i = 0; i < EK_COUNT(dropped); i++) {
        if (strcmp(attr->name, dropped[i]) == 0) {
            return true;
        }
    }
    return strcmp(attr->name, "bounds") == 0 &&
           (attr->text == NULL || !name_is_taken(field, attr->text));
}

/* The type in netCDF's classic model; unsigned ones become the next larger signed one. */
static nc_type classic_type(ek_dtype dtype)
{
    static const nc_type types[EK_DTYPE_COUNT] = {
        [EK_DTYPE_NONE] = NC_DOUBLE, [EK_I8] = NC_BYTE,   [EK_U8] = NC_SHORT,
        [EK_I16] = NC_SHORT,         [EK_U16] = NC_INT,   [EK_I32] = NC_INT,
        [EK_U32] = NC_DOUBLE,        [EK_F32] = NC_FLOAT, [EK_F64] = NC_DOUBLE};
    return types[dtype];
}

static bool has_nan(const ek_coord *coord)
{
    bool found = false;
    for (int64_t i = 0; i < coord->n_values; i++) {
        found = found || isnan(coord->values[i]);
    }
    return found;
}

static ek_status define_coord_attrs(const ek__cf *cf, const ek_coord *coord, int id)
{
    for (int i = 0; i < coord->n_attrs; i++) {
        const ek_attr *attr = &coord->attrs[i];
        if (attr_is_dropped(cf->spec->field, attr)) {
            continue;
        }
        if (attr->text != NULL) {
            EK_TRY(ek__cf_text(cf, id, attr->name, attr->text));
        } else {
            EK_TRY(EK_NC(nc_put_att_double(cf->ncid, id, attr->name, classic_type(attr->dtype),
                                           (size_t)attr->n_numbers, attr->numbers),
                         cf->path, attr->name));
        }
    }
    return EK_OK;
}

static ek_status define_coord(ek__cf *cf, const ek_coord *coord, int *id)
{
    int dims[EK_FIELD_DIMS_MAX + 1];
    int n_dims = coord->n_dims;
    for (int i = 0; i < n_dims; i++) {
        dims[i] = cf->grid_dims[coord->dims[i]];
    }
    if (coord->n_vertices > 0) {
        EK_TRY(vertex_dim(cf, coord->n_vertices, &dims[n_dims++]));
    }
    bool holes = has_nan(coord);
    bool whole = ek_dtype_is_integer(coord->dtype);
    nc_type type = holes && whole ? NC_DOUBLE : classic_type(coord->dtype);
    EK_TRY(EK_NC(nc_def_var(cf->ncid, coord->name, type, n_dims, dims, id), cf->path, coord->name));
    if (holes) {
        double fill = EK_CF_FILL;
        EK_TRY(EK_NC(nc_put_att_double(cf->ncid, *id, "_FillValue", type, 1, &fill), cf->path,
                     coord->name));
    }
    return define_coord_attrs(cf, coord, *id);
}

static ek_status define_grid(ek__cf *cf)
{
    const ek_field *field = cf->spec->field;
    for (int i = 0; i < field->n_dims; i++) {
        EK_TRY(define_dim(cf, field->dims[i].name, (size_t)field->dims[i].size, &cf->grid_dims[i]));
    }
    for (int i = 0; i < field->n_coords; i++) {
        EK_TRY(define_coord(cf, &field->coords[i], &cf->coord_ids[i]));
    }
    return EK_OK;
}

static ek_status define_time_attrs(const ek__cf *cf, int id)
{
    const ek_time_axis *time = &cf->spec->field->time;
    if (strstr(time->units, " since ") != NULL) {
        EK_TRY(ek__cf_text(cf, id, "standard_name", "time"));
    }
    EK_TRY(ek__cf_text(cf, id, "long_name", time->long_name));
    EK_TRY(ek__cf_text(cf, id, "units", time->units));
    EK_TRY(ek__cf_text(cf, id, "calendar", time->calendar));
    return ek__cf_text(cf, id, "axis", "T");
}

static ek_status define_time(ek__cf *cf)
{
    const ek_time_axis *time = &cf->spec->field->time;
    size_t size = cf->spec->kind == EK_STREAM ? NC_UNLIMITED : (size_t)cf->extent[EK_AXIS_TIME];
    EK_TRY(define_dim(cf, time->name, size, &cf->time_dim));
    if (!time->has_values) {
        return EK_OK;
    }
    EK_TRY(EK_NC(nc_def_var(cf->ncid, time->name, NC_DOUBLE, 1, &cf->time_dim, &cf->time_id),
                 cf->path, time->name));
    if (cf->spec->kind == EK_STREAM) { /* else one step would be a storage chunk of its own */
        size_t chunk = (size_t)EK_MIN(cf->extent[EK_AXIS_TIME], 4096);
        EK_TRY(EK_NC(nc_def_var_chunking(cf->ncid, cf->time_id, NC_CHUNKED, &chunk), cf->path,
                     time->name));
    }
    return define_time_attrs(cf, cf->time_id);
}

/* The time of statistics over time: a scalar in the middle of the period, with the period as its
 * bounds. */
static ek_status define_period(ek__cf *cf)
{
    const ek_field *field = cf->spec->field;
    char bounds[sizeof(cf->period_name) + 16];
    char base[sizeof(cf->period_name)];
    if (cf->uses[EK_AXIS_TIME]) {
        snprintf(base, sizeof(base), "%.200s_period", field->time.name);
        free_name(field, base, cf->period_name, sizeof(cf->period_name));
    } else {
        snprintf(cf->period_name, sizeof(cf->period_name), "%s", field->time.name);
    }
    snprintf(base, sizeof(base), "%.200s_bnds", cf->period_name);
    free_name(field, base, bounds, sizeof(bounds));
    int dim = -1;
    EK_TRY(vertex_dim(cf, 2, &dim));
    EK_TRY(EK_NC(nc_def_var(cf->ncid, cf->period_name, NC_DOUBLE, 0, NULL, &cf->period_id),
                 cf->path, cf->period_name));
    EK_TRY(define_time_attrs(cf, cf->period_id));
    EK_TRY(ek__cf_text(cf, cf->period_id, "bounds", bounds));
    return EK_NC(nc_def_var(cf->ncid, bounds, NC_DOUBLE, 1, &dim, &cf->period_bounds_id), cf->path,
                 bounds);
}

static ek_status define_modes(ek__cf *cf)
{
    if (cf->extent[EK_AXIS_MODE] < 1) {
        return EK_FAIL(EK_EDATA, "%s: the result has no modes to write", cf->path);
    }
    char name[32];
    free_name(cf->spec->field, "mode", name, sizeof(name));
    EK_TRY(define_dim(cf, name, (size_t)cf->extent[EK_AXIS_MODE], &cf->mode_dim));
    EK_TRY(
        EK_NC(nc_def_var(cf->ncid, name, NC_INT, 1, &cf->mode_dim, &cf->mode_id), cf->path, name));
    EK_TRY(ek__cf_text(cf, cf->mode_id, "long_name", "mode number"));
    return ek__cf_text(cf, cf->mode_id, "units", "1");
}

ek_status ek__cf_coords_define(ek__cf *cf)
{
    const ek_field *field = cf->spec->field;
    bool statistics = false;
    for (int i = 0; i < cf->spec->n_arrays; i++) {
        statistics = statistics || ek__cf_is_time_statistic(&cf->spec->arrays[i]);
    }
    if (cf->uses[EK_AXIS_TIME]) {
        EK_TRY(define_time(cf));
    }
    if (cf->uses[EK_AXIS_MODE]) {
        EK_TRY(define_modes(cf));
    }
    if (cf->uses[EK_AXIS_CELL]) {
        EK_TRY(define_grid(cf));
    }
    if (statistics && field->time.has_values && field->n_time > 0) {
        EK_TRY(define_period(cf));
    }
    return EK_OK;
}

static ek_status write_coord(const ek__cf *cf, const ek_coord *coord, int id)
{
    if (!has_nan(coord)) {
        return EK_NC(nc_put_var_double(cf->ncid, id, coord->values), cf->path, coord->name);
    }
    double *filled = ek_alloc((size_t)coord->n_values, sizeof(double));
    if (filled == NULL) {
        return EK_ENOMEM;
    }
    for (int64_t i = 0; i < coord->n_values; i++) {
        filled[i] = isnan(coord->values[i]) ? EK_CF_FILL : coord->values[i];
    }
    ek_status rc = EK_NC(nc_put_var_double(cf->ncid, id, filled), cf->path, coord->name);
    ek_free(filled);
    return rc;
}

static ek_status write_modes(const ek__cf *cf)
{
    for (int64_t i = 0; i < cf->extent[EK_AXIS_MODE]; i++) {
        size_t at = (size_t)i;
        int number = (int)i + 1;
        EK_TRY(EK_NC(nc_put_var1_int(cf->ncid, cf->mode_id, &at, &number), cf->path, "mode"));
    }
    return EK_OK;
}

static ek_status write_period(const ek__cf *cf)
{
    const ek_field *field = cf->spec->field;
    const double *values = field->time.values;
    double bounds[2] = {values[0], values[field->n_time - 1]};
    double middle = bounds[0] + (bounds[1] - bounds[0]) / 2;
    EK_TRY(EK_NC(nc_put_var_double(cf->ncid, cf->period_id, &middle), cf->path, "time"));
    return EK_NC(nc_put_var_double(cf->ncid, cf->period_bounds_id, bounds), cf->path,
                 "time bounds");
}

ek_status ek__cf_coords_write(ek__cf *cf)
{
    const ek_field *field = cf->spec->field;
    for (int i = 0; i < field->n_coords; i++) {
        if (cf->coord_ids[i] >= 0) {
            EK_TRY(write_coord(cf, &field->coords[i], cf->coord_ids[i]));
        }
    }
    if (cf->time_id >= 0) {
        size_t start = 0;
        size_t count = (size_t)field->n_time;
        EK_TRY(EK_NC(nc_put_vara_double(cf->ncid, cf->time_id, &start, &count, field->time.values),
                     cf->path, field->time.name));
    }
    if (cf->mode_id >= 0) {
        EK_TRY(write_modes(cf));
    }
    return cf->period_id >= 0 ? write_period(cf) : EK_OK;
}
