/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's calls that the cuda backend makes for a run, timed. */
#include "tools/bench/launch_clock.h"

#include <cuda_runtime_api.h>

#define DECLARE(name, params)                                                                      \
    cudaError_t __real_##name params;                                                              \
    cudaError_t __wrap_##name params;

#define TIMED(call, name, params, args)                                                            \
    DECLARE(name, params)                                                                          \
    cudaError_t __wrap_##name params                                                               \
    {                                                                                              \
        double began = clock_now();                                                                \
        cudaError_t code = __real_##name args;                                                     \
        clock_add(call, began);                                                                    \
        return code;                                                                               \
    }

TIMED(CLOCK_INSTANTIATE, cudaGraphInstantiate,
      (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags), (exec, graph, flags))
TIMED(CLOCK_UPLOAD, cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))
TIMED(clock_count(CLOCK_FIRST) == 0 ? CLOCK_FIRST : CLOCK_LAUNCH, cudaGraphLaunch,
      (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))
TIMED(CLOCK_COPY, cudaMemcpyAsync,
      (void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
      (dst, src, bytes, kind, stream))
TIMED(CLOCK_RECORD, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
TIMED(CLOCK_WAIT, cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
      (stream, event, flags))
TIMED(CLOCK_TELL, cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t fn, void *user),
      (stream, fn, user))
TIMED(CLOCK_QUERY, cudaEventQuery, (cudaEvent_t event), (event))
TIMED(CLOCK_ELAPSED, cudaEventElapsedTime, (float *ms, cudaEvent_t start, cudaEvent_t stop),
      (ms, start, stop))

/* A capture lasts from one call to another. */
static double capture_began;

DECLARE(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode))
DECLARE(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph))

cudaError_t __wrap_cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    capture_began = clock_now();
    return __real_cudaStreamBeginCapture(stream, mode);
}

cudaError_t __wrap_cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    cudaError_t code = __real_cudaStreamEndCapture(stream, graph);
    clock_add(CLOCK_CAPTURE, capture_began);
    return code;
}
