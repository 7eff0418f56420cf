/* SPDX-License-Identifier: Apache-2.0 */
/* What launches cost without the library: N kernels back to back and as one graph, repeated. Prints
 * a JSON object for each N and length of kernel; times are per repetition, `submit` the host's
 * part. */
#include <chrono>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                \
    if (cudaError_t code = (call)) {                                                               \
        fprintf(stderr, "bench-launch-plain: %s: %s\n", #call, cudaGetErrorString(code));          \
        exit(1);                                                                                   \
    }

static const int threads = 128, blocks = 82, repeats = 2000;
static double *values;
static cudaStream_t stream;

static __global__ void work_kernel(double *at, int steps)
{
    double value = at[blockIdx.x * threads + threadIdx.x];
#pragma unroll 1
    for (int k = 0; k < steps; k++) {
        value = __dsub_rn(__dmul_rn(value, value), 1.5);
    }
    at[blockIdx.x * threads + threadIdx.x] = value;
}

static double now_s()
{
    auto time = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(time).count();
}

static void chain(int n, int steps)
{
    for (int k = 0; k < n; k++) {
        work_kernel<<<blocks, threads, 0, stream>>>(values, steps);
    }
}

/* Returns the seconds of a repetition, as a graph if there is one. */
static double repeat(cudaGraphExec_t exec, int n, int steps, double *submit)
{
    double began = now_s();
    for (int r = 0; r < repeats; r++) {
        if (exec != NULL) {
            CHECK(cudaGraphLaunch(exec, stream));
        } else {
            chain(n, steps);
        }
    }
    *submit = (now_s() - began) / repeats;
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGetLastError());
    return (now_s() - began) / repeats;
}

static void measure(int n, int steps)
{
    double submit, submit_graph, began = now_s();
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    chain(n, steps);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphUpload(exec, stream));
    double made = now_s() - began, single = repeat(NULL, n, steps, &submit);
    double replay = repeat(exec, n, steps, &submit_graph);
    printf("{\"bench\": \"launch_plain\", \"case\": \"%d kernels of %d steps\", \"ours_s\": %.3e, "
           "\"theirs_s\": %.3e, \"ratio\": %.3f, \"make_s\": %.3e, \"graph_submit_s\": %.3e, "
           "\"single_submit_s\": %.3e}\n",
           n, steps, replay, single, single / replay, made, submit_graph, submit);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

int main()
{
    size_t bytes = (size_t)blocks * threads * sizeof(double);
    CHECK(cudaMalloc(&values, bytes));
    CHECK(cudaMemset(values, 0, bytes));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    chain(1, 0);
    CHECK(cudaStreamSynchronize(stream)); /* the kernel is loaded before it is captured */
    for (int steps = 0; steps <= 400; steps += 200) {
        for (int n = 1; n <= 64; n *= 2) {
            measure(n, steps);
        }
    }
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(values));
    return 0;
}
