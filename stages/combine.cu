/* SPDX-License-Identifier: Apache-2.0 */
/* The combine stage on CUDA. */
#include "core/backend_cuda.h"
#include "stages/combine_kernels.h"

#define THREADS    128
#define ROW_GROUPS 64

static __device__ double read_value(const ek_stream_view &view, const ek_chunk_header &header,
                                    int64_t i)
{
    return view.values != NULL ? view.values[i] : ek_chunk_value(&header, i);
}

/* One thread for a cell and every ROW_GROUPS-th row; neighbouring threads read and write
 * neighbouring cells. */
static __global__ void __launch_bounds__(THREADS) combine_kernel(const ek__combine_args args)
{
    int64_t cell = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    ek_chunk_header a = *args.a.header, b = *args.b.header;
    if (cell >= args.cells) {
        return;
    }
    ek__missing_pad(&a);
    ek__missing_pad(&b);
    for (int row = (int)blockIdx.y; row < a.rows; row += (int)gridDim.y) {
        int64_t i = row * args.cells + cell;
        double value = read_value(args.b, b, i);
        args.out[i] = ek__combine(args.op, read_value(args.a, a, i), value);
    }
}

extern "C" ek_status ek__combine_cuda(const void *ptr, ek_queue *queue)
{
    const ek__combine_args *args = (const ek__combine_args *)ptr;
    int64_t blocks = (args->cells + THREADS - 1) / THREADS;
    int64_t groups = EK_MAX(EK_MIN(args->chunk_rows, ROW_GROUPS), 1);
    dim3 grid((unsigned)blocks, (unsigned)groups);
    combine_kernel<<<grid, THREADS, 0, ek_cuda_stream(queue)>>>(*args);
    return EK_CUDA_LAUNCHED("combine_kernel");
}
