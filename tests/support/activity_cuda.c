/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/activity.h"

#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define BUFFER_BYTES ((size_t)4 << 20)

/* CUPTI's functions, as loaded. */
static struct {
    void *library;
    CUptiResult (*callbacks)(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc);
    CUptiResult (*enable)(CUpti_ActivityKind);
    CUptiResult (*disable)(CUpti_ActivityKind);
    CUptiResult (*flush)(uint32_t);
    CUptiResult (*next)(uint8_t *, size_t, CUpti_Activity **);
} cupti;

/* Buffers are handed in on threads of CUPTI's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static activity *records;
static size_t n_records, room;

static const CUpti_ActivityKind kinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_RUNTIME,
    CUPTI_ACTIVITY_KIND_DRIVER,
};

static void keep(activity record)
{
    if (n_records == room) {
        size_t more = room == 0 ? 1024 : room * 2;
        activity *grown = realloc(records, more * sizeof(*records));
        if (grown == NULL) {
            return;
        }
        records = grown;
        room = more;
    }
    records[n_records++] = record;
}

static bool runtime_kind(CUpti_CallbackId id, activity_kind *out)
{
    switch (id) {
    case CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000:
    case CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000:
        *out = ACTIVITY_GRAPH_LAUNCH;
        return true;
    case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchHostFunc_v10000:
    case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchHostFunc_ptsz_v10000:
        *out = ACTIVITY_CALLBACK;
        return true;
    case CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMallocPitch_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMallocHost_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaHostAlloc_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMallocManaged_v6000:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMallocAsync_v11020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMallocAsync_ptsz_v11020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMallocFromPoolAsync_v11020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaMallocFromPoolAsync_ptsz_v11020:
        *out = ACTIVITY_ALLOCATION;
        return true;
    default:
        return false;
    }
}

/* Libraries may call the driver without the runtime. */
static bool driver_allocates(CUpti_CallbackId id)
{
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocHost_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc:
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged:
    case CUPTI_DRIVER_TRACE_CBID_cuMemCreate:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync_ptsz:
        return true;
    default:
        return false;
    }
}

static void keep_call(const CUpti_ActivityAPI *call)
{
    activity record = {.start_ns = call->start, .end_ns = call->end};
    bool wanted = false;
    if (call->kind == CUPTI_ACTIVITY_KIND_RUNTIME) {
        wanted = runtime_kind(call->cbid, &record.kind);
    } else {
        wanted = driver_allocates(call->cbid);
        record.kind = ACTIVITY_ALLOCATION;
    }
    if (wanted) {
        keep(record);
    }
}

static void keep_copy(const CUpti_ActivityMemcpy6 *copy)
{
    bool in = copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    if (in || copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH) {
        keep((activity){in ? ACTIVITY_COPY_IN : ACTIVITY_COPY_OUT, copy->start, copy->end,
                        copy->bytes, copy->graphNodeId});
    }
}

static void keep_record(const CUpti_Activity *record)
{
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        const CUpti_ActivityKernel10 *kernel = (const void *)record;
        keep((activity){.kind = ACTIVITY_KERNEL,
                        .start_ns = kernel->start,
                        .end_ns = kernel->end,
                        .graph_node = kernel->graphNodeId});
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        keep_copy((const void *)record);
        break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        keep_call((const void *)record);
        break;
    default:
        break;
    }
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *max_records)
{
    *buffer = aligned_alloc(64, BUFFER_BYTES);
    *size = *buffer != NULL ? BUFFER_BYTES : 0;
    *max_records = 0; /* as many as there is room for */
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t valid)
{
    (void)context;
    (void)stream;
    (void)size;
    CUpti_Activity *record = NULL;
    pthread_mutex_lock(&lock);
    while (valid > 0 && cupti.next(buffer, valid, &record) == CUPTI_SUCCESS) {
        keep_record(record);
    }
    pthread_mutex_unlock(&lock);
    free(buffer);
}

static bool load(void)
{
    static const char *const names[] = {"libcupti.so.13",
                                        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
                                        "/usr/local/cuda/lib64/libcupti.so.13"};
    for (size_t i = 0; i < sizeof names / sizeof *names && cupti.library == NULL; i++) {
        cupti.library = dlopen(names[i], RTLD_NOW);
    }
    if (cupti.library == NULL) {
        return false;
    }
    *(void **)&cupti.callbacks = dlsym(cupti.library, "cuptiActivityRegisterCallbacks");
    *(void **)&cupti.enable = dlsym(cupti.library, "cuptiActivityEnable");
    *(void **)&cupti.disable = dlsym(cupti.library, "cuptiActivityDisable");
    *(void **)&cupti.flush = dlsym(cupti.library, "cuptiActivityFlushAll");
    *(void **)&cupti.next = dlsym(cupti.library, "cuptiActivityGetNextRecord");
    return cupti.callbacks != NULL && cupti.enable != NULL && cupti.disable != NULL &&
           cupti.flush != NULL && cupti.next != NULL;
}

bool activity_start(char *reason, size_t size)
{
    if (cupti.library == NULL && !load()) {
        const char *why = dlerror();
        snprintf(reason, size, "libcupti.so.13 cannot be loaded (%s)", why != NULL ? why : "");
        return false;
    }
    CUptiResult code = cupti.callbacks(give_buffer, take_buffer);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && code == CUPTI_SUCCESS; i++) {
        code = cupti.enable(kinds[i]);
    }
    if (code != CUPTI_SUCCESS) {
        snprintf(reason, size, "CUPTI refuses to record (code %d)", (int)code);
        return false;
    }
    return true;
}

activity *activity_stop(size_t *count)
{
    cupti.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        cupti.disable(kinds[i]);
    }
    pthread_mutex_lock(&lock);
    activity *out = records;
    *count = n_records;
    records = NULL;
    n_records = room = 0;
    pthread_mutex_unlock(&lock);
    return out;
}
