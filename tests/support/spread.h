/* SPDX-License-Identifier: Apache-2.0 */
/* A fold for tests that sweeps over its stream twice: `mean` of each cell in the first sweep, and
 * in the second `squares`, the sum of (value - mean)^2. Rows are added one after another, so that
 * the results have the same bits for any chunk size, and on both backends. A cell without values
 * has the mean NaN and the sum 0. */
#ifndef EK_TESTS_SUPPORT_SPREAD_H
#define EK_TESTS_SUPPORT_SPREAD_H

#include "graphs/pipeline.h"

EK_BEGIN_DECLS

typedef enum spread_step { SPREAD_ADD, SPREAD_MEAN, SPREAD_SQUARES, SPREAD_END } spread_step;

typedef struct spread_args {
    spread_step step;
    ek_stream_view in;
    int64_t cells;
    double *sums, *counts; /* state */
    double *mean, *squares;
} spread_args;

/* spread_cell does one step for one cell, on either side. The sum of squares begins from `counts`,
 * which it replaces, so that state must have survived the first sweep. */
static inline EK_HD void spread_cell(const spread_args *args, int64_t cell)
{
    int rows = args->in.header != NULL ? args->in.header->rows : 0;
    for (int row = 0; row < rows; row++) {
        double value = ek_stream_value(args->in, row * args->cells + cell);
        if (isnan(value)) {
            continue;
        }
        if (args->step == SPREAD_ADD) {
            args->sums[cell] += value;
            args->counts[cell] += 1;
        } else {
            double apart = value - args->mean[cell];
            args->sums[cell] += apart * apart;
            args->counts[cell] -= 1;
        }
    }
    if (args->step == SPREAD_MEAN) {
        args->mean[cell] = args->sums[cell] / args->counts[cell];
        args->sums[cell] = 0;
    } else if (args->step == SPREAD_END) {
        args->squares[cell] = args->counts[cell] == 0 ? args->sums[cell] : (double)NAN;
    }
}

ek_status ek__spread_cuda(const void *args, ek_queue *queue);

/* spread_add adds the fold; its result has the arrays `mean` and `squares`. */
ek_node *spread_add(ek_pipeline *pipeline, ek_node *stream);

EK_END_DECLS

#endif /* EK_TESTS_SUPPORT_SPREAD_H */
