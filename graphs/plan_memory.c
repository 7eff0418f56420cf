/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a plan: which buffer lives when, what it adds up to, and whether the stored chunks may
 * stay in device memory for a later pass. Nothing is allocated here. */
#include "graphs/internal.h"

#include <stdio.h>

#define BUDGET_PERCENT 90

size_t ek__plan_result_bytes(const ek_spec *spec)
{
    size_t bytes = 0;
    for (int i = 0; i < spec->n_arrays; i++) {
        bytes += ek_align(ek_array_bytes(&spec->arrays[i], spec->extent));
    }
    return bytes;
}

static int first_pass(const ek_plan *plan, int node)
{
    for (int k = 0; k < plan->n_passes; k++) {
        if (plan->passes[k].member[node]) {
            return k;
        }
    }
    return -1;
}

/* set_last_use finds the last step that reads the node's output. A result that a streaming node
 * uses is read until the chunks of that pass end. */
static void set_last_use(const ek_plan *plan, plan_node *self)
{
    int own = self->node->index;
    self->last_use = ek__plan_step(plan, self->level, own, !self->streams);
    bool stream = self->instance.out.kind == EK_STREAM;
    for (int j = own + 1; j < plan->n_nodes; j++) {
        const plan_node *user = &plan->nodes[j];
        if (ek__node_port(user->node, self->node) < 0) {
            continue;
        }
        if (!user->streams) {
            self->last_use = EK_MAX(self->last_use, ek__plan_step(plan, user->level, j, true));
        }
        for (int k = 0; user->streams && k < plan->n_passes; k++) {
            if (plan->passes[k].member[j]) {
                int step = ek__plan_step(plan, k, stream ? j : plan->n_nodes - 1, false);
                self->last_use = EK_MAX(self->last_use, step);
            }
        }
        if (stream && ek__stage_is(user->node, EK_STAGE_DOWNLOAD)) {
            self->slot_output = true;
        }
    }
}

/* add_device_buffers plans state, scratch and output of a device node. */
static ek_status add_device_buffers(ek_plan *plan, plan_node *self)
{
    int own = self->node->index;
    const ek_needs *needs = &self->instance.needs;
    const ek_spec *out = &self->instance.out;
    bool fold = ek__stage_is(self->node, EK_STAGE_FOLD);
    int pass = self->streams ? first_pass(plan, own) : self->level;
    int first = ek__plan_step(plan, pass, self->streams ? 0 : own, !self->streams);
    int last = fold || !self->streams ? ek__plan_step(plan, self->level, own, true)
                                      : ek__plan_step(plan, plan->n_passes - 1, own, false);
    if (needs->state_bytes > 0) {
        EK_TRY(ek_arena_add(&plan->device, needs->state_bytes, first, last, &self->state));
    }
    if (needs->scratch_bytes > 0) {
        EK_TRY(ek_arena_add(&plan->device, needs->scratch_bytes, first, last, &self->scratch));
    }
    if (out->kind == EK_RESULT) {
        int born = ek__plan_step(plan, self->level - self->sweeps + 1, own, true);
        return ek_arena_add(&plan->device, ek__plan_result_bytes(out), born, self->last_use,
                            &self->output);
    }
    if (self->slot_output) {
        plan->slot_output_bytes += (size_t)plan->n_slots * ek__plan_stream_bytes(out);
        return EK_OK;
    }
    return ek_arena_add(&plan->device, ek__plan_stream_bytes(out),
                        ek__plan_step(plan, pass, own, false), self->last_use, &self->output);
}

/* add_node_memory adds one node's share to the plan. */
static ek_status add_node_memory(ek_plan *plan, plan_node *self)
{
    const ek_spec *out = &self->instance.out;
    size_t slots = (size_t)plan->n_slots;
    set_last_use(plan, self);
    plan->status_bytes += ek_align(self->instance.needs.status_bytes);
    if (ek__stage_is(self->node, EK_STAGE_SOURCE)) {
        plan->ring_bytes += slots * ek__plan_stream_bytes(out);
    } else if (ek__stage_is(self->node, EK_STAGE_UPLOAD)) {
        plan->staging_bytes += slots * ek__plan_stream_bytes(out);
    } else if (ek__stage_is(self->node, EK_STAGE_DOWNLOAD)) {
        if (out->kind == EK_RESULT) {
            plan->result_bytes += ek__plan_result_bytes(out);
        } else {
            plan->ring_bytes += slots * ek__plan_stream_bytes(out);
        }
    } else if (ek__stage_is(self->node, EK_STAGE_DEVICE)) {
        return add_device_buffers(plan, self);
    }
    return EK_OK;
}

/* needed_again: an upload's chunks are used in more than one pass. */
static bool needed_again(const ek_plan *plan, int node)
{
    int n = 0;
    for (int k = 0; k < plan->n_passes; k++) {
        n += plan->passes[k].member[node] ? 1 : 0;
    }
    return n > 1;
}

/* choose_residence keeps the chunks of uploads that a later pass needs, one upload after another as
 * long as they fit. */
static void choose_residence(ek_plan *plan, size_t budget)
{
    plan->device_bytes =
        plan->device.bytes + plan->slot_output_bytes + plan->header_bytes + plan->staging_bytes;
    for (int i = 0; i < plan->n_nodes && !plan->options.reread; i++) {
        plan_node *self = &plan->nodes[i];
        if (!ek__stage_is(self->node, EK_STAGE_UPLOAD) || !needed_again(plan, i)) {
            continue;
        }
        size_t chunk = ek__plan_stream_bytes(&self->instance.out);
        size_t staging = (size_t)plan->n_slots * chunk, all = (size_t)plan->n_chunks * chunk;
        if (plan->device_bytes - staging + all <= budget) {
            self->kept = plan->resident = true;
            plan->resident_bytes += all;
            plan->staging_bytes -= staging;
            plan->device_bytes += all - staging;
        }
    }
    ek__plan_fresh(plan);
}

/* A kind of memory that does not fit. */
typedef struct shortage {
    const char *space;
    size_t needed, budget;
    size_t per_slot; /* the part of it that is there once for each slot */
} shortage;

/* refuse says what the plan lacks and with how many slots it would fit, if with any. */
static ek_status refuse(const ek_plan *plan, shortage lack)
{
    char advice[128] = "Fewer slots do not make it fit; smaller chunks or fewer modes may.";
    size_t others = lack.needed - lack.per_slot * (size_t)plan->n_slots;
    if (lack.budget >= others + lack.per_slot && lack.per_slot > 0) {
        snprintf(advice, sizeof(advice), "With slots=%zu it fits; so it may with smaller chunks.",
                 (lack.budget - others) / lack.per_slot);
    }
    char *table = ek__plan_memory_text(plan);
    ek_status rc = EK_FAIL(
        EK_EBUDGET,
        "%s memory: the plan needs %.1f MB and the budget is %.1f MB. %s Now it has %d "
        "slot%s and chunks of %.1f MB.\n%s",
        lack.space, (double)lack.needed / 1e6, (double)lack.budget / 1e6, advice, plan->n_slots,
        plan->n_slots == 1 ? "" : "s", (double)plan->chunk_bytes / 1e6, table != NULL ? table : "");
    ek_free(table);
    return rc;
}

/* check_budgets refuses a plan that does not fit; then no chunks are kept on the device. */
static ek_status check_budgets(const ek_plan *plan, size_t device_budget)
{
    size_t slots = (size_t)plan->n_slots, pinned_budget = plan->options.pinned_bytes;
    if (plan->device_bytes > device_budget) {
        size_t rings = plan->staging_bytes + plan->slot_output_bytes + plan->header_bytes;
        return refuse(plan, (shortage){"device", plan->device_bytes, device_budget, rings / slots});
    }
    if (pinned_budget != 0 && plan->pinned_bytes > pinned_budget) {
        size_t rings = plan->ring_bytes + plan->header_bytes;
        return refuse(plan, (shortage){"pinned", plan->pinned_bytes, pinned_budget, rings / slots});
    }
    return EK_OK;
}

ek_status ek__plan_memory(ek_plan *plan)
{
    for (int i = 0; i < plan->n_nodes; i++) {
        EK_TRY(add_node_memory(plan, &plan->nodes[i]));
    }
    ek_arena_layout(&plan->device);
    plan->header_bytes =
        (size_t)plan->n_slots * (size_t)plan->n_nodes * ek_align(sizeof(ek_chunk_header));
    plan->pinned_bytes =
        plan->ring_bytes + plan->result_bytes + plan->status_bytes + plan->header_bytes;

    size_t budget = plan->options.device_bytes;
    if (budget == 0) {
        budget = plan->props.free_bytes / 100 * BUDGET_PERCENT;
    }
    choose_residence(plan, budget);
    return check_budgets(plan, budget);
}
