/* SPDX-License-Identifier: Apache-2.0 */
/* Running a plan, and the report of what happened. */
#ifndef EK_GRAPHS_RUN_H
#define EK_GRAPHS_RUN_H

#include "graphs/plan.h"

EK_BEGIN_DECLS

typedef struct ek_progress {
    int pass, n_passes;
    int64_t chunks_done, n_chunks;   /* of this pass */
    int64_t steps_done, n_steps;     /* time steps of this pass */
    double seconds;                  /* since the run started */
    double step_bytes;               /* of a step's values, as stored */
    int loading, computing, writing; /* chunks in flight, by what they are at or wait for */
} ek_progress;

/* A zeroed struct is the defaults. */
typedef struct ek_run_options {
    void (*on_progress)(const ek_progress *progress, void *user); /* on the calling thread */
    void *user;
    unsigned progress_ms; /* between calls; 0: 200 */
    bool detail; /* for the report: in launch stream or serial the device time of each stage, at the
                    cost of an event per stage and chunk; on cuda the driver's count of memory */
    bool handle_interrupt; /* SIGINT and SIGTERM end the run at a chunk's end, with EK_ECANCELED */

    /* A file that the run leaves from time to time, and removes when it ends well: what has been
     * accumulated so far (graphs/state.h). With `resume` the run goes on from it if it is there,
     * with the same bits as if it had never stopped; a file of another plan or of changed input is
     * refused, and without `resume` not overwritten. An interrupt leaves one, too. Not for
     * pipelines with a sink that takes a stream. NULL: none. */
    const char *checkpoint;
    double checkpoint_s; /* seconds from one to the next; 0: 30 */
    bool resume;

    /* A file for the accumulators at the end of the run: a finished state. It replaces what has
     * this name. For pipelines of one pass whose folds have `merge`; NULL: none. */
    const char *state;
} ek_run_options;

typedef struct ek_report ek_report;

/* ek_run executes the plan on the calling thread and blocks until the end. On failure nothing is
 * half-written, all memory is released, and the error names stage and chunk. A plan may be run
 * again, one run at a time. `report` may be NULL; else destroy it with ek_report_destroy. */
EK_API ek_status ek_run(ek_plan *plan, const ek_run_options *options, ek_report **report);
EK_API void ek_report_destroy(ek_report *report);

/* Wall time of the run; and the device's part of it: copies, kernels and library calls, by events
 * on their queues, added up (work that overlaps counts twice). Seconds. */
EK_API double ek_report_seconds(const ek_report *report);
EK_API double ek_report_device_seconds(const ek_report *report);

/* Where the time went, in seconds: `prepare`, what is done once before any chunk is on the device
 * (memory taken, libraries loaded, regions captured); `read`, wall time in which some chunk was
 * being read or decoded; the others as the device counts them: `upload`, `compute` (regions),
 * `download` (of chunks), `closing` (the ends of folds and the download of results). They overlap.
 */
typedef struct ek_times {
    double prepare, read, upload, compute, download, closing;
} ek_times;
EK_API ek_times ek_report_times(const ek_report *report);

/* Counts: chunks processed, bytes copied to the device and back, single launches and graph launches
 * made, graphs captured. */
typedef struct ek_counts {
    int64_t chunks, upload_bytes, download_bytes;
    int64_t launches, graph_launches, graphs, graph_nodes;
} ek_counts;
EK_API ek_counts ek_report_counts(const ek_report *report);

/* ek_report_json writes the report down by the keys of graphs/report.schema.json: per pass and
 * stage chunks, launches, bytes and times; per chunk times; slots; memory; what bounded the run.
 * The plan must still exist. Free with ek_free; NULL with an error if out of memory. */
EK_API char *ek_report_json(const ek_report *report);

/* ek_report_array returns array `name` that a download node without a sink behind it, or with one,
 * brought to the host: its values (float64 or int32, see its spec) and their number. NULL with an
 * error if there is none. Borrowed from the report. */
EK_API const void *ek_report_array(const ek_report *report, const ek_node *node, const char *name,
                                   int64_t *n_values);

/* ek_report_number is ek_report_array for a scalar; NaN if there is none. */
EK_API double ek_report_number(const ek_report *report, const ek_node *node, const char *name);

/* ek_report_modes returns how many modes a download node's result has (0 if it has none). */
EK_API int64_t ek_report_modes(const ek_report *report, const ek_node *node);

EK_END_DECLS

#endif /* EK_GRAPHS_RUN_H */
