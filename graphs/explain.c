/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as text: for each pass what is read, copied, captured and finished, and why it is so. */
#include "graphs/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *ek__stream_close(FILE *out, char **text)
{
    if (out == NULL) {
        EK_FAIL(EK_ENOMEM, "no memory for the text of a plan");
        return NULL;
    }
    char *copy = fclose(out) == 0 ? ek_strdup(*text) : NULL;
    free(*text);
    return copy;
}

const char *ek__explain_launch(const ek_plan *plan)
{
    switch (plan->options.launch) {
    case EK_LAUNCH_STREAM:
        return "one launch per operation";
    case EK_LAUNCH_SERIAL:
        return "one launch per operation, and a wait after every stage";
    default:
        return ek_backend_which(plan->backend) == EK_BACKEND_CUDA
                   ? "each region is one CUDA Graph per slot, captured once, replayed per chunk"
                   : "each region is one recorded list per slot, replayed per chunk";
    }
}

const char *ek__explain_begin(const plan_pass *pass)
{
    return pass->replay ? "with the stored chunk, which is in device memory already"
                        : "after upload: a copy from the host runs on a queue of its own, to "
                          "overlap with the chunk before";
}

const char *ek__explain_end(const ek_node *node)
{
    if (ek__stage_is(node, EK_STAGE_FOLD)) {
        return "a fold puts nothing out until the last chunk";
    }
    return ek__stage_is(node, EK_STAGE_DOWNLOAD) ? "a copy to the host runs on a queue of its own"
                                                 : NULL;
}

const char *ek__explain_eager(const plan_node *self)
{
    const char *eager = self->instance.needs.eager;
    return eager != NULL ? eager : "they run once, a capture would cost more";
}

size_t ek__explain_fresh_bytes(const ek_plan *plan, int pass, unsigned flag)
{
    size_t bytes = 0;
    for (int i = 0; i < plan->n_nodes; i++) {
        if (plan->passes[pass].fresh[i] && ek__stage_is(plan->nodes[i].node, flag)) {
            bytes += ek__plan_stream_bytes(&plan->nodes[i].instance.out);
        }
    }
    return bytes;
}

int ek__explain_memory(const ek_plan *plan, ek__memory_row rows[EK__MEMORY_ROWS])
{
    const ek__memory_row all[] = {
        {"device", "accumulators, results, values between stages", plan->device.bytes},
        {"device", "values that a download reads, per slot", plan->slot_output_bytes},
        {"device", "all chunks, kept for the next pass", plan->resident_bytes},
        {"device", "staging, per slot", plan->staging_bytes},
        {"device", "chunk headers", plan->header_bytes},
        {"pinned", "ring of chunks, per slot", plan->ring_bytes},
        {"pinned", "results", plan->result_bytes},
        {"pinned", "chunk headers, facts for the host", plan->header_bytes + plan->status_bytes},
    };
    int n = 0;
    for (size_t i = 0; i < EK_COUNT(all); i++) {
        if (all[i].bytes > 0) {
            rows[n++] = all[i];
        }
    }
    return n;
}

static void memory_row(FILE *out, const char *space, const char *what, size_t bytes)
{
    int width = (int)(58 - strlen(space));
    fprintf(out, "  %s%-*s %10.2f MB\n", space, width, what, (double)bytes / 1e6);
}

static void print_memory(const ek_plan *plan, FILE *out)
{
    ek__memory_row rows[EK__MEMORY_ROWS];
    int n = ek__explain_memory(plan, rows);
    fprintf(out, "Memory\n");
    for (int i = 0; i < n; i++) {
        char what[80];
        snprintf(what, sizeof what, ": %s", rows[i].what);
        memory_row(out, rows[i].space, what, rows[i].bytes);
        bool last = i + 1 == n || strcmp(rows[i].space, rows[i + 1].space) != 0;
        if (last) {
            bool device = strcmp(rows[i].space, "device") == 0;
            memory_row(out, rows[i].space, " in all",
                       device ? plan->device_bytes : plan->pinned_bytes);
        }
    }
}

char *ek__plan_memory_text(const ek_plan *plan)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out != NULL) {
        print_memory(plan, out);
    }
    return ek__stream_close(out, &text);
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

static void print_head(const ek_plan *plan, FILE *out)
{
    const ek_spec *spec = &plan->nodes[plan->source].instance.out;
    fprintf(out, "Pipeline  %s: %d nodes, %d pass%s\n", plan->pipeline->name, plan->n_nodes,
            plan->n_passes, plan->n_passes == 1 ? "" : "es");
    fprintf(out, "Backend   %s\n", plan->reason);
    fprintf(out, "Launch    %s: %s\n", ek_launch_name(plan->options.launch),
            ek__explain_launch(plan));
    for (int s = 0; s < plan->n_sources; s++) {
        print_field(plan->nodes[plan->sources[s]].instance.out.field, out);
    }
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

static void print_source(const ek_plan *plan, const plan_node *source, FILE *out)
{
    double mb = (double)ek__plan_stream_bytes(&source->instance.out) / 1e6;
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
}

static void print_upload(const plan_node *self, bool fresh, FILE *out)
{
    double mb = (double)ek__plan_stream_bytes(&self->instance.out) / 1e6;
    if (fresh) {
        fprintf(out,
                "  copy queue    %s: %.2f MB per chunk to the device, as the file stores it%s\n",
                self->node->name, mb, self->kept ? "; kept there for later passes" : "");
    } else {
        fprintf(out,
                "  kept          %s: its chunks are kept in device memory (%.2f MB): nothing is "
                "read or copied\n",
                self->node->name, mb * (double)self->instance.out.n_chunks);
    }
}

/* print_input says what the pass reads and copies, and what it has already. */
static void print_input(const ek_plan *plan, int pass, FILE *out)
{
    const plan_pass *self = &plan->passes[pass];
    for (int i = 0; i < plan->n_nodes; i++) {
        const plan_node *node = &plan->nodes[i];
        if (self->fresh[i] && ek__stage_is(node->node, EK_STAGE_SOURCE)) {
            print_source(plan, node, out);
        } else if (self->member[i] && ek__stage_is(node->node, EK_STAGE_UPLOAD)) {
            print_upload(node, self->fresh[i], out);
        }
    }
}

/* print_boundaries says why the region begins and ends where it does. */
static void print_boundaries(const ek_plan *plan, int pass, FILE *out)
{
    const plan_pass *self = &plan->passes[pass];
    fprintf(out, "    begins      %s\n", ek__explain_begin(self));
    for (int i = 0; i < plan->n_nodes; i++) {
        const ek_node *node = plan->nodes[i].node;
        const char *why = self->member[i] ? ek__explain_end(node) : NULL;
        if (why != NULL) {
            fprintf(out, "    ends        %s '%s': %s\n",
                    ek__stage_is(node, EK_STAGE_FOLD) ? "with" : "before", node->name, why);
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
    fprintf(out, "    per chunk   %d operation%s: %s\n", self->launches,
            self->launches == 1 ? "" : "s",
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
            fprintf(out, "  copy queue 2  %s: %.2f MB per chunk to pinned memory\n",
                    self->node->name, (double)ek__plan_stream_bytes(&self->instance.out) / 1e6);
        } else if (ek__stage_is(self->node, EK_STAGE_SINK)) {
            fprintf(out, "  io thread     %s: takes each chunk\n", self->node->name);
        }
    }
}

static void print_finish(const plan_node *self, int sweep, FILE *out)
{
    int operations = ek__finish_launches(self, sweep);
    fprintf(out, "  at the end    %s", self->node->name);
    if (self->sweeps > 1) {
        fprintf(out, ", sweep %d of %d", sweep + 1, self->sweeps);
    }
    fprintf(out, ": %d operation%s, outside a graph: %s\n", operations, operations == 1 ? "" : "s",
            ek__explain_eager(self));
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

static char *plan_text(const ek_plan *plan)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return ek__stream_close(out, &text);
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
    return ek__stream_close(out, &text);
}

static const struct {
    const char *name;
    char *(*write)(const ek_plan *plan);
} formats[] = {
    [EK_FORMAT_TEXT] = {"text", plan_text},
    [EK_FORMAT_JSON] = {"json", ek__plan_json},
    [EK_FORMAT_DOT] = {"dot", ek__plan_dot},
    [EK_FORMAT_MERMAID] = {"mermaid", ek__plan_mermaid},
};

char *ek_plan_format(const ek_plan *plan, ek_format format)
{
    return formats[format].write(plan);
}

ek_format ek_format_parse(const char *name)
{
    for (int i = EK_FORMAT_TEXT; i <= EK_FORMAT_MERMAID; i++) {
        if (strcmp(name, formats[i].name) == 0) {
            return (ek_format)i;
        }
    }
    return (ek_format)0;
}
