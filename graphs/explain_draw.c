/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as a drawing, for graphviz and for Mermaid. Nodes are drawn once, those of a region in a
 * box, in the first pass that has them. Solid lines are streams, dashed ones results; a result that
 * a later pass waits for says so. */
#include "graphs/explain.h"

#include <inttypes.h>
#include <string.h>

/* The two languages differ in little but their signs. */
typedef struct drawing {
    FILE *out;
    const ek_plan *plan;
    const char *line; /* a line's end inside a label */
    bool entities;    /* Mermaid's: a character by its number */
} drawing;

static void put_text(const drawing *d, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (d->entities && strchr("\"#<>&", *c) != NULL) {
            fprintf(d->out, "#%d;", *c);
        } else if (*c == '"') {
            fputs("\\\"", d->out);
        } else if (*c == '\\' || (unsigned char)*c < ' ') {
            fputc(*c == '\\' ? '/' : ' ', d->out);
        } else {
            fputc(*c, d->out);
        }
    }
}

/* region_of returns the pass in whose region a node is drawn, -1 for one in none. */
static int region_of(const ek_plan *plan, int i)
{
    for (int k = 0; k < plan->n_passes; k++) {
        if (plan->passes[k].member[i] && ek__stage_is(plan->nodes[i].node, EK_STAGE_DEVICE)) {
            return k;
        }
    }
    return -1;
}

static void node_label(const drawing *d, int i)
{
    const ek_node *node = d->plan->nodes[i].node;
    put_text(d, node->name);
    if (strcmp(node->name, node->stage->name) != 0) {
        fprintf(d->out, "%s(%s)", d->line, node->stage->name);
    }
    if (ek__stage_is(node, EK_STAGE_SOURCE)) {
        const ek_field *field = ek_plan_field(d->plan);
        fputs(d->line, d->out);
        put_text(d, field->source != NULL ? field->source : "memory");
    }
    if (ek__stage_is(node, EK_STAGE_FOLD)) {
        int operations = d->plan->nodes[i].instance.needs.finish_launches;
        fprintf(d->out, "%send: %d operation%s, no graph", d->line, operations,
                operations == 1 ? "" : "s");
    }
}

static void region_label(const drawing *d, int pass)
{
    const plan_pass *self = &d->plan->passes[pass];
    bool graph = d->plan->options.launch == EK_LAUNCH_GRAPH;
    fprintf(d->out, "region %d: %d operations per chunk, %s", pass + 1, self->launches,
            graph ? "1 graph launch" : "launched singly");
}

/* link_label says what a link carries: "float32[1460, 10512] degK, pinned". */
static void link_label(const drawing *d, const plan_node *to, const plan_node *from)
{
    const ek_spec *spec = &from->instance.out;
    const ek_array_spec *array = &spec->arrays[0];
    bool one = spec->n_arrays == 1;
    if (one) {
        fputs(ek_dtype_name(spec->packed ? spec->field->dtype : array->dtype), d->out);
        for (int i = 0; i < array->n_axes; i++) {
            fprintf(d->out, "%s%" PRId64, i == 0 ? " " : " x ", spec->extent[array->axes[i]]);
        }
        if (array->units[0] != '\0') {
            fputc(' ', d->out);
            put_text(d, array->units);
        }
    } else {
        fprintf(d->out, "%d arrays", spec->n_arrays);
    }
    fprintf(d->out, ", %s", spec->space == EK_SPACE_DEVICE ? "device" : "pinned");
    if (spec->kind == EK_RESULT && to->streams) {
        fprintf(d->out, "%sfinished: pass %d", d->line, to->level + 1);
    }
}

static const char *dot_shape(const ek_node *node)
{
    if (ek__stage_is(node, EK_STAGE_SOURCE | EK_STAGE_SINK)) {
        return "cylinder";
    }
    return ek__stage_is(node, EK_STAGE_UPLOAD | EK_STAGE_DOWNLOAD) ? "cds" : "box";
}

static void dot_nodes(const drawing *d, int region, const char *indent)
{
    for (int i = 0; i < d->plan->n_nodes; i++) {
        if (region_of(d->plan, i) == region) {
            fprintf(d->out, "%sn%d [shape=%s, label=\"", indent, i,
                    dot_shape(d->plan->nodes[i].node));
            node_label(d, i);
            fputs("\"];\n", d->out);
        }
    }
}

static void dot_links(const drawing *d)
{
    for (int i = 0; i < d->plan->n_nodes; i++) {
        const plan_node *to = &d->plan->nodes[i];
        for (int k = 0; k < to->node->n_inputs; k++) {
            const plan_node *from = &d->plan->nodes[to->node->inputs[k]->index];
            fprintf(d->out, "  n%d -> n%d [style=%s, label=\"", from->node->index, i,
                    from->instance.out.kind == EK_STREAM ? "solid" : "dashed");
            link_label(d, to, from);
            fputs("\"];\n", d->out);
        }
    }
}

char *ek__plan_dot(const ek_plan *plan)
{
    char *text = NULL;
    size_t size = 0;
    drawing d = {open_memstream(&text, &size), plan, "\\n", false};
    if (d.out == NULL) {
        return ek__stream_close(d.out, &text);
    }
    fputs("digraph \"", d.out);
    put_text(&d, plan->pipeline->name);
    fputs("\" {\n  rankdir=LR;\n", d.out);
    dot_nodes(&d, -1, "  ");
    for (int k = 0; k < plan->n_passes; k++) {
        if (plan->passes[k].region_nodes > 0) {
            fprintf(d.out, "  subgraph cluster_region%d {\n    label=\"", k + 1);
            region_label(&d, k);
            fputs("\";\n", d.out);
            dot_nodes(&d, k, "    ");
            fputs("  }\n", d.out);
        }
    }
    dot_links(&d);
    fputs("}\n", d.out);
    return ek__stream_close(d.out, &text);
}

static void mermaid_nodes(const drawing *d, int region, const char *indent)
{
    for (int i = 0; i < d->plan->n_nodes; i++) {
        if (region_of(d->plan, i) == region) {
            bool file = ek__stage_is(d->plan->nodes[i].node, EK_STAGE_SOURCE | EK_STAGE_SINK);
            fprintf(d->out, "%sn%d%s\"", indent, i, file ? "[(" : "[");
            node_label(d, i);
            fprintf(d->out, "\"%s\n", file ? ")]" : "]");
        }
    }
}

static void mermaid_links(const drawing *d)
{
    for (int i = 0; i < d->plan->n_nodes; i++) {
        const plan_node *to = &d->plan->nodes[i];
        for (int k = 0; k < to->node->n_inputs; k++) {
            const plan_node *from = &d->plan->nodes[to->node->inputs[k]->index];
            fprintf(d->out, "  n%d %s|\"", from->node->index,
                    from->instance.out.kind == EK_STREAM ? "-->" : "-.->");
            link_label(d, to, from);
            fprintf(d->out, "\"| n%d\n", i);
        }
    }
}

char *ek__plan_mermaid(const ek_plan *plan)
{
    char *text = NULL;
    size_t size = 0;
    drawing d = {open_memstream(&text, &size), plan, "<br/>", true};
    if (d.out == NULL) {
        return ek__stream_close(d.out, &text);
    }
    fputs("flowchart LR\n", d.out);
    mermaid_nodes(&d, -1, "  ");
    for (int k = 0; k < plan->n_passes; k++) {
        if (plan->passes[k].region_nodes > 0) {
            fprintf(d.out, "  subgraph region%d [\"", k + 1);
            region_label(&d, k);
            fputs("\"]\n", d.out);
            mermaid_nodes(&d, k, "    ");
            fputs("  end\n", d.out);
        }
    }
    mermaid_links(&d);
    return ek__stream_close(d.out, &text);
}
