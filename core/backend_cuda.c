/* SPDX-License-Identifier: Apache-2.0 */
/* The cuda backend: device 0, memory, events, and the checks of CUDA's and its libraries' codes.
 * Its queues are in backend_cuda_queue.c, its graphs in backend_cuda_graph.c. */
#include "core/backend_cuda_private.h"

#include "core/alloc.h"
#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>

/* What broke a capture, in the words of its rules; NULL for other codes. */
static const char *capture_rule(cudaError_t code)
{
    switch ((int)code) {
    case cudaErrorStreamCaptureUnsupported:
        return "a call was made that cannot be captured, such as an allocation or a wait";
    case cudaErrorStreamCaptureInvalidated:
        return "an earlier call had already broken the capture";
    case cudaErrorStreamCaptureMerge:
        return "two captures would have been joined into one";
    case cudaErrorStreamCaptureUnmatched:
        return "a capture was ended on a stream that did not begin it";
    case cudaErrorStreamCaptureUnjoined:
        return "work forked to another stream was not joined before the end";
    case cudaErrorStreamCaptureIsolation:
        return "the capture depends on work from before it began";
    case cudaErrorStreamCaptureImplicit:
        return "work was put on the legacy default stream";
    case cudaErrorCapturedEvent:
        return "an event recorded in a capture was used outside it";
    case cudaErrorStreamCaptureWrongThread:
        return "the capture was ended on another thread than it began on";
    default:
        return NULL;
    }
}

ek_status ek__cuda_check(cudaError_t code, const char *call, const char *file, int line)
{
    if (code == cudaSuccess) {
        return EK_OK;
    }
    cudaGetLastError();
    const char *rule = capture_rule(code);
    return ek_error_record(code == cudaErrorMemoryAllocation ? EK_ENOMEM : EK_ECUDA, (int)code,
                           file, line, "CUDA: %s failed with %s (%s)%s%s.", call,
                           cudaGetErrorName(code), cudaGetErrorString(code),
                           rule != NULL ? ": " : "", rule != NULL ? rule : "");
}

ek_status ek__cublas_check(cublasStatus_t code, const char *call, const char *file, int line)
{
    if (code == CUBLAS_STATUS_SUCCESS) {
        return EK_OK;
    }
    cudaGetLastError();
    return ek_error_record(EK_ECUBLAS, (int)code, file, line, "cuBLAS: %s failed with %s.", call,
                           cublasGetStatusString(code));
}

static const char *solver_status(cusolverStatus_t code)
{
    switch ((int)code) {
    case CUSOLVER_STATUS_NOT_INITIALIZED:
        return "CUSOLVER_STATUS_NOT_INITIALIZED";
    case CUSOLVER_STATUS_ALLOC_FAILED:
        return "CUSOLVER_STATUS_ALLOC_FAILED";
    case CUSOLVER_STATUS_INVALID_VALUE:
        return "CUSOLVER_STATUS_INVALID_VALUE";
    case CUSOLVER_STATUS_ARCH_MISMATCH:
        return "CUSOLVER_STATUS_ARCH_MISMATCH";
    case CUSOLVER_STATUS_EXECUTION_FAILED:
        return "CUSOLVER_STATUS_EXECUTION_FAILED";
    case CUSOLVER_STATUS_INTERNAL_ERROR:
        return "CUSOLVER_STATUS_INTERNAL_ERROR";
    case CUSOLVER_STATUS_NOT_SUPPORTED:
        return "CUSOLVER_STATUS_NOT_SUPPORTED";
    case CUSOLVER_STATUS_INVALID_WORKSPACE:
        return "CUSOLVER_STATUS_INVALID_WORKSPACE";
    default:
        return "a code without a name";
    }
}

ek_status ek__cusolver_check(cusolverStatus_t code, const char *call, const char *file, int line)
{
    if (code == CUSOLVER_STATUS_SUCCESS) {
        return EK_OK;
    }
    cudaGetLastError();
    return ek_error_record(EK_ECUSOLVER, (int)code, file, line, "cuSOLVER: %s failed with %s (%d).",
                           call, solver_status(code), (int)code);
}

/* Says in `reason` why cudaGetDeviceCount found nothing. */
static void explain_none(cudaError_t code, char *reason, size_t size)
{
    int driver = 0;
    cudaDriverGetVersion(&driver); /* 0 where there is no driver at all */
    cudaGetLastError();
    if (driver == 0) {
        snprintf(reason, size, "no usable CUDA device (no NVIDIA driver)");
    } else if (code == cudaErrorInsufficientDriver) {
        snprintf(reason, size,
                 "no usable CUDA device (the NVIDIA driver supports CUDA %d.%d, this build needs "
                 "%d.%d)",
                 driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000,
                 CUDART_VERSION % 1000 / 10);
    } else if (code == cudaErrorNoDevice || code == cudaSuccess) {
        snprintf(reason, size,
                 "no usable CUDA device (the driver shows none; look at nvidia-smi and "
                 "CUDA_VISIBLE_DEVICES)");
    } else {
        snprintf(reason, size, "no usable CUDA device (%s: %s)", cudaGetErrorName(code),
                 cudaGetErrorString(code));
    }
}

enum { CAPABILITY_MIN = 75 }; /* what the kernels are compiled for at the least, times 10 */

int ek_cuda_device_count(char *reason, size_t reason_size)
{
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess || count == 0) {
        explain_none(code, reason, reason_size);
        return 0;
    }
    struct cudaDeviceProp prop;
    code = cudaGetDeviceProperties(&prop, 0);
    if (code != cudaSuccess) {
        explain_none(code, reason, reason_size);
        return 0;
    }
    if (prop.major * 10 + prop.minor < CAPABILITY_MIN) {
        snprintf(reason, reason_size,
                 "no usable CUDA device (%s has compute capability %d.%d, this build needs %d.%d)",
                 prop.name, prop.major, prop.minor, CAPABILITY_MIN / 10, CAPABILITY_MIN % 10);
        return 0;
    }
    snprintf(reason, reason_size, "%s, compute capability %d.%d", prop.name, prop.major,
             prop.minor);
    return count;
}

static void cuda_destroy(ek_backend *backend)
{
    ek_free(backend);
}

static int library_version(char *out, size_t size)
{
    int runtime = 0, driver = 0, blas[3] = {0}, solver[3] = {0};
    cudaRuntimeGetVersion(&runtime);
    cudaDriverGetVersion(&driver);
    static const libraryPropertyType parts[] = {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
    for (int i = 0; i < 3; i++) {
        cublasGetProperty(parts[i], &blas[i]);
        cusolverGetProperty(parts[i], &solver[i]);
    }
    return snprintf(out, size, "CUDA %d.%d, driver %d.%d, cuBLAS %d.%d.%d, cuSOLVER %d.%d.%d",
                    runtime / 1000, runtime % 1000 / 10, driver / 1000, driver % 1000 / 10, blas[0],
                    blas[1], blas[2], solver[0], solver[1], solver[2]);
}

static ek_status cuda_props(ek_backend *backend, ek_backend_props *out)
{
    (void)backend;
    struct cudaDeviceProp prop;
    EK_TRY(EK_CUDA(cudaGetDeviceProperties(&prop, 0)));
    snprintf(out->device, sizeof out->device, "%.127s", prop.name);
    library_version(out->libraries, sizeof out->libraries);
    return EK_CUDA(cudaMemGetInfo(&out->free_bytes, &out->total_bytes));
}

typedef struct space_words {
    const char *name, *advice;
} space_words;

static ek_status no_memory(cudaError_t code, size_t bytes, space_words words)
{
    cudaGetLastError();
    return EK_FAIL_CODE(EK_ENOMEM, (int)code, "The cuda backend cannot take %zu bytes of %s: %s.",
                        bytes, words.name, words.advice);
}

/* The part of all spaces: counts, takes, and explains a failure. */
static ek_status take(ek_space space, size_t bytes, void **out)
{
    static const space_words words[] = {
        [EK_SPACE_HOST] = {"host memory", "use smaller chunks or fewer slots"},
        [EK_SPACE_PINNED] = {"pinned host memory", "use smaller chunks or fewer slots"},
        [EK_SPACE_DEVICE] = {"device memory",
                             "use a smaller budget, smaller chunks or fewer slots"},
    };
    size_t rounded = EK_MAX(ek_align(bytes), (size_t)EK_ALIGN);
    if (rounded < bytes || ek_alloc_count_one()) {
        return no_memory(cudaErrorMemoryAllocation, bytes, words[space]);
    }
    cudaError_t code = cudaSuccess;
    if (space == EK_SPACE_DEVICE) {
        code = cudaMalloc(out, rounded);
    } else if (space == EK_SPACE_PINNED) {
        code = cudaHostAlloc(out, rounded, cudaHostAllocDefault);
    } else {
        *out = aligned_alloc(EK_ALIGN, rounded);
        code = *out != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
    }
    if (code == cudaSuccess) {
        return EK_OK;
    }
    *out = NULL;
    ek_alloc_count_free();
    if (code == cudaErrorMemoryAllocation) {
        return no_memory(code, bytes, words[space]);
    }
    return ek__cuda_check(code, "taking memory", __FILE__, __LINE__);
}

static ek_status cuda_mem_alloc(ek_backend *backend, ek_space space, size_t bytes, void **out)
{
    (void)backend;
    return take(space, bytes, out);
}

static void cuda_mem_free(ek_backend *backend, ek_space space, void *ptr)
{
    (void)backend;
    if (space == EK_SPACE_DEVICE) {
        cudaFree(ptr);
    } else if (space == EK_SPACE_PINNED) {
        cudaFreeHost(ptr);
    } else {
        free(ptr);
    }
    cudaGetLastError(); /* after a device fault giving back fails too, which is of no interest */
    ek_alloc_count_free();
}

ek_status ek__cuda_alloc(size_t bytes, void **out)
{
    return take(EK_SPACE_DEVICE, bytes, out);
}

void ek__cuda_free(void *ptr)
{
    if (ptr != NULL) {
        cuda_mem_free(NULL, EK_SPACE_DEVICE, ptr);
    }
}

static ek_status cuda_event_create(ek_backend *backend, ek_event **out)
{
    cuda_event *event = ek_alloc(1, sizeof *event);
    if (event == NULL) {
        return EK_ENOMEM;
    }
    event->base.backend = backend;
    ek_status rc = EK_CUDA(cudaEventCreate(&event->event));
    if (rc != EK_OK) {
        ek_free(event);
        return rc;
    }
    *out = &event->base;
    return EK_OK;
}

static void cuda_event_destroy(ek_event *event)
{
    cudaEventDestroy(((cuda_event *)event)->event);
    cudaGetLastError();
    ek_free(event);
}

static ek_status cuda_event_record(ek_event *event, ek_queue *queue)
{
    cuda_queue *self = (cuda_queue *)queue;
    EK_TRY(ek__cuda_refuse(self, "Recording an event"));
    return EK_CUDA(cudaEventRecord(((cuda_event *)event)->event, self->stream));
}

static ek_status cuda_event_wait(ek_event *event, ek_queue *queue)
{
    cuda_queue *self = (cuda_queue *)queue;
    EK_TRY(ek__cuda_refuse(self, "Waiting for an event"));
    return EK_CUDA(cudaStreamWaitEvent(self->stream, ((cuda_event *)event)->event, 0));
}

static ek_status cuda_event_query(ek_event *event, bool *done)
{
    cudaError_t code = cudaEventQuery(((cuda_event *)event)->event);
    if (code == cudaErrorNotReady) {
        cudaGetLastError();
        *done = false;
        return EK_OK;
    }
    *done = true; /* also after a fault: nothing more will come */
    return ek__cuda_check(code, "the work before an event", __FILE__, __LINE__);
}

static ek_status cuda_event_elapsed(ek_event *start, ek_event *stop, double *seconds)
{
    float ms = 0;
    cudaError_t code =
        cudaEventElapsedTime(&ms, ((cuda_event *)start)->event, ((cuda_event *)stop)->event);
    if (code == cudaErrorNotReady || code == cudaErrorInvalidResourceHandle) {
        cudaGetLastError();
        return EK_FAIL_CODE(EK_EINVAL, (int)code,
                            "The time between two events was asked for before both were recorded "
                            "and reached.");
    }
    *seconds = (double)ms * 1e-3;
    return ek__cuda_check(code, "cudaEventElapsedTime", __FILE__, __LINE__);
}

static const ek_backend_ops cuda_ops = {
    .name = "cuda",
    .kind = EK_BACKEND_CUDA,
    .destroy = cuda_destroy,
    .props = cuda_props,
    .mem_alloc = cuda_mem_alloc,
    .mem_free = cuda_mem_free,
    .queue_create = ek__cuda_queue_create,
    .queue_destroy = ek__cuda_queue_destroy,
    .queue_sync = ek__cuda_queue_sync,
    .copy = ek__cuda_queue_copy,
    .fill = ek__cuda_queue_fill,
    .launch = ek__cuda_queue_launch,
    .notify = ek__cuda_queue_notify,
    .native = ek__cuda_queue_native,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_wait = cuda_event_wait,
    .event_query = cuda_event_query,
    .event_elapsed = cuda_event_elapsed,
    .capture_begin = ek__cuda_capture_begin,
    .capture_end = ek__cuda_capture_end,
    .graph_launch = ek__cuda_graph_launch,
    .graph_size = ek__cuda_graph_size,
    .graph_destroy = ek__cuda_graph_destroy,
};

ek_status ek_backend_create_cuda(ek_backend **out)
{
    *out = NULL;
    EK_TRY(EK_CUDA(cudaSetDevice(0)));
    EK_TRY(EK_CUDA(cudaFree(NULL))); /* makes the context now, so that its failure shows here */
    ek_backend *backend = ek_alloc(1, sizeof *backend);
    if (backend == NULL) {
        return EK_ENOMEM;
    }
    backend->ops = &cuda_ops;
    *out = backend;
    return EK_OK;
}
