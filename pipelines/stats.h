/* SPDX-License-Identifier: Apache-2.0 */
/* The statistics pipeline: load ! upload ! reduce ! download [! write]. */
#ifndef EK_PIPELINES_STATS_H
#define EK_PIPELINES_STATS_H

#include "graphs/nodes.h"
#include "graphs/state.h"

EK_BEGIN_DECLS

typedef struct ek_stats_options {
    ek_load_options load;
    const char *from_state;   /* a finished state, for a plan with the same option: its
                                 options of reduce are the defaults, and without paths to load the
                                 pipeline ends what it holds. NULL: none */
    ek_reduce_options reduce; /* op 0: mean, std, range, var (the per-cell features) */
    ek_write_options write;   /* path NULL: nothing is written */
} ek_stats_options;

/* ek_pipeline_stats builds it; *result is the download node. */
EK_API ek_status ek_pipeline_stats(ek_pipeline **out, ek_node **result,
                                   const ek_stats_options *options);

EK_END_DECLS

#endif /* EK_PIPELINES_STATS_H */
