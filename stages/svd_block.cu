/* SPDX-License-Identifier: Apache-2.0 */
/* The filtered block iteration's own kernels on CUDA, apart from its small problems (svd_small.cu);
 * svd_block_cuda.c puts them in order. */
#include "stages/svd_block.h"
#include "stages/svd_device.cuh"

/* One thread for an element; the first starts the control. */
static __global__ void __launch_bounds__(THREADS) start_kernel(const ek__svd_args args)
{
    const ek__svd_block &b = args.solver.block;
    int64_t i = thread_index();
    if (i == 0) {
        *b.control = ek__svd_control{};
        b.control->running = 1;
    }
    if (i < args.order * b.size) {
        b.y[i] = ek__svd_invented(i);
    }
}

/* One block for a wanted pair: the square of |C q - theta q|. */
static __global__ void __launch_bounds__(THREADS) residual_kernel(const ek__svd_args args)
{
    const ek__svd_block &b = args.solver.block;
    int64_t first = blockIdx.x * args.order;
    double theta = args.values[blockIdx.x], squares = 0.0;
    for (int64_t i = first + threadIdx.x; i < first + args.order; i += THREADS) {
        double r = b.z[i] - theta * b.q[i];
        squares += r * r;
    }
    squares = over_block(squares, add<double>);
    if (threadIdx.x == 0) {
        b.norm[blockIdx.x] = squares;
    }
}

static __device__ void set_loop(ek__svd_loop loop, bool again)
{
#if CUDART_VERSION >= 12040
    if (loop != 0) {
        cudaGraphSetConditional((cudaGraphConditionalHandle)loop, again ? 1u : 0u);
    }
#endif
}

/* One block. */
static __global__ void __launch_bounds__(THREADS)
    steer_kernel(const ek__svd_args args, ek__svd_loop loop)
{
    const ek__svd_block &b = args.solver.block;
    double largest = 0.0;
    for (int64_t i = threadIdx.x; i < args.modes; i += THREADS) {
        largest = higher(largest, b.norm[i]);
    }
    largest = over_block(largest, higher<double>);
    if (threadIdx.x == 0) {
        b.control->multiplies++;
        ek__svd_steer(b.control, args.values[0], args.values[b.size - 1], sqrt(largest),
                      args.order);
        args.facts->info = 1 - b.control->converged;
        args.facts->residual = b.control->residual;
        args.facts->multiplies = b.control->multiplies;
        set_loop(loop, b.control->running != 0);
    }
}

/* One thread for an element: the filter's first two terms, from z = C q. */
static __global__ void __launch_bounds__(THREADS)
    filter_kernel(const ek__svd_args args, ek__svd_loop loop)
{
    const ek__svd_block &b = args.solver.block;
    int64_t i = thread_index();
    if (i < args.order * b.size) {
        b.last[i] = b.q[i];
        b.y[i] = b.z[i] / b.control->center - b.q[i];
    }
    if (i == 0) {
        set_loop(loop, b.control->step > 0);
    }
}

/* One thread for an element: the filter's next term, from z = C y. */
static __global__ void __launch_bounds__(THREADS) step_kernel(const ek__svd_args args)
{
    const ek__svd_block &b = args.solver.block;
    int64_t i = thread_index();
    if (i < args.order * b.size) {
        double y = b.y[i];
        b.y[i] = 2.0 * (b.z[i] / b.control->center - y) - b.last[i];
        b.last[i] = y;
    }
}

/* One thread: counts the step. A kernel of its own, since all threads of a step read the control.
 */
static __global__ void count_kernel(const ek__svd_args args, ek__svd_loop loop)
{
    ek__svd_control *control = args.solver.block.control;
    control->step--;
    control->multiplies++;
    set_loop(loop, control->step > 0);
}

static unsigned elements(const ek__svd_args *args)
{
    return blocks_for(args->order * args->solver.block.size);
}

extern "C" ek_status ek__svd_block_start_cuda(const ek__svd_args *args, ek_queue *queue)
{
    start_kernel<<<elements(args), THREADS, 0, ek_cuda_stream(queue)>>>(*args);
    return EK_CUDA_LAUNCHED("start_kernel");
}

extern "C" ek_status ek__svd_block_steer_cuda(const ek__svd_args *args, ek_queue *queue,
                                              ek__svd_loop loop)
{
    cudaStream_t stream = ek_cuda_stream(queue);
    residual_kernel<<<(unsigned)args->modes, THREADS, 0, stream>>>(*args);
    EK_TRY(EK_CUDA_LAUNCHED("residual_kernel"));
    steer_kernel<<<1, THREADS, 0, stream>>>(*args, loop);
    return EK_CUDA_LAUNCHED("steer_kernel");
}

extern "C" ek_status ek__svd_block_filter_cuda(const ek__svd_args *args, ek_queue *queue,
                                               ek__svd_loop loop)
{
    filter_kernel<<<elements(args), THREADS, 0, ek_cuda_stream(queue)>>>(*args, loop);
    return EK_CUDA_LAUNCHED("filter_kernel");
}

extern "C" ek_status ek__svd_block_step_cuda(const ek__svd_args *args, ek_queue *queue,
                                             ek__svd_loop loop)
{
    cudaStream_t stream = ek_cuda_stream(queue);
    step_kernel<<<elements(args), THREADS, 0, stream>>>(*args);
    EK_TRY(EK_CUDA_LAUNCHED("step_kernel"));
    count_kernel<<<1, 1, 0, stream>>>(*args, loop);
    return EK_CUDA_LAUNCHED("count_kernel");
}
