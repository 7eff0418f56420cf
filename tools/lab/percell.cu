/* SPDX-License-Identifier: Apache-2.0 */
/* One block for one statistic of one cell. */
#include "core/alloc.h"
#include "core/backend_cuda.h"
#include "tools/lab/percell.h"

#define THREADS 256

typedef struct branches {
    cudaStream_t streams[LAB_BRANCHES];
    cudaEvent_t fork, join[LAB_BRANCHES];
} branches;

/* block_reduce combines a value of each thread; all get the result. */
template <typename Op> static __device__ double block_reduce(double value, Op op)
{
    __shared__ double warps[THREADS / 32];
    for (int d = 16; d > 0; d >>= 1) {
        value = op(value, __shfl_xor_sync(0xffffffffu, value, d));
    }
    if (threadIdx.x % 32 == 0) {
        warps[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = warps[0];
    for (int w = 1; w < THREADS / 32; w++) {
        value = op(value, warps[w]);
    }
    __syncthreads();
    return value;
}

static __device__ double add(double a, double b)
{
    return a + b;
}

/* Sums (value - mean)^power over the values that are there; power 0 counts them. */
static __device__ double column_sum(const lab_percell_args &a, double mean, int power)
{
    double sum = 0;
    for (int64_t r = threadIdx.x; r < a.in.header->rows; r += THREADS) {
        double d = ek_stream_value(a.in, r * a.in.header->cells + a.cell) - mean;
        if (!isnan(d)) {
            sum += power == 2 ? d * d : power == 1 ? d : 1;
        }
    }
    return block_reduce(sum, add);
}

/* fmin and fmax pass NaN over; without values the range is NaN. */
static __device__ double column_range(const lab_percell_args &a)
{
    double low = INFINITY;
    double high = -INFINITY;
    for (int64_t r = threadIdx.x; r < a.in.header->rows; r += THREADS) {
        double value = ek_stream_value(a.in, r * a.in.header->cells + a.cell);
        low = fmin(low, value);
        high = fmax(high, value);
    }
    high = block_reduce(high, [](double x, double y) { return fmax(x, y); });
    low = block_reduce(low, [](double x, double y) { return fmin(x, y); });
    return low > high ? NAN : high - low;
}

static __global__ void percell(lab_percell_args a)
{
    if (a.in.header->rows == 0) {
        return;
    }
    double result = 0;
    if (a.statistic == LAB_RANGE) {
        result = column_range(a);
    } else {
        double n = column_sum(a, 0, 0);
        result = column_sum(a, 0, 1) / n;
        if (a.statistic != LAB_MEAN) {
            result = column_sum(a, result, 2) / (n - 1);
        }
        if (a.statistic == LAB_STD) {
            result = sqrt(result);
        }
    }
    if (threadIdx.x == 0) {
        *a.out = result;
    }
}

extern "C" ek_status lab_percell_cuda(const void *args, ek_queue *queue)
{
    const lab_percell_args *a = (const lab_percell_args *)args;
    (void)queue;
    percell<<<1, THREADS, 0, ((branches *)a->branches)->streams[a->cell % LAB_BRANCHES]>>>(*a);
    return EK_CUDA_LAUNCHED("percell");
}

extern "C" ek_status lab_fork_cuda(const void *args, ek_queue *queue)
{
    branches *b = (branches *)((const lab_percell_args *)args)->branches;
    EK_TRY(EK_CUDA(cudaEventRecord(b->fork, ek_cuda_stream(queue))));
    for (int i = 0; i < LAB_BRANCHES; i++) {
        EK_TRY(EK_CUDA(cudaStreamWaitEvent(b->streams[i], b->fork, 0)));
    }
    return EK_OK;
}

extern "C" ek_status lab_join_cuda(const void *args, ek_queue *queue)
{
    branches *b = (branches *)((const lab_percell_args *)args)->branches;
    for (int i = 0; i < LAB_BRANCHES; i++) {
        EK_TRY(EK_CUDA(cudaEventRecord(b->join[i], b->streams[i])));
        EK_TRY(EK_CUDA(cudaStreamWaitEvent(ek_cuda_stream(queue), b->join[i], 0)));
    }
    return EK_OK;
}

static ek_status fill_branches(branches *b)
{
    EK_TRY(EK_CUDA(cudaEventCreateWithFlags(&b->fork, cudaEventDisableTiming)));
    for (int i = 0; i < LAB_BRANCHES; i++) {
        EK_TRY(EK_CUDA(cudaStreamCreateWithFlags(&b->streams[i], cudaStreamNonBlocking)));
        EK_TRY(EK_CUDA(cudaEventCreateWithFlags(&b->join[i], cudaEventDisableTiming)));
    }
    return EK_OK;
}

extern "C" ek_status lab_branches_create(void **out)
{
    *out = ek_alloc(1, sizeof(branches));
    return *out != NULL ? fill_branches((branches *)*out) : EK_ENOMEM;
}

extern "C" void lab_branches_destroy(void *made)
{
    branches *b = (branches *)made;
    if (b == NULL) {
        return;
    }
    for (int i = 0; i < LAB_BRANCHES; i++) {
        if (b->streams[i] != NULL) {
            cudaStreamDestroy(b->streams[i]);
        }
        if (b->join[i] != NULL) {
            cudaEventDestroy(b->join[i]);
        }
    }
    if (b->fork != NULL) {
        cudaEventDestroy(b->fork);
    }
    cudaGetLastError();
    ek_free(b);
}
