/* SPDX-License-Identifier: Apache-2.0 */
/* Byte order. */
#ifndef EK_STAGES_LOAD_SWAP_H
#define EK_STAGES_LOAD_SWAP_H

#include "core/common.h"

EK_BEGIN_DECLS

/* ek__swap_values reverses the bytes of each of n values of `size` bytes (1, 2, 4 or 8) in place.
 * `values` need not be aligned. Any thread. */
void ek__swap_values(void *values, size_t n, size_t size);

/* ek__is_little_endian says whether this machine stores the low byte first. */
static inline bool ek__is_little_endian(void)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

EK_END_DECLS

#endif /* EK_STAGES_LOAD_SWAP_H */
