/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of bench-launch: `rows` makes one-row chunks in memory; `work` is one small kernel
 * whose length is set by the number of steps; `tally` is `work` that also adds up over the chunks.
 * A step is v := v * v - EK_WORK_SHIFT in float64, each operation rounded by itself, so that host,
 * CUDA and a plain loop give the same bits; it stays within [-1.5, 1.5] and is chaotic, so that a
 * step too few shows. */
#ifndef EK_BENCH_LAUNCH_STAGES_H
#define EK_BENCH_LAUNCH_STAGES_H

#include "graphs/pipeline.h"

EK_BEGIN_DECLS

#define EK_WORK_SHIFT 1.5

/* Rows repeat after this many. */
#define ROWS_PERIOD 8

typedef struct rows_options {
    int64_t cells, chunks;
} rows_options;

typedef struct work_options {
    int64_t steps;
} work_options;

/* What the kernel of both stages gets. `sum` is NULL in `work`, `out` in `tally`. */
typedef struct work_args {
    ek_stream_view in;
    double *out, *sum;
    int64_t cells, steps;
} work_args;

extern const ek_stage rows_stage, work_stage, tally_stage;

/* rows_value is the value of a cell of row `row`; work_value what `steps` steps make of a value. */
float rows_value(int64_t row, int64_t cell);
double work_value(double value, int64_t steps);

/* work_cuda launches the kernel; in builds with CUDA only. */
ek_status work_cuda(const void *args, ek_queue *queue);

EK_END_DECLS

#endif /* EK_BENCH_LAUNCH_STAGES_H */
