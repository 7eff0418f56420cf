/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as text: for each pass what is read, copied, captured and finished, and why it is so. */
#include "graphs/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* text_close ends a memory stream and hands its text over as ek_alloc's. */
static char *text_close(FILE *out, char **text)
{
    char *copy = fclose(out) == 0 ? ek_strdup(*text) : NULL;
    free(*text);
    return copy;
}

static void memory_row(FILE *out, const char *what, size_t bytes)
{
    if (bytes > 0) {
        fprintf(out, "  %-58s %10.2f MB\n", what, (double)bytes / 1e6);
    }
}

static void print_memory(const ek_plan *plan, FILE *out)
{
    fprintf(out, "Memory\n");
    memory_row(out, "device: accumulators, results, values between stages", plan->device.bytes);
    memory_row(out, "device: values that a download reads, per slot", plan->slot_output_bytes);
    if (plan->resident) {
        memory_row(out, "device: all chunks, kept for the next pass", plan->resident_bytes);
    } else {
        memory_row(out, "device: staging, per slot", plan->staging_bytes);
    }
    memory_row(out, "device: chunk headers", plan->header_bytes);
    memory_row(out, "device in all", plan->device_bytes);
    memory_row(out, "pinned: ring of chunks, per slot", plan->ring_bytes);
    memory_row(out, "pinned: results", plan->result_bytes);
    memory_row(out, "pinned in all", plan->pinned_bytes);
}

char *ek__plan_memory_text(const ek_plan *plan)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return NULL;
    }
    print_memory(plan, out);
    return text_close(out, &text);
}

static void print_field(const ek_field *field, FILE *out)
{
    fprintf(out, "Input     %s: %s[%s %" PRId64, field->source != NULL ? field->source : "memory",
            field->name, field->time.name != NULL ? field->time.name : "time", field->n_time);
    for (int i = 0; i < field->n_dims; i++) {
        fprintf(out, ", %s %" PRId64, field->dims[i].name, field->dims[i].size);
    }
    fprintf(out, "] %s", ek_dtype_name(field->dtype));
    if (field->time.first[0] != '\0') {
        fprintf(out, ", %s to %s", field->time.first, field->time.last);
    }
    fprintf(out, "\n");
    for (size_t i = 0; i < field->n_notes; i++) {
        fprintf(out, "          - %s\n", field->notes[i]);
    }
}

static const char *launch_text(const ek_plan *plan)
{
    switch (plan->options.launch) {
    case EK_LAUNCH_STREAM:
        return "stream: one launch per operation";
    case EK_LAUNCH_SERIAL:
        return "serial: one launch per operation, and a wait after every stage";
    default:
        return ek_backend_which(plan->backend) == EK_BACKEND_CUDA
                   ? "graph: each region is one CUDA Graph per slot, captured once, replayed per "
                     "chunk"
                   : "graph: each region is one recorded list per slot, replayed per chunk";
    }
}

static void print_head(const ek_plan *plan, FILE *out)
{
    const ek_spec *spec = &plan->nodes[plan->source].instance.out;
    fprintf(out, "Pipeline  %s: %d nodes, %d pass%s\n", plan->pipeline->name, plan->n_nodes,
            plan->n_passes, plan->n_passes == 1 ? "" : "es");
    fprintf(out, "Backend   %s\n", plan->reason);
    fprintf(out, "Launch    %s\n", launch_text(plan));
    print_field(spec->field, out);
    fprintf(out,
            "Chunks    %" PRId64 " of at most %" PRId64 " steps, %.2f MB each as stored; %d "
            "slots in flight\n",
            plan->n_chunks, spec->chunk_rows, (double)plan->chunk_bytes / 1e6, plan->n_slots);
}

/* print_members lists the names of the pass's nodes with one of the flags. */
static void print_members(const ek_plan *plan, int pass, unsigned flags, FILE *out)
{
    const char *separator = "";
    for (int i = 0; i < plan->n_nodes; i++) {
        const ek_node *node = plan->nodes[i].node;
        if (plan->passes[pass].member[i] && ek__stage_is(node, flags)) {
            fprintf(out, "%s%s", separator, node->name);
            separator = " ! ";
        }
    }
}

/* print_reason says which fold makes this pass necessary: one that is finished, or one that has not
 * seen enough. */
static void print_reason(const ek_plan *plan, int pass, FILE *out)
{
    for (int i = 0; i < plan->n_nodes; i++) {
        const plan_node *self = &plan->nodes[i];
        int sweep = ek__node_sweep(self, pass);
        if (sweep > 0) {
            fprintf(out, "  why           '%s' wants its stream %d times; this is sweep %d\n",
                    self->node->name, self->sweeps, sweep + 1);
        }
        for (int k = 0; plan->passes[pass].member[i] && k < self->node->n_inputs; k++) {
            const plan_node *from = &plan->nodes[self->node->inputs[k]->index];
            if (from->instance.out.kind == EK_RESULT && from->level == pass - 1) {
                fprintf(out, "  why           '%s' needs the finished result of '%s'\n",
                        self->node->name, from->node->name);
            }
        }
    }
}

static void print_input(const ek_plan *plan, int pass, FILE *out)
{
    const plan_pass *self = &plan->passes[pass];
    double mb = (double)plan->chunk_bytes / 1e6;
    if (self->replay) {
        fprintf(out,
                "  input         the chunks of pass 1, kept in device memory (%.2f MB): nothing is "
                "read or copied\n",
                (double)plan->resident_bytes / 1e6);
        return;
    }
    const plan_node *source = &plan->nodes[plan->source];
    int jobs = source->instance.needs.read_jobs;
    if (jobs > 0) {
        fprintf(
            out,
            "  pool threads  %s: decodes a chunk into pinned memory, %.2f MB in up to %d job%s, "
            "on %d thread%s\n",
            source->node->name, mb, jobs, jobs == 1 ? "" : "s", plan->n_threads,
            plan->n_threads == 1 ? "" : "s");
    } else {
        fprintf(out, "  io thread     %s: reads a chunk into pinned memory, %.2f MB\n",
                source->node->name, mb);
    }
    if (self->uploads > 0) {
        fprintf(out, "  copy queue    ");
        print_members(plan, pass, EK_STAGE_UPLOAD, out);
        fprintf(out, ": %.2f MB per chunk to the device, as the file stores it%s\n",
                mb * self->uploads, plan->resident ? "; kept there for the next pass" : "");
    }
}

/* print_boundaries says why the region begins and ends where it does. */
static void print_boundaries(const ek_plan *plan, int pass, FILE *out)
{
    const plan_pass *self = &plan->passes[pass];
    fprintf(out, "    begins      %s\n",
            self->replay ? "with the stored chunk, which is in device memory already"
                         : "after upload: a copy from the host runs on a queue of its own, to "
                           "overlap with the chunk before");
    for (int i = 0; i < plan->n_nodes; i++) {
        const ek_node *node = plan->nodes[i].node;
        if (!self->member[i]) {
            continue;
        }
        if (ek__stage_is(node, EK_STAGE_FOLD)) {
            fprintf(out,
                    "    ends        with '%s': a fold puts nothing out until the last chunk\n",
                    node->name);
        } else if (ek__stage_is(node, EK_STAGE_DOWNLOAD)) {
            fprintf(out,
                    "    ends        before '%s': a copy to the host runs on a queue of its own\n",
                    node->name);
        }
    }
}

static void print_region(const ek_plan *plan, int pass, FILE *out)
{
    const plan_pass *self = &plan->passes[pass];
    if (self->region_nodes == 0) {
        return;
    }
    fprintf(out, "  region %d      ", pass + 1);
    print_members(plan, pass, EK_STAGE_DEVICE, out);
    fprintf(out, "\n");
    print_boundaries(plan, pass, out);
    bool graph = plan->options.launch == EK_LAUNCH_GRAPH;
    fprintf(out, "    per chunk   %d operations, among them %d %s: %s\n", self->launches,
            self->uploads,
            self->uploads == 1 ? "copy of a chunk header" : "copies of chunk headers",
            graph ? "1 graph launch" : "each is launched singly; as a graph it would be 1 launch");
}

static void print_output(const ek_plan *plan, int pass, FILE *out)
{
    for (int i = 0; i < plan->n_nodes; i++) {
        const plan_node *self = &plan->nodes[i];
        if (!plan->passes[pass].member[i]) {
            continue;
        }
        if (ek__stage_is(self->node, EK_STAGE_DOWNLOAD)) {
            const ek_spec *spec = &self->instance.out;
            double bytes = spec->packed
                               ? (double)plan->chunk_bytes
                               : (double)spec->chunk_rows * (double)spec->extent[EK_AXIS_CELL] * 8;
            fprintf(out, "  copy queue 2  %s: %.2f MB per chunk to pinned memory\n",
                    self->node->name, bytes / 1e6);
        } else if (ek__stage_is(self->node, EK_STAGE_SINK)) {
            fprintf(out, "  io thread     %s: takes each chunk\n", self->node->name);
        }
    }
}

static void print_finish(const plan_node *self, int sweep, FILE *out)
{
    const char *eager = self->instance.needs.eager;
    int operations = ek__finish_launches(self, sweep);
    fprintf(out, "  at the end    %s", self->node->name);
    if (self->sweeps > 1) {
        fprintf(out, ", sweep %d of %d", sweep + 1, self->sweeps);
    }
    fprintf(out, ": %d operation%s, outside a graph: %s\n", operations, operations == 1 ? "" : "s",
            eager != NULL ? eager : "they run once, a capture would cost more");
}

/* print_closing lists what runs once, after the last chunk of the pass. */
static void print_closing(const ek_plan *plan, int pass, FILE *out)
{
    for (int i = 0; i < plan->n_nodes; i++) {
        const plan_node *self = &plan->nodes[i];
        bool fold = ek__stage_is(self->node, EK_STAGE_FOLD);
        if (ek__node_sweep(self, pass) < 0 || (self->streams && !fold)) {
            continue;
        }
        const ek_spec *spec = &self->instance.out;
        if (fold) {
            print_finish(self, ek__node_sweep(self, pass), out);
        } else if (ek__stage_is(self->node, EK_STAGE_DOWNLOAD)) {
            fprintf(out, "  at the end    %s: %d array%s, %.2f MB to the host\n", self->node->name,
                    spec->n_arrays, spec->n_arrays == 1 ? "" : "s",
                    (double)ek__plan_result_bytes(spec) / 1e6);
        } else if (ek__stage_is(self->node, EK_STAGE_SINK)) {
            fprintf(out, "  at the end    %s: on the io thread\n", self->node->name);
        } else {
            fprintf(out, "  at the end    %s\n", self->node->name);
        }
    }
}

char *ek_plan_text(const ek_plan *plan)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        EK_FAIL(EK_ENOMEM, "no memory for the plan's text");
        return NULL;
    }
    print_head(plan, out);
    for (int k = 0; k < plan->n_passes; k++) {
        fprintf(out, "\nPass %d of %d\n", k + 1, plan->n_passes);
        print_reason(plan, k, out);
        print_input(plan, k, out);
        print_region(plan, k, out);
        print_output(plan, k, out);
        print_closing(plan, k, out);
    }
    fprintf(out, "\n");
    print_memory(plan, out);
    return text_close(out, &text);
}
