/* SPDX-License-Identifier: Apache-2.0 */
/* What kernel launches and graph launches cost without the library: N kernels back to back and as
 * one graph, each repeated. Prints a JSON object for each N and each length of kernel; times are
 * per repetition: `submit` the host's part, the rest from the first launch to the last kernel's
 * end. */
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                \
    if (cudaError_t code = (call)) {                                                               \
        fprintf(stderr, "bench-launch-plain: %s: %s\n", #call, cudaGetErrorString(code));          \
        exit(1);                                                                                   \
    }

static const int cells = 10512, threads = 128, repeats = 2000;

static __global__ void work_kernel(double *values, int steps)
{
    int i = blockIdx.x * threads + threadIdx.x;
    double value = i < cells ? values[i] : 0.0;
#pragma unroll 1
    for (int k = 0; k < steps; k++) {
        value = __dsub_rn(__dmul_rn(value, value), 1.5);
    }
    if (i < cells) {
        values[i] = value;
    }
}

static double now_us()
{
    auto time = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::micro>(time).count();
}

static void chain(double *values, int n, int steps, cudaStream_t stream)
{
    for (int k = 0; k < n; k++) {
        work_kernel<<<(cells + threads - 1) / threads, threads, 0, stream>>>(values, steps);
    }
}

static cudaGraphExec_t capture(double *values, int n, int steps, cudaStream_t stream, double *us)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    double began = now_us();
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    chain(values, n, steps, stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphUpload(exec, stream));
    *us = now_us() - began;
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

/* Repeats the chain, as a graph if there is one; *submit receives the host's part. */
static double repeat(cudaGraphExec_t exec, double *values, int n, int steps, cudaStream_t stream,
                     double *submit)
{
    CHECK(cudaStreamSynchronize(stream));
    double began = now_us();
    for (int r = 0; r < repeats; r++) {
        if (exec != NULL) {
            CHECK(cudaGraphLaunch(exec, stream));
        } else {
            chain(values, n, steps, stream);
        }
    }
    *submit = (now_us() - began) / repeats;
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGetLastError());
    return (now_us() - began) / repeats;
}

int main()
{
    double *values;
    cudaStream_t stream;
    CHECK(cudaMalloc(&values, cells * sizeof(double)));
    CHECK(cudaMemset(values, 0, cells * sizeof(double)));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int steps = 0; steps <= 400; steps += 200) {
        for (int n = 1; n <= 64; n *= 2) {
            double made, submit, submit_graph;
            cudaGraphExec_t exec = capture(values, n, steps, stream, &made);
            repeat(NULL, values, n, steps, stream, &submit); /* warm-up */
            double single = repeat(NULL, values, n, steps, stream, &submit);
            double graph = repeat(exec, values, n, steps, stream, &submit_graph);
            printf("{\"bench\": \"launch_plain\", \"case\": \"%d kernels of %d steps\", "
                   "\"ours_s\": %.9f, \"theirs_s\": %.9f, \"ratio\": %.3f, \"make_us\": %.1f, "
                   "\"graph_submit_us\": %.2f, \"single_submit_us\": %.2f}\n",
                   n, steps, graph * 1e-6, single * 1e-6, single / graph, made, submit_graph,
                   submit);
            CHECK(cudaGraphExecDestroy(exec));
        }
    }
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(values));
    return 0;
}
