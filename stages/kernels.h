/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of all device stages share. Private to stages/. A stage's own argument structs
 * and entry points are in stages/NAME_kernels.h. */
#ifndef EK_STAGES_KERNELS_H
#define EK_STAGES_KERNELS_H

#include "core/backend.h"
#include "core/chunk.h"

/* EK_CUDA_ENTRY names the CUDA side of an ek_kernel; NULL in a build without CUDA. */
#ifdef EK_HAVE_CUDA
#define EK_CUDA_ENTRY(fn) fn
#else
#define EK_CUDA_ENTRY(fn) NULL
#endif

EK_BEGIN_DECLS

/* Cells that host kernels work on at a time, so that what they keep per cell stays in cache. */
#define EK_TILE 1024

/* ek__missing_pad makes the list of missing values a full one, of which the added ones match
 * nothing, so that a kernel compares with a fixed number of them. */
static inline EK_HD void ek__missing_pad(ek_chunk_header *header)
{
    for (int i = 0; i < EK_MISSING_MAX; i++) {
        if (i >= header->n_missing) {
            header->missing[i] = (double)NAN;
        }
    }
    header->n_missing = EK_MISSING_MAX;
}

/* ek__decode_run decodes `count` values of a stream from value `first` on into `out`, NaN where
 * missing: ek_stream_value for host kernels, with the data type looked at once. */
void ek__decode_run(ek_stream_view view, int64_t first, int64_t count, double *out);

EK_END_DECLS

#endif /* EK_STAGES_KERNELS_H */
