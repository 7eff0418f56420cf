/* SPDX-License-Identifier: Apache-2.0 */
/* The svd stage's kernels for a Gram matrix over space, on CUDA: added up chunk by chunk. */
#include "stages/svd_device.cuh"

#define LANES 32 /* cells of a block that takes deviations */

/* One block for LANES cells: each warp takes every 8th row of the chunk, rows beyond it are zero;
 * the warps' sums are added in order. In the first chunk every warp finds the cell's first value by
 * itself. */
static __global__ void __launch_bounds__(THREADS) deviate_kernel(const ek__svd_args args)
{
    __shared__ double part[THREADS];
    unsigned lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    int64_t cell = (int64_t)blockIdx.x * LANES + lane;
    bool valid = cell < args.p, missing = false;
    ek_chunk_header header = *args.in.header;
    bool begins = args.sweep == 0 && header.row0 == 0 && header.rows > 0;
    ek__svd_unit unit = begins ? ek__svd_unit_of(&args, &header) : *args.unit;
    double first = 0.0, sum = 0.0;
    if (valid && begins && args.centred != 0) {
        first = ek__svd_stored(&args, &header, unit, cell);
        first = first == first ? first : 0.0;
    } else if (valid && !begins) {
        first = args.first[cell];
    }
    for (int64_t row = warp; valid && row < args.chunk_rows; row += THREADS / LANES) {
        int64_t i = row * args.p + cell;
        double d = 0.0;
        if (row < header.rows) {
            double x = ek__svd_stored(&args, &header, unit, i);
            missing = missing || x != x;
            d = x == x ? x - first : 0.0;
        }
        args.a[i] = d;
        sum += d;
    }
    part[threadIdx.x] = sum;
    __syncthreads(); /* all have read `unit` and `first` */
    if (!valid || args.sweep != 0) {
        return;
    }
    if (missing) {
        args.bad[cell] = 1;
    }
    if (warp == 0) {
        for (int w = 1; w < THREADS / LANES; w++) {
            sum += part[w * LANES + lane];
        }
        args.sums[cell] += sum;
        args.first[cell] = first;
        if (begins && cell == 0) {
            *args.unit = unit;
        }
    }
}

/* One thread for a cell and every gridDim.y-th column of the lower triangle. */
static __global__ void __launch_bounds__(THREADS) correct_kernel(const ek__svd_args args)
{
    int64_t i = thread_index();
    if (i >= args.p) {
        return;
    }
    double scale = args.unit->scale, n = (double)args.n, sum = args.sums[i];
    for (int64_t j = blockIdx.y; j <= i; j += gridDim.y) {
        double away = args.centred != 0 ? sum * args.sums[j] / n : 0.0;
        bool out = args.bad[i] != 0 || args.bad[j] != 0;
        double value = args.gram[j * args.p + i];
        args.gram[j * args.p + i] = out ? 0.0 : (value - away) * (scale * scale);
    }
    if (blockIdx.y == 0) {
        double mean = (args.first[i] + sum / n) * scale + args.unit->offset;
        args.mean[i] = args.centred != 0 ? mean : 0.0;
    }
}

/* One thread for a row of the chunk, one row of blocks (striding on) for a mode. */
static __global__ void __launch_bounds__(THREADS) place_kernel(const ek__svd_args args)
{
    int64_t row = thread_index(), at = args.in.header->row0 + row;
    if (row >= args.in.header->rows || at >= args.n) {
        return;
    }
    for (int64_t i = blockIdx.y; i < args.modes; i += gridDim.y) {
        args.pc[i * args.n + at] =
            (args.part[i * args.chunk_rows + row] - args.offset[i]) * args.unit->scale;
    }
}

DEFINE_ENTRY(deviate, (args->p + LANES - 1) / LANES, 1)
DEFINE_ENTRY(correct, blocks_for(args->p), args->p)
DEFINE_ENTRY(place, blocks_for(args->chunk_rows), args->modes)
