/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding a run of stored values in host kernels, in loops that the compiler turns into vector
 * code (compiled with -O3). */
#include "stages/kernels.h"

#include "core/clones.h"

#include <float.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* One function per stored type, whose finite values are `low` to `high`. Raw values are compared
 * with the missing ones in their own type (those that it cannot hold match nothing), and with a
 * constant number of them: so the loop over values has no inner loop. */
#define DEFINE_DECODE(type, low, high)                                                             \
    ALWAYS_INLINE void decode_##type##_n(const ek_chunk_header *header, const type *restrict raw,  \
                                         int64_t count, double *restrict out, int n)               \
    {                                                                                              \
        type missing[EK_MISSING_MAX];                                                              \
        for (int j = 0; j < EK_MISSING_MAX; j++) {                                                 \
            missing[j] = j < n ? (type)header->missing[j] : 0;                                     \
        }                                                                                          \
        ek_chunk_header packing = *header;                                                         \
        for (int64_t i = 0; i < count; i++) {                                                      \
            bool gone = raw[i] - raw[i] != 0; /* not finite */                                     \
            for (int j = 0; j < n; j++) {                                                          \
                gone |= raw[i] == missing[j];                                                      \
            }                                                                                      \
            double good = ek_chunk_unpack(&packing, (double)raw[i]);                               \
            out[i] = gone ? (double)NAN : good;                                                    \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    EK_CLONES static void decode_##type(const ek_chunk_header *header, const type *raw,            \
                                        int64_t count, double *out)                                \
    {                                                                                              \
        ek_chunk_header held = *header;                                                            \
        held.n_missing = 0;                                                                        \
        for (int j = 0; j < header->n_missing; j++) {                                              \
            double m = header->missing[j];                                                         \
            if (m >= (double)(low) && m <= (double)(high) && (double)(type)m == m) {               \
                held.missing[held.n_missing++] = m;                                                \
            }                                                                                      \
        }                                                                                          \
        for (int j = held.n_missing; j < EK_MISSING_MAX; j++) {                                    \
            held.missing[j] = held.n_missing > 0 ? held.missing[0] : 0.0;                          \
        }                                                                                          \
        if (held.n_missing == 0) {                                                                 \
            decode_##type##_n(&held, raw, count, out, 0);                                          \
        } else if (held.n_missing <= 2) {                                                          \
            decode_##type##_n(&held, raw, count, out, 2);                                          \
        } else {                                                                                   \
            decode_##type##_n(&held, raw, count, out, EK_MISSING_MAX);                             \
        }                                                                                          \
    }

DEFINE_DECODE(int8_t, INT8_MIN, INT8_MAX)
DEFINE_DECODE(uint8_t, 0, UINT8_MAX)
DEFINE_DECODE(int16_t, INT16_MIN, INT16_MAX)
DEFINE_DECODE(uint16_t, 0, UINT16_MAX)
DEFINE_DECODE(int32_t, INT32_MIN, INT32_MAX)
DEFINE_DECODE(uint32_t, 0, UINT32_MAX)
DEFINE_DECODE(float, -FLT_MAX, FLT_MAX)
DEFINE_DECODE(double, -DBL_MAX, DBL_MAX)

void ek__decode_run(ek_stream_view view, int64_t first, int64_t count, double *out)
{
    if (view.values != NULL) {
        memcpy(out, view.values + first, (size_t)count * sizeof *out);
        return;
    }
    const void *raw = view.header->data;
    switch (view.header->dtype) {
    case EK_I8:
        decode_int8_t(view.header, (const int8_t *)raw + first, count, out);
        break;
    case EK_U8:
        decode_uint8_t(view.header, (const uint8_t *)raw + first, count, out);
        break;
    case EK_I16:
        decode_int16_t(view.header, (const int16_t *)raw + first, count, out);
        break;
    case EK_U16:
        decode_uint16_t(view.header, (const uint16_t *)raw + first, count, out);
        break;
    case EK_I32:
        decode_int32_t(view.header, (const int32_t *)raw + first, count, out);
        break;
    case EK_U32:
        decode_uint32_t(view.header, (const uint32_t *)raw + first, count, out);
        break;
    case EK_F32:
        decode_float(view.header, (const float *)raw + first, count, out);
        break;
    default:
        decode_double(view.header, (const double *)raw + first, count, out);
        break;
    }
}
