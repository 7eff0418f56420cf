/* SPDX-License-Identifier: Apache-2.0 */
/* The metadata of Zarr arrays, versions 2 and 3, read from JSON and checked. Parsing touches no
 * file; what is valid but cannot be read (an unknown codec, Fortran order) does not fail: it is
 * kept in `refusal` until somebody wants the array. */
#ifndef EK_STAGES_LOAD_ZARR_META_H
#define EK_STAGES_LOAD_ZARR_META_H

#include "core/status.h"

#include <jansson.h>

EK_BEGIN_DECLS

#define EK_ZARR_DIMS   8
#define EK_ZARR_CODECS 8

/* In a chunk's bytes: compressors come first. */
typedef enum ek__zarr_kind {
    EK_ZARR_ZLIB,
    EK_ZARR_GZIP,
    EK_ZARR_ZSTD,
    EK_ZARR_LZ4,
    EK_ZARR_BLOSC,
    EK_ZARR_SHUFFLE,
    EK_ZARR_CRC32C
} ek__zarr_kind;

typedef struct ek__zarr_codec {
    ek__zarr_kind kind;
    int element; /* of shuffle: bytes per element */
} ek__zarr_codec;

/* Owned strings are freed by ek__zarr_array_free. */
typedef struct ek__zarr_array {
    char *name;
    char *dir;       /* of its chunks */
    char *meta_path; /* the file that says all this */
    int64_t meta_bytes, meta_mtime_ns;
    int version; /* 2 or 3 */

    int n_dims;
    int64_t shape[EK_ZARR_DIMS];
    int64_t chunk[EK_ZARR_DIMS]; /* every chunk is stored whole, also at the edges */
    char *dims[EK_ZARR_DIMS];    /* names; NULL where it has none */
    int64_t n_values;
    size_t chunk_bytes; /* decoded; 0 if refused */

    char type;    /* 'i', 'u', 'f'; 's' for text; 0 for anything else */
    int size;     /* bytes per value of 'i', 'u', 'f' */
    bool swapped; /* stored in the byte order that is not this machine's */
    bool has_fill;
    uint8_t fill[8]; /* a value in native order: what a chunk without a file is full of */

    int n_codecs; /* in the order of encoding; at most one compressor */
    ek__zarr_codec codecs[EK_ZARR_CODECS];
    char separator; /* between the numbers of a chunk's key */
    bool c_prefix;  /* keys begin with "c" */

    json_t *attrs;     /* an object, or NULL */
    char refusal[120]; /* "Zarr with the codec lzma"; empty if the array can be read */
} ek__zarr_array;

/* ek__zarr_json parses a text of `n` bytes in which bare NaN and Infinity stand for numbers, as
 * Python writes them. *out is an object; free with json_decref. EK_EDATA names `path`. */
ek_status ek__zarr_json(const char *text, size_t n, const char *path, json_t **out);

/* ek__zarr_number gets a number, NaN and infinities among them; false if it is none. */
bool ek__zarr_number(const json_t *value, double *out);

/* ek__zarr_parse fills in what .zarray with .zattrs (`attrs`; NULL if there is none) or zarr.json
 * say about an array; `path` is for errors. Free with ek__zarr_array_free, also after a failure. */
ek_status ek__zarr_parse_v2(const json_t *meta, json_t *attrs, const char *path,
                            ek__zarr_array *out);
ek_status ek__zarr_parse_v3(const json_t *meta, const char *path, ek__zarr_array *out);
void ek__zarr_array_free(ek__zarr_array *array);

/* What both versions share. ek__zarr_refuse keeps the first reason, in printable characters;
 * ek__zarr_shape takes the shape and the chunks' shape; ek__zarr_fill the fill value, after the
 * type; ek__zarr_dims a list of names; ek__zarr_add_codec a codec by its name; ek__zarr_finish
 * works out sizes and checks the order of the codecs. */
void ek__zarr_refuse(ek__zarr_array *a, const char *format, ...) EK_PRINTF(2, 3);
ek_status ek__zarr_shape(const json_t *shape, const json_t *chunks, const char *path,
                         ek__zarr_array *out);
void ek__zarr_fill(const json_t *value, ek__zarr_array *out);
ek_status ek__zarr_dims(const json_t *names, ek__zarr_array *out);
void ek__zarr_add_codec(const char *name, const json_t *config, ek__zarr_array *out);
ek_status ek__zarr_finish(const char *path, ek__zarr_array *out);

/* ek__zarr_store_fill puts a number into `out` as a value of the array's type; false if the type
 * cannot hold it. */
bool ek__zarr_store_fill(const ek__zarr_array *a, const json_t *value, uint8_t out[8]);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_ZARR_META_H */
