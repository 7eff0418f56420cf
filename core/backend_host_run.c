/* SPDX-License-Identifier: Apache-2.0 */
/* What the host backend's queues do with an operation, on the queue's thread. */
#include "core/backend_host.h"

#include <string.h>

static ek_error queue_error(host_queue *queue)
{
    uv_mutex_lock(&queue->lock);
    ek_error error = queue->error;
    uv_mutex_unlock(&queue->lock);
    return error;
}

static bool queue_failed(host_queue *queue)
{
    uv_mutex_lock(&queue->lock);
    bool failed = queue->error.status != EK_OK;
    uv_mutex_unlock(&queue->lock);
    return failed;
}

/* Keeps the queue's first failure. */
static void keep_error(host_queue *queue, const ek_error *error)
{
    uv_mutex_lock(&queue->lock);
    if (queue->error.status == EK_OK) {
        queue->error = *error;
    }
    uv_mutex_unlock(&queue->lock);
}

static void run_kernel(host_queue *queue, const host_op *op)
{
    ek_error_clear();
    ek_status rc = op->kernel->host(op->args);
    if (rc == EK_OK) {
        return;
    }
    if (ek_error_last()->status == EK_OK) {
        EK_FAIL(rc, "The kernel %s failed: %s.", op->kernel->name, ek_status_text(rc));
    }
    keep_error(queue, ek_error_last());
}

static void run_record(host_queue *queue, const host_op *op)
{
    host_backend *backend = ek__host_backend_of(queue);
    ek_error error = queue_error(queue);
    uv_mutex_lock(&backend->lock);
    op->event->reached = op->sequence;
    op->event->time_ns = uv_hrtime();
    op->event->error = error;
    op->event->pending--;
    uv_cond_broadcast(&backend->changed);
    uv_mutex_unlock(&backend->lock);
}

/* A failure behind the event becomes this queue's: what follows would work on wrong data. */
static void run_wait(host_queue *queue, const host_op *op)
{
    host_backend *backend = ek__host_backend_of(queue);
    bool failed = queue_failed(queue);
    uv_mutex_lock(&backend->lock);
    while (!failed && op->event->reached < op->sequence) {
        uv_cond_wait(&backend->changed, &backend->lock);
    }
    ek_error error = op->event->error;
    op->event->pending--;
    uv_cond_broadcast(&backend->changed);
    uv_mutex_unlock(&backend->lock);
    if (error.status != EK_OK) {
        keep_error(queue, &error);
    }
}

/* Runs a copy, fill or launch: what a graph may hold. */
static void run_work(host_queue *queue, const host_op *op)
{
    if (op->kind == HOST_COPY) {
        memmove(op->dst, op->src, op->bytes);
    } else if (op->kind == HOST_FILL) {
        memset(op->dst, op->byte, op->bytes);
    } else {
        run_kernel(queue, op);
    }
}

static void run_graph(host_queue *queue, host_graph *graph)
{
    for (size_t i = 0; i < graph->n_ops && !queue_failed(queue); i++) {
        run_work(queue, &graph->ops[i]);
    }
    host_backend *backend = ek__host_backend_of(queue);
    uv_mutex_lock(&backend->lock);
    graph->pending--;
    uv_cond_broadcast(&backend->changed);
    uv_mutex_unlock(&backend->lock);
}

void ek__host_run_op(host_queue *queue, const host_op *op)
{
    switch (op->kind) {
    case HOST_RECORD:
        run_record(queue, op);
        break;
    case HOST_WAIT:
        run_wait(queue, op);
        break;
    case HOST_NOTIFY:
        op->notify(op->user);
        break;
    case HOST_GRAPH:
        run_graph(queue, op->graph);
        break;
    default:
        if (!queue_failed(queue)) {
            run_work(queue, op);
        }
    }
}
