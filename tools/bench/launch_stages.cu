/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of bench-launch. */
#include "core/backend_cuda.h"
#include "tools/bench/launch_stages.h"

#define THREADS 128

/* One thread for a cell: a chain of dependent operations, so that time grows with `steps` alone. */
static __global__ void __launch_bounds__(THREADS) work_kernel(const work_args args)
{
    int64_t cell = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (cell >= args.cells || args.in.header->rows == 0) {
        return;
    }
    double value = ek_stream_value(args.in, cell);
#pragma unroll 1
    for (int64_t i = 0; i < args.steps; i++) {
        value = __dsub_rn(__dmul_rn(value, value), EK_WORK_SHIFT);
    }
    if (args.sum != NULL) {
        args.sum[cell] += value;
    } else {
        args.out[cell] = value;
    }
}

extern "C" ek_status work_cuda(const void *ptr, ek_queue *queue)
{
    const work_args *args = (const work_args *)ptr;
    unsigned blocks = (unsigned)((args->cells + THREADS - 1) / THREADS);
    work_kernel<<<blocks, THREADS, 0, ek_cuda_stream(queue)>>>(*args);
    return EK_CUDA_LAUNCHED("work_kernel");
}
