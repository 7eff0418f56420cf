/* SPDX-License-Identifier: Apache-2.0 */
/* The svd stage's cuBLAS and cuSOLVER calls. */
#include "core/alloc.h"
#include "core/backend_cuda.h"
#include "stages/svd_kernels.h"

ek_status ek__svd_solver_cuda(ek__svd_solver *solver, ek_backend *backend, int64_t order)
{
    ek_queue *queue = NULL;
    cusolverDnHandle_t handle = NULL;
    cusolverDnParams_t params = NULL;
    size_t work = 0, host_work = 0;
    ek_status rc = EK_OK;

    EK_GOTO(ek_queue_create(backend, &queue), done);
    EK_GOTO(ek_cuda_solver(queue, &handle), done);
    EK_GOTO(EK_CUSOLVER(cusolverDnCreateParams(&params)), done);
    solver->params = params;
    EK_GOTO(EK_CUSOLVER(cusolverDnXsyevd_bufferSize(
                handle, params, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, order, CUDA_R_64F,
                NULL, order, CUDA_R_64F, NULL, CUDA_R_64F, &work, &host_work)),
            done);
    solver->host_work = ek_alloc(1, host_work);
    if (solver->host_work == NULL) {
        rc = EK_ENOMEM;
        goto done;
    }
    solver->host_work_bytes = host_work;
    solver->work_bytes = (int64_t)work;
    solver->n_vectors = order;

done:
    ek_queue_destroy(queue);
    return rc;
}

void ek__svd_solver_free_cuda(ek__svd_solver *solver)
{
    if (solver->params != NULL) {
        cusolverDnDestroyParams(solver->params);
    }
    ek_free(solver->host_work);
    solver->params = NULL;
    solver->host_work = NULL;
}

ek_status ek__svd_gram_cuda(const void *ptr, ek_queue *queue)
{
    const ek__svd_args *args = ptr;
    bool time = ek__svd_time(args);
    cublasHandle_t blas = NULL;
    const double one = 1.0, zero = 0.0;
    EK_TRY(ek_cuda_blas(queue, &blas));
    return EK_CUBLAS(cublasDsyrk_64(blas, CUBLAS_FILL_MODE_LOWER, time ? CUBLAS_OP_T : CUBLAS_OP_N,
                                    args->order, time ? args->p : args->n, &one, args->a, args->p,
                                    &zero, args->gram, args->order));
}

ek_status ek__svd_eigen_cuda(const void *ptr, ek_queue *queue)
{
    const ek__svd_args *args = ptr;
    const ek__svd_solver *solver = &args->solver;
    cusolverDnHandle_t handle = NULL;
    EK_TRY(ek_cuda_solver(queue, &handle));
    return EK_CUSOLVER(cusolverDnXsyevd(handle, solver->params, CUSOLVER_EIG_MODE_VECTOR,
                                        CUBLAS_FILL_MODE_LOWER, args->order, CUDA_R_64F, args->gram,
                                        args->order, CUDA_R_64F, args->values, CUDA_R_64F,
                                        args->work, (size_t)solver->work_bytes, solver->host_work,
                                        solver->host_work_bytes, &args->facts->info));
}

/* Over time: EOF^T = A^T (u/s). Over space: pc^T = A EOF^T. */
ek_status ek__svd_project_cuda(const void *ptr, ek_queue *queue)
{
    const ek__svd_args *args = ptr;
    cublasHandle_t blas = NULL;
    const double one = 1.0, zero = 0.0;
    EK_TRY(ek_cuda_blas(queue, &blas));
    if (ek__svd_time(args)) {
        return EK_CUBLAS(cublasDgemm_64(blas, CUBLAS_OP_N, CUBLAS_OP_N, args->p, args->modes,
                                        args->n, &one, args->a, args->p, args->scaled, args->n,
                                        &zero, args->eof, args->p));
    }
    return EK_CUBLAS(cublasDgemm_64(blas, CUBLAS_OP_T, CUBLAS_OP_N, args->n, args->modes, args->p,
                                    &one, args->a, args->p, args->eof, args->p, &zero, args->pc,
                                    args->n));
}
