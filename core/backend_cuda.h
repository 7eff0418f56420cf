/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's side of the backend, for backend_cuda.c, *_cuda.c and .cu files only: checks that turn
 * CUDA, cuBLAS and cuSOLVER codes into an ek_status, and the library handles of a queue. */
#ifndef EK_CORE_BACKEND_CUDA_H
#define EK_CORE_BACKEND_CUDA_H

#include "core/backend.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

EK_BEGIN_DECLS

/* The workers of the macros below: EK_OK, or an error that records the call's text and the
 * library's name for the code. A pending CUDA error is cleared. */
ek_status ek__cuda_check(cudaError_t code, const char *call, const char *file, int line);
ek_status ek__cublas_check(cublasStatus_t code, const char *call, const char *file, int line);
ek_status ek__cusolver_check(cusolverStatus_t code, const char *call, const char *file, int line);

/* They evaluate to an ek_status: EK_TRY(EK_CUDA(cudaMemcpyAsync(...))). */
#define EK_CUDA(call)     ek__cuda_check((call), #call, __FILE__, __LINE__)
#define EK_CUBLAS(call)   ek__cublas_check((call), #call, __FILE__, __LINE__)
#define EK_CUSOLVER(call) ek__cusolver_check((call), #call, __FILE__, __LINE__)

/* EK_CUDA_LAUNCHED checks the launch just made. */
#define EK_CUDA_LAUNCHED(kernel) ek__cuda_check(cudaGetLastError(), kernel, __FILE__, __LINE__)

/* ek_cuda_stream returns the queue's stream. */
cudaStream_t ek_cuda_stream(ek_queue *queue);

/* ek_cuda_blas returns the queue's cuBLAS handle: bound to its stream, with a workspace of its own
 * (so that it can be captured), host pointer mode, default math. Made on first use, which must be
 * outside a capture. */
ek_status ek_cuda_blas(ek_queue *queue, cublasHandle_t *out);

/* ek_cuda_solver returns the queue's cuSOLVER handle, bound to its stream, in deterministic mode.
 */
ek_status ek_cuda_solver(ek_queue *queue, cusolverDnHandle_t *out);

EK_END_DECLS

#endif /* EK_CORE_BACKEND_CUDA_H */
