/* SPDX-License-Identifier: Apache-2.0 */
/* The combine stage's arithmetic, kernel arguments and CUDA entry point. Private to stages/. */
#ifndef EK_STAGES_COMBINE_KERNELS_H
#define EK_STAGES_COMBINE_KERNELS_H

#include "stages/combine.h"
#include "stages/kernels.h"

EK_BEGIN_DECLS

typedef struct ek__combine_args {
    ek_stream_view a, b;
    double *out; /* chunk_rows x cells; may be where the values of a or b are */
    int64_t cells;
    int64_t chunk_rows;
    int op;
} ek__combine_args;

/* ek__combine works on one pair. Every operation is rounded once, by IEEE rules, so both backends
 * give the same bits; what is not finite, such as a quotient by 0, becomes NaN. */
static inline EK_HD double ek__combine(int op, double a, double b)
{
    double value;
    switch (op) {
    case EK_COMBINE_SUB:
        value = a - b;
        break;
    case EK_COMBINE_MUL:
        value = a * b;
        break;
    case EK_COMBINE_DIV:
        value = a / b;
        break;
    case EK_COMBINE_HYPOT:
        value = sqrt(a * a + b * b);
        break;
    default:
        value = a + b;
        break;
    }
    return isfinite(value) ? value : (double)NAN;
}

ek_status ek__combine_cuda(const void *args, ek_queue *queue);

EK_END_DECLS

#endif /* EK_STAGES_COMBINE_KERNELS_H */
