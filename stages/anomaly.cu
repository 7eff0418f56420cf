/* SPDX-License-Identifier: Apache-2.0 */
/* The anomaly stage on CUDA. */
#include "core/backend_cuda.h"
#include "stages/anomaly_kernels.h"
#include "stages/decode.cuh"

#define THREADS    128
#define ROW_GROUPS 64

/* One thread for a cell and every ROW_GROUPS-th row; neighbouring threads read and write
 * neighbouring cells. The mean stays in a register. */
static __global__ void __launch_bounds__(THREADS) anomaly_kernel(const ek__anomaly_args args)
{
    int64_t cell = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    ek_chunk_header header = *args.in.header;
    if (cell >= args.cells || header.rows == 0) {
        return; /* without rows there need be no mean yet */
    }
    ek__missing_pad(&header);
    double mean = args.mean[cell];
    ek__with_reader(args.in, &header, [&](auto read) {
#pragma unroll 4
        for (int row = (int)blockIdx.y; row < header.rows; row += (int)gridDim.y) {
            int64_t i = row * args.cells + cell;
            args.out[i] = read(i) - mean;
        }
    });
}

extern "C" ek_status ek__anomaly_cuda(const void *ptr, ek_queue *queue)
{
    const ek__anomaly_args *args = (const ek__anomaly_args *)ptr;
    int64_t blocks = (args->cells + THREADS - 1) / THREADS;
    int64_t groups = EK_MAX(EK_MIN(args->chunk_rows, ROW_GROUPS), 1);
    dim3 grid((unsigned)blocks, (unsigned)groups);
    anomaly_kernel<<<grid, THREADS, 0, ek_cuda_stream(queue)>>>(*args);
    return EK_CUDA_LAUNCHED("anomaly_kernel");
}
