/* SPDX-License-Identifier: Apache-2.0 */
/* What a run remembers for its report: times of chunks, of stages, of slots by state. All memory is
 * taken before the first chunk; of more than EK__KEPT_CHUNKS chunks only distributions are kept. On
 * the loop's thread. */
#ifndef EK_GRAPHS_RECORD_H
#define EK_GRAPHS_RECORD_H

#include "graphs/internal.h"
#include "graphs/run.h"

EK_BEGIN_DECLS

#define EK__KEPT_CHUNKS 4096
#define EK__SPREAD_BINS 1300

/* A distribution of seconds in constant memory: exact minimum, mean and maximum; quantiles by bins
 * that are 2 % wide, from 0.1 us to 4 hours. */
typedef struct ek__spread {
    int64_t n;
    double sum, min, max;
    int32_t bins[EK__SPREAD_BINS];
} ek__spread;

void ek__spread_add(ek__spread *spread, double seconds);
double ek__spread_quantile(const ek__spread *spread, double q); /* NaN where n is 0 */

/* The parts of a chunk's life that are timed. */
typedef enum chunk_part {
    PART_READ,     /* from the start of its reading to the end */
    PART_TURN,     /* read, and waiting for the chunks before it */
    PART_UPLOAD,   /* as the device's events tell: the copy to it, */
    PART_COMPUTE,  /* the region, */
    PART_DOWNLOAD, /* the copy back */
    PART_DEVICE,   /* from its submission to the end of its work there, waiting included */
    PART_WRITE,    /* in sinks */
    PART_FREE,     /* how long its slot had been free before */
    CHUNK_PARTS
} chunk_part;

extern const char *const ek__part_names[CHUNK_PARTS];

typedef struct pass_record {
    double began, seconds; /* wall time */
    double closing;        /* device time of what runs after the last chunk */
    ek_counts counts;      /* of this pass */
    int64_t read_bytes;
    double *stage;             /* per node: device seconds of its chunks; NaN: not known apart */
    double *finish;            /* per node: device seconds at the pass's end; NaN: nothing runs */
    ek__spread *spread;        /* per part */
    double *kept[CHUNK_PARTS]; /* per chunk; NULL where there are too many */
} pass_record;

typedef enum slot_state {
    SLOT_FREE,
    SLOT_LOADING,
    SLOT_LOADED,
    SLOT_ON_DEVICE,
    SLOT_WRITING
} slot_state;

#define SLOT_STATES (SLOT_WRITING + 1)

/* How long a slot has been in each state; `lap` since it was last given a chunk. */
typedef struct slot_clock {
    double since;
    double lap[SLOT_STATES], total[SLOT_STATES];
    double upload, compute, download, write; /* of the present chunk */
} slot_clock;

typedef struct run_record {
    int n_passes, n_nodes, n_slots;
    int64_t n_chunks;
    pass_record *passes;
    slot_clock *slots;
    ek_counts before;     /* the run's, when the pass began */
    double setup_seconds; /* before the first chunk could start */
    double write_seconds; /* in sinks, for chunks and results */
    size_t device_taken, pinned_taken;
    size_t device_drop;  /* of free device memory since the plan, by the driver; 0: not known */
    size_t process_peak; /* of the process's resident memory */
} run_record;

/* ek__record_create takes the memory; ek__record_destroy takes NULL too. */
ek_status ek__record_create(run_record **out, const ek_plan *plan);
void ek__record_destroy(run_record *record);

/* ek__record_now is a clock that only goes forward, in seconds. */
double ek__record_now(void);

/* ek__record_chunk notes a complete chunk of a pass, by its slot's clock, which begins a new lap.
 */
void ek__record_chunk(run_record *record, int pass, int64_t chunk, slot_clock *clock);

EK_END_DECLS

#endif /* EK_GRAPHS_RECORD_H */
