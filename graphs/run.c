/* SPDX-License-Identifier: Apache-2.0 */
/* The executor. One event loop drives slots FREE -> LOADING -> LOADED -> ON_DEVICE -> WRITING ->
 * FREE. Loading is the pool threads' turn, or the io thread's; then the device's; then the io
 * thread's. New chunks start only in free slots, which is the back-pressure. The first error stops
 * new work, and the loop ends when nothing is in flight. */
#include "graphs/run.h"

#include "core/trace.h"
#include "graphs/run_internal.h"

#include <inttypes.h>

#define WATCHDOG_MS 100
#define PROGRESS_MS 200

static void pump(ek_run_state *run);
static void begin_pass(ek_run_state *run);

/* fail keeps the thread's last error if it is the run's first. */
static void fail(ek_run_state *run)
{
    if (run->error.status == EK_OK) {
        run->error = *ek_error_last();
    }
    run->stopping = true;
}

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
    pump(run);
}

/* ---- other threads' part of a slot ---- */

/* slot_job runs on a pool thread, beside other jobs. */
static ek_status slot_job(void *user, int job)
{
    run_slot *slot = user;
    plan_node *source = &slot->run->plan->nodes[slot->run->plan->source];
    void *dst = slot->data[source->node->index].array[0];
    ek_trace_push(source->node->name, slot->chunk);
    ek_status rc = source->node->stage->source->job(&source->instance, slot->chunk, job, dst);
    ek_trace_pop();
    return rc == EK_OK ? EK_OK
                       : ek_error_prefix("%s, chunk %" PRId64, source->node->name, slot->chunk);
}

static void slot_read(ek_task *task)
{
    run_slot *slot = task->user;
    plan_node *source = &slot->run->plan->nodes[slot->run->plan->source];
    void *dst = slot->data[source->node->index].array[0];
    slot->error.status = EK_OK;
    ek_trace_push(source->node->name, slot->chunk);
    if (source->node->stage->source->read(&source->instance, slot->chunk, dst) != EK_OK) {
        ek_error_prefix("%s, chunk %" PRId64, source->node->name, slot->chunk);
        slot->error = *ek_error_last();
    }
    ek_trace_pop();
    ek_loop_post(slot->run->loop, &slot->done);
}

static ek_status put(ek_run_state *run, run_slot *slot, int i)
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
        if (sink && ek__run_pass(run)->member[i] && put(run, slot, i) != EK_OK) {
            ek_error_prefix("chunk %" PRId64, slot->chunk);
            slot->error = *ek_error_last();
        }
    }
    slot->clock->write = ek__record_now() - began;
    ek_loop_post(run->loop, &slot->done);
}

/* ---- the loop's part of a slot ---- */

static void slot_written(run_slot *slot)
{
    if (slot->error.status != EK_OK) {
        ek_error_set(&slot->error);
        fail(slot->run);
    }
    free_slot(slot);
}

static void slot_computed(run_slot *slot)
{
    ek_run_state *run = slot->run;
    bool done = false;
    ek_event *last = ek__run_pass(run)->downloads > 0 ? slot->downloaded : slot->computed;
    if (ek_event_query(last, &done) != EK_OK || ek__run_account(slot) != EK_OK) {
        ek_error_prefix("pass %d, chunk %" PRId64, run->pass + 1, slot->chunk);
        fail(run);
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
    } else if (ek__run_submit(slot) != EK_OK) {
        ek_error_prefix("pass %d, chunk %" PRId64, run->pass + 1, slot->chunk);
        fail(run);
        free_slot(slot);
    }
}

static void next_in_order(ek_run_state *run);

static void slot_loaded(run_slot *slot)
{
    if (--slot->run->loading == 0) {
        slot->run->report->times.read += ek__record_now() - slot->run->loading_began;
    }
    if (slot->error.status != EK_OK) {
        ek_error_set(&slot->error);
        fail(slot->run);
    }
    if (slot->jobs > 0 && ek_crew_status(slot->crew) != EK_OK) {
        fail(slot->run);
    }
    slot->io.run = slot_write;
    ek__run_enter(slot, SLOT_LOADED);
    next_in_order(slot->run);
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

/* slot_done runs on the loop whenever somebody else's turn with the slot ends. */
static void slot_done(ek_task *task)
{
    run_slot *slot = task->user;
    switch (slot->state) {
    case SLOT_LOADING:
        slot_loaded(slot);
        break;
    case SLOT_ON_DEVICE:
        slot_computed(slot);
        break;
    case SLOT_WRITING:
        slot_written(slot);
        break;
    case SLOT_LOADED: /* waits for its turn; nobody else has it */
    case SLOT_FREE:   /* the watchdog was faster */
        break;
    }
}

static void start_chunk(run_slot *slot, int64_t chunk)
{
    slot->run->in_flight++;
    slot->chunk = chunk;
    if (ek__run_pass(slot->run)->replay) {
        slot->io.run = slot_write;
        submit_slot(slot);
        return;
    }
    ek__run_enter(slot, SLOT_LOADING);
    if (slot->run->loading++ == 0) {
        slot->run->loading_began = ek__record_now();
    }
    plan_node *source = &slot->run->plan->nodes[slot->run->plan->source];
    int jobs = slot->crew != NULL ? source->node->stage->source->jobs(&source->instance, chunk) : 0;
    if (jobs > 0) {
        slot->error.status = EK_OK;
        slot->jobs = jobs;
        ek_crew_start(slot->crew, jobs, slot_job, slot, &slot->done);
        return;
    }
    slot->jobs = 0;
    slot->io.run = slot_read;
    ek_io_post(&slot->io);
}

/* ---- passes ---- */

static void closing_written(ek_task *task)
{
    ek_run_state *run = task->user;
    run->closing = false;
    ek__run_pass_ended(run);
    if (run->closing_error.status != EK_OK) {
        ek_error_set(&run->closing_error);
        fail(run);
    }
    if (run->stopping || run->pass + 1 == run->plan->n_passes) {
        ek_loop_stop(run->loop);
        return;
    }
    run->pass++;
    begin_pass(run);
}

/* closing_write runs on the io thread: sinks that take the pass's results. */
static void closing_write(ek_task *task)
{
    ek_run_state *run = task->user;
    double began = ek__record_now();
    for (int i = 0; i < run->plan->n_nodes && run->closing_error.status == EK_OK; i++) {
        const plan_node *self = &run->plan->nodes[i];
        bool sink = ek__stage_is(self->node, EK_STAGE_SINK);
        if (sink && !self->streams && self->level == run->pass && put(run, NULL, i) != EK_OK) {
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
        fail(run);
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
    if (ek__run_submit_closing(run) != EK_OK) {
        fail(run);
        ek_loop_stop(run->loop);
    }
}

/* pump starts chunks while there are free slots, and notices the end of the pass. */
static void pump(ek_run_state *run)
{
    for (int s = 0; s < run->plan->n_slots && !run->stopping; s++) {
        if (run->slots[s].state == SLOT_FREE && run->next_chunk < run->plan->n_chunks) {
            start_chunk(&run->slots[s], run->next_chunk++);
        }
    }
    if (run->in_flight > 0 || run->closing) {
        return;
    }
    if (run->stopping) {
        ek_loop_stop(run->loop);
    } else if (run->next_chunk == run->plan->n_chunks) {
        close_pass(run);
    }
}

static void begin_pass(ek_run_state *run)
{
    run->next_chunk = run->next_submit = run->chunks_done = run->steps_done = 0;
    ek__run_pass_began(run);
    if (ek__run_begin_pass(run) != EK_OK) {
        fail(run);
    }
    pump(run);
}

/* start sets the first reads going and prepares the device meanwhile. Their completion is handled
 * only after this returns, so nothing of a chunk is on the device yet. */
static void start(ek_task *task)
{
    ek_run_state *run = task->user;
    run->report->record->setup_seconds = ek__record_now() - run->began;
    ek__run_pass_began(run);
    pump(run);
    if (ek__run_prepare(run) != EK_OK || ek__run_begin_pass(run) != EK_OK) {
        fail(run);
    }
    run->report->times.prepare = ek__record_now() - run->began;
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
            slot_computed(slot);
        }
    }
    if (run->closing && ek_event_query(run->closing_stop, &done) != EK_OK) {
        fail(run);
        run->closing = false;
        ek_loop_stop(run->loop);
    }
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
    const ek_field *field = ek_plan_field(run->plan);
    ek_progress report = {
        .pass = run->pass,
        .n_passes = run->plan->n_passes,
        .chunks_done = run->chunks_done,
        .n_chunks = run->plan->n_chunks,
        .steps_done = run->steps_done,
        .n_steps = field->n_time,
        .seconds = ek__record_now() - run->began,
        .step_bytes = (double)field->n_cells * (double)field->value_bytes,
    };
    count_slots(run, &report);
    run->options.on_progress(&report, run->options.user);
}

static void interrupted(void *user)
{
    ek_run_state *run = user;
    EK_FAIL(EK_ECANCELED,
            "stopped on request in pass %d of %d, after %" PRId64 " of %" PRId64
            " chunks; no output was written",
            run->pass + 1, run->plan->n_passes, run->chunks_done, run->plan->n_chunks);
    fail(run);
    if (run->in_flight == 0 && !run->closing) {
        ek_loop_stop(run->loop);
    }
}

/* ---- opening, running, closing ---- */

static ek_status open_all(void *user)
{
    ek_run_state *run = user;
    plan_node *source = &run->plan->nodes[run->plan->source];
    if (source->node->stage->source->open != NULL &&
        source->node->stage->source->open(&source->instance, run->plan->n_threads) != EK_OK) {
        return ek_error_prefix("%s", source->node->name);
    }
    for (int i = 0; i < run->plan->n_nodes; i++) {
        plan_node *self = &run->plan->nodes[i];
        if (!ek__stage_is(self->node, EK_STAGE_SINK)) {
            continue;
        }
        run->sink_open[i] = true;
        if (self->node->stage->sink->open(&self->instance) != EK_OK) {
            return ek_error_prefix("%s", self->node->name);
        }
    }
    return EK_OK;
}

/* close_all ends sinks (commits them if the run went well) and closes the source's files. */
static ek_status close_all(void *user)
{
    ek_run_state *run = user;
    for (int i = 0; i < run->plan->n_nodes; i++) {
        plan_node *self = &run->plan->nodes[i];
        if (!run->sink_open[i]) {
            continue;
        }
        bool commit = run->error.status == EK_OK;
        if (self->node->stage->sink->close(&self->instance, commit) != EK_OK) {
            ek_error_prefix("%s", self->node->name);
            fail(run);
        }
    }
    plan_node *source = &run->plan->nodes[run->plan->source];
    source->node->stage->source->close(&source->instance);
    return EK_OK;
}

static void set_task(ek_task *task, void (*fn)(ek_task *task), void *user)
{
    task->run = fn;
    task->user = user;
}

static ek_status start_timers(ek_run_state *run)
{
    EK_TRY(ek_loop_every(run->loop, WATCHDOG_MS, watchdog, run));
    if (run->options.on_progress != NULL) {
        unsigned ms = run->options.progress_ms != 0 ? run->options.progress_ms : PROGRESS_MS;
        EK_TRY(ek_loop_every(run->loop, ms, progress, run));
    }
    if (run->options.handle_interrupt) {
        EK_TRY(ek_loop_on_interrupt(run->loop, interrupted, run));
    }
    return EK_OK;
}

static ek_status run_loop(ek_run_state *run)
{
    for (int s = 0; s < run->plan->n_slots; s++) {
        set_task(&run->slots[s].done, slot_done, &run->slots[s]);
        set_task(&run->slots[s].io, slot_read, &run->slots[s]);
    }
    set_task(&run->start, start, run);
    set_task(&run->closing_done, closing_done, run);
    set_task(&run->closing_io, closing_write, run);
    set_task(&run->closing_written, closing_written, run);
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
        fail(&run);
    }
    if (run.sink_open != NULL && ek_io_call(close_all, &run) != EK_OK) {
        fail(&run);
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
