/* SPDX-License-Identifier: Apache-2.0 */
/* Local Zarr stores, versions 2 and 3: a directory of small files. The arrays of the root group are
 * shown to the rest of the load stage as a netCDF file in memory that has all metadata and the
 * values of coordinates; the values of the chosen variable are read by a decoder (decoder.h), as no
 * library stands behind it. */
#ifndef EK_STAGES_LOAD_ZARR_H
#define EK_STAGES_LOAD_ZARR_H

#include "stages/load/zarr_meta.h"

EK_BEGIN_DECLS

typedef struct ek__zarr_store {
    char *path;
    ek__zarr_array *arrays; /* of the root group, by name */
    size_t n_arrays, capacity;
    json_t *attrs;   /* of the root group; an object, or NULL */
    bool has_groups; /* below the root group; they are not read */
} ek__zarr_store;

/* ek__zarr_is_store says whether a path is a directory with the metadata of a Zarr group or array.
 * Any thread. */
bool ek__zarr_is_store(const char *path);

/* ek__zarr_store_open reads all metadata of a store, consolidated ones where there are any. Blocks;
 * any thread. */
ek_status ek__zarr_store_open(ek__zarr_store **out, const char *path);
void ek__zarr_store_close(ek__zarr_store *store);

/* ek__zarr_store_find returns the named array; NULL if there is none. */
const ek__zarr_array *ek__zarr_store_find(const ek__zarr_store *store, const char *name);

/* ek__zarr_stamp gets size and time of change of a file; false if it is not there. */
bool ek__zarr_stamp(const char *path, int64_t *n_bytes, int64_t *mtime_ns);

/* ek__zarr_mirror makes the netCDF file in memory; close it with nc_close. An array that cannot be
 * read has an opaque type there whose name says why. On the io thread. */
ek_status ek__zarr_mirror(const char *path, int *ncid);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_ZARR_H */
