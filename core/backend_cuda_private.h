/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the cuda backend share; nobody else includes this. */
#ifndef EK_CORE_BACKEND_CUDA_PRIVATE_H
#define EK_CORE_BACKEND_CUDA_PRIVATE_H

#include "core/backend_cuda.h"

#include <pthread.h>

EK_BEGIN_DECLS

typedef struct cuda_queue cuda_queue;

/* A notification on its way. It goes back to its queue's list just before it is delivered, so that
 * in steady state none is allocated. */
typedef struct cuda_note {
    cuda_queue *queue;
    ek_notify_fn fn;
    void *user;
    struct cuda_note *next_free;
    struct cuda_note
        *next; /* of all the queue's notes: after a device fault some never come back */
} cuda_note;

struct cuda_queue {
    ek_queue base;
    cudaStream_t stream;
    cudaStream_t notices; /* where notifications wait, so that the work behind them need not */
    cudaEvent_t reached;  /* what they wait for */
    cublasHandle_t blas;  /* NULL until first used, as are the next two */
    void *blas_workspace;
    cusolverDnHandle_t solver;
    bool capturing;
    ek_error capture_error; /* the first mistake made during the capture; EK_OK: none */
    pthread_mutex_t lock;   /* guards free_notes */
    cuda_note *free_notes;
    cuda_note *notes;
};

typedef struct cuda_event {
    ek_event base;
    cudaEvent_t event;
} cuda_event;

typedef struct cuda_graph {
    ek_graph base;
    cudaGraphExec_t exec;
    int n_nodes;
} cuda_graph;

/* ek__cuda_alloc takes counted device memory; ek__cuda_free gives it back. */
ek_status ek__cuda_alloc(size_t bytes, void **out);
void ek__cuda_free(void *ptr);

/* ek__cuda_spoil makes the thread's last error the reason why the capture that is on fails, if one
 * is; it returns that error's status. ek__cuda_refuse fails if a capture is on. */
ek_status ek__cuda_spoil(cuda_queue *queue);
ek_status ek__cuda_refuse(cuda_queue *queue, const char *what);

/* The queue's part of the table of operations. */
ek_status ek__cuda_queue_create(ek_backend *backend, ek_queue **out);
void ek__cuda_queue_destroy(ek_queue *queue);
ek_status ek__cuda_queue_sync(ek_queue *queue);
ek_status ek__cuda_queue_copy(ek_queue *queue, void *dst, const void *src, size_t bytes);
ek_status ek__cuda_queue_fill(ek_queue *queue, void *dst, int byte, size_t bytes);
ek_status ek__cuda_queue_launch(ek_queue *queue, const ek_kernel *kernel, const void *args,
                                size_t bytes);
ek_status ek__cuda_queue_notify(ek_queue *queue, ek_notify_fn fn, void *user);
void *ek__cuda_queue_native(ek_queue *queue);

/* The graphs' part, in backend_cuda_graph.c. */
ek_status ek__cuda_capture_begin(ek_queue *queue);
ek_status ek__cuda_capture_end(ek_queue *queue, ek_graph **out);
ek_status ek__cuda_graph_launch(ek_graph *graph, ek_queue *queue);
int ek__cuda_graph_size(const ek_graph *graph);
void ek__cuda_graph_destroy(ek_graph *graph);

EK_END_DECLS

#endif /* EK_CORE_BACKEND_CUDA_PRIVATE_H */
