/* SPDX-License-Identifier: Apache-2.0 */
/* The filters of HDF5, backwards. The loops over bytes are written for the compiler to turn into
 * vector code (compiled with -O3). */
#include "stages/load/filters.h"

#include "core/clones.h"
#include "stages/load/swap.h"

#include <libdeflate.h>
#include <string.h>

bool ek__filters_has(const ek__filters *filters, ek__filter filter)
{
    bool has = false;
    for (int i = 0; i < filters->n; i++) {
        has = has || filters->ids[i] == filter;
    }
    return has;
}

static uint32_t fold(uint32_t sum)
{
    return (sum & 0xFFFF) + (sum >> 16);
}

uint32_t ek__fletcher32(const uint8_t *bytes, size_t n)
{
    uint32_t sum1 = 0;
    uint32_t sum2 = 0;
    for (size_t words = n / 2; words > 0;) {
        size_t block = EK_MIN(words, (size_t)360); /* no sum overflows in so many steps */
        words -= block;
        for (size_t i = 0; i < block; i++, bytes += 2) {
            sum1 += (uint32_t)bytes[0] << 8 | bytes[1];
            sum2 += sum1;
        }
        sum1 = fold(sum1);
        sum2 = fold(sum2);
    }
    if (n % 2 != 0) {
        sum1 += (uint32_t)bytes[0] << 8;
        sum2 += sum1;
        sum1 = fold(sum1);
        sum2 = fold(sum2);
    }
    return fold(sum2) << 16 | fold(sum1);
}

/* Checks the checksum at the end of the bytes and takes it off. HDF5 1.6.2 and older wrote it with
 * the bytes of each half exchanged, and readers accept that. */
static const char *undo_fletcher32(ek__filtered *chunk)
{
    if (chunk->n_bytes < EK_FLETCHER_LEN) {
        return "it is too short for its checksum";
    }
    chunk->n_bytes -= EK_FLETCHER_LEN;
    const uint8_t *end = chunk->bytes + chunk->n_bytes;
    uint32_t stored =
        (uint32_t)end[3] << 24 | (uint32_t)end[2] << 16 | (uint32_t)end[1] << 8 | end[0];
    uint32_t sum = ek__fletcher32(chunk->bytes, chunk->n_bytes);
    uint32_t old = (sum & 0x00FF00FF) << 8 | (sum >> 8 & 0x00FF00FF);
    return stored == sum || stored == old ? NULL : "its checksum does not fit its bytes";
}

static const char *undo_deflate(ek__filtered *chunk, size_t expected, const ek__filter_room *room)
{
    size_t actual = 0;
    enum libdeflate_result result = libdeflate_zlib_decompress(
        room->inflate, chunk->bytes, chunk->n_bytes, room->inflated, expected, &actual);
    chunk->bytes = room->inflated;
    chunk->n_bytes = expected;
    if (result == LIBDEFLATE_BAD_DATA) {
        return "its compressed data are damaged";
    }
    return result == LIBDEFLATE_SUCCESS && actual == expected
               ? NULL
               : "its compressed data have the wrong length";
}

/* Puts shuffled bytes in order. Those behind the last whole value were left where they are. */
static void undo_shuffle(ek__filtered *chunk, size_t value_bytes, uint8_t *to)
{
    size_t n = chunk->n_bytes / value_bytes;
    size_t whole = n * value_bytes;
    ek__unshuffle(chunk->bytes, to, n, value_bytes, false);
    memcpy(to + whole, chunk->bytes + whole, chunk->n_bytes - whole);
    chunk->bytes = to;
}

/* The filters that were applied to a chunk before another. */
typedef struct before {
    int n;
    bool deflate; /* how long the bytes were behind them is not known */
    size_t added; /* else: bytes more than the values */
} before;

static before filters_before(const ek__filters *filters, int end, uint32_t mask)
{
    before b = {0, false, 0};
    for (int i = 0; i < end; i++) {
        if ((mask >> i & 1) == 0) {
            b.n++;
            b.deflate = b.deflate || filters->ids[i] == EK_FILTER_DEFLATE;
            b.added += filters->ids[i] == EK_FILTER_FLETCHER32 ? EK_FLETCHER_LEN : 0;
        }
    }
    return b;
}

bool ek__filters_unshuffle(const ek__filters *filters)
{
    return ek__filters_has(filters, EK_FILTER_SHUFFLE) && filters->ids[0] != EK_FILTER_SHUFFLE;
}

const char *ek__filters_undo(const ek__filters *filters, ek__filtered *chunk,
                             const ek__filter_room *room)
{
    chunk->shuffled = false;
    for (int i = filters->n - 1; i >= 0; i--) {
        before b = filters_before(filters, i, chunk->mask);
        const char *problem = NULL;
        if ((chunk->mask >> i & 1) != 0) {
            continue;
        }
        if (filters->ids[i] == EK_FILTER_FLETCHER32) {
            problem = undo_fletcher32(chunk);
        } else if (filters->ids[i] == EK_FILTER_DEFLATE) {
            problem = undo_deflate(chunk, chunk->raw_bytes + b.added, room);
        } else if (b.n == 0) {
            chunk->shuffled = true;
        } else if (b.deflate || chunk->n_bytes == chunk->raw_bytes + b.added) {
            undo_shuffle(chunk, filters->value_bytes, room->unshuffled);
        } else {
            problem = "it does not have the length of its values";
        }
        if (problem != NULL) {
            return problem;
        }
    }
    return chunk->n_bytes == chunk->raw_bytes ? NULL : "it does not have the length of its values";
}

EK_CLONES static void join2(const uint8_t *restrict a, const uint8_t *restrict b, size_t n,
                            uint8_t *restrict to)
{
    for (size_t i = 0; i < n; i++) {
        to[2 * i] = a[i];
        to[2 * i + 1] = b[i];
    }
}

EK_CLONES static void join4(const uint8_t *const planes[4], size_t n, uint8_t *restrict to)
{
    const uint8_t *restrict a = planes[0];
    const uint8_t *restrict b = planes[1];
    const uint8_t *restrict c = planes[2];
    const uint8_t *restrict d = planes[3];
    for (size_t i = 0; i < n; i++) {
        to[4 * i] = a[i];
        to[4 * i + 1] = b[i];
        to[4 * i + 2] = c[i];
        to[4 * i + 3] = d[i];
    }
}

EK_CLONES static void join8(const uint8_t *const planes[8], size_t n, uint8_t *restrict to)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 8; k++) {
            to[8 * i + k] = planes[k][i];
        }
    }
}

void ek__unshuffle_part(const ek__planes *planes, size_t first, size_t n, void *to)
{
    const uint8_t *at[8];
    size_t size = planes->value_bytes;
    for (size_t k = 0; k < size; k++) {
        size_t plane = planes->swap ? size - 1 - k : k;
        at[k] = planes->bytes + plane * planes->n_values + first;
    }
    switch (size) {
    case 2:
        join2(at[0], at[1], n, to);
        break;
    case 4:
        join4(at, n, to);
        break;
    case 8:
        join8(at, n, to);
        break;
    default:
        memcpy(to, at[0], n);
        break;
    }
}

void ek__unshuffle(const uint8_t *from, void *to, size_t n, size_t size, bool swap)
{
    ek__planes planes = {from, n, size, swap};
    ek__unshuffle_part(&planes, 0, n, to);
}
