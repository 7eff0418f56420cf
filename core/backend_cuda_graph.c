/* SPDX-License-Identifier: Apache-2.0 */
/* Capture of a cuda queue's work into a graph, and its launch. Captures are thread-local: other
 * threads may allocate meanwhile. Whatever goes wrong, the capture is ended and the error cleared,
 * so that the stream can be used again. */
#include "core/backend_cuda_private.h"

#include "core/alloc.h"

ek_status ek__cuda_capture_begin(ek_queue *queue)
{
    cuda_queue *self = (cuda_queue *)queue;
    EK_TRY(ek__cuda_refuse(self, "Beginning a capture"));
    EK_TRY(EK_CUDA(cudaStreamBeginCapture(self->stream, cudaStreamCaptureModeThreadLocal)));
    self->capturing = true;
    self->capture_error = (ek_error){.status = EK_OK};
    return EK_OK;
}

/* Counts the nodes. Memory nodes are refused: they tie a graph to one executable and allocate when
 * it runs, and only a library call made without its own workspace brings them in. */
static ek_status inspect_nodes(cudaGraph_t graph, int *n_nodes)
{
    size_t count = 0;
    EK_TRY(EK_CUDA(cudaGraphGetNodes(graph, NULL, &count)));
    cudaGraphNode_t *nodes = ek_alloc(count, sizeof *nodes);
    if (nodes == NULL) {
        return EK_ENOMEM;
    }
    ek_status rc = EK_OK;
    if (count > 0) {
        rc = EK_CUDA(cudaGraphGetNodes(graph, nodes, &count));
    }
    for (size_t i = 0; rc == EK_OK && i < count; i++) {
        enum cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
        rc = EK_CUDA(cudaGraphNodeGetType(nodes[i], &type));
        if (rc == EK_OK &&
            (type == cudaGraphNodeTypeMemAlloc || type == cudaGraphNodeTypeMemFree)) {
            rc = EK_FAIL(EK_ENOTSUP, "A captured call takes or gives back device memory.");
        }
    }
    ek_free(nodes);
    *n_nodes = (int)count;
    return rc;
}

/* Uploading now keeps the first launch from being slower than the others. */
static ek_status make_executable(cuda_queue *queue, cudaGraph_t graph, cuda_graph *out)
{
    EK_TRY(inspect_nodes(graph, &out->n_nodes));
    EK_TRY(EK_CUDA(cudaGraphInstantiate(&out->exec, graph, 0)));
    return EK_CUDA(cudaGraphUpload(out->exec, queue->stream));
}

static ek_status wrap(cuda_queue *queue, cudaGraph_t graph, ek_graph **out)
{
    cuda_graph *self = ek_alloc(1, sizeof *self);
    if (self == NULL) {
        return EK_ENOMEM;
    }
    self->base.backend = queue->base.backend;
    ek_status rc = make_executable(queue, graph, self);
    if (rc != EK_OK) {
        ek__cuda_graph_destroy(&self->base);
        return rc;
    }
    *out = &self->base;
    return EK_OK;
}

ek_status ek__cuda_capture_end(ek_queue *queue, ek_graph **out)
{
    cuda_queue *self = (cuda_queue *)queue;
    if (!self->capturing) {
        return EK_FAIL(EK_EINVAL, "A capture was ended that was never begun.");
    }
    cudaGraph_t graph = NULL;
    ek_status rc = EK_CUDA(cudaStreamEndCapture(self->stream, &graph));
    self->capturing = false;
    if (self->capture_error.status != EK_OK) {
        rc = ek_error_set(&self->capture_error); /* the first mistake says more than its effects */
    }
    if (rc == EK_OK) {
        rc = wrap(self, graph, out);
    }
    if (graph != NULL) {
        cudaGraphDestroy(graph);
    }
    return rc == EK_OK ? EK_OK : ek_error_prefix("The capture failed");
}

ek_status ek__cuda_graph_launch(ek_graph *graph, ek_queue *queue)
{
    cuda_queue *self = (cuda_queue *)queue;
    EK_TRY(ek__cuda_refuse(self, "Launching a graph"));
    return EK_CUDA(cudaGraphLaunch(((cuda_graph *)graph)->exec, self->stream));
}

int ek__cuda_graph_size(const ek_graph *graph)
{
    return ((const cuda_graph *)graph)->n_nodes;
}

void ek__cuda_graph_destroy(ek_graph *graph)
{
    cuda_graph *self = (cuda_graph *)graph;
    if (self->exec != NULL) {
        cudaGraphExecDestroy(self->exec);
        cudaGetLastError();
    }
    ek_free(self);
}
