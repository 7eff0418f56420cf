/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA version by cuBLAS, so that a queue's handle is tested with it. */
#include "core/backend_cuda.h"
#include "tests/support/vectors.h"

ek_status ek__vector_scale_add_cuda(const void *args, ek_queue *queue)
{
    const vector_args *v = args;
    const double one = 1;
    cublasHandle_t blas;
    EK_TRY(ek_cuda_blas(queue, &blas));
    EK_TRY(EK_CUBLAS(cublasDscal(blas, v->n, &v->factor, v->x, 1)));
    if (v->y != NULL) {
        EK_TRY(EK_CUBLAS(cublasDaxpy(blas, v->n, &one, v->y, 1, v->x, 1)));
    }
    return EK_OK;
}
