/* SPDX-License-Identifier: Apache-2.0 */
/* The cuda backend's queues: a non-blocking stream each, another for its notifications, and its own
 * cuBLAS and cuSOLVER handles, made on first use. */
#include "core/backend_cuda_private.h"

#include "core/alloc.h"

enum { BLAS_WORKSPACE_BYTES = 32 << 20 };

ek_status ek__cuda_spoil(cuda_queue *queue)
{
    if (queue->capturing && queue->capture_error.status == EK_OK) {
        queue->capture_error = *ek_error_last();
    }
    return ek_error_last()->status;
}

ek_status ek__cuda_refuse(cuda_queue *queue, const char *what)
{
    if (!queue->capturing) {
        return EK_OK;
    }
    EK_FAIL(EK_ENOTSUP, "%s is not allowed while a queue is captured.", what);
    return ek__cuda_spoil(queue);
}

/* Passes a status on; a failure spoils the capture that is on. */
static ek_status passed(cuda_queue *queue, ek_status status)
{
    if (status != EK_OK) {
        ek__cuda_spoil(queue);
    }
    return status;
}

ek_status ek__cuda_queue_create(ek_backend *backend, ek_queue **out)
{
    cuda_queue *queue = ek_alloc(1, sizeof *queue);
    if (queue == NULL) {
        return EK_ENOMEM;
    }
    queue->base.backend = backend;
    pthread_mutex_init(&queue->lock, NULL);
    ek_status rc = EK_OK;
    EK_GOTO(EK_CUDA(cudaStreamCreateWithFlags(&queue->stream, cudaStreamNonBlocking)), done);
    EK_GOTO(EK_CUDA(cudaStreamCreateWithFlags(&queue->notices, cudaStreamNonBlocking)), done);
    EK_GOTO(EK_CUDA(cudaEventCreateWithFlags(&queue->reached, cudaEventDisableTiming)), done);
    *out = &queue->base;
    return EK_OK;
done:
    ek__cuda_queue_destroy(&queue->base);
    return rc;
}

/* Waits for the work and for its notifications, and gives back what CUDA keeps of the queue. */
static void close_streams(cuda_queue *queue)
{
    if (queue->stream != NULL) {
        cudaStreamSynchronize(queue->stream);
        cudaStreamDestroy(queue->stream);
    }
    if (queue->notices != NULL) {
        cudaStreamSynchronize(queue->notices);
        cudaStreamDestroy(queue->notices);
    }
    if (queue->reached != NULL) {
        cudaEventDestroy(queue->reached);
    }
    cudaGetLastError();
}

void ek__cuda_queue_destroy(ek_queue *queue)
{
    cuda_queue *self = (cuda_queue *)queue;
    if (self->capturing) {
        cudaGraph_t graph = NULL;
        cudaStreamEndCapture(self->stream, &graph);
        if (graph != NULL) {
            cudaGraphDestroy(graph);
        }
    }
    if (self->stream != NULL) {
        cudaStreamSynchronize(self->stream); /* the libraries' memory goes next */
    }
    if (self->solver != NULL) {
        cusolverDnDestroy(self->solver);
    }
    if (self->blas != NULL) {
        cublasDestroy(self->blas);
    }
    ek__cuda_free(self->blas_workspace);
    close_streams(self);
    while (self->notes != NULL) {
        cuda_note *next = self->notes->next;
        ek_free(self->notes);
        self->notes = next;
    }
    pthread_mutex_destroy(&self->lock);
    ek_free(self);
}

ek_status ek__cuda_queue_sync(ek_queue *queue)
{
    cuda_queue *self = (cuda_queue *)queue;
    EK_TRY(ek__cuda_refuse(self, "Waiting for a queue"));
    EK_TRY(EK_CUDA(cudaStreamSynchronize(self->stream)));
    return EK_CUDA(cudaStreamSynchronize(self->notices));
}

ek_status ek__cuda_queue_copy(ek_queue *queue, void *dst, const void *src, size_t bytes)
{
    cuda_queue *self = (cuda_queue *)queue;
    return passed(self, EK_CUDA(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, self->stream)));
}

ek_status ek__cuda_queue_fill(ek_queue *queue, void *dst, int byte, size_t bytes)
{
    cuda_queue *self = (cuda_queue *)queue;
    return passed(self, EK_CUDA(cudaMemsetAsync(dst, byte, bytes, self->stream)));
}

ek_status ek__cuda_queue_launch(ek_queue *queue, const ek_kernel *kernel, const void *args,
                                size_t bytes)
{
    (void)bytes;
    cuda_queue *self = (cuda_queue *)queue;
    if (kernel->cuda == NULL) {
        EK_FAIL(EK_ENOTSUP, "The kernel %s has no CUDA version; use backend=host.", kernel->name);
        return ek__cuda_spoil(self);
    }
    ek_error_clear();
    ek_status rc = kernel->cuda(args, queue);
    if (rc != EK_OK && ek_error_last()->status == EK_OK) {
        EK_FAIL(rc, "The kernel %s failed: %s.", kernel->name, ek_status_text(rc));
    }
    return passed(self, rc);
}

void *ek__cuda_queue_native(ek_queue *queue)
{
    return ((cuda_queue *)queue)->stream;
}

static void put_back(cuda_note *note)
{
    cuda_queue *queue = note->queue;
    pthread_mutex_lock(&queue->lock);
    note->next_free = queue->free_notes;
    queue->free_notes = note;
    pthread_mutex_unlock(&queue->lock);
}

/* Returns a note, a new one only if none is free; NULL without memory. */
static cuda_note *take_note(cuda_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    cuda_note *note = queue->free_notes;
    if (note != NULL) {
        queue->free_notes = note->next_free;
    }
    pthread_mutex_unlock(&queue->lock);
    if (note != NULL) {
        return note;
    }
    note = ek_alloc(1, sizeof *note);
    if (note != NULL) {
        note->queue = queue;
        note->next = queue->notes;
        queue->notes = note;
    }
    return note;
}

static void CUDART_CB deliver(void *user)
{
    cuda_note *note = user;
    ek_notify_fn fn = note->fn;
    void *fn_user = note->user;
    put_back(note);
    fn(fn_user);
}

/* A host function holds up what comes after it on its stream, for longer than a small kernel takes:
 * so it runs on a stream of its own, which waits for the work up to now. */
static ek_status put_note(cuda_queue *queue, cuda_note *note)
{
    EK_TRY(EK_CUDA(cudaEventRecord(queue->reached, queue->stream)));
    EK_TRY(EK_CUDA(cudaStreamWaitEvent(queue->notices, queue->reached, 0)));
    return EK_CUDA(cudaLaunchHostFunc(queue->notices, deliver, note));
}

ek_status ek__cuda_queue_notify(ek_queue *queue, ek_notify_fn fn, void *user)
{
    cuda_queue *self = (cuda_queue *)queue;
    EK_TRY(ek__cuda_refuse(self, "A notification"));
    cuda_note *note = take_note(self);
    if (note == NULL) {
        return EK_ENOMEM;
    }
    note->fn = fn;
    note->user = user;
    ek_status rc = put_note(self, note);
    if (rc != EK_OK) {
        put_back(note);
    }
    return rc;
}

cudaStream_t ek_cuda_stream(ek_queue *queue)
{
    return ((cuda_queue *)queue)->stream;
}

/* Setting the stream resets the workspace, so the workspace is set after it. */
static ek_status blas_setup(cuda_queue *queue)
{
    EK_TRY(EK_CUBLAS(cublasSetStream(queue->blas, queue->stream)));
    EK_TRY(EK_CUBLAS(
        cublasSetWorkspace(queue->blas, queue->blas_workspace, (size_t)BLAS_WORKSPACE_BYTES)));
    EK_TRY(EK_CUBLAS(cublasSetPointerMode(queue->blas, CUBLAS_POINTER_MODE_HOST)));
    return EK_CUBLAS(cublasSetAtomicsMode(queue->blas, CUBLAS_ATOMICS_NOT_ALLOWED));
}

static ek_status blas_create(cuda_queue *queue)
{
    EK_TRY(ek__cuda_refuse(queue, "Making a cuBLAS handle"));
    EK_TRY(EK_CUBLAS(cublasCreate(&queue->blas)));
    ek_status rc = ek__cuda_alloc((size_t)BLAS_WORKSPACE_BYTES, &queue->blas_workspace);
    if (rc == EK_OK) {
        rc = blas_setup(queue);
    }
    if (rc != EK_OK) {
        cublasDestroy(queue->blas);
        queue->blas = NULL;
        ek__cuda_free(queue->blas_workspace);
        queue->blas_workspace = NULL;
    }
    return rc;
}

ek_status ek_cuda_blas(ek_queue *queue, cublasHandle_t *out)
{
    cuda_queue *self = (cuda_queue *)queue;
    *out = NULL;
    if (self->blas == NULL) {
        EK_TRY(blas_create(self));
    }
    *out = self->blas;
    return EK_OK;
}

static ek_status solver_create(cuda_queue *queue)
{
    EK_TRY(ek__cuda_refuse(queue, "Making a cuSOLVER handle"));
    EK_TRY(EK_CUSOLVER(cusolverDnCreate(&queue->solver)));
    ek_status rc = EK_CUSOLVER(cusolverDnSetStream(queue->solver, queue->stream));
    if (rc == EK_OK) {
        rc = EK_CUSOLVER(
            cusolverDnSetDeterministicMode(queue->solver, CUSOLVER_DETERMINISTIC_RESULTS));
    }
    if (rc != EK_OK) {
        cusolverDnDestroy(queue->solver);
        queue->solver = NULL;
    }
    return rc;
}

ek_status ek_cuda_solver(ek_queue *queue, cusolverDnHandle_t *out)
{
    cuda_queue *self = (cuda_queue *)queue;
    *out = NULL;
    if (self->solver == NULL) {
        EK_TRY(solver_create(self));
    }
    *out = self->solver;
    return EK_OK;
}
