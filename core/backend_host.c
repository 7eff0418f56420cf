/* SPDX-License-Identifier: Apache-2.0 */
/* The host backend: memory, properties and events. Its queues are in backend_host_queue.c. */
#include "core/backend_host.h"

#include "core/alloc.h"
#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void host_destroy(ek_backend *backend)
{
    host_backend *self = (host_backend *)backend;
    uv_cond_destroy(&self->changed);
    uv_mutex_destroy(&self->lock);
    ek_free(self);
}

/* Returns the bytes that a line of /proc/meminfo such as "MemAvailable: 123 kB" names, or 0. */
static uint64_t meminfo_bytes(const char *key)
{
    FILE *file = fopen("/proc/meminfo", "re");
    if (file == NULL) {
        return 0;
    }
    unsigned long long kib = 0;
    char line[128];
    size_t length = strlen(key);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, key, length) == 0 && line[length] == ':') {
            kib = strtoull(line + length + 1, NULL, 10);
            break;
        }
    }
    fclose(file);
    return (uint64_t)kib * 1024;
}

static ek_status host_props(ek_backend *backend, ek_backend_props *out)
{
    (void)backend;
    uint64_t total = uv_get_total_memory();
    uint64_t limit = uv_get_constrained_memory(); /* of the control group; 0: none */
    if (limit > 0) {
        total = EK_MIN(total, limit);
    }
    uint64_t available = meminfo_bytes("MemAvailable");
    if (available == 0) {
        available = uv_get_free_memory();
    }
    out->total_bytes = (size_t)total;
    out->free_bytes = (size_t)EK_MIN(available, total);
    snprintf(out->device, sizeof out->device, "host (%u cores)", uv_available_parallelism());
    snprintf(out->libraries, sizeof out->libraries, "libuv %s", uv_version_string());
    return EK_OK;
}

#define HUGE_PAGE ((size_t)2 << 20)

/* Returns memory for the ring and the like. Large blocks come in huge pages where the system has
 * them to give: the first touch of each page costs a fault, and there are thousands of small ones.
 */
static void *take_memory(size_t bytes)
{
    size_t alignment = bytes >= 2 * HUGE_PAGE ? HUGE_PAGE : (size_t)EK_ALIGN;
    if (bytes > SIZE_MAX - alignment) {
        return NULL;
    }
    size_t rounded = EK_MAX((bytes + alignment - 1) / alignment * alignment, alignment);
    void *ptr = aligned_alloc(alignment, rounded);
    if (ptr != NULL && alignment == HUGE_PAGE) {
        madvise(ptr, rounded, MADV_HUGEPAGE); /* where it fails the pages are small */
    }
    return ptr;
}

static ek_status host_mem_alloc(ek_backend *backend, ek_space space, size_t bytes, void **out)
{
    (void)backend;
    (void)space; /* all spaces are the same memory */
    void *ptr = NULL;
    if (!ek_alloc_count_one()) {
        ptr = take_memory(bytes);
        if (ptr == NULL) {
            ek_alloc_count_free();
        }
    }
    *out = ptr;
    return ptr != NULL ? EK_OK
                       : EK_FAIL(EK_ENOMEM,
                                 "The host backend cannot take %zu bytes of memory; "
                                 "use smaller chunks or fewer slots.",
                                 bytes);
}

static void host_mem_free(ek_backend *backend, ek_space space, void *ptr)
{
    (void)backend;
    (void)space;
    free(ptr);
    ek_alloc_count_free();
}

static void *host_native(ek_queue *queue)
{
    (void)queue;
    return NULL;
}

static ek_status host_event_create(ek_backend *backend, ek_event **out)
{
    host_event *event = ek_alloc(1, sizeof *event);
    if (event == NULL) {
        return EK_ENOMEM;
    }
    event->base.backend = backend;
    *out = &event->base;
    return EK_OK;
}

static void host_event_destroy(ek_event *event)
{
    host_event *self = (host_event *)event;
    host_backend *backend = (host_backend *)event->backend;
    uv_mutex_lock(&backend->lock);
    while (self->pending > 0) {
        uv_cond_wait(&backend->changed, &backend->lock);
    }
    uv_mutex_unlock(&backend->lock);
    ek_free(self);
}

static ek_status host_event_query(ek_event *event, bool *done)
{
    host_event *self = (host_event *)event;
    host_backend *backend = (host_backend *)event->backend;
    ek_error error = {.status = EK_OK};
    uv_mutex_lock(&backend->lock);
    *done = self->reached == self->recorded;
    if (*done && self->error.status != EK_OK) {
        error = self->error;
    }
    uv_mutex_unlock(&backend->lock);
    return error.status == EK_OK ? EK_OK : ek_error_set(&error);
}

static ek_status host_event_elapsed(ek_event *start, ek_event *stop, double *seconds)
{
    host_event *a = (host_event *)start;
    host_event *b = (host_event *)stop;
    host_backend *backend = (host_backend *)start->backend;
    uv_mutex_lock(&backend->lock);
    bool ready = a->recorded > 0 && b->recorded > 0 && a->reached == a->recorded &&
                 b->reached == b->recorded;
    *seconds = ready ? ((double)b->time_ns - (double)a->time_ns) * 1e-9 : 0;
    uv_mutex_unlock(&backend->lock);
    return ready ? EK_OK
                 : EK_FAIL(EK_EINVAL, "The time between two events was asked for before both "
                                      "were recorded and reached.");
}

static int host_graph_size(const ek_graph *graph)
{
    return (int)((const host_graph *)graph)->n_ops;
}

static const ek_backend_ops host_ops = {
    .name = "host",
    .kind = EK_BACKEND_HOST,
    .destroy = host_destroy,
    .props = host_props,
    .mem_alloc = host_mem_alloc,
    .mem_free = host_mem_free,
    .queue_create = ek__host_queue_create,
    .queue_destroy = ek__host_queue_destroy,
    .queue_sync = ek__host_queue_sync,
    .copy = ek__host_queue_copy,
    .fill = ek__host_queue_fill,
    .launch = ek__host_queue_launch,
    .notify = ek__host_queue_notify,
    .native = host_native,
    .event_create = host_event_create,
    .event_destroy = host_event_destroy,
    .event_record = ek__host_event_record,
    .event_wait = ek__host_event_wait,
    .event_query = host_event_query,
    .event_elapsed = host_event_elapsed,
    .capture_begin = ek__host_capture_begin,
    .capture_end = ek__host_capture_end,
    .graph_launch = ek__host_graph_launch,
    .graph_size = host_graph_size,
    .graph_destroy = ek__host_graph_destroy,
};

ek_status ek_backend_create_host(ek_backend **out)
{
    *out = NULL;
    host_backend *self = ek_alloc(1, sizeof *self);
    if (self == NULL) {
        return EK_ENOMEM;
    }
    self->base.ops = &host_ops;
    int code = uv_mutex_init(&self->lock);
    if (code == 0) {
        code = uv_cond_init(&self->changed);
        if (code != 0) {
            uv_mutex_destroy(&self->lock);
        }
    }
    if (code != 0) {
        ek_free(self);
        return EK_FAIL_CODE(EK_EUV, code, "The host backend cannot make its locks: %s.",
                            uv_strerror(code));
    }
    *out = &self->base;
    return EK_OK;
}
