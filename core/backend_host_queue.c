/* SPDX-License-Identifier: Apache-2.0 */
/* The host backend's queues: a thread that works through a ring of operations. The ring grows when
 * it is full and never shrinks, so in steady state nothing is allocated. The first failure is kept:
 * later operations are skipped, but events are still reached and notifies still called, since
 * somebody may be waiting for them. While a capture is on, operations go to a graph's list. */
#include "core/backend_host.h"

#include "core/alloc.h"

#include <string.h>

enum { RING_INITIAL = 64 };

static void copy_op(host_op *to, const host_op *from)
{
    size_t args = from->kind == HOST_LAUNCH ? from->bytes : 0;
    memcpy(to, from, offsetof(host_op, args) + args);
}

static void queue_main(void *arg)
{
    host_queue *queue = arg;
    uv_mutex_lock(&queue->lock);
    while (queue->count > 0 || !queue->stopping) {
        if (queue->count == 0) {
            uv_cond_wait(&queue->filled, &queue->lock);
            continue;
        }
        copy_op(&queue->running, &queue->ring[queue->head]); /* the ring may move */
        uv_mutex_unlock(&queue->lock);
        ek__host_run_op(queue, &queue->running);
        uv_mutex_lock(&queue->lock);
        queue->head = (queue->head + 1) % queue->capacity;
        queue->count--;
        if (queue->count == 0) {
            uv_cond_broadcast(&queue->emptied);
        }
    }
    uv_mutex_unlock(&queue->lock);
}

/* Makes room for one more operation; the lock is held. */
static ek_status ring_reserve(host_queue *queue)
{
    if (queue->count < queue->capacity) {
        return EK_OK;
    }
    size_t wanted = EK_MAX((size_t)RING_INITIAL, queue->capacity * 2);
    host_op *ring = ek_alloc(wanted, sizeof *ring);
    if (ring == NULL) {
        return EK_ENOMEM;
    }
    for (size_t i = 0; i < queue->count; i++) {
        copy_op(&ring[i], &queue->ring[(queue->head + i) % queue->capacity]);
    }
    ek_free(queue->ring);
    queue->ring = ring;
    queue->capacity = wanted;
    queue->head = 0;
    return EK_OK;
}

static ek_status enqueue(host_queue *queue, const host_op *op)
{
    uv_mutex_lock(&queue->lock);
    ek_status rc = ring_reserve(queue);
    if (rc == EK_OK) {
        copy_op(&queue->ring[(queue->head + queue->count) % queue->capacity], op);
        queue->count++;
        uv_cond_signal(&queue->filled);
    }
    uv_mutex_unlock(&queue->lock);
    return rc;
}

/* Makes the thread's last error the reason why the capture that is on fails. */
static ek_status spoil_capture(host_queue *queue)
{
    if (queue->capture != NULL && queue->capture->error.status == EK_OK) {
        queue->capture->error = *ek_error_last();
    }
    return ek_error_last()->status;
}

static ek_status refuse_capture(host_queue *queue, const char *what)
{
    if (queue->capture == NULL) {
        return EK_OK;
    }
    EK_FAIL(EK_ENOTSUP, "%s is not allowed while a queue is captured.", what);
    return spoil_capture(queue);
}

/* Enqueues a copy, fill or launch, or puts it into the graph that is being captured. */
static ek_status submit(host_queue *queue, const host_op *op)
{
    host_graph *graph = queue->capture;
    if (graph == NULL) {
        return enqueue(queue, op);
    }
    if (ek_grow(&graph->ops, &graph->capacity, graph->n_ops, sizeof *graph->ops) != EK_OK) {
        return spoil_capture(queue);
    }
    copy_op(&graph->ops[graph->n_ops++], op);
    return EK_OK;
}

ek_status ek__host_queue_copy(ek_queue *queue, void *dst, const void *src, size_t bytes)
{
    host_op op;
    memset(&op, 0, offsetof(host_op, args));
    op.kind = HOST_COPY;
    op.dst = dst;
    op.src = src;
    op.bytes = bytes;
    return submit((host_queue *)queue, &op);
}

ek_status ek__host_queue_fill(ek_queue *queue, void *dst, int byte, size_t bytes)
{
    host_op op;
    memset(&op, 0, offsetof(host_op, args));
    op.kind = HOST_FILL;
    op.dst = dst;
    op.byte = byte;
    op.bytes = bytes;
    return submit((host_queue *)queue, &op);
}

ek_status ek__host_queue_launch(ek_queue *queue, const ek_kernel *kernel, const void *args,
                                size_t bytes)
{
    host_queue *self = (host_queue *)queue;
    if (kernel->host == NULL) {
        EK_FAIL(EK_ENOTSUP, "The kernel %s has no host version.", kernel->name);
        return spoil_capture(self);
    }
    host_op op;
    memset(&op, 0, offsetof(host_op, args));
    op.kind = HOST_LAUNCH;
    op.kernel = kernel;
    op.bytes = bytes;
    if (bytes > 0) {
        memcpy(op.args, args, bytes);
    }
    return submit(self, &op);
}

ek_status ek__host_queue_notify(ek_queue *queue, ek_notify_fn fn, void *user)
{
    host_queue *self = (host_queue *)queue;
    EK_TRY(refuse_capture(self, "A notification"));
    host_op op;
    memset(&op, 0, offsetof(host_op, args));
    op.kind = HOST_NOTIFY;
    op.notify = fn;
    op.user = user;
    return enqueue(self, &op);
}

/* Counts the use of an event or graph, enqueues, and takes the count back if that fails. */
static ek_status enqueue_counted(host_queue *queue, const host_op *op, int *pending)
{
    host_backend *backend = ek__host_backend_of(queue);
    uv_mutex_lock(&backend->lock);
    (*pending)++;
    uv_mutex_unlock(&backend->lock);
    ek_status rc = enqueue(queue, op);
    if (rc != EK_OK) {
        uv_mutex_lock(&backend->lock);
        (*pending)--;
        if (op->kind == HOST_RECORD) {
            op->event->recorded--;
        }
        uv_mutex_unlock(&backend->lock);
    }
    return rc;
}

ek_status ek__host_event_record(ek_event *event, ek_queue *queue)
{
    host_queue *self = (host_queue *)queue;
    EK_TRY(refuse_capture(self, "Recording an event"));
    host_event *target = (host_event *)event;
    host_backend *backend = ek__host_backend_of(self);
    host_op op;
    memset(&op, 0, offsetof(host_op, args));
    op.kind = HOST_RECORD;
    op.event = target;
    uv_mutex_lock(&backend->lock);
    op.sequence = ++target->recorded;
    uv_mutex_unlock(&backend->lock);
    return enqueue_counted(self, &op, &target->pending);
}

ek_status ek__host_event_wait(ek_event *event, ek_queue *queue)
{
    host_queue *self = (host_queue *)queue;
    EK_TRY(refuse_capture(self, "Waiting for an event"));
    host_event *target = (host_event *)event;
    host_backend *backend = ek__host_backend_of(self);
    host_op op;
    memset(&op, 0, offsetof(host_op, args));
    op.kind = HOST_WAIT;
    op.event = target;
    uv_mutex_lock(&backend->lock);
    op.sequence = target->recorded;
    uv_mutex_unlock(&backend->lock);
    return enqueue_counted(self, &op, &target->pending);
}

ek_status ek__host_queue_sync(ek_queue *queue)
{
    host_queue *self = (host_queue *)queue;
    EK_TRY(refuse_capture(self, "Waiting for a queue"));
    uv_mutex_lock(&self->lock);
    while (self->count > 0) {
        uv_cond_wait(&self->emptied, &self->lock);
    }
    ek_error error = self->error;
    uv_mutex_unlock(&self->lock);
    return error.status == EK_OK ? EK_OK : ek_error_set(&error);
}

ek_status ek__host_capture_begin(ek_queue *queue)
{
    host_queue *self = (host_queue *)queue;
    EK_TRY(refuse_capture(self, "Beginning a capture"));
    host_graph *graph = ek_alloc(1, sizeof *graph);
    if (graph == NULL) {
        return EK_ENOMEM;
    }
    graph->base.backend = queue->backend;
    self->capture = graph;
    return EK_OK;
}

ek_status ek__host_capture_end(ek_queue *queue, ek_graph **out)
{
    host_queue *self = (host_queue *)queue;
    host_graph *graph = self->capture;
    if (graph == NULL) {
        return EK_FAIL(EK_EINVAL, "A capture was ended that was never begun.");
    }
    self->capture = NULL;
    if (graph->error.status != EK_OK) {
        ek_error_set(&graph->error);
        ek__host_graph_destroy(&graph->base);
        return ek_error_prefix("The capture failed");
    }
    *out = &graph->base;
    return EK_OK;
}

ek_status ek__host_graph_launch(ek_graph *graph, ek_queue *queue)
{
    host_queue *self = (host_queue *)queue;
    EK_TRY(refuse_capture(self, "Launching a graph"));
    host_op op;
    memset(&op, 0, offsetof(host_op, args));
    op.kind = HOST_GRAPH;
    op.graph = (host_graph *)graph;
    return enqueue_counted(self, &op, &op.graph->pending);
}

void ek__host_graph_destroy(ek_graph *graph)
{
    host_graph *self = (host_graph *)graph;
    host_backend *backend = (host_backend *)graph->backend;
    uv_mutex_lock(&backend->lock);
    while (self->pending > 0) {
        uv_cond_wait(&backend->changed, &backend->lock);
    }
    uv_mutex_unlock(&backend->lock);
    ek_free(self->ops);
    ek_free(self);
}

static int queue_start(host_queue *queue)
{
    int code = uv_mutex_init(&queue->lock);
    if (code != 0) {
        return code;
    }
    code = uv_cond_init(&queue->filled);
    if (code != 0) {
        goto no_filled;
    }
    code = uv_cond_init(&queue->emptied);
    if (code != 0) {
        goto no_emptied;
    }
    code = uv_thread_create(&queue->thread, queue_main, queue);
    if (code == 0) {
        return 0;
    }
    uv_cond_destroy(&queue->emptied);
no_emptied:
    uv_cond_destroy(&queue->filled);
no_filled:
    uv_mutex_destroy(&queue->lock);
    return code;
}

ek_status ek__host_queue_create(ek_backend *backend, ek_queue **out)
{
    host_queue *queue = ek_alloc(1, sizeof *queue);
    if (queue == NULL) {
        return EK_ENOMEM;
    }
    queue->base.backend = backend;
    ek_status rc = ring_reserve(queue);
    if (rc != EK_OK) {
        ek_free(queue);
        return rc;
    }
    int code = queue_start(queue);
    if (code != 0) {
        ek_free(queue->ring);
        ek_free(queue);
        return EK_FAIL_CODE(EK_EUV, code, "The host backend cannot start a queue's thread: %s.",
                            uv_strerror(code));
    }
    *out = &queue->base;
    return EK_OK;
}

void ek__host_queue_destroy(ek_queue *queue)
{
    host_queue *self = (host_queue *)queue;
    uv_mutex_lock(&self->lock);
    self->stopping = true;
    uv_cond_signal(&self->filled);
    uv_mutex_unlock(&self->lock);
    uv_thread_join(&self->thread);
    uv_cond_destroy(&self->emptied);
    uv_cond_destroy(&self->filled);
    uv_mutex_destroy(&self->lock);
    if (self->capture != NULL) {
        ek__host_graph_destroy(&self->capture->base);
    }
    ek_free(self->ring);
    ek_free(self);
}
