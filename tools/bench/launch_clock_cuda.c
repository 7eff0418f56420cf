/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's calls that make and launch graphs, timed. */
#include "tools/bench/launch_clock.h"

#include <cuda_runtime_api.h>

#define WRAP(name, ...)                                                                            \
    cudaError_t __real_##name(__VA_ARGS__);                                                        \
    cudaError_t __wrap_##name(__VA_ARGS__);                                                        \
    cudaError_t __wrap_##name(__VA_ARGS__)

static double capture_began;

WRAP(cudaStreamBeginCapture, cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    capture_began = clock_now();
    return __real_cudaStreamBeginCapture(stream, mode);
}

WRAP(cudaStreamEndCapture, cudaStream_t stream, cudaGraph_t *graph)
{
    cudaError_t code = __real_cudaStreamEndCapture(stream, graph);
    clock_add(CLOCK_CAPTURE, capture_began);
    return code;
}

WRAP(cudaGraphInstantiate, cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    double began = clock_now();
    cudaError_t code = __real_cudaGraphInstantiate(exec, graph, flags);
    clock_add(CLOCK_INSTANTIATE, began);
    return code;
}

WRAP(cudaGraphUpload, cudaGraphExec_t exec, cudaStream_t stream)
{
    double began = clock_now();
    cudaError_t code = __real_cudaGraphUpload(exec, stream);
    clock_add(CLOCK_UPLOAD, began);
    return code;
}

WRAP(cudaGraphLaunch, cudaGraphExec_t exec, cudaStream_t stream)
{
    double began = clock_now();
    cudaError_t code = __real_cudaGraphLaunch(exec, stream);
    clock_add(clock_count(CLOCK_FIRST) == 0 ? CLOCK_FIRST : CLOCK_LAUNCH, began);
    return code;
}
