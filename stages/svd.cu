/* SPDX-License-Identifier: Apache-2.0 */
/* The svd stage's kernels on CUDA that make the matrix; the library calls are in svd_cuda.c. */
#include "stages/decode.cuh"
#include "stages/svd_device.cuh"

/* A matrix of full rank; where A is not kept, a Gram matrix in its place. One thread for a cell and
 * every gridDim.y-th row. */
static __global__ void __launch_bounds__(THREADS) invent_kernel(const ek__svd_args args)
{
    int64_t cell = thread_index();
    bool time = ek__svd_time(&args);
    for (int64_t t = blockIdx.y; time && t < args.n && cell < args.p; t += gridDim.y) {
        args.a[t * args.p + cell] = ek__svd_invented(t * args.p + cell);
    }
    for (int64_t t = blockIdx.y; !time && t < args.p && cell < args.p; t += gridDim.y) {
        args.gram[t * args.p + cell] = t == cell ? 1.0 / (double)(1 + t) : 0.0;
        args.first[cell] = args.sums[cell] = 0.0;
        *args.unit = ek__svd_unit{1.0, 0.0};
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

#define LANES 32 /* cells of a block that centers */

/* One block for LANES cells: each warp takes every 8th row, the warps' sums are added in order. */
static __global__ void __launch_bounds__(THREADS) center_kernel(const ek__svd_args args)
{
    __shared__ double part[THREADS];
    unsigned lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    int64_t cell = (int64_t)blockIdx.x * LANES + lane;
    bool valid = cell < args.p;
    double mean = 0.0;
    if (args.centred != 0) {
        double first = valid ? args.a[cell] : 0.0, sum = 0.0;
#pragma unroll 4
        for (int64_t t = warp; valid && t < args.n; t += THREADS / LANES) {
            sum += args.a[t * args.p + cell] - first;
        }
        part[threadIdx.x] = sum;
        __syncthreads();
        for (int w = 0; w < THREADS / LANES; w++) {
            mean += part[w * LANES + lane];
        }
        mean = first + mean / (double)args.n;
    }
    if (!valid) {
        return;
    }
    args.mean[cell] = mean; /* every warp writes the same */
    bool bad = args.bad[cell] != 0;
#pragma unroll 4
    for (int64_t t = warp; t < args.n; t += THREADS / LANES) {
        int64_t i = t * args.p + cell;
        args.a[i] = bad ? 0.0 : args.a[i] - mean;
    }
}

#define TILE 32

/* One block of TILE x 8 threads for a tile: the part below the diagonal is written above it. */
static __global__ void __launch_bounds__(THREADS) mirror_kernel(const ek__svd_args args)
{
    __shared__ double tile[TILE][TILE + 1];
    int64_t m = args.order;
    unsigned x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    for (int64_t right = blockIdx.y; right <= blockIdx.x; right += gridDim.y) {
        int64_t top = (int64_t)blockIdx.x * TILE, left = right * TILE;
        for (unsigned k = y; k < TILE; k += THREADS / TILE) {
            bool inside = top + x < m && left + k < m;
            tile[k][x] = inside ? args.gram[(left + k) * m + top + x] : 0.0;
        }
        __syncthreads();
        for (unsigned k = y; k < TILE; k += THREADS / TILE) {
            if (top + k < m && left + x < m && top + k > left + x) {
                args.gram[(top + k) * m + left + x] = tile[x][k];
            }
        }
        __syncthreads();
    }
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
        args.facts->residual = (double)NAN;
        args.facts->multiplies = 0;
    }
}

DEFINE_ENTRY(invent, blocks_for(args->p), args->n)
DEFINE_ENTRY(store, blocks_for(args->p), args->chunk_rows)
DEFINE_ENTRY(center, (args->p + LANES - 1) / LANES, 1)
DEFINE_ENTRY(mirror, (args->order + TILE - 1) / TILE, args->order / TILE + 1)
DEFINE_ENTRY(measure, 1, 1)
