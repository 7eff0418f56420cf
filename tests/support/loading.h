/* SPDX-License-Identifier: Apache-2.0 */
/* The load stage at work for tests: stored bytes chunk by chunk through the source's contract,
 * decoded values through a pipeline, and what the netCDF library reads. A test that uses these
 * holds an ek_io_acquire. */
#ifndef EK_TESTS_SUPPORT_LOADING_H
#define EK_TESTS_SUPPORT_LOADING_H

#include "stages/load.h"
#include "tests/support/memory_stages.h"

/* A load node that has negotiated. */
typedef struct loading {
    ek_instance self;
    ek_load_options options;
} loading;

/* loading_open makes a node; loading_close ends it, also after a failure. */
ek_status loading_open(loading *node, const ek_load_options *options);
void loading_close(loading *node);

/* loading_decoder returns who reads the first file, as the plan tells it: "chunk (shuffle,
 * deflate)", "library (szip)". */
const char *loading_decoder(const loading *node);

/* loading_raw reads all chunks as stored, one after another, jobs shared by up to n_threads threads
 * (1: on the calling one, the last job first). Checks that headers follow each other. The first
 * chunk's header goes to *header, unless NULL. *out is the caller's to free, NULL after a failure.
 */
ek_status loading_raw(loading *node, int n_threads, ek_chunk_header *header, void **out);

/* loading_most_jobs returns the number of jobs of the chunk that has most. */
int loading_most_jobs(loading *node);

/* loading_values runs the pipeline "load ! collect" on the host with this many reading threads. */
void loading_values(const ek_load_options *options, int n_threads, collected *out);

/* What the library reads of a whole variable. `bytes` is the caller's to free. */
typedef struct plain {
    int64_t n_values;
    int type; /* nc_type */
    size_t n_bytes;
    void *bytes;
} plain;

/* plain_read reads a variable by nc_get_var. */
void plain_read(const char *path, const char *variable, plain *out);

/* plain_value returns stored value i as float64. */
double plain_value(const plain *from, int64_t i);

#endif /* EK_TESTS_SUPPORT_LOADING_H */
