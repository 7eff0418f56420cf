/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the host backend share; nobody else includes this.
 *
 * Locks: host_queue.lock guards the ring of operations and the sticky error of one queue;
 * host_backend.lock guards the fields of all events and graphs. Neither is held while an operation
 * runs, and none is taken while the other is held. */
#ifndef EK_CORE_BACKEND_HOST_H
#define EK_CORE_BACKEND_HOST_H

#include "core/backend.h"

#include <stdalign.h>
#include <uv.h>

typedef struct host_backend {
    ek_backend base;
    uv_mutex_t lock;
    uv_cond_t changed; /* an event was reached, or an event or graph is no longer in use */
} host_backend;

typedef struct host_event {
    ek_event base;
    int64_t recorded; /* how often it was put into a queue */
    int64_t reached;  /* the latest of these that its queue has come to */
    int pending;      /* queued operations that refer to it */
    uint64_t time_ns;
    ek_error error; /* of the queue that reached it; status EK_OK: none */
} host_event;

typedef enum host_op_kind {
    HOST_COPY,
    HOST_FILL,
    HOST_LAUNCH,
    HOST_RECORD,
    HOST_WAIT,
    HOST_NOTIFY,
    HOST_GRAPH
} host_op_kind;

typedef struct host_graph host_graph;

typedef struct host_op {
    host_op_kind kind;
    int byte;
    void *dst;
    const void *src;
    size_t bytes;
    const ek_kernel *kernel;
    host_event *event;
    int64_t sequence;
    ek_notify_fn notify;
    void *user;
    host_graph *graph;
    alignas(16) unsigned char args[EK_KERNEL_ARGS_MAX]; /* last: only its used part is copied */
} host_op;

struct host_graph {
    ek_graph base;
    host_op *ops;
    size_t n_ops, capacity;
    int pending;    /* launches not yet done */
    ek_error error; /* the first mistake made during its capture */
};

typedef struct host_queue {
    ek_queue base;
    uv_thread_t thread;
    uv_mutex_t lock;
    uv_cond_t filled, emptied;
    host_op *ring;
    size_t capacity, head, count; /* count includes the operation that is running */
    bool stopping;
    ek_error error;      /* the first failure; status EK_OK: none */
    host_op running;     /* of the queue's thread only */
    host_graph *capture; /* of the caller's thread only */
} host_queue;

static inline host_backend *ek__host_backend_of(const host_queue *queue)
{
    return (host_backend *)queue->base.backend;
}

/* ek__host_run_op does what an operation says, on the queue's thread; failures stay in the queue.
 */
void ek__host_run_op(host_queue *queue, const host_op *op);

/* The queue's part of the table of operations. */
ek_status ek__host_queue_create(ek_backend *backend, ek_queue **out);
void ek__host_queue_destroy(ek_queue *queue);
ek_status ek__host_queue_sync(ek_queue *queue);
ek_status ek__host_queue_copy(ek_queue *queue, void *dst, const void *src, size_t bytes);
ek_status ek__host_queue_fill(ek_queue *queue, void *dst, int byte, size_t bytes);
ek_status ek__host_queue_launch(ek_queue *queue, const ek_kernel *kernel, const void *args,
                                size_t bytes);
ek_status ek__host_queue_notify(ek_queue *queue, ek_notify_fn fn, void *user);
ek_status ek__host_event_record(ek_event *event, ek_queue *queue);
ek_status ek__host_event_wait(ek_event *event, ek_queue *queue);
ek_status ek__host_capture_begin(ek_queue *queue);
ek_status ek__host_capture_end(ek_queue *queue, ek_graph **out);
ek_status ek__host_graph_launch(ek_graph *graph, ek_queue *queue);
void ek__host_graph_destroy(ek_graph *graph);

#endif /* EK_CORE_BACKEND_HOST_H */
