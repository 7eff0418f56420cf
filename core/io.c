/* SPDX-License-Identifier: Apache-2.0 */
/* The io thread: one thread with a queue of tasks, shared by the process and counted. `life` orders
 * starting and ending it and is taken before `lock`; `lock` guards the queue and the calls. */
#include "core/loop.h"

#include <uv.h>

static struct {
    uv_once_t once;
    int init_code;
    uv_mutex_t life;
    int users; /* guarded by life */
    uv_thread_t thread;
    uv_mutex_t lock;
    uv_cond_t posted, answered;
    bool running, stopping;
    ek_task *first, *last;
} io = {.once = UV_ONCE_INIT};

static _Thread_local bool on_io_thread;

static void init_once(void)
{
    int codes[] = {uv_mutex_init(&io.life), uv_mutex_init(&io.lock), uv_cond_init(&io.posted),
                   uv_cond_init(&io.answered)};
    for (size_t i = 0; i < EK_COUNT(codes); i++) {
        io.init_code = codes[i] != 0 ? codes[i] : io.init_code;
    }
}

static void io_main(void *unused)
{
    (void)unused;
    on_io_thread = true;
    uv_mutex_lock(&io.lock);
    while (io.first != NULL || !io.stopping) {
        ek_task *task = io.first;
        if (task == NULL) {
            uv_cond_wait(&io.posted, &io.lock);
            continue;
        }
        io.first = task->next;
        if (io.first == NULL) {
            io.last = NULL;
        }
        uv_mutex_unlock(&io.lock);
        task->run(task);
        uv_mutex_lock(&io.lock);
    }
    io.running = false;
    uv_mutex_unlock(&io.lock);
}

static ek_status io_fail(int code)
{
    return EK_FAIL_CODE(EK_EUV, code, "The io thread could not be started: %s.", uv_strerror(code));
}

ek_status ek_io_acquire(void)
{
    uv_once(&io.once, init_once);
    if (io.init_code != 0) {
        return io_fail(io.init_code);
    }
    ek_status rc = EK_OK;
    uv_mutex_lock(&io.life);
    if (io.users == 0) {
        uv_mutex_lock(&io.lock);
        io.stopping = false;
        io.running = true;
        uv_mutex_unlock(&io.lock);
        int code = uv_thread_create(&io.thread, io_main, NULL);
        if (code != 0) {
            uv_mutex_lock(&io.lock);
            io.running = false;
            uv_mutex_unlock(&io.lock);
            rc = io_fail(code);
        }
    }
    if (rc == EK_OK) {
        io.users++;
    }
    uv_mutex_unlock(&io.life);
    return rc;
}

void ek_io_release(void)
{
    uv_mutex_lock(&io.life);
    io.users--;
    if (io.users == 0) {
        uv_mutex_lock(&io.lock);
        io.stopping = true; /* it ends once its queue is empty */
        uv_cond_signal(&io.posted);
        uv_mutex_unlock(&io.lock);
        uv_thread_join(&io.thread);
    }
    uv_mutex_unlock(&io.life);
}

void ek_io_post(ek_task *task)
{
    uv_mutex_lock(&io.lock);
    task->next = NULL;
    if (io.last != NULL) {
        io.last->next = task;
    } else {
        io.first = task;
    }
    io.last = task;
    uv_cond_signal(&io.posted);
    uv_mutex_unlock(&io.lock);
}

typedef struct io_call {
    ek_task task;
    ek_status (*fn)(void *user);
    void *user;
    ek_status rc;
    ek_error error;
    bool done; /* guarded by io.lock */
} io_call;

static void call_run(ek_task *task)
{
    io_call *call = task->user;
    call->rc = call->fn(call->user);
    if (call->rc != EK_OK) {
        call->error = *ek_error_last();
    }
    uv_mutex_lock(&io.lock);
    call->done = true;
    uv_cond_broadcast(&io.answered);
    uv_mutex_unlock(&io.lock);
}

static bool io_is_running(void)
{
    uv_once(&io.once, init_once);
    if (io.init_code != 0) {
        return false;
    }
    uv_mutex_lock(&io.lock);
    bool running = io.running;
    uv_mutex_unlock(&io.lock);
    return running;
}

ek_status ek_io_call(ek_status (*fn)(void *user), void *user)
{
    if (on_io_thread) {
        return fn(user);
    }
    if (!io_is_running()) {
        return EK_FAIL(EK_EINTERNAL, "The io thread was called without ek_io_acquire.");
    }
    io_call call = {.task = {.run = call_run}, .fn = fn, .user = user};
    call.task.user = &call;
    ek_io_post(&call.task);
    uv_mutex_lock(&io.lock);
    while (!call.done) {
        uv_cond_wait(&io.answered, &io.lock);
    }
    uv_mutex_unlock(&io.lock);
    if (call.rc != EK_OK) {
        ek_error_set(&call.error);
    }
    return call.rc;
}
