/* SPDX-License-Identifier: Apache-2.0 */
/* A slot's way round: FREE -> LOADING -> LOADED -> ON_DEVICE -> WRITING -> FREE. Loading is the
 * turn of pool threads, or of the io thread, for all sources of the pass at once; then the device
 * has the chunk; then the io thread. */
#include "core/trace.h"
#include "graphs/checkpoint.h"

#include <inttypes.h>

static void free_slot(run_slot *slot)
{
    ek_run_state *run = slot->run;
    ek__run_enter(slot, SLOT_FREE);
    run->in_flight--;
    if (!run->stopping) {
        ek__record_chunk(run->report->record, run->pass, slot->chunk, slot->clock);
        run->chunks_done++;
        run->steps_done += slot->rows;
    }
    ek__run_pump(run);
}

/* ---- other threads' part of a slot ---- */

static ek_status name_chunk(const run_load *load)
{
    return ek_error_prefix("%s, chunk %" PRId64, load->source->node->name, load->slot->chunk);
}

/* load_job runs on a pool thread, beside other jobs. */
static ek_status load_job(void *user, int job)
{
    run_load *load = user;
    ek_instance *source = &load->source->instance;
    ek_trace_push(source->name, load->slot->chunk);
    ek_status rc = source->stage->source->job(source, load->slot->chunk, job, load->dst);
    ek_trace_pop();
    return rc == EK_OK ? EK_OK : name_chunk(load);
}

static void load_read(ek_task *task)
{
    run_load *load = task->user;
    ek_instance *source = &load->source->instance;
    ek_trace_push(source->name, load->slot->chunk);
    if (source->stage->source->read(source, load->slot->chunk, load->dst) != EK_OK) {
        name_chunk(load);
        load->error = *ek_error_last();
    }
    ek_trace_pop();
    ek_loop_post(load->slot->run->loop, &load->done);
}

ek_status ek__run_put(ek_run_state *run, run_slot *slot, int i)
{
    plan_node *sink = &run->plan->nodes[i];
    const ek_data *in[EK_STAGE_INPUTS] = {0};
    ek__run_inputs(run, slot, i, in);
    ek_trace_push(sink->node->name, slot != NULL ? slot->chunk : -1);
    ek_status rc = sink->node->stage->sink->put(&sink->instance, in[0]);
    ek_trace_pop();
    return rc == EK_OK ? EK_OK : ek_error_prefix("%s", sink->node->name);
}

static void slot_write(ek_task *task)
{
    run_slot *slot = task->user;
    ek_run_state *run = slot->run;
    double began = ek__record_now();
    slot->error.status = EK_OK;
    for (int i = 0; i < run->plan->n_nodes && slot->error.status == EK_OK; i++) {
        bool sink = ek__stage_is(run->plan->nodes[i].node, EK_STAGE_SINK);
        if (sink && ek__run_pass(run)->member[i] && ek__run_put(run, slot, i) != EK_OK) {
            ek_error_prefix("chunk %" PRId64, slot->chunk);
            slot->error = *ek_error_last();
        }
    }
    slot->clock->write = ek__record_now() - began;
    ek_loop_post(run->loop, &slot->done);
}

/* ---- the loop's part of a slot ---- */

static void fail_chunk(run_slot *slot)
{
    ek_error_prefix("pass %d, chunk %" PRId64, slot->run->pass + 1, slot->chunk);
    ek__run_fail(slot->run);
}

static void slot_written(run_slot *slot)
{
    if (slot->error.status != EK_OK) {
        ek_error_set(&slot->error);
        ek__run_fail(slot->run);
    }
    free_slot(slot);
}

void ek__slot_computed(run_slot *slot)
{
    ek_run_state *run = slot->run;
    bool done = false;
    ek_event *last = ek__run_pass(run)->downloads > 0 ? slot->downloaded : slot->computed;
    if (ek_event_query(last, &done) != EK_OK || ek__run_account(slot) != EK_OK) {
        fail_chunk(slot);
    }
    if (run->stopping || ek__run_pass(run)->sinks == 0) {
        free_slot(slot);
        return;
    }
    ek__run_enter(slot, SLOT_WRITING);
    ek_io_post(&slot->io);
}

static void submit_slot(run_slot *slot)
{
    ek_run_state *run = slot->run;
    ek__run_enter(slot, SLOT_ON_DEVICE);
    if (run->stopping) {
        free_slot(slot);
    } else if (ek__run_submit(slot) != EK_OK ||
               ek__checkpoint_submitted(run, slot->chunk + 1) != EK_OK) {
        fail_chunk(slot);
        free_slot(slot);
    }
}

/* next_in_order gives loaded chunks to the device in order of time: crews may end out of order, and
 * folds see rows as they come. */
static void next_in_order(ek_run_state *run)
{
    for (bool found = true; found;) {
        found = false;
        for (int s = 0; s < run->plan->n_slots; s++) {
            run_slot *slot = &run->slots[s];
            bool due = slot->chunk == run->next_submit || run->stopping;
            if (slot->state == SLOT_LOADED && due) {
                run->next_submit++;
                found = true;
                submit_slot(slot);
            }
        }
    }
}

/* slot_done runs on the loop whenever the device's or the sinks' turn with the slot ends. */
static void slot_done(ek_task *task)
{
    run_slot *slot = task->user;
    if (slot->state == SLOT_ON_DEVICE) {
        ek__slot_computed(slot);
    } else if (slot->state == SLOT_WRITING) {
        slot_written(slot);
    } /* else the watchdog was faster */
}

/* load_done runs on the loop when one source has put its values into the slot; the slot is LOADED
 * when all have. */
static void load_done(ek_task *task)
{
    run_load *load = task->user;
    ek_run_state *run = load->slot->run;
    if (load->jobs > 0 ? ek_crew_status(load->crew) != EK_OK
                       : load->error.status != EK_OK && ek_error_set(&load->error) != EK_OK) {
        ek__run_fail(run);
    }
    if (--load->slot->pending > 0) {
        return;
    }
    if (--run->loading == 0) {
        run->report->times.read += ek__record_now() - run->loading_began;
    }
    ek__run_enter(load->slot, SLOT_LOADED);
    next_in_order(run);
}

static void start_load(run_load *load)
{
    ek_instance *source = &load->source->instance;
    load->error.status = EK_OK;
    load->jobs = load->crew != NULL ? source->stage->source->jobs(source, load->slot->chunk) : 0;
    if (load->jobs > 0) {
        ek_crew_start(load->crew, load->jobs, load_job, load, &load->done);
    } else {
        ek_io_post(&load->io);
    }
}

void ek__slot_start(run_slot *slot, int64_t chunk)
{
    ek_run_state *run = slot->run;
    const int *sources = run->plan->sources;
    run->in_flight++;
    slot->chunk = chunk;
    slot->pending = 0;
    for (int k = 0; k < run->plan->n_sources; k++) {
        slot->pending += ek__run_fresh(run, sources[k]) ? 1 : 0;
    }
    if (slot->pending == 0) {
        submit_slot(slot);
        return;
    }
    ek__run_enter(slot, SLOT_LOADING);
    if (run->loading++ == 0) {
        run->loading_began = ek__record_now();
    }
    for (int k = 0; k < run->plan->n_sources; k++) {
        if (ek__run_fresh(run, sources[k])) {
            start_load(&slot->loads[k]);
        }
    }
}

void ek__slot_init_tasks(run_slot *slot)
{
    ek__task_set(&slot->done, slot_done, slot);
    ek__task_set(&slot->io, slot_write, slot);
    for (int k = 0; k < slot->run->plan->n_sources; k++) {
        ek__task_set(&slot->loads[k].io, load_read, &slot->loads[k]);
        ek__task_set(&slot->loads[k].done, load_done, &slot->loads[k]);
    }
}
