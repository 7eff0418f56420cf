/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a run, shared by run.c (begin and end), run_passes.c and run_slots.c (the loop's
 * work), run_device.c (what is enqueued) and run_memory.c (what is allocated). All of it belongs to
 * the loop's thread, but for what io tasks and jobs write while a slot is LOADING or WRITING. */
#ifndef EK_GRAPHS_RUN_INTERNAL_H
#define EK_GRAPHS_RUN_INTERNAL_H

#include "core/crew.h"
#include "core/loop.h"
#include "core/memory.h"
#include "graphs/internal.h"
#include "graphs/record.h"
#include "graphs/run.h"

EK_BEGIN_DECLS

typedef struct ek_run_state ek_run_state;
typedef struct ek__checkpoint ek__checkpoint;

typedef struct run_slot run_slot;

/* A source's part of loading a slot. */
typedef struct run_load {
    run_slot *slot;
    plan_node *source;
    void *dst;     /* pinned */
    ek_crew *crew; /* reads a chunk's jobs; NULL where the source has none */
    int jobs;      /* in which the chunk is read; 0: on the io thread */
    ek_task io, done;
    ek_error error; /* of the io task */
} run_load;

/* One lap of the ring. */
struct run_slot {
    ek_run_state *run;
    int index;
    slot_state state;  /* changed by ek__run_enter only */
    slot_clock *clock; /* the report's */
    int64_t chunk;
    int64_t rows;
    run_load *loads;           /* per source */
    int pending;               /* sources that are still loading */
    ek_data *data;             /* per node: its stream output in this slot */
    ek_chunk_header **headers; /* per node: pinned, what `data[i].host` shows */
    ek_graph **graphs;         /* per pass; NULL where its region is launched singly */
    ek_event *copy_start, *copied, *start, *computed, *down_start, *downloaded;
    ek_event *
        *marks; /* per node: the end of its work in the region; NULL where stages are not timed */
    ek_task io, done;
    ek_error error; /* of the io task */
};

/* A download's result on the host: moves into the report at the end. */
typedef struct run_result {
    const ek_node *node;
    ek_data data;
    void *block; /* pinned; NULL where the arrays are in device memory */
} run_result;

struct ek_report {
    const ek_plan *plan;
    ek_backend *backend;
    run_record *record;
    run_result *results; /* per node */
    int n_results;
    double seconds;
    ek_times times;
    ek_counts counts;
};

struct ek_run_state {
    ek_plan *plan;
    ek_run_options options;
    ek_loop *loop;
    ek_queue *copy_in, *compute, *copy_out;
    ek_event *closing_start, *closing_stop;
    ek_event **finished; /* per node that works at a pass's end: when it had; else NULL */
    ek_task start, closing_done, closing_io, closing_written;
    ek_error closing_error;

    ek_pool *pools; /* per node: its stream buffers */
    ek_pool host_headers, device_headers;
    char *status;  /* pinned, all nodes' */
    ek_exec *exec; /* per node */
    bool *sink_open;
    run_slot *slots;
    ek_report *report;

    int pass;
    int64_t next_chunk, next_submit; /* to be read; to be given to the device */
    int64_t chunks_done, steps_done;
    int in_flight;
    bool closing;   /* the pass's chunks are done, its closing work runs */
    bool stopping;  /* no new work; the loop ends when nothing is in flight */
    ek_error error; /* the first */
    double began;
    ek__checkpoint *checkpoint; /* NULL: this run neither leaves states nor has one before */
    ek_task checkpoint_written;
    bool resumed;         /* in the middle: earlier chunks are not in device memory */
    bool draining;        /* interrupted: no new chunks, then a checkpoint, then the end */
    bool last_cut;        /* that checkpoint is on its way, or written */
    int loading;          /* slots being read */
    double loading_began; /* since when there is one */
};

/* run.c. ek__run_fail keeps the thread's last error if it is the run's first, and stops new work.
 */
void ek__run_fail(ek_run_state *run);

/* ek__run_cancel fails with the sentence about an interrupt. */
void ek__run_cancel(ek_run_state *run);

/* run_passes.c. ek__run_pump starts chunks while there are free slots, and notices the pass's end.
 */
void ek__run_pump(ek_run_state *run);
void ek__run_start_pass(ek_run_state *run);
void ek__run_init_tasks(ek_run_state *run);

/* run_slots.c. ek__slot_start gives a free slot its next chunk; ek__slot_computed ends the device's
 * turn; ek__run_put hands a sink its chunk (slot NULL: its result), on the io thread. */
void ek__slot_start(run_slot *slot, int64_t chunk);
void ek__slot_computed(run_slot *slot);
void ek__slot_init_tasks(run_slot *slot);
ek_status ek__run_put(ek_run_state *run, run_slot *slot, int i);

/* run_memory.c: takes all that the run needs; ek__run_release tolerates a half-made state. */
ek_status ek__run_setup(ek_run_state *run);
void ek__run_release(ek_run_state *run);

/* run_device.c. Each enqueues and returns; a failure names node and chunk. */
ek_status ek__run_prepare(ek_run_state *run);    /* warms up, captures all passes' graphs */
ek_status ek__run_begin_pass(ek_run_state *run); /* resets accumulators */
ek_status ek__run_submit(run_slot *slot);        /* a chunk; slot->done is posted when complete */
ek_status ek__run_submit_closing(ek_run_state *run); /* folds' ends and what follows them */
ek_status ek__run_collect(ek_run_state *run);        /* after the closing work: facts and extents */
ek_status ek__run_account(run_slot *slot);           /* adds up a complete chunk's device time */

/* run_times.c. ek__run_enter changes a slot's state and notes how long it was in the last. The
 * others fill in the record at the places that their names say. */
void ek__run_enter(run_slot *slot, slot_state state);
void ek__run_pass_began(ek_run_state *run);
void ek__run_pass_ended(ek_run_state *run);
void ek__run_ended(ek_run_state *run);
ek_status ek__run_time_stages(run_slot *slot);     /* of a complete chunk, by its marks */
ek_status ek__run_time_closing(ek_run_state *run); /* after the pass's closing work */

/* ek__run_closes says whether a node does something at the end of the present pass on the device.
 */
bool ek__run_closes(const ek_run_state *run, int i);

/* ek__run_inputs fills in[] with what the node's links carry, in this slot (NULL: results only). */
void ek__run_inputs(ek_run_state *run, const run_slot *slot, int node, const ek_data **in);

static inline void ek__task_set(ek_task *task, void (*fn)(ek_task *task), void *user)
{
    task->run = fn;
    task->user = user;
}

static inline plan_pass *ek__run_pass(ek_run_state *run)
{
    return &run->plan->passes[run->pass];
}

/* ek__run_fresh says whether the present pass reads source i, or copies at upload i. A resumed run
 * has no chunks in device memory from earlier passes. */
static inline bool ek__run_fresh(ek_run_state *run, int i)
{
    const plan_pass *pass = ek__run_pass(run);
    bool takes = ek__stage_is(run->plan->nodes[i].node, EK_STAGE_SOURCE | EK_STAGE_UPLOAD);
    return run->resumed ? pass->member[i] && takes : pass->fresh[i];
}

EK_END_DECLS

#endif /* EK_GRAPHS_RUN_INTERNAL_H */
