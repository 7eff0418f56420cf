/* SPDX-License-Identifier: Apache-2.0 */
/* The Zstandard filter of HDF5 (registered number 32015), for writing files and for the library to
 * read them again. */
#include "tests/support/ncgrid.h"

#include <hdf5.h>
#include <stdlib.h>
#include <zstd.h>

#define ZSTD_ID 32015

static size_t filter(unsigned flags, size_t n_values, const unsigned *values, size_t n_bytes,
                     size_t *capacity, void **buffer)
{
    (void)n_values;
    (void)values;
    bool decode = (flags & H5Z_FLAG_REVERSE) != 0;
    size_t room =
        decode ? (size_t)ZSTD_getFrameContentSize(*buffer, n_bytes) : ZSTD_compressBound(n_bytes);
    void *out = malloc(room);
    if (out == NULL) {
        return 0;
    }
    size_t n = decode ? ZSTD_decompress(out, room, *buffer, n_bytes)
                      : ZSTD_compress(out, room, *buffer, n_bytes, 3);
    if (ZSTD_isError(n)) {
        free(out);
        return 0;
    }
    free(*buffer);
    *buffer = out;
    *capacity = room;
    return n;
}

void ncgrid_zstd_register(void)
{
    static const H5Z_class2_t zstd = {.version = H5Z_CLASS_T_VERS,
                                      .id = ZSTD_ID,
                                      .encoder_present = 1,
                                      .decoder_present = 1,
                                      .name = "zstd",
                                      .filter = filter};
    H5Zregister(&zstd);
}
