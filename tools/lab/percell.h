/* SPDX-License-Identifier: Apache-2.0 */
/* The `percell` stage: mean, standard deviation, range and variance over time, each of them for
 * each cell by a kernel of its own. It is what a loop over cells becomes when it is moved to a GPU
 * as it stands, and is here to be measured, not to be used: `reduce` gives the same. */
#ifndef EK_TOOLS_LAB_PERCELL_H
#define EK_TOOLS_LAB_PERCELL_H

#include "core/chunk.h"
#include "graphs/pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of different cells do not wait for one another: they go to this many branches of the
 * queue, launched singly and captured alike. */
#define LAB_BRANCHES 8

enum { LAB_MEAN, LAB_STD, LAB_RANGE, LAB_VAR, LAB_STATISTICS };

typedef struct lab_percell_args {
    ek_stream_view in;
    int64_t cell;
    int statistic;
    void *branches; /* CUDA only: streams and events */
    double *out;    /* one value */
} lab_percell_args;

/* The kernel: one statistic of one cell; of the values that are there, divisor N - 1; NaN
 * where there are too few. */
ek_status lab_percell_host(const void *args);
ek_status lab_percell_cuda(const void *args, ek_queue *queue);

/* The branches: made in negotiate; forked off the queue before and joined after the kernels. On the
 * host a queue has none, and lab_no_branch does nothing. */
ek_status lab_branches_create(void **out);
void lab_branches_destroy(void *branches);
ek_status lab_fork_cuda(const void *args, ek_queue *queue);
ek_status lab_join_cuda(const void *args, ek_queue *queue);
ek_status lab_no_branch(const void *args);

/* lab_percell adds the stage; its stream must come in one chunk. */
ek_node *lab_percell(ek_pipeline *pipeline, ek_node *stream);

/* lab_loop does the same in plain C, a cell after another: out[LAB_STATISTICS][n_cells]. */
ek_status lab_loop(const float *values, int64_t n_time, int64_t n_cells, double *out);

#ifdef __cplusplus
}
#endif

#endif /* EK_TOOLS_LAB_PERCELL_H */
