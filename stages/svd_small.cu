/* SPDX-License-Identifier: Apache-2.0 */
/* The filtered block iteration's small problems on CUDA, one thread block each: a guarded Cholesky
 * factor and a Jacobi eigensolver, for matrices of at most EK__SVD_BLOCK_MAX columns, which stay in
 * the cache of one multiprocessor. Unlike the libraries' they can be captured at any size, and a
 * column that the others span does not make them fail. */
#include "stages/svd_block.h"
#include "stages/svd_device.cuh"

#define SMALL_THREADS 512
#define DEPENDENT     1e-12 /* of a column's square: what is left of one that the others span */
#define SWEEPS_MAX    30

/* The Cholesky factor of `small` = Y^T Y, as L in its lower triangle. A column that those before it
 * span is marked, and left out of the factor: its row and column are those of the unit matrix. */
static __global__ void __launch_bounds__(SMALL_THREADS) factor_kernel(const ek__svd_args args)
{
    const ek__svd_block &b = args.solver.block;
    int l = (int)b.size;
    double *g = b.small;
    for (int j = threadIdx.x; j < l; j += SMALL_THREADS) {
        b.norm[j] = g[j * l + j];
    }
    __syncthreads();
    for (int k = 0; k < l; k++) {
        double pivot = g[k * l + k];
        bool dependent = !(pivot > DEPENDENT * b.norm[k]);
        double root = dependent ? 1.0 : sqrt(pivot);
        __syncthreads(); /* all have read the pivot */
        for (int i = k + threadIdx.x; i < l; i += SMALL_THREADS) {
            double value = dependent ? 0.0 : g[k * l + i] / root;
            g[k * l + i] = i == k ? root : value;
        }
        for (int i = threadIdx.x; dependent && i < k; i += SMALL_THREADS) {
            g[i * l + k] = 0.0;
        }
        if (threadIdx.x == 0) {
            b.dependent[k] = dependent ? 1 : 0;
        }
        __syncthreads();
        int rest = l - k - 1;
        for (int e = threadIdx.x; e < rest * rest; e += SMALL_THREADS) {
            int i = k + 1 + e % rest, j = k + 1 + e / rest;
            if (i >= j) {
                g[j * l + i] -= g[k * l + i] * g[k * l + j];
            }
        }
        __syncthreads();
    }
}

/* One row of blocks for a column: a marked one becomes random, of about unit norm. */
static __global__ void __launch_bounds__(THREADS) refresh_kernel(const ek__svd_args args)
{
    const ek__svd_block &b = args.solver.block;
    int64_t i = thread_index(), column = blockIdx.y;
    if (i < args.order && b.dependent[column] != 0) {
        int64_t seed = (b.control->rounds + 1) * args.order * b.size + column * args.order + i;
        b.y[column * args.order + i] = ek__svd_invented(seed) * sqrt(3.0 / (double)args.order);
    }
}

/* The pair of indices that `turn` of a round robin over 2 n players brings together in `step`. */
static __device__ void pair_up(int n, int step, int turn, int *p, int *q)
{
    int last = 2 * n - 1;
    int a = turn == 0 ? last : (step + turn) % last;
    int b = (step + last - turn) % last;
    *p = min(a, b);
    *q = max(a, b);
}

/* The rotation that makes element (p, q) zero; none where it is below `floor`. */
static __device__ bool rotation(double pp, double qq, double pq, double floor, double *c, double *s)
{
    *c = 1.0;
    *s = 0.0;
    if (!(fabs(pq) > floor)) {
        return false;
    }
    double theta = (qq - pp) / (2.0 * pq);
    double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(1.0 + theta * theta));
    *c = 1.0 / sqrt(1.0 + t * t);
    *s = t * *c;
    return true;
}

/* Rotates elements `p` and `q`. */
static __device__ void turn_pair(double *p, double *q, double c, double s)
{
    double x = *p, y = *q;
    *p = c * x - s * y;
    *q = s * x + c * y;
}

/* Cyclic Jacobi on `small` in round robin order; the rotations are gathered in `v`. */
static __device__ void jacobi(double *h, double *v, int l)
{
    __shared__ double c[EK__SVD_BLOCK_MAX / 2 + 1], s[EK__SVD_BLOCK_MAX / 2 + 1];
    __shared__ int p[EK__SVD_BLOCK_MAX / 2 + 1], q[EK__SVD_BLOCK_MAX / 2 + 1];
    int pairs = (l + 1) / 2, turned = 1;
    double largest = 0.0;
    for (int i = 0; i < l; i++) {
        largest = fmax(largest, fabs(h[i * l + i]));
    }
    double floor = 4.0 * EK__SVD_EPS * largest; /* what rounding leaves */
    for (int sweep = 0; turned != 0 && sweep < SWEEPS_MAX; sweep++) {
        turned = 0;
        for (int step = 0; step < 2 * pairs - 1; step++) {
            bool mine = false;
            int k = (int)threadIdx.x;
            if (k < pairs) {
                pair_up(pairs, step, k, &p[k], &q[k]);
                bool real = q[k] < l;
                double pq = real ? h[q[k] * l + p[k]] : 0.0;
                mine = rotation(real ? h[p[k] * l + p[k]] : 1.0, real ? h[q[k] * l + q[k]] : 1.0,
                                pq, floor, &c[k], &s[k]);
            }
            if (__syncthreads_or(mine ? 1 : 0) == 0) {
                continue;
            }
            turned = 1;
            for (int e = threadIdx.x; e < pairs * l; e += SMALL_THREADS) {
                int i = e % l, at = e / l;
                if (s[at] != 0.0) {
                    turn_pair(&h[p[at] * l + i], &h[q[at] * l + i], c[at], s[at]);
                    turn_pair(&v[p[at] * l + i], &v[q[at] * l + i], c[at], s[at]);
                }
            }
            __syncthreads();
            for (int e = threadIdx.x; e < pairs * l; e += SMALL_THREADS) {
                int at = e % pairs, j = e / pairs;
                if (s[at] != 0.0) {
                    turn_pair(&h[j * l + p[at]], &h[j * l + q[at]], c[at], s[at]);
                }
            }
            __syncthreads();
        }
    }
}

/* Ritz values, largest first, into args.values, their vectors into `rotation`. `last` is in use;
 * `z` holds the unsorted vectors. */
static __global__ void __launch_bounds__(SMALL_THREADS) eigen_kernel(const ek__svd_args args)
{
    const ek__svd_block &b = args.solver.block;
    int l = (int)b.size;
    double *h = b.small, *v = b.z;
    for (int e = threadIdx.x; e < l * l; e += SMALL_THREADS) {
        v[e] = e % l == e / l ? 1.0 : 0.0;
        if (e % l > e / l) { /* one triangle decides, so that rounding leaves it symmetric */
            h[e % l * l + e / l] = h[e];
        }
    }
    __syncthreads();
    jacobi(h, v, l);
    for (int j = threadIdx.x; j < l; j += SMALL_THREADS) {
        double mine = h[j * l + j];
        int place = 0;
        for (int k = 0; k < l; k++) {
            double other = h[k * l + k];
            place += other > mine || (other == mine && k < j) ? 1 : 0;
        }
        args.values[place] = mine;
        for (int i = 0; i < l; i++) {
            b.rotation[place * l + i] = v[j * l + i];
        }
    }
}

extern "C" ek_status ek__svd_block_factor_cuda(const ek__svd_args *args, ek_queue *queue)
{
    cudaStream_t stream = ek_cuda_stream(queue);
    factor_kernel<<<1, SMALL_THREADS, 0, stream>>>(*args);
    EK_TRY(EK_CUDA_LAUNCHED("factor_kernel"));
    dim3 grid(blocks_for(args->order), (unsigned)args->solver.block.size);
    refresh_kernel<<<grid, THREADS, 0, stream>>>(*args);
    return EK_CUDA_LAUNCHED("refresh_kernel");
}

extern "C" ek_status ek__svd_block_ritz_cuda(const ek__svd_args *args, ek_queue *queue)
{
    eigen_kernel<<<1, SMALL_THREADS, 0, ek_cuda_stream(queue)>>>(*args);
    return EK_CUDA_LAUNCHED("eigen_kernel");
}
