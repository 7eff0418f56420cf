/* SPDX-License-Identifier: Apache-2.0 */
/* A crew: jobs that libuv's pool threads share, several at once, for a caller on the loop. */
#ifndef EK_CORE_CREW_H
#define EK_CORE_CREW_H

#include "core/loop.h"

EK_BEGIN_DECLS

typedef struct ek_crew ek_crew;

/* ek_crew_threads sets how many threads the pool has (0: one per processor that the process may
 * use) and returns the number in force: the pool is the process's, so after its first job, or where
 * UV_THREADPOOL_SIZE is set, it stays as it is. */
EK_API int ek_crew_threads(int wanted);

/* ek_crew_create makes a crew for up to `most` jobs at a time; ek_crew_destroy (NULL is fine) ends
 * it, not while it works. */
EK_API ek_status ek_crew_create(ek_crew **out, ek_loop *loop, int most);
EK_API void ek_crew_destroy(ek_crew *crew);

/* ek_crew_start has run(user, job) called for job 0 to n_jobs - 1 on pool threads, in any order,
 * and when all have returned runs `done` on the loop's thread. After a job has failed those not yet
 * begun are passed over. Called on the loop's thread, 1 <= n_jobs <= most; allocates nothing. */
EK_API void ek_crew_start(ek_crew *crew, int n_jobs, ek_status (*run)(void *user, int job),
                          void *user, ek_task *done);

/* ek_crew_status returns EK_OK, or the first failure of the last start as the last error. */
EK_API ek_status ek_crew_status(const ek_crew *crew);

EK_END_DECLS

#endif /* EK_CORE_CREW_H */
