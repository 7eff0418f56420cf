/* SPDX-License-Identifier: Apache-2.0 */
/* The laboratory's trials: the same question answered in several ways on the same series. */
#ifndef EK_TOOLS_LAB_TRIALS_H
#define EK_TOOLS_LAB_TRIALS_H

#include "graphs/run.h"
#include "tools/lab/arrays.h"

typedef enum lab_way {
    LAB_EOF_CPU,        /* all on the host */
    LAB_EOF_NAIVE,      /* anomalies on the device, downloaded, decomposed on the host */
    LAB_EOF_FIXED,      /* all on the device, one launch per kernel */
    LAB_EOF_GRAPH,      /* the same, captured */
    LAB_CELLS_LOOP,     /* a plain loop over cells on the host */
    LAB_CELLS_LAUNCHED, /* one launch per cell and statistic */
    LAB_CELLS_CAPTURED, /* the same launches in one graph */
    LAB_CELLS_CPU,      /* the reduce stage on the host */
    LAB_CELLS_GPU,      /* the reduce stage on the device, one launch per kernel */
    LAB_CELLS_GRAPH,    /* the same, captured */
    LAB_WAYS
} lab_way;

/* What a trial took, and what it found. */
typedef struct lab_trial {
    lab_way way;
    double
        wall_s; /* from the series in memory to the answer in memory, but for what is done once */
    double
        capture_s; /* done once: taking memory, warming up, capturing, making graphs executable */
    int64_t launches, graph_launches;
    double up_bytes, down_bytes; /* between host and device */
    double middle_bytes;         /* of these, in the middle of the work: there and back again */
    double host_s;               /* of wall: the decomposition on the host while the device idles */
    double answer; /* the first mode's fraction of variance, or the mean over cells of the std */
} lab_trial;

const char *lab_way_name(lab_way way);    /* "graph" */
const char *lab_way_summary(lab_way way); /* what it does, in a few words */
bool lab_way_is_eof(lab_way way);
bool lab_way_needs_device(lab_way way);

/* lab_run runs one trial `rounds` times after one to warm up and keeps the fastest. */
ek_status lab_run(lab_way way, const lab_series *series, int rounds, lab_trial *out);

/* lab_read reads a variable (NULL: the only one) of files into memory. */
ek_status lab_read(const char *const *paths, int n_paths, const char *variable, lab_series *out);

#endif /* EK_TOOLS_LAB_TRIALS_H */
