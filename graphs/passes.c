/* SPDX-License-Identifier: Apache-2.0 */
/* Passes. A node that works on a stream and needs a finished fold of it (an anomaly its mean) can
 * only run in a later sweep over the source:
 *
 *   level(source) = 0
 *   level(node)   = max(level of stream inputs, 1 + level of result inputs)   if it has a stream
 * input = max(level of result inputs)                              else: it runs once, after
 *
 * A fold that wants its stream n times is in n passes; its level, from which others count, is the
 * last of them. Pass k holds the folds that sweep in it, the sinks of level k, and all stream nodes
 * that lead to them. */
#include "graphs/internal.h"

static bool link_streams(const ek_plan *plan, const ek_node *from)
{
    return plan->nodes[from->index].instance.out.kind == EK_STREAM;
}

static void set_level(ek_plan *plan, plan_node *self)
{
    const ek_node *node = self->node;
    int stream = -1, result = -1, from = -1;
    for (int i = 0; i < node->n_inputs; i++) {
        int level = plan->nodes[node->inputs[i]->index].level;
        if (link_streams(plan, node->inputs[i])) {
            stream = EK_MAX(stream, level);
            from = from >= 0 ? from : plan->nodes[node->inputs[i]->index].source;
        } else {
            result = EK_MAX(result, level);
        }
    }
    self->streams = stream >= 0 || node->n_inputs == 0;
    self->source = from >= 0 ? from : node->n_inputs == 0 ? node->index : -1;
    if (!self->streams) {
        self->level = result;
    } else {
        self->level = EK_MAX(EK_MAX(stream, 0), result + 1) + self->sweeps - 1;
    }
}

/* ends_stream: chunks stop flowing here. */
static bool ends_stream(const plan_node *self)
{
    return self->streams && ek__stage_is(self->node, EK_STAGE_FOLD | EK_STAGE_SINK);
}

static ek_status check_used(const ek_plan *plan, const plan_node *self)
{
    bool may_end = ek__stage_is(self->node, EK_STAGE_SINK) ||
                   (ek__stage_is(self->node, EK_STAGE_DOWNLOAD) && !self->streams);
    for (int i = self->node->index + 1; i < plan->n_nodes; i++) {
        may_end = may_end || ek__node_port(plan->nodes[i].node, self->node) >= 0;
    }
    if (!may_end) {
        return EK_FAIL(EK_EINVAL, "node '%s': nothing uses its output; link it on, or leave it out",
                       self->node->name);
    }
    return EK_OK;
}

/* mark_members walks from the ends back to the source. */
static void mark_members(const ek_plan *plan, plan_pass *pass, int level)
{
    for (int i = plan->n_nodes - 1; i >= 0; i--) {
        const plan_node *self = &plan->nodes[i];
        if (ends_stream(self) && ek__node_sweep(self, level) >= 0) {
            pass->member[i] = true;
        }
        if (!pass->member[i]) {
            continue;
        }
        for (int k = 0; k < self->node->n_inputs; k++) {
            if (link_streams(plan, self->node->inputs[k])) {
                pass->member[self->node->inputs[k]->index] = true;
            }
        }
    }
}

static void count_members(const ek_plan *plan, plan_pass *pass, int level)
{
    for (int i = 0; i < plan->n_nodes; i++) {
        if (!pass->member[i]) {
            continue;
        }
        const plan_node *self = &plan->nodes[i];
        if (ek__stage_is(self->node, EK_STAGE_UPLOAD)) {
            pass->uploads++;
        } else if (ek__stage_is(self->node, EK_STAGE_DOWNLOAD)) {
            pass->downloads++;
        } else if (ek__stage_is(self->node, EK_STAGE_SINK)) {
            pass->sinks++;
        } else if (ek__stage_is(self->node, EK_STAGE_DEVICE)) {
            pass->region_nodes++;
            pass->launches += ek__chunk_launches(self, ek__node_sweep(self, level));
        }
    }
}

ek_status ek__plan_passes(ek_plan *plan)
{
    for (int i = 0; i < plan->n_nodes; i++) {
        plan_node *self = &plan->nodes[i];
        set_level(plan, self);
        EK_TRY(check_used(plan, self));
        plan->n_passes = EK_MAX(plan->n_passes, self->level + 1);
    }
    plan->passes = ek_alloc((size_t)plan->n_passes, sizeof(*plan->passes));
    if (plan->passes == NULL) {
        return EK_ENOMEM;
    }
    for (int k = 0; k < plan->n_passes; k++) {
        plan->passes[k].member = ek_alloc((size_t)plan->n_nodes, sizeof(bool));
        plan->passes[k].fresh = ek_alloc((size_t)plan->n_nodes, sizeof(bool));
        if (plan->passes[k].member == NULL || plan->passes[k].fresh == NULL) {
            return EK_ENOMEM;
        }
        mark_members(plan, &plan->passes[k], k);
        count_members(plan, &plan->passes[k], k);
    }
    return EK_OK;
}

static int first_pass(const ek_plan *plan, int node)
{
    int k = 0;
    while (!plan->passes[k].member[node]) {
        k++;
    }
    return k;
}

/* set_fresh marks an upload that copies, or a reader of a source on the host, and the source. */
static void set_fresh(const ek_plan *plan, plan_pass *pass, int k, int i)
{
    const plan_node *self = &plan->nodes[i];
    bool upload = ek__stage_is(self->node, EK_STAGE_UPLOAD);
    if (upload && self->kept && first_pass(plan, i) < k) {
        return;
    }
    pass->fresh[i] = upload;
    pass->copies += upload ? 1 : 0;
    for (int p = 0; p < self->node->n_inputs; p++) {
        int from = self->node->inputs[p]->index;
        if (ek__stage_is(self->node->inputs[p], EK_STAGE_SOURCE) && !pass->fresh[from]) {
            pass->fresh[from] = true;
            pass->reads++;
        }
    }
}

void ek__plan_fresh(ek_plan *plan)
{
    for (int k = 0; k < plan->n_passes; k++) {
        plan_pass *pass = &plan->passes[k];
        for (int i = 0; i < plan->n_nodes; i++) {
            if (pass->member[i]) {
                set_fresh(plan, pass, k, i);
            }
        }
        pass->replay = pass->reads == 0;
    }
}
