/* SPDX-License-Identifier: Apache-2.0 */
/* The HDF5 filters that decoders undo themselves: deflate, shuffle, fletcher32. */
#ifndef EK_STAGES_LOAD_FILTERS_H
#define EK_STAGES_LOAD_FILTERS_H

#include "core/common.h"

EK_BEGIN_DECLS

/* ek__unshuffle undoes the byte shuffle of n values of `size` bytes (1, 2, 4 or 8), and with `swap`
 * reverses the bytes of each, from `from` into `to`, which do not overlap. */
void ek__unshuffle(const uint8_t *from, void *to, size_t n, size_t size, bool swap);

/* ek__fletcher32 is the checksum that HDF5 appends to a chunk (its low byte first). */
uint32_t ek__fletcher32(const uint8_t *data, size_t n);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_FILTERS_H */
