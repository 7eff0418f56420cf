/* SPDX-License-Identifier: Apache-2.0 */
/* Where the chunks of an HDF5 dataset stand: a walk of its version-1 B-tree, on the bytes of the
 * file and without the HDF5 library, which asks for one chunk at a time in a time that grows with
 * their number. Trusts nothing: every address, length, count and depth is bounded. */
#ifndef EK_STAGES_LOAD_HDF5_INDEX_H
#define EK_STAGES_LOAD_HDF5_INDEX_H

#include "core/field.h"

EK_BEGIN_DECLS

#define EK_HDF5_RANK (EK_FIELD_DIMS_MAX + 1)

/* A file's bytes: a descriptor, or memory where `memory` is not NULL. */
typedef struct ek__hdf5_bytes {
    int fd;
    const uint8_t *memory;
    uint64_t size;
} ek__hdf5_bytes;

/* A dataset's extents, and those of a chunk, in values. */
typedef struct ek__hdf5_grid {
    int rank;
    int64_t dims[EK_HDF5_RANK];
    int64_t chunk[EK_HDF5_RANK];
    int64_t counts[EK_HDF5_RANK]; /* chunks along each dimension */
    int64_t n_chunks;             /* product of counts */
} ek__hdf5_grid;

/* A stored chunk; bytes 0: never written. Bit i of mask: filter i was passed over. */
typedef struct ek__hdf5_chunk {
    uint64_t offset;
    uint32_t bytes;
    uint32_t mask;
} ek__hdf5_chunk;

/* What ek__hdf5_index returns, by address, where memory ran out. */
extern const char ek__hdf5_no_memory[];

/* ek__hdf5_index fills chunks[grid->n_chunks], zeroed by the caller, in row-major order of the
 * grid, and counts those found. `header` is the address of the dataset's object header. Returns
 * NULL, or a few words on what it does not understand. */
const char *ek__hdf5_index(const ek__hdf5_bytes *bytes, uint64_t header, const ek__hdf5_grid *grid,
                           ek__hdf5_chunk *chunks, int64_t *n_found);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_HDF5_INDEX_H */
