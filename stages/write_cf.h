/* SPDX-License-Identifier: Apache-2.0 */
/* The CF structure of an output file: dimensions, coordinates, variables and their attributes, as
 * the spec of the link that is written asks for. On the io thread only. Private to stages/. */
#ifndef EK_STAGES_WRITE_CF_H
#define EK_STAGES_WRITE_CF_H

#include "core/stage.h"
#include "stages/write.h"

EK_BEGIN_DECLS

/* What stands for "no value" in floating-point variables; netCDF's default of both types. */
#define EK_CF_FILL 9.969209968386869e36

/* A netCDF file while it is written. The caller sets the first members; the rest is
 * ek__cf_define's. */
typedef struct ek__cf {
    const char *path; /* for messages; borrowed */
    int ncid;
    const ek_spec *spec;
    const ek_write_options *options;
    int64_t extent[EK_AXES];

    bool uses[EK_AXES]; /* axes that some array has */
    int grid_dims[EK_FIELD_DIMS_MAX];
    int time_dim, mode_dim;
    int vertex_dims[4], n_vertex_dims; /* of bounds, by their number of vertices */
    int64_t vertex_sizes[4];
    int *coord_ids; /* one per coordinate of the field; -1 if it is not written */
    int time_id, mode_id, period_id, period_bounds_id; /* -1 where there is none */
    char period_name[256]; /* of the scalar time of statistics over time */
    int array_ids[EK_ARRAYS_MAX];
} ek__cf;

/* ek__cf_define defines all dimensions, variables and attributes, and writes the coordinates. The
 * file is in data mode afterwards. Release with ek__cf_fini, also after a failure. */
ek_status ek__cf_define(ek__cf *cf);
void ek__cf_fini(ek__cf *cf);

/* ek__cf_coords_define and ek__cf_coords_write are its parts for everything but the arrays
 * (write_coords.c). */
ek_status ek__cf_coords_define(ek__cf *cf);
ek_status ek__cf_coords_write(ek__cf *cf);

/* ek__cf_text sets a text attribute; NULL or "" sets none. */
ek_status ek__cf_text(const ek__cf *cf, int varid, const char *name, const char *text);

/* ek__cf_is_mapping says whether the coordinate is the field's grid mapping; ek__cf_is_auxiliary
 * whether it belongs into a coordinates attribute. */
bool ek__cf_is_mapping(const ek_field *field, const ek_coord *coord);
bool ek__cf_is_auxiliary(const ek_field *field, const ek_coord *coord);

/* ek__cf_is_time_statistic says whether an array without a time axis is a statistic over time. */
bool ek__cf_is_time_statistic(const ek_array_spec *array);

/* ek__cf_has_axis says whether an array has the axis. */
bool ek__cf_has_axis(const ek_array_spec *array, ek_axis axis);

/* ek__cf_array_name returns the name under which array i is written. */
const char *ek__cf_array_name(const ek__cf *cf, int i);

EK_END_DECLS

#endif /* EK_STAGES_WRITE_CF_H */
