/* SPDX-License-Identifier: Apache-2.0 */
/* Listing the stored chunks of a netCDF-4 variable: by HDF5 where it lists all in one go, which
 * every kind of index has, else by our own walk through the index of HDF5 1.8 and netCDF-4. */
#include "stages/load/hdf5.h"

#include <hdf5.h>

#if H5_VERSION_GE(1, 12, 3) || (H5_VERSION_GE(1, 10, 10) && !H5_VERSION_GE(1, 11, 0))

typedef struct listing {
    const ek__hdf5 *self;
    ek__hdf5_walked *out;
} listing;

static int add_chunk(const hsize_t *offset, unsigned mask, haddr_t at, hsize_t n_bytes, void *user)
{
    listing *l = user;
    const ek__hdf5 *self = l->self;
    uint64_t origin[EK_HDF5_RANK_MAX] = {0};
    for (int i = 0; i < self->grid.rank; i++) {
        origin[i] = offset[i];
    }
    ek__hdf5_chunk chunk = {.offset = at, .n_bytes = (uint32_t)n_bytes, .mask = mask};
    l->out->problem = n_bytes <= UINT32_MAX
                          ? ek__hdf5_index_add(&self->grid, (uint64_t)self->file_bytes, origin,
                                               &chunk, self->chunks)
                          : "chunks too large to decode at once";
    l->out->n_found++;
    return l->out->problem == NULL ? H5_ITER_CONT : H5_ITER_STOP;
}

ek_status ek__hdf5_list_chunks(const ek__hdf5 *self, int64_t dataset, int fd, ek__hdf5_walked *out)
{
    (void)fd;
    *out = (ek__hdf5_walked){0};
    listing l = {self, out};
    if (H5Dchunk_iter(dataset, H5P_DEFAULT, add_chunk, &l) < 0) {
        out->problem = "a chunk index that HDF5 does not list";
    }
    return EK_OK;
}

#else

#if H5_VERSION_GE(1, 12, 0)
typedef H5O_info1_t object_info;
#else
typedef H5O_info_t object_info;
#endif

ek_status ek__hdf5_list_chunks(const ek__hdf5 *self, int64_t dataset, int fd, ek__hdf5_walked *out)
{
    ek__hdf5_file file = {.fd = fd, .n_bytes = (uint64_t)self->file_bytes};
    object_info info;
    /* Basic information only: for the rest HDF5 walks through all of the index itself. */
    if (H5Oget_info2(dataset, &info, H5O_INFO_BASIC) < 0) {
        *out = (ek__hdf5_walked){.problem = "an object header that HDF5 does not place"};
        return EK_OK;
    }
    return ek__hdf5_index_walk(&file, info.addr, &self->grid, self->chunks, out);
}

#endif
