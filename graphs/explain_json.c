/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as JSON, by the keys of graphs/plan.schema.json. Bytes are bytes, passes count from 1. A
 * value that could not be made is NULL and makes what holds it NULL too, up to the whole. */
#include "graphs/explain.h"

#include "core/version.h"
#include "stages/versions.h"

#include <stdlib.h>
#include <string.h>

static const char *const axis_names[EK_AXES] = {"time", "cell", "mode"};

json_t *ek__json_text(const char *text)
{
    if (text == NULL) {
        return json_null();
    }
    json_t *string = json_string(text);
    char *plain = string == NULL ? ek_strdup(text) : NULL;
    for (char *c = plain; c != NULL && *c != '\0'; c++) {
        if ((unsigned char)*c >= 0x80) {
            *c = '?';
        }
    }
    if (plain != NULL) {
        string = json_string(plain);
        ek_free(plain);
    }
    return string;
}

char *ek__json_dump(json_t *value, size_t flags)
{
    char *text = json_dumps(value, flags);
    json_decref(value);
    if (text == NULL) {
        EK_FAIL(EK_ENOMEM, "no memory for the JSON text");
        return NULL;
    }
    char *copy = ek_strprintf("%s\n", text);
    free(text);
    return copy;
}

/* ek__json_append adds an item to a list and keeps it NULL once something could not be made. */
void ek__json_append(json_t **list, json_t *item)
{
    if (json_array_append_new(*list, item) != 0) {
        json_decref(*list);
        *list = NULL;
    }
}

/* add_pairs adds "name number, name number" to an object. */
static void add_pairs(json_t *object, char *pairs)
{
    char *rest = NULL;
    for (char *pair = strtok_r(pairs, ",", &rest); pair != NULL;
         pair = strtok_r(NULL, ",", &rest)) {
        char *number = strrchr(pair, ' ');
        if (number != NULL && number > pair) {
            *number = '\0';
            json_object_set_new(object, pair + strspn(pair, " "), ek__json_text(number + 1));
        }
    }
}

json_t *ek__json_versions(const ek_plan *plan)
{
    ek_version versions[EK_VERSIONS_MAX];
    int n = ek_versions_get(versions);
    json_t *object = json_pack("{s:s}", "ekman", EK_VERSION_STRING);
    for (int i = 0; i < n; i++) {
        json_object_set_new(object, versions[i].name, ek__json_text(versions[i].number));
    }
    char device[sizeof plan->props.libraries];
    memcpy(device, plan->props.libraries, sizeof device);
    add_pairs(object, device);
    return object;
}

/* Files that are read alike, in the order in which their like first appears. */
json_t *ek__json_decoding(const ek_field *field)
{
    json_t *groups = json_array();
    for (int i = 0; i < field->n_files; i++) {
        const ek_file *file = &field->files[i];
        json_t *files = NULL;
        for (size_t k = 0; k < json_array_size(groups) && files == NULL; k++) {
            json_t *group = json_array_get(groups, k);
            const char *decoder = json_string_value(json_object_get(group, "decoder"));
            if (decoder != NULL && strcmp(decoder, file->decoder) == 0) {
                files = json_object_get(group, "files");
            }
        }
        if (files == NULL) {
            files = json_array();
            ek__json_append(&groups, json_pack("{s:o,s:O}", "decoder", ek__json_text(file->decoder),
                                               "files", files));
            json_decref(files); /* the group has it */
        }
        json_array_append_new(files, ek__json_text(file->path));
    }
    return groups;
}

static json_t *source_json(const plan_node *source)
{
    const ek_field *field = source->instance.out.field;
    const ek_time_axis *time = &field->time;
    json_t *dims = json_array();
    json_t *notes = json_array();
    for (int i = 0; i < field->n_dims; i++) {
        ek__json_append(&dims, json_pack("{s:o,s:I}", "name", ek__json_text(field->dims[i].name),
                                         "size", (json_int_t)field->dims[i].size));
    }
    for (size_t i = 0; i < field->n_notes; i++) {
        ek__json_append(&notes, ek__json_text(field->notes[i]));
    }
    return json_pack("{s:o,s:o,s:o,s:s,s:o,s:I,s:o,s:{s:o,s:I,s:o,s:o,s:o,s:o},s:o,s:o}", "node",
                     ek__json_text(source->node->name), "variable", ek__json_text(field->name),
                     "units", ek__json_text(field->units), "dtype", ek_dtype_name(field->dtype),
                     "dimensions", dims, "cells", (json_int_t)field->n_cells, "input",
                     ek__json_text(field->source), "time", "name", ek__json_text(time->name),
                     "steps", (json_int_t)field->n_time, "units", ek__json_text(time->units),
                     "calendar", ek__json_text(time->calendar), "first", ek__json_text(time->first),
                     "last", ek__json_text(time->last), "decoding", ek__json_decoding(field),
                     "notes", notes);
}

static json_t *sources_json(const ek_plan *plan)
{
    json_t *sources = json_array();
    for (int s = 0; s < plan->n_sources; s++) {
        ek__json_append(&sources, source_json(&plan->nodes[plan->sources[s]]));
    }
    return sources;
}

static json_t *array_json(const ek_spec *spec, const ek_array_spec *array)
{
    json_t *axes = json_array();
    json_t *shape = json_array();
    for (int i = 0; i < array->n_axes; i++) {
        ek__json_append(&axes, json_string(axis_names[array->axes[i]]));
        ek__json_append(&shape, json_integer(spec->extent[array->axes[i]]));
    }
    return json_pack("{s:o,s:s,s:o,s:o,s:o}", "name", ek__json_text(array->name), "dtype",
                     ek_dtype_name(spec->packed ? spec->field->dtype : array->dtype), "axes", axes,
                     "shape", shape, "units",
                     ek__json_text(array->units[0] != '\0' ? array->units : NULL));
}

static json_t *link_json(const ek_plan *plan, const plan_node *to, int port)
{
    const ek_node *from = to->node->inputs[port];
    const ek_spec *spec = &plan->nodes[from->index].instance.out;
    bool stream = spec->kind == EK_STREAM;
    json_t *arrays = json_array();
    for (int i = 0; i < spec->n_arrays; i++) {
        ek__json_append(&arrays, array_json(spec, &spec->arrays[i]));
    }
    return json_pack("{s:o,s:o,s:s,s:s,s:s,s:b,s:I,s:I,s:o}", "from", ek__json_text(from->name),
                     "to", ek__json_text(to->node->name), "port",
                     to->node->stage->inputs[port].name, "kind", stream ? "stream" : "result",
                     "space", spec->space == EK_SPACE_DEVICE ? "device" : "pinned", "packed",
                     stream && spec->packed, "chunks", (json_int_t)(stream ? spec->n_chunks : 0),
                     "chunk_rows", (json_int_t)(stream ? spec->chunk_rows : 0), "arrays", arrays);
}

static json_t *links_json(const ek_plan *plan)
{
    json_t *links = json_array();
    for (int i = 0; i < plan->n_nodes; i++) {
        for (int k = 0; k < plan->nodes[i].node->n_inputs; k++) {
            ek__json_append(&links, link_json(plan, &plan->nodes[i], k));
        }
    }
    return links;
}

/* A node's options as text; lists (the input files) are told elsewhere. */
static json_t *options_json(const ek_node *node)
{
    json_t *options = json_object();
    const ek_option *option = node->stage->options;
    for (; option != NULL && option->name != NULL; option++) {
        char value[256];
        if (option->type != EK_OPTION_STRINGS) {
            ek_options_format(option, node->options, value, sizeof value);
            json_object_set_new(options, option->name, ek__json_text(value));
        }
    }
    return options;
}

static const char *role(const ek_node *node)
{
    static const struct {
        unsigned flag;
        const char *name;
    } roles[] = {{EK_STAGE_SOURCE, "source"}, {EK_STAGE_SINK, "sink"},
                 {EK_STAGE_UPLOAD, "upload"}, {EK_STAGE_DOWNLOAD, "download"},
                 {EK_STAGE_FOLD, "fold"},     {EK_STAGE_DEVICE, "device"}};
    for (size_t i = 0; i < EK_COUNT(roles); i++) {
        if (ek__stage_is(node, roles[i].flag)) {
            return roles[i].name;
        }
    }
    return "host";
}

static json_t *nodes_json(const ek_plan *plan)
{
    json_t *nodes = json_array();
    for (int i = 0; i < plan->n_nodes; i++) {
        const plan_node *self = &plan->nodes[i];
        const ek_needs *needs = &self->instance.needs;
        json_t *passes = json_array();
        for (int k = 0; k < plan->n_passes; k++) {
            if (plan->passes[k].member[i]) {
                ek__json_append(&passes, json_integer(k + 1));
            }
        }
        ek__json_append(
            &nodes,
            json_pack("{s:o,s:s,s:s,s:o,s:i,s:i,s:o,s:i,s:i,s:I,s:I}", "name",
                      ek__json_text(self->node->name), "stage", self->node->stage->name, "role",
                      role(self->node), "passes", passes, "ends_in_pass", self->level + 1, "sweeps",
                      self->sweeps, "options", options_json(self->node), "operations_per_chunk",
                      needs->chunk_launches, "operations_at_end", needs->finish_launches,
                      "state_bytes", (json_int_t)needs->state_bytes, "scratch_bytes",
                      (json_int_t)needs->scratch_bytes));
    }
    return nodes;
}

/* The names of the pass's members with one of the flags. */
static json_t *members_json(const ek_plan *plan, int pass, unsigned flags)
{
    json_t *names = json_array();
    for (int i = 0; i < plan->n_nodes; i++) {
        const ek_node *node = plan->nodes[i].node;
        if (plan->passes[pass].member[i] && ek__stage_is(node, flags)) {
            ek__json_append(&names, ek__json_text(node->name));
        }
    }
    return names;
}

/* What makes this pass necessary: a finished result, or a fold that has not seen enough. */
static json_t *reasons_json(const ek_plan *plan, int pass)
{
    json_t *reasons = json_array();
    for (int i = 0; i < plan->n_nodes; i++) {
        const ek_node *node = plan->nodes[i].node;
        int sweep = ek__node_sweep(&plan->nodes[i], pass);
        if (sweep > 0) {
            ek__json_append(&reasons, json_pack("{s:o,s:n,s:i}", "node", ek__json_text(node->name),
                                                "needs", "sweep", sweep + 1));
        }
        for (int k = 0; plan->passes[pass].member[i] && k < node->n_inputs; k++) {
            const plan_node *from = &plan->nodes[node->inputs[k]->index];
            if (from->instance.out.kind == EK_RESULT && from->level == pass - 1) {
                ek__json_append(&reasons,
                                json_pack("{s:o,s:o,s:i}", "node", ek__json_text(node->name),
                                          "needs", ek__json_text(from->node->name), "sweep", 1));
            }
        }
    }
    return reasons;
}

static json_t *region_json(const ek_plan *plan, int pass)
{
    const plan_pass *self = &plan->passes[pass];
    if (self->region_nodes == 0) {
        return json_null();
    }
    json_t *ends = json_array();
    for (int i = 0; i < plan->n_nodes; i++) {
        const ek_node *node = plan->nodes[i].node;
        const char *why = self->member[i] ? ek__explain_end(node) : NULL;
        if (why != NULL) {
            ek__json_append(&ends,
                            json_pack("{s:o,s:b,s:s}", "node", ek__json_text(node->name),
                                      "included", ek__stage_is(node, EK_STAGE_FOLD), "why", why));
        }
    }
    bool graph = plan->options.launch == EK_LAUNCH_GRAPH;
    return json_pack("{s:o,s:s,s:o,s:i,s:i}", "nodes", members_json(plan, pass, EK_STAGE_DEVICE),
                     "begins", ek__explain_begin(self), "ends", ends, "operations_per_chunk",
                     self->launches, "launches_per_chunk", graph ? 1 : self->launches);
}

/* What runs once, after the last chunk of the pass. */
static json_t *closing_json(const ek_plan *plan, int pass)
{
    json_t *list = json_array();
    for (int i = 0; i < plan->n_nodes; i++) {
        const plan_node *self = &plan->nodes[i];
        bool fold = ek__stage_is(self->node, EK_STAGE_FOLD);
        int sweep = ek__node_sweep(self, pass);
        if (sweep < 0 || (self->streams && !fold)) {
            continue;
        }
        bool download = ek__stage_is(self->node, EK_STAGE_DOWNLOAD);
        size_t bytes = download ? ek__plan_result_bytes(&self->instance.out) : 0;
        ek__json_append(
            &list,
            json_pack("{s:o,s:i,s:i,s:o,s:I}", "node", ek__json_text(self->node->name), "sweep",
                      sweep + 1, "operations",
                      fold ? ek__finish_launches(self, sweep) : self->instance.needs.chunk_launches,
                      "why_no_graph", ek__json_text(fold ? ek__explain_eager(self) : NULL),
                      "download_bytes", (json_int_t)bytes));
    }
    return list;
}

static json_t *pass_json(const ek_plan *plan, int pass)
{
    const plan_pass *self = &plan->passes[pass];
    json_int_t down = 0;
    int jobs = 0;
    for (int i = 0; i < plan->n_nodes; i++) {
        if (self->fresh[i]) {
            jobs += plan->nodes[i].instance.needs.read_jobs;
        }
        if (self->member[i] && ek__stage_is(plan->nodes[i].node, EK_STAGE_DOWNLOAD)) {
            down += (json_int_t)ek__plan_stream_bytes(&plan->nodes[i].instance.out);
        }
    }
    const char *from = self->replay ? "device memory"
                       : jobs > 0   ? "files, on pool threads"
                                    : "files, on the io thread";
    size_t read = ek__explain_fresh_bytes(plan, pass, EK_STAGE_SOURCE);
    size_t up = ek__explain_fresh_bytes(plan, pass, EK_STAGE_UPLOAD);
    return json_pack(
        "{s:i,s:o,s:b,s:s,s:i,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o}", "pass", pass + 1, "why",
        reasons_json(plan, pass), "replay", self->replay, "reads_from", from, "read_jobs_per_chunk",
        jobs, "read_bytes_per_chunk", (json_int_t)read, "upload_bytes_per_chunk", (json_int_t)up,
        "download_bytes_per_chunk", down, "uploads", members_json(plan, pass, EK_STAGE_UPLOAD),
        "region", region_json(plan, pass), "downloads", members_json(plan, pass, EK_STAGE_DOWNLOAD),
        "sinks", members_json(plan, pass, EK_STAGE_SINK), "at_end", closing_json(plan, pass));
}

static json_t *memory_json(const ek_plan *plan)
{
    ek__memory_row rows[EK__MEMORY_ROWS];
    int n = ek__explain_memory(plan, rows);
    json_t *table = json_array();
    for (int i = 0; i < n; i++) {
        ek__json_append(&table, json_pack("{s:s,s:s,s:I}", "space", rows[i].space, "what",
                                          rows[i].what, "bytes", (json_int_t)rows[i].bytes));
    }
    return json_pack("{s:I,s:I,s:o}", "device_bytes", (json_int_t)plan->device_bytes,
                     "pinned_bytes", (json_int_t)plan->pinned_bytes, "table", table);
}

static json_t *passes_json(const ek_plan *plan)
{
    json_t *passes = json_array();
    for (int k = 0; k < plan->n_passes; k++) {
        ek__json_append(&passes, pass_json(plan, k));
    }
    return passes;
}

char *ek__plan_json(const ek_plan *plan)
{
    const ek_spec *source = &plan->nodes[plan->source].instance.out;
    json_t *plan_json = json_pack(
        "{s:i,s:o,s:{s:s,s:o,s:o,s:I,s:I},s:{s:s,s:s},s:o,s:o,s:{s:I,s:I,s:I,s:i,s:i},s:o,s:o,s:o,"
        "s:o}",
        "ekman_plan", 1, "pipeline", ek__json_text(plan->pipeline->name), "backend", "name",
        ek_backend_name(plan->backend), "reason", ek__json_text(plan->reason), "device",
        ek__json_text(plan->props.device), "free_bytes", (json_int_t)plan->props.free_bytes,
        "total_bytes", (json_int_t)plan->props.total_bytes, "launch", "mode",
        ek_launch_name(plan->options.launch), "meaning", ek__explain_launch(plan), "versions",
        ek__json_versions(plan), "sources", sources_json(plan), "chunks", "count",
        (json_int_t)plan->n_chunks, "rows", (json_int_t)source->chunk_rows, "bytes",
        (json_int_t)plan->chunk_bytes, "slots", plan->n_slots, "threads", plan->n_threads, "nodes",
        nodes_json(plan), "links", links_json(plan), "passes", passes_json(plan), "memory",
        memory_json(plan));
    return ek__json_dump(plan_json, JSON_INDENT(2));
}
