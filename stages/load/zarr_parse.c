/* SPDX-License-Identifier: Apache-2.0 */
/* The metadata of one Zarr array: .zarray of version 2 and zarr.json of version 3. */
#include "core/alloc.h"
#include "stages/load/zarr_meta.h"

#include <stdio.h>
#include <string.h>

/* Takes a type by its letter and size; what is not read becomes a refusal called `name`. */
static void set_type(ek__zarr_array *out, char letter, int size, const char *name)
{
    bool is_number = letter == 'i' || letter == 'u' || letter == 'f';
    bool known = letter == 'i'   ? size == 1 || size == 2 || size == 4 || size == 8
                 : letter == 'u' ? size == 1 || size == 2 || size == 4
                                 : size == 4 || size == 8;
    if (is_number && known) {
        out->type = letter;
        out->size = size;
        return;
    }
    out->type = letter == 's' ? 's' : '\0';
    ek__zarr_refuse(out, "Zarr type %.60s", name);
}

/* "<f4": byte order, letter, bytes. */
static void set_type_v2(const json_t *dtype, ek__zarr_array *out)
{
    const char *text = json_string_value(dtype);
    size_t n = text != NULL ? strlen(text) : 0;
    if (n < 2 || strchr("<>|", text[0]) == NULL) {
        set_type(out, '\0', 0, text != NULL ? text : "structured");
        return;
    }
    bool one_digit = n == 3 && text[2] >= '1' && text[2] <= '9';
    char letter = strchr("SUO", text[1]) != NULL ? 's' : text[1];
    set_type(out, letter, one_digit ? text[2] - '0' : 0, text);
    bool big = text[0] == '>';
    out->swapped = out->size > 1 && big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    if (out->size > 1 && text[0] == '|') {
        ek__zarr_refuse(out, "Zarr of unknown byte order");
    }
}

static void add_codec_v2(const json_t *codec, ek__zarr_array *out)
{
    const char *id = json_string_value(json_object_get(codec, "id"));
    ek__zarr_add_codec(id != NULL ? id : "without a name", codec, out);
}

static void set_codecs_v2(const json_t *meta, ek__zarr_array *out)
{
    const json_t *filters = json_object_get(meta, "filters");
    const json_t *compressor = json_object_get(meta, "compressor");
    for (size_t i = 0; i < json_array_size(filters); i++) {
        add_codec_v2(json_array_get(filters, i), out);
    }
    if (filters != NULL && !json_is_null(filters) && !json_is_array(filters)) {
        ek__zarr_refuse(out, "Zarr with filters that are no list");
    }
    if (compressor != NULL && !json_is_null(compressor)) {
        add_codec_v2(compressor, out);
    }
}

static ek_status check_format(const json_t *meta, int version, const char *path)
{
    const json_t *format = json_object_get(meta, "zarr_format");
    if (!json_is_integer(format) || json_integer_value(format) != version) {
        return EK_FAIL(EK_EDATA, "%s: zarr_format is not %d; the store may be damaged", path,
                       version);
    }
    return EK_OK;
}

ek_status ek__zarr_parse_v2(const json_t *meta, json_t *attrs, const char *path,
                            ek__zarr_array *out)
{
    out->version = 2;
    EK_TRY(check_format(meta, 2, path));
    if (json_is_object(attrs)) {
        out->attrs = json_incref(attrs);
    }
    EK_TRY(
        ek__zarr_shape(json_object_get(meta, "shape"), json_object_get(meta, "chunks"), path, out));
    EK_TRY(ek__zarr_dims(json_object_get(attrs, "_ARRAY_DIMENSIONS"), out));
    set_type_v2(json_object_get(meta, "dtype"), out);
    const char *order = json_string_value(json_object_get(meta, "order"));
    bool one_dim = out->n_dims < 2; /* both orders are the same then */
    if (order == NULL || (strcmp(order, "C") != 0 && !(one_dim && strcmp(order, "F") == 0))) {
        ek__zarr_refuse(out, "Zarr in %s order",
                        order != NULL && strcmp(order, "F") == 0 ? "Fortran" : "an unknown");
    }
    const json_t *separator = json_object_get(meta, "dimension_separator");
    const char *text = separator == NULL ? "." : json_string_value(separator);
    out->separator = text != NULL ? text[0] : '\0';
    if (text == NULL || (strcmp(text, ".") != 0 && strcmp(text, "/") != 0)) {
        ek__zarr_refuse(out, "Zarr with an unknown dimension separator");
    }
    set_codecs_v2(meta, out);
    ek__zarr_fill(json_object_get(meta, "fill_value"), out);
    return ek__zarr_finish(path, out);
}

static void set_type_v3(const json_t *type, ek__zarr_array *out)
{
    static const struct {
        const char *name;
        char letter;
        int size;
    } types[] = {{"int8", 'i', 1},    {"int16", 'i', 2},  {"int32", 'i', 4},  {"int64", 'i', 8},
                 {"uint8", 'u', 1},   {"uint16", 'u', 2}, {"uint32", 'u', 4}, {"float32", 'f', 4},
                 {"float64", 'f', 8}, {"string", 's', 0}};
    const char *name = json_string_value(type);
    if (name == NULL) {
        name = json_string_value(json_object_get(type, "name"));
        if (name != NULL && strstr(name, "utf32") != NULL) {
            set_type(out, 's', 0, name);
            return;
        }
    }
    for (size_t i = 0; name != NULL && i < EK_COUNT(types); i++) {
        if (strcmp(name, types[i].name) == 0) {
            set_type(out, types[i].letter, types[i].size, name);
            return;
        }
    }
    set_type(out, '\0', 0, name != NULL ? name : "without a name");
}

/* The name of an extension, which may be written as a string or as {"name", "configuration"}. */
static const char *extension(const json_t *value, const json_t **config)
{
    *config = json_object_get(value, "configuration");
    const char *name = json_is_string(value) ? json_string_value(value)
                                             : json_string_value(json_object_get(value, "name"));
    return name != NULL ? name : "without a name";
}

static bool is_identity(const json_t *order, int n_dims)
{
    if (json_is_string(order)) {
        return strcmp(json_string_value(order), "C") == 0;
    }
    bool same = json_array_size(order) == (size_t)n_dims && json_is_array(order);
    for (int i = 0; same && i < n_dims; i++) {
        const json_t *at = json_array_get(order, (size_t)i);
        same = json_is_integer(at) && json_integer_value(at) == i;
    }
    return same;
}

/* The codec that turns values into bytes. */
static void set_bytes(const json_t *config, ek__zarr_array *out)
{
    const char *endian = json_string_value(json_object_get(config, "endian"));
    bool big = endian != NULL && strcmp(endian, "big") == 0;
    bool little = endian != NULL && strcmp(endian, "little") == 0;
    if (out->size > 1 && !big && !little) {
        ek__zarr_refuse(out, "Zarr of unknown byte order");
    }
    out->swapped = out->size > 1 && big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static void set_codecs_v3(const json_t *codecs, ek__zarr_array *out)
{
    static const char package[] = "numcodecs.";
    bool bytes = false;
    for (size_t i = 0; i < json_array_size(codecs); i++) {
        const json_t *config = NULL;
        const char *name = extension(json_array_get(codecs, i), &config);
        bool numcodecs = strncmp(name, package, sizeof(package) - 1) == 0;
        if (!bytes && strcmp(name, "transpose") == 0) {
            if (!is_identity(json_object_get(config, "order"), out->n_dims)) {
                ek__zarr_refuse(out, "Zarr with transposed chunks");
            }
        } else if (!bytes && strcmp(name, "bytes") == 0) {
            set_bytes(config, out);
            bytes = true;
        } else if (!bytes || strcmp(name, "numcodecs.crc32c") == 0) {
            ek__zarr_refuse(out, "Zarr with the codec %.60s", name);
        } else {
            ek__zarr_add_codec(name + (numcodecs ? sizeof(package) - 1 : 0), config, out);
        }
    }
    if (!bytes) {
        ek__zarr_refuse(out, "Zarr without the codec bytes");
    }
}

static void set_keys_v3(const json_t *encoding, ek__zarr_array *out)
{
    const json_t *config = NULL;
    const char *name = extension(encoding, &config);
    bool is_default = strcmp(name, "default") == 0;
    const json_t *separator = json_object_get(config, "separator");
    const char *text = separator != NULL ? json_string_value(separator) : (is_default ? "/" : ".");
    if ((!is_default && strcmp(name, "v2") != 0) || text == NULL ||
        (strcmp(text, "/") != 0 && strcmp(text, ".") != 0)) {
        ek__zarr_refuse(out, "Zarr with the chunk key encoding %.60s", name);
        return;
    }
    out->c_prefix = is_default;
    out->separator = text[0];
}

/* Whatever a reader does not know it must not read, unless it is said to be harmless. */
static void check_members(const json_t *meta, ek__zarr_array *out)
{
    static const char *const known[] = {"zarr_format",     "node_type",           "shape",
                                        "data_type",       "chunk_grid",          "fill_value",
                                        "dimension_names", "chunk_key_encoding",  "codecs",
                                        "attributes",      "storage_transformers"};
    for (void *at = json_object_iter((json_t *)meta); at != NULL;
         at = json_object_iter_next((json_t *)meta, at)) {
        const char *key = json_object_iter_key(at);
        const json_t *must = json_object_get(json_object_iter_value(at), "must_understand");
        bool is_known = json_is_false(must);
        for (size_t i = 0; i < EK_COUNT(known); i++) {
            is_known = is_known || strcmp(key, known[i]) == 0;
        }
        if (!is_known) {
            ek__zarr_refuse(out, "Zarr with the extension %.60s", key);
        }
    }
    if (json_array_size(json_object_get(meta, "storage_transformers")) > 0) {
        ek__zarr_refuse(out, "Zarr with storage transformers");
    }
}

ek_status ek__zarr_parse_v3(const json_t *meta, const char *path, ek__zarr_array *out)
{
    out->version = 3;
    EK_TRY(check_format(meta, 3, path));
    json_t *attrs = json_object_get(meta, "attributes");
    if (json_is_object(attrs)) {
        out->attrs = json_incref(attrs);
    }
    const json_t *config = NULL;
    const char *grid = extension(json_object_get(meta, "chunk_grid"), &config);
    const json_t *shape = json_object_get(meta, "shape");
    bool regular = strcmp(grid, "regular") == 0;
    if (!regular) {
        ek__zarr_refuse(out, "Zarr with the chunk grid %.60s", grid);
    }
    /* The chunks of an array that is refused do not matter; a shape of one serves as well. */
    json_t *ones = NULL;
    for (size_t i = 0; !regular && i < json_array_size(shape); i++) {
        ones = ones != NULL ? ones : json_array();
        json_array_append_new(ones, json_integer(1));
    }
    ek_status rc =
        ek__zarr_shape(shape, regular ? json_object_get(config, "chunk_shape") : ones, path, out);
    json_decref(ones);
    EK_TRY(rc);
    EK_TRY(ek__zarr_dims(json_object_get(meta, "dimension_names"), out));
    set_type_v3(json_object_get(meta, "data_type"), out);
    set_codecs_v3(json_object_get(meta, "codecs"), out);
    set_keys_v3(json_object_get(meta, "chunk_key_encoding"), out);
    check_members(meta, out);
    ek__zarr_fill(json_object_get(meta, "fill_value"), out);
    return ek__zarr_finish(path, out);
}
