/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/checkpoint.h"

#include "core/log.h"
#include <string.h>
#include <unistd.h>

/* ---- blocks ---- */

static ek__state_block *add_block(ek__checkpoint *c, const plan_node *self, ek__block_kind kind,
                                  size_t bytes)
{
    ek__state_block *block = &c->state->blocks[c->state->n_blocks++];
    *block = (ek__state_block){.node = self->node->name, .kind = kind, .bytes = (int64_t)bytes};
    return block;
}

/* A result that an earlier pass made, or began, counts if it is on the host or is still read. */
static bool is_needed(const ek_plan *plan, const plan_node *self, int pass)
{
    return self->instance.out.kind == EK_RESULT && !ek__stage_is(self->node, EK_STAGE_SINK) &&
           self->level - self->sweeps + 1 < pass &&
           (self->output < 0 || self->last_use >= ek__plan_step(plan, pass, 0, false));
}

/* place_block finds out where the block just added is, and gives it its part of the staging. */
static void place_block(ek__checkpoint *c, int node, void *device, void *host, size_t *staging)
{
    int at = c->state->n_blocks - 1;
    c->places[at].node = node;
    c->places[at].device = device;
    c->state->blocks[at].data = host;
    if (device != NULL) {
        c->state->blocks[at].data = c->staging != NULL ? c->staging + *staging : NULL;
        *staging += ek_align((size_t)c->state->blocks[at].bytes);
    }
}

size_t ek__checkpoint_blocks(ek_run_state *run, int pass)
{
    ek__checkpoint *c = run->checkpoint;
    const ek_plan *plan = run->plan;
    size_t staging = 0;
    c->state->n_blocks = 0;
    for (int i = 0; i < plan->n_nodes; i++) {
        const plan_node *self = &plan->nodes[i];
        run_result *result = &run->report->results[i];
        if (plan->passes[pass].member[i] && self->state >= 0) {
            add_block(c, self, EK__BLOCK_STATE, self->instance.needs.state_bytes);
            place_block(c, i, run->exec[i].state, NULL, &staging);
        }
        if (is_needed(plan, self, pass)) {
            ek__state_block *block =
                add_block(c, self, EK__BLOCK_RESULT, ek__plan_result_bytes(&self->instance.out));
            void *device = self->output >= 0 ? result->data.array[0] : NULL;
            memcpy(block->extent, result->data.extent, sizeof block->extent);
            place_block(c, i, device, result->block, &staging);
        }
    }
    return staging;
}

ek_status ek__checkpoint_copy(ek_run_state *run, bool to_device)
{
    ek__checkpoint *c = run->checkpoint;
    for (int b = 0; b < c->state->n_blocks; b++) {
        const ek__state_block *block = &c->state->blocks[b];
        if (c->places[b].device != NULL) {
            void *to = to_device ? c->places[b].device : block->data;
            const void *from = to_device ? block->data : c->places[b].device;
            EK_TRY(ek_queue_copy(run->compute, to, from, (size_t)block->bytes));
        }
    }
    return EK_OK;
}

/* ---- cuts ---- */

/* write_cut runs on the io thread. */
static void write_cut(ek_task *task)
{
    ek_run_state *run = task->user;
    ek__checkpoint *c = run->checkpoint;
    c->error.status = EK_OK;
    if (ek__state_write(c->state, &c->identity, &c->head, run->options.checkpoint) != EK_OK) {
        c->error = *ek_error_last();
    }
    ek_loop_post(run->loop, &run->checkpoint_written);
}

static void cut_copied(ek_task *task)
{
    ek_run_state *run = task->user;
    if (!run->stopping) {
        ek_io_post(&run->checkpoint->write);
    }
}

static void cut_notify(void *user)
{
    ek_run_state *run = user;
    ek_loop_post(run->loop, &run->checkpoint->copied);
}

ek_status ek__checkpoint_step(const ek_run_state *run, int64_t chunk, int64_t *step)
{
    plan_node *source = &run->plan->nodes[run->plan->source];
    ek_chunk_header header = {0};
    *step = run->checkpoint->state->n_steps;
    if (chunk < run->plan->n_chunks) {
        EK_TRY(source->node->stage->source->header(&source->instance, chunk, &header));
        *step = header.row0;
    }
    return EK_OK;
}

ek_status ek__checkpoint_cut(ek_run_state *run, int64_t chunk)
{
    ek__checkpoint *c = run->checkpoint;
    c->due = false;
    c->state->pass = run->pass;
    EK_TRY(ek__checkpoint_step(run, chunk, &c->state->step));
    ek__checkpoint_blocks(run, run->pass);
    EK_TRY(ek__checkpoint_copy(run, false));
    c->busy = true;
    return ek_queue_notify(run->compute, cut_notify, run);
}

ek_status ek__checkpoint_submitted(ek_run_state *run, int64_t chunk)
{
    const ek__checkpoint *c = run->checkpoint;
    return c != NULL && c->due && !c->busy ? ek__checkpoint_cut(run, chunk) : EK_OK;
}

void ek__checkpoint_due(ek_run_state *run)
{
    run->checkpoint->due = true;
}

bool ek__checkpoint_busy(const ek_run_state *run)
{
    return run->checkpoint != NULL && run->checkpoint->busy;
}

bool ek__checkpoint_kept(const ek_run_state *run)
{
    return run->checkpoint != NULL && run->checkpoint->kept;
}

void ek__checkpoint_written(ek_run_state *run)
{
    ek__checkpoint *c = run->checkpoint;
    c->busy = false;
    if (c->error.status != EK_OK) {
        ek_log(EK_LOG_WARNING, "%s; the run goes on without this checkpoint", c->error.message);
    }
    c->kept = c->kept || c->error.status == EK_OK;
}

ek_status ek__checkpoint_finish(ek_run_state *run)
{
    ek__checkpoint *c = run->checkpoint;
    if (c == NULL || run->options.state == NULL) {
        return EK_OK;
    }
    c->state->pass = run->pass;
    c->state->step = c->state->n_steps;
    ek__checkpoint_blocks(run, run->pass);
    return ek__checkpoint_copy(run, false);
}

ek_status ek__checkpoint_close(ek_run_state *run)
{
    ek__checkpoint *c = run->checkpoint;
    return c == NULL || run->options.state == NULL
               ? EK_OK
               : ek__state_write(c->state, &c->identity, &c->head, run->options.state);
}

void ek__checkpoint_remove(ek_run_state *run)
{
    if (run->checkpoint != NULL && run->options.checkpoint != NULL) {
        unlink(run->options.checkpoint);
        unlink(run->checkpoint->part);
    }
}

/* ---- making ---- */

static ek_status check_options(const ek_run_state *run)
{
    const ek_plan *plan = run->plan;
    if (run->options.resume && run->options.checkpoint == NULL) {
        return EK_FAIL(EK_EINVAL, "to resume, name the checkpoint to resume from");
    }
    if (run->options.state != NULL) {
        EK_TRY(ek__plan_can_continue(plan));
        EK_TRY(ek__state_replaceable(run->options.state));
    }
    if (run->options.state != NULL && run->options.checkpoint != NULL &&
        strcmp(run->options.state, run->options.checkpoint) == 0) {
        return EK_FAIL(EK_EINVAL, "the checkpoint and the finished state are both to be %s",
                       run->options.state);
    }
    for (int i = 0; run->options.checkpoint != NULL && i < plan->n_nodes; i++) {
        const plan_node *self = &plan->nodes[i];
        if (ek__stage_is(self->node, EK_STAGE_SINK) && self->streams) {
            return EK_FAIL(EK_ENOTSUP,
                           "node '%s' takes a stream step by step, and what it has taken would be "
                           "lost with the run: leave the checkpoint out, or write results only",
                           self->node->name);
        }
    }
    return EK_OK;
}

static ek_status take_memory(ek_run_state *run)
{
    ek__checkpoint *c = run->checkpoint;
    size_t n = 2 * (size_t)run->plan->n_nodes; /* accumulators and result */
    c->state->blocks = ek_alloc(n, sizeof *c->state->blocks);
    c->places = ek_alloc(n, sizeof *c->places);
    if (c->state->blocks == NULL || c->places == NULL) {
        return EK_ENOMEM;
    }
    for (int pass = 0; pass < run->plan->n_passes; pass++) {
        c->staging_bytes = EK_MAX(c->staging_bytes, ek__checkpoint_blocks(run, pass));
    }
    void *staging = NULL;
    EK_TRY(ek_mem_alloc(run->plan->backend, EK_SPACE_PINNED, c->staging_bytes, &staging));
    c->staging = staging;
    ek__state_identity(c->state, &c->identity);
    ek__pack_reserve(&c->head, c->identity.n + n * (sizeof(ek__state_block) + 256));
    return c->identity.failed || c->head.failed ? EK_ENOMEM : EK_OK;
}

ek_status ek__checkpoint_create(ek_run_state *run)
{
    const ek_run_options *options = &run->options;
    const char *earlier = run->plan->options.from_state;
    if (options->checkpoint == NULL && options->state == NULL && earlier == NULL &&
        !options->resume) {
        return EK_OK;
    }
    EK_TRY(check_options(run));
    ek__checkpoint *c = ek_alloc(1, sizeof *c);
    if (c == NULL) {
        return EK_ENOMEM;
    }
    run->checkpoint = c;
    c->copied = (ek_task){.run = cut_copied, .user = run};
    c->write = (ek_task){.run = write_cut, .user = run};
    EK_TRY(ek__state_of_plan(&c->state, run->plan));
    EK_TRY(take_memory(run));
    if (options->checkpoint != NULL) {
        EK_TRY(ek__checkpoint_find(run));
    }
    if (c->from == NULL && earlier != NULL) {
        c->from_path = earlier;
        EK_TRY(ek__state_open(&c->from, earlier));
        if (c->from->head_crc != run->plan->earlier_crc) {
            return EK_FAIL(EK_EINVAL, "%s has changed since the plan was made", earlier);
        }
    }
    return EK_OK;
}

void ek__checkpoint_destroy(ek_run_state *run)
{
    ek__checkpoint *c = run->checkpoint;
    if (c == NULL) {
        return;
    }
    if (c->state != NULL) {
        c->state->n_blocks = 0; /* their names are the nodes' own */
    }
    ek__state_destroy(c->state);
    ek__state_destroy(c->from);
    ek_mem_free(run->plan->backend, EK_SPACE_PINNED, c->staging);
    ek_free(c->identity.bytes);
    ek_free(c->head.bytes);
    ek_free(c->places);
    ek_free(c->part);
    ek_free(c);
    run->checkpoint = NULL;
}
