/* SPDX-License-Identifier: Apache-2.0 */
/* Working memory for decoders' jobs. */
#include "stages/load/scratch.h"

#include "core/alloc.h"

#include <libdeflate.h>
#include <pthread.h>

struct ek__scratch_pool {
    pthread_mutex_t lock;
    pthread_cond_t given;
    ek__scratch *scratches; /* n */
    ek__scratch **idle;     /* the first n_idle are not lent */
    int n, n_idle;
};

ek_status ek__scratch_init(ek__scratch *scratch, size_t bytes, bool inflate)
{
    *scratch = (ek__scratch){.n_bytes = bytes};
    scratch->bytes = ek_alloc(bytes, 1);
    if (scratch->bytes == NULL) {
        return EK_ENOMEM;
    }
    if (inflate && !ek_alloc_count_one()) {
        scratch->inflate = libdeflate_alloc_decompressor();
        if (scratch->inflate == NULL) {
            ek_alloc_count_free();
        }
    }
    if (inflate && scratch->inflate == NULL) {
        return EK_FAIL(EK_ENOMEM, "no memory for a decompressor");
    }
    return EK_OK;
}

void ek__scratch_free(ek__scratch *scratch)
{
    if (scratch->inflate != NULL) {
        libdeflate_free_decompressor(scratch->inflate);
        ek_alloc_count_free();
    }
    ek_free(scratch->bytes);
    *scratch = (ek__scratch){0};
}

static ek_status create_scratches(ek__scratch_pool *pool, int n, size_t bytes, bool inflate)
{
    pool->scratches = ek_alloc((size_t)n, sizeof(*pool->scratches));
    pool->idle = ek_alloc((size_t)n, sizeof(ek__scratch *));
    if (pool->scratches == NULL || pool->idle == NULL) {
        return EK_ENOMEM;
    }
    for (int i = 0; i < n; i++) {
        ek__scratch *scratch = &pool->scratches[pool->n++];
        EK_TRY(ek__scratch_init(scratch, bytes, inflate));
        pool->idle[pool->n_idle++] = scratch;
    }
    return EK_OK;
}

ek_status ek__scratch_pool_create(ek__scratch_pool **out, int n, size_t bytes, bool inflate)
{
    *out = NULL;
    if (n < 1) {
        return EK_FAIL(EK_EINVAL, "a pool of %d pieces of working memory serves no thread", n);
    }
    ek__scratch_pool *pool = ek_alloc(1, sizeof(*pool));
    if (pool == NULL) {
        return EK_ENOMEM;
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->given, NULL);
    ek_status rc = create_scratches(pool, n, bytes, inflate);
    if (rc != EK_OK) {
        ek__scratch_pool_destroy(pool);
        return rc;
    }
    *out = pool;
    return EK_OK;
}

void ek__scratch_pool_destroy(ek__scratch_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    for (int i = 0; i < pool->n; i++) {
        ek__scratch_free(&pool->scratches[i]);
    }
    ek_free(pool->scratches);
    ek_free(pool->idle);
    pthread_cond_destroy(&pool->given);
    pthread_mutex_destroy(&pool->lock);
    ek_free(pool);
}

ek__scratch *ek__scratch_take(ek__scratch_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->n_idle == 0) {
        pthread_cond_wait(&pool->given, &pool->lock);
    }
    ek__scratch *scratch = pool->idle[--pool->n_idle];
    pthread_mutex_unlock(&pool->lock);
    return scratch;
}

void ek__scratch_give(ek__scratch_pool *pool, ek__scratch *scratch)
{
    pthread_mutex_lock(&pool->lock);
    pool->idle[pool->n_idle++] = scratch;
    pthread_cond_signal(&pool->given);
    pthread_mutex_unlock(&pool->lock);
}
