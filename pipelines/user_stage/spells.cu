/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA version of the kernel of `spells`. See spells.h. */
#include "spells.h"

#include <cuda_runtime_api.h>

#define THREADS 128

/* A thread for a cell: it walks down the chunk's rows, since a spell goes on from row to row.
 * Neighbouring threads read neighbouring cells. */
static __global__ void spells_kernel(const spells_args a)
{
    int64_t cell = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (cell >= a.cells) {
        return;
    }
    int32_t count = a.count[cell], longest = a.longest[cell], open = a.open[cell];
    int rows = a.in.header->rows;
    for (int row = 0; row < rows; row++) {
        bool above = ek_stream_value(a.in, row * a.cells + cell) > a.threshold;
        open = above ? open + 1 : 0;
        count += above;
        longest = max(longest, open);
    }
    a.count[cell] = count;
    a.longest[cell] = longest;
    a.open[cell] = open;
}

extern "C" ek_status spells_cuda(const void *ptr, ek_queue *queue)
{
    const spells_args *args = (const spells_args *)ptr;
    unsigned blocks = (unsigned)((args->cells + THREADS - 1) / THREADS);
    spells_kernel<<<blocks, THREADS, 0, (cudaStream_t)ek_queue_native(queue)>>>(*args);
    cudaError_t code = cudaGetLastError();
    return code == cudaSuccess
               ? EK_OK
               : EK_FAIL_CODE(EK_ECUDA, (int)code, "spells could not be launched: %s",
                              cudaGetErrorString(code));
}
