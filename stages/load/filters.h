/* SPDX-License-Identifier: Apache-2.0 */
/* Undoing what HDF5's own filters did to a storage chunk: shuffle, deflate (zlib streams) and
 * fletcher32. No HDF5 calls; nothing here allocates; any thread. */
#ifndef EK_STAGES_LOAD_FILTERS_H
#define EK_STAGES_LOAD_FILTERS_H

#include "core/common.h"

EK_BEGIN_DECLS

struct libdeflate_decompressor;

typedef enum ek__filter { EK_FILTER_SHUFFLE, EK_FILTER_DEFLATE, EK_FILTER_FLETCHER32 } ek__filter;

#define EK_FILTERS_MAX  3
#define EK_FLETCHER_LEN 4 /* bytes that the checksum adds to a chunk */

/* The filters of a variable, in the order in which they were applied; each at most once. */
typedef struct ek__filters {
    int n;
    ek__filter ids[EK_FILTERS_MAX];
    size_t value_bytes; /* what shuffle takes for a value: 1, 2, 4 or 8 */
} ek__filters;

/* Working memory for undoing filters; what is not needed may be NULL. */
typedef struct ek__filter_room {
    uint8_t *inflated;   /* raw_bytes + EK_FLETCHER_LEN, where there is deflate */
    uint8_t *unshuffled; /* as long, and no shorter than a stored chunk, where
                            ek__filters_unshuffle says so */
    struct libdeflate_decompressor *inflate;
} ek__filter_room;

/* A chunk on its way. Going in, `bytes` are the stored ones; coming out, they are the raw_bytes of
 * values, still in byte planes if `shuffled`. */
typedef struct ek__filtered {
    const uint8_t *bytes;
    size_t n_bytes;
    size_t raw_bytes; /* of the chunk's values */
    uint32_t mask;    /* bit i: filter i was left out for this chunk */
    bool shuffled;
} ek__filtered;

/* ek__filters_has says whether the filter is among them. */
bool ek__filters_has(const ek__filters *filters, ek__filter filter);

/* ek__filters_unshuffle says whether undoing the filters has to put shuffled bytes in order, as
 * something was applied before shuffle. netCDF-C 4.9 writes the checksum first; deflate comes
 * first where a program asks for it before shuffle. */
bool ek__filters_unshuffle(const ek__filters *filters);

/* ek__filters_undo undoes all filters, but for a shuffle that was applied first: ek__unshuffle_part
 * does that as the values are copied. Checksums are verified. Returns NULL, or what is wrong with
 * the chunk: "its compressed data are damaged". */
const char *ek__filters_undo(const ek__filters *filters, ek__filtered *chunk,
                             const ek__filter_room *room);

/* ek__fletcher32 is the checksum of HDF5's filter. */
uint32_t ek__fletcher32(const uint8_t *bytes, size_t n);

/* Shuffled values: the first bytes of all, then the second bytes of all, and so on. */
typedef struct ek__planes {
    const uint8_t *bytes;
    size_t n_values;    /* in the whole: the distance between planes */
    size_t value_bytes; /* 1, 2, 4 or 8 */
    bool swap;          /* reverse the bytes of each value */
} ek__planes;

/* ek__unshuffle_part writes values [first, first + n) of the whole into `to`, ek__unshuffle all n
 * values of `from`. Addresses need not be aligned; the two do not overlap. */
void ek__unshuffle_part(const ek__planes *planes, size_t first, size_t n, void *to);
void ek__unshuffle(const uint8_t *from, void *to, size_t n, size_t size, bool swap);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_FILTERS_H */
