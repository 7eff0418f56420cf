/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver saw of a run: kernels (also those inside graphs), copies, graph launches and
 * allocations, with times, from CUPTI's activity records. CUPTI is loaded at run time; where it
 * cannot be, tests that want it skip themselves. One recording at a time. */
#ifndef EK_TESTS_ACTIVITY_H
#define EK_TESTS_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum activity_kind {
    ACTIVITY_KERNEL,
    ACTIVITY_COPY_IN,  /* host to device */
    ACTIVITY_COPY_OUT, /* device to host */
    ACTIVITY_GRAPH_LAUNCH,
    ACTIVITY_ALLOCATION, /* of device or pinned memory */
    ACTIVITY_CALLBACK,   /* a host function put on a stream */
} activity_kind;

typedef struct activity {
    activity_kind kind;
    uint64_t start_ns, end_ns; /* of the work; for the last three, of the call */
    uint64_t bytes;            /* of a copy */
    uint64_t graph_node;       /* 0: not inside a graph */
} activity;

/* activity_start begins to record; false, with a sentence saying why, if CUPTI cannot be used. Call
 * it before the process first uses CUDA. */
bool activity_start(char *reason, size_t size);

/* activity_stop ends the recording and returns the records, in no order; free with free(). The
 * device must be idle. */
activity *activity_stop(size_t *count);

#endif /* EK_TESTS_ACTIVITY_H */
