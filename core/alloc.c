/* SPDX-License-Identifier: Apache-2.0 */
/* Host allocation with two counters: how many are live, and how many more may succeed. */
#include "core/alloc.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int64_t live;
static _Atomic int64_t fail_after; /* 0: off; n: the n-th allocation from now on fails */

bool ek_alloc_count_one(void)
{
    int64_t left = atomic_load(&fail_after);
    while (left > 0) {
        if (atomic_compare_exchange_weak(&fail_after, &left, left - 1)) {
            if (left == 1) {
                return true;
            }
            break;
        }
    }
    atomic_fetch_add(&live, 1);
    return false;
}

void ek_alloc_count_free(void)
{
    atomic_fetch_sub(&live, 1);
}

int64_t ek_alloc_live(void)
{
    return atomic_load(&live);
}

void ek_alloc_fail_at(int64_t n)
{
    atomic_store(&fail_after, n);
}

void *ek_alloc(size_t count, size_t size)
{
    bool empty = count == 0 || size == 0;
    bool too_much = !empty && count > SIZE_MAX / size;
    void *ptr = NULL;
    if (!too_much && !ek_alloc_count_one()) {
        ptr = empty ? calloc(1, 1) : calloc(count, size);
        if (ptr == NULL) {
            ek_alloc_count_free();
        }
    }
    if (ptr == NULL) {
        EK_FAIL(EK_ENOMEM, "There is no memory for %zu objects of %zu bytes.", count, size);
    }
    return ptr;
}

void ek_free(void *ptr)
{
    if (ptr != NULL) {
        free(ptr);
        ek_alloc_count_free();
    }
}

ek_status ek_grow(void *array_ptr, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity) {
        return EK_OK;
    }
    size_t wanted = EK_MAX((size_t)8, *capacity);
    while (wanted <= count) {
        if (wanted > SIZE_MAX / 2) {
            return EK_FAIL(EK_ENOMEM, "An array of %zu elements cannot grow.", count);
        }
        wanted *= 2;
    }
    void *bigger = ek_alloc(wanted, size);
    if (bigger == NULL) {
        return EK_ENOMEM;
    }
    /* The caller's variable has its own pointer type, so it is read and written as bytes. */
    void *array;
    memcpy(&array, array_ptr, sizeof array);
    if (array != NULL) {
        memcpy(bigger, array, count * size);
        ek_free(array);
    }
    memcpy(array_ptr, &bigger, sizeof bigger);
    *capacity = wanted;
    return EK_OK;
}

char *ek_strdup(const char *text)
{
    if (text == NULL) {
        return NULL;
    }
    size_t bytes = strlen(text) + 1;
    char *copy = ek_alloc(bytes, 1);
    if (copy != NULL) {
        memcpy(copy, text, bytes);
    }
    return copy;
}

char *ek_strprintf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) {
        EK_FAIL(EK_EINTERNAL, "A text could not be formatted.");
        return NULL;
    }
    char *text = ek_alloc((size_t)n + 1, 1);
    if (text != NULL) {
        va_start(args, format);
        vsnprintf(text, (size_t)n + 1, format, args);
        va_end(args);
    }
    return text;
}
