/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a box of a Zarr array, chunk by chunk. */
#ifndef EK_STAGES_LOAD_ZARR_READ_H
#define EK_STAGES_LOAD_ZARR_READ_H

#include "stages/load/decoder.h"
#include "stages/load/zarr_meta.h"

EK_BEGIN_DECLS

/* A part of an array: `count` values from `start` on in every dimension, within the shape. */
typedef struct ek__zarr_box {
    int64_t start[EK_ZARR_DIMS], count[EK_ZARR_DIMS];
} ek__zarr_box;

/* ek__zarr_box_chunks returns how many chunks have a share in the box. */
int64_t ek__zarr_box_chunks(const ek__zarr_array *a, const ek__zarr_box *box);

/* ek__zarr_scratch_bytes returns the working memory that reading a chunk needs. */
size_t ek__zarr_scratch_bytes(const ek__zarr_array *a);

/* ek__zarr_read_chunk puts the share of chunk number `i` of the box, counted in row-major order,
 * into `dst`, which holds the whole box, in native byte order. `store` is named in errors. Any
 * thread; blocks while it reads. */
ek_status ek__zarr_read_chunk(const ek__zarr_array *a, const char *store, const ek__zarr_box *box,
                              int64_t i, void *dst, ek__scratch *scratch);

/* ek__zarr_read_all reads a whole array into memory that is freed with ek_free. */
ek_status ek__zarr_read_all(const ek__zarr_array *a, const char *store, void **out);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_ZARR_READ_H */
