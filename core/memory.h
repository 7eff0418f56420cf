/* SPDX-License-Identifier: Apache-2.0 */
/* Planned memory. An arena is laid out before the run: each buffer names the interval of steps in
 * which it lives, buffers that never live together may share bytes, and one allocation serves all.
 * A pool is a ring of equal blocks. Nothing is allocated while chunks flow. */
#ifndef EK_CORE_MEMORY_H
#define EK_CORE_MEMORY_H

#include "core/alloc.h"
#include "core/backend.h"

EK_BEGIN_DECLS

#define EK_ALIGN 256

/* ek_align rounds up to EK_ALIGN. */
static inline size_t ek_align(size_t bytes)
{
    return (bytes + (EK_ALIGN - 1)) / EK_ALIGN * EK_ALIGN;
}

typedef struct ek_arena_buffer {
    size_t bytes;
    int first, last; /* steps in which it lives, both included */
    size_t offset;   /* decided by ek_arena_layout */
} ek_arena_buffer;

typedef struct ek_arena {
    ek_arena_buffer *buffers;
    size_t n_buffers, capacity;
    size_t bytes; /* of the whole, after ek_arena_layout */
    ek_backend *backend;
    ek_space space;
    char *base; /* NULL until ek_arena_commit */
} ek_arena;

/* ek_arena_add plans a buffer and returns its index in *out. */
EK_API ek_status ek_arena_add(ek_arena *arena, size_t bytes, int first, int last, int *out);

/* ek_arena_layout places all buffers: largest first, each at the lowest offset that is free over
 * its interval. Pure; may be called again after more ek_arena_add. */
EK_API void ek_arena_layout(ek_arena *arena);

/* ek_arena_commit takes the memory; ek_arena_at gives a buffer's address afterwards. */
EK_API ek_status ek_arena_commit(ek_arena *arena, ek_backend *backend, ek_space space);
EK_API void *ek_arena_at(const ek_arena *arena, int buffer);

/* ek_arena_release gives the memory back and keeps the layout; ek_arena_fini forgets both. */
EK_API void ek_arena_release(ek_arena *arena);
EK_API void ek_arena_fini(ek_arena *arena);

/* A pool of n equal blocks in one space: block i belongs to slot i for the whole run. */
typedef struct ek_pool {
    ek_backend *backend;
    ek_space space;
    size_t block_bytes; /* a multiple of EK_ALIGN */
    int n_blocks;
    char *base;
} ek_pool;

EK_API ek_status ek_pool_init(ek_pool *pool, ek_backend *backend, ek_space space,
                              size_t block_bytes, int n_blocks);
EK_API void *ek_pool_block(const ek_pool *pool, int block);
EK_API void ek_pool_fini(ek_pool *pool);

EK_END_DECLS

#endif /* EK_CORE_MEMORY_H */
