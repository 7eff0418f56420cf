/* SPDX-License-Identifier: Apache-2.0 */
/* A stage of one's own, `spells`: a stream on the device in; out, as a result, for each cell
 *
 *     exceedance_count   how many time steps have a value greater than the threshold
 *     longest_spell      the most such steps in a row
 *
 * both int32. A missing value exceeds nothing and ends a spell. Exact, so the same on both backends
 * and for any size of chunks. */
#ifndef SPELLS_H
#define SPELLS_H

#include <core/stage.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct spells_options {
    const char *threshold; /* a number, in the variable's units; required */
} spells_options;

extern const ek_stage spells_stage;

/* What the kernel gets, on either backend. Arrays of `cells`. */
typedef struct spells_args {
    ek_stream_view in;
    int32_t *count, *longest;
    int32_t *open; /* the length of the spell that the last step belongs to; 0: none */
    int64_t cells;
    double threshold;
} spells_args;

/* One row after another of the chunk; spells.c for the host, spells.cu for CUDA. */
ek_status spells_host(const void *args);
ek_status spells_cuda(const void *args, ek_queue *queue);

#ifdef __cplusplus
}
#endif

#endif /* SPELLS_H */
