/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/bench/launch_clock.h"

#include "graphs/run_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
    double *took[CLOCK_CALLS], *began; /* began: of each submit */
    int64_t n[CLOCK_CALLS], room;
} calls;

ek_status __real_ek__run_submit(run_slot *slot);
ek_status __wrap_ek__run_submit(run_slot *slot);

ek_status __wrap_ek__run_submit(run_slot *slot)
{
    double began = clock_now();
    ek_status rc = __real_ek__run_submit(slot);
    if (calls.n[CLOCK_SUBMIT] < calls.room) {
        calls.began[calls.n[CLOCK_SUBMIT]] = began;
    }
    clock_add(CLOCK_SUBMIT, began);
    return rc;
}

double clock_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void clock_free(void)
{
    for (int i = 0; i < CLOCK_CALLS; i++) {
        ek_free(calls.took[i]);
    }
    ek_free(calls.began);
    memset(&calls, 0, sizeof calls);
}

ek_status clock_reset(int64_t chunks)
{
    clock_free();
    calls.room = chunks;
    calls.began = ek_alloc((size_t)chunks, sizeof(double));
    for (int i = 0; i < CLOCK_CALLS; i++) {
        calls.took[i] = ek_alloc((size_t)chunks, sizeof(double));
        if (calls.took[i] == NULL) {
            return EK_ENOMEM;
        }
    }
    return calls.began != NULL ? EK_OK : EK_ENOMEM;
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

double clock_per_chunk(void)
{
    int64_t n = calls.n[CLOCK_SUBMIT], first = n / 10;
    return n < 2 ? 0 : (calls.began[n - 1] - calls.began[first]) / (double)(n - 1 - first);
}
