/* SPDX-License-Identifier: Apache-2.0 */
/* Two stages for tests: `memory` is a source that reads arrays instead of files, `collect` a sink
 * that keeps what it is given. With them a whole pipeline runs on made-up data. */
#ifndef EK_TESTS_MEMORY_STAGES_H
#define EK_TESTS_MEMORY_STAGES_H

#include "graphs/pipeline.h"

/* A run of rows stored alike, as a file would be. */
typedef struct memory_segment {
    int64_t rows;
    ek_dtype dtype;
    double scale, offset;
    int n_missing;
    double missing[2];
    const void *data; /* rows x cells */
} memory_segment;

typedef struct memory_input {
    int64_t cells;
    int n_segments;
    memory_segment segments[4];
    int n_jobs;            /* 0: read on the io thread; else by that many jobs per chunk */
    bool late_first;       /* with jobs: chunk 0 is not ready until chunk 1 is */
    const char *name;      /* NULL: "air" */
    const char *units;     /* NULL: "K" */
    const double *times;   /* one per row; NULL: rows are only counted */
    int64_t fail_at_chunk; /* reading this chunk fails; 0: none does (chunk 0 cannot) */
    int interrupt_at_read; /* reading (without jobs) for the n-th time raises SIGINT; 0: never */
    int *n_reads;          /* counts them; NULL where nothing interrupts */
} memory_input;

/* What `collect` was given; free with collected_fini. */
typedef struct collected {
    ek_spec spec;
    int64_t extent[EK_AXES];
    double *values;             /* STREAM: all rows, decoded */
    void *array[EK_ARRAYS_MAX]; /* RESULT: copies */
    int opened, put, committed, dropped;
} collected;

/* memory_add adds the source, giving `chunk` rows at a time (chunks end with their segment). */
ek_node *memory_add(ek_pipeline *pipeline, const memory_input *input, int64_t chunk);

/* collect_add adds the sink. */
ek_node *collect_add(ek_pipeline *pipeline, ek_node *input, collected *into);
void collected_fini(collected *into);

/* collected_find returns the index of a result array, or fails the test. */
const double *collected_array(const collected *from, const char *name);

/* memory_value decodes value (row, cell) independently of the library: NaN where missing. */
double memory_value(const memory_input *input, int64_t row, int64_t cell);
int64_t memory_rows(const memory_input *input);

#endif /* EK_TESTS_MEMORY_STAGES_H */
