/* SPDX-License-Identifier: Apache-2.0 */
/* Working memory for decoders' jobs: as many pieces as threads, made before the first chunk, so
 * that nothing is allocated while chunks flow. */
#ifndef EK_STAGES_LOAD_SCRATCH_H
#define EK_STAGES_LOAD_SCRATCH_H

#include "stages/load/decoder.h"

EK_BEGIN_DECLS

typedef struct ek__scratch_pool ek__scratch_pool;

/* ek__scratch_pool_create makes n (1 or more) scratches of `bytes` bytes (0 is fine), each with a
 * decompressor if `inflate` says so. Any thread. */
ek_status ek__scratch_pool_create(ek__scratch_pool **out, int n, size_t bytes, bool inflate);

/* ek__scratch_pool_destroy frees the pool and its scratches, all of which have been given back;
 * NULL is fine. */
void ek__scratch_pool_destroy(ek__scratch_pool *pool);

/* ek__scratch_take lends a scratch to the calling thread, until ek__scratch_give. Any thread; waits
 * only if there are more takers than scratches. */
ek__scratch *ek__scratch_take(ek__scratch_pool *pool);
void ek__scratch_give(ek__scratch_pool *pool, ek__scratch *scratch);

/* ek__scratch_init makes a single scratch; ek__scratch_free frees what it holds, also after a
 * failure of the other, and a zeroed one. */
ek_status ek__scratch_init(ek__scratch *scratch, size_t bytes, bool inflate);
void ek__scratch_free(ek__scratch *scratch);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_SCRATCH_H */
