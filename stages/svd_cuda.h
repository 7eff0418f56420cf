/* SPDX-License-Identifier: Apache-2.0 */
/* What the svd stage's solvers on CUDA hold on the host. Private to stages/, for *_cuda.c files. */
#ifndef EK_STAGES_SVD_CUDA_H
#define EK_STAGES_SVD_CUDA_H

#include "core/backend_cuda.h"
#include "stages/svd_block.h"

EK_BEGIN_DECLS

/* args->solver.host. The graph of an iteration is kept, with the arguments it was made for. */
typedef struct ek__svd_cuda {
    void *work; /* cuSOLVER's on the host */
    size_t work_bytes;
    cusolverDnParams_t params;
    cudaGraphExec_t loop;
    ek__svd_args loop_args;
    bool no_loop; /* this device or driver has no loops in graphs */
} ek__svd_cuda;

EK_END_DECLS

#endif /* EK_STAGES_SVD_CUDA_H */
