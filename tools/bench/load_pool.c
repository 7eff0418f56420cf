/* SPDX-License-Identifier: Apache-2.0 */
/* The reading threads of the load benchmark. */
#include "tools/bench/load_pool.h"

#include "stages/load/scratch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

typedef struct queue {
    bench_file *files;
    int n_files;
    _Atomic int next; /* job, counted through all files */
    pthread_barrier_t start, end;
    ek__scratch_pool *scratch;
    pthread_mutex_t lock;
    ek_error error; /* the first one */
} queue;

static double read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bench_time bench_now(void)
{
    return (bench_time){read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_PROCESS_CPUTIME_ID)};
}

bench_time bench_since(bench_time began)
{
    bench_time now = bench_now();
    return (bench_time){now.wall_s - began.wall_s, now.cpu_s - began.cpu_s};
}

static void keep_error(queue *q)
{
    pthread_mutex_lock(&q->lock);
    if (q->error.status == EK_OK) {
        q->error = *ek_error_last();
    }
    pthread_mutex_unlock(&q->lock);
}

/* The file that has job `*job` of the queue; *job becomes its number in the file. NULL after all.
 */
static bench_file *find_job(queue *q, int *job)
{
    for (int i = 0; i < q->n_files; i++) {
        if (*job < q->files[i].n_jobs) {
            return &q->files[i];
        }
        *job -= q->files[i].n_jobs;
    }
    return NULL;
}

static void *work(void *user)
{
    queue *q = user;
    ek__scratch *scratch = ek__scratch_take(q->scratch);
    pthread_barrier_wait(&q->start);
    for (;;) {
        int job = atomic_fetch_add(&q->next, 1);
        bench_file *f = find_job(q, &job);
        if (f == NULL) {
            break;
        }
        const ek__decoder *decoder = f->decoder;
        if (decoder->ops->job(decoder, 0, f->n_rows, job, f->out, scratch) != EK_OK) {
            keep_error(q);
        }
    }
    pthread_barrier_wait(&q->end);
    ek__scratch_give(q->scratch, scratch);
    return NULL;
}

static ek_status make_scratch(queue *q, int n_threads)
{
    size_t bytes = 0;
    bool inflates = false;
    for (int i = 0; i < q->n_files; i++) {
        bytes = EK_MAX(bytes, q->files[i].decoder->scratch_bytes);
        inflates = inflates || q->files[i].decoder->inflates;
    }
    return ek__scratch_pool_create(&q->scratch, n_threads, bytes, inflates);
}

static void run_threads(queue *q, pthread_t *threads, int n_threads, bench_time *took)
{
    pthread_barrier_init(&q->start, NULL, (unsigned)n_threads + 1);
    pthread_barrier_init(&q->end, NULL, (unsigned)n_threads + 1);
    for (int i = 0; i < n_threads; i++) {
        if (pthread_create(&threads[i], NULL, work, q) != 0) {
            abort(); /* the barriers count on all of them */
        }
    }
    pthread_barrier_wait(&q->start);
    bench_time began = bench_now();
    pthread_barrier_wait(&q->end);
    *took = bench_since(began);
    for (int i = 0; i < n_threads; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&q->start);
    pthread_barrier_destroy(&q->end);
}

ek_status bench_pool_read(bench_file *files, int n_files, int n_threads, bench_time *took)
{
    queue q = {.files = files, .n_files = n_files};
    pthread_t *threads = ek_alloc((size_t)n_threads, sizeof(*threads));
    if (threads == NULL) {
        return EK_ENOMEM;
    }
    ek_status rc = EK_OK;
    EK_GOTO(make_scratch(&q, n_threads), done);
    pthread_mutex_init(&q.lock, NULL);
    run_threads(&q, threads, n_threads, took);
    pthread_mutex_destroy(&q.lock);
    rc = q.error.status == EK_OK ? EK_OK : ek_error_set(&q.error);
done:
    ek__scratch_pool_destroy(q.scratch);
    ek_free(threads);
    return rc;
}
