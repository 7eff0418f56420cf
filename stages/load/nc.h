/* SPDX-License-Identifier: Apache-2.0 */
/* The few netCDF calls the load stage needs, with errors that name the file. Everything here runs
 * on the io thread (core/loop.h). */
#ifndef EK_STAGES_LOAD_NC_H
#define EK_STAGES_LOAD_NC_H

#include "core/field.h"

#include <netcdf.h>

EK_BEGIN_DECLS

/* An open file, seen from one of its groups. ncid is -1 while it is closed; the path is borrowed.
 */
typedef struct ek__nc_file {
    const char *path;
    int ncid;                    /* of the group */
    int root;                    /* of the file's root group */
    char group[NC_MAX_NAME + 1]; /* the group's full name, "/a/b"; "": the root */
} ek__nc_file;

/* A dimension of a file. */
typedef struct ek__nc_dim {
    char name[NC_MAX_NAME + 1];
    int64_t size;
    bool unlimited;
} ek__nc_dim;

#define EK_NC_DIMS (EK_FIELD_DIMS_MAX + 1)

/* A variable of a file. Its dims are filled in only where n_dims <= EK_NC_DIMS. */
typedef struct ek__nc_var {
    char name[NC_MAX_NAME + 1];
    int ncid; /* of the group that has it */
    int id;
    nc_type type;
    ek_dtype dtype; /* with _Unsigned obeyed; EK_DTYPE_NONE for text, 64-bit integers, structs */
    int n_dims;
    ek__nc_dim dims[EK_NC_DIMS];
} ek__nc_var;

/* EK_NC turns a netCDF code into an ek_status with the message "PATH: WHAT: netCDF's text". */
#define EK_NC(call, path, what) ek__nc_check((call), (path), (what), __FILE__, __LINE__)
ek_status ek__nc_check(int code, const char *path, const char *what, const char *source, int line);

/* ek__nc_quiet stops HDF5 from printing on stderr on this thread; netCDF-C does so for the first
 * thread only that uses it. Cheap to call again. */
void ek__nc_quiet(void);

/* ek__nc_open opens a file for reading, after refusing what netCDF-C would misread: directories,
 * empty or truncated files, other formats. A Zarr store is opened as a file in memory (zarr.h), an
 * address (ek__nc_is_remote) by the library as it is. ek__nc_close may be called on a closed file.
 */
ek_status ek__nc_open(ek__nc_file *file, const char *path);
void ek__nc_close(ek__nc_file *file);

/* ek__nc_is_remote says whether a path is an address such as https://host/file.nc#mode=bytes. */
bool ek__nc_is_remote(const char *path);

/* ek__nc_var_get describes variable `id` of the group; ek__nc_var_find the named one of the group
 * or else of the nearest group around it, or exactly "/GROUP/NAME" or "GROUP/NAME", with *found
 * false if there is none. Attributes and values of what was found are read through its ek__nc_home:
 * the file, seen from the variable's group. */
ek_status ek__nc_var_get(const ek__nc_file *file, int id, ek__nc_var *out);
ek_status ek__nc_var_find(const ek__nc_file *file, const char *name, ek__nc_var *out, bool *found);
ek__nc_file ek__nc_home(const ek__nc_file *file, const ek__nc_var *var);

/* ek__nc_coordinate finds the coordinate variable of a dimension: numeric, one-dimensional, of the
 * dimension's name. */
ek_status ek__nc_coordinate(const ek__nc_file *file, const ek__nc_dim *dim, ek__nc_var *out,
                            bool *found);

/* ek__nc_var_text writes "air(time 365, lat 73, lon 144)" into `out`. */
void ek__nc_var_text(const ek__nc_var *var, char *out, size_t size);

/* ek__nc_cells returns the number of values of a variable. */
int64_t ek__nc_cells(const ek__nc_var *var);

/* ek__nc_word copies a text attribute, cut to size, without surrounding blanks; "" if there is
 * none. For words that are compared. */
void ek__nc_word(const ek__nc_file *file, int varid, const char *name, char *out, size_t size);

/* ek__nc_text returns a text attribute of any length in *out; NULL if there is none. Free with
 * ek_free. */
ek_status ek__nc_text(const ek__nc_file *file, int varid, const char *name, char **out);

/* ek__nc_attr reads an attribute; out->name stays NULL if there is none or it is of a type that
 * netCDF's classic model lacks (64-bit integers are kept as float64). */
ek_status ek__nc_attr(const ek__nc_file *file, int varid, const char *name, ek_attr *out);
void ek__nc_attr_free(ek_attr *attr);

/* ek__nc_attrs reads all attributes of a variable. On failure *out holds what was read so far. */
ek_status ek__nc_attrs(const ek__nc_file *file, int varid, ek_attr **out, int *n_out);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_NC_H */
