/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata of Zarr arrays. */
#include "tests/fuzz/fuzz.h"

#include "stages/load/zarr_codec.h"

#include "core/alloc.h"

static void check_array(const ek__zarr_array *a)
{
    char text[96];
    FUZZ_REQUIRE(a->n_dims >= 0 && a->n_dims <= EK_ZARR_DIMS);
    FUZZ_REQUIRE(a->n_codecs >= 0 && a->n_codecs <= EK_ZARR_CODECS);
    FUZZ_REQUIRE(a->n_values >= 0);
    ek__zarr_codec_text(a, text, sizeof(text));
    if (a->refusal[0] != '\0') {
        return;
    }
    size_t bytes = 1;
    for (int d = 0; d < a->n_dims; d++) {
        FUZZ_REQUIRE(a->shape[d] >= 0 && a->chunk[d] > 0);
        FUZZ_REQUIRE(!__builtin_mul_overflow(bytes, (size_t)a->chunk[d], &bytes));
    }
    FUZZ_REQUIRE(!__builtin_mul_overflow(bytes, (size_t)a->size, &bytes));
    FUZZ_REQUIRE(a->type == 's' || a->chunk_bytes == bytes);
    FUZZ_REQUIRE(ek__zarr_encoded_max(a) >= a->chunk_bytes);
}

void fuzz_zarr_meta(const uint8_t *data, size_t n)
{
    int64_t live = ek_alloc_live();
    json_t *json = NULL;
    ek_status rc = ek__zarr_json((const char *)data, n, "input", &json);
    FUZZ_REQUIRE(rc == EK_OK || rc == EK_EDATA);
    for (int version = 2; rc == EK_OK && version <= 3; version++) {
        ek__zarr_array a = {0};
        json_t *attrs = json_object_get(json, "attributes");
        ek_status parsed = version == 2 ? ek__zarr_parse_v2(json, attrs, "input", &a)
                                        : ek__zarr_parse_v3(json, "input", &a);
        FUZZ_REQUIRE(parsed != EK_ENOMEM);
        if (parsed == EK_OK) {
            check_array(&a);
        }
        ek__zarr_array_free(&a);
    }
    json_decref(json);
    FUZZ_REQUIRE(ek_alloc_live() == live);
}
