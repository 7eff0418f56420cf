/* SPDX-License-Identifier: Apache-2.0 */
/* The chunk index of an HDF5 dataset. */
#include "tests/fuzz/fuzz.h"

#include "core/alloc.h"
#include "stages/load/hdf5_index.h"

#define CHUNKS_MAX 4096

/* Makes the grid that the first bytes describe; false if it is refused or has too many chunks. */
static bool make_grid(const uint8_t *head, ek__hdf5_grid *out)
{
    *out = (ek__hdf5_grid){.rank = 1 + head[0] % 6, .value_bytes = 1u << (head[1] & 3)};
    for (int d = 0; d < out->rank; d++) {
        out->dims[d] = EK_MAX(head[2 + d], 1);
        out->chunk[d] = EK_MAX(head[8 + d], 1);
    }
    return ek__hdf5_grid_finish(out) == NULL && out->n_chunks <= CHUNKS_MAX;
}

void fuzz_hdf5_index(const uint8_t *data, size_t n)
{
    static ek__hdf5_chunk chunks[CHUNKS_MAX];
    ek__hdf5_grid grid;
    if (n < FUZZ_HDF5_HEAD || !make_grid(data, &grid)) {
        return;
    }
    for (uint64_t i = 0; i < grid.n_chunks; i++) {
        chunks[i] = (ek__hdf5_chunk){0};
    }
    uint64_t header = data[14] | (uint64_t)data[15] << 8;
    ek__hdf5_file file = {.fd = -1, .memory = data + FUZZ_HDF5_HEAD, .n_bytes = n - FUZZ_HDF5_HEAD};
    int64_t live = ek_alloc_live();
    ek__hdf5_walked walked = {0};
    FUZZ_REQUIRE(ek__hdf5_index_walk(&file, header, &grid, chunks, &walked) == EK_OK);
    FUZZ_REQUIRE(ek_alloc_live() == live);
    uint64_t counted = 0;
    for (uint64_t i = 0; i < grid.n_chunks; i++) {
        counted += chunks[i].n_bytes != 0 ? 1 : 0;
        FUZZ_REQUIRE(chunks[i].n_bytes <= file.n_bytes);
        FUZZ_REQUIRE(chunks[i].offset <= file.n_bytes - chunks[i].n_bytes);
    }
    FUZZ_REQUIRE(walked.problem != NULL || counted == walked.n_found);
}
