/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints, resuming and finished states of a run. A cut is consistent by construction: the
 * copies of all accumulators are enqueued on the compute queue between two chunks, and the queue
 * keeps its order; so chunks go on being read and computed while the cut is written by the io
 * thread. All calls are made on the loop's thread, but for the two marked. */
#ifndef EK_GRAPHS_CHECKPOINT_H
#define EK_GRAPHS_CHECKPOINT_H

#include "graphs/run_internal.h"
#include "graphs/state_internal.h"

EK_BEGIN_DECLS

struct ek__checkpoint {
    ek__state *state; /* of the plan; its blocks are those of the last cut */
    ek__pack identity, head;
    struct {
        int node;
        void *device; /* where it is; NULL: it is on the host already */
    } * places;       /* per block */
    char *staging;    /* pinned; belongs to the io thread while busy */
    size_t staging_bytes;
    char *part; /* the name beside the checkpoint's */

    ek__state *from; /* what the run goes on from; NULL: nothing */
    const char *from_path;

    bool due, busy, kept;
    ek_task copied, write;
    ek_error error; /* of the write */
};

/* ek__checkpoint_create reads and checks the state that the run goes on from, if any, sets the
 * run's pass and first chunk, and takes pinned memory for the largest cut. Does nothing for a run
 * without states. */
ek_status ek__checkpoint_create(ek_run_state *run);
void ek__checkpoint_destroy(ek_run_state *run);

/* ek__checkpoint_load, on the io thread, reads the blocks that the run goes on from; results of
 * earlier passes that are on the host are complete afterwards. ek__checkpoint_restore enqueues the
 * others' way to the device, after the pass has begun, and waits for it. */
ek_status ek__checkpoint_load(ek_run_state *run);
ek_status ek__checkpoint_restore(ek_run_state *run);

/* ek__checkpoint_submitted is told that all chunks before `chunk` are on the compute queue, and
 * makes a cut there if one is due. ek__checkpoint_cut makes one now; not while busy.
 * run->checkpoint_written is posted once it is written; ek__checkpoint_written then tells of a
 * failure, which does not end the run. */
ek_status ek__checkpoint_submitted(ek_run_state *run, int64_t chunk);
ek_status ek__checkpoint_cut(ek_run_state *run, int64_t chunk);
void ek__checkpoint_written(ek_run_state *run);
bool ek__checkpoint_busy(const ek_run_state *run);

/* ek__checkpoint_due has the next submitted chunk followed by a cut. */
void ek__checkpoint_due(ek_run_state *run);

/* ek__checkpoint_kept says whether a checkpoint of this run is on disk. */
bool ek__checkpoint_kept(const ek_run_state *run);

/* ek__checkpoint_finish enqueues the cut for the finished state, before the last pass is closed.
 * ek__checkpoint_close, on the io thread, writes that state; ek__checkpoint_remove removes the
 * checkpoint of a run that went well. */
ek_status ek__checkpoint_finish(ek_run_state *run);
ek_status ek__checkpoint_close(ek_run_state *run);
void ek__checkpoint_remove(ek_run_state *run);

/* Shared by checkpoint.c and checkpoint_resume.c. ek__checkpoint_blocks sets the blocks of a cut in
 * `pass` and returns the staging bytes they take; ek__checkpoint_copy enqueues the copies of those
 * in device memory; ek__checkpoint_step gives the step at which a chunk begins;
 * ek__checkpoint_find looks at what is under the checkpoint's name: nothing, a checkpoint to resume
 * from or to replace, or something in the way. */
size_t ek__checkpoint_blocks(ek_run_state *run, int pass);
ek_status ek__checkpoint_copy(ek_run_state *run, bool to_device);
ek_status ek__checkpoint_step(const ek_run_state *run, int64_t chunk, int64_t *step);
ek_status ek__checkpoint_find(ek_run_state *run);

EK_END_DECLS

#endif /* EK_GRAPHS_CHECKPOINT_H */
