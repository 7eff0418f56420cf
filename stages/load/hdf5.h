/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of netCDF-4 (HDF5) variables, shared by the file that decides (hdf5.c, on the io
 * thread) and the one that reads (hdf5_decode.c, on any thread, without HDF5). */
#ifndef EK_STAGES_LOAD_HDF5_H
#define EK_STAGES_LOAD_HDF5_H

#include "stages/load/decoder.h"
#include "stages/load/filters.h"
#include "stages/load/hdf5_index.h"

#include <time.h>

EK_BEGIN_DECLS

typedef struct ek__hdf5 {
    ek__decoder base;
    char *path, *variable;
    int64_t file_bytes; /* as the plan was made; a file that differs is refused */
    struct timespec changed;
    int64_t n_rows, cells;
    size_t value_bytes;
    bool swap;       /* the file's byte order is not this machine's */
    uint8_t fill[8]; /* of values never written, in native byte order */

    bool chunked;
    bool allocated;  /* contiguous: there is data; chunked: always */
    uint64_t offset; /* contiguous: of the first value */

    int time_dim; /* dimensions before it have size 1 */
    ek__hdf5_grid grid;
    uint64_t row_chunks; /* chunks that share their rows: those of one index along time */
    ek__filters filters;
    ek__hdf5_chunk *chunks; /* grid.n_chunks, row-major */
    size_t input_bytes;     /* of scratch for stored bytes */
    size_t step_bytes;      /* then for what each filter gives that needs room of its own */
} ek__hdf5;

/* ek__hdf5_read_filters lists the filters of a dataset creation property list (an hid_t). `reason`
 * is empty before; afterwards it names what cannot be undone here, if anything ("szip"). On the io
 * thread only (hdf5_filters.c). */
void ek__hdf5_read_filters(int64_t dcpl, size_t value_bytes, ek__filters *out, char *reason,
                           size_t reason_size);

/* ek__hdf5_list_chunks fills self->chunks, zeroed before, for a finished grid. `dataset` is an
 * hid_t, `fd` the open file. Fails for lack of memory only. On the io thread only (hdf5_chunks.c).
 */
ek_status ek__hdf5_list_chunks(const ek__hdf5 *self, int64_t dataset, int fd, ek__hdf5_walked *out);

/* ek__hdf5_describe fills in the text: "chunk (shuffle, deflate)", "direct (contiguous)"
 * (hdf5_filters.c). */
void ek__hdf5_describe(ek__hdf5 *self);

/* ek__hdf5_finish fills in the head (operations, scratch, row unit) of a decoder of which all else
 * is set (hdf5_decode.c). */
void ek__hdf5_finish(ek__hdf5 *self);
void ek__hdf5_destroy(ek__decoder *self);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_HDF5_H */
