/* SPDX-License-Identifier: Apache-2.0 */
/* Where a run fills in its record. */
#include "graphs/run_internal.h"

#include <math.h>
#include <sys/resource.h>

void ek__run_enter(run_slot *slot, slot_state state)
{
    slot_clock *clock = slot->clock;
    double now = ek__record_now();
    clock->lap[slot->state] += now - clock->since;
    clock->total[slot->state] += now - clock->since;
    clock->since = now;
    slot->state = state;
}

void ek__run_pass_began(ek_run_state *run)
{
    run->report->record->before = run->report->counts;
    run->report->record->passes[run->pass].began = ek__record_now();
}

void ek__run_pass_ended(ek_run_state *run)
{
    const ek_counts *before = &run->report->record->before;
    const ek_counts *now = &run->report->counts;
    pass_record *pass = &run->report->record->passes[run->pass];
    pass->seconds = ek__record_now() - pass->began;
    pass->counts = (ek_counts){
        .chunks = run->chunks_done,
        .upload_bytes = now->upload_bytes - before->upload_bytes,
        .download_bytes = now->download_bytes - before->download_bytes,
        .launches = now->launches - before->launches,
        .graph_launches = now->graph_launches - before->graph_launches,
    };
    for (int s = 0; s < run->plan->n_slots; s++) { /* captured before the first pass */
        const ek_graph *graph = run->slots[s].graphs[run->pass];
        pass->counts.graphs += graph != NULL ? 1 : 0;
        pass->counts.graph_nodes += graph != NULL ? ek_graph_size(graph) : 0;
    }
}

ek_status ek__run_time_stages(run_slot *slot)
{
    ek_run_state *run = slot->run;
    pass_record *pass = &run->report->record->passes[run->pass];
    ek_event *last = slot->start;
    for (int i = 0; slot->marks != NULL && i < run->plan->n_nodes; i++) {
        if (slot->marks[i] != NULL && ek__run_pass(run)->member[i]) {
            double seconds = 0;
            EK_TRY(ek_event_elapsed(last, slot->marks[i], &seconds));
            pass->stage[i] = (isnan(pass->stage[i]) ? 0 : pass->stage[i]) + seconds;
            last = slot->marks[i];
        }
    }
    return EK_OK;
}

ek_status ek__run_time_closing(ek_run_state *run)
{
    pass_record *pass = &run->report->record->passes[run->pass];
    ek_event *last = run->closing_start;
    EK_TRY(ek_event_elapsed(run->closing_start, run->closing_stop, &pass->closing));
    for (int i = 0; i < run->plan->n_nodes; i++) {
        if (ek__run_closes(run, i)) {
            EK_TRY(ek_event_elapsed(last, run->finished[i], &pass->finish[i]));
            last = run->finished[i];
        }
    }
    return EK_OK;
}

static void count_pool(run_record *record, const ek_pool *pool)
{
    size_t bytes = pool->base != NULL ? pool->block_bytes * (size_t)pool->n_blocks : 0;
    if (pool->space == EK_SPACE_DEVICE) {
        record->device_taken += bytes;
    } else {
        record->pinned_taken += bytes;
    }
}

/* take_stock adds up what the run holds, and asks how much the driver and the system count. */
static void take_stock(ek_run_state *run)
{
    const ek_plan *plan = run->plan;
    run_record *record = run->report->record;
    record->device_taken = plan->device.bytes;
    record->pinned_taken = plan->status_bytes;
    count_pool(record, &run->host_headers);
    count_pool(record, &run->device_headers);
    for (int i = 0; i < plan->n_nodes; i++) {
        count_pool(record, &run->pools[i]);
        const run_result *result = &run->report->results[i];
        record->pinned_taken +=
            result->block != NULL ? ek__plan_result_bytes(&plan->nodes[i].instance.out) : 0;
    }
    ek_backend_props props;
    if (run->options.detail && ek_backend_which(plan->backend) == EK_BACKEND_CUDA &&
        ek_backend_get_props(plan->backend, &props) == EK_OK &&
        props.free_bytes < plan->props.free_bytes) {
        record->device_drop = plan->props.free_bytes - props.free_bytes;
    }
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        record->process_peak = (size_t)usage.ru_maxrss * 1024;
    }
}

void ek__run_ended(ek_run_state *run)
{
    for (int s = 0; s < run->plan->n_slots; s++) {
        ek__run_enter(&run->slots[s], SLOT_FREE); /* its last wait counts too */
    }
    take_stock(run);
}
