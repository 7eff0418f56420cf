/* SPDX-License-Identifier: Apache-2.0 */
/* The netCDF file in memory that shows what a Zarr store has.
 *
 * As xarray does it, the fill value of version 2 becomes _FillValue; in version 3, where every
 * array must have one, the attribute _FillValue counts instead. Values are copied for what can
 * place or date the cells: scalars and one-dimensional arrays, and arrays that others name as
 * coordinates, bounds or grid mapping, unless these lie over time. */
#include "stages/load/zarr.h"

#include "stages/load/nc.h"
#include "stages/load/zarr_mirror.h"
#include "stages/load/zarr_read.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define SMALL_VALUES INT64_C(1000000)
#define MOST_VALUES  (INT64_C(1) << 27)

static nc_type nc_type_of(const ek__zarr_array *a)
{
    static const nc_type ints[] = {[1] = NC_BYTE, [2] = NC_SHORT, [4] = NC_INT, [8] = NC_INT64};
    static const nc_type uints[] = {[1] = NC_UBYTE, [2] = NC_USHORT, [4] = NC_UINT};
    if (a->type == 'f') {
        return a->size == 4 ? NC_FLOAT : NC_DOUBLE;
    }
    return a->type == 'i' ? ints[a->size] : uints[a->size];
}

/* Finds or makes the opaque type that is called like the refusal. */
static ek_status refused_type(int ncid, const ek__zarr_store *store, const ek__zarr_array *a,
                              nc_type *out)
{
    if (nc_inq_typeid(ncid, a->refusal, out) == NC_NOERR) {
        return EK_OK;
    }
    return EK_NC(nc_def_opaque(ncid, 1, a->refusal, out), store->path, a->name);
}

static ek_status define_dim(int ncid, const ek__zarr_store *store, const ek__zarr_array *a, int d,
                            int *dimid)
{
    char name[NC_MAX_NAME + 1];
    if (a->dims[d] != NULL) {
        snprintf(name, sizeof(name), "%s", a->dims[d]);
    } else {
        snprintf(name, sizeof(name), "%.200s_%d", a->name, d);
    }
    if (nc_inq_dimid(ncid, name, dimid) != NC_NOERR) {
        return EK_NC(nc_def_dim(ncid, name, (size_t)a->shape[d], dimid), store->path, name);
    }
    size_t size = 0;
    EK_TRY(EK_NC(nc_inq_dimlen(ncid, *dimid, &size), store->path, name));
    if ((int64_t)size != a->shape[d]) {
        return EK_FAIL(EK_ESHAPE, "%s: the dimension %s has %lld values in %s, but %lld elsewhere",
                       store->path, name, (long long)a->shape[d], a->name, (long long)size);
    }
    return EK_OK;
}

/* Says whether an array is the coordinate of its only dimension. */
static bool is_coordinate(const ek__zarr_array *a)
{
    return a->n_dims == 1 && a->dims[0] != NULL && strcmp(a->dims[0], a->name) == 0;
}

/* Tells the chunks, which the load stage wants to know, where netCDF can say them. */
static ek_status define_chunks(int ncid, int varid, const ek__zarr_store *store,
                               const ek__zarr_array *a)
{
    size_t chunk[EK_ZARR_DIMS] = {0};
    bool can = a->n_dims > 0 && a->n_values > 0 && a->chunk_bytes < ((size_t)1 << 31);
    for (int d = 0; d < a->n_dims; d++) {
        chunk[d] = (size_t)EK_MIN(a->chunk[d], a->shape[d]);
    }
    return can ? EK_NC(nc_def_var_chunking(ncid, varid, NC_CHUNKED, chunk), store->path, a->name)
               : EK_OK;
}

static ek_status define_variable(int ncid, const ek__zarr_store *store, const ek__zarr_array *a,
                                 int *varid)
{
    int dimids[EK_ZARR_DIMS] = {0};
    for (int d = 0; d < a->n_dims; d++) {
        EK_TRY(define_dim(ncid, store, a, d, &dimids[d]));
    }
    bool refused = a->refusal[0] != '\0';
    if (refused && is_coordinate(a) && a->type != 's') {
        return EK_FAIL(EK_ENOTSUP, "%s: the coordinate %s is stored as %s, which is not read",
                       store->path, a->name, a->refusal);
    }
    nc_type type = NC_CHAR;
    if (refused && a->type != 's') {
        EK_TRY(refused_type(ncid, store, a, &type));
    } else if (!refused) {
        type = nc_type_of(a);
    }
    EK_TRY(EK_NC(nc_def_var(ncid, a->name, type, a->n_dims, dimids, varid), store->path, a->name));
    if (refused) {
        return EK_OK;
    }
    EK_TRY(define_chunks(ncid, *varid, store, a));
    uint8_t fill[8];
    const json_t *attr = json_object_get(a->attrs, "_FillValue");
    bool has_fill = ek__zarr_attr_fill(a, attr, fill);
    if (a->version == 2 && a->has_fill) {
        memcpy(fill, a->fill, sizeof(fill));
        has_fill = true;
    }
    return has_fill
               ? EK_NC(nc_put_att(ncid, *varid, "_FillValue", type, 1, fill), store->path, a->name)
               : EK_OK;
}

/* Says whether `name` is a word of a list such as "lat lon" or "crs: x y". */
static bool has_word(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(list, name); at != NULL; at = strstr(at + 1, name)) {
        char end = at[length];
        if ((at == list || isspace((unsigned char)at[-1])) &&
            (end == '\0' || end == ':' || isspace((unsigned char)end))) {
            return true;
        }
    }
    return false;
}

/* Says whether attributes of some array name this one. */
static bool is_named(const ek__zarr_store *store, const ek__zarr_array *a)
{
    static const char *const attrs[] = {"coordinates", "bounds", "grid_mapping"};
    for (size_t i = 0; i < store->n_arrays; i++) {
        for (size_t k = 0; k < EK_COUNT(attrs); k++) {
            const char *list = json_string_value(json_object_get(store->arrays[i].attrs, attrs[k]));
            if (list != NULL && has_word(list, a->name)) {
                return true;
            }
        }
    }
    return false;
}

/* Says whether one of the dimensions has a coordinate with units such as "days since 1970-1-1". */
static bool is_over_time(const ek__zarr_store *store, const ek__zarr_array *a)
{
    for (int d = 0; d < a->n_dims; d++) {
        const ek__zarr_array *c =
            a->dims[d] != NULL ? ek__zarr_store_find(store, a->dims[d]) : NULL;
        const json_t *attrs = c != NULL ? c->attrs : NULL;
        const char *units = json_string_value(json_object_get(attrs, "units"));
        if (units != NULL && strstr(units, " since ") != NULL) {
            return true;
        }
    }
    return false;
}

static ek_status copy_values(int ncid, int varid, const ek__zarr_store *store,
                             const ek__zarr_array *a)
{
    bool wanted = is_coordinate(a) || (a->n_dims <= 1 && a->n_values <= SMALL_VALUES) ||
                  (is_named(store, a) && (a->n_values <= SMALL_VALUES || !is_over_time(store, a)));
    if (!wanted || a->refusal[0] != '\0' || a->n_values == 0) {
        return EK_OK;
    }
    if (a->n_values > MOST_VALUES) {
        return EK_FAIL(EK_ENOTSUP, "%s: the coordinate %s has %lld values; at most %lld are read",
                       store->path, a->name, (long long)a->n_values, (long long)MOST_VALUES);
    }
    void *values = NULL;
    EK_TRY(ek__zarr_read_all(a, store->path, &values));
    ek_status rc = EK_NC(nc_put_var(ncid, varid, values), store->path, a->name);
    ek_free(values);
    return rc;
}

static ek_status fill_mirror(int ncid, const ek__zarr_store *store)
{
    for (size_t i = 0; i < store->n_arrays; i++) {
        const ek__zarr_array *a = &store->arrays[i];
        int varid = -1;
        EK_TRY(define_variable(ncid, store, a, &varid));
        EK_TRY(ek__zarr_put_attrs(ncid, varid, store->path, a->attrs));
    }
    EK_TRY(ek__zarr_put_attrs(ncid, NC_GLOBAL, store->path, store->attrs));
    EK_TRY(EK_NC(nc_enddef(ncid), store->path, "the metadata"));
    for (size_t i = 0; i < store->n_arrays; i++) {
        EK_TRY(copy_values(ncid, (int)i, store, &store->arrays[i]));
    }
    return EK_OK;
}

ek_status ek__zarr_mirror(const char *path, int *ncid)
{
    static int64_t n_mirrors; /* of the io thread, as all of netCDF */
    char name[64];
    *ncid = -1;
    ek__zarr_store *store = NULL;
    EK_TRY(ek__zarr_store_open(&store, path));
    /* No file is ever written; below a file that is no directory there cannot be one either. */
    snprintf(name, sizeof(name), "/dev/null/zarr-%lld", (long long)n_mirrors++);
    ek_status rc = EK_NC(nc_create(name, NC_NETCDF4 | NC_DISKLESS, ncid), path, "in memory");
    if (rc == EK_OK) {
        rc = fill_mirror(*ncid, store);
        if (rc != EK_OK) {
            nc_abort(*ncid);
            *ncid = -1;
        }
    }
    ek__zarr_store_close(store);
    return rc;
}
