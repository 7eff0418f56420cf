/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/pack.h"

#include <string.h>

#define NO_TEXT (-1)

void ek__pack_reserve(ek__pack *to, size_t n)
{
    if (to->failed || to->capacity - to->n >= n) {
        return;
    }
    size_t capacity = EK_MAX(2 * to->capacity, to->n + n);
    unsigned char *bytes = ek_alloc(capacity, 1);
    if (bytes == NULL) {
        to->failed = true;
        return;
    }
    if (to->n > 0) {
        memcpy(bytes, to->bytes, to->n);
    }
    ek_free(to->bytes);
    to->bytes = bytes;
    to->capacity = capacity;
}

void ek__pack_bytes(ek__pack *to, const void *bytes, size_t n)
{
    ek__pack_reserve(to, n);
    if (!to->failed && n > 0) {
        memcpy(to->bytes + to->n, bytes, n);
        to->n += n;
    }
}

void ek__pack_int(ek__pack *to, int64_t value)
{
    ek__pack_bytes(to, &value, sizeof value);
}

void ek__pack_text(ek__pack *to, const char *text)
{
    size_t n = text != NULL ? strlen(text) : 0;
    ek__pack_int(to, text != NULL ? (int64_t)n : NO_TEXT);
    ek__pack_bytes(to, text, n);
}

void ek__pack_doubles(ek__pack *to, const double *values, int64_t n)
{
    ek__pack_int(to, n);
    ek__pack_bytes(to, values, (size_t)n * sizeof *values);
}

void ek__unpack_bytes(ek__unpack *from, void *to, size_t n)
{
    if (from->bad || from->failed || from->left < n) {
        from->bad = !from->failed;
        memset(to, 0, n);
        return;
    }
    memcpy(to, from->at, n);
    from->at += n;
    from->left -= n;
}

int64_t ek__unpack_int(ek__unpack *from, int64_t min, int64_t max)
{
    int64_t value = 0;
    ek__unpack_bytes(from, &value, sizeof value);
    if (from->bad || from->failed || value < min || value > max) {
        from->bad = !from->failed;
        return 0;
    }
    return value;
}

int64_t ek__unpack_count(ek__unpack *from, size_t size)
{
    int64_t count = ek__unpack_int(from, 0, INT64_MAX);
    if ((uint64_t)count > from->left / size) {
        from->bad = true;
        return 0;
    }
    return count;
}

void *ek__unpack_alloc(ek__unpack *from, int64_t count, size_t size)
{
    if (from->bad || from->failed) {
        return NULL;
    }
    void *array = ek_alloc((size_t)count, size);
    from->failed = array == NULL;
    return array;
}

char *ek__unpack_text(ek__unpack *from)
{
    int64_t n = ek__unpack_int(from, NO_TEXT, INT32_MAX);
    if (n == NO_TEXT) {
        return NULL;
    }
    if ((uint64_t)n > from->left) {
        from->bad = true;
        return NULL;
    }
    char *text = ek__unpack_alloc(from, n + 1, 1);
    if (text != NULL) {
        ek__unpack_bytes(from, text, (size_t)n);
        from->bad = from->bad || memchr(text, '\0', (size_t)n) != NULL;
    }
    return text;
}

void ek__unpack_chars(ek__unpack *from, char *to, size_t size)
{
    int64_t n = ek__unpack_int(from, 0, (int64_t)size - 1);
    ek__unpack_bytes(from, to, (size_t)n);
    to[n] = '\0';
    from->bad = from->bad || memchr(to, '\0', (size_t)n) != NULL;
}

double *ek__unpack_doubles(ek__unpack *from, int64_t *n)
{
    *n = ek__unpack_count(from, sizeof(double));
    double *values = ek__unpack_alloc(from, *n, sizeof *values);
    if (values != NULL) {
        ek__unpack_bytes(from, values, (size_t)*n * sizeof *values);
    }
    return values;
}
