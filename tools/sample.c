/* SPDX-License-Identifier: Apache-2.0 */
/* The file that `ekman sample` writes. See sample.h. */
#include "tools/sample.h"

#include "core/alloc.h"
#include "core/loop.h"
#include "core/version.h"

#include <errno.h>
#include <math.h>
#include <netcdf.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What PSL's packed files have: 0.01 K around 512.81 K. */
#define PACK_SCALE   0.01f
#define PACK_OFFSET  512.81f
#define PACK_MISSING 32766
#define FLT_MISSING  (-9.96921e36f)

typedef struct sample_file {
    const sample_options *options;
    const char *temporary;
    sample_field *field;
    double *values; /* one step */
    void *stored;   /* one step as the file has it */
    int64_t n_steps;
    float range[2]; /* least and greatest value written */
    int ncid;
    int dims[3]; /* time, lat, lon */
    int time_id, lat_id, lon_id, var_id;
} sample_file;

static atomic_int interrupted; /* set by a signal, read on the io thread */

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

/* Days since 1800-01-01 of 1 January, Gregorian. */
static int64_t days_to_year(int year)
{
    int64_t before = (int64_t)year - 1;
    return 365 * ((int64_t)year - 1800) + (before / 4 - before / 100 + before / 400) -
           (1799 / 4 - 1799 / 100 + 1799 / 400);
}

int64_t sample_steps(const sample_options *options)
{
    if (options->n_steps > 0) {
        return options->n_steps;
    }
    int year = options->grid.year;
    double hours = 24.0 * (double)(days_to_year(year + 1) - days_to_year(year));
    return (int64_t)ceil(hours / options->grid.step_hours);
}

/* EK_NC evaluates to an ek_status that names the file. */
#define EK_NC(file, call) nc_check((file), (call))

static ek_status nc_check(const sample_file *file, int code)
{
    if (code == NC_NOERR) {
        return EK_OK;
    }
    return EK_FAIL_CODE(EK_ENETCDF, code, "cannot write '%s': %s", file->temporary,
                        nc_strerror(code));
}

typedef struct text_attr {
    const char *name, *text;
} text_attr;

static ek_status put_texts(const sample_file *file, int var_id, const text_attr *attrs)
{
    for (int i = 0; attrs[i].name != NULL; i++) {
        EK_TRY(EK_NC(file, nc_put_att_text(file->ncid, var_id, attrs[i].name, strlen(attrs[i].text),
                                           attrs[i].text)));
    }
    return EK_OK;
}

static ek_status define_coordinates(sample_file *file)
{
    const sample_grid *grid = &file->options->grid;
    char delta[48];
    snprintf(delta, sizeof delta, "0000-00-00 %02d:00:00", (int)grid->step_hours);
    EK_TRY(EK_NC(file, nc_def_dim(file->ncid, "lat", (size_t)grid->n_lat, &file->dims[1])));
    EK_TRY(EK_NC(file, nc_def_dim(file->ncid, "lon", (size_t)grid->n_lon, &file->dims[2])));
    EK_TRY(EK_NC(file, nc_def_dim(file->ncid, "time", NC_UNLIMITED, &file->dims[0])));
    int *dims = file->dims;
    EK_TRY(EK_NC(file, nc_def_var(file->ncid, "lat", NC_FLOAT, 1, &dims[1], &file->lat_id)));
    EK_TRY(EK_NC(file, nc_def_var(file->ncid, "lon", NC_FLOAT, 1, &dims[2], &file->lon_id)));
    EK_TRY(EK_NC(file, nc_def_var(file->ncid, "time", NC_DOUBLE, 1, &dims[0], &file->time_id)));
    size_t chunk = 512; /* netCDF's own choice for an unlimited dimension is a megabyte */
    EK_TRY(EK_NC(file, nc_def_var_chunking(file->ncid, file->time_id, NC_CHUNKED, &chunk)));
    EK_TRY(put_texts(file, file->lat_id,
                     (const text_attr[]){{"units", "degrees_north"},
                                         {"long_name", "Latitude"},
                                         {"standard_name", "latitude"},
                                         {"axis", "Y"},
                                         {0}}));
    EK_TRY(put_texts(file, file->lon_id,
                     (const text_attr[]){{"units", "degrees_east"},
                                         {"long_name", "Longitude"},
                                         {"standard_name", "longitude"},
                                         {"axis", "X"},
                                         {0}}));
    return put_texts(file, file->time_id,
                     (const text_attr[]){{"long_name", "Time"},
                                         {"delta_t", delta},
                                         {"standard_name", "time"},
                                         {"axis", "T"},
                                         {"units", "hours since 1800-01-01 00:00:0.0"},
                                         {0}});
}

static ek_status define_packing(const sample_file *file)
{
    int ncid = file->ncid;
    int id = file->var_id;
    if (!file->options->packed) {
        const float missing = FLT_MISSING;
        return EK_NC(file, nc_put_att_float(ncid, id, "missing_value", NC_FLOAT, 1, &missing));
    }
    const float scale = PACK_SCALE;
    const float offset = PACK_OFFSET;
    const short missing = PACK_MISSING;
    EK_TRY(EK_NC(file, nc_put_att_float(ncid, id, "add_offset", NC_FLOAT, 1, &offset)));
    EK_TRY(EK_NC(file, nc_put_att_float(ncid, id, "scale_factor", NC_FLOAT, 1, &scale)));
    return EK_NC(file, nc_put_att_short(ncid, id, "missing_value", NC_SHORT, 1, &missing));
}

static ek_status define_variable(sample_file *file)
{
    const sample_options *o = file->options;
    nc_type type = o->packed ? NC_SHORT : NC_FLOAT;
    size_t chunks[3] = {1, (size_t)o->grid.n_lat, (size_t)o->grid.n_lon};
    int ncid = file->ncid;
    EK_TRY(EK_NC(file, nc_def_var(ncid, o->variable, type, 3, file->dims, &file->var_id)));
    EK_TRY(EK_NC(file, nc_def_var_chunking(ncid, file->var_id, NC_CHUNKED, chunks)));
    if (o->deflate > 0) {
        EK_TRY(EK_NC(file, nc_def_var_deflate(ncid, file->var_id, 1, 1, o->deflate)));
    }
    EK_TRY(put_texts(file, file->var_id,
                     (const text_attr[]){{"long_name", "Synthetic air temperature"},
                                         {"units", "degK"},
                                         {"standard_name", "air_temperature"},
                                         {"var_desc", "Air temperature"},
                                         {"level_desc", "Surface"},
                                         {"statistic", "Individual Obs"},
                                         {"dataset", "Synthetic; not an observation"},
                                         {0}}));
    const short precision = o->packed ? 2 : 1;
    EK_TRY(EK_NC(file, nc_put_att_short(ncid, file->var_id, "precision", NC_SHORT, 1, &precision)));
    return define_packing(file);
}

static ek_status define_globals(const sample_file *file)
{
    const sample_options *o = file->options;
    char *title = ek_strprintf("Synthetic sample (%d), laid out like NCEP/NCAR Reanalysis files",
                               o->grid.year);
    char *description = ek_strprintf("Made by ekman %s, seed %llu. Not an observation.",
                                     EK_VERSION_STRING, (unsigned long long)o->grid.seed);
    ek_status rc = EK_ENOMEM;
    if (title != NULL && description != NULL) {
        rc = put_texts(file, NC_GLOBAL,
                       (const text_attr[]){{"Conventions", "COARDS"},
                                           {"title", title},
                                           {"history", o->command},
                                           {"description", description},
                                           {"platform", "Model"},
                                           {0}});
    }
    ek_free(title);
    ek_free(description);
    return rc;
}

static ek_status put_grid(const sample_file *file)
{
    const sample_grid *grid = &file->options->grid;
    for (int64_t i = 0; i < grid->n_lat; i++) {
        size_t at = (size_t)i;
        double lat = sample_latitude(grid, i);
        EK_TRY(EK_NC(file, nc_put_var1_double(file->ncid, file->lat_id, &at, &lat)));
    }
    for (int64_t j = 0; j < grid->n_lon; j++) {
        size_t at = (size_t)j;
        double lon = sample_longitude(grid, j);
        EK_TRY(EK_NC(file, nc_put_var1_double(file->ncid, file->lon_id, &at, &lon)));
    }
    return EK_OK;
}

/* Rounds the step's values as the file holds them, and keeps their range. */
static void store_values(sample_file *file)
{
    int64_t n = file->options->grid.n_lat * file->options->grid.n_lon;
    for (int64_t i = 0; i < n; i++) {
        float value;
        if (file->options->packed) {
            double raw = rint((file->values[i] - (double)PACK_OFFSET) / (double)PACK_SCALE);
            raw = EK_MAX(raw, -32767.0); /* 185.14 K, the least these files can hold */
            ((short *)file->stored)[i] = (short)raw;
            value = (float)(raw * (double)PACK_SCALE + (double)PACK_OFFSET);
        } else {
            value = (float)(rint(file->values[i] * 10) / 10);
            ((float *)file->stored)[i] = value;
        }
        file->range[0] = EK_MIN(file->range[0], value);
        file->range[1] = EK_MAX(file->range[1], value);
    }
}

static ek_status put_steps(sample_file *file)
{
    const sample_grid *grid = &file->options->grid;
    double start_hours = 24.0 * (double)days_to_year(grid->year);
    size_t count[3] = {1, (size_t)grid->n_lat, (size_t)grid->n_lon};
    for (int64_t t = 0; t < file->n_steps; t++) {
        if (interrupted != 0) {
            return EK_FAIL(EK_ECANCELED, "stopped on request; nothing was left behind");
        }
        size_t at[3] = {(size_t)t, 0, 0};
        double hours = start_hours + (double)t * grid->step_hours;
        sample_field_step(file->field, file->values);
        store_values(file);
        EK_TRY(EK_NC(file, nc_put_var1_double(file->ncid, file->time_id, at, &hours)));
        EK_TRY(EK_NC(file, nc_put_vara(file->ncid, file->var_id, at, count, file->stored)));
    }
    return EK_OK;
}

/* Attributes that are known only once all values are. */
static ek_status put_ranges(const sample_file *file)
{
    double start = 24.0 * (double)days_to_year(file->options->grid.year);
    double end = start + (double)(file->n_steps - 1) * file->options->grid.step_hours;
    const char *name = "actual_range";
    int ncid = file->ncid;
    EK_TRY(EK_NC(file, nc_redef(ncid)));
    EK_TRY(EK_NC(file, nc_put_att_double(ncid, file->time_id, name, NC_DOUBLE, 2,
                                         (const double[]){start, end})));
    return EK_NC(file, nc_put_att_float(ncid, file->var_id, name, NC_FLOAT, 2, file->range));
}

/* Runs on the io thread, which owns netCDF. */
static ek_status write_file(void *user)
{
    sample_file *file = user;
    int flags = NC_CLOBBER | NC_NETCDF4 | NC_CLASSIC_MODEL;
    ek_status rc = EK_OK;
    EK_TRY(EK_NC(file, nc_create(file->temporary, flags, &file->ncid)));
    EK_GOTO(define_coordinates(file), done);
    EK_GOTO(define_variable(file), done);
    EK_GOTO(define_globals(file), done);
    EK_GOTO(EK_NC(file, nc_enddef(file->ncid)), done);
    EK_GOTO(put_grid(file), done);
    EK_GOTO(put_steps(file), done);
    EK_GOTO(put_ranges(file), done);
done:;
    int closed = nc_close(file->ncid);
    return rc != EK_OK ? rc : EK_NC(file, closed);
}

static ek_status write_and_rename(sample_file *file, const char *path)
{
    EK_TRY(ek_io_acquire());
    struct sigaction action = {.sa_handler = on_interrupt};
    struct sigaction old_int;
    struct sigaction old_term;
    interrupted = 0;
    sigaction(SIGINT, &action, &old_int);
    sigaction(SIGTERM, &action, &old_term);
    ek_status rc = ek_io_call(write_file, file);
    if (rc == EK_OK && rename(file->temporary, path) != 0) {
        rc = EK_FAIL_CODE(EK_EIO, errno, "cannot rename '%s' to '%s': %s", file->temporary, path,
                          strerror(errno));
    }
    if (rc != EK_OK) {
        unlink(file->temporary);
    }
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    ek_io_release();
    return rc;
}

ek_status sample_write(const sample_options *options, const char *path)
{
    size_t n = (size_t)(options->grid.n_lat * options->grid.n_lon);
    char *temporary = ek_strprintf("%s.part-%ld", path, (long)getpid());
    sample_file file = {.options = options,
                        .temporary = temporary,
                        .n_steps = sample_steps(options),
                        .range = {HUGE_VALF, -HUGE_VALF}};
    ek_status rc = EK_ENOMEM;
    file.values = ek_alloc(n, sizeof(double));
    file.stored = ek_alloc(n, sizeof(float));
    if (temporary != NULL && file.values != NULL && file.stored != NULL) {
        EK_GOTO(sample_field_create(&file.field, &options->grid), done);
        EK_GOTO(write_and_rename(&file, path), done);
    }
done:
    sample_field_destroy(file.field);
    ek_free(file.values);
    ek_free(file.stored);
    ek_free(temporary);
    return rc;
}
