/* SPDX-License-Identifier: Apache-2.0 */
/* The svd stage's cuBLAS and cuSOLVER calls. */
#include "stages/svd_cuda.h"

#include "core/alloc.h"

ek_status ek__svd_widest_cuda(const void *args, ek_queue *queue);

static ek_status plan_syevd(ek__svd_args *args, ek_queue *queue)
{
    ek__svd_cuda *host = args->solver.host;
    cusolverDnHandle_t handle = NULL;
    size_t work = 0, host_work = 0;
    EK_TRY(ek_cuda_solver(queue, &handle));
    EK_TRY(EK_CUSOLVER(cusolverDnCreateParams(&host->params)));
    EK_TRY(EK_CUSOLVER(cusolverDnXsyevd_bufferSize(
        handle, host->params, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, args->order,
        CUDA_R_64F, NULL, args->order, CUDA_R_64F, NULL, CUDA_R_64F, &work, &host_work)));
    host->work = ek_alloc(1, host_work);
    if (host->work == NULL) {
        return EK_ENOMEM;
    }
    host->work_bytes = host_work;
    args->solver.work_bytes = (int64_t)work;
    args->solver.n_values = args->solver.n_vectors = args->order;
    return EK_OK;
}

static void plan_block(ek__svd_args *args)
{
    ek__svd_solver *solver = &args->solver;
    solver->descending = 1;
    solver->block.size = ek__svd_block_size(args->order, args->modes);
    solver->n_values = solver->n_vectors = solver->block.size;
    solver->work_bytes = ek__svd_block_lay_out(&solver->block, args->order, NULL);
}

ek_status ek__svd_solver_cuda(ek__svd_args *args, ek_backend *backend)
{
    args->solver.host = ek_alloc(1, sizeof(ek__svd_cuda));
    if (args->solver.host == NULL) {
        return EK_ENOMEM;
    }
    if (args->solver.kind == EK_SVD_CHEBYSHEV) {
        plan_block(args);
        return EK_OK;
    }
    ek_queue *queue = NULL;
    EK_TRY(ek_queue_create(backend, &queue));
    ek_status rc = plan_syevd(args, queue);
    ek_queue_destroy(queue);
    return rc;
}

void ek__svd_solver_free_cuda(ek__svd_solver *solver)
{
    ek__svd_cuda *host = solver->host;
    if (host == NULL) {
        return;
    }
    if (host->params != NULL) {
        cusolverDnDestroyParams(host->params);
    }
    if (host->loop != NULL) {
        cudaGraphExecDestroy(host->loop);
    }
    ek_free(host->work);
    ek_free(host);
    solver->host = NULL;
}

ek_status ek__svd_gram_cuda(const void *ptr, ek_queue *queue)
{
    const ek__svd_args *args = ptr;
    cublasHandle_t blas = NULL;
    const double one = 1.0, zero = 0.0;
    EK_TRY(ek_cuda_blas(queue, &blas));
    return EK_CUBLAS(cublasDsyrk_64(blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, args->n, args->p,
                                    &one, args->a, args->p, &zero, args->gram, args->n));
}

/* Adds the chunk's products; rows beyond it are zero. */
ek_status ek__svd_fold_cuda(const void *ptr, ek_queue *queue)
{
    const ek__svd_args *args = ptr;
    cublasHandle_t blas = NULL;
    const double one = 1.0;
    EK_TRY(ek_cuda_blas(queue, &blas));
    return EK_CUBLAS(cublasDsyrk_64(blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, args->p,
                                    args->chunk_rows, &one, args->a, args->p, &one, args->gram,
                                    args->p));
}

/* The chunk's deviations times the EOFs. */
ek_status ek__svd_part_cuda(const void *ptr, ek_queue *queue)
{
    const ek__svd_args *args = ptr;
    cublasHandle_t blas = NULL;
    const double one = 1.0, zero = 0.0;
    EK_TRY(ek_cuda_blas(queue, &blas));
    return EK_CUBLAS(cublasDgemm_64(blas, CUBLAS_OP_T, CUBLAS_OP_N, args->chunk_rows, args->modes,
                                    args->p, &one, args->a, args->p, args->basis, args->p, &zero,
                                    args->part, args->chunk_rows));
}

ek_status ek__svd_eigen_cuda(const void *ptr, ek_queue *queue)
{
    const ek__svd_args *args = ptr;
    if (args->solver.kind == EK_SVD_CHEBYSHEV) {
        return ek__svd_iterate_cuda(args, queue);
    }
    const ek__svd_cuda *host = args->solver.host;
    cusolverDnHandle_t handle = NULL;
    EK_TRY(ek_cuda_solver(queue, &handle));
    return EK_CUSOLVER(cusolverDnXsyevd(
        handle, host->params, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, args->order,
        CUDA_R_64F, args->gram, args->order, CUDA_R_64F, args->values, CUDA_R_64F, args->work,
        (size_t)args->solver.work_bytes, host->work, host->work_bytes, &args->facts->info));
}

/* EOF^T = A^T (u/s). */
ek_status ek__svd_project_cuda(const void *ptr, ek_queue *queue)
{
    const ek__svd_args *args = ptr;
    cublasHandle_t blas = NULL;
    const double one = 1.0, zero = 0.0;
    EK_TRY(ek_cuda_blas(queue, &blas));
    return EK_CUBLAS(cublasDgemm_64(blas, CUBLAS_OP_N, CUBLAS_OP_N, args->p, args->modes, args->n,
                                    &one, args->a, args->p, args->scaled, args->n, &zero, args->eof,
                                    args->p));
}

/* V^T V takes the place of the Gram matrix. */
ek_status ek__svd_overlap_cuda(const void *ptr, ek_queue *queue)
{
    const ek__svd_args *args = ptr;
    cublasHandle_t blas = NULL;
    const double one = 1.0, zero = 0.0;
    EK_TRY(ek_cuda_blas(queue, &blas));
    EK_TRY(EK_CUBLAS(cublasDsyrk_64(blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, args->modes, args->p,
                                    &one, args->eof, args->p, &zero, args->gram, args->modes)));
    return ek__svd_widest_cuda(args, queue);
}
