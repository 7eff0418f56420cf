/* SPDX-License-Identifier: Apache-2.0 */
/* The filtered block iteration on CUDA: one graph whose loops the device runs by itself (a WHILE
 * node for the rounds, one inside for a filter's products), kept for the next call. Where device or
 * driver have no such nodes the host drives the loops, reading the control once a round. */
#include "stages/svd_cuda.h"

#include "core/log.h"

#include <string.h>

/* out = C in. */
static ek_status multiply(const ek__svd_args *args, ek_queue *queue, const double *in, double *out)
{
    const double one = 1.0, zero = 0.0;
    int64_t m = args->order;
    cublasHandle_t blas = NULL;
    EK_TRY(ek_cuda_blas(queue, &blas));
    return EK_CUBLAS(cublasDgemm_64(blas, CUBLAS_OP_N, CUBLAS_OP_N, m, args->solver.block.size, m,
                                    &one, args->gram, m, in, m, &zero, out, m));
}

/* Makes the columns of y orthonormal by its guarded Cholesky factor: once to part them, again to
 * rounding; a third time for columns that were renewed. */
static ek_status orthonormalise(const ek__svd_args *args, ek_queue *queue)
{
    const ek__svd_block *b = &args->solver.block;
    const double one = 1.0, zero = 0.0;
    int64_t m = args->order, l = b->size;
    cublasHandle_t blas = NULL;
    EK_TRY(ek_cuda_blas(queue, &blas));
    for (int turn = 0; turn < 3; turn++) {
        EK_TRY(EK_CUBLAS(cublasDsyrk_64(blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, l, m, &one, b->y,
                                        m, &zero, b->small, l)));
        EK_TRY(ek__svd_block_factor_cuda(args, queue));
        EK_TRY(
            EK_CUBLAS(cublasDtrsm_64(blas, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T,
                                     CUBLAS_DIAG_NON_UNIT, m, l, &one, b->small, l, b->y, m)));
    }
    return EK_OK;
}

/* From any y to Ritz pairs and the decision whether to go on. */
static ek_status rotate(const ek__svd_args *args, ek_queue *queue, ek__svd_loop loop)
{
    const ek__svd_block *b = &args->solver.block;
    const double one = 1.0, zero = 0.0;
    int64_t m = args->order, l = b->size;
    cublasHandle_t blas = NULL;
    EK_TRY(orthonormalise(args, queue));
    EK_TRY(multiply(args, queue, b->y, b->last));
    EK_TRY(ek_cuda_blas(queue, &blas));
    EK_TRY(EK_CUBLAS(cublasDgemm_64(blas, CUBLAS_OP_T, CUBLAS_OP_N, l, l, m, &one, b->y, m, b->last,
                                    m, &zero, b->small, l)));
    EK_TRY(ek__svd_block_ritz_cuda(args, queue));
    EK_TRY(EK_CUBLAS(cublasDgemm_64(blas, CUBLAS_OP_N, CUBLAS_OP_N, m, l, l, &one, b->y, m,
                                    b->rotation, l, &zero, b->q, m)));
    EK_TRY(EK_CUBLAS(cublasDgemm_64(blas, CUBLAS_OP_N, CUBLAS_OP_N, m, l, l, &one, b->last, m,
                                    b->rotation, l, &zero, b->z, m)));
    return ek__svd_block_steer_cuda(args, queue, loop);
}

static ek_status next_term(const ek__svd_args *args, ek_queue *queue, ek__svd_loop loop)
{
    const ek__svd_block *b = &args->solver.block;
    EK_TRY(multiply(args, queue, b->y, b->z));
    return ek__svd_block_step_cuda(args, queue, loop);
}

static ek_status drive_from_host(const ek__svd_args *args, ek_queue *queue)
{
    ek__svd_control control = {.running = 1};
    cudaStream_t stream = ek_cuda_stream(queue);
    EK_TRY(ek__svd_block_start_cuda(args, queue));
    for (;;) {
        EK_TRY(rotate(args, queue, 0));
        EK_TRY(EK_CUDA(cudaMemcpyAsync(&control, args->solver.block.control, sizeof control,
                                       cudaMemcpyDeviceToHost, stream)));
        EK_TRY(EK_CUDA(cudaStreamSynchronize(stream)));
        if (control.running == 0) {
            return EK_OK;
        }
        EK_TRY(ek__svd_block_filter_cuda(args, queue, 0));
        for (int i = 0; i < control.step; i++) {
            EK_TRY(next_term(args, queue, 0));
        }
    }
}

#if CUDART_VERSION >= 12040

#define TAIL_MAX 8 /* nodes that what follows a capture waits for */

typedef struct capture {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphNode_t tail[TAIL_MAX];
    size_t n_tail;
} capture;

static ek_status begin(capture *c)
{
    return EK_CUDA(cudaStreamBeginCaptureToGraph(c->stream, c->graph, c->tail, NULL, c->n_tail,
                                                 cudaStreamCaptureModeThreadLocal));
}

/* Ends the capture, remembering where it ended. `rc` is what became of the captured calls. */
static ek_status end(capture *c, ek_status rc)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t *tail = NULL;
    size_t n = 0;
    ek_error error = *ek_error_last();
#if CUDART_VERSION >= 13000
    ek_status asked =
        EK_CUDA(cudaStreamGetCaptureInfo(c->stream, &status, NULL, NULL, &tail, NULL, &n));
#else
    ek_status asked =
        EK_CUDA(cudaStreamGetCaptureInfo_v2(c->stream, &status, NULL, NULL, &tail, &n));
#endif
    if (asked == EK_OK && n <= TAIL_MAX) {
        memcpy(c->tail, tail, n * sizeof *tail);
        c->n_tail = n;
    }
    ek_status ended = EK_CUDA(cudaStreamEndCapture(c->stream, &c->graph));
    if (rc != EK_OK) {
        return ek_error_set(&error);
    }
    EK_TRY(asked);
    if (n > TAIL_MAX) {
        return EK_FAIL(EK_ENOTSUP, "A captured step ends in %zu branches.", n);
    }
    return ended;
}

/* Adds a WHILE node behind the tail; *body receives the graph to fill. */
static ek_status add_loop(capture *c, ek__svd_loop loop, capture *body)
{
    struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeConditional};
    params.conditional.handle = (cudaGraphConditionalHandle)loop;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    cudaGraphNode_t node = NULL;
#if CUDART_VERSION >= 13000
    EK_TRY(EK_CUDA(cudaGraphAddNode(&node, c->graph, c->tail, NULL, c->n_tail, &params)));
#else
    EK_TRY(EK_CUDA(cudaGraphAddNode(&node, c->graph, c->tail, c->n_tail, &params)));
#endif
    *body = (capture){.stream = c->stream, .graph = params.conditional.phGraph_out[0]};
    c->tail[0] = node;
    c->n_tail = 1;
    return EK_OK;
}

static ek_status make_handle(cudaGraph_t graph, ek__svd_loop *out)
{
    cudaGraphConditionalHandle handle;
    EK_TRY(EK_CUDA(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0)));
    *out = handle;
    return EK_OK;
}

/* filter ! while (steps are left) { next term } ! rotate */
static ek_status fill_round(const ek__svd_args *args, ek_queue *queue, capture *body,
                            ek__svd_loop rounds)
{
    ek__svd_loop terms = 0;
    capture inner;
    EK_TRY(make_handle(body->graph, &terms));
    EK_TRY(begin(body));
    EK_TRY(end(body, ek__svd_block_filter_cuda(args, queue, terms)));
    EK_TRY(add_loop(body, terms, &inner));
    EK_TRY(begin(&inner));
    EK_TRY(end(&inner, next_term(args, queue, terms)));
    EK_TRY(begin(body));
    return end(body, rotate(args, queue, rounds));
}

static ek_status start_and_rotate(const ek__svd_args *args, ek_queue *queue, ek__svd_loop rounds)
{
    EK_TRY(ek__svd_block_start_cuda(args, queue));
    return rotate(args, queue, rounds);
}

static ek_status make_loop(const ek__svd_args *args, ek_queue *queue, cudaGraphExec_t *out)
{
    capture main = {.stream = ek_cuda_stream(queue)}, body;
    ek__svd_loop rounds = 0;
    cublasHandle_t blas = NULL;
    ek_status rc = EK_OK;
    EK_TRY(ek_cuda_blas(queue, &blas)); /* it cannot be made during a capture */
    EK_TRY(EK_CUDA(cudaGraphCreate(&main.graph, 0)));
    EK_GOTO(make_handle(main.graph, &rounds), done);
    EK_GOTO(begin(&main), done);
    EK_GOTO(end(&main, start_and_rotate(args, queue, rounds)), done);
    EK_GOTO(add_loop(&main, rounds, &body), done);
    EK_GOTO(fill_round(args, queue, &body, rounds), done);
    EK_GOTO(EK_CUDA(cudaGraphInstantiate(out, main.graph, 0)), done);

done:
    cudaGraphDestroy(main.graph);
    return rc;
}

#else

static ek_status make_loop(const ek__svd_args *args, ek_queue *queue, cudaGraphExec_t *out)
{
    (void)args;
    (void)queue;
    (void)out;
    return EK_FAIL(EK_ENOTSUP, "Loops in graphs need CUDA 12.4 or newer.");
}

#endif

/* The graph for these arguments: the one at hand, or a new one. */
static ek_status get_loop(const ek__svd_args *args, ek_queue *queue)
{
    ek__svd_cuda *host = args->solver.host;
    if (host->loop != NULL && memcmp(&host->loop_args, args, sizeof *args) == 0) {
        return EK_OK;
    }
    if (host->loop != NULL) {
        cudaGraphExecDestroy(host->loop);
        host->loop = NULL;
    }
    memcpy(&host->loop_args, args, sizeof *args);
    return make_loop(args, queue, &host->loop);
}

ek_status ek__svd_iterate_cuda(const ek__svd_args *args, ek_queue *queue)
{
    ek__svd_cuda *host = args->solver.host;
    if (!host->no_loop && get_loop(args, queue) != EK_OK) {
        host->no_loop = true;
        ek_log(EK_LOG_NOTE, "svd: the host drives the iteration: %s", ek_error_last()->message);
        ek_error_clear();
    }
    if (host->no_loop) {
        return drive_from_host(args, queue);
    }
    return EK_CUDA(cudaGraphLaunch(host->loop, ek_cuda_stream(queue)));
}
