/* SPDX-License-Identifier: Apache-2.0 */
/* The chunk index of an HDF5 dataset. */
#include "tests/fuzz/fuzz.h"

#include "stages/load/hdf5_index.h"

#define CHUNKS_MAX 4096

/* Makes the grid that the first bytes describe; false if it has too many chunks. */
static bool make_grid(const uint8_t *head, ek__hdf5_grid *out)
{
    *out = (ek__hdf5_grid){.rank = 1 + head[0] % 6, .n_chunks = 1};
    for (int d = 0; d < out->rank; d++) {
        out->dims[d] = EK_MAX(head[2 + d], 1);
        out->chunk[d] = EK_MAX(head[8 + d], 1);
        out->counts[d] = (out->dims[d] + out->chunk[d] - 1) / out->chunk[d];
        out->n_chunks *= out->counts[d];
        if (out->n_chunks > CHUNKS_MAX) {
            return false;
        }
    }
    return true;
}

void fuzz_hdf5_index(const uint8_t *data, size_t n)
{
    static ek__hdf5_chunk chunks[CHUNKS_MAX];
    ek__hdf5_grid grid;
    if (n < FUZZ_HDF5_HEAD || !make_grid(data, &grid)) {
        return;
    }
    for (int64_t i = 0; i < grid.n_chunks; i++) {
        chunks[i] = (ek__hdf5_chunk){0};
    }
    uint64_t header = data[14] | (uint64_t)data[15] << 8;
    ek__hdf5_bytes bytes = {.fd = -1, .memory = data + FUZZ_HDF5_HEAD, .size = n - FUZZ_HDF5_HEAD};
    int64_t live = ek_alloc_live();
    int64_t n_found = 0;
    const char *error = ek__hdf5_index(&bytes, header, &grid, chunks, &n_found);
    FUZZ_REQUIRE(error != ek__hdf5_no_memory && ek_alloc_live() == live);
    int64_t counted = 0;
    for (int64_t i = 0; i < grid.n_chunks; i++) {
        counted += chunks[i].bytes != 0 ? 1 : 0;
        FUZZ_REQUIRE(chunks[i].bytes <= bytes.size);
        FUZZ_REQUIRE(chunks[i].offset <= bytes.size - chunks[i].bytes);
    }
    FUZZ_REQUIRE(error != NULL || counted == n_found);
}
