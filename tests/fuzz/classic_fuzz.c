/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of classic netCDF files. */
#include "tests/fuzz/fuzz.h"

#include "stages/load/classic.h"

#include "core/alloc.h"

static uint64_t end_of(const ek__classic_var *v)
{
    uint64_t end = 0;
    uint64_t last = 0;
    bool far = v->is_record && v->n_records > 0 &&
               __builtin_mul_overflow(v->n_records - 1, v->stride, &last);
    FUZZ_REQUIRE(!far && !__builtin_add_overflow(v->begin, v->bytes, &end));
    FUZZ_REQUIRE(!__builtin_add_overflow(end, last, &end));
    return end;
}

void fuzz_classic(const uint8_t *data, size_t n)
{
    static const char *const names[] = {NULL, "v", "time", ""};
    int64_t live = ek_alloc_live();
    for (size_t i = 0; i < EK_COUNT(names); i++) {
        ek__classic_input input = {.path = "input", .fd = -1, .memory = data, .n_bytes = n};
        ek__classic_var v;
        ek_status rc = ek__classic_parse(&input, names[i], &v);
        FUZZ_REQUIRE(rc == EK_OK || rc == EK_ETRUNC || rc == EK_ENETCDF);
        FUZZ_REQUIRE(rc == EK_OK || v.version == 0);
        FUZZ_REQUIRE(names[i] != NULL || v.type == 0);
        if (v.type != 0 && !(v.is_record && v.n_records == 0)) {
            FUZZ_REQUIRE(v.type <= 11 && end_of(&v) <= n);
        }
    }
    FUZZ_REQUIRE(ek_alloc_live() == live);
}
