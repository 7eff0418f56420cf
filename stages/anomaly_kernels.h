/* SPDX-License-Identifier: Apache-2.0 */
/* The anomaly stage's kernel arguments and CUDA entry point. Private to stages/. */
#ifndef EK_STAGES_ANOMALY_KERNELS_H
#define EK_STAGES_ANOMALY_KERNELS_H

#include "stages/kernels.h"

EK_BEGIN_DECLS

typedef struct ek__anomaly_args {
    ek_stream_view in;
    const double *mean; /* one per cell */
    double *out;        /* chunk_rows x cells */
    int64_t cells;
    int64_t
        chunk_rows; /* the most there can be: the launch's size, while the header has the rows */
} ek__anomaly_args;

ek_status ek__anomaly_cuda(const void *args, ek_queue *queue);

EK_END_DECLS

#endif /* EK_STAGES_ANOMALY_KERNELS_H */
