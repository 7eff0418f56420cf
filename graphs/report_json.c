/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON, by the keys of graphs/report.schema.json. Seconds, bytes; passes and slots
 * count from 1. What is not known is null. */
#include "graphs/explain.h"
#include "graphs/run_internal.h"

#include <math.h>

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *spread_json(const ek__spread *spread)
{
    double n = (double)spread->n;
    return json_pack("{s:I,s:f,s:o,s:f,s:o,s:o}", "n", (json_int_t)spread->n, "min", spread->min,
                     "mean", real(spread->sum / n), "max", spread->max, "p50",
                     real(ek__spread_quantile(spread, 0.5)), "p99",
                     real(ek__spread_quantile(spread, 0.99)));
}

/* The chunks' seconds one by one; null where there were too many to keep. */
static json_t *kept_json(const ek_report *report, const pass_record *pass)
{
    if (pass->kept[0] == NULL) {
        return json_null();
    }
    json_t *object = json_object();
    for (int part = 0; part < CHUNK_PARTS; part++) {
        json_t *seconds = json_array();
        for (int64_t i = 0; i < report->plan->n_chunks; i++) {
            ek__json_append(&seconds, real(pass->kept[part][i]));
        }
        json_object_set_new(object, ek__part_names[part], seconds);
    }
    return object;
}

static json_t *spreads_json(const pass_record *pass)
{
    json_t *object = json_object();
    for (int part = 0; part < CHUNK_PARTS; part++) {
        json_object_set_new(object, ek__part_names[part], spread_json(&pass->spread[part]));
    }
    return object;
}

/* A node's share of a pass. In mode graph a region runs as one, so its stages' times are null and
 * the region's is the chunks' `compute`. */
static json_t *stages_json(const ek_report *report, int pass)
{
    const ek_plan *plan = report->plan;
    const pass_record *record = &report->record->passes[pass];
    json_t *stages = json_array();
    for (int i = 0; i < plan->n_nodes; i++) {
        const plan_node *self = &plan->nodes[i];
        int sweep = ek__node_sweep(self, pass);
        bool member = plan->passes[pass].member[i];
        bool closing = sweep >= 0 && !isnan(record->finish[i]);
        bool kept = ek__stage_is(self->node, EK_STAGE_UPLOAD) && !plan->passes[pass].fresh[i];
        if (!member && !closing) {
            continue;
        }
        json_int_t per_chunk = member && !kept ? ek__chunk_launches(self, sweep) : 0;
        json_int_t at_end = 0;
        if (closing) {
            at_end = ek__stage_is(self->node, EK_STAGE_FOLD) ? ek__finish_launches(self, sweep)
                                                             : ek__chunk_launches(self, sweep);
        }
        ek__json_append(&stages,
                        json_pack("{s:o,s:s,s:I,s:o,s:I,s:o}", "node",
                                  ek__json_text(self->node->name), "stage", self->node->stage->name,
                                  "operations", per_chunk * (json_int_t)record->counts.chunks,
                                  "seconds", real(record->stage[i]), "closing_operations", at_end,
                                  "closing_seconds", real(record->finish[i])));
    }
    return stages;
}

static json_t *counts_json(const ek_counts *counts)
{
    return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "chunks", (json_int_t)counts->chunks,
                     "upload_bytes", (json_int_t)counts->upload_bytes, "download_bytes",
                     (json_int_t)counts->download_bytes, "launches", (json_int_t)counts->launches,
                     "graph_launches", (json_int_t)counts->graph_launches, "graphs",
                     (json_int_t)counts->graphs, "graph_nodes", (json_int_t)counts->graph_nodes);
}

static json_t *passes_json(const ek_report *report)
{
    json_t *passes = json_array();
    for (int k = 0; k < report->plan->n_passes; k++) {
        const pass_record *pass = &report->record->passes[k];
        ek__json_append(&passes, json_pack("{s:i,s:b,s:f,s:f,s:I,s:o,s:o,s:o,s:o}", "pass", k + 1,
                                           "replay", report->plan->passes[k].replay, "seconds",
                                           pass->seconds, "closing_seconds", pass->closing,
                                           "read_bytes", (json_int_t)pass->read_bytes, "counts",
                                           counts_json(&pass->counts), "stages",
                                           stages_json(report, k), "chunk_seconds",
                                           spreads_json(pass), "chunks", kept_json(report, pass)));
    }
    return passes;
}

static json_t *slots_json(const run_record *record)
{
    json_t *slots = json_array();
    for (int s = 0; s < record->n_slots; s++) {
        const double *total = record->slots[s].total;
        ek__json_append(&slots, json_pack("{s:i,s:f,s:f,s:f,s:f,s:f}", "slot", s + 1, "free",
                                          total[SLOT_FREE], "loading", total[SLOT_LOADING],
                                          "loaded", total[SLOT_LOADED], "on_device",
                                          total[SLOT_ON_DEVICE], "writing", total[SLOT_WRITING]));
    }
    return slots;
}

/* What of the run was busy for how long, and which of it for longest. The parts overlap. */
static json_t *bound_json(const ek_report *report)
{
    const ek_times *t = &report->times;
    const struct {
        const char *what;
        double seconds;
    } parts[] = {{"preparing", report->record->setup_seconds},
                 {"reading", t->read},
                 {"uploading", t->upload},
                 {"computing", t->compute + t->closing},
                 {"downloading", t->download},
                 {"writing", report->record->write_seconds}};
    size_t longest = 0;
    json_t *busy = json_object();
    for (size_t i = 0; i < EK_COUNT(parts); i++) {
        longest = parts[i].seconds > parts[longest].seconds ? i : longest;
        json_object_set_new(busy, parts[i].what, json_real(parts[i].seconds));
    }
    return json_pack("{s:s,s:o,s:o}", "by", parts[longest].what, "share",
                     real(parts[longest].seconds / report->seconds), "busy_seconds", busy);
}

static json_t *memory_json(const ek_report *report)
{
    const ek_plan *plan = report->plan;
    const run_record *record = report->record;
    return json_pack("{s:I,s:I,s:I,s:I,s:o,s:I}", "device_planned", (json_int_t)plan->device_bytes,
                     "device_taken", (json_int_t)record->device_taken, "pinned_planned",
                     (json_int_t)plan->pinned_bytes, "pinned_taken",
                     (json_int_t)record->pinned_taken, "device_driver",
                     record->device_drop > 0 ? json_integer((json_int_t)record->device_drop)
                                             : json_null(),
                     "process_peak", (json_int_t)record->process_peak);
}

static json_t *sources_json(const ek_plan *plan)
{
    json_t *sources = json_array();
    for (int s = 0; s < plan->n_sources; s++) {
        const plan_node *source = &plan->nodes[plan->sources[s]];
        const ek_field *field = source->instance.out.field;
        json_array_append_new(
            sources,
            json_pack("{s:o,s:o,s:o,s:I,s:I,s:o}", "node", ek__json_text(source->node->name),
                      "variable", ek__json_text(field->name), "units", ek__json_text(field->units),
                      "steps", (json_int_t)field->n_time, "cells", (json_int_t)field->n_cells,
                      "decoding", ek__json_decoding(field)));
    }
    return sources;
}

char *ek_report_json(const ek_report *report)
{
    const ek_plan *plan = report->plan;
    json_t *object = json_pack(
        "{s:i,s:o,s:{s:s,s:o,s:o},s:s,s:o,s:o,s:i,s:f,s:f,s:f,s:o,s:o,s:o,s:o,"
        "s:o}",
        "ekman_report", 1, "pipeline", ek__json_text(plan->pipeline->name), "backend", "name",
        ek_backend_name(plan->backend), "reason", ek__json_text(plan->reason), "device",
        ek__json_text(plan->props.device), "launch", ek_launch_name(plan->options.launch),
        "versions", ek__json_versions(plan), "sources", sources_json(plan), "threads",
        plan->n_threads, "seconds", report->seconds, "device_seconds",
        ek_report_device_seconds(report), "setup_seconds", report->record->setup_seconds, "bound",
        bound_json(report), "counts", counts_json(&report->counts), "passes", passes_json(report),
        "slots", slots_json(report->record), "memory_bytes", memory_json(report));
    return ek__json_dump(object, JSON_COMPACT | JSON_REAL_PRECISION(9));
}
