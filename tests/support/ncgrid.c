/* SPDX-License-Identifier: Apache-2.0 */
/* netCDF files that store one variable in every way that a file can. */
#include "tests/support/ncgrid.h"

#include "tests/support/ncmake.h"
#include "tests/support/near.h"

#include "core/loop.h"

#include <math.h>
#include <netcdf_filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ZSTD_ID 32015
#define SZIP_ID 4

static const nc_type all_types[] = {NC_BYTE,  NC_SHORT,  NC_INT,  NC_FLOAT, NC_DOUBLE,
                                    NC_UBYTE, NC_USHORT, NC_UINT, NC_NAT};
static const nc_type classic_types[] = {NC_BYTE, NC_SHORT, NC_INT, NC_FLOAT, NC_DOUBLE, NC_NAT};

const nc_type *ncgrid_types(int format)
{
    bool all = (format & (NC_64BIT_DATA | NC_NETCDF4)) != 0 && (format & NC_CLASSIC_MODEL) == 0;
    return all ? all_types : classic_types;
}

static const char *type_name(nc_type type)
{
    switch (type) {
    case NC_BYTE:
        return "int8";
    case NC_UBYTE:
        return "uint8";
    case NC_SHORT:
        return "int16";
    case NC_USHORT:
        return "uint16";
    case NC_INT:
        return "int32";
    case NC_UINT:
        return "uint32";
    case NC_DOUBLE:
        return "float64";
    default:
        return "float32";
    }
}

const char *ncgrid_text(const ncgrid *r)
{
    static const char *const layouts[] = {"contiguous", "planes", "tiles", "whole"};
    static const char *const filters[] = {" shuffle", " deflate", " fletcher32", " zstd", " szip"};
    static char text[256];
    const char *format = "CDF-1";
    if ((r->format & NC_NETCDF4) != 0) {
        format = "netCDF-4";
    } else if (r->format != 0) {
        format = (r->format & NC_64BIT_DATA) != 0 ? "CDF-5" : "CDF-2";
    }
    int n =
        snprintf(text, sizeof(text), "%s %s %s%s%s", format, type_name(r->type), layouts[r->layout],
                 r->endian == NC_ENDIAN_BIG ? " big" : "", r->fixed_time ? " fixed" : "");
    for (size_t i = 0; i < EK_COUNT(filters); i++) {
        if ((r->filters >> i & 1) != 0) {
            n += snprintf(text + n, sizeof(text) - (size_t)n, "%s", filters[i]);
        }
    }
    snprintf(text + n, sizeof(text) - (size_t)n, "%s%s%s, %d steps from %d written",
             r->bare ? " bare" : "", r->packed ? " packed" : "", r->no_fill ? " no-fill" : "",
             r->written, r->first);
    return text;
}

/* Bits that look random but are the same every time. */
static uint64_t mix(int64_t i)
{
    uint64_t x = (uint64_t)i * 0x9E3779B97F4A7C15U + 0x632BE59BD9B4E019U;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9U;
    x = (x ^ x >> 27) * 0x94D049BB133111EBU;
    return x ^ x >> 31;
}

static double float_value(uint64_t bits)
{
    switch (bits % 41) {
    case 0:
        return (double)NAN;
    case 1:
        return (double)INFINITY;
    case 2:
        return (double)NC_FILL_FLOAT;
    case 3:
        return NCGRID_FILL;
    default:
        return 200.0 + (double)(bits >> 20) * 0x1p-37;
    }
}

void ncgrid_values(nc_type type, int64_t from, int64_t count, void *out)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = mix(from + i);
        uint64_t word = bits % 29 == 0 ? NCGRID_FILL : bits >> 13;
        double value = float_value(bits);
        switch (type) {
        case NC_BYTE:
        case NC_UBYTE:
            ((uint8_t *)out)[i] = (uint8_t)word;
            break;
        case NC_SHORT:
        case NC_USHORT:
            ((uint16_t *)out)[i] = (uint16_t)word;
            break;
        case NC_INT:
        case NC_UINT:
            ((uint32_t *)out)[i] = (uint32_t)word;
            break;
        case NC_DOUBLE:
            ((double *)out)[i] = bits % 41 == 2 ? NC_FILL_DOUBLE : value;
            break;
        default:
            ((float *)out)[i] = (float)value;
            break;
        }
    }
}

/* A file being made; only its first netCDF failure is kept. */
typedef struct making {
    const char *path;
    ncgrid r;
    int ncid, code;
    int dims[3];
    int v, time;
} making;

static void keep(making *m, int code)
{
    m->code = m->code == NC_NOERR ? code : m->code;
}

/* The _FillValue of a packed recipe, in the variable's type. */
static void define_packing(making *m)
{
    static const double scale = NCGRID_SCALE;
    static const double offset = NCGRID_OFFSET;
    static const double fill = NCGRID_FILL;
    keep(m, nc_put_att_double(m->ncid, m->v, "scale_factor", NC_DOUBLE, 1, &scale));
    keep(m, nc_put_att_double(m->ncid, m->v, "add_offset", NC_DOUBLE, 1, &offset));
    keep(m, nc_put_att_double(m->ncid, m->v, "_FillValue", m->r.type, 1, &fill));
}

static void define_storage(making *m)
{
    const ncgrid *r = &m->r;
    const size_t shapes[NCGRID_LAYOUTS][3] = {
        [NCGRID_PLANES] = {1, (size_t)r->n_lat, (size_t)r->n_lon},
        [NCGRID_TILES] = {4, (size_t)r->n_lat / 2, (size_t)r->n_lon * 2 / 5 + 1},
        [NCGRID_WHOLE] = {(size_t)r->n_time, (size_t)r->n_lat, (size_t)r->n_lon},
    };
    int storage = r->layout == NCGRID_CONTIGUOUS ? NC_CONTIGUOUS : NC_CHUNKED;
    static const unsigned zstd_level = 3;
    static const unsigned szip[] = {32, 8};
    keep(m, nc_def_var_chunking(m->ncid, m->v, storage, shapes[r->layout]));
    if ((r->filters & (NCGRID_SHUFFLE | NCGRID_DEFLATE)) != 0) {
        keep(m, nc_def_var_deflate(m->ncid, m->v, (r->filters & NCGRID_SHUFFLE) != 0,
                                   (r->filters & NCGRID_DEFLATE) != 0, 2));
    }
    if ((r->filters & NCGRID_ZSTD) != 0) {
        keep(m, nc_def_var_filter(m->ncid, m->v, ZSTD_ID, 1, &zstd_level));
    }
    if ((r->filters & NCGRID_SZIP) != 0) {
        keep(m, nc_def_var_filter(m->ncid, m->v, SZIP_ID, 2, szip));
    }
    if ((r->filters & NCGRID_FLETCHER32) != 0) {
        keep(m, nc_def_var_fletcher32(m->ncid, m->v, NC_FLETCHER32));
    }
    if (r->endian != 0) {
        keep(m, nc_def_var_endian(m->ncid, m->v, r->endian));
    }
}

static void define(making *m)
{
    const ncgrid *r = &m->r;
    int old = 0;
    keep(m, nc_create(m->path, NC_CLOBBER | r->format, &m->ncid));
    keep(m, nc_set_fill(m->ncid, r->no_fill ? NC_NOFILL : NC_FILL, &old));
    keep(m, nc_def_dim(m->ncid, "time", r->fixed_time ? (size_t)r->n_time : NC_UNLIMITED,
                       &m->dims[0]));
    keep(m, nc_def_dim(m->ncid, "lat", (size_t)r->n_lat, &m->dims[1]));
    keep(m, nc_def_dim(m->ncid, "lon", (size_t)r->n_lon, &m->dims[2]));
    keep(m, nc_def_var(m->ncid, "v", r->type, 3, m->dims, &m->v));
    if (!r->bare) {
        keep(m, nc_def_var(m->ncid, "time", NC_DOUBLE, 1, &m->dims[0], &m->time));
        keep(m, nc_put_att_text(m->ncid, m->time, "units", 21, "days since 2000-01-01"));
    }
    if (r->packed) {
        define_packing(m);
    }
    if ((r->format & NC_NETCDF4) != 0) {
        define_storage(m);
    }
    if (r->no_fill && (r->format & NC_NETCDF4) != 0) {
        keep(m, nc_def_var_fill(m->ncid, m->v, NC_NOFILL, NULL));
    }
    keep(m, nc_enddef(m->ncid));
}

static void fill(making *m)
{
    const ncgrid *r = &m->r;
    int64_t cells = (int64_t)r->n_lat * r->n_lon;
    size_t start[3] = {(size_t)r->first, 0, 0};
    size_t count[3] = {(size_t)r->written, (size_t)r->n_lat, (size_t)r->n_lon};
    for (int t = 0; t < r->n_time && !r->bare; t++) {
        size_t at = (size_t)t;
        double day = r->day0 + t;
        keep(m, nc_put_var1_double(m->ncid, m->time, &at, &day));
    }
    void *values = calloc((size_t)(r->written * cells) + 1, sizeof(double));
    ncgrid_values(r->type, r->first * cells, r->written * cells, values);
    if (r->written > 0) {
        keep(m, nc_put_vara(m->ncid, m->v, start, count, values));
    }
    free(values);
}

static ek_status make(void *user)
{
    making *m = user;
    define(m);
    if (m->code == NC_NOERR) {
        fill(m);
    }
    keep(m, nc_close(m->ncid));
    return m->code == NC_NOERR ? EK_OK
                               : EK_FAIL_CODE(EK_ENETCDF, m->code, "%s (%s): %s", m->path,
                                              ncgrid_text(&m->r), nc_strerror(m->code));
}

const char *ncgrid_file(const char *name, const ncgrid *recipe)
{
    making m = {.path = ncmake_path(name), .r = *recipe, .ncid = -1};
    ncgrid *r = &m.r;
    r->type = r->type != NC_NAT ? r->type : NC_FLOAT;
    r->n_time = r->n_time > 0 ? r->n_time : 11;
    r->n_lat = r->n_lat > 0 ? r->n_lat : 7;
    r->n_lon = r->n_lon > 0 ? r->n_lon : 9;
    r->written = r->written != 0 ? EK_MAX(r->written, 0) : r->n_time - r->first;
    ek_assert_ok(ek_io_call(make, &m));
    return m.path;
}

typedef struct trial {
    const char *path;
    unsigned filters;
    bool can;
} trial;

static ek_status try_filters(void *user)
{
    trial *t = user;
    making m = {.path = t->path,
                .ncid = -1,
                .r = {.format = NC_NETCDF4,
                      .type = NC_SHORT,
                      .n_time = 2,
                      .n_lat = 8,
                      .n_lon = 8,
                      .written = 2,
                      .layout = NCGRID_PLANES,
                      .filters = t->filters}};
    define(&m);
    if (m.code == NC_NOERR) {
        fill(&m);
    }
    keep(&m, nc_close(m.ncid));
    t->can = m.code == NC_NOERR;
    return EK_OK;
}

bool ncgrid_can(unsigned filters)
{
    trial t = {.path = ncmake_path("trial.nc"), .filters = filters};
    ek_assert_ok(ek_io_call(try_filters, &t));
    return t.can;
}
