/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding a run of stored values in host kernels. */
#include "stages/kernels.h"

#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* One function per stored type: with the number of missing values a constant, the loop over the
 * values has no inner loop and can be vectorised. */
#define DEFINE_DECODE(type)                                                                        \
    ALWAYS_INLINE void decode_##type##_n(const ek_chunk_header *header, const type *restrict raw,  \
                                         int64_t count, double *restrict out, int n_missing)       \
    {                                                                                              \
        ek_chunk_header local = *header;                                                           \
        local.n_missing = n_missing;                                                               \
        for (int64_t i = 0; i < count; i++) {                                                      \
            double value = (double)raw[i];                                                         \
            double good = ek_chunk_unpack(&local, value);                                          \
            out[i] = ek_chunk_is_missing(&local, value) ? (double)NAN : good;                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void decode_##type(const ek_chunk_header *header, int64_t first, int64_t count,         \
                              double *out)                                                         \
    {                                                                                              \
        const type *raw = (const type *)header->data + first;                                      \
        switch (header->n_missing) {                                                               \
        case 0:                                                                                    \
            decode_##type##_n(header, raw, count, out, 0);                                         \
            break;                                                                                 \
        case 1:                                                                                    \
            decode_##type##_n(header, raw, count, out, 1);                                         \
            break;                                                                                 \
        case 2:                                                                                    \
            decode_##type##_n(header, raw, count, out, 2);                                         \
            break;                                                                                 \
        default: {                                                                                 \
            ek_chunk_header padded = *header;                                                      \
            ek__missing_pad(&padded);                                                              \
            decode_##type##_n(&padded, raw, count, out, EK_MISSING_MAX);                           \
            break;                                                                                 \
        }                                                                                          \
        }                                                                                          \
    }

DEFINE_DECODE(int8_t)
DEFINE_DECODE(uint8_t)
DEFINE_DECODE(int16_t)
DEFINE_DECODE(uint16_t)
DEFINE_DECODE(int32_t)
DEFINE_DECODE(uint32_t)
DEFINE_DECODE(float)
DEFINE_DECODE(double)

void ek__decode_run(ek_stream_view view, int64_t first, int64_t count, double *out)
{
    if (view.values != NULL) {
        memcpy(out, view.values + first, (size_t)count * sizeof *out);
        return;
    }
    switch (view.header->dtype) {
    case EK_I8:
        decode_int8_t(view.header, first, count, out);
        break;
    case EK_U8:
        decode_uint8_t(view.header, first, count, out);
        break;
    case EK_I16:
        decode_int16_t(view.header, first, count, out);
        break;
    case EK_U16:
        decode_uint16_t(view.header, first, count, out);
        break;
    case EK_I32:
        decode_int32_t(view.header, first, count, out);
        break;
    case EK_U32:
        decode_uint32_t(view.header, first, count, out);
        break;
    case EK_F32:
        decode_float(view.header, first, count, out);
        break;
    default:
        decode_double(view.header, first, count, out);
        break;
    }
}
