/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA version of the test's fold: one thread for a cell. */
#include "core/backend_cuda.h"
#include "tests/support/spread.h"

#define THREADS 128

static __global__ void spread_kernel(const spread_args args)
{
    int64_t cell = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (cell < args.cells) {
        spread_cell(&args, cell);
    }
}

extern "C" ek_status ek__spread_cuda(const void *ptr, ek_queue *queue)
{
    const spread_args *args = (const spread_args *)ptr;
    unsigned blocks = (unsigned)((args->cells + THREADS - 1) / THREADS);
    spread_kernel<<<blocks, THREADS, 0, ek_cuda_stream(queue)>>>(*args);
    return EK_CUDA_LAUNCHED("spread_kernel");
}
