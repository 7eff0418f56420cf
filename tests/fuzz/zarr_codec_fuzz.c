/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of Zarr arrays. */
#include "tests/fuzz/fuzz.h"

#include "stages/load/zarr_codec.h"

#include "core/alloc.h"

#include <libdeflate.h>
#include <string.h>

#define CHUNK_BYTES_MAX 65536

static void decode(const ek__zarr_array *a, const uint8_t *chunk, size_t n)
{
    if (a->refusal[0] != '\0' || a->chunk_bytes == 0 || a->chunk_bytes > CHUNK_BYTES_MAX ||
        n > ek__zarr_encoded_max(a)) {
        return;
    }
    /* Of the exact sizes, so that a byte too far is seen. */
    uint8_t *out = malloc(a->chunk_bytes);
    uint8_t *in = malloc(n + 1);
    size_t n_work = ek__zarr_work_bytes(a);
    uint8_t *work = malloc(n_work + 1);
    struct libdeflate_decompressor *inflate = libdeflate_alloc_decompressor();
    if (out != NULL && in != NULL && work != NULL && inflate != NULL) {
        memcpy(in, chunk, n);
        (void)ek__zarr_decode(a, in, n, work, out, inflate);
    }
    libdeflate_free_decompressor(inflate);
    free(work);
    free(in);
    free(out);
}

void fuzz_zarr_codec(const uint8_t *data, size_t n)
{
    const uint8_t *zero = n > 0 ? memchr(data, 0, n) : NULL;
    if (zero == NULL) {
        return;
    }
    size_t length = (size_t)(zero - data);
    json_t *json = NULL;
    if (ek__zarr_json((const char *)data, length, "input", &json) != EK_OK) {
        return;
    }
    ek__zarr_array a = {0};
    bool is_v2 = json_integer_value(json_object_get(json, "zarr_format")) == 2;
    ek_status rc =
        is_v2 ? ek__zarr_parse_v2(json, NULL, "input", &a) : ek__zarr_parse_v3(json, "input", &a);
    if (rc == EK_OK) {
        decode(&a, zero + 1, n - length - 1);
    }
    ek__zarr_array_free(&a);
    json_decref(json);
}
