/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing a backend, and the functions in front of its table. */
#include "core/backend.h"

#include <stdio.h>
#include <string.h>

static void say(char *reason, size_t size, const char *backend, const char *why)
{
    if (reason != NULL && size > 0) {
        snprintf(reason, size, "%s: %s", backend, why);
    }
}

#ifdef EK_HAVE_CUDA
/* Opens the cuda backend, or returns EK_ENOTSUP without an error recorded; `why` says which device,
 * or why there is none. */
static ek_status open_cuda(ek_backend **out, char *why, size_t size)
{
    if (ek_cuda_device_count(why, size) == 0) {
        return EK_ENOTSUP;
    }
    return ek_backend_create_cuda(out);
}
#else
static ek_status open_cuda(ek_backend **out, char *why, size_t size)
{
    *out = NULL;
    snprintf(why, size, "this build has no CUDA");
    return EK_ENOTSUP;
}
#endif

static ek_status create_auto(ek_backend **out, char *reason, size_t reason_size)
{
    char why[256] = "";
    ek_error_clear();
    ek_status rc = open_cuda(out, why, sizeof why);
    if (rc == EK_OK) {
        say(reason, reason_size, "cuda", why);
        return EK_OK;
    }
    if (ek_error_last()->status != EK_OK) {
        return rc; /* a device is there, but opening it failed: not to be hidden */
    }
    say(reason, reason_size, "host", why);
    return ek_backend_create_host(out);
}

static ek_status create_cuda(ek_backend **out, char *reason, size_t reason_size)
{
    char why[256] = "";
    ek_error_clear();
    ek_status rc = open_cuda(out, why, sizeof why);
    if (rc == EK_OK) {
        say(reason, reason_size, "cuda", why);
        return EK_OK;
    }
    if (ek_error_last()->status != EK_OK) {
        return rc;
    }
    return EK_FAIL(EK_ENOTSUP,
                   "The cuda backend cannot be used: %s. Use backend=host, or backend=auto.", why);
}

ek_status ek_backend_create(ek_backend **out, const char *name, char *reason, size_t reason_size)
{
    *out = NULL;
    if (name == NULL || strcmp(name, "auto") == 0) {
        return create_auto(out, reason, reason_size);
    }
    if (strcmp(name, "cuda") == 0) {
        return create_cuda(out, reason, reason_size);
    }
    if (strcmp(name, "host") == 0) {
        say(reason, reason_size, "host", "as asked for");
        return ek_backend_create_host(out);
    }
    return EK_FAIL(EK_EINVAL, "There is no backend \"%s\"; the backends are auto, host and cuda.",
                   name);
}

void ek_backend_destroy(ek_backend *backend)
{
    if (backend != NULL) {
        backend->ops->destroy(backend);
    }
}

const char *ek_backend_name(const ek_backend *backend)
{
    return backend->ops->name;
}

ek_backend_kind ek_backend_which(const ek_backend *backend)
{
    return backend->ops->kind;
}

ek_status ek_backend_get_props(ek_backend *backend, ek_backend_props *out)
{
    memset(out, 0, sizeof *out);
    return backend->ops->props(backend, out);
}

ek_status ek_mem_alloc(ek_backend *backend, ek_space space, size_t bytes, void **out)
{
    *out = NULL;
    return backend->ops->mem_alloc(backend, space, bytes, out);
}

void ek_mem_free(ek_backend *backend, ek_space space, void *ptr)
{
    if (ptr != NULL) {
        backend->ops->mem_free(backend, space, ptr);
    }
}

ek_status ek_queue_create(ek_backend *backend, ek_queue **out)
{
    *out = NULL;
    return backend->ops->queue_create(backend, out);
}

void ek_queue_destroy(ek_queue *queue)
{
    if (queue != NULL) {
        queue->backend->ops->queue_destroy(queue);
    }
}

ek_status ek_queue_sync(ek_queue *queue)
{
    return queue->backend->ops->queue_sync(queue);
}

ek_status ek_queue_copy(ek_queue *queue, void *dst, const void *src, size_t bytes)
{
    return bytes > 0 ? queue->backend->ops->copy(queue, dst, src, bytes) : EK_OK;
}

ek_status ek_queue_fill(ek_queue *queue, void *dst, int byte, size_t bytes)
{
    return bytes > 0 ? queue->backend->ops->fill(queue, dst, byte, bytes) : EK_OK;
}

ek_status ek_queue_launch(ek_queue *queue, const ek_kernel *kernel, const void *args, size_t bytes)
{
    if (bytes > EK_KERNEL_ARGS_MAX) {
        return EK_FAIL(EK_EINTERNAL, "The kernel %s has %zu bytes of arguments; at most %d fit.",
                       kernel->name, bytes, EK_KERNEL_ARGS_MAX);
    }
    return queue->backend->ops->launch(queue, kernel, args, bytes);
}

ek_status ek_queue_notify(ek_queue *queue, ek_notify_fn fn, void *user)
{
    return queue->backend->ops->notify(queue, fn, user);
}

void *ek_queue_native(ek_queue *queue)
{
    return queue->backend->ops->native(queue);
}

ek_status ek_event_create(ek_backend *backend, ek_event **out)
{
    *out = NULL;
    return backend->ops->event_create(backend, out);
}

void ek_event_destroy(ek_event *event)
{
    if (event != NULL) {
        event->backend->ops->event_destroy(event);
    }
}

ek_status ek_event_record(ek_event *event, ek_queue *queue)
{
    return queue->backend->ops->event_record(event, queue);
}

ek_status ek_event_wait(ek_event *event, ek_queue *queue)
{
    return queue->backend->ops->event_wait(event, queue);
}

ek_status ek_event_query(ek_event *event, bool *done)
{
    *done = false;
    return event->backend->ops->event_query(event, done);
}

ek_status ek_event_elapsed(ek_event *start, ek_event *stop, double *seconds)
{
    *seconds = 0;
    return start->backend->ops->event_elapsed(start, stop, seconds);
}

ek_status ek_capture_begin(ek_queue *queue)
{
    return queue->backend->ops->capture_begin(queue);
}

ek_status ek_capture_end(ek_queue *queue, ek_graph **out)
{
    *out = NULL;
    return queue->backend->ops->capture_end(queue, out);
}

ek_status ek_graph_launch(ek_graph *graph, ek_queue *queue)
{
    return queue->backend->ops->graph_launch(graph, queue);
}

int ek_graph_size(const ek_graph *graph)
{
    return graph->backend->ops->graph_size(graph);
}

void ek_graph_destroy(ek_graph *graph)
{
    if (graph != NULL) {
        graph->backend->ops->graph_destroy(graph);
    }
}
