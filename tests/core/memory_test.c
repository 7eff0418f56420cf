/* SPDX-License-Identifier: Apache-2.0 */
/* Arena layouts: no overlap while alive, reuse afterwards; pools. */
#include "tests/support/near.h"

#include "core/memory.h"

#include <string.h>

static bool together(const ek_arena_buffer *a, const ek_arena_buffer *b)
{
    return a->first <= b->last && b->first <= a->last;
}

static void check_layout(const ek_arena *arena)
{
    for (size_t i = 0; i < arena->n_buffers; i++) {
        const ek_arena_buffer *a = &arena->buffers[i];
        assert_int_equal(a->offset % EK_ALIGN, 0);
        assert_true(a->offset + a->bytes <= arena->bytes);
        for (size_t j = 0; j < i; j++) {
            const ek_arena_buffer *b = &arena->buffers[j];
            bool apart = a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset;
            assert_true(apart || !together(a, b));
        }
    }
}

static void lives_apart_share(void **state)
{
    (void)state;
    ek_arena arena = {0};
    int a, b, c;
    ek_assert_ok(ek_arena_add(&arena, 1000, 0, 1, &a));
    ek_assert_ok(ek_arena_add(&arena, 1000, 2, 3, &b));
    ek_assert_ok(ek_arena_add(&arena, 100, 1, 2, &c));
    ek_arena_layout(&arena);
    check_layout(&arena);
    assert_int_equal(arena.bytes, 1024 + 256);
    assert_int_equal(arena.buffers[a].offset, arena.buffers[b].offset);

    ek_assert_ok(ek_arena_add(&arena, 5000, 1, 1, &c)); /* laid out again, with one more */
    ek_arena_layout(&arena);
    check_layout(&arena);
    assert_int_equal(arena.buffers[c].offset, 0);
    ek_arena_fini(&arena);
    assert_null(arena.buffers);
}

static void random_layouts_hold(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (int round = 0; round < 50; round++) {
        ek_arena arena = {0};
        for (int i = 0; i < 40; i++) {
            seed = seed * 1664525u + 1013904223u;
            int first = (int)(seed >> 8) % 20;
            int last = first + (int)(seed >> 16) % 6;
            int index;
            ek_assert_ok(ek_arena_add(&arena, seed >> 18, first, last, &index));
            assert_int_equal(index, i);
        }
        ek_arena_layout(&arena);
        check_layout(&arena);
        ek_arena_fini(&arena);
    }
}

static void bad_buffers_are_refused(void **state)
{
    (void)state;
    ek_arena arena = {0};
    int index;
    assert_int_equal(ek_arena_add(&arena, 1, 3, 2, &index), EK_EINTERNAL);
    assert_int_equal(ek_arena_add(&arena, SIZE_MAX, 0, 0, &index), EK_EINTERNAL);
    ek_arena_layout(&arena);
    assert_int_equal(arena.bytes, 0);
    ek_arena_fini(&arena);
}

static void commit_takes_and_gives_back(void **state)
{
    (void)state;
    int64_t before = ek_alloc_live();
    ek_backend *backend = NULL;
    ek_assert_ok(ek_backend_create_host(&backend));
    ek_arena arena = {0};
    int a, b;
    ek_assert_ok(ek_arena_add(&arena, 300, 0, 1, &a));
    ek_assert_ok(ek_arena_add(&arena, 0, 0, 1, &b));
    ek_arena_layout(&arena);
    ek_alloc_fail_at(1);
    assert_int_equal(ek_arena_commit(&arena, backend, EK_SPACE_DEVICE), EK_ENOMEM);
    for (int i = 0; i < 2; i++) { /* the layout outlives the memory */
        ek_assert_ok(ek_arena_commit(&arena, backend, EK_SPACE_DEVICE));
        memset(ek_arena_at(&arena, a), 1, 300);
        assert_int_equal((uintptr_t)ek_arena_at(&arena, a) % EK_ALIGN, 0);
        assert_int_equal(ek_arena_commit(&arena, backend, EK_SPACE_DEVICE), EK_EINTERNAL);
        assert_int_equal(ek_arena_add(&arena, 1, 0, 0, &b), EK_EINTERNAL);
        ek_arena_release(&arena);
        ek_arena_release(&arena);
    }
    ek_arena_fini(&arena);
    ek_backend_destroy(backend);
    assert_int_equal(ek_alloc_live(), before);
}

static void pool_blocks_are_apart(void **state)
{
    (void)state;
    int64_t before = ek_alloc_live();
    ek_backend *backend = NULL;
    ek_assert_ok(ek_backend_create_host(&backend));
    ek_pool pool;
    ek_assert_ok(ek_pool_init(&pool, backend, EK_SPACE_PINNED, 1000, 3));
    assert_int_equal(pool.block_bytes, 1024);
    for (int i = 0; i < 3; i++) {
        assert_int_equal((uintptr_t)ek_pool_block(&pool, i) % EK_ALIGN, 0);
        memset(ek_pool_block(&pool, i), i, pool.block_bytes);
    }
    assert_int_equal(*(char *)ek_pool_block(&pool, 1), 1);
    ek_pool_fini(&pool);
    ek_pool_fini(&pool);
    assert_int_equal(ek_pool_init(&pool, backend, EK_SPACE_PINNED, 1, 0), EK_EINTERNAL);
    assert_int_equal(ek_pool_init(&pool, backend, EK_SPACE_PINNED, SIZE_MAX, 2), EK_EINTERNAL);
    assert_int_equal(ek_pool_init(&pool, backend, EK_SPACE_PINNED, SIZE_MAX / 2, 4), EK_EINTERNAL);
    ek_pool_fini(&pool);
    ek_backend_destroy(backend);
    assert_int_equal(ek_alloc_live(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lives_apart_share),       cmocka_unit_test(random_layouts_hold),
        cmocka_unit_test(bad_buffers_are_refused), cmocka_unit_test(commit_takes_and_gives_back),
        cmocka_unit_test(pool_blocks_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
