/* SPDX-License-Identifier: Apache-2.0 */
/* What a run enqueues. Per chunk: its header and values on one queue; then, behind an event, the
 * region (all device stages, as one graph or singly) on the compute queue; then downloads on a
 * third. The order of chunks on each queue is the order of time, so that folds see rows in order
 * whatever the number of slots. */
#include "core/trace.h"
#include "graphs/run_internal.h"

#include <inttypes.h>

void ek__run_inputs(ek_run_state *run, const run_slot *slot, int node, const ek_data **in)
{
    const plan_node *self = &run->plan->nodes[node];
    for (int k = 0; k < self->node->n_inputs; k++) {
        int from = self->node->inputs[k]->index;
        bool stream = run->plan->nodes[from].instance.out.kind == EK_STREAM;
        in[k] = stream ? &slot->data[from] : &run->report->results[from].data;
    }
}

/* submit_node enqueues one node's work for the slot's chunk (slot NULL: for a result). */
static ek_status submit_node(ek_run_state *run, run_slot *slot, int i)
{
    plan_node *self = &run->plan->nodes[i];
    const ek_data *in[EK_STAGE_INPUTS] = {0};
    ek__run_inputs(run, slot, i, in);
    ek_data *out = self->instance.out.kind == EK_STREAM && slot != NULL
                       ? &slot->data[i]
                       : &run->report->results[i].data;
    ek_trace_push(self->node->name, slot != NULL ? slot->chunk : -1);
    ek_status rc = self->node->stage->submit(&self->instance, &run->exec[i], in, out);
    if (rc == EK_OK && run->plan->options.launch == EK_LAUNCH_SERIAL) {
        rc = ek_queue_sync(run->exec[i].queue);
    }
    ek_trace_pop();
    if (rc == EK_OK && slot != NULL && slot->marks != NULL && slot->marks[i] != NULL) {
        rc = ek_event_record(slot->marks[i], run->exec[i].queue);
    }
    return rc == EK_OK ? EK_OK : ek_error_prefix("%s", self->node->name);
}

/* copy_headers enqueues the copy of the chunk's header to each upload's place in the slot. It goes
 * apart from the values, since uploads of one source differ in it and a replay needs it without
 * them; and on the copy queue, where it overlaps the kernels of the chunk before. */
static ek_status copy_headers(run_slot *slot)
{
    ek_run_state *run = slot->run;
    for (int i = 0; i < run->plan->n_nodes; i++) {
        if (ek__run_pass(run)->member[i] &&
            ek__stage_is(run->plan->nodes[i].node, EK_STAGE_UPLOAD)) {
            void *header =
                ek_pool_block(&run->device_headers, slot->index * run->plan->n_nodes + i);
            EK_TRY(ek_queue_copy(run->copy_in, header, slot->headers[i], sizeof(ek_chunk_header)));
        }
    }
    return EK_OK;
}

/* submit_region enqueues the device stages: the part that is captured. */
static ek_status submit_region(run_slot *slot)
{
    ek_run_state *run = slot->run;
    for (int i = 0; i < run->plan->n_nodes; i++) {
        if (ek__run_pass(run)->member[i] &&
            ek__stage_is(run->plan->nodes[i].node, EK_STAGE_DEVICE)) {
            EK_TRY(submit_node(run, slot, i));
        }
    }
    return EK_OK;
}

/* set_sweeps tells each node which of its sweeps the present pass is. */
static void set_sweeps(ek_run_state *run)
{
    for (int i = 0; i < run->plan->n_nodes; i++) {
        run->exec[i].sweep = EK_MAX(ek__node_sweep(&run->plan->nodes[i], run->pass), 0);
    }
}

ek_status ek__run_begin_pass(ek_run_state *run)
{
    set_sweeps(run);
    for (int i = 0; i < run->plan->n_nodes; i++) {
        plan_node *self = &run->plan->nodes[i];
        if (!ek__run_pass(run)->member[i] || self->node->stage->begin == NULL) {
            continue;
        }
        if (self->node->stage->begin(&self->instance, &run->exec[i]) != EK_OK) {
            return ek_error_prefix("%s", self->node->name);
        }
    }
    return EK_OK;
}

/* warm_up runs the region once with an empty chunk: libraries load their kernels outside a capture,
 * and no fold changes, since rows is 0. */
static ek_status warm_up(ek_run_state *run)
{
    run_slot *slot = &run->slots[0];
    for (int i = 0; i < run->plan->n_nodes; i++) {
        if (slot->headers[i] != NULL) {
            *slot->headers[i] = (ek_chunk_header){
                .cells = run->plan->nodes[i].instance.out.extent[EK_AXIS_CELL],
                .dtype = EK_F64,
                .scale = 1.0,
                .data = slot->data[i].array[0],
            };
        }
    }
    EK_TRY(copy_headers(slot));
    EK_TRY(ek_queue_sync(run->copy_in));
    EK_TRY(submit_region(slot));
    return ek_queue_sync(run->compute);
}

static ek_status capture_slot(run_slot *slot)
{
    ek_run_state *run = slot->run;
    ek_graph **graph = &slot->graphs[run->pass];
    EK_TRY(ek_capture_begin(run->compute));
    ek_status rc = submit_region(slot);
    ek_error error = *ek_error_last();
    ek_status ended = ek_capture_end(run->compute, graph);
    if (rc != EK_OK) {
        ek_graph_destroy(*graph);
        *graph = NULL;
        return ek_error_set(&error); /* it names the stage; the end of the capture cannot */
    }
    EK_TRY(ended);
    run->report->counts.graphs++;
    run->report->counts.graph_nodes += ek_graph_size(*graph);
    return EK_OK;
}

static ek_status prepare_pass(ek_run_state *run)
{
    if (ek__run_pass(run)->region_nodes == 0) {
        return EK_OK;
    }
    set_sweeps(run);
    if (warm_up(run) != EK_OK) {
        return ek_error_prefix("warming up pass %d", run->pass + 1);
    }
    if (run->plan->options.launch != EK_LAUNCH_GRAPH) {
        return EK_OK;
    }
    int64_t slots = EK_MIN(run->plan->n_slots, run->plan->n_chunks);
    for (int s = 0; s < slots; s++) {
        if (capture_slot(&run->slots[s]) != EK_OK) {
            return ek_error_prefix("capturing the region of pass %d", run->pass + 1);
        }
    }
    return EK_OK;
}

/* rehearse has a fold load the libraries that its finish needs, in each of its sweeps. */
static ek_status rehearse(ek_run_state *run, int i)
{
    plan_node *self = &run->plan->nodes[i];
    ek_exec exec = run->exec[i];
    ek_data *out = &run->report->results[i].data;
    for (exec.sweep = 0; exec.sweep < self->sweeps; exec.sweep++) {
        if (self->node->stage->rehearse(&self->instance, &exec, out) != EK_OK) {
            return ek_error_prefix("%s", self->node->name);
        }
    }
    return EK_OK;
}

static ek_status rehearse_all(ek_run_state *run)
{
    for (int i = 0; i < run->plan->n_nodes; i++) {
        if (run->plan->nodes[i].node->stage->rehearse != NULL) {
            EK_TRY(rehearse(run, i));
        }
    }
    return ek_queue_sync(run->compute);
}

ek_status ek__run_prepare(ek_run_state *run)
{
    int first = run->pass;
    for (run->pass = 0; run->pass < run->plan->n_passes; run->pass++) {
        EK_TRY(prepare_pass(run));
    }
    run->pass = first;
    return ek_backend_which(run->plan->backend) == EK_BACKEND_CUDA ? rehearse_all(run) : EK_OK;
}

/* chunk_bytes returns the bytes of the slot's chunk that node i puts out. */
static int64_t chunk_bytes(const run_slot *slot, int i)
{
    const ek_chunk_header *header = slot->headers[i];
    bool packed = slot->data[i].spec->packed;
    size_t size = packed ? ek_dtype_size((ek_dtype)header->dtype) : sizeof(double);
    return header->rows * header->cells * (int64_t)size;
}

/* set_headers tells every holder of the chunk where its values are. Sources of other passes are not
 * asked. */
static ek_status set_headers(run_slot *slot)
{
    ek_run_state *run = slot->run;
    for (int i = 0; i < run->plan->n_nodes; i++) {
        plan_node *self = &run->plan->nodes[i];
        if (slot->headers[i] == NULL || !ek__run_pass(run)->member[i]) {
            continue;
        }
        if (self->source == i) {
            const ek_source_ops *source = self->node->stage->source;
            if (source->header(&self->instance, slot->chunk, slot->headers[i]) != EK_OK) {
                return ek_error_prefix("%s", self->node->name);
            }
            if (ek__run_fresh(run, i)) {
                run->report->record->passes[run->pass].read_bytes += chunk_bytes(slot, i);
            }
        } else {
            *slot->headers[i] = *slot->headers[self->source];
        }
        if (self->kept) {
            slot->data[i].array[0] = ek_pool_block(&run->pools[i], (int)slot->chunk);
        }
        slot->headers[i]->data = slot->data[i].array[0];
        slot->rows = slot->headers[i]->rows;
    }
    return EK_OK;
}

static ek_status submit_upload(run_slot *slot)
{
    ek_run_state *run = slot->run;
    const plan_pass *pass = ek__run_pass(run);
    if (pass->uploads == 0) {
        return EK_OK;
    }
    EK_TRY(ek_event_record(slot->copy_start, run->copy_in));
    EK_TRY(copy_headers(slot));
    for (int i = 0; i < run->plan->n_nodes; i++) {
        if (ek__run_fresh(run, i) && ek__stage_is(run->plan->nodes[i].node, EK_STAGE_UPLOAD)) {
            EK_TRY(submit_node(run, slot, i));
            run->report->counts.upload_bytes += chunk_bytes(slot, i);
        }
    }
    EK_TRY(ek_event_record(slot->copied, run->copy_in));
    EK_TRY(ek_event_wait(slot->copied, run->compute));
    return EK_OK;
}

static ek_status launch_region(run_slot *slot)
{
    ek_run_state *run = slot->run;
    EK_TRY(ek_event_record(slot->start, run->compute));
    ek_graph *graph = slot->graphs[run->pass];
    if (graph != NULL) {
        ek_trace_push("region", slot->chunk);
        ek_status rc = ek_graph_launch(graph, run->compute);
        ek_trace_pop();
        EK_TRY(rc);
        run->report->counts.graph_launches++;
    } else if (ek__run_pass(run)->launches > 0) {
        EK_TRY(submit_region(slot));
        run->report->counts.launches += ek__run_pass(run)->launches;
    }
    return ek_event_record(slot->computed, run->compute);
}

static void slot_notify(void *user)
{
    run_slot *slot = user;
    ek_loop_post(slot->run->loop, &slot->done);
}

ek_status ek__run_submit(run_slot *slot)
{
    ek_run_state *run = slot->run;
    EK_TRY(set_headers(slot));
    EK_TRY(submit_upload(slot));
    EK_TRY(launch_region(slot));
    if (ek__run_pass(run)->downloads == 0) {
        return ek_queue_notify(run->compute, slot_notify, slot);
    }
    EK_TRY(ek_event_wait(slot->computed, run->copy_out));
    EK_TRY(ek_event_record(slot->down_start, run->copy_out));
    for (int i = 0; i < run->plan->n_nodes; i++) {
        if (ek__run_pass(run)->member[i] &&
            ek__stage_is(run->plan->nodes[i].node, EK_STAGE_DOWNLOAD)) {
            EK_TRY(submit_node(run, slot, i));
            run->report->counts.download_bytes += chunk_bytes(slot, i);
        }
    }
    EK_TRY(ek_event_record(slot->downloaded, run->copy_out));
    return ek_queue_notify(run->copy_out, slot_notify, slot);
}

ek_status ek__run_account(run_slot *slot)
{
    ek_run_state *run = slot->run;
    const plan_pass *pass = ek__run_pass(run);
    double copy = 0, compute = 0, download = 0;
    if ((run->resumed ? pass->uploads : pass->copies) > 0) {
        EK_TRY(ek_event_elapsed(slot->copy_start, slot->copied, &copy));
    }
    EK_TRY(ek_event_elapsed(slot->start, slot->computed, &compute));
    if (pass->downloads > 0) {
        EK_TRY(ek_event_elapsed(slot->down_start, slot->downloaded, &download));
    }
    run->report->times.upload += copy;
    run->report->times.compute += compute;
    run->report->times.download += download;
    slot->clock->upload = copy;
    slot->clock->compute = compute;
    slot->clock->download = download;
    return ek__run_time_stages(slot);
}

bool ek__run_closes(const ek_run_state *run, int i)
{
    const plan_node *self = &run->plan->nodes[i];
    bool fold = ek__stage_is(self->node, EK_STAGE_FOLD);
    return ek__node_sweep(self, run->pass) >= 0 && (fold || !self->streams) &&
           !ek__stage_is(self->node, EK_STAGE_SINK);
}

static ek_status close_node(ek_run_state *run, int i)
{
    plan_node *self = &run->plan->nodes[i];
    ek_data *out = &run->report->results[i].data;
    if (!ek__stage_is(self->node, EK_STAGE_FOLD)) {
        if (ek__stage_is(self->node, EK_STAGE_DOWNLOAD)) {
            run->report->counts.download_bytes +=
                (int64_t)ek__plan_result_bytes(&self->instance.out);
        }
        return submit_node(run, NULL, i);
    }
    ek_trace_push(self->node->name, -1);
    ek_status rc = self->node->stage->finish(&self->instance, &run->exec[i], out);
    if (rc == EK_OK && run->plan->options.launch == EK_LAUNCH_SERIAL) {
        rc = ek_queue_sync(run->compute);
    }
    ek_trace_pop();
    run->report->counts.launches += ek__finish_launches(self, run->exec[i].sweep);
    return rc == EK_OK ? EK_OK : ek_error_prefix("%s", self->node->name);
}

static void closing_notify(void *user)
{
    ek_run_state *run = user;
    ek_loop_post(run->loop, &run->closing_done);
}

ek_status ek__run_submit_closing(ek_run_state *run)
{
    EK_TRY(ek_event_record(run->closing_start, run->compute));
    for (int i = 0; i < run->plan->n_nodes; i++) {
        if (ek__run_closes(run, i)) {
            EK_TRY(close_node(run, i));
            EK_TRY(ek_event_record(run->finished[i], run->compute));
        }
    }
    EK_TRY(ek_event_record(run->closing_stop, run->compute));
    return ek_queue_notify(run->compute, closing_notify, run);
}

ek_status ek__run_collect(ek_run_state *run)
{
    double seconds = 0;
    EK_TRY(ek_queue_sync(run->compute)); /* complete already: this asks for its status */
    EK_TRY(ek_event_elapsed(run->closing_start, run->closing_stop, &seconds));
    run->report->times.closing += seconds;
    EK_TRY(ek__run_time_closing(run));
    for (int i = 0; i < run->plan->n_nodes; i++) {
        plan_node *self = &run->plan->nodes[i];
        if (!ek__run_closes(run, i)) {
            continue;
        }
        ek_data *out = &run->report->results[i].data;
        if (!ek__stage_is(self->node, EK_STAGE_FOLD)) {
            const ek_data *in = &run->report->results[self->node->inputs[0]->index].data;
            for (int a = 0; a < EK_AXES; a++) {
                out->extent[a] = in->extent[a];
            }
        }
        if (self->node->stage->collect != NULL &&
            self->node->stage->collect(&self->instance, &run->exec[i], out) != EK_OK) {
            return ek_error_prefix("%s", self->node->name);
        }
    }
    return EK_OK;
}
