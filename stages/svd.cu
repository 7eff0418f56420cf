/* SPDX-License-Identifier: Apache-2.0 */
/* The svd stage's own kernels on CUDA; the library calls are in svd_cuda.c. Sums over a block are
 * made in a fixed order. */
#include "core/backend_cuda.h"
#include "stages/decode.cuh"
#include "stages/svd_kernels.h"

#define THREADS    256
#define ROW_GROUPS 64

static unsigned blocks_for(int64_t count)
{
    return (unsigned)((count + THREADS - 1) / THREADS);
}

static __device__ int64_t thread_index()
{
    return (int64_t)blockIdx.x * THREADS + threadIdx.x;
}

/* One thread for a cell and every gridDim.y-th row. */
static __global__ void __launch_bounds__(THREADS) invent_kernel(const ek__svd_args args)
{
    int64_t cell = thread_index();
    for (int64_t t = blockIdx.y; t < args.n && cell < args.p; t += gridDim.y) {
        args.a[t * args.p + cell] = ek__svd_invented(t * args.p + cell);
    }
}

/* One thread for a cell and every gridDim.y-th row. Threads of one cell may all mark it: they write
 * the same byte. */
static __global__ void __launch_bounds__(THREADS) store_kernel(const ek__svd_args args)
{
    int64_t cell = thread_index();
    if (cell >= args.p) {
        return;
    }
    ek_chunk_header header = *args.in.header;
    ek__missing_pad(&header);
    bool bad = false;
    ek__with_reader(args.in, &header, [&](auto read) {
#pragma unroll 4
        for (int64_t row = blockIdx.y; row < header.rows; row += gridDim.y) {
            double x = read(row * args.p + cell);
            bool missing = x != x;
            bad = bad || missing;
            if (header.row0 + row < args.n) {
                args.a[(header.row0 + row) * args.p + cell] = missing ? 0.0 : x;
            }
        }
    });
    if (bad) {
        args.bad[cell] = 1;
    }
}

static __global__ void __launch_bounds__(THREADS) mask_kernel(const ek__svd_args args)
{
    int64_t cell = thread_index();
    if (cell >= args.p || args.bad[cell] == 0) {
        return;
    }
    for (int64_t t = blockIdx.y; t < args.n; t += gridDim.y) {
        args.a[t * args.p + cell] = 0.0;
    }
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

template <typename T> static __device__ T higher(T a, T b)
{
    return b > a ? b : a;
}

/* One block. */
static __global__ void __launch_bounds__(THREADS) measure_kernel(const ek__svd_args args)
{
    double total = 0.0;
    for (int64_t i = threadIdx.x; i < args.order; i += THREADS) {
        total += args.gram[i * args.order + i];
    }
    int64_t used = 0;
    for (int64_t c = threadIdx.x; c < args.p; c += THREADS) {
        used += args.bad[c] == 0 ? 1 : 0;
    }
    total = over_block(total, add<double>);
    used = over_block(used, add<int64_t>);
    if (threadIdx.x == 0) {
        args.facts->total = total;
        args.facts->n_used = used;
    }
}

/* One block. */
static __global__ void __launch_bounds__(THREADS) spectrum_kernel(const ek__svd_args args)
{
    double total = args.facts->total, freedom = (double)(args.n - 1);
    double cut = ek__svd_cut(&args);
    int64_t rank = 0;
    for (int64_t i = threadIdx.x; i < args.order; i += THREADS) {
        rank += ek__svd_singular(&args, i) > cut ? 1 : 0;
    }
    rank = lower(over_block(rank, add<int64_t>), lower(args.limit, args.facts->n_used));
    for (int64_t i = threadIdx.x; i < args.modes; i += THREADS) {
        double s = ek__svd_singular(&args, i);
        args.singular_value[i] = s;
        args.eigenvalue[i] = s * s / freedom;
        args.variance_fraction[i] = total > 0.0 ? s * s / total : 0.0;
    }
    if (threadIdx.x == 0) {
        *args.total_variance = total / freedom;
        *args.n_cells_used = (int32_t)args.facts->n_used;
        *args.rank = (int32_t)rank;
        args.facts->rank = (int32_t)rank;
    }
}

/* One thread for an element of a vector, one row of blocks (striding on) for a mode. */
static __global__ void __launch_bounds__(THREADS) vectors_kernel(const ek__svd_args args)
{
    int64_t j = thread_index();
    if (j >= args.order) {
        return;
    }
    for (int64_t i = blockIdx.y; i < args.modes; i += gridDim.y) {
        double value = ek__svd_vector(&args, i)[j];
        double s = i < args.facts->rank ? ek__svd_singular(&args, i) : 0.0;
        if (ek__svd_time(&args)) {
            args.pc[i * args.n + j] = s > 0.0 ? value * s : 0.0;
            args.scaled[i * args.n + j] = s > 0.0 ? value / s : 0.0;
        } else {
            args.eof[i * args.p + j] = s > 0.0 ? value : 0.0;
        }
    }
}

/* One block for a mode. */
static __global__ void __launch_bounds__(THREADS) sign_kernel(const ek__svd_args args)
{
    double *eof = args.eof + blockIdx.x * args.p, *pc = args.pc + blockIdx.x * args.n;
    double max = 0.0, squares = 0.0;
    for (int64_t c = threadIdx.x; c < args.p; c += THREADS) {
        double v = args.bad[c] != 0 ? 0.0 : eof[c];
        max = higher(max, fabs(v));
        squares += v * v;
    }
    max = over_block(max, higher<double>);
    squares = over_block(squares, add<double>);
    int64_t first = args.p - 1;
    for (int64_t c = threadIdx.x; c < args.p; c += THREADS) {
        bool near = args.bad[c] == 0 && fabs(eof[c]) >= (1.0 - 1e-6) * max;
        first = near ? lower(first, c) : first;
    }
    first = over_block(first, lower<int64_t>);
    double sign = eof[first] < 0.0 ? -1.0 : 1.0;
    double factor = squares > 0.0 ? sign / sqrt(squares) : 0.0;
    __syncthreads(); /* all have read eof[first] */
    for (int64_t c = threadIdx.x; c < args.p; c += THREADS) {
        eof[c] = args.bad[c] != 0 ? (double)NAN : eof[c] * factor;
    }
    for (int64_t t = threadIdx.x; t < args.n; t += THREADS) {
        pc[t] *= sign;
    }
}

/* The entry points: the shape of each launch. */
#define DEFINE_ENTRY(name, columns, rows)                                                          \
    extern "C" ek_status ek__svd_##name##_cuda(const void *ptr, ek_queue *queue)                   \
    {                                                                                              \
        const ek__svd_args *args = (const ek__svd_args *)ptr;                                      \
        dim3 grid((unsigned)(columns), (unsigned)EK_MAX(EK_MIN((rows), ROW_GROUPS), 1));           \
        name##_kernel<<<grid, THREADS, 0, ek_cuda_stream(queue)>>>(*args);                         \
        return EK_CUDA_LAUNCHED(#name "_kernel");                                                  \
    }

DEFINE_ENTRY(invent, blocks_for(args->p), args->n)
DEFINE_ENTRY(store, blocks_for(args->p), args->chunk_rows)
DEFINE_ENTRY(mask, blocks_for(args->p), args->n)
DEFINE_ENTRY(measure, 1, 1)
DEFINE_ENTRY(spectrum, 1, 1)
DEFINE_ENTRY(vectors, blocks_for(args->order), args->modes)
DEFINE_ENTRY(sign, args->modes, 1)
