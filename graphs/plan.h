/* SPDX-License-Identifier: Apache-2.0 */
/* A plan: what a run will do, decided before any data is read: passes, regions, memory, launches.
 * Immutable and printable. Made for one backend; the pipeline must outlive it. */
#ifndef EK_GRAPHS_PLAN_H
#define EK_GRAPHS_PLAN_H

#include "graphs/pipeline.h"

EK_BEGIN_DECLS

/* How the device work of a chunk is launched. The results are the same to the bit. */
typedef enum ek_launch {
    EK_LAUNCH_GRAPH = 1, /* each region captured once per slot and replayed (the default) */
    EK_LAUNCH_STREAM,    /* one launch per kernel */
    EK_LAUNCH_SERIAL     /* likewise, and wait after every stage */
} ek_launch;

/* A zeroed struct is the defaults. */
typedef struct ek_plan_options {
    const char *backend; /* "auto" (NULL), "host", "cuda" */
    ek_launch launch;    /* 0: graph */
    int slots;           /* chunks in flight; 0: 3 */
    int threads;         /* that read files; 0: one per processor (see ek_crew_threads) */
    size_t device_bytes; /* budget of device memory; 0: 90 % of what is free */
    size_t pinned_bytes; /* budget of pinned memory; 0: no limit */
    bool reread;         /* read the files again for a second pass even if the chunks would fit */
    const char *from_state; /* go on from this finished state (graphs/state.h), whose period comes
                               before the source's; NULL: start with nothing. Borrowed until the
                               plan is destroyed */
} ek_plan_options;

typedef struct ek_plan ek_plan;

/* ek_plan_create opens inputs, negotiates every link and lays out memory. Refuses with an error
 * that names node and port, or the memory table if the budget is too small. Blocks. */
EK_API ek_status ek_plan_create(ek_plan **out, ek_pipeline *pipeline,
                                const ek_plan_options *options);
EK_API void ek_plan_destroy(ek_plan *plan);

/* How a plan is written down. TEXT is for people: decisions, passes, regions and why each ends
 * where it does, launches and bytes per chunk, memory. JSON holds the same and more, by stable keys
 * (graphs/plan.schema.json). DOT (graphviz) and MERMAID draw nodes and links, regions as boxes. */
typedef enum ek_format {
    EK_FORMAT_TEXT = 1,
    EK_FORMAT_JSON,
    EK_FORMAT_DOT,
    EK_FORMAT_MERMAID
} ek_format;

/* ek_plan_format writes the plan down. Free with ek_free; NULL with an error if out of memory. */
EK_API char *ek_plan_format(const ek_plan *plan, ek_format format);

/* ek_format_parse reads "text", "json", "dot" or "mermaid"; 0 if it is none of them. */
EK_API ek_format ek_format_parse(const char *name);

EK_API const char *ek_plan_backend(const ek_plan *plan);
EK_API const char *ek_plan_backend_reason(const ek_plan *plan);
EK_API ek_launch ek_plan_launch(const ek_plan *plan);

/* ek_launch_name returns "graph", "stream" or "serial"; ek_launch_parse the reverse, 0 if none. */
EK_API const char *ek_launch_name(ek_launch launch);
EK_API ek_launch ek_launch_parse(const char *name);

/* ek_plan_field returns the metadata of the source, ek_plan_spec what a node puts out (NULL if
 * there is no such node). Borrowed from the plan. */
EK_API const ek_field *ek_plan_field(const ek_plan *plan);
EK_API const ek_spec *ek_plan_spec(const ek_plan *plan, const ek_node *node);

/* Device operations per chunk in pass `pass` (from 0): as single launches, and as graph launches.
 */
EK_API int ek_plan_passes(const ek_plan *plan);
EK_API int ek_plan_chunk_launches(const ek_plan *plan, int pass);

EK_END_DECLS

#endif /* EK_GRAPHS_PLAN_H */
