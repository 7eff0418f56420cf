/* SPDX-License-Identifier: Apache-2.0 */
/* Values one after another in a block of bytes, in this machine's byte order: how a state file's
 * head is made and read. Both directions are sticky, so that a caller checks once at the end; the
 * reader believes no length before it has seen that so many bytes are left. */
#ifndef EK_GRAPHS_PACK_H
#define EK_GRAPHS_PACK_H

#include "core/alloc.h"

EK_BEGIN_DECLS

/* What has been packed. A zeroed one is empty; free `bytes` with ek_free. */
typedef struct ek__pack {
    unsigned char *bytes;
    size_t n, capacity;
    bool failed; /* out of memory */
} ek__pack;

/* ek__pack_reserve makes room for n more bytes, so that packing those allocates nothing. */
void ek__pack_reserve(ek__pack *to, size_t n);
void ek__pack_bytes(ek__pack *to, const void *bytes, size_t n);
void ek__pack_int(ek__pack *to, int64_t value);
void ek__pack_text(ek__pack *to, const char *text); /* NULL stays NULL */
void ek__pack_doubles(ek__pack *to, const double *values, int64_t n);

/* What is still to be read. */
typedef struct ek__unpack {
    const unsigned char *at;
    size_t left;
    bool bad;    /* the bytes make no sense */
    bool failed; /* out of memory */
} ek__unpack;

/* After a failure each of these returns 0 or NULL. ek__unpack_int gives a value in [min, max];
 * ek__unpack_count one that leaves `size` bytes for each of what it counts. Texts and doubles are
 * the caller's, to be freed with ek_free. */
void ek__unpack_bytes(ek__unpack *from, void *to, size_t n);
int64_t ek__unpack_int(ek__unpack *from, int64_t min, int64_t max);
int64_t ek__unpack_count(ek__unpack *from, size_t size);
char *ek__unpack_text(ek__unpack *from);
void ek__unpack_chars(ek__unpack *from, char *to, size_t size); /* a text into an array */
double *ek__unpack_doubles(ek__unpack *from, int64_t *n);
void *ek__unpack_alloc(ek__unpack *from, int64_t count, size_t size);

EK_END_DECLS

#endif /* EK_GRAPHS_PACK_H */
