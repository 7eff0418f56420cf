/* SPDX-License-Identifier: Apache-2.0 */
/* The reading threads of the load benchmark: all jobs of all files in one queue. */
#ifndef EK_TOOLS_BENCH_LOAD_POOL_H
#define EK_TOOLS_BENCH_LOAD_POOL_H

#include "stages/load/decoder.h"

/* A file to read, and where to. */
typedef struct bench_file {
    const char *path;
    ek__variable variable;
    int64_t n_rows, n_values;
    size_t n_bytes;
    ek__decoder *decoder;
    int n_jobs;      /* of the whole variable */
    void *out;       /* n_bytes */
    double decide_s; /* making the decoder took this long */
} bench_file;

/* A length of time: of the clock on the wall, and of all processors while they worked for this
 * process, which other programs on the machine change little. */
typedef struct bench_time {
    double wall_s, cpu_s;
} bench_time;

/* bench_now returns a time since some moment; bench_since the time since then. */
bench_time bench_now(void);
bench_time bench_since(bench_time began);

/* bench_pool_read starts n_threads threads with a scratch each, then measures how long they take to
 * do all jobs of all files, from the moment that the last of them is ready. Blocks. */
ek_status bench_pool_read(bench_file *files, int n_files, int n_threads, bench_time *took);

#endif /* EK_TOOLS_BENCH_LOAD_POOL_H */
