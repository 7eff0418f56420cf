/* SPDX-License-Identifier: Apache-2.0 */
/* The harnesses. Each feeds the bytes to one parser and aborts if what comes out breaks a promise
 * of its header; the sanitizers look for the rest. What a parser refuses is fine. */
#ifndef EK_TESTS_FUZZ_FUZZ_H
#define EK_TESTS_FUZZ_FUZZ_H

#include "core/common.h"

#include <stdio.h>
#include <stdlib.h>

/* The header of a classic netCDF file. */
void fuzz_classic(const uint8_t *data, size_t n);

/* The head of a state file. */
void fuzz_checkpoint(const uint8_t *data, size_t n);

/* Time units, then a line feed, then a calendar. */
void fuzz_cftime(const uint8_t *data, size_t n);

/* An HDF5 file. Before it stand FUZZ_HDF5_HEAD bytes: rank and a spare byte, six sizes
 * and six chunk sizes (a byte each), and the address of the dataset's object header (2 bytes,
 * little-endian). */
#define FUZZ_HDF5_HEAD 16
void fuzz_hdf5_index(const uint8_t *data, size_t n);

/* The text of a pipeline. */
void fuzz_text(const uint8_t *data, size_t n);

/* A stored chunk of an HDF5 dataset. Before it stand FUZZ_FILTERS_HEAD bytes: up to three filters
 * (two bits each: 1 shuffle, 2 deflate, 3 fletcher32), the base-2 logarithm of a value's size, the
 * number of values less 1, and the filters that were left out (a bit each). */
#define FUZZ_FILTERS_HEAD 4
void fuzz_hdf5_filters(const uint8_t *data, size_t n);

/* The metadata of a Zarr array. */
void fuzz_zarr_meta(const uint8_t *data, size_t n);

/* Zarr metadata, then a zero byte, then a chunk. */
void fuzz_zarr_codec(const uint8_t *data, size_t n);

/* FUZZ_REQUIRE ends the program where a promise is broken. */
#define FUZZ_REQUIRE(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fuzz_broken(#condition, __FILE__, __LINE__);                                           \
        }                                                                                          \
    } while (0)

/* fuzz_broken says which promise, and aborts. */
static inline void fuzz_broken(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
    abort();
}

#endif /* EK_TESTS_FUZZ_FUZZ_H */
