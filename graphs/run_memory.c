/* SPDX-License-Identifier: Apache-2.0 */
/* What a run holds: queues, events, pinned rings, device memory, and the views of them that stages
 * get. All is taken before the first chunk; while chunks flow nothing is allocated. */
#include "graphs/checkpoint.h"

/* make_pool gives a node the buffers of its stream, one per slot (or per chunk if kept). */
static ek_status make_pool(ek_run_state *run, int i)
{
    ek_plan *plan = run->plan;
    const plan_node *self = &plan->nodes[i];
    const ek_spec *out = &self->instance.out;
    if (out->kind != EK_STREAM || !self->streams || ek__stage_is(self->node, EK_STAGE_SINK)) {
        return EK_OK;
    }
    size_t bytes = ek__plan_stream_bytes(out);
    if (ek__stage_is(self->node, EK_STAGE_SOURCE | EK_STAGE_DOWNLOAD)) {
        return ek_pool_init(&run->pools[i], plan->backend, EK_SPACE_PINNED, bytes, plan->n_slots);
    }
    if (ek__stage_is(self->node, EK_STAGE_UPLOAD)) {
        int n = self->kept ? (int)plan->n_chunks : plan->n_slots;
        return ek_pool_init(&run->pools[i], plan->backend, EK_SPACE_DEVICE, bytes, n);
    }
    if (self->slot_output) {
        return ek_pool_init(&run->pools[i], plan->backend, EK_SPACE_DEVICE, bytes, plan->n_slots);
    }
    return EK_OK;
}

/* place_results points a result's arrays into one block, as ek__plan_result_bytes counts them. */
static void place_results(ek_data *data, char *block)
{
    for (int a = 0; a < data->spec->n_arrays; a++) {
        data->array[a] = block;
        block += ek_align(ek_array_bytes(&data->spec->arrays[a], data->spec->extent));
    }
}

static void set_extents(ek_data *data, const ek_spec *spec)
{
    data->spec = spec;
    for (int a = 0; a < EK_AXES; a++) {
        data->extent[a] = spec->extent[a];
    }
}

static ek_status make_result(ek_run_state *run, int i)
{
    const plan_node *self = &run->plan->nodes[i];
    const ek_spec *out = &self->instance.out;
    run_result *result = &run->report->results[i];
    result->node = self->node;
    if (ek__stage_is(self->node, EK_STAGE_SINK) || out->kind != EK_RESULT) {
        return EK_OK;
    }
    set_extents(&result->data, out);
    if (self->output >= 0) {
        place_results(&result->data, ek_arena_at(&run->plan->device, self->output));
        return EK_OK;
    }
    EK_TRY(ek_mem_alloc(run->plan->backend, EK_SPACE_PINNED, ek__plan_result_bytes(out),
                        &result->block));
    place_results(&result->data, result->block);
    return EK_OK;
}

/* stream_input returns the node's first input that is a stream, -1 if there is none. */
static int stream_input(const ek_plan *plan, const plan_node *self)
{
    for (int k = 0; k < self->node->n_inputs; k++) {
        int from = self->node->inputs[k]->index;
        if (plan->nodes[from].instance.out.kind == EK_STREAM) {
            return from;
        }
    }
    return -1;
}

/* make_view sets what stages see of node i's stream in one slot. Addresses are fixed for the whole
 * run, so that they may be captured; only an upload that keeps its chunks moves on (run_device.c).
 */
static void make_view(run_slot *slot, int i)
{
    ek_run_state *run = slot->run;
    const plan_node *self = &run->plan->nodes[i];
    ek_data *data = &slot->data[i];
    int block = slot->index * run->plan->n_nodes + i;
    set_extents(data, &self->instance.out);
    slot->headers[i] = ek_pool_block(&run->host_headers, block);
    data->host = slot->headers[i];
    data->stream.header = slot->headers[i];
    if (ek__stage_is(self->node, EK_STAGE_SOURCE | EK_STAGE_DOWNLOAD | EK_STAGE_UPLOAD)) {
        data->array[0] = ek_pool_block(&run->pools[i], slot->index % run->pools[i].n_blocks);
        data->stream.values = data->spec->packed ? NULL : data->array[0];
        if (ek__stage_is(self->node, EK_STAGE_UPLOAD)) {
            data->stream.header = ek_pool_block(&run->device_headers, block);
        }
        return;
    }
    const ek_data *from = &slot->data[stream_input(run->plan, self)];
    data->host = from->host;
    data->stream.header = from->stream.header;
    data->array[0] = self->slot_output ? ek_pool_block(&run->pools[i], slot->index)
                                       : ek_arena_at(&run->plan->device, self->output);
    data->stream.values = data->array[0];
}

static ek_status make_events(run_slot *slot)
{
    ek_event **events[] = {&slot->copy_start, &slot->copied,     &slot->start,
                           &slot->computed,   &slot->down_start, &slot->downloaded};
    for (size_t i = 0; i < EK_COUNT(events); i++) {
        EK_TRY(ek_event_create(slot->run->plan->backend, events[i]));
    }
    return EK_OK;
}

/* make_marks has a time for each stage of the region, where stages are launched singly and the
 * caller wants to know. */
static ek_status make_marks(run_slot *slot)
{
    const ek_run_state *run = slot->run;
    if (!run->options.detail || run->plan->options.launch == EK_LAUNCH_GRAPH) {
        return EK_OK;
    }
    slot->marks = ek_alloc((size_t)run->plan->n_nodes, sizeof(*slot->marks));
    if (slot->marks == NULL) {
        return EK_ENOMEM;
    }
    for (int i = 0; i < run->plan->n_nodes; i++) {
        const plan_node *self = &run->plan->nodes[i];
        if (self->streams && ek__stage_is(self->node, EK_STAGE_DEVICE)) {
            EK_TRY(ek_event_create(run->plan->backend, &slot->marks[i]));
        }
    }
    return EK_OK;
}

static ek_status make_loads(run_slot *slot)
{
    ek_plan *plan = slot->run->plan;
    for (int k = 0; k < plan->n_sources; k++) {
        run_load *load = &slot->loads[k];
        load->slot = slot;
        load->source = &plan->nodes[plan->sources[k]];
        load->dst = slot->data[plan->sources[k]].array[0];
        int jobs = load->source->instance.needs.read_jobs;
        if (jobs > 0) {
            EK_TRY(ek_crew_create(&load->crew, slot->run->loop, jobs));
        }
    }
    return EK_OK;
}

static ek_status make_slot(ek_run_state *run, int index)
{
    const ek_plan *plan = run->plan;
    run_slot *slot = &run->slots[index];
    slot->run = run;
    slot->index = index;
    slot->clock = &run->report->record->slots[index];
    slot->clock->since = ek__record_now();
    slot->data = ek_alloc((size_t)plan->n_nodes, sizeof(*slot->data));
    slot->headers = ek_alloc((size_t)plan->n_nodes, sizeof(*slot->headers));
    slot->graphs = ek_alloc((size_t)plan->n_passes, sizeof(*slot->graphs));
    slot->loads = ek_alloc((size_t)plan->n_sources, sizeof(*slot->loads));
    if (slot->loads == NULL || slot->data == NULL || slot->headers == NULL ||
        slot->graphs == NULL) {
        return EK_ENOMEM;
    }
    EK_TRY(make_events(slot));
    EK_TRY(make_marks(slot));
    for (int i = 0; i < plan->n_nodes; i++) {
        const plan_node *self = &plan->nodes[i];
        if (self->streams && self->instance.out.kind == EK_STREAM &&
            !ek__stage_is(self->node, EK_STAGE_SINK)) {
            make_view(slot, i);
        }
    }
    return make_loads(slot);
}

static ek_status make_exec(ek_run_state *run)
{
    ek_plan *plan = run->plan;
    void *status = NULL;
    EK_TRY(ek_mem_alloc(plan->backend, EK_SPACE_PINNED, plan->status_bytes, &status));
    run->status = status;
    size_t offset = 0;
    for (int i = 0; i < plan->n_nodes; i++) {
        const plan_node *self = &plan->nodes[i];
        ek_exec *exec = &run->exec[i];
        exec->backend = plan->backend;
        exec->queue = run->compute;
        if (ek__stage_is(self->node, EK_STAGE_UPLOAD)) {
            exec->queue = run->copy_in;
        } else if (ek__stage_is(self->node, EK_STAGE_DOWNLOAD) && self->streams) {
            exec->queue = run->copy_out;
        }
        exec->state = self->state >= 0 ? ek_arena_at(&plan->device, self->state) : NULL;
        exec->scratch = self->scratch >= 0 ? ek_arena_at(&plan->device, self->scratch) : NULL;
        exec->status = run->status + offset;
        offset += ek_align(self->instance.needs.status_bytes);
    }
    return EK_OK;
}

static ek_status make_tables(ek_run_state *run)
{
    size_t n = (size_t)run->plan->n_nodes;
    run->pools = ek_alloc(n, sizeof(*run->pools));
    run->exec = ek_alloc(n, sizeof(*run->exec));
    run->finished = ek_alloc(n, sizeof(*run->finished));
    run->sink_open = ek_alloc(n, sizeof(*run->sink_open));
    run->slots = ek_alloc((size_t)run->plan->n_slots, sizeof(*run->slots));
    run->report = ek_alloc(1, sizeof(*run->report));
    if (run->report == NULL) {
        return EK_ENOMEM;
    }
    run->report->plan = run->plan;
    run->report->backend = run->plan->backend;
    EK_TRY(ek__record_create(&run->report->record, run->plan));
    run->report->results = ek_alloc(n, sizeof(*run->report->results));
    run->report->n_results = (int)n;
    bool all = run->pools != NULL && run->finished != NULL && run->exec != NULL &&
               run->sink_open != NULL && run->slots != NULL && run->report->results != NULL;
    return all ? EK_OK : EK_ENOMEM;
}

ek_status ek__run_setup(ek_run_state *run)
{
    ek_plan *plan = run->plan;
    ek_backend *backend = plan->backend;
    int n_headers = plan->n_slots * plan->n_nodes;
    size_t header = sizeof(ek_chunk_header);
    EK_TRY(make_tables(run));
    EK_TRY(ek_loop_create(&run->loop));
    EK_TRY(ek_queue_create(backend, &run->copy_in));
    EK_TRY(ek_queue_create(backend, &run->compute));
    EK_TRY(ek_queue_create(backend, &run->copy_out));
    EK_TRY(ek_event_create(backend, &run->closing_start));
    EK_TRY(ek_event_create(backend, &run->closing_stop));
    for (int i = 0; i < plan->n_nodes; i++) {
        EK_TRY(ek_event_create(backend, &run->finished[i]));
    }
    EK_TRY(ek_arena_commit(&plan->device, backend, EK_SPACE_DEVICE));
    EK_TRY(ek_pool_init(&run->host_headers, backend, EK_SPACE_PINNED, header, n_headers));
    EK_TRY(ek_pool_init(&run->device_headers, backend, EK_SPACE_DEVICE, header, n_headers));
    for (int i = 0; i < plan->n_nodes; i++) {
        EK_TRY(make_pool(run, i));
        EK_TRY(make_result(run, i));
    }
    EK_TRY(make_exec(run));
    for (int s = 0; s < plan->n_slots; s++) {
        EK_TRY(make_slot(run, s));
    }
    return ek__checkpoint_create(run);
}

static void release_slot(run_slot *slot, const ek_plan *plan)
{
    ek_event *events[] = {slot->copy_start, slot->copied,     slot->start,
                          slot->computed,   slot->down_start, slot->downloaded};
    for (size_t i = 0; i < EK_COUNT(events); i++) {
        ek_event_destroy(events[i]);
    }
    for (int i = 0; slot->marks != NULL && i < plan->n_nodes; i++) {
        ek_event_destroy(slot->marks[i]);
    }
    ek_free(slot->marks);
    for (int k = 0; slot->graphs != NULL && k < plan->n_passes; k++) {
        ek_graph_destroy(slot->graphs[k]);
    }
    for (int k = 0; slot->loads != NULL && k < plan->n_sources; k++) {
        ek_crew_destroy(slot->loads[k].crew);
    }
    ek_free(slot->loads);
    ek_free(slot->graphs);
    ek_free(slot->data);
    ek_free(slot->headers);
}

void ek__run_release(ek_run_state *run)
{
    ek_plan *plan = run->plan;
    ek_queue *queues[] = {run->copy_in, run->compute, run->copy_out};
    for (size_t i = 0; i < EK_COUNT(queues); i++) {
        if (queues[i] != NULL) {
            ek_queue_sync(queues[i]); /* no memory goes while work may use it */
        }
    }
    ek__checkpoint_destroy(run);
    for (int s = 0; run->slots != NULL && s < plan->n_slots; s++) {
        release_slot(&run->slots[s], plan);
    }
    ek_event_destroy(run->closing_start);
    ek_event_destroy(run->closing_stop);
    for (int i = 0; run->finished != NULL && i < plan->n_nodes; i++) {
        ek_event_destroy(run->finished[i]);
    }
    ek_free(run->finished);
    for (size_t i = 0; i < EK_COUNT(queues); i++) {
        ek_queue_destroy(queues[i]);
    }
    for (int i = 0; run->pools != NULL && i < plan->n_nodes; i++) {
        ek_pool_fini(&run->pools[i]);
    }
    ek_pool_fini(&run->host_headers);
    ek_pool_fini(&run->device_headers);
    ek_mem_free(plan->backend, EK_SPACE_PINNED, run->status);
    ek_arena_release(&plan->device);
    ek_loop_destroy(run->loop);
    ek_free(run->pools);
    ek_free(run->exec);
    ek_free(run->sink_open);
    ek_free(run->slots);
    ek_report_destroy(run->report); /* NULL where the caller has it */
}
