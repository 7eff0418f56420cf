/* SPDX-License-Identifier: Apache-2.0 */
/* The reduce stage on CUDA: one thread for a cell, all rows of the chunk in order. Only as many
 * threads run as there are cells, so the loads of BATCH rows are put in flight before the first of
 * them is added. Neighbouring threads read neighbouring cells. */
#include "core/backend_cuda.h"
#include "stages/decode.cuh"
#include "stages/reduce_kernels.h"

#define THREADS 64
#define BATCH   16

template <typename T>
static __device__ void add_packed(const ek__reduce_add_args &args, const ek_chunk_header *header,
                                  int64_t cell)
{
    const T *q = (const T *)header->data + cell;
    int32_t missing[EK_MISSING_MAX];
    ek__missing_integers(header, missing);
    ek__packed_begin(&args.state, cell, header->scale, header->offset);
    ek__packed_sums sums = ek__packed_load(&args.state, cell);
    int row = 0;
    for (; row + BATCH <= header->rows; row += BATCH) {
        T batch[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            batch[i] = __ldg(q + (row + i) * args.cells);
        }
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            ek__packed_add(&sums, batch[i], ek__is_missing_integer(missing, batch[i]));
        }
    }
    for (; row < header->rows; row++) {
        T value = __ldg(q + row * args.cells);
        ek__packed_add(&sums, value, ek__is_missing_integer(missing, value));
    }
    ek__packed_store(&args.state, cell, sums);
}

template <typename Reader>
static __device__ void add_real(const ek__reduce_add_args &args, int rows, int64_t cell,
                                Reader read)
{
    ek__real_sums sums = ek__real_load(&args.state, cell);
    int row = 0;
    for (; row + BATCH <= rows; row += BATCH) {
        double batch[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            batch[i] = read((row + i) * args.cells + cell);
        }
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            ek__real_add(&sums, batch[i]);
        }
    }
    for (; row < rows; row++) {
        ek__real_add(&sums, read(row * args.cells + cell));
    }
    ek__real_store(&args.state, cell, sums);
}

static __device__ void add_exact(const ek__reduce_add_args &args, const ek_chunk_header *header,
                                 int64_t cell)
{
    switch (header->dtype) {
    case EK_I8:
        add_packed<int8_t>(args, header, cell);
        break;
    case EK_U8:
        add_packed<uint8_t>(args, header, cell);
        break;
    case EK_I16:
        add_packed<int16_t>(args, header, cell);
        break;
    default:
        add_packed<uint16_t>(args, header, cell);
        break;
    }
}

static __global__ void __launch_bounds__(THREADS) reduce_add_kernel(const ek__reduce_add_args args)
{
    int64_t cell = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    ek_chunk_header header = *args.in.header;
    if (cell >= args.cells || header.rows == 0) {
        return;
    }
    ek__missing_pad(&header);
    if (args.in.values == NULL && ek__reduce_exact(header.dtype)) {
        add_exact(args, &header, cell);
        return;
    }
    ek__with_reader(args.in, &header, [&](auto read) { add_real(args, header.rows, cell, read); });
}

static __global__ void __launch_bounds__(THREADS)
    reduce_finish_kernel(const ek__reduce_finish_args args)
{
    int64_t cell = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (cell < args.cells) {
        ek__reduce_put(&args, cell);
    }
}

static unsigned blocks_for(int64_t cells)
{
    return (unsigned)((cells + THREADS - 1) / THREADS);
}

extern "C" ek_status ek__reduce_add_cuda(const void *ptr, ek_queue *queue)
{
    const ek__reduce_add_args *args = (const ek__reduce_add_args *)ptr;
    reduce_add_kernel<<<blocks_for(args->cells), THREADS, 0, ek_cuda_stream(queue)>>>(*args);
    return EK_CUDA_LAUNCHED("reduce_add_kernel");
}

extern "C" ek_status ek__reduce_finish_cuda(const void *ptr, ek_queue *queue)
{
    const ek__reduce_finish_args *args = (const ek__reduce_finish_args *)ptr;
    reduce_finish_kernel<<<blocks_for(args->cells), THREADS, 0, ek_cuda_stream(queue)>>>(*args);
    return EK_CUDA_LAUNCHED("reduce_finish_kernel");
}
