/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of each cell over time, any set of them in one sweep over the files. */
#include "pipelines/stats.h"

#define FEATURES (EK_REDUCE_MEAN | EK_REDUCE_STD | EK_REDUCE_RANGE | EK_REDUCE_VAR)

ek_status ek_pipeline_stats(ek_pipeline **out, ek_node **result, const ek_stats_options *options)
{
    ek_pipeline *p = NULL;
    EK_TRY(ek_pipeline_create(&p, "stats"));

    ek_reduce_options reduce = options->reduce;
    if (reduce.op == 0) {
        reduce.op = FEATURES;
    }
    ek_node *load = ek_load(p, &options->load);
    ek_node *up = ek_upload(p, load, NULL);
    ek_node *stats = ek_reduce(p, up, &reduce);
    ek_node *down = ek_download(p, stats, NULL);
    if (options->write.path != NULL) {
        ek_write(p, down, &options->write);
    }

    ek_status rc = ek_pipeline_status(p);
    if (rc != EK_OK) {
        ek_pipeline_destroy(p);
        return rc;
    }
    *out = p;
    *result = down;
    return EK_OK;
}
