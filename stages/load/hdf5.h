/* SPDX-License-Identifier: Apache-2.0 */
/* The HDF5 decoder's parts: deciding (hdf5.c, on the io thread) and decoding (hdf5_decode.c, on
 * worker threads, without the HDF5 library). */
#ifndef EK_STAGES_LOAD_HDF5_H
#define EK_STAGES_LOAD_HDF5_H

#include "stages/load/decoder.h"
#include "stages/load/hdf5_index.h"

#include <sys/stat.h>

EK_BEGIN_DECLS

#define EK_HDF5_FILTERS   3
#define EK_HDF5_JOB_BYTES (INT64_C(1) << 20) /* of values that a job makes */
#define EK_HDF5_GAP       4096 /* bytes between chunks read over rather than skipped */

typedef enum ek__hdf5_filter {
    EK_FILTER_SHUFFLE,
    EK_FILTER_DEFLATE,
    EK_FILTER_FLETCHER
} ek__hdf5_filter;

typedef struct ek__hdf5_decoder {
    ek__decoder head;
    char *path, *variable;
    struct stat stat; /* of the file at plan time */
    size_t size;      /* of a value, bytes */
    bool swap;        /* the file's byte order is not this machine's */
    int64_t n_rows, cells;

    int64_t offset; /* contiguous: where the values stand; -1: chunked */

    int time; /* dimension of time; those before it have size 1 */
    ek__hdf5_grid grid;
    ek__hdf5_chunk *chunks;
    int n_filters;
    ek__hdf5_filter filters[EK_HDF5_FILTERS]; /* in the order in which they were applied */
    size_t raw_bytes;                         /* of a chunk's values */
    size_t stored_bytes;                      /* most bytes of a stored chunk */
    int64_t per_row;                          /* chunks with the same time index */
    int64_t per_job;                          /* chunks */
    uint8_t fill[8];                          /* one value, this machine's byte order */
} ek__hdf5_decoder;

/* ek__hdf5_room returns the working memory for a chunk's values and a checksum behind them. */
static inline size_t ek__hdf5_room(const ek__hdf5_decoder *decoder)
{
    return (decoder->raw_bytes + 4 + 63) / 64 * 64;
}

int ek__hdf5_jobs(const ek__decoder *head, int64_t first, int64_t rows);
ek_status ek__hdf5_job(const ek__decoder *head, int64_t first, int64_t rows, int job, void *dst,
                       ek__scratch *scratch);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_HDF5_H */
