/* SPDX-License-Identifier: Apache-2.0 */
#include "core/crew.h"

#include "core/alloc.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

typedef struct crew_job {
    uv_work_t request;
    ek_crew *crew;
} crew_job;

struct ek_crew {
    ek_loop *loop;
    int most, left; /* left: jobs not yet done; on the loop's thread only */
    crew_job *jobs;
    ek_status (*run)(void *user, int job);
    void *user;
    ek_task *done;
    uv_mutex_t lock; /* guards error */
    atomic_bool failed;
    ek_error error;
};

static atomic_int pool_threads; /* 0: not decided yet */

static int processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

int ek_crew_threads(int wanted)
{
    int threads = atomic_load(&pool_threads);
    if (threads != 0) {
        return threads;
    }
    char text[16];
    snprintf(text, sizeof(text), "%d", wanted > 0 ? wanted : processors());
    setenv("UV_THREADPOOL_SIZE", text, 0); /* libuv reads it at the pool's first job */
    const char *size = getenv("UV_THREADPOOL_SIZE");
    threads = size != NULL ? atoi(size) : 0;
    threads = EK_MAX(1, EK_MIN(threads, 1024)); /* libuv's own limits */
    atomic_store(&pool_threads, threads);
    return threads;
}

ek_status ek_crew_create(ek_crew **out, ek_loop *loop, int most)
{
    *out = NULL;
    ek_crew *crew = ek_alloc(1, sizeof(*crew));
    if (crew == NULL) {
        return EK_ENOMEM;
    }
    crew->jobs = ek_alloc((size_t)most, sizeof(*crew->jobs));
    if (crew->jobs == NULL || uv_mutex_init(&crew->lock) != 0) {
        ek_free(crew->jobs);
        ek_free(crew);
        return EK_FAIL(EK_ENOMEM, "no memory for %d jobs", most);
    }
    crew->loop = loop;
    crew->most = most;
    for (int i = 0; i < most; i++) {
        crew->jobs[i].crew = crew;
    }
    ek_crew_threads(0);
    *out = crew;
    return EK_OK;
}

void ek_crew_destroy(ek_crew *crew)
{
    if (crew == NULL) {
        return;
    }
    uv_mutex_destroy(&crew->lock);
    ek_free(crew->jobs);
    ek_free(crew);
}

static void job_run(uv_work_t *request)
{
    crew_job *job = request->data;
    ek_crew *crew = job->crew;
    if (atomic_load(&crew->failed)) {
        return;
    }
    if (crew->run(crew->user, (int)(job - crew->jobs)) != EK_OK) {
        uv_mutex_lock(&crew->lock);
        if (!atomic_exchange(&crew->failed, true)) {
            crew->error = *ek_error_last();
        }
        uv_mutex_unlock(&crew->lock);
    }
}

static void job_done(uv_work_t *request, int status)
{
    (void)status; /* a job is never cancelled */
    ek_crew *crew = ((crew_job *)request->data)->crew;
    if (--crew->left == 0) {
        crew->done->run(crew->done);
    }
}

void ek_crew_start(ek_crew *crew, int n_jobs, ek_status (*run)(void *user, int job), void *user,
                   ek_task *done)
{
    crew->run = run;
    crew->user = user;
    crew->done = done;
    crew->left = n_jobs;
    atomic_store(&crew->failed, false);
    crew->error.status = EK_OK;
    for (int i = 0; i < n_jobs; i++) {
        crew->jobs[i].request.data = &crew->jobs[i];
        uv_queue_work(ek__loop_uv(crew->loop), &crew->jobs[i].request, job_run, job_done);
    }
}

ek_status ek_crew_status(const ek_crew *crew)
{
    return crew->error.status == EK_OK ? EK_OK : ek_error_set(&crew->error);
}
