/* SPDX-License-Identifier: Apache-2.0 */
/* What a CUDA Graph may hold here: each library routine is captured, made executable and run once.
 * Routines that cannot be captured are no fault: stages run those outside a graph. */
#include "tools/probe.h"

#include "core/backend_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define ORDER      256
#define N_MATRICES 4
#define WORK_BYTES ((size_t)64 << 20)

typedef struct captures {
    cudaStream_t stream;
    cublasHandle_t blas;
    cusolverDnHandle_t solver;
    cusolverDnParams_t params;
    double *matrix[N_MATRICES]; /* ORDER x ORDER, the first the unit matrix */
    double *values;
    int *info;
    void *work, *host_work;
} captures;

static ek_status do_copy(captures *c)
{
    return EK_CUDA(cudaMemcpyAsync(c->matrix[1], c->matrix[0], ORDER * sizeof(double),
                                   cudaMemcpyDeviceToDevice, c->stream));
}

static ek_status do_gemm(captures *c)
{
    const double one = 1;
    return EK_CUBLAS(cublasDgemm(c->blas, CUBLAS_OP_N, CUBLAS_OP_T, ORDER, ORDER, ORDER, &one,
                                 c->matrix[0], ORDER, c->matrix[0], ORDER, &one, c->matrix[1],
                                 ORDER));
}

static ek_status do_syrk(captures *c)
{
    const double one = 1;
    return EK_CUBLAS(cublasDsyrk(c->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, ORDER, ORDER, &one,
                                 c->matrix[0], ORDER, &one, c->matrix[1], ORDER));
}

static ek_status do_potrf(captures *c)
{
    return EK_CUSOLVER(cusolverDnXpotrf(c->solver, c->params, CUBLAS_FILL_MODE_LOWER, ORDER,
                                        CUDA_R_64F, c->matrix[2], ORDER, CUDA_R_64F, c->work,
                                        WORK_BYTES, c->host_work, WORK_BYTES, c->info));
}

static ek_status do_geqrf(captures *c)
{
    return EK_CUSOLVER(cusolverDnXgeqrf(c->solver, c->params, ORDER, ORDER, CUDA_R_64F,
                                        c->matrix[2], ORDER, CUDA_R_64F, c->values, CUDA_R_64F,
                                        c->work, WORK_BYTES, c->host_work, WORK_BYTES, c->info));
}

static ek_status do_syevd(captures *c)
{
    return EK_CUSOLVER(cusolverDnXsyevd(c->solver, c->params, CUSOLVER_EIG_MODE_VECTOR,
                                        CUBLAS_FILL_MODE_LOWER, ORDER, CUDA_R_64F, c->matrix[2],
                                        ORDER, CUDA_R_64F, c->values, CUDA_R_64F, c->work,
                                        WORK_BYTES, c->host_work, WORK_BYTES, c->info));
}

static ek_status do_gesvd(captures *c)
{
    return EK_CUSOLVER(cusolverDnXgesvd(
        c->solver, c->params, 'S', 'S', ORDER, ORDER, CUDA_R_64F, c->matrix[2], ORDER, CUDA_R_64F,
        c->values, CUDA_R_64F, c->matrix[1], ORDER, CUDA_R_64F, c->matrix[3], ORDER, CUDA_R_64F,
        c->work, WORK_BYTES, c->host_work, WORK_BYTES, c->info));
}

static const struct {
    const char *name;
    ek_status (*enqueue)(captures *c);
    bool needed; /* stages put it into graphs */
} routines[] = {
    {"memcpy", do_copy, true},  {"gemm", do_gemm, true},    {"syrk", do_syrk, true},
    {"potrf", do_potrf, false}, {"geqrf", do_geqrf, false}, {"syevd", do_syevd, false},
    {"gesvd", do_gesvd, false},
};

/* run_graph makes a graph executable and runs it once. */
static ek_status run_graph(cudaGraph_t graph, cudaStream_t stream)
{
    cudaGraphExec_t exec = NULL;
    EK_TRY(EK_CUDA(cudaGraphInstantiate(&exec, graph, 0)));
    ek_status rc = EK_CUDA(cudaGraphLaunch(exec, stream));
    if (rc == EK_OK) {
        rc = EK_CUDA(cudaStreamSynchronize(stream));
    }
    cudaGraphExecDestroy(exec);
    return rc;
}

static bool captures_routine(captures *c, ek_status (*enqueue)(captures *c))
{
    cudaGraph_t graph = NULL;
    if (EK_CUDA(cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal)) != EK_OK) {
        return false;
    }
    ek_status called = enqueue(c);
    ek_status ended = EK_CUDA(cudaStreamEndCapture(c->stream, &graph));
    bool works = called == EK_OK && ended == EK_OK && run_graph(graph, c->stream) == EK_OK;
    if (graph != NULL) {
        cudaGraphDestroy(graph);
    }
    cudaGetLastError();
    return works;
}

/* append adds a name to a list of names. */
static void append(char *list, size_t size, const char *name)
{
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", name);
}

static void tell_routines(probe *p, captures *c)
{
    char can[160] = "";
    char cannot[160] = "";
    bool all_needed = true;
    for (size_t i = 0; i < sizeof routines / sizeof routines[0]; i++) {
        bool works = captures_routine(c, routines[i].enqueue);
        all_needed = all_needed && (works || !routines[i].needed);
        append(works ? can : cannot, sizeof can, routines[i].name);
    }
    probe_line(p, all_needed ? PROBE_OK : PROBE_WRONG, "capture",
               all_needed ? NULL : "use --launch stream, and report driver and library versions",
               "%s", can[0] != '\0' ? can : "nothing can be captured");
    if (cannot[0] != '\0') {
        probe_line(p, PROBE_OK, "eager", NULL,
                   "%s cannot be captured; stages run them outside graphs", cannot);
    }
}

/* A WHILE node whose condition is false from the start: its body never runs. */
static ek_status try_while(captures *c)
{
#if CUDART_VERSION >= 12040
    cudaGraph_t graph = NULL;
    cudaGraphConditionalHandle handle;
    EK_TRY(EK_CUDA(cudaGraphCreate(&graph, 0)));
    ek_status rc =
        EK_CUDA(cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault));
    if (rc == EK_OK) {
        struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeConditional};
        params.conditional.handle = handle;
        params.conditional.type = cudaGraphCondTypeWhile;
        params.conditional.size = 1;
        cudaGraphNode_t node;
#if CUDART_VERSION >= 13000
        rc = EK_CUDA(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &params));
#else
        rc = EK_CUDA(cudaGraphAddNode(&node, graph, NULL, 0, &params));
#endif
    }
    rc = rc == EK_OK ? run_graph(graph, c->stream) : rc;
    cudaGraphDestroy(graph);
    return rc;
#else
    (void)c;
    return EK_FAIL(EK_ENOTSUP, "CUDA 12.4 or newer is needed");
#endif
}

static void tell_rest(probe *p, captures *c)
{
    bool loops = try_while(c) == EK_OK;
    probe_line(p, loops ? PROBE_OK : PROBE_NOTE, "WHILE nodes",
               loops ? NULL : "iterative solvers loop from the host instead", "%s",
               loops ? "work" : ek_error_last()->message);
    char name[32];
    snprintf(name, sizeof name, "libcupti.so.%d", CUDART_VERSION / 1000);
    void *cupti = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    probe_line(p, cupti != NULL ? PROBE_OK : PROBE_NOTE, "CUPTI",
               cupti != NULL ? NULL : "for kernel times inside graphs install cuda-cupti", "%s",
               cupti != NULL ? name : "not found");
}

static ek_status take(captures *c)
{
    EK_TRY(EK_CUDA(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking)));
    for (int i = 0; i < N_MATRICES; i++) {
        EK_TRY(EK_CUDA(cudaMalloc((void **)&c->matrix[i], ORDER * ORDER * sizeof(double))));
    }
    EK_TRY(EK_CUDA(cudaMalloc((void **)&c->values, ORDER * sizeof(double))));
    EK_TRY(EK_CUDA(cudaMalloc((void **)&c->info, sizeof(int))));
    EK_TRY(EK_CUDA(cudaMalloc(&c->work, WORK_BYTES)));
    EK_TRY(EK_CUDA(cudaMallocHost(&c->host_work, WORK_BYTES)));
    EK_TRY(EK_CUBLAS(cublasCreate(&c->blas)));
    EK_TRY(EK_CUBLAS(cublasSetStream(c->blas, c->stream)));
    EK_TRY(EK_CUBLAS(cublasSetWorkspace(c->blas, c->work, WORK_BYTES)));
    EK_TRY(EK_CUSOLVER(cusolverDnCreate(&c->solver)));
    EK_TRY(EK_CUSOLVER(cusolverDnSetStream(c->solver, c->stream)));
    return EK_CUSOLVER(cusolverDnCreateParams(&c->params));
}

/* unit makes all matrices unit matrices: potrf and the like then succeed in place. */
static ek_status unit(captures *c)
{
    static const double one = 1;
    for (int i = 0; i < N_MATRICES; i++) {
        EK_TRY(
            EK_CUDA(cudaMemsetAsync(c->matrix[i], 0, ORDER * ORDER * sizeof(double), c->stream)));
        for (int k = 0; k < ORDER; k++) {
            EK_TRY(EK_CUDA(cudaMemcpyAsync(c->matrix[i] + k * (ORDER + 1), &one, sizeof one,
                                           cudaMemcpyHostToDevice, c->stream)));
        }
    }
    return EK_CUDA(cudaStreamSynchronize(c->stream));
}

/* warm runs every routine once outside a capture, so that their libraries are loaded. */
static ek_status warm(captures *c)
{
    for (size_t i = 0; i < sizeof routines / sizeof routines[0]; i++) {
        EK_TRY(unit(c));
        EK_TRY(routines[i].enqueue(c));
        EK_TRY(EK_CUDA(cudaStreamSynchronize(c->stream)));
    }
    return unit(c);
}

static void release(captures *c)
{
    if (c->params != NULL) {
        cusolverDnDestroyParams(c->params);
    }
    if (c->solver != NULL) {
        cusolverDnDestroy(c->solver);
    }
    if (c->blas != NULL) {
        cublasDestroy(c->blas);
    }
    cudaFreeHost(c->host_work);
    cudaFree(c->work);
    cudaFree(c->info);
    cudaFree(c->values);
    for (int i = 0; i < N_MATRICES; i++) {
        cudaFree(c->matrix[i]);
    }
    if (c->stream != NULL) {
        cudaStreamDestroy(c->stream);
    }
    cudaGetLastError();
}

void probe_capture(probe *p)
{
    p->group = "graph";
    captures c = {0};
    if (take(&c) != EK_OK || warm(&c) != EK_OK) {
        probe_line(
            p, PROBE_WRONG, "libraries",
            "cuBLAS or cuSOLVER does not work here: look at LD_LIBRARY_PATH and `ldd` of ekman",
            "%s", ek_error_last()->message);
    } else {
        tell_routines(p, &c);
        tell_rest(p, &c);
    }
    release(&c);
}
