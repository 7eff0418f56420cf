/* SPDX-License-Identifier: Apache-2.0 */
/* What the svd stage's kernel files share. Sums over a block are made in a fixed order. */
#ifndef EK_STAGES_SVD_DEVICE_CUH
#define EK_STAGES_SVD_DEVICE_CUH

#include "core/backend_cuda.h"
#include "stages/svd_kernels.h"

#define THREADS    256
#define ROW_GROUPS 64

static inline unsigned blocks_for(int64_t count)
{
    return (unsigned)((count + THREADS - 1) / THREADS);
}

static __device__ inline int64_t thread_index()
{
    return (int64_t)blockIdx.x * THREADS + threadIdx.x;
}

/* Combines one value per thread by a tree in shared memory; every thread gets the result. */
template <typename T, typename Combine> static __device__ T over_block(T mine, Combine combine)
{
    __shared__ T part[THREADS];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < (unsigned)half) {
            part[threadIdx.x] = combine(part[threadIdx.x], part[threadIdx.x + half]);
        }
        __syncthreads();
    }
    T all = part[0];
    __syncthreads();
    return all;
}

template <typename T> static __device__ T add(T a, T b)
{
    return a + b;
}

template <typename T> static __device__ T lower(T a, T b)
{
    return b < a ? b : a;
}

/* The larger one; NaN wins. */
template <typename T> static __device__ T higher(T a, T b)
{
    return b <= a ? a : b;
}

/* An entry point: the shape of its kernel's launch. */
#define DEFINE_ENTRY(name, columns, rows)                                                          \
    extern "C" ek_status ek__svd_##name##_cuda(const void *ptr, ek_queue *queue)                   \
    {                                                                                              \
        const ek__svd_args *args = (const ek__svd_args *)ptr;                                      \
        dim3 grid((unsigned)(columns), (unsigned)EK_MAX(EK_MIN((rows), ROW_GROUPS), 1));           \
        name##_kernel<<<grid, THREADS, 0, ek_cuda_stream(queue)>>>(*args);                         \
        return EK_CUDA_LAUNCHED(#name "_kernel");                                                  \
    }

#endif /* EK_STAGES_SVD_DEVICE_CUH */
