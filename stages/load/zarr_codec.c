/* SPDX-License-Identifier: Apache-2.0 */
/* The codecs of Zarr chunks. A chunk's codecs are undone from the last to the first: checksums, at
 * most one compressor, then checksums and shuffle. The bytes after every step are known beforehand,
 * so that each length a chunk claims is compared with the one it must have. */
#include "stages/load/zarr_codec.h"

#include "stages/load/filters.h"

#include <blosc.h>
#include <libdeflate.h>
#include <lz4.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

/* The number of codecs before the compressor; all of them if there is none. */
static int n_before(const ek__zarr_array *a)
{
    int i = 0;
    while (i < a->n_codecs && a->codecs[i].kind >= EK_ZARR_SHUFFLE) {
        i++;
    }
    return i;
}

/* The bytes before codec i when encoding. */
static size_t bytes_before(const ek__zarr_array *a, int i)
{
    size_t bytes = a->chunk_bytes;
    for (int k = 0; k < i; k++) {
        bytes += a->codecs[k].kind == EK_ZARR_CRC32C ? 4 : 0;
    }
    return bytes;
}

size_t ek__zarr_encoded_max(const ek__zarr_array *a)
{
    size_t bytes = bytes_before(a, a->n_codecs);
    return n_before(a) == a->n_codecs ? bytes : bytes + bytes / 8 + 4096;
}

size_t ek__zarr_work_bytes(const ek__zarr_array *a)
{
    return n_before(a) == 0 ? 0 : bytes_before(a, n_before(a));
}

bool ek__zarr_inflates(const ek__zarr_array *a)
{
    int i = n_before(a);
    return i < a->n_codecs &&
           (a->codecs[i].kind == EK_ZARR_ZLIB || a->codecs[i].kind == EK_ZARR_GZIP);
}

void ek__zarr_codec_text(const ek__zarr_array *a, char *out, size_t size)
{
    static const char *const names[] = {"zlib",  "gzip",    "zstd",  "lz4",
                                        "blosc", "shuffle", "crc32c"};
    size_t used = (size_t)snprintf(out, size, "%s", a->n_codecs == 0 ? "no codecs" : "");
    for (int i = 0; i < a->n_codecs && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "",
                                 names[a->codecs[i].kind]);
    }
}

static uint32_t crc_tables[8][256];

static void make_crc_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc & 1) != 0 ? crc >> 1 ^ UINT32_C(0x82f63b78) : crc >> 1;
        }
        crc_tables[0][i] = crc;
    }
    for (int t = 1; t < 8; t++) {
        for (int i = 0; i < 256; i++) {
            uint32_t before = crc_tables[t - 1][i];
            crc_tables[t][i] = before >> 8 ^ crc_tables[0][before & 0xff];
        }
    }
}

uint32_t ek__zarr_crc32c(const uint8_t *bytes, size_t n)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_crc_tables);
    uint32_t crc = UINT32_MAX;
    for (; n >= 8; n -= 8, bytes += 8) { /* eight bytes at a time, in any byte order */
        uint32_t next = 0;
        for (int i = 0; i < 8; i++) {
            uint32_t mixed = (i < 4 ? bytes[i] ^ crc >> 8 * i : bytes[i]) & 0xff;
            next ^= crc_tables[7 - i][mixed];
        }
        crc = next;
    }
    for (; n > 0; n--, bytes++) {
        crc = crc >> 8 ^ crc_tables[0][(crc ^ *bytes) & 0xff];
    }
    return ~crc;
}

static uint32_t little32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/* Takes the four bytes of a checksum off the end. */
static const char *check_crc(const uint8_t *in, size_t *n)
{
    if (*n < 4) {
        return "it is shorter than its checksum";
    }
    *n -= 4;
    return ek__zarr_crc32c(in, *n) == little32(in + *n) ? NULL : "its checksum is wrong";
}

static const char *inflate_zlib(const uint8_t *in, size_t n, uint8_t *out, size_t size,
                                struct libdeflate_decompressor *inflate)
{
    size_t used = 0;
    enum libdeflate_result rc =
        libdeflate_zlib_decompress_ex(inflate, in, n, out, size, &used, NULL);
    return rc == LIBDEFLATE_SUCCESS && used == n ? NULL : "it does not inflate to its values";
}

/* A gzip file may have several members, one after the other. */
static const char *inflate_gzip(const uint8_t *in, size_t n, uint8_t *out, size_t size,
                                struct libdeflate_decompressor *inflate)
{
    size_t done = 0;
    for (size_t at = 0; at < n;) {
        size_t used = 0;
        size_t got = 0;
        enum libdeflate_result rc = libdeflate_gzip_decompress_ex(
            inflate, in + at, n - at, out + done, size - done, &used, &got);
        if (rc != LIBDEFLATE_SUCCESS) {
            return "it does not inflate to its values";
        }
        at += used;
        done += got;
    }
    return done == size ? NULL : "it has not as many values as it should";
}

static const char *unpack_zstd(const uint8_t *in, size_t n, uint8_t *out, size_t size)
{
    size_t got = ZSTD_decompress(out, size, in, n);
    if (ZSTD_isError(got)) {
        return ZSTD_getErrorName(got);
    }
    return got == size ? NULL : "it has not as many values as it should";
}

/* Four bytes of length stand before a block. */
static const char *unpack_lz4(const uint8_t *in, size_t n, uint8_t *out, size_t size)
{
    if (n < 4 || little32(in) != size) {
        return "it has not as many values as it should";
    }
    int got = LZ4_decompress_safe((const char *)in + 4, (char *)out, (int)(n - 4), (int)size);
    return got == (int)size ? NULL : "its lz4 block is damaged";
}

static const char *unpack_blosc(const uint8_t *in, size_t n, uint8_t *out, size_t size)
{
    size_t claimed = 0;
    if (n < BLOSC_MIN_HEADER_LENGTH || blosc_cbuffer_validate(in, n, &claimed) != 0) {
        return "its blosc header is damaged";
    }
    if (claimed != size) {
        return "it has not as many values as it should";
    }
    int got = blosc_decompress_ctx(in, out, size, 1);
    return got == (int)size ? NULL : "its blosc blocks are damaged, or of an unknown compressor";
}

static void unshuffle(const uint8_t *in, size_t n, size_t element, uint8_t *out)
{
    size_t count = n / element;
    if (element == 2 || element == 4 || element == 8) {
        ek__unshuffle(in, out, count, element, false);
        return;
    }
    for (size_t i = 0; i < element; i++) {
        const uint8_t *from = in + i * count;
        for (size_t k = 0; k < count; k++) {
            out[k * element + i] = from[k];
        }
    }
}

static const char *decompress(ek__zarr_kind kind, const uint8_t *in, size_t n, uint8_t *out,
                              size_t size, struct libdeflate_decompressor *inflate)
{
    switch (kind) {
    case EK_ZARR_ZLIB:
        return inflate_zlib(in, n, out, size, inflate);
    case EK_ZARR_GZIP:
        return inflate_gzip(in, n, out, size, inflate);
    case EK_ZARR_ZSTD:
        return unpack_zstd(in, n, out, size);
    case EK_ZARR_LZ4:
        return unpack_lz4(in, n, out, size);
    default:
        return unpack_blosc(in, n, out, size);
    }
}

/* Undoes the codecs before the compressor, from `in` into `out`; `in` may be overwritten if it is
 * `work`, and is not `out`. More than one shuffle goes back and forth between the two. */
static const char *undo_before(const ek__zarr_array *a, const uint8_t *in, uint8_t *work,
                               uint8_t *out)
{
    int last = n_before(a);
    size_t n = bytes_before(a, last);
    const uint8_t *at = in;
    for (int i = last - 1; i >= 0; i--) {
        if (a->codecs[i].kind == EK_ZARR_CRC32C) {
            const char *wrong = check_crc(at, &n);
            if (wrong != NULL) {
                return wrong;
            }
            continue;
        }
        uint8_t *to = at == out ? work : out;
        unshuffle(at, n, (size_t)a->codecs[i].element, to);
        at = to;
    }
    if (at != out) {
        memcpy(out, at, n);
    }
    return NULL;
}

const char *ek__zarr_decode(const ek__zarr_array *a, const uint8_t *in, size_t n, uint8_t *work,
                            uint8_t *out, struct libdeflate_decompressor *inflate)
{
    int before = n_before(a);
    for (int i = a->n_codecs - 1; i > before; i--) { /* only checksums follow the compressor */
        const char *wrong = check_crc(in, &n);
        if (wrong != NULL) {
            return wrong;
        }
    }
    size_t size = bytes_before(a, before);
    if (before == a->n_codecs) {
        return n == size ? undo_before(a, in, work, out) : "it has not as many values as it should";
    }
    uint8_t *to = before == 0 ? out : work;
    const char *wrong = decompress(a->codecs[before].kind, in, n, to, size, inflate);
    if (wrong != NULL) {
        return wrong;
    }
    return before == 0 ? NULL : undo_before(a, work, work, out);
}
