/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of each cell over time, any set of them in one sweep over the files. */
#include "pipelines/stats.h"

#define FEATURES (EK_REDUCE_MEAN | EK_REDUCE_STD | EK_REDUCE_RANGE | EK_REDUCE_VAR)

/* What is not asked for is as in the state, if there is one. */
static ek_status take_defaults(ek_reduce_options *reduce, const char *state)
{
    ek_reduce_options made_with = {.op = FEATURES};
    if (state != NULL) {
        EK_TRY(ek_state_options(state, &ek_stage_reduce, &made_with));
    }
    reduce->op = reduce->op != 0 ? reduce->op : made_with.op;
    reduce->ddof = reduce->ddof != 0 ? reduce->ddof : made_with.ddof;
    return EK_OK;
}

ek_status ek_pipeline_stats(ek_pipeline **out, ek_node **result, const ek_stats_options *options)
{
    ek_pipeline *p = NULL;
    const char *state = options->from_state;
    ek_reduce_options reduce = options->reduce;
    EK_TRY(take_defaults(&reduce, state));
    EK_TRY(ek_pipeline_create(&p, "stats"));

    bool recall = state != NULL && options->load.n_paths == 0;
    ek_node *load = recall ? ek_recall(p, state) : ek_load(p, &options->load);
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
