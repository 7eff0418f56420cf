/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: the insides of a pipeline and of a plan. */
#ifndef EK_GRAPHS_INTERNAL_H
#define EK_GRAPHS_INTERNAL_H

#include "core/memory.h"
#include "graphs/plan.h"

EK_BEGIN_DECLS

#define EK__SOURCES_MAX 16

struct ek_node {
    ek_pipeline *pipeline;
    const ek_stage *stage;
    int index; /* in pipeline->nodes; inputs have lower ones, so this is a topological order */
    char *name;
    void *options;
    int n_inputs;
    ek_node *inputs[EK_STAGE_INPUTS];
};

struct ek_pipeline {
    char *name;
    ek_node **nodes;
    size_t n_nodes, capacity;
    ek_error error; /* the first mistake; status EK_OK if none */
};

/* The nodes that feed a new one; NULL: nothing does. */
typedef struct node_inputs {
    int n;
    ek_node *nodes[EK_STAGE_INPUTS];
} node_inputs;

/* A node in a plan. Buffers are indices into the plan's arenas, -1 where there is none. */
typedef struct plan_node {
    const ek_node *node;
    ek_instance instance;
    int level;          /* the pass in which it ends, or first can run */
    int sweeps;         /* passes in which it folds, the last of them is `level`; 1 for most */
    bool streams;       /* takes part chunk by chunk */
    int source;         /* whose chunk headers its stream carries; -1 for a result */
    bool kept;          /* an upload whose chunks all stay in device memory */
    int last_use;       /* the last step that reads its output */
    bool slot_output;   /* its stream output has a buffer per slot, since a copy queue reads it */
    int state, scratch; /* device arena */
    int output; /* device arena: a stream's values, or a result's arrays one after another */
} plan_node;

/* A pass: one sweep over the sources it needs. */
typedef struct plan_pass {
    bool *member;     /* per node: takes part chunk by chunk */
    bool *fresh;      /* per node: a source that is read, an upload that copies; false for the rest,
                         and for uploads whose chunks are in device memory already */
    bool replay;      /* nothing is read or copied */
    int reads;        /* sources that are read */
    int copies;       /* uploads that copy */
    int region_nodes; /* device nodes in the pass's region */
    int launches;     /* operations of the region per chunk */
    int uploads, downloads, sinks;
} plan_pass;

struct ek_plan {
    ek_pipeline *pipeline;
    ek_plan_options options;
    ek_backend *backend;
    ek_backend_props props;
    char reason[256];
    bool io_held;

    ek_field *joined; /* with from_state: the field over the earlier steps and the source's */
    int64_t earlier_steps;
    uint32_t earlier_crc; /* of the state file's head */

    int n_nodes;
    plan_node *nodes;
    int sources[EK__SOURCES_MAX]; /* indices of the source nodes, which all have the same steps */
    int n_sources;
    int source; /* the first of them */
    int n_passes;
    plan_pass *passes;

    int n_slots;
    int n_threads; /* of the pool that reads */
    int64_t n_chunks;
    size_t chunk_bytes; /* of stored values in one slot, all sources together, aligned */
    bool resident;      /* some upload keeps its chunks in device memory */

    ek_arena device; /* states, scratch, results, values between stages */
    size_t staging_bytes, resident_bytes, slot_output_bytes; /* device */
    size_t ring_bytes, result_bytes, status_bytes;           /* pinned */
    size_t header_bytes;                                     /* in each of the two */
    size_t device_bytes, pinned_bytes;                       /* totals */
};

/* ek__node_port returns the input of `to` that `from` feeds, -1 if none. */
static inline int ek__node_port(const ek_node *to, const ek_node *from)
{
    for (int i = 0; i < to->n_inputs; i++) {
        if (to->inputs[i] == from) {
            return i;
        }
    }
    return -1;
}

static inline bool ek__stage_is(const ek_node *node, unsigned flag)
{
    return (node->stage->flags & flag) != 0;
}

/* pipeline.c: ek_pipeline_add under a name; NULL: the default. */
ek_node *ek__pipeline_add_named(ek_pipeline *pipeline, const ek_stage *stage, const char *name,
                                const node_inputs *inputs, const void *options);

/* ek__stage_ports counts a stage's inputs; ek__stage_implies says whether an input may be left
 * without a link. */
int ek__stage_ports(const ek_stage *stage);
bool ek__stage_implies(const ek_stage *stage, int port);

/* ek__node_sweep returns which of its sweeps the node makes in a pass, from 0; -1 if none. */
static inline int ek__node_sweep(const plan_node *self, int pass)
{
    int sweep = pass - (self->level - self->sweeps + 1);
    return sweep >= 0 && sweep < self->sweeps ? sweep : -1;
}

static inline int ek__chunk_launches(const plan_node *self, int sweep)
{
    const ek_needs *needs = &self->instance.needs;
    return sweep <= 0 ? needs->chunk_launches : needs->later[sweep - 1].chunk_launches;
}

static inline int ek__finish_launches(const plan_node *self, int sweep)
{
    const ek_needs *needs = &self->instance.needs;
    return sweep <= 0 ? needs->finish_launches : needs->later[sweep - 1].finish_launches;
}

/* ek__plan_step numbers the moments of a run for the memory plan: in each pass first the chunk
 * steps of all nodes, then the closing steps. */
static inline int ek__plan_step(const ek_plan *plan, int pass, int node, bool closing)
{
    return (2 * pass + (closing ? 1 : 0)) * plan->n_nodes + node;
}

/* ek__plan_stream_bytes returns the bytes of a chunk of a stream, as it is there: stored or
 * decoded, aligned. */
static inline size_t ek__plan_stream_bytes(const ek_spec *spec)
{
    size_t size = spec->packed ? spec->field->value_bytes : sizeof(double);
    return ek_align((size_t)spec->chunk_rows * (size_t)spec->extent[EK_AXIS_CELL] * size);
}

/* ek__plan_result_bytes returns the bytes of a result's arrays, each aligned, at planned extents.
 */
size_t ek__plan_result_bytes(const ek_spec *spec);

/* sources.c: has the sources agree on time axis and chunks. */
ek_status ek__plan_agree(const ek_plan *plan);

/* passes.c: levels, passes and their members. */
ek_status ek__plan_passes(ek_plan *plan);

/* passes.c: which sources are read and which uploads copy, once it is known what is kept. */
void ek__plan_fresh(ek_plan *plan);

/* state_recall.c. ek__plan_recall has a plan with the option from_state go on from that state: the
 * source's field and steps become those of both periods. ek__plan_recall_check refuses a state that
 * the plan cannot go on with, ek__plan_can_continue a plan that can have no finished state. */
ek_status ek__plan_recall(ek_plan *plan);
ek_status ek__plan_recall_check(const ek_plan *plan);
ek_status ek__plan_can_continue(const ek_plan *plan);

/* plan_memory.c: buffers, budget, and the choice between keeping chunks and reading again. */
ek_status ek__plan_memory(ek_plan *plan);

/* explain.c: the memory table as text. Free with ek_free. */
char *ek__plan_memory_text(const ek_plan *plan);

EK_END_DECLS

#endif /* EK_GRAPHS_INTERNAL_H */
