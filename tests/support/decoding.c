/* SPDX-License-Identifier: Apache-2.0 */
/* Running one decoder. */
#include "tests/support/decoding.h"

#include "tests/support/near.h"

#include "core/loop.h"
#include "stages/load/scratch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 3

static uint64_t seed = 1;

static uint64_t random_below(uint64_t n)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (seed >> 33) % n;
}

static ek_status read_expected(decoding *d, const ek__nc_file *file)
{
    size_t start[EK_NC_DIMS] = {0};
    size_t count[EK_NC_DIMS];
    for (int i = 0; i < d->variable.var.n_dims; i++) {
        count[i] = (size_t)d->variable.var.dims[i].size;
    }
    d->expected = calloc((size_t)d->n_rows, d->row_bytes);
    if (nc_get_vara(file->ncid, d->variable.var.id, start, count, d->expected) != NC_NOERR) {
        free(d->expected);
        d->expected = NULL;
    }
    return EK_OK;
}

static ek_status open_on_io(void *user)
{
    decoding *d = user;
    ek__nc_file file;
    bool found = false;
    EK_TRY(ek__nc_open(&file, d->path));
    ek_status rc = EK_OK;
    EK_GOTO(ek__nc_var_find(&file, d->name, &d->variable.var, &found), done);
    const ek__nc_var *var = &d->variable.var;
    EK_GOTO(found ? EK_OK : EK_FAIL(EK_ENOENT, "%s has no %s", d->path, d->name), done);
    d->n_rows = var->dims[d->variable.time_dim].size;
    d->cells = ek__nc_cells(var) / d->n_rows;
    d->row_bytes = (size_t)d->cells * ek_dtype_size(var->dtype);
    ek__decode_request request = {.file = &file,
                                  .variable = &d->variable,
                                  .dtype = var->dtype,
                                  .n_rows = d->n_rows,
                                  .cells = d->cells};
    ek_alloc_fail_at(d->fail_at);
    rc = d->kind(&request, &d->decoder, d->reason, sizeof(d->reason));
    ek_alloc_fail_at(0);
    EK_GOTO(rc, done);
    rc = read_expected(d, &file); /* afterwards: the file must still be open */
done:
    ek__nc_close(&file);
    return rc;
}

void decoding_open(decoding *d, decoding_kind kind, const char *path, const char *name,
                   int time_dim)
{
    *d = (decoding){.path = path, .name = name, .kind = kind};
    d->variable.time_dim = time_dim;
    ek_assert_ok(ek_io_call(open_on_io, d));
}

static ek_status close_on_io(void *user)
{
    ek__decoder_destroy(user);
    return EK_OK;
}

void decoding_close(decoding *d)
{
    if (d->decoder != NULL) {
        ek_io_call(close_on_io, d->decoder);
    }
    free(d->expected);
}

ek_status decoding_attempt(decoding_kind kind, const char *path, const char *name, int64_t n)
{
    decoding d = {.path = path, .name = name, .kind = kind, .fail_at = n};
    ek_status rc = ek_io_call(open_on_io, &d);
    if (rc != EK_OK) {
        assert_null(d.decoder);
    }
    decoding_close(&d);
    return rc;
}

/* Jobs shared by the threads. */
typedef struct queue {
    const decoding *d;
    int64_t first, rows;
    uint8_t *out;
    int *order;
    int n, next;
    pthread_mutex_t lock;
    ek_error error; /* the first */
} queue;

static void *work(void *user)
{
    queue *q = user;
    const ek__decoder *decoder = q->d->decoder;
    ek__scratch scratch = {0};
    ek_status rc = ek__scratch_init(&scratch, decoder->scratch_bytes, decoder->inflates);
    for (bool more = rc == EK_OK; more;) {
        pthread_mutex_lock(&q->lock);
        more = q->next < q->n;
        int job = more ? q->order[q->next++] : 0;
        pthread_mutex_unlock(&q->lock);
        if (more && decoder->ops->job(decoder, q->first, q->rows, job, q->out, &scratch) != EK_OK) {
            pthread_mutex_lock(&q->lock);
            q->error = q->error.status == EK_OK ? *ek_error_last() : q->error;
            pthread_mutex_unlock(&q->lock);
        }
    }
    ek__scratch_free(&scratch);
    return NULL;
}

ek_status decoding_read(const decoding *d, int64_t first, int64_t rows, uint8_t *out)
{
    queue q = {.d = d, .first = first, .rows = rows, .out = out};
    q.n = d->decoder->ops->jobs(d->decoder, first, rows);
    q.order = calloc((size_t)q.n + 1, sizeof(int));
    for (int i = 0; i < q.n; i++) {
        int at = (int)random_below((uint64_t)i + 1);
        q.order[i] = q.order[at];
        q.order[at] = i;
    }
    pthread_mutex_init(&q.lock, NULL);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, &q), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_mutex_destroy(&q.lock);
    free(q.order);
    return q.error.status == EK_OK ? EK_OK : ek_error_set(&q.error);
}

static void check_rows(const decoding *d, int64_t first, int64_t rows)
{
    size_t n = (size_t)rows * d->row_bytes;
    uint8_t *out = malloc(n + 16);
    memset(out, 0xA5, n + 16);
    ek_assert_ok(decoding_read(d, first, rows, out));
    if (memcmp(out, d->expected + (size_t)first * d->row_bytes, n) != 0) {
        fail_msg("%s: steps %d to %d of %s differ", d->path, (int)first, (int)(first + rows - 1),
                 d->name);
    }
    for (size_t i = 0; i < 16; i++) {
        assert_int_equal(out[n + i], 0xA5);
    }
    free(out);
}

void decoding_check(const decoding *d)
{
    if (d->decoder == NULL) {
        fail_msg("%s: %s is declined: %s", d->path, d->name, d->reason);
    }
    assert_non_null(d->expected);
    assert_true(d->decoder->row_unit >= 1);
    check_rows(d, 0, d->n_rows);
    check_rows(d, 0, 1);
    check_rows(d, d->n_rows - 1, 1);
    for (int i = 0; i < 8; i++) {
        int64_t first = (int64_t)random_below((uint64_t)d->n_rows);
        check_rows(d, first, 1 + (int64_t)random_below((uint64_t)(d->n_rows - first)));
    }
}
