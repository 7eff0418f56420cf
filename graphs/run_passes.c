/* SPDX-License-Identifier: Apache-2.0 */
/* The passes of a run: chunks are started while there are free slots, which is the back-pressure;
 * after the last one the folds end, and sinks take their results; then the next pass begins. */
#include "graphs/checkpoint.h"

static void closing_written(ek_task *task)
{
    ek_run_state *run = task->user;
    run->closing = false;
    ek__run_pass_ended(run);
    if (run->closing_error.status != EK_OK) {
        ek_error_set(&run->closing_error);
        ek__run_fail(run);
    }
    if (run->stopping || run->pass + 1 == run->plan->n_passes) {
        ek_loop_stop(run->loop);
        return;
    }
    run->pass++;
    ek__run_start_pass(run);
}

/* closing_write runs on the io thread: sinks that take the pass's results. */
static void closing_write(ek_task *task)
{
    ek_run_state *run = task->user;
    double began = ek__record_now();
    for (int i = 0; i < run->plan->n_nodes && run->closing_error.status == EK_OK; i++) {
        const plan_node *self = &run->plan->nodes[i];
        bool sink = ek__stage_is(self->node, EK_STAGE_SINK);
        if (sink && !self->streams && self->level == run->pass &&
            ek__run_put(run, NULL, i) != EK_OK) {
            run->closing_error = *ek_error_last();
        }
    }
    run->report->record->write_seconds += ek__record_now() - began;
    ek_loop_post(run->loop, &run->closing_written);
}

static void closing_done(ek_task *task)
{
    ek_run_state *run = task->user;
    if (!run->closing) {
        return; /* the watchdog was faster */
    }
    if (ek__run_collect(run) != EK_OK) {
        ek__run_fail(run);
    }
    if (run->stopping) {
        ek_loop_stop(run->loop);
    } else {
        ek_io_post(&run->closing_io);
    }
}

static void close_pass(ek_run_state *run)
{
    run->closing = true;
    bool last = run->pass + 1 == run->plan->n_passes;
    if ((last && ek__checkpoint_finish(run) != EK_OK) || ek__run_submit_closing(run) != EK_OK) {
        ek__run_fail(run);
        ek_loop_stop(run->loop);
    }
}

/* drained ends an interrupted run, whose chunks have all been computed: a checkpoint, then the end.
 */
static void drained(ek_run_state *run)
{
    if (run->last_cut) {
        ek__run_cancel(run);
        ek_loop_stop(run->loop);
        return;
    }
    run->last_cut = true;
    if (ek__checkpoint_cut(run, run->next_chunk) != EK_OK) {
        ek__run_fail(run);
        ek_loop_stop(run->loop);
    } /* else checkpoint_written comes back here */
}

static void checkpoint_written(ek_task *task)
{
    ek_run_state *run = task->user;
    ek__checkpoint_written(run);
    ek__run_pump(run);
}

void ek__run_pump(ek_run_state *run)
{
    for (int s = 0; s < run->plan->n_slots && !run->stopping && !run->draining; s++) {
        if (run->slots[s].state == SLOT_FREE && run->next_chunk < run->plan->n_chunks) {
            ek__slot_start(&run->slots[s], run->next_chunk++);
        }
    }
    if (run->in_flight > 0 || run->closing) {
        return;
    }
    if (run->stopping) {
        ek_loop_stop(run->loop);
    } else if (ek__checkpoint_busy(run)) {
        return; /* checkpoint_written comes back here */
    } else if (run->draining) {
        drained(run);
    } else if (run->next_chunk == run->plan->n_chunks) {
        close_pass(run);
    }
}

void ek__run_start_pass(ek_run_state *run)
{
    run->next_chunk = run->next_submit = run->chunks_done = run->steps_done = 0;
    ek__run_pass_began(run);
    if (ek__run_begin_pass(run) != EK_OK) {
        ek__run_fail(run);
    }
    ek__run_pump(run);
}

/* start sets the first reads going and prepares the device meanwhile. Their completion is handled
 * only after this returns, so nothing of a chunk is on the device yet. A run that goes on from a
 * state may have nothing to read. */
static void start(ek_task *task)
{
    ek_run_state *run = task->user;
    run->report->record->setup_seconds = ek__record_now() - run->began;
    ek__run_pass_began(run);
    bool reads = run->next_chunk < run->plan->n_chunks;
    if (reads) {
        ek__run_pump(run);
    }
    if (ek__run_prepare(run) != EK_OK || ek__run_begin_pass(run) != EK_OK ||
        ek__checkpoint_restore(run) != EK_OK) {
        ek__run_fail(run);
    }
    run->report->times.prepare = ek__record_now() - run->began;
    if (!reads) {
        ek__run_pump(run);
    }
}

void ek__run_init_tasks(ek_run_state *run)
{
    ek__task_set(&run->start, start, run);
    ek__task_set(&run->closing_done, closing_done, run);
    ek__task_set(&run->closing_io, closing_write, run);
    ek__task_set(&run->closing_written, closing_written, run);
    ek__task_set(&run->checkpoint_written, checkpoint_written, run);
}
