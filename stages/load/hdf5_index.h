/* SPDX-License-Identifier: Apache-2.0 */
/* Where the storage chunks of an HDF5 dataset lie, read from the file's own structures: the object
 * header's layout message, version 3, and its version-1 B-tree (HDF5 File Format Specification,
 * III.A.1, IV.A). No HDF5 calls: HDF5 1.10 needs a time that grows with the square of the number of
 * chunks to say the same. Nothing in the file is trusted: each address, length, count and depth is
 * held against the file's size and the variable's grid. */
#ifndef EK_STAGES_LOAD_HDF5_INDEX_H
#define EK_STAGES_LOAD_HDF5_INDEX_H

#include "core/status.h"

EK_BEGIN_DECLS

#define EK_HDF5_RANK_MAX   8
#define EK_HDF5_CHUNKS_MAX (UINT64_C(1) << 24)
#define EK_HDF5_CHUNK_MAX  (UINT64_C(256) << 20) /* bytes of values in a chunk */

/* A file: an open descriptor, or its bytes in memory where `fd` is -1. */
typedef struct ek__hdf5_file {
    int fd;
    const uint8_t *memory;
    uint64_t n_bytes;
} ek__hdf5_file;

/* A variable's grid of chunks, row-major. */
typedef struct ek__hdf5_grid {
    int rank;
    uint64_t dims[EK_HDF5_RANK_MAX];  /* values along each dimension, at least 1 */
    uint64_t chunk[EK_HDF5_RANK_MAX]; /* of them in a chunk */
    uint32_t value_bytes;
    /* Filled in by ek__hdf5_grid_finish: */
    uint64_t counts[EK_HDF5_RANK_MAX]; /* chunks along each dimension */
    uint64_t n_chunks;
    uint64_t chunk_values, chunk_bytes; /* of a whole chunk, before filters */
} ek__hdf5_grid;

/* A stored chunk; n_bytes is 0 where it was never written. */
typedef struct ek__hdf5_chunk {
    uint64_t offset; /* in the file */
    uint32_t n_bytes;
    uint32_t mask; /* bit i: filter i was left out */
} ek__hdf5_chunk;

/* ek__hdf5_grid_finish works out the rest of the grid. Returns NULL, or why it is refused: a size
 * of 0, or one beyond the limits above. */
const char *ek__hdf5_grid_finish(ek__hdf5_grid *grid);

/* ek__hdf5_index_add enters a chunk into the grid.n_chunks zeroed `chunks`; `origin` are the
 * coordinates of its first value. Returns NULL, or why this cannot be. */
const char *ek__hdf5_index_add(const ek__hdf5_grid *grid, uint64_t file_bytes,
                               const uint64_t *origin, const ek__hdf5_chunk *chunk,
                               ek__hdf5_chunk *chunks);

/* What a walk found. */
typedef struct ek__hdf5_walked {
    uint64_t n_found;
    const char *problem; /* NULL, or why the index is not believed, in a few words */
} ek__hdf5_walked;

/* ek__hdf5_index_walk fills the grid.n_chunks zeroed `chunks` from the object header at address
 * `header`. The file must have 8-byte addresses, 8-byte lengths and base address 0. Reads from
 * `file` only; blocks; fails for lack of memory only. */
ek_status ek__hdf5_index_walk(const ek__hdf5_file *file, uint64_t header, const ek__hdf5_grid *grid,
                              ek__hdf5_chunk *chunks, ek__hdf5_walked *out);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_HDF5_INDEX_H */
