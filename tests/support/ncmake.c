/* SPDX-License-Identifier: Apache-2.0 */
/* Small netCDF files made by tests. */
#include "tests/support/ncmake.h"

#include "tests/support/near.h"

#include "core/loop.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATHS_MAX 1024

static char directory[64];
static char *paths[PATHS_MAX];
static int n_paths;

const char *ncmake_path(const char *name)
{
    if (directory[0] == '\0') {
        snprintf(directory, sizeof(directory), "/tmp/ekman-test-XXXXXX");
        assert_non_null(mkdtemp(directory));
    }
    assert_true(n_paths < PATHS_MAX);
    size_t size = sizeof(directory) + strlen(name) + 2;
    char *path = malloc(size);
    assert_non_null(path);
    snprintf(path, size, "%s/%s", directory, name);
    paths[n_paths++] = path;
    return path;
}

void ncmake_cleanup(void)
{
    DIR *dir = directory[0] != '\0' ? opendir(directory) : NULL;
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.') {
            unlinkat(dirfd(dir), entry->d_name, 0);
        }
    }
    if (dir != NULL) {
        closedir(dir);
        rmdir(directory);
    }
    directory[0] = '\0';
    while (n_paths > 0) {
        free(paths[--n_paths]);
    }
}

int ncmake_entries(void)
{
    int n = 0;
    DIR *dir = opendir(directory);
    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        n += entry->d_name[0] != '.' ? 1 : 0;
    }
    closedir(dir);
    return n;
}

int64_t ncmake_bytes(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_size;
}

const char *ncmake_copy(const char *name, const char *from, int64_t bytes)
{
    const char *path = ncmake_path(name);
    FILE *in = fopen(from, "rb");
    FILE *out = fopen(path, "wb");
    assert_non_null(in);
    assert_non_null(out);
    int64_t left = bytes < 0 ? ncmake_bytes(from) : bytes;
    for (; left > 0; left--) {
        fputc(fgetc(in), out);
    }
    fclose(in);
    fclose(out);
    return path;
}

const char *ncmake_text(const char *name, const char *text)
{
    const char *path = ncmake_path(name);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    return path;
}

double ncmake_value(const ncmake *recipe, int step, int cell)
{
    return recipe->base + 10.0 * step + cell;
}

/* A file being made; only its first netCDF failure is kept. */
typedef struct making {
    const char *path;
    ncmake r;
    int ncid, code;
    int dims[3]; /* time, lat, lon */
    int v, time, lat, lon;
} making;

static void keep(making *m, int code)
{
    m->code = m->code == NC_NOERR ? code : m->code;
}

static void put_text(making *m, int varid, const char *name, const char *text)
{
    keep(m, nc_put_att_text(m->ncid, varid, name, strlen(text), text));
}

static void define(making *m)
{
    const ncmake *r = &m->r;
    size_t n_time = r->fixed_time || r->lat_first ? (size_t)r->n_time : NC_UNLIMITED;
    keep(m, nc_create(m->path, NC_CLOBBER | r->format, &m->ncid));
    keep(m, nc_def_dim(m->ncid, "time", n_time, &m->dims[0]));
    keep(m, nc_def_dim(m->ncid, "lat", (size_t)r->n_lat, &m->dims[1]));
    keep(m, nc_def_dim(m->ncid, "lon", (size_t)r->n_lon, &m->dims[2]));
    keep(m, nc_def_var(m->ncid, "lat", NC_DOUBLE, 1, &m->dims[1], &m->lat));
    keep(m, nc_def_var(m->ncid, "lon", NC_FLOAT, 1, &m->dims[2], &m->lon));
    put_text(m, m->lat, "units", "degrees_north");
    put_text(m, m->lon, "units", "degrees_east");
    m->time = -1;
    if (r->time_units[0] != '\0') {
        keep(m, nc_def_var(m->ncid, "time", NC_DOUBLE, 1, &m->dims[0], &m->time));
        put_text(m, m->time, "units", r->time_units);
    }
    if (m->time >= 0 && r->calendar != NULL) {
        put_text(m, m->time, "calendar", r->calendar);
    }
    int order[3] = {m->dims[0], m->dims[1], m->dims[2]};
    if (r->lat_first) {
        order[0] = m->dims[1];
        order[1] = m->dims[0];
    }
    keep(m, nc_def_var(m->ncid, "v", r->type, 3, order, &m->v));
    put_text(m, m->v, "units", r->units);
    if (r->more != NULL) {
        r->more(m->ncid, m->v);
    }
    keep(m, nc_enddef(m->ncid));
}

static void fill(making *m)
{
    const ncmake *r = &m->r;
    for (int i = 0; i < r->n_lat; i++) {
        size_t at = (size_t)i;
        double value = r->lat0 + 2.5 * i;
        keep(m, nc_put_var1_double(m->ncid, m->lat, &at, &value));
    }
    for (int i = 0; i < r->n_lon; i++) {
        size_t at = (size_t)i;
        double value = 10.0 * i;
        keep(m, nc_put_var1_double(m->ncid, m->lon, &at, &value));
    }
    for (int t = 0; t < r->n_time; t++) {
        size_t at = (size_t)t;
        double value = r->first + r->step * t;
        if (m->time >= 0) {
            keep(m, nc_put_var1_double(m->ncid, m->time, &at, &value));
        }
        for (int c = 0; c < r->n_lat * r->n_lon; c++) {
            size_t y = (size_t)(c / r->n_lon);
            size_t start[3] = {r->lat_first ? y : at, r->lat_first ? at : y,
                               (size_t)(c % r->n_lon)};
            value = ncmake_value(r, t, c);
            keep(m, nc_put_var1_double(m->ncid, m->v, start, &value));
        }
    }
}

static ek_status make(void *user)
{
    making *m = user;
    define(m);
    fill(m);
    keep(m, nc_close(m->ncid));
    return m->code == NC_NOERR
               ? EK_OK
               : EK_FAIL_CODE(EK_ENETCDF, m->code, "%s: %s", m->path, nc_strerror(m->code));
}

const char *ncmake_file(const char *name, const ncmake *recipe)
{
    making m = {.path = ncmake_path(name), .r = *recipe};
    ncmake *r = &m.r;
    r->type = r->type != NC_NAT ? r->type : NC_FLOAT;
    r->n_time = r->n_time > 0 ? r->n_time : 4;
    r->n_lat = r->n_lat > 0 ? r->n_lat : 3;
    r->n_lon = r->n_lon > 0 ? r->n_lon : 5;
    r->step = r->step != 0 ? r->step : 1;
    r->time_units = r->time_units != NULL ? r->time_units : "days since 2000-01-01";
    r->units = r->units != NULL ? r->units : "K";
    ek_assert_ok(ek_io_call(make, &m));
    return m.path;
}
