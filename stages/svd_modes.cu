/* SPDX-License-Identifier: Apache-2.0 */
/* The svd stage's kernels on CUDA that make the modes from eigenpairs. */
#include "stages/svd_device.cuh"

/* One block. */
static __global__ void __launch_bounds__(THREADS) spectrum_kernel(const ek__svd_args args)
{
    double total = args.facts->total, freedom = (double)(args.n - 1);
    double cut = ek__svd_cut(&args);
    int64_t rank = 0;
    for (int64_t i = threadIdx.x; i < ek__svd_ranked(&args); i += THREADS) {
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
    double *eof = args.eof + blockIdx.x * args.p;
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
        eof[c] = args.bad[c] != 0 ? 0.0 : eof[c] * factor;
    }
    for (int64_t t = threadIdx.x; ek__svd_time(&args) && t < args.n; t += THREADS) {
        args.pc[blockIdx.x * args.n + t] *= sign;
    }
}

/* One block. The lower triangle of V^T V, modes x modes, is in args.gram. */
static __global__ void __launch_bounds__(THREADS) widest_kernel(const ek__svd_args args)
{
    int64_t k = lower(args.modes, (int64_t)args.facts->rank);
    double largest = 0.0;
    for (int64_t i = threadIdx.x; i < k * k; i += THREADS) {
        int64_t row = i % k, column = i / k;
        double off = args.gram[column * args.modes + row] - (row == column ? 1.0 : 0.0);
        largest = row >= column ? higher(largest, fabs(off)) : largest;
    }
    largest = over_block(largest, higher<double>);
    if (threadIdx.x == 0) {
        args.facts->overlap = largest;
    }
}

/* What the second sweep projects on: the EOFs, and what the mean deviation gives. One block for a
 * mode. */
static __global__ void __launch_bounds__(THREADS) basis_kernel(const ek__svd_args args)
{
    int64_t mode = blockIdx.x;
    double sum = 0.0;
    for (int64_t c = threadIdx.x; c < args.p; c += THREADS) {
        double v = args.eof[mode * args.p + c];
        args.basis[mode * args.p + c] = v;
        sum += args.centred != 0 ? v * (args.sums[c] / (double)args.n) : 0.0;
    }
    sum = over_block(sum, add<double>);
    if (threadIdx.x == 0) {
        args.offset[mode] = sum;
    }
}

/* One thread for a cell; the first also puts out the facts. */
static __global__ void __launch_bounds__(THREADS) conclude_kernel(const ek__svd_args args)
{
    int64_t c = thread_index();
    if (c == 0) {
        *args.orthogonality = args.facts->overlap;
        if (args.residual != NULL) {
            *args.residual = args.facts->residual;
            *args.n_multiplies = args.facts->multiplies;
        }
    }
    if (c >= args.p) {
        return;
    }
    bool bad = args.bad[c] != 0;
    if (args.mean_out != NULL) {
        args.mean_out[c] = bad ? (double)NAN : args.mean[c];
    }
    for (int64_t i = 0; bad && i < args.modes; i++) {
        args.eof[i * args.p + c] = (double)NAN;
    }
}

DEFINE_ENTRY(spectrum, 1, 1)
DEFINE_ENTRY(vectors, blocks_for(args->order), args->modes)
DEFINE_ENTRY(sign, args->modes, 1)
DEFINE_ENTRY(widest, 1, 1)

extern "C" ek_status ek__svd_conclude_cuda(const void *ptr, ek_queue *queue)
{
    const ek__svd_args *args = (const ek__svd_args *)ptr;
    cudaStream_t stream = ek_cuda_stream(queue);
    if (!ek__svd_time(args)) {
        basis_kernel<<<(unsigned)args->modes, THREADS, 0, stream>>>(*args);
        EK_TRY(EK_CUDA_LAUNCHED("basis_kernel"));
    }
    conclude_kernel<<<blocks_for(args->p), THREADS, 0, stream>>>(*args);
    return EK_CUDA_LAUNCHED("conclude_kernel");
}
