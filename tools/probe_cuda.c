/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA runtime and its libraries against the driver and against this build, the device, and
 * what copies and launches cost on it. */
#include "tools/probe.h"

#include "core/backend_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

#define COPY_BYTES   ((size_t)256 << 20)
#define COPY_ROUNDS  5
#define N_LAUNCHES   1000
#define GRAPH_NODES  20
#define GRAPH_ROUNDS 200

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void tell_error(probe *p, const char *what, const char *advice)
{
    probe_line(p, PROBE_WRONG, what, advice, "%s", ek_error_last()->message);
}

/* file_of returns the file that a loaded function comes from. */
static const char *file_of(const void *function)
{
    Dl_info info = {0};
    return dladdr(function, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "?";
}

static bool check_runtime(probe *p)
{
    int runtime = 0;
    int driver = 0;
    if (EK_CUDA(cudaRuntimeGetVersion(&runtime)) != EK_OK ||
        EK_CUDA(cudaDriverGetVersion(&driver)) != EK_OK) {
        tell_error(p, "runtime",
                   "the CUDA runtime that was found does not fit: see `ldd` of ekman");
        return false;
    }
    bool built_for = runtime / 1000 == CUDART_VERSION / 1000;
    bool old = driver / 1000 < runtime / 1000; /* within a major version any driver serves */
    if (old || !built_for) {
        probe_line(
            p, PROBE_WRONG, "runtime",
            old ? "install a newer driver, or build with a CUDA toolkit that the driver supports"
                : "another libcudart comes first: look at LD_LIBRARY_PATH and `ldd` of ekman",
            "runtime %d.%d, built with %d.%d, driver supports up to %d.%d", runtime / 1000,
            runtime % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, driver / 1000,
            driver % 1000 / 10);
        return false;
    }
    probe_line(p, PROBE_OK, "runtime", NULL, "%d.%d", runtime / 1000, runtime % 1000 / 10);
    return true;
}

typedef struct library_version {
    const char *name, *file;
    int found[2], built[2]; /* major, minor */
} library_version;

static bool check_library(probe *p, const library_version *v)
{
    if (v->found[0] == v->built[0]) {
        probe_line(p, PROBE_OK, v->name, NULL, "%d.%d", v->found[0], v->found[1]);
        return true;
    }
    probe_line(p, PROBE_WRONG, v->name,
               "look at LD_LIBRARY_PATH: an older or newer library comes first",
               "%d.%d is loaded from %s, this program was built with %d.%d", v->found[0],
               v->found[1], v->file, v->built[0], v->built[1]);
    return false;
}

static bool check_libraries(probe *p)
{
    library_version blas = {.name = "cuBLAS",
                            .file = file_of((const void *)(size_t)cublasGetProperty),
                            .built = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR}};
    library_version solver = {.name = "cuSOLVER",
                              .file = file_of((const void *)(size_t)cusolverGetProperty),
                              .built = {CUSOLVER_VER_MAJOR, CUSOLVER_VER_MINOR}};
    cublasGetProperty(MAJOR_VERSION, &blas.found[0]);
    cublasGetProperty(MINOR_VERSION, &blas.found[1]);
    cusolverGetProperty(MAJOR_VERSION, &solver.found[0]);
    cusolverGetProperty(MINOR_VERSION, &solver.found[1]);
    bool blas_fits = check_library(p, &blas);
    return check_library(p, &solver) && blas_fits;
}

static bool check_device(probe *p)
{
    char reason[256] = "";
    size_t free_bytes = 0;
    size_t bytes = 0;
    if (ek_cuda_device_count(reason, sizeof reason) == 0) {
        probe_line(p, PROBE_WRONG, "device", "look at `nvidia-smi` and CUDA_VISIBLE_DEVICES", "%s",
                   reason);
        return false;
    }
    if (EK_CUDA(cudaMemGetInfo(&free_bytes, &bytes)) != EK_OK) {
        tell_error(p, "device", "is another process using all of it, or exclusively? `nvidia-smi`");
        return false;
    }
    probe_line(p, PROBE_OK, "device", NULL, "%s; %.1f of %.1f GiB free", reason,
               (double)free_bytes / 0x1p30, (double)bytes / 0x1p30);
    return true;
}

bool probe_cuda(probe *p)
{
    p->group = "cuda";
    return check_runtime(p) && check_libraries(p) && check_device(p);
}

/* ---- rates ---- */

typedef struct rates {
    cudaStream_t stream;
    void *host, *device, *second;
    size_t bytes;
} rates;

static void release(rates *r)
{
    cudaFree(r->second);
    cudaFree(r->device);
    cudaFreeHost(r->host);
    if (r->stream != NULL) {
        cudaStreamDestroy(r->stream);
    }
}

/* copy_rate returns the best of some rounds in bytes per second, 0 after an error. */
static double copy_rate(const rates *r, void *to, const void *from)
{
    double best = 0;
    for (int i = 0; i < COPY_ROUNDS; i++) {
        double began = now();
        if (EK_CUDA(cudaMemcpyAsync(to, from, r->bytes, cudaMemcpyDefault, r->stream)) != EK_OK ||
            EK_CUDA(cudaStreamSynchronize(r->stream)) != EK_OK) {
            return 0;
        }
        double rate = (double)r->bytes / (now() - began);
        best = rate > best ? rate : best;
    }
    return best;
}

static ek_status take(rates *r)
{
    size_t free_bytes = 0;
    size_t bytes = 0;
    EK_TRY(EK_CUDA(cudaMemGetInfo(&free_bytes, &bytes)));
    r->bytes = free_bytes / 4 < COPY_BYTES ? free_bytes / 4 : COPY_BYTES;
    EK_TRY(EK_CUDA(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking)));
    EK_TRY(EK_CUDA(cudaHostAlloc(&r->host, r->bytes, cudaHostAllocDefault)));
    EK_TRY(EK_CUDA(cudaMalloc(&r->device, r->bytes)));
    EK_TRY(EK_CUDA(cudaMalloc(&r->second, r->bytes)));
    return EK_CUDA(cudaMemsetAsync(r->device, 0, r->bytes, r->stream));
}

static void tell_copies(probe *p, const rates *r)
{
    double up = copy_rate(r, r->device, r->host);
    double down = copy_rate(r, r->host, r->device);
    double across = copy_rate(r, r->second, r->device);
    if (up == 0 || down == 0 || across == 0) {
        tell_error(p, "copies", "run `compute-sanitizer ekman probe` and look at `dmesg`");
        return;
    }
    probe_line(p, PROBE_OK, "copies", NULL, "pinned: %.1f GB/s up, %.1f GB/s down", up / 1e9,
               down / 1e9);
    probe_line(p, PROBE_OK, "memory", NULL, "%.0f GB/s read and written by a copy",
               2 * across / 1e9);
}

static ek_status launch_some(const rates *r, int n)
{
    for (int i = 0; i < n; i++) {
        EK_TRY(EK_CUDA(cudaMemsetAsync(r->device, i, 4, r->stream)));
    }
    return EK_OK;
}

static ek_status time_launches(const rates *r, double *seconds)
{
    EK_TRY(launch_some(r, N_LAUNCHES));
    EK_TRY(EK_CUDA(cudaStreamSynchronize(r->stream)));
    double began = now();
    EK_TRY(launch_some(r, N_LAUNCHES));
    EK_TRY(EK_CUDA(cudaStreamSynchronize(r->stream)));
    *seconds = (now() - began) / N_LAUNCHES;
    return EK_OK;
}

static ek_status make_graph(const rates *r, cudaGraphExec_t *exec)
{
    cudaGraph_t graph = NULL;
    EK_TRY(EK_CUDA(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeThreadLocal)));
    ek_status launched = launch_some(r, GRAPH_NODES);
    EK_TRY(EK_CUDA(cudaStreamEndCapture(r->stream, &graph)));
    ek_status rc = launched == EK_OK ? EK_CUDA(cudaGraphInstantiate(exec, graph, 0)) : launched;
    cudaGraphDestroy(graph);
    return rc;
}

static ek_status time_graph(const rates *r, cudaGraphExec_t exec, double *seconds)
{
    EK_TRY(EK_CUDA(cudaGraphLaunch(exec, r->stream)));
    EK_TRY(EK_CUDA(cudaStreamSynchronize(r->stream)));
    double began = now();
    for (int i = 0; i < GRAPH_ROUNDS; i++) {
        EK_TRY(EK_CUDA(cudaGraphLaunch(exec, r->stream)));
    }
    EK_TRY(EK_CUDA(cudaStreamSynchronize(r->stream)));
    *seconds = (now() - began) / GRAPH_ROUNDS / GRAPH_NODES;
    return EK_OK;
}

static void tell_launches(probe *p, const rates *r)
{
    double single = 0;
    double in_graph = 0;
    cudaGraphExec_t exec = NULL;
    ek_status rc = time_launches(r, &single);
    rc = rc == EK_OK ? make_graph(r, &exec) : rc;
    rc = rc == EK_OK ? time_graph(r, exec, &in_graph) : rc;
    if (exec != NULL) {
        cudaGraphExecDestroy(exec);
    }
    if (rc != EK_OK) {
        tell_error(p, "launches", "use --launch stream until graphs work here");
        return;
    }
    probe_line(p, PROBE_OK, "launches", NULL,
               "%.2f us for a short operation on a stream, %.2f us for one in a graph of %d",
               1e6 * single, 1e6 * in_graph, GRAPH_NODES);
}

void probe_rates(probe *p)
{
    p->group = "device";
    rates r = {0};
    if (take(&r) != EK_OK) {
        tell_error(p, "memory", "free device or pinned memory: see `nvidia-smi` and `ulimit -l`");
    } else {
        tell_copies(p, &r);
        tell_launches(p, &r);
    }
    release(&r);
    cudaGetLastError();
}
