/* SPDX-License-Identifier: Apache-2.0 */
/* One variable of one or several files along time: headers read once, files put in time order, rows
 * cut into chunks. On the io thread only, but for ek__dataset_header, _jobs and _job. */
#ifndef EK_STAGES_LOAD_DATASET_H
#define EK_STAGES_LOAD_DATASET_H

#include "stages/load.h"
#include "stages/load/decoder.h"
#include "stages/load/packing.h"
#include "stages/load/scratch.h"
#include "stages/load/times.h"

EK_BEGIN_DECLS

/* A file of the series. */
typedef struct ek__member {
    const char *path; /* borrowed from the options */
    int64_t row0;     /* of its first time step in the series */
    int64_t n_rows;
    ek__packing packing;
    ek__times times;
    char *units;          /* of the variable; NULL if none */
    int64_t time_chunk;   /* time steps in a storage chunk; 1 if not chunked */
    ek__decoder *decoder; /* NULL: the library reads the file */
    char *reader;         /* who reads the file, and why: the decoder's text, or "library (...)" */
    ek_field *notes;      /* holds notes only */
} ek__member;

/* A chunk: rows of one file, or of several with the same packing. */
typedef struct ek__chunk {
    int64_t row0;
    int32_t n_rows;
    int32_t member; /* the file of its first row */
} ek__chunk;

typedef struct ek__dataset {
    const ek_load_options *options; /* borrowed */
    ek_field *field;
    ek__member *members; /* in time order */
    int n_members;
    ek__chunk *chunks;
    size_t n_chunks, chunks_capacity;
    int64_t chunk_rows;        /* the most rows of a chunk */
    int most_jobs;             /* of a chunk */
    ek__scratch_pool *scratch; /* of the jobs; NULL while not open */

    ek__nc_file open; /* the file being read */
    int open_member;  /* -1: none */
    ek__variable open_variable;
} ek__dataset;

/* ek__dataset_create reads the headers of all files and plans the chunks. `options` must outlive
 * the dataset. Leaves no file open. */
ek_status ek__dataset_create(ek__dataset **out, const ek_load_options *options);
void ek__dataset_destroy(ek__dataset *dataset);

/* ek__series_join puts the members in time order, refuses overlaps, and fills the field's time axis
 * in the first file's units (series.c). ek__series_order is its first half: afterwards members[0]
 * is the first file. */
ek_status ek__series_order(ek__dataset *dataset);
ek_status ek__series_join(ek__dataset *dataset);

/* ek__dataset_plan cuts the rows into chunks; ek__dataset_cut cuts them anew, at most `most` rows
 * in each and none across one of the n_at rows `at`; ek__dataset_header describes one (all but
 * `data`); ek__dataset_read reads one; ek__dataset_close closes the file left open (chunks.c). */
ek_status ek__dataset_plan(ek__dataset *dataset);
ek_status ek__dataset_cut(ek__dataset *dataset, int64_t most, const int64_t *at, int64_t n_at);
ek_status ek__dataset_header(const ek__dataset *dataset, int64_t chunk, ek_chunk_header *out);
ek_status ek__dataset_read(ek__dataset *dataset, int64_t chunk, void *dst);
void ek__dataset_close(ek__dataset *dataset);

/* ek__dataset_open takes working memory for n_threads jobs at once; ek__dataset_close gives it
 * back. ek__dataset_jobs says in how many jobs a chunk can be read without the library, 0: it
 * cannot; ek__dataset_job does one of them (jobs.c). */
ek_status ek__dataset_open(ek__dataset *dataset, int n_threads);
int ek__dataset_jobs(const ek__dataset *dataset, int64_t chunk);
ek_status ek__dataset_job(const ek__dataset *dataset, int64_t chunk, int job, void *dst);

/* ek__dataset_variable returns the variable's name to look for in each file, with its group where
 * the options say so; NULL before the first file is open, where the options do not say. */
static inline const char *ek__dataset_variable(const ek__dataset *dataset)
{
    const char *asked = dataset->options->variable;
    return asked == NULL && dataset->field != NULL ? dataset->field->name : asked;
}

/* ek__dataset_row_bytes returns the bytes of one stored row of the chunk. */
static inline size_t ek__dataset_row_bytes(const ek__dataset *dataset, const ek__chunk *chunk)
{
    return (size_t)dataset->field->n_cells *
           ek_dtype_size(dataset->members[chunk->member].packing.dtype);
}

/* A piece of a chunk: rows of one file. */
typedef struct ek__piece {
    const ek__member *member;
    int64_t first, rows; /* in the file */
    int64_t at;          /* the piece's first row in the chunk */
} ek__piece;

/* ek__dataset_piece puts the next piece of a chunk into *piece, starting from a zeroed one; false
 * after the last. */
bool ek__dataset_piece(const ek__dataset *dataset, const ek__chunk *chunk, ek__piece *piece);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_DATASET_H */
