/* SPDX-License-Identifier: Apache-2.0 */
/* Byte order, in loops that the compiler turns into vector shuffles (compiled with -O3). Values are
 * copied in and out, since a file's values may stand at any address. */
#include "stages/load/swap.h"

#include "core/clones.h"

#include <string.h>

EK_CLONES static void swap2(unsigned char *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t value;
        memcpy(&value, at + 2 * i, sizeof(value));
        value = (uint16_t)(value << 8 | value >> 8);
        memcpy(at + 2 * i, &value, sizeof(value));
    }
}

EK_CLONES static void swap4(unsigned char *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t value;
        memcpy(&value, at + 4 * i, sizeof(value));
        value = __builtin_bswap32(value);
        memcpy(at + 4 * i, &value, sizeof(value));
    }
}

EK_CLONES static void swap8(unsigned char *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t value;
        memcpy(&value, at + 8 * i, sizeof(value));
        value = __builtin_bswap64(value);
        memcpy(at + 8 * i, &value, sizeof(value));
    }
}

void ek__swap_values(void *values, size_t n, size_t size)
{
    switch (size) {
    case 2:
        swap2(values, n);
        break;
    case 4:
        swap4(values, n);
        break;
    case 8:
        swap8(values, n);
        break;
    default:
        break;
    }
}
