/* SPDX-License-Identifier: Apache-2.0 */
/* A clock on calls inside the library: the linker puts these functions before
 * the executor's turns with a chunk and before CUDA's calls for graphs, copies
 * and events (--wrap), so that the library itself has no switch for measuring.
 * One thread: the one that runs the pipeline. */
#ifndef EK_BENCH_LAUNCH_CLOCK_H
#define EK_BENCH_LAUNCH_CLOCK_H

#include "core/status.h"

EK_BEGIN_DECLS

typedef enum clock_call {
    CLOCK_SUBMIT,      /* all that is enqueued for a chunk */
    CLOCK_TURNAROUND,  /* from its begin until the loop hears that the chunk is
                          complete */
    CLOCK_ACCOUNT,     /* reading a complete chunk's times */
    CLOCK_CAPTURE,     /* from the begin of a capture to its end */
    CLOCK_INSTANTIATE, /* making it executable */
    CLOCK_UPLOAD,      /* bringing it to the device */
    CLOCK_FIRST,       /* the first launch of a graph in a run */
    CLOCK_LAUNCH,      /* a later one */
    CLOCK_COPY,        /* enqueueing: of a copy, a record, a wait, a host function */
    CLOCK_RECORD,
    CLOCK_WAIT,
    CLOCK_TELL,
    CLOCK_QUERY, /* of an event */
    CLOCK_ELAPSED,
    CLOCK_CALLS
} clock_call;

/* clock_name returns what a call is called in the output. */
const char *clock_name(clock_call call);

/* clock_leave_out keeps the executor from recording the events that only tell how long a chunk's
 * copy and region took, to see what these cost. Reports then have no such times. */
void clock_leave_out(bool events);

/* clock_reset forgets, and makes room for `chunks` calls of a kind. */
ek_status clock_reset(int64_t chunks);
void clock_free(void);

double clock_now(void);
void clock_add(clock_call call, double began);
int64_t clock_count(clock_call call);

/* clock_quantile returns a call's duration in seconds, q from 0 to 1; 0 if it
 * was not made. */
double clock_quantile(clock_call call, double q);

/* clock_per_chunk returns the seconds from one submit to the next, on the
 * average from a tenth of the way to the end: a full ring submits as fast as
 * chunks complete. */
double clock_per_chunk(void);

/* clock_cpu_per_chunk is the same in processor time of the thread. */
double clock_cpu_per_chunk(void);

EK_END_DECLS

#endif /* EK_BENCH_LAUNCH_CLOCK_H */
