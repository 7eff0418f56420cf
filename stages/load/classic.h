/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of classic netCDF files (CDF-1, CDF-2, CDF-5): how long such a file must be, and where a
 * variable's values stand. netCDF-C reads zeros, without an error, where such a file has been cut
 * short; its header says how long it must be. */
#ifndef EK_STAGES_LOAD_CLASSIC_H
#define EK_STAGES_LOAD_CLASSIC_H

#include "core/status.h"

EK_BEGIN_DECLS

/* The bytes of a file: an open descriptor, or memory where `memory` is not NULL. */
typedef struct ek__classic_input {
    const char *path; /* for messages */
    int fd;
    const uint8_t *memory;
    uint64_t n_bytes;
} ek__classic_input;

/* Where a variable's values stand. All of them lie within the file. */
typedef struct ek__classic_var {
    int version; /* 1, 2 or 5; 0: the file is of another format */
    int type;    /* an nc_type; 0: the file has no such variable */
    bool is_record;
    uint64_t begin;     /* of the values, or of the first record's */
    uint64_t bytes;     /* of the values, or of one record's, without padding */
    uint64_t stride;    /* from a record to the next */
    uint64_t n_records; /* of the file; of what is there where the header leaves it open */
} ek__classic_var;

/* ek__classic_parse reads the header and finds variable `name` (NULL: none is looked for). Returns
 * EK_ETRUNC if the file is of a classic format and shorter than its header says, EK_ENETCDF if that
 * header makes no sense, EK_OK otherwise, also for other formats. Any thread; blocks. */
ek_status ek__classic_parse(const ek__classic_input *input, const char *name, ek__classic_var *out);

/* ek__classic_check is ek__classic_parse for the file at `path`, and finds nothing. */
ek_status ek__classic_check(const char *path);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_CLASSIC_H */
