/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop (libuv) that drives a run, and the one thread that owns netCDF.
 *
 * netCDF-C and HDF5 are not thread-safe, even across files: every nc_* call of the process runs on
 * the io thread. It starts with the first ek_io_acquire and ends with the last ek_io_release. */
#ifndef EK_CORE_LOOP_H
#define EK_CORE_LOOP_H

#include "core/status.h"

EK_BEGIN_DECLS

/* A piece of work, embedded in its owner's struct and owned by it; queueing allocates nothing. It
 * may be queued again once it has run. */
typedef struct ek_task ek_task;
struct ek_task {
    void (*run)(ek_task *task);
    void *user;
    ek_task *next; /* private */
};

typedef struct ek_loop ek_loop;

EK_API ek_status ek_loop_create(ek_loop **out);

/* ek_loop_destroy closes everything; the loop must not be running. NULL is fine. */
EK_API void ek_loop_destroy(ek_loop *loop);

/* ek_loop_run blocks until ek_loop_stop (called on the loop's thread) and runs what is posted. */
EK_API ek_status ek_loop_run(ek_loop *loop);
EK_API void ek_loop_stop(ek_loop *loop);

/* ek_loop_post has the task run on the loop's thread, in order of posting. Any thread. */
EK_API void ek_loop_post(ek_loop *loop, ek_task *task);

/* ek_loop_every calls fn(user) on the loop's thread every `ms` milliseconds. */
EK_API ek_status ek_loop_every(ek_loop *loop, unsigned ms, void (*fn)(void *user), void *user);

/* ek_loop_on_interrupt calls fn(user) on the loop's thread at SIGINT or SIGTERM, instead of the
 * process ending. */
EK_API ek_status ek_loop_on_interrupt(ek_loop *loop, void (*fn)(void *user), void *user);

/* ek__loop_uv returns the libuv loop inside, for core/ only. */
struct uv_loop_s *ek__loop_uv(ek_loop *loop);

/* ek_io_acquire makes sure that the io thread runs; ek_io_release undoes one acquire. */
EK_API ek_status ek_io_acquire(void);
EK_API void ek_io_release(void);

/* ek_io_post has the task run on the io thread, in order of posting. Any thread that holds an
 * acquire. */
EK_API void ek_io_post(ek_task *task);

/* ek_io_call runs fn(user) on the io thread, waits, and returns its status; the error's detail
 * becomes the caller's last error. Called on the io thread itself it simply calls. */
EK_API ek_status ek_io_call(ek_status (*fn)(void *user), void *user);

EK_END_DECLS

#endif /* EK_CORE_LOOP_H */
