/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that the compiler turns into vector code (compiled with -O3). */
#include "stages/load/filters.h"

#include "stages/load/swap.h"

#include <string.h>

EK_CLONES static void join2(const uint8_t *restrict p0, const uint8_t *restrict p1,
                            uint16_t *restrict to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = (uint16_t)(p0[i] | p1[i] << 8);
    }
}

EK_CLONES static void join4(const uint8_t *restrict const *p, uint32_t *restrict to, size_t n)
{
    const uint8_t *restrict p0 = p[0], *restrict p1 = p[1];
    const uint8_t *restrict p2 = p[2], *restrict p3 = p[3];
    for (size_t i = 0; i < n; i++) {
        to[i] =
            (uint32_t)p0[i] | (uint32_t)p1[i] << 8 | (uint32_t)p2[i] << 16 | (uint32_t)p3[i] << 24;
    }
}

EK_CLONES static void join8(const uint8_t *restrict const *p, uint64_t *restrict to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t value = 0;
        for (int b = 0; b < 8; b++) {
            value |= (uint64_t)p[b][i] << (8 * b);
        }
        to[i] = value;
    }
}

void ek__unshuffle(const uint8_t *from, void *to, size_t n, size_t size, bool swap)
{
    /* planes[b] holds the bytes of weight 256^b on this machine */
    const uint8_t *planes[8] = {0};
    bool low_first = swap != ek__is_little_endian();
    for (size_t b = 0; b < size; b++) {
        planes[b] = from + (low_first ? b : size - 1 - b) * n;
    }
    switch (size) {
    case 2:
        join2(planes[0], planes[1], to, n);
        break;
    case 4:
        join4(planes, to, n);
        break;
    case 8:
        join8(planes, to, n);
        break;
    default:
        memcpy(to, from, n);
        break;
    }
}

uint32_t ek__fletcher32(const uint8_t *data, size_t n)
{
    uint32_t sum1 = 0, sum2 = 0;
    size_t words = n / 2;
    while (words > 0) {
        size_t block = EK_MIN(words, 360); /* no sum overflows within a block */
        words -= block;
        for (; block > 0; block--, data += 2) {
            sum1 += (uint32_t)data[0] << 8 | data[1];
            sum2 += sum1;
        }
        sum1 = (sum1 & 0xffff) + (sum1 >> 16);
        sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    }
    if (n % 2 != 0) {
        sum1 += (uint32_t)*data << 8;
        sum2 += sum1;
        sum1 = (sum1 & 0xffff) + (sum1 >> 16);
        sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    }
    sum1 = (sum1 & 0xffff) + (sum1 >> 16);
    sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    return sum2 << 16 | sum1;
}
