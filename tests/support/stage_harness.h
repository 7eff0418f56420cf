/* SPDX-License-Identifier: Apache-2.0 */
/* Drives one stage without a pipeline: negotiate, begin, submit for each chunk of a series in
 * memory, finish, collect, on any backend, and brings what it puts out to the host. */
#ifndef EK_TESTS_STAGE_HARNESS_H
#define EK_TESTS_STAGE_HARNESS_H

#include "core/stage.h"

/* A run of rows stored alike, as a file would be. Chunks end with their piece. */
typedef struct stage_piece {
    int64_t rows;
    ek_dtype dtype;
    double scale, offset; /* 0 and 0 stand for 1 and 0 */
    int n_missing;
    double missing[EK_MISSING_MAX];
    const void *data; /* rows x cells */
} stage_piece;

#define STAGE_PIECES_MAX 4

typedef struct stage_series {
    int64_t cells;
    int n_pieces;
    stage_piece pieces[STAGE_PIECES_MAX];
} stage_series;

/* stage_backend opens the backend that a test program's first argument names ("host" without one);
 * NULL if this machine or build has none: the program then exits with STAGE_SKIPPED. */
ek_backend *stage_backend(int argc, char **argv);

#define STAGE_SKIPPED 77

/* What a stage put out, on the host. Free with stage_outcome_fini. */
typedef struct stage_outcome {
    ek_spec spec; /* its field is gone: NULL */
    ek_needs needs;
    int64_t extent[EK_AXES];
    void *array[EK_ARRAYS_MAX]; /* RESULT */
    void *rows;                 /* STREAM: all rows, one after another */
    size_t row_bytes_used;      /* STREAM: bytes in `rows` */
    int captured_size;          /* operations in the captured graph; 0 if none was */
} stage_outcome;

typedef struct stage_case {
    ek_backend *backend;
    const ek_stage *stage;
    const void *options; /* NULL: defaults */
    const stage_series *series;
    const stage_outcome *second; /* RESULT at the second port; NULL: none */
    int64_t chunk_rows;          /* 0: a chunk for each piece */
    int n_removed;               /* degrees of freedom that centring has taken */
    bool decoded;                /* feed float64 values rather than stored ones */
    bool empty_chunks;           /* an empty chunk before each and at the end */
    bool captured;               /* capture the first submit and replay it for all chunks */
} stage_case;

/* stage_run runs a case. On failure *out holds nothing and the last error says why. */
ek_status stage_run(const stage_case *test, stage_outcome *out);
void stage_outcome_fini(stage_outcome *out);

/* stage_array returns an array of a result; it must be there. stage_int is for an int32 scalar. */
const double *stage_array(const stage_outcome *from, const char *name);
int32_t stage_int(const stage_outcome *from, const char *name);

/* stage_value decodes value (row, cell) of a series, independently of the library; NaN: missing. */
double stage_value(const stage_series *series, int64_t row, int64_t cell);
int64_t stage_series_rows(const stage_series *series);

/* stage_same_bits says whether two outcomes hold the same numbers, bit for bit, any NaN being the
 * same as any other. */
bool stage_same_bits(const stage_outcome *a, const stage_outcome *b);

#endif /* EK_TESTS_STAGE_HARNESS_H */
