/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a stream's values in CUDA kernels, for .cu files only. The stored type is looked at once:
 * ek__with_reader calls its body with a reader made for it. */
#ifndef EK_STAGES_DECODE_CUH
#define EK_STAGES_DECODE_CUH

#include "stages/kernels.h"

/* Reads stored values of one type, NaN where missing. `header` has a padded list of missing values,
 * so that the comparisons are unrolled. */
template <typename T> struct ek__stored_reader {
    const ek_chunk_header *header;

    __device__ double operator()(int64_t i) const
    {
        double raw = (double)__ldg((const T *)header->data + i);
        return ek_chunk_is_missing(header, raw) ? (double)NAN : ek_chunk_unpack(header, raw);
    }
};

/* Reads values that an earlier stage has decoded. */
struct ek__decoded_reader {
    const double *values;

    __device__ double operator()(int64_t i) const
    {
        return __ldg(values + i);
    }
};

template <typename Body>
__device__ void ek__with_reader(const ek_stream_view &view, const ek_chunk_header *header,
                                Body body)
{
    if (view.values != NULL) {
        body(ek__decoded_reader{view.values});
        return;
    }
    switch (header->dtype) {
    case EK_I8:
        body(ek__stored_reader<int8_t>{header});
        break;
    case EK_U8:
        body(ek__stored_reader<uint8_t>{header});
        break;
    case EK_I16:
        body(ek__stored_reader<int16_t>{header});
        break;
    case EK_U16:
        body(ek__stored_reader<uint16_t>{header});
        break;
    case EK_I32:
        body(ek__stored_reader<int32_t>{header});
        break;
    case EK_U32:
        body(ek__stored_reader<uint32_t>{header});
        break;
    case EK_F32:
        body(ek__stored_reader<float>{header});
        break;
    default:
        body(ek__stored_reader<double>{header});
        break;
    }
}

#endif /* EK_STAGES_DECODE_CUH */
