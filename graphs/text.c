/* SPDX-License-Identifier: Apache-2.0 */
/* From a draft to a pipeline: nodes in an order in which each comes after those that feed it. */
#include "graphs/text.h"

#include "graphs/text_internal.h"

static ek_status give_command(draft_node *node, const char *command)
{
    const ek_option *table = node->stage->options;
    for (int i = 0; command != NULL && table != NULL && table[i].name != NULL; i++) {
        bool given = ((node->given >> i) & 1) != 0;
        if ((table[i].text & EK_TEXT_COMMAND) != 0 && !given) {
            EK_TRY(ek_options_set(table, node->options, table[i].name, command));
        }
    }
    return EK_OK;
}

/* The first input that waits for a node not built yet; -1: none does. */
static int waits_for(const draft *self, const draft_node *node)
{
    for (int k = 0; k < EK_STAGE_INPUTS; k++) {
        int from = node->inputs[k].from;
        if (from >= 0 && self->nodes[from].node == NULL) {
            return from;
        }
    }
    return -1;
}

static ek_status build_node(const draft *self, draft_node *node, ek_pipeline *pipeline)
{
    node_inputs inputs = {.n = ek__stage_ports(node->stage)};
    for (int k = 0; k < inputs.n; k++) {
        int from = node->inputs[k].from;
        inputs.nodes[k] = from >= 0 ? self->nodes[from].node : NULL;
    }
    node->node = ek__pipeline_add_named(pipeline, node->stage, node->name, &inputs, node->options);
    if (node->node == NULL) {
        ek_pipeline_status(pipeline);
        return ek__text_point(&self->text, node->at);
    }
    return EK_OK;
}

/* Says that links form a circle, pointing at a stage in it. */
static ek_status refuse_circle(const draft *self, int node)
{
    for (size_t i = 0; i < self->n; i++) { /* so many steps back lead into the circle */
        node = waits_for(self, &self->nodes[node]);
    }
    return ek__text_fail(&self->text, self->nodes[node].at,
                         "the links form a circle: '%s' waits for what it puts out itself",
                         self->nodes[node].name);
}

static ek_status build(draft *self, ek_pipeline *pipeline)
{
    for (size_t built = 0; built < self->n; built++) {
        int first = -1; /* not built */
        int ready = -1;
        for (int i = 0; i < (int)self->n && ready < 0; i++) {
            const draft_node *node = &self->nodes[i];
            if (node->node == NULL) {
                first = first < 0 ? i : first;
                ready = waits_for(self, node) < 0 ? i : -1;
            }
        }
        if (ready < 0) {
            return refuse_circle(self, first);
        }
        EK_TRY(build_node(self, &self->nodes[ready], pipeline));
    }
    return EK_OK;
}

static ek_status apply(draft *self, const ek_text_options *options)
{
    for (int i = 0; i < options->n_set; i++) {
        EK_TRY(ek__draft_override(self, options->set[i]));
    }
    for (size_t i = 0; i < self->n; i++) {
        EK_TRY(give_command(&self->nodes[i], options->command));
    }
    return EK_OK;
}

ek_status ek_pipeline_parse(ek_pipeline **out, const char *text, const ek_text_options *options)
{
    static const ek_text_options defaults = {0};
    const ek_text_options *o = options != NULL ? options : &defaults;
    draft self = {.text = {.chars = text, .source = o->source}};
    ek_pipeline *pipeline = NULL;
    ek_status rc = EK_OK;
    *out = NULL;
    EK_GOTO(ek__draft_parse(&self), done);
    EK_GOTO(apply(&self, o), done);
    EK_GOTO(ek_pipeline_create(&pipeline, o->name != NULL ? o->name : "text"), done);
    EK_GOTO(build(&self, pipeline), done);
    *out = pipeline;
    pipeline = NULL;
done:
    ek_pipeline_destroy(pipeline);
    ek__draft_free(&self);
    return rc;
}
