/* SPDX-License-Identifier: Apache-2.0 */
/* A chunk: a run of time steps of a field, rows (time) by cells, row-major, as the file stores it.
 * Its header travels with it in device memory and holds all that differs from chunk to chunk, so
 * that a captured graph never changes. Values are decoded where they are read:
 *
 *     value = double(raw) * scale + offset      (two roundings, never fused)
 *     missing if raw equals one of `missing`, or is NaN or infinite -> NaN
 *
 * `missing` is compared with the raw value, before scaling (CF conventions 2.5.1, 8.1). The same
 * functions serve host code and kernels, so both see the same bits. */
#ifndef EK_CORE_CHUNK_H
#define EK_CORE_CHUNK_H

#include "core/field.h"

#include <math.h>

#ifdef __CUDACC__
#define EK_HD __host__ __device__
#else
#define EK_HD
#endif

EK_BEGIN_DECLS

#define EK_MISSING_MAX 6

typedef struct ek_chunk_header {
    int64_t index;    /* of the chunk in the pass, from 0 */
    int64_t row0;     /* of the chunk's first row in the whole series */
    int64_t cells;    /* values per row */
    const void *data; /* the stored values, in the memory space of the reader */
    double scale;     /* 1 where the file is not packed */
    double offset;    /* 0 where the file is not packed */
    double missing[EK_MISSING_MAX];
    int32_t n_missing;
    int32_t rows;  /* valid rows; 0 is legal and must leave every fold unchanged */
    int32_t dtype; /* ek_dtype of the stored values */
    int32_t reserved;
} ek_chunk_header;

/* ek_chunk_is_missing says whether a raw value is missing. */
static inline EK_HD bool ek_chunk_is_missing(const ek_chunk_header *header, double raw)
{
    bool missing = !isfinite(raw);
    for (int i = 0; i < header->n_missing; i++) {
        missing = missing || raw == header->missing[i];
    }
    return missing;
}

/* ek_chunk_unpack turns a raw value that is not missing into the field's units. */
static inline EK_HD double ek_chunk_unpack(const ek_chunk_header *header, double raw)
{
#ifdef __CUDA_ARCH__
    return __dadd_rn(__dmul_rn(raw, header->scale), header->offset);
#else
    double scaled = raw * header->scale; /* compiled with -ffp-contract=off */
    return scaled + header->offset;
#endif
}

/* ek_chunk_raw reads stored value `i` as double (exact for every ek_dtype). */
static inline EK_HD double ek_chunk_raw(const void *data, int32_t dtype, int64_t i)
{
    switch (dtype) {
    case EK_I8:
        return (double)((const int8_t *)data)[i];
    case EK_U8:
        return (double)((const uint8_t *)data)[i];
    case EK_I16:
        return (double)((const int16_t *)data)[i];
    case EK_U16:
        return (double)((const uint16_t *)data)[i];
    case EK_I32:
        return (double)((const int32_t *)data)[i];
    case EK_U32:
        return (double)((const uint32_t *)data)[i];
    case EK_F32:
        return (double)((const float *)data)[i];
    default:
        return ((const double *)data)[i];
    }
}

/* ek_chunk_value decodes value `i` of the chunk; NaN where missing. */
static inline EK_HD double ek_chunk_value(const ek_chunk_header *header, int64_t i)
{
    double raw = ek_chunk_raw(header->data, header->dtype, i);
    return ek_chunk_is_missing(header, raw) ? (double)NAN : ek_chunk_unpack(header, raw);
}

/* A stream as a stage sees it: the header, and decoded float64 values where an earlier stage made
 * them (NaN is missing), else NULL: then the values are the header's, still packed. Both pointers
 * are in the memory space of the stage. */
typedef struct ek_stream_view {
    const ek_chunk_header *header;
    const double *values;
} ek_stream_view;

/* ek_stream_value reads value `i` of a stream: decoded, NaN where missing. */
static inline EK_HD double ek_stream_value(ek_stream_view view, int64_t i)
{
    return view.values != NULL ? view.values[i] : ek_chunk_value(view.header, i);
}

EK_END_DECLS

#endif /* EK_CORE_CHUNK_H */
