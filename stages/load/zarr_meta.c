/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata of Zarr arrays: what versions 2 and 3 share. Nothing in the JSON is trusted: counts and
 * sizes are bounded before they are used. */
#include "stages/load/zarr_meta.h"

#include "core/alloc.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_DIM    (INT64_C(1) << 48)
#define CHUNK_BYTES_MAX (INT64_C(1) << 30)
#define BARE            '\001' /* before a number that JSON has no word for, once it is a string */

/* The length of a bare NaN, Infinity or -Infinity at `text`; 0 if there is none. */
static size_t bare_length(const char *text, size_t n)
{
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < EK_COUNT(words); i++) {
        size_t length = strlen(words[i]);
        if (n >= length && memcmp(text, words[i], length) == 0) {
            return length;
        }
    }
    return 0;
}

/* Copies JSON, with bare numbers turned into marked strings; with `out` NULL it only counts. */
static size_t quote_bare(const char *text, size_t n, char *out)
{
    static const char before[] = "\"\\u0001";
    size_t used = 0;
    bool in_string = false;
    for (size_t i = 0; i < n;) {
        size_t bare = in_string ? 0 : bare_length(text + i, n - i);
        size_t length = bare > 0 ? bare : (in_string && text[i] == '\\' && i + 1 < n ? 2 : 1);
        in_string = (text[i] == '"') != in_string;
        if (out != NULL) {
            memcpy(out + used + (bare > 0 ? sizeof(before) - 1 : 0), text + i, length);
        }
        if (out != NULL && bare > 0) {
            memcpy(out + used, before, sizeof(before) - 1);
            out[used + sizeof(before) - 1 + length] = '"';
        }
        used += length + (bare > 0 ? sizeof(before) : 0);
        i += length;
    }
    return used;
}

ek_status ek__zarr_json(const char *text, size_t n, const char *path, json_t **out)
{
    *out = NULL;
    size_t quoted = quote_bare(text, n, NULL);
    char *copy = NULL;
    if (quoted != n) {
        copy = ek_alloc(quoted, 1);
        if (copy == NULL) {
            return EK_ENOMEM;
        }
        quote_bare(text, n, copy);
    }
    const char *json = copy != NULL ? copy : text;
    json_error_t error;
    *out = json_loadb(json, quoted, 0, &error);
    if (*out == NULL && json_error_code(&error) == json_error_numeric_overflow) {
        *out = json_loadb(json, quoted, JSON_DECODE_INT_AS_REAL, &error);
    }
    ek_free(copy);
    if (*out == NULL) {
        return EK_FAIL(EK_EDATA, "%s is not valid JSON (line %d: %s); the store may be damaged",
                       path, error.line, error.text);
    }
    if (!json_is_object(*out)) {
        json_decref(*out);
        *out = NULL;
        return EK_FAIL(EK_EDATA, "%s is not a JSON object; the store may be damaged", path);
    }
    return EK_OK;
}

bool ek__zarr_number(const json_t *value, double *out)
{
    if (json_is_number(value)) {
        *out = json_number_value(value);
        return true;
    }
    const char *text = json_string_value(value);
    if (text == NULL || text[0] != BARE) {
        return false;
    }
    double infinity = text[1] == '-' ? -INFINITY : INFINITY;
    *out = text[1] == 'N' ? (double)NAN : infinity;
    return true;
}

void ek__zarr_refuse(ek__zarr_array *a, const char *format, ...)
{
    if (a->refusal[0] != '\0') {
        return;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(a->refusal, sizeof(a->refusal), format, args);
    va_end(args);
    for (char *c = a->refusal; *c != '\0'; c++) {
        *c = *c < ' ' || *c > '~' || *c == '/' ? '?' : *c;
    }
    for (size_t n = strlen(a->refusal); n > 0 && a->refusal[n - 1] == ' '; n--) {
        a->refusal[n - 1] = '\0';
    }
}

/* Gets a list of sizes from `least` on. */
static bool get_sizes(const json_t *list, int64_t least, int64_t out[EK_ZARR_DIMS])
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *size = json_array_get(list, i);
        if (!json_is_integer(size) || json_integer_value(size) < least ||
            json_integer_value(size) > SIZE_MAX_DIM) {
            return false;
        }
        if (i < EK_ZARR_DIMS) {
            out[i] = json_integer_value(size);
        }
    }
    return true;
}

ek_status ek__zarr_shape(const json_t *shape, const json_t *chunks, const char *path,
                         ek__zarr_array *out)
{
    if (!json_is_array(shape) || !json_is_array(chunks) ||
        json_array_size(shape) != json_array_size(chunks) || !get_sizes(shape, 0, out->shape) ||
        !get_sizes(chunks, 1, out->chunk)) {
        return EK_FAIL(EK_EDATA,
                       "%s: the shape of the array %s or of its chunks makes no sense; the store "
                       "may be damaged",
                       path, out->name != NULL ? out->name : "");
    }
    if (json_array_size(shape) > EK_ZARR_DIMS) {
        ek__zarr_refuse(out, "Zarr with %zu dimensions", json_array_size(shape));
        return EK_OK;
    }
    out->n_dims = (int)json_array_size(shape);
    out->n_values = 1;
    for (int i = 0; i < out->n_dims; i++) {
        if (__builtin_mul_overflow(out->n_values, out->shape[i], &out->n_values) ||
            out->n_values > INT64_MAX / 16) {
            return EK_FAIL(EK_EDATA, "%s: the shape of the array %s is too large", path,
                           out->name != NULL ? out->name : "");
        }
    }
    return EK_OK;
}

static bool store_integer(const ek__zarr_array *a, const json_t *value, uint8_t out[8])
{
    double real = 0;
    if (!ek__zarr_number(value, &real) || real != floor(real)) { /* also NaN */
        return false;
    }
    int bits = 8 * a->size;
    double low = a->type == 'i' ? -ldexp(1, bits - 1) : 0;
    double high = ldexp(1, a->type == 'i' ? bits - 1 : bits); /* first that is too large */
    if (real < low || real >= high) {
        return false;
    }
    uint64_t number = real < 0 ? (uint64_t)(int64_t)real : (uint64_t)real;
    if (json_is_integer(value)) {
        number = (uint64_t)json_integer_value(value);
    }
    uint8_t n8 = (uint8_t)number;
    uint16_t n16 = (uint16_t)number;
    uint32_t n32 = (uint32_t)number;
    const void *from = &number;
    from = a->size == 4 ? (const void *)&n32 : from;
    from = a->size == 2 ? (const void *)&n16 : from;
    from = a->size == 1 ? (const void *)&n8 : from;
    memcpy(out, from, (size_t)a->size);
    return true;
}

/* Version 3 may write a float as its bits: "0x7fc00000". */
static bool store_bits(const ek__zarr_array *a, const char *text, uint8_t out[8])
{
    if (strncmp(text, "0x", 2) != 0 || strlen(text) != 2 + 2 * (size_t)a->size ||
        strspn(text + 2, "0123456789abcdefABCDEF") != 2 * (size_t)a->size) {
        return false;
    }
    uint64_t bits = strtoull(text + 2, NULL, 16);
    uint32_t half = (uint32_t)bits;
    memcpy(out, a->size == 4 ? (const void *)&half : (const void *)&bits, (size_t)a->size);
    return true;
}

static bool store_float(const ek__zarr_array *a, const json_t *value, uint8_t out[8])
{
    double real = 0;
    const char *text = json_string_value(value);
    if (text != NULL && text[0] != BARE) {
        if (store_bits(a, text, out)) {
            return true;
        }
        if (bare_length(text, strlen(text)) != strlen(text) || text[0] == '\0') {
            return false;
        }
        real = text[0] == 'N' ? (double)NAN : (text[0] == '-' ? -INFINITY : INFINITY);
    } else if (!ek__zarr_number(value, &real)) {
        return false;
    }
    float single = isfinite(real) && fabs(real) > 3.5e38 ? NAN : (float)real;
    if (a->size == 4 && isnan(single) && !isnan(real)) {
        return false;
    }
    memcpy(out, a->size == 4 ? (const void *)&single : (const void *)&real, (size_t)a->size);
    return true;
}

bool ek__zarr_store_fill(const ek__zarr_array *a, const json_t *value, uint8_t out[8])
{
    return a->type == 'f' ? store_float(a, value, out) : store_integer(a, value, out);
}

void ek__zarr_fill(const json_t *value, ek__zarr_array *out)
{
    if (value == NULL || json_is_null(value) || out->size == 0) {
        return;
    }
    out->has_fill = ek__zarr_store_fill(out, value, out->fill);
    if (!out->has_fill) {
        ek__zarr_refuse(out, "Zarr with a fill value that is none of its type");
    }
}

ek_status ek__zarr_dims(const json_t *names, ek__zarr_array *out)
{
    if (json_array_size(names) != (size_t)out->n_dims) {
        return EK_OK;
    }
    for (int i = 0; i < out->n_dims; i++) {
        const char *name = json_string_value(json_array_get(names, (size_t)i));
        if (name == NULL || name[0] == '\0') {
            continue;
        }
        out->dims[i] = ek_strdup(name);
        if (out->dims[i] == NULL) {
            return EK_ENOMEM;
        }
    }
    return EK_OK;
}

void ek__zarr_add_codec(const char *name, const json_t *config, ek__zarr_array *out)
{
    static const char *const names[] = {
        [EK_ZARR_ZLIB] = "zlib",    [EK_ZARR_GZIP] = "gzip",   [EK_ZARR_ZSTD] = "zstd",
        [EK_ZARR_LZ4] = "lz4",      [EK_ZARR_BLOSC] = "blosc", [EK_ZARR_SHUFFLE] = "shuffle",
        [EK_ZARR_CRC32C] = "crc32c"};
    /* Before version 3, and in numcodecs' own names, this checksum is laid out in other ways. */
    size_t n = out->version == 3 ? EK_COUNT(names) : EK_ZARR_CRC32C;
    size_t kind = 0;
    while (kind < n && strcmp(name, names[kind]) != 0) {
        kind++;
    }
    if (kind == n) {
        ek__zarr_refuse(out, "Zarr with the codec %.60s", name);
    } else if (out->n_codecs == EK_ZARR_CODECS) {
        ek__zarr_refuse(out, "Zarr with more than %d codecs", EK_ZARR_CODECS);
    } else {
        const json_t *element = json_object_get(config, "elementsize");
        int64_t bytes = json_is_integer(element) ? json_integer_value(element) : 4;
        if (kind == EK_ZARR_SHUFFLE && (bytes < 1 || bytes > 255)) {
            ek__zarr_refuse(out, "Zarr with elements of %lld bytes to shuffle", (long long)bytes);
            return;
        }
        out->codecs[out->n_codecs++] =
            (ek__zarr_codec){.kind = (ek__zarr_kind)kind, .element = (int)bytes};
    }
}

/* A compressor is the only one, what comes before it keeps sizes known, and after it there are only
 * checksums. */
static void check_codecs(ek__zarr_array *a)
{
    bool compressed = false;
    size_t bytes = a->chunk_bytes;
    for (int i = 0; i < a->n_codecs; i++) {
        ek__zarr_kind kind = a->codecs[i].kind;
        if (compressed && kind != EK_ZARR_CRC32C) {
            ek__zarr_refuse(a, "Zarr with codecs after a compressor");
        }
        if (kind == EK_ZARR_SHUFFLE && bytes % (size_t)a->codecs[i].element != 0) {
            ek__zarr_refuse(a, "Zarr with chunks of %zu bytes shuffled by %d", bytes,
                            a->codecs[i].element);
        }
        compressed = compressed || kind < EK_ZARR_SHUFFLE;
        bytes += kind == EK_ZARR_CRC32C ? 4 : 0;
    }
}

ek_status ek__zarr_finish(const char *path, ek__zarr_array *out)
{
    if (out->refusal[0] != '\0') {
        return EK_OK;
    }
    if (out->size == 0) {
        return EK_FAIL(EK_EINTERNAL, "%s: an array has no type", path);
    }
    int64_t bytes = out->size;
    for (int i = 0; i < out->n_dims; i++) {
        if (__builtin_mul_overflow(bytes, out->chunk[i], &bytes) || bytes > CHUNK_BYTES_MAX) {
            ek__zarr_refuse(out, "Zarr in chunks of more than 1 GiB");
            return EK_OK;
        }
    }
    out->chunk_bytes = (size_t)bytes;
    check_codecs(out);
    return EK_OK;
}

void ek__zarr_array_free(ek__zarr_array *array)
{
    ek_free(array->name);
    ek_free(array->dir);
    ek_free(array->meta_path);
    for (int i = 0; i < EK_ZARR_DIMS; i++) {
        ek_free(array->dims[i]);
    }
    json_decref(array->attrs);
    *array = (ek__zarr_array){0};
}
