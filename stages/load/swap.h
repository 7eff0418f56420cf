/* SPDX-License-Identifier: Apache-2.0 */
/* Byte order. */
#ifndef EK_STAGES_LOAD_SWAP_H
#define EK_STAGES_LOAD_SWAP_H

#include "core/common.h"

EK_BEGIN_DECLS

/* EK_CLONES has a function compiled for several vector units, one of which is chosen as the program
 * is loaded: on Linux with gcc for x86-64, and not under the sanitizers, which are not ready that
 * early. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&   \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define EK_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define EK_CLONES
#endif

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
