/* SPDX-License-Identifier: Apache-2.0 */
/* Stored chunks of netCDF-4 variables, on their way through the filters. */
#include "tests/fuzz/fuzz.h"

#include "stages/load/filters.h"

#include <libdeflate.h>
#include <string.h>

/* The filters that a byte lists, two bits each; 0 or one that was there ends the list. */
static ek__filters make_filters(uint8_t list, size_t value_bytes)
{
    ek__filters filters = {.value_bytes = value_bytes};
    for (int i = 0; i < EK_FILTERS_MAX; i++) {
        unsigned id = list >> (2 * i) & 3;
        if (id == 0 || ek__filters_has(&filters, (ek__filter)(id - 1))) {
            break;
        }
        filters.ids[filters.n++] = (ek__filter)(id - 1);
    }
    return filters;
}

/* Copies the values out, in two parts, as chunks that are cut are. */
static void take_values(const ek__filters *filters, const ek__filtered *chunk, uint8_t *out)
{
    size_t size = filters->value_bytes;
    size_t n = chunk->raw_bytes / size;
    if (chunk->shuffled) {
        ek__planes planes = {chunk->bytes, n, size, n % 2 != 0};
        ek__unshuffle_part(&planes, 0, n / 3, out);
        ek__unshuffle_part(&planes, n / 3, n - n / 3, out + n / 3 * size);
    } else {
        memcpy(out, chunk->bytes, chunk->raw_bytes);
    }
}

void fuzz_hdf5_filters(const uint8_t *data, size_t n)
{
    if (n < FUZZ_FILTERS_HEAD) {
        return;
    }
    ek__filters filters = make_filters(data[0], (size_t)1 << (data[1] & 3));
    ek__filtered chunk = {.n_bytes = n - FUZZ_FILTERS_HEAD,
                          .raw_bytes = (1 + (size_t)data[2]) * filters.value_bytes,
                          .mask = data[3]};
    size_t room_bytes = EK_MAX(chunk.raw_bytes + EK_FLETCHER_LEN, chunk.n_bytes);
    /* Of the exact sizes, so that a byte too far is seen. */
    uint8_t *stored = malloc(chunk.n_bytes + 1);
    uint8_t *out = malloc(chunk.raw_bytes);
    ek__filter_room room = {.inflated = malloc(chunk.raw_bytes + EK_FLETCHER_LEN),
                            .unshuffled = malloc(room_bytes),
                            .inflate = libdeflate_alloc_decompressor()};
    if (stored != NULL && out != NULL && room.inflated != NULL && room.unshuffled != NULL &&
        room.inflate != NULL) {
        memcpy(stored, data + FUZZ_FILTERS_HEAD, chunk.n_bytes);
        chunk.bytes = stored;
        if (ek__filters_undo(&filters, &chunk, &room) == NULL) {
            FUZZ_REQUIRE(chunk.n_bytes == chunk.raw_bytes);
            take_values(&filters, &chunk, out);
        }
    }
    libdeflate_free_decompressor(room.inflate);
    free(room.unshuffled);
    free(room.inflated);
    free(out);
    free(stored);
}
