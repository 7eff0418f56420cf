/* SPDX-License-Identifier: Apache-2.0 */
/* The time axis of one file: stored values, units, and instants where they can be decoded. On the
 * io thread only. */
#ifndef EK_STAGES_LOAD_TIMES_H
#define EK_STAGES_LOAD_TIMES_H

#include "stages/load/cftime.h"
#include "stages/load/metadata.h"

EK_BEGIN_DECLS

typedef struct ek__times {
    int64_t n;
    double *values;   /* n, as stored; 0, 1, 2 ... if there is no coordinate variable */
    bool has_values;  /* there is a coordinate variable */
    bool decodable;   /* `clock` is valid and every value is an instant */
    bool increasing;  /* strictly */
    int64_t disorder; /* the first step that is not later than the one before; -1 if increasing */
    ek__cftime clock;
    char *units;    /* "1" if there are none */
    char *calendar; /* NULL if there is none */
    char *long_name;
} ek__times;

/* ek__times_read reads the time axis of a variable. Decisions go to `notes`. Free what it made,
 * also after a failure, with ek__times_free. */
ek_status ek__times_read(const ek__nc_file *file, const ek__variable *v, ek_field *notes,
                         ek__times *out);
void ek__times_free(ek__times *times);

/* ek__times_instant returns the instant of step i of a decodable axis. */
int64_t ek__times_instant(const ek__times *times, int64_t i);

/* ek__times_text writes step i for people: a date, or the stored value and its units. */
void ek__times_text(const ek__times *times, int64_t i, char *out, size_t size);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_TIMES_H */
