/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop over libuv. Tasks posted from other threads wait in a queue guarded by a mutex;
 * uv_async_send only wakes the loop, since several sends may arrive as one. */
#include "core/loop.h"

#include "core/alloc.h"

#include <signal.h>
#include <uv.h>

typedef struct loop_timer {
    uv_timer_t handle;
    void (*fn)(void *user);
    void *user;
    struct loop_timer *next;
} loop_timer;

struct ek_loop {
    uv_loop_t uv;
    uv_async_t wake;
    uv_signal_t signals[2];
    bool signals_open;
    void (*on_interrupt)(void *user);
    void *interrupt_user;
    loop_timer *timers;
    uv_mutex_t lock; /* guards first and last */
    ek_task *first, *last;
};

static ek_status uv_fail(int code, const char *what)
{
    return EK_FAIL_CODE(EK_EUV, code, "%s failed: %s.", what, uv_strerror(code));
}

/* Runs what was posted up to now; what the tasks post themselves wakes the loop again. */
static void drain(uv_async_t *wake)
{
    ek_loop *loop = wake->data;
    uv_mutex_lock(&loop->lock);
    ek_task *task = loop->first;
    loop->first = NULL;
    loop->last = NULL;
    uv_mutex_unlock(&loop->lock);
    while (task != NULL) {
        ek_task *next = task->next; /* running it may queue or free it */
        task->run(task);
        task = next;
    }
}

ek_status ek_loop_create(ek_loop **out)
{
    *out = NULL;
    ek_loop *loop = ek_alloc(1, sizeof *loop);
    if (loop == NULL) {
        return EK_ENOMEM;
    }
    int code = uv_mutex_init(&loop->lock);
    if (code != 0) {
        ek_free(loop);
        return uv_fail(code, "Making the event loop's lock");
    }
    code = uv_loop_init(&loop->uv);
    if (code != 0) {
        uv_mutex_destroy(&loop->lock);
        ek_free(loop);
        return uv_fail(code, "Making the event loop");
    }
    code = uv_async_init(&loop->uv, &loop->wake, drain);
    if (code != 0) {
        ek_loop_destroy(loop);
        return uv_fail(code, "Making the event loop's wake-up");
    }
    loop->wake.data = loop;
    *out = loop;
    return EK_OK;
}

static void close_handle(uv_handle_t *handle, void *user)
{
    (void)user;
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

void ek_loop_destroy(ek_loop *loop)
{
    if (loop == NULL) {
        return;
    }
    uv_walk(&loop->uv, close_handle, NULL);
    do {
        uv_run(&loop->uv, UV_RUN_DEFAULT); /* lets the closes finish */
    } while (uv_loop_close(&loop->uv) == UV_EBUSY);
    while (loop->timers != NULL) {
        loop_timer *next = loop->timers->next;
        ek_free(loop->timers);
        loop->timers = next;
    }
    uv_mutex_destroy(&loop->lock);
    ek_free(loop);
}

struct uv_loop_s *ek__loop_uv(ek_loop *loop)
{
    return &loop->uv;
}

ek_status ek_loop_run(ek_loop *loop)
{
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    return EK_OK;
}

void ek_loop_stop(ek_loop *loop)
{
    uv_stop(&loop->uv);
}

void ek_loop_post(ek_loop *loop, ek_task *task)
{
    uv_mutex_lock(&loop->lock);
    task->next = NULL;
    if (loop->last != NULL) {
        loop->last->next = task;
    } else {
        loop->first = task;
    }
    loop->last = task;
    /* Under the lock: once the task can run, its owner may end the loop. */
    uv_async_send(&loop->wake);
    uv_mutex_unlock(&loop->lock);
}

static void timer_fired(uv_timer_t *handle)
{
    loop_timer *timer = handle->data;
    timer->fn(timer->user);
}

ek_status ek_loop_every(ek_loop *loop, unsigned ms, void (*fn)(void *user), void *user)
{
    loop_timer *timer = ek_alloc(1, sizeof *timer);
    if (timer == NULL) {
        return EK_ENOMEM;
    }
    timer->fn = fn;
    timer->user = user;
    timer->handle.data = timer;
    timer->next = loop->timers;
    loop->timers = timer; /* freed with the loop, also if starting it fails */
    uint64_t period = ms > 0 ? ms : 1;
    int code = uv_timer_init(&loop->uv, &timer->handle);
    if (code == 0) {
        code = uv_timer_start(&timer->handle, timer_fired, period, period);
    }
    return code == 0 ? EK_OK : uv_fail(code, "Starting a timer");
}

static void interrupted(uv_signal_t *handle, int number)
{
    (void)number;
    ek_loop *loop = handle->data;
    loop->on_interrupt(loop->interrupt_user);
}

static int signals_open(ek_loop *loop)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++) {
        int code = uv_signal_init(&loop->uv, &loop->signals[i]);
        if (code != 0) {
            return code;
        }
        loop->signals[i].data = loop;
        code = uv_signal_start(&loop->signals[i], interrupted, numbers[i]);
        if (code != 0) {
            return code;
        }
    }
    return 0;
}

ek_status ek_loop_on_interrupt(ek_loop *loop, void (*fn)(void *user), void *user)
{
    loop->on_interrupt = fn;
    loop->interrupt_user = user;
    if (loop->signals_open) {
        return EK_OK;
    }
    loop->signals_open = true;
    int code = signals_open(loop);
    return code == 0 ? EK_OK : uv_fail(code, "Listening for interrupts");
}
