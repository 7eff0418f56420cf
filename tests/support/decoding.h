/* SPDX-License-Identifier: Apache-2.0 */
/* One decoder of the load stage by itself: made for a variable of a file, run by several threads
 * with its jobs in a random order, and held against nc_get_vara. */
#ifndef EK_TESTS_SUPPORT_DECODING_H
#define EK_TESTS_SUPPORT_DECODING_H

#include "stages/load/decoder.h"

typedef ek_status (*decoding_kind)(const ek__decode_request *request, ek__decoder **out,
                                   char *reason, size_t reason_size);

/* A variable, what the library reads of it, and its decoder (NULL: declined for `reason`). */
typedef struct decoding {
    const char *path;
    ek__variable variable;
    ek__decoder *decoder;
    char reason[96];
    int64_t n_rows, cells;
    size_t row_bytes;
    uint8_t *expected; /* n_rows rows; NULL if the library cannot read them */
    decoding_kind kind;
    const char *name; /* of the variable */
    int64_t fail_at;  /* the allocation that fails; 0: none */
} decoding;

/* decoding_open makes a decoder for a variable, whose time dimension is number `time_dim`. The test
 * holds an ek_io_acquire. Close it in any case. */
void decoding_open(decoding *d, decoding_kind kind, const char *path, const char *name,
                   int time_dim);
void decoding_close(decoding *d);

/* decoding_read decodes rows into `out`, on three threads. */
ek_status decoding_read(const decoding *d, int64_t first, int64_t rows, uint8_t *out);

/* decoding_check reads the variable as a whole, row by row and in many other pieces, and fails the
 * test if a byte differs from the library's. */
void decoding_check(const decoding *d);

/* decoding_attempt makes a decoder and lets it go again; the n-th allocation from there on fails.
 */
ek_status decoding_attempt(decoding_kind kind, const char *path, const char *name, int64_t n);

#endif /* EK_TESTS_SUPPORT_DECODING_H */
