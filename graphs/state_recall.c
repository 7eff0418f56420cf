/* SPDX-License-Identifier: Apache-2.0 */
/* Going on from a finished state: a plan whose source has only the later steps, and a source that
 * has none at all. */
#include "graphs/state_internal.h"

#include "stages/naming.h"

#include <stddef.h>
#include <string.h>

/* ---- the source without steps ---- */

typedef struct recall_options {
    const char *path;
} recall_options;

typedef struct recall_priv {
    ek__state *state;
} recall_priv;

static void set_words(ek_array_spec *array, const ek_field *field)
{
    const char *const texts[] = {field->name, field->units, field->long_name, field->standard_name,
                                 field->cell_methods};
    char *const to[] = {array->name, array->units, array->long_name, array->standard_name,
                        array->cell_methods};
    const size_t sizes[] = {sizeof array->name, sizeof array->units, sizeof array->long_name,
                            sizeof array->standard_name, sizeof array->cell_methods};
    for (size_t i = 0; i < EK_COUNT(texts); i++) {
        ek__text_set(to[i], sizes[i], "%s", texts[i] != NULL ? texts[i] : "");
    }
}

static ek_status recall_negotiate(ek_instance *self)
{
    recall_priv *priv = self->priv;
    const recall_options *options = self->options;
    EK_TRY(ek__state_open(&priv->state, options->path));
    const ek_field *field = priv->state->field;
    ek_spec *out = &self->out;
    out->kind = EK_STREAM;
    out->space = EK_SPACE_PINNED;
    out->field = field;
    out->extent[EK_AXIS_TIME] = field->n_time;
    out->extent[EK_AXIS_CELL] = field->n_cells;
    out->packed = true;
    out->chunk_rows = 1;
    out->n_chunks = 0;
    set_words(ek_spec_add(out, "", EK_F64, 2, EK_AXIS_TIME, EK_AXIS_CELL), field);
    return EK_OK;
}

static ek_status recall_header(ek_instance *self, int64_t chunk, ek_chunk_header *out)
{
    (void)out;
    return EK_FAIL(EK_EINTERNAL, "%s has no chunk %lld", self->name, (long long)chunk);
}

static ek_status recall_read(ek_instance *self, int64_t chunk, void *dst)
{
    (void)dst;
    return EK_FAIL(EK_EINTERNAL, "%s has no chunk %lld", self->name, (long long)chunk);
}

static void recall_close(ek_instance *self)
{
    (void)self;
}

static void recall_fini(ek_instance *self)
{
    recall_priv *priv = self->priv;
    ek__state_destroy(priv->state);
}

static const ek_option recall_table[] = {
    {.name = "path",
     .type = EK_OPTION_STRING,
     .offset = offsetof(recall_options, path),
     .required = true,
     .incidental = true,
     .help = "a finished state"},
    {.name = NULL},
};

static const ek_source_ops recall_source = {
    .header = recall_header,
    .read = recall_read,
    .close = recall_close,
};

static const ek_stage recall_stage = {
    .api = EK_STAGE_API,
    .name = "recall",
    .summary = "Stands for the steps that a finished state has seen.",
    .flags = EK_STAGE_SOURCE,
    .options = recall_table,
    .options_size = sizeof(recall_options),
    .priv_size = sizeof(recall_priv),
    .negotiate = recall_negotiate,
    .fini = recall_fini,
    .source = &recall_source,
};

ek_node *ek_recall(ek_pipeline *pipeline, const char *path)
{
    return ek_pipeline_add(pipeline, &recall_stage, NULL, 0, &(recall_options){.path = path});
}

/* ---- a plan that goes on ---- */

static ek_status join(ek_plan *plan, const ek__state *earlier)
{
    ek_spec *out = &plan->nodes[plan->source].instance.out;
    const char *path = plan->options.from_state;
    plan->earlier_crc = earlier->head_crc;
    plan->earlier_steps = earlier->field->n_time;
    if (plan->nodes[plan->source].node->stage == &recall_stage) {
        return EK_OK; /* its field is the state's already */
    }
    EK_TRY(ek__field_join(&plan->joined, earlier->field, out->field, path));
    out->field = plan->joined;
    out->extent[EK_AXIS_TIME] = plan->joined->n_time;
    return EK_OK;
}

ek_status ek__plan_recall(ek_plan *plan)
{
    if (plan->options.from_state == NULL) {
        return plan->nodes[plan->source].node->stage != &recall_stage
                   ? EK_OK
                   : EK_FAIL(EK_EINVAL, "a pipeline that begins with 'recall' needs the plan "
                                        "option from_state, with the same path");
    }
    if (plan->n_sources > 1) {
        return EK_FAIL(EK_ENOTSUP, "a pipeline of %d sources cannot go on from a state",
                       plan->n_sources);
    }
    ek__state *earlier = NULL;
    EK_TRY(ek__state_open(&earlier, plan->options.from_state));
    ek_status rc = join(plan, earlier);
    ek__state_destroy(earlier);
    return rc;
}

ek_status ek__plan_can_continue(const ek_plan *plan)
{
    for (int i = 0; i < plan->n_nodes; i++) {
        const plan_node *self = &plan->nodes[i];
        const char *name = self->node->name;
        if (ek__stage_is(self->node, EK_STAGE_SINK) && self->streams) {
            return EK_FAIL(EK_ENOTSUP,
                           "node '%s' takes a stream step by step; a finished state holds results "
                           "only, so write results or leave the state out",
                           name);
        }
        if (ek__stage_is(self->node, EK_STAGE_FOLD) && self->node->stage->merge == NULL) {
            return EK_FAIL(EK_ENOTSUP,
                           "node '%s': what '%s' accumulates cannot be gone on with in another "
                           "run, so it has no finished state",
                           name, self->node->stage->name);
        }
    }
    if (plan->n_sources > 1) {
        return EK_FAIL(EK_ENOTSUP, "a pipeline of %d sources has no finished state",
                       plan->n_sources);
    }
    if (plan->n_passes > 1) {
        return EK_FAIL(EK_ENOTSUP,
                       "pipeline '%s' makes %d passes over its source; only one of a single pass "
                       "has a finished state",
                       plan->pipeline->name, plan->n_passes);
    }
    return EK_OK;
}

ek_status ek__plan_recall_check(const ek_plan *plan)
{
    if (plan->options.from_state == NULL) {
        return EK_OK;
    }
    ek__state *earlier = NULL;
    ek__state *mine = NULL;
    ek_status rc = EK_OK;
    EK_TRY(ek__plan_can_continue(plan));
    EK_GOTO(ek__state_open(&earlier, plan->options.from_state), done);
    EK_GOTO(ek__state_of_plan(&mine, plan), done);
    rc = ek__state_extends(earlier, mine, plan->options.from_state);
done:
    ek__state_destroy(earlier);
    ek__state_destroy(mine);
    return rc;
}
