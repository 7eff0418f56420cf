/* SPDX-License-Identifier: Apache-2.0 */
/* Small netCDF files made by tests, in a directory that is removed afterwards. All netCDF calls run
 * on the io thread, so a test holds an ek_io_acquire. */
#ifndef EK_TESTS_SUPPORT_NCMAKE_H
#define EK_TESTS_SUPPORT_NCMAKE_H

#include "core/status.h"

#include <netcdf.h>

/* A variable v(time, lat, lon), float unless `type` says otherwise; zero members take defaults. */
typedef struct ncmake {
    int format;                        /* flags of nc_create: 0, NC_64BIT_OFFSET, NC_NETCDF4 ... */
    nc_type type;                      /* of v */
    int n_time, n_lat, n_lon;          /* 4, 3, 5 */
    bool fixed_time;                   /* time is not unlimited */
    bool lat_first;                    /* v(lat, time, lon) */
    const char *time_units;            /* "days since 2000-01-01"; "": no time coordinate */
    const char *calendar;              /* none */
    double first, step;                /* 0, 1 */
    double lat0;                       /* the first latitude */
    const char *units;                 /* "K" */
    double base;                       /* added to every value */
    void (*more)(int ncid, int varid); /* adds attributes and variables, in define mode */
} ncmake;

/* ncmake_value is the stored value at a step and cell: base + 10 * step + cell. */
double ncmake_value(const ncmake *recipe, int step, int cell);

/* ncmake_file writes directory/name and returns its path (borrowed, until ncmake_cleanup). */
const char *ncmake_file(const char *name, const ncmake *recipe);

/* ncmake_path returns directory/name; ncmake_entries counts what is in the directory. */
const char *ncmake_path(const char *name);
int ncmake_entries(void);

/* ncmake_copy copies the first `bytes` bytes of a file (-1: all) to directory/name; ncmake_bytes
 * returns a file's size. */
const char *ncmake_copy(const char *name, const char *from, int64_t bytes);
int64_t ncmake_bytes(const char *path);

/* ncmake_text writes a text file. */
const char *ncmake_text(const char *name, const char *text);

/* ncmake_cleanup removes the directory. */
void ncmake_cleanup(void);

#endif /* EK_TESTS_SUPPORT_NCMAKE_H */
