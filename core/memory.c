/* SPDX-License-Identifier: Apache-2.0 */
/* The arena's layout, and pools. */
#include "core/memory.h"

#include <string.h>

ek_status ek_arena_add(ek_arena *arena, size_t bytes, int first, int last, int *out)
{
    *out = -1;
    if (arena->base != NULL || first > last || bytes > SIZE_MAX / 2) {
        return EK_FAIL(EK_EINTERNAL,
                       "A buffer of %zu bytes living from step %d to %d cannot be planned%s.",
                       bytes, first, last, arena->base != NULL ? " in memory already taken" : "");
    }
    EK_TRY(ek_grow(&arena->buffers, &arena->capacity, arena->n_buffers, sizeof *arena->buffers));
    arena->buffers[arena->n_buffers] =
        (ek_arena_buffer){.bytes = bytes, .first = first, .last = last};
    *out = (int)arena->n_buffers++;
    return EK_OK;
}

#define UNPLACED SIZE_MAX

/* Returns the largest buffer not yet placed, the earliest of equals, or NULL. */
static ek_arena_buffer *largest_unplaced(ek_arena *arena)
{
    ek_arena_buffer *best = NULL;
    for (size_t i = 0; i < arena->n_buffers; i++) {
        ek_arena_buffer *b = &arena->buffers[i];
        if (b->offset == UNPLACED && (best == NULL || b->bytes > best->bytes)) {
            best = b;
        }
    }
    return best;
}

/* Whether `placed` lives with `buffer` and holds bytes that it would need at `offset`. */
static bool in_the_way(const ek_arena_buffer *placed, const ek_arena_buffer *buffer, size_t offset)
{
    return placed->offset != UNPLACED && placed->first <= buffer->last &&
           buffer->first <= placed->last && placed->offset < offset + ek_align(buffer->bytes) &&
           offset < placed->offset + ek_align(placed->bytes);
}

/* Every offset from a try up to the end of what is in its way is taken too, so jumping there never
 * misses a lower one. */
static size_t lowest_free(const ek_arena *arena, const ek_arena_buffer *buffer)
{
    size_t offset = 0;
    size_t i = 0;
    while (i < arena->n_buffers) {
        const ek_arena_buffer *placed = &arena->buffers[i];
        if (in_the_way(placed, buffer, offset)) {
            offset = placed->offset + ek_align(placed->bytes);
            i = 0;
        } else {
            i++;
        }
    }
    return offset;
}

void ek_arena_layout(ek_arena *arena)
{
    for (size_t i = 0; i < arena->n_buffers; i++) {
        arena->buffers[i].offset = UNPLACED;
    }
    arena->bytes = 0;
    ek_arena_buffer *buffer = largest_unplaced(arena);
    while (buffer != NULL) {
        size_t offset = lowest_free(arena, buffer);
        buffer->offset = offset;
        arena->bytes = EK_MAX(arena->bytes, offset + ek_align(buffer->bytes));
        buffer = largest_unplaced(arena);
    }
}

ek_status ek_arena_commit(ek_arena *arena, ek_backend *backend, ek_space space)
{
    if (arena->base != NULL) {
        return EK_FAIL(EK_EINTERNAL, "An arena's memory is taken twice.");
    }
    void *base = NULL;
    EK_TRY(ek_mem_alloc(backend, space, EK_MAX(arena->bytes, (size_t)EK_ALIGN), &base));
    arena->backend = backend;
    arena->space = space;
    arena->base = base;
    return EK_OK;
}

void *ek_arena_at(const ek_arena *arena, int buffer)
{
    return arena->base + arena->buffers[buffer].offset;
}

void ek_arena_release(ek_arena *arena)
{
    if (arena->base != NULL) {
        ek_mem_free(arena->backend, arena->space, arena->base);
        arena->base = NULL;
    }
}

void ek_arena_fini(ek_arena *arena)
{
    ek_arena_release(arena);
    ek_free(arena->buffers);
    memset(arena, 0, sizeof *arena);
}

ek_status ek_pool_init(ek_pool *pool, ek_backend *backend, ek_space space, size_t block_bytes,
                       int n_blocks)
{
    memset(pool, 0, sizeof *pool);
    size_t block = EK_MAX(ek_align(block_bytes), (size_t)EK_ALIGN);
    if (n_blocks < 1 || block < block_bytes || block > SIZE_MAX / (size_t)n_blocks) {
        return EK_FAIL(EK_EINTERNAL, "A pool of %d blocks of %zu bytes cannot be made.", n_blocks,
                       block_bytes);
    }
    void *base = NULL;
    EK_TRY(ek_mem_alloc(backend, space, block * (size_t)n_blocks, &base));
    *pool = (ek_pool){.backend = backend,
                      .space = space,
                      .block_bytes = block,
                      .n_blocks = n_blocks,
                      .base = base};
    return EK_OK;
}

void *ek_pool_block(const ek_pool *pool, int block)
{
    return pool->base + pool->block_bytes * (size_t)block;
}

void ek_pool_fini(ek_pool *pool)
{
    if (pool->base != NULL) {
        ek_mem_free(pool->backend, pool->space, pool->base);
    }
    memset(pool, 0, sizeof *pool);
}
