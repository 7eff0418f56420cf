/* SPDX-License-Identifier: Apache-2.0 */
/* State files: what a run has accumulated after some of its time steps, and of what. A checkpoint
 * is one that a run leaves on its way, to be resumed (ek_run_options.checkpoint); a finished state
 * is one after the last step (ek_run_options.state), to be joined with others, or gone on from with
 * later files (ek_plan_options.from_state).
 *
 * A file is bound to the program's version and the machine's byte order. Reading it trusts nothing:
 * every length is bounded and every byte is under a checksum (CRC-32). */
#ifndef EK_GRAPHS_STATE_H
#define EK_GRAPHS_STATE_H

#include "graphs/pipeline.h"

EK_BEGIN_DECLS

/* ek_state_text reads and checks a state file and describes it for people. Free with ek_free; NULL
 * with an error. */
EK_API char *ek_state_text(const char *path);

/* ek_state_merge joins the finished states of consecutive periods, in the order given, into a new
 * file: what one run over all of them would have accumulated. All must be of the same variable,
 * grid and fold; the fold's stage must have `merge`. The time axis is in the first one's units.
 * Nothing is written on failure. Blocks; the states are held in memory, two at a time. */
EK_API ek_status ek_state_merge(const char *out, const char *const *paths, int n_paths);

/* ek_recall is a source without time steps: the variable, grid and period of a finished state. With
 * it in the place of the load stage, and the plan option from_state, a pipeline ends what the state
 * holds and reads no data. `path` is the state's. */
EK_API ek_node *ek_recall(ek_pipeline *pipeline, const char *path);

/* ek_state_options copies the options of the state's only node that runs `stage` into *options, a
 * zeroed options struct; free with ek_options_free. */
EK_API ek_status ek_state_options(const char *path, const ek_stage *stage, void *options);

EK_END_DECLS

#endif /* EK_GRAPHS_STATE_H */
