/* SPDX-License-Identifier: Apache-2.0 */
/* The executor: one event loop drives slots (run_slots.c) through passes (run_passes.c). The first
 * error stops new work, and the loop ends when nothing is in flight. */
#include "graphs/run.h"

#include "graphs/checkpoint.h"

#include <inttypes.h>

#define WATCHDOG_MS  100
#define PROGRESS_MS  200
#define CHECKPOINT_S 30

void ek__run_fail(ek_run_state *run)
{
    if (run->error.status == EK_OK) {
        run->error = *ek_error_last();
    }
    run->stopping = true;
}

/* ---- timers and signals ---- */

/* watchdog finds slots whose completion will never be told, since the device has failed. */
static void watchdog(void *user)
{
    ek_run_state *run = user;
    bool done = false;
    for (int s = 0; s < run->plan->n_slots; s++) {
        run_slot *slot = &run->slots[s];
        if (slot->state == SLOT_ON_DEVICE && ek_event_query(slot->computed, &done) != EK_OK) {
            ek__slot_computed(slot);
        }
    }
    if (run->closing && ek_event_query(run->closing_stop, &done) != EK_OK) {
        ek__run_fail(run);
        run->closing = false;
        ek_loop_stop(run->loop);
    }
}

/* step_bytes returns the stored bytes of a time step, of all sources. */
static double step_bytes(const ek_plan *plan)
{
    double bytes = 0;
    for (int s = 0; s < plan->n_sources; s++) {
        const ek_field *field = plan->nodes[plan->sources[s]].instance.out.field;
        bytes += (double)field->n_cells * (double)field->value_bytes;
    }
    return bytes;
}

/* count_slots says what the chunks in flight are at; one that is loaded waits for the device. */
static void count_slots(const ek_run_state *run, ek_progress *report)
{
    for (int s = 0; run->slots != NULL && s < run->plan->n_slots; s++) {
        slot_state state = run->slots[s].state;
        report->loading += state == SLOT_LOADING ? 1 : 0;
        report->computing += state == SLOT_LOADED || state == SLOT_ON_DEVICE ? 1 : 0;
        report->writing += state == SLOT_WRITING ? 1 : 0;
    }
}

static void progress(void *user)
{
    ek_run_state *run = user;
    ek_progress report = {
        .pass = run->pass,
        .n_passes = run->plan->n_passes,
        .chunks_done = run->chunks_done,
        .n_chunks = run->plan->n_chunks,
        .steps_done = run->steps_done,
        .n_steps = ek_plan_field(run->plan)->n_time,
        .seconds = ek__record_now() - run->began,
        .step_bytes = step_bytes(run->plan),
    };
    count_slots(run, &report);
    run->options.on_progress(&report, run->options.user);
}

static void checkpoint_due(void *user)
{
    ek__checkpoint_due(user);
}

void ek__run_cancel(ek_run_state *run)
{
    bool kept = ek__checkpoint_kept(run);
    EK_FAIL(EK_ECANCELED,
            "stopped on request in pass %d of %d, after %" PRId64 " of %" PRId64
            " chunks; no output was written%s%s",
            run->pass + 1, run->plan->n_passes, run->chunks_done, run->plan->n_chunks,
            kept ? "; to go on, resume from " : "", kept ? run->options.checkpoint : "");
    ek__run_fail(run);
}

/* The first interrupt lets a run with checkpoints leave one; the second does not wait. */
static void interrupted(void *user)
{
    ek_run_state *run = user;
    bool last = run->closing && run->pass + 1 == run->plan->n_passes;
    if (run->options.checkpoint != NULL && !run->draining && !last) {
        run->draining = true;
        ek__run_pump(run);
        return;
    }
    ek__run_cancel(run);
    if (run->in_flight == 0 && !run->closing) {
        ek_loop_stop(run->loop);
    }
}

/* ---- opening, running, closing ---- */

static ek_status open_node(ek_run_state *run, int i)
{
    ek_instance *self = &run->plan->nodes[i].instance;
    const ek_stage *stage = self->stage;
    ek_status rc = EK_OK;
    if (stage->source != NULL && stage->source->open != NULL) {
        rc = stage->source->open(self, run->plan->n_threads);
    } else if (stage->sink != NULL) {
        run->sink_open[i] = true;
        rc = stage->sink->open(self);
    }
    return rc == EK_OK ? EK_OK : ek_error_prefix("%s", self->name);
}

/* put_earlier gives sinks the results of passes that were complete when a resumed run stopped. */
static ek_status put_earlier(ek_run_state *run)
{
    for (int i = 0; i < run->plan->n_nodes; i++) {
        const plan_node *self = &run->plan->nodes[i];
        if (ek__stage_is(self->node, EK_STAGE_SINK) && !self->streams && self->level < run->pass) {
            EK_TRY(ek__run_put(run, NULL, i));
        }
    }
    return EK_OK;
}

/* open_all opens sources and then sinks: inputs come first in a pipeline. */
static ek_status open_all(void *user)
{
    ek_run_state *run = user;
    for (int i = 0; i < run->plan->n_nodes; i++) {
        EK_TRY(open_node(run, i));
    }
    EK_TRY(ek__checkpoint_load(run));
    return put_earlier(run);
}

/* close_all writes the finished state, ends sinks (commits them if the run went well), closes the
 * sources' files and removes the checkpoint. */
static ek_status close_all(void *user)
{
    ek_run_state *run = user;
    if (run->error.status == EK_OK && ek__checkpoint_close(run) != EK_OK) {
        ek__run_fail(run);
    }
    for (int i = 0; i < run->plan->n_nodes; i++) {
        ek_instance *self = &run->plan->nodes[i].instance;
        bool commit = run->error.status == EK_OK;
        if (self->stage->source != NULL) {
            self->stage->source->close(self);
        } else if (run->sink_open[i] && self->stage->sink->close(self, commit) != EK_OK) {
            ek_error_prefix("%s", self->name);
            ek__run_fail(run);
        }
    }
    if (run->error.status == EK_OK) {
        ek__checkpoint_remove(run);
    }
    return EK_OK;
}

static ek_status start_timers(ek_run_state *run)
{
    EK_TRY(ek_loop_every(run->loop, WATCHDOG_MS, watchdog, run));
    if (run->options.on_progress != NULL) {
        unsigned ms = run->options.progress_ms != 0 ? run->options.progress_ms : PROGRESS_MS;
        EK_TRY(ek_loop_every(run->loop, ms, progress, run));
    }
    if (run->options.checkpoint != NULL) {
        double s = run->options.checkpoint_s > 0 ? run->options.checkpoint_s : CHECKPOINT_S;
        EK_TRY(ek_loop_every(run->loop, (unsigned)EK_MIN(1e3 * s, 1e9), checkpoint_due, run));
    }
    if (run->options.handle_interrupt) {
        EK_TRY(ek_loop_on_interrupt(run->loop, interrupted, run));
    }
    return EK_OK;
}

static ek_status run_loop(ek_run_state *run)
{
    for (int s = 0; s < run->plan->n_slots; s++) {
        ek__slot_init_tasks(&run->slots[s]);
    }
    ek__run_init_tasks(run);
    EK_TRY(start_timers(run));
    ek_loop_post(run->loop, &run->start);
    return ek_loop_run(run->loop);
}

ek_status ek_run(ek_plan *plan, const ek_run_options *options, ek_report **report)
{
    ek_run_state run = {.plan = plan, .began = ek__record_now()};
    if (report != NULL) {
        *report = NULL;
    }
    if (options != NULL) {
        run.options = *options;
    }
    ek_status rc = ek__run_setup(&run);
    if (rc == EK_OK) {
        rc = ek_io_call(open_all, &run);
    }
    if (rc == EK_OK) {
        rc = run_loop(&run);
    }
    if (rc != EK_OK) {
        ek__run_fail(&run);
    }
    if (run.sink_open != NULL && ek_io_call(close_all, &run) != EK_OK) {
        ek__run_fail(&run);
    }
    if (run.error.status == EK_OK && report != NULL) {
        if (run.options.on_progress != NULL) {
            progress(&run);
        }
        run.report->seconds = ek__record_now() - run.began;
        ek__run_ended(&run);
        run.report->counts.chunks = plan->n_chunks;
        *report = run.report;
        run.report = NULL;
    }
    ek__run_release(&run);
    return run.error.status == EK_OK ? EK_OK : ek_error_set(&run.error);
}
