/* SPDX-License-Identifier: Apache-2.0 */
/* Two kernels on float64 vectors, with both versions, for testing backends. */
#ifndef EK_TESTS_SUPPORT_VECTORS_H
#define EK_TESTS_SUPPORT_VECTORS_H

#include "core/backend.h"

/* x = factor * x + y, in two steps: scale, then add where y is not NULL. */
typedef struct vector_args {
    double *x;
    const double *y;
    double factor;
    int n;
} vector_args;

extern const ek_kernel vector_scale_add;

/* Refused by both versions: on host when it runs, on cuda when it is launched. */
extern const ek_kernel vector_refuse;

/* The CUDA version, in builds with CUDA. */
ek_status ek__vector_scale_add_cuda(const void *args, ek_queue *queue);

#endif /* EK_TESTS_SUPPORT_VECTORS_H */
