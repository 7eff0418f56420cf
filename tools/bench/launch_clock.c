/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/bench/launch_clock.h"

#include "graphs/run_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
    double *took[CLOCK_CALLS], *began, *cpu; /* the last two: of each submit */
    int64_t n[CLOCK_CALLS], room;
} calls;

static bool leave_out;
static const run_slot *submitting;

const char *clock_name(clock_call call)
{
    static const char *const names[CLOCK_CALLS] = {
        [CLOCK_SUBMIT] = "submit",   [CLOCK_TURNAROUND] = "turnaround",
        [CLOCK_ACCOUNT] = "account", [CLOCK_CAPTURE] = "capture",
        [CLOCK_UPLOAD] = "upload",   [CLOCK_INSTANTIATE] = "instantiate",
        [CLOCK_FIRST] = "first",     [CLOCK_LAUNCH] = "launch",
        [CLOCK_COPY] = "copy",       [CLOCK_RECORD] = "record",
        [CLOCK_WAIT] = "wait",       [CLOCK_TELL] = "tell",
        [CLOCK_QUERY] = "query",     [CLOCK_ELAPSED] = "elapsed",
    };
    return names[call];
}

static double clock_of(clockid_t id)
{
    struct timespec time;
    clock_gettime(id, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double clock_now(void)
{
    return clock_of(CLOCK_MONOTONIC);
}

ek_status __real_ek__run_submit(run_slot *slot);
ek_status __wrap_ek__run_submit(run_slot *slot);
ek_status __real_ek__run_account(run_slot *slot);
ek_status __wrap_ek__run_account(run_slot *slot);
ek_status __real_ek_event_record(ek_event *event, ek_queue *queue);
ek_status __wrap_ek_event_record(ek_event *event, ek_queue *queue);

void clock_leave_out(bool events)
{
    leave_out = events;
}

ek_status __wrap_ek_event_record(ek_event *event, ek_queue *queue)
{
    const run_slot *slot = submitting;
    bool only_time = slot != NULL && (event == slot->start || event == slot->copy_start);
    return leave_out && only_time ? EK_OK : __real_ek_event_record(event, queue);
}

ek_status __wrap_ek__run_submit(run_slot *slot)
{
    int64_t n = calls.n[CLOCK_SUBMIT];
    double began = clock_now();
    if (n < calls.room) {
        calls.began[n] = began;
        calls.cpu[n] = clock_of(CLOCK_THREAD_CPUTIME_ID);
    }
    submitting = slot;
    ek_status rc = __real_ek__run_submit(slot);
    submitting = NULL;
    clock_add(CLOCK_SUBMIT, began);
    return rc;
}

/* Chunks are complete in the order in which they were submitted. */
ek_status __wrap_ek__run_account(run_slot *slot)
{
    double began = clock_now();
    int64_t n = calls.n[CLOCK_TURNAROUND];
    if (n < calls.n[CLOCK_SUBMIT]) {
        clock_add(CLOCK_TURNAROUND, calls.began[n]);
    }
    ek_status rc = leave_out ? EK_OK : __real_ek__run_account(slot);
    clock_add(CLOCK_ACCOUNT, began);
    return rc;
}

void clock_free(void)
{
    for (int i = 0; i < CLOCK_CALLS; i++) {
        ek_free(calls.took[i]);
    }
    ek_free(calls.began);
    ek_free(calls.cpu);
    memset(&calls, 0, sizeof calls);
}

ek_status clock_reset(int64_t chunks)
{
    clock_free();
    calls.room = chunks;
    calls.began = ek_alloc((size_t)chunks, sizeof(double));
    calls.cpu = ek_alloc((size_t)chunks, sizeof(double));
    for (int i = 0; i < CLOCK_CALLS; i++) {
        calls.took[i] = ek_alloc((size_t)chunks, sizeof(double));
        if (calls.took[i] == NULL) {
            return EK_ENOMEM;
        }
    }
    return calls.began != NULL && calls.cpu != NULL ? EK_OK : EK_ENOMEM;
}

void clock_add(clock_call call, double began)
{
    if (calls.n[call] < calls.room) {
        calls.took[call][calls.n[call]++] = clock_now() - began;
    }
}

int64_t clock_count(clock_call call)
{
    return calls.n[call];
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double clock_quantile(clock_call call, double q)
{
    int64_t n = calls.n[call];
    if (n == 0) {
        return 0;
    }
    qsort(calls.took[call], (size_t)n, sizeof(double), ascending);
    return calls.took[call][(int64_t)(q * (double)(n - 1))];
}

static double per_chunk(const double *at)
{
    int64_t n = calls.n[CLOCK_SUBMIT], first = n / 10;
    return n < 2 ? 0 : (at[n - 1] - at[first]) / (double)(n - 1 - first);
}

double clock_per_chunk(void)
{
    return per_chunk(calls.began);
}

double clock_cpu_per_chunk(void)
{
    return per_chunk(calls.cpu);
}
