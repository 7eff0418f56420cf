/* SPDX-License-Identifier: Apache-2.0 */
/* netCDF files that store one variable v(time, lat, lon) in every way that a file can: formats,
 * types, layouts, filters, byte orders, parts never written. The grid is odd on purpose, so that
 * storage chunks stick out at every edge. Made on the io thread, beside those of ncmake.h. */
#ifndef EK_TESTS_SUPPORT_NCGRID_H
#define EK_TESTS_SUPPORT_NCGRID_H

#include "core/field.h"

#include <netcdf.h>

typedef enum ncgrid_layout {
    NCGRID_CONTIGUOUS,
    NCGRID_PLANES, /* a time step in each storage chunk */
    NCGRID_TILES,  /* storage chunks that divide no dimension */
    NCGRID_WHOLE,  /* one storage chunk */
    NCGRID_LAYOUTS
} ncgrid_layout;

/* Filters of netCDF-4, in the order in which they are applied. */
enum {
    NCGRID_SHUFFLE = 1 << 0,
    NCGRID_DEFLATE = 1 << 1,
    NCGRID_FLETCHER32 = 1 << 2,
    NCGRID_ZSTD = 1 << 3,
    NCGRID_SZIP = 1 << 4
};

/* Zero members take defaults. */
typedef struct ncgrid {
    int format;               /* flags of nc_create: 0, NC_64BIT_OFFSET, NC_NETCDF4 ... */
    nc_type type;             /* of v; float */
    int n_time, n_lat, n_lon; /* 11, 7, 9 */
    bool fixed_time;          /* time is not unlimited */
    ncgrid_layout layout;     /* of netCDF-4 */
    unsigned filters;         /* of netCDF-4 */
    int endian;               /* of netCDF-4: NC_ENDIAN_LITTLE, NC_ENDIAN_BIG */
    bool bare;                /* no variable but v */
    bool packed;              /* v has scale_factor, add_offset and _FillValue */
    bool no_fill;             /* what is not written is not filled */
    int day0;                 /* of the first time step; 0 */
    int first, written;       /* time steps of v that are written: all; negative: none */
} ncgrid;

/* The packing of a recipe with `packed`: 0.01, 250 and this. */
#define NCGRID_SCALE  0.01
#define NCGRID_OFFSET 250.0
#define NCGRID_FILL   77

/* ncgrid_file writes directory/name and returns its path (borrowed, until ncmake_cleanup). Values
 * differ from cell to cell, use all bits of the type, and are sometimes missing; floats may be NaN
 * or infinite. */
const char *ncgrid_file(const char *name, const ncgrid *recipe);

/* ncgrid_can says whether this build of netCDF can write the filters; 0 can always. */
bool ncgrid_can(unsigned filters);

/* ncgrid_text describes a recipe, for messages: "CDF-4 int16 planes shuffle deflate big". */
const char *ncgrid_text(const ncgrid *recipe);

/* ncgrid_values fills `count` values of a netCDF type, beginning with number `from` of the
 * variable, as ncgrid_file does. */
void ncgrid_values(nc_type type, int64_t from, int64_t count, void *out);

/* ncgrid_types returns the types of ek_dtype that a format has, ended by NC_NAT. */
const nc_type *ncgrid_types(int format);

/* ncgrid_zstd_register makes HDF5 know the Zstandard filter, which it has as a plugin only. On the
 * io thread. */
void ncgrid_zstd_register(void);

#endif /* EK_TESTS_SUPPORT_NCGRID_H */
