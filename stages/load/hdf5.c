/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a netCDF-4 variable can be decoded without the library, and where its values stand. All
 * HDF5 calls are here, on the io thread, while the netCDF file is open. */
#define H5_USE_110_API
#include "stages/load/hdf5.h"

#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_BYTES_MAX (INT64_C(256) << 20) /* a larger one is left to the library */
#define CHUNKS_MAX      (INT64_C(1) << 28)
#define JOB_CHUNKS_MAX  256 /* so that working memory stays small where chunks are tiny */
#define FILTER_NAME_MAX 32

/* The HDF5 objects of a decision; all closed at its end. */
typedef struct hdf5_open {
    hid_t file, dataset, type, space, plist;
} hdf5_open;

static const char *open_dataset(hdf5_open *h, const ek__decode_request *r)
{
    *h = (hdf5_open){-1, -1, -1, -1, -1};
    htri_t is_hdf5 = H5Fis_hdf5(r->file->path);
    if (is_hdf5 <= 0) {
        return "it is no HDF5 file";
    }
    h->file = H5Fopen(r->file->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    h->dataset = h->file >= 0 ? H5Dopen2(h->file, r->variable->var.name, H5P_DEFAULT) : -1;
    if (h->dataset < 0) {
        return "HDF5 cannot open it";
    }
    h->type = H5Dget_type(h->dataset);
    h->space = H5Dget_space(h->dataset);
    h->plist = H5Dget_create_plist(h->dataset);
    return h->type >= 0 && h->space >= 0 && h->plist >= 0 ? NULL : "HDF5 cannot describe it";
}

static void close_dataset(hdf5_open *h)
{
    if (h->plist >= 0) {
        H5Pclose(h->plist);
    }
    if (h->space >= 0) {
        H5Sclose(h->space);
    }
    if (h->type >= 0) {
        H5Tclose(h->type);
    }
    if (h->dataset >= 0) {
        H5Dclose(h->dataset);
    }
    if (h->file >= 0) {
        H5Fclose(h->file);
    }
}

/* check_type accepts whole-byte integers and IEEE floats of the size expected. */
static const char *check_type(const hdf5_open *h, const ek__decode_request *r, ek__hdf5_decoder *d)
{
    H5T_class_t class = H5Tget_class(h->type);
    H5T_order_t order = H5Tget_order(h->type);
    d->size = ek_dtype_size(r->dtype);
    bool integer = class == H5T_INTEGER && ek_dtype_is_integer(r->dtype);
    bool real = class == H5T_FLOAT && !ek_dtype_is_integer(r->dtype);
    if (H5Tget_size(h->type) != d->size || (!integer && !real) ||
        (order != H5T_ORDER_LE && order != H5T_ORDER_BE)) {
        return "its type is stored in an unusual way";
    }
    if (integer && (H5Tget_precision(h->type) != 8 * d->size || H5Tget_offset(h->type) != 0)) {
        return "its type is stored in an unusual way";
    }
    if (real && H5Tequal(h->type, H5T_IEEE_F32LE) <= 0 && H5Tequal(h->type, H5T_IEEE_F32BE) <= 0 &&
        H5Tequal(h->type, H5T_IEEE_F64LE) <= 0 && H5Tequal(h->type, H5T_IEEE_F64BE) <= 0) {
        return "its type is stored in an unusual way";
    }
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    d->swap = d->size > 1 && (order == H5T_ORDER_LE) != little;
    return NULL;
}

static const char *check_shape(const hdf5_open *h, const ek__decode_request *r, ek__hdf5_decoder *d)
{
    hsize_t dims[EK_HDF5_RANK] = {0};
    d->grid.rank = r->variable->var.n_dims;
    d->time = r->variable->time_dim;
    d->n_rows = r->n_rows;
    d->cells = r->cells;
    if (H5Sget_simple_extent_ndims(h->space) != d->grid.rank ||
        H5Sget_simple_extent_dims(h->space, dims, NULL) != d->grid.rank) {
        return "its shape is not netCDF's";
    }
    for (int k = 0; k < d->grid.rank; k++) {
        d->grid.dims[k] = (int64_t)dims[k];
        if (d->grid.dims[k] != r->variable->var.dims[k].size) {
            return "it has fewer steps than its time dimension";
        }
    }
    return NULL;
}

/* check_filters accepts shuffle, deflate and fletcher32 in any order, each at most once. */
static const char *check_filters(const hdf5_open *h, ek__hdf5_decoder *d, char *reason, size_t size)
{
    int n = H5Pget_nfilters(h->plist);
    for (int i = 0; i < n; i++) {
        char name[FILTER_NAME_MAX] = "";
        unsigned flags = 0;
        size_t n_values = 0;
        H5Z_filter_t id = H5Pget_filter2(h->plist, (unsigned)i, &flags, &n_values, NULL,
                                         sizeof(name), name, NULL);
        int kind = id == H5Z_FILTER_SHUFFLE      ? EK_FILTER_SHUFFLE
                   : id == H5Z_FILTER_DEFLATE    ? EK_FILTER_DEFLATE
                   : id == H5Z_FILTER_FLETCHER32 ? EK_FILTER_FLETCHER
                                                 : -1;
        bool taken = false;
        for (int k = 0; k < d->n_filters; k++) {
            taken = taken || (int)d->filters[k] == kind;
        }
        if (kind < 0 || taken) {
            snprintf(reason, size, "filter %s%s%d", name, name[0] != '\0' ? ", number " : "",
                     (int)id);
            return reason;
        }
        d->filters[d->n_filters++] = (ek__hdf5_filter)kind;
    }
    return NULL;
}

static const char *check_fill(const hdf5_open *h, ek__hdf5_decoder *d, bool needed)
{
    H5D_fill_value_t status = H5D_FILL_VALUE_UNDEFINED;
    if (!needed) {
        return NULL;
    }
    if (H5Pfill_value_defined(h->plist, &status) < 0 || status == H5D_FILL_VALUE_UNDEFINED) {
        return "parts were never written and it has no fill value";
    }
    hid_t native = H5Tget_native_type(h->type, H5T_DIR_ASCEND);
    herr_t code = native >= 0 ? H5Pget_fill_value(h->plist, native, d->fill) : -1;
    if (native >= 0) {
        H5Tclose(native);
    }
    return code >= 0 ? NULL : "its fill value cannot be read";
}

static const char *take_contiguous(const hdf5_open *h, ek__hdf5_decoder *d)
{
    haddr_t offset = H5Dget_offset(h->dataset);
    int64_t bytes = d->n_rows * d->cells * (int64_t)d->size;
    if (offset == HADDR_UNDEF || H5Pget_external_count(h->plist) != 0) {
        return "its values are not in the file";
    }
    if ((int64_t)offset > d->stat.st_size - bytes) {
        return "the file is too short";
    }
    d->offset = (int64_t)offset;
    d->head.row_unit = 1;
    snprintf(d->head.text, sizeof(d->head.text), "direct (contiguous%s)",
             d->swap ? ", other byte order" : "");
    return NULL;
}

static const char *set_grid(const hdf5_open *h, ek__hdf5_decoder *d)
{
    ek__hdf5_grid *g = &d->grid;
    hsize_t chunk[EK_HDF5_RANK] = {0};
    int64_t raw = (int64_t)d->size;
    if (H5Pget_chunk(h->plist, g->rank, chunk) != g->rank) {
        return "HDF5 cannot describe its chunks";
    }
    g->n_chunks = 1;
    d->per_row = 1;
    for (int k = 0; k < g->rank; k++) {
        g->chunk[k] = (int64_t)chunk[k];
        if (g->chunk[k] < 1 || g->chunk[k] > CHUNK_BYTES_MAX / raw) {
            return "a chunk is over 256 MiB";
        }
        raw *= g->chunk[k];
        g->counts[k] = (g->dims[k] + g->chunk[k] - 1) / g->chunk[k];
        if (g->counts[k] > CHUNKS_MAX / g->n_chunks) {
            return "it has too many chunks";
        }
        g->n_chunks *= g->counts[k];
        d->per_row *= k > d->time ? g->counts[k] : 1;
    }
    d->raw_bytes = (size_t)raw;
    d->per_job = EK_MIN(EK_MAX(EK_HDF5_JOB_BYTES / raw, 1), JOB_CHUNKS_MAX);
    d->head.row_unit = g->chunk[d->time];
    return NULL;
}

/* read_index finds the chunks; *missing says whether some were never written. */
static const char *read_index(const hdf5_open *h, ek__hdf5_decoder *d, bool *missing)
{
    H5O_info_t info;
    hsize_t stored = 0;
    int64_t found = 0;
    if (H5Oget_info(h->dataset, &info) < 0 ||
        H5Dget_num_chunks(h->dataset, h->space, &stored) < 0) {
        return "HDF5 cannot describe its chunks";
    }
    ek__hdf5_bytes bytes = {.fd = open(d->path, O_RDONLY | O_CLOEXEC),
                            .size = (uint64_t)d->stat.st_size};
    if (bytes.fd < 0) {
        return "it cannot be opened again";
    }
    const char *error = ek__hdf5_index(&bytes, info.addr, &d->grid, d->chunks, &found);
    close(bytes.fd);
    if (error == NULL && found != (int64_t)stored) {
        error = "its chunk index is not understood";
    }
    for (int64_t i = 0; i < d->grid.n_chunks; i++) {
        d->stored_bytes = EK_MAX(d->stored_bytes, d->chunks[i].bytes);
    }
    *missing = found < d->grid.n_chunks;
    return error;
}

static void describe(ek__hdf5_decoder *d)
{
    static const char *const names[] = {"shuffle", "deflate", "fletcher32"};
    size_t n = (size_t)snprintf(d->head.text, sizeof(d->head.text), "chunk (");
    for (int i = 0; i < d->n_filters; i++) {
        n += (size_t)snprintf(d->head.text + n, sizeof(d->head.text) - n, "%s%s", i > 0 ? ", " : "",
                              names[d->filters[i]]);
        d->head.inflates = d->head.inflates || d->filters[i] == EK_FILTER_DEFLATE;
    }
    snprintf(d->head.text + n, sizeof(d->head.text) - n, "%s%s)",
             d->n_filters == 0 ? "no filter" : "", d->swap ? ", other byte order" : "");
    size_t raw = ek__hdf5_room(d);
    d->head.scratch_bytes = 3 * raw + (size_t)d->per_job * (d->stored_bytes + EK_HDF5_GAP);
}

static const char *take_chunked(const hdf5_open *h, ek__hdf5_decoder *d, char *reason, size_t size)
{
    bool missing = false;
    const char *error = check_filters(h, d, reason, size);
    error = error != NULL ? error : set_grid(h, d);
    if (error != NULL) {
        return error;
    }
    d->chunks = ek_alloc((size_t)d->grid.n_chunks, sizeof(*d->chunks));
    if (d->chunks == NULL) {
        return ek__hdf5_no_memory;
    }
    error = read_index(h, d, &missing);
    if (error == NULL && d->stored_bytes > 2 * d->raw_bytes + 65536) {
        error = "a stored chunk is far larger than its values";
    }
    error = error != NULL ? error : check_fill(h, d, missing);
    if (error == NULL) {
        describe(d);
    }
    return error;
}

static void destroy(ek__decoder *head)
{
    ek__hdf5_decoder *d = (ek__hdf5_decoder *)head;
    ek_free(d->path);
    ek_free(d->variable);
    ek_free(d->chunks);
    ek_free(d);
}

static const ek__decoder_ops ops = {
    .jobs = ek__hdf5_jobs,
    .job = ek__hdf5_job,
    .destroy = destroy,
};

static const char *decide(const ek__decode_request *r, ek__hdf5_decoder *d, char *reason,
                          size_t size)
{
    hdf5_open h;
    const char *error = open_dataset(&h, r);
    error = error != NULL ? error : check_type(&h, r, d);
    error = error != NULL ? error : check_shape(&h, r, d);
    if (error == NULL && stat(d->path, &d->stat) != 0) {
        error = "it cannot be looked at";
    }
    if (error == NULL) {
        switch (H5Pget_layout(h.plist)) {
        case H5D_CONTIGUOUS:
            error = take_contiguous(&h, d);
            break;
        case H5D_CHUNKED:
            error = take_chunked(&h, d, reason, size);
            break;
        default:
            error = "its layout is neither chunked nor contiguous";
            break;
        }
    }
    close_dataset(&h);
    return error;
}

ek_status ek__decoder_hdf5(const ek__decode_request *request, ek__decoder **out, char *reason,
                           size_t reason_size)
{
    *out = NULL;
    ek__hdf5_decoder *d = ek_alloc(1, sizeof(*d));
    if (d == NULL) {
        return EK_ENOMEM;
    }
    d->head.ops = &ops;
    d->offset = -1;
    d->path = ek_strdup(request->file->path);
    d->variable = ek_strdup(request->variable->var.name);
    if (d->path == NULL || d->variable == NULL) {
        destroy(&d->head);
        return EK_ENOMEM;
    }
    char text[96] = "";
    const char *error = decide(request, d, text, sizeof(text));
    if (error != NULL) {
        snprintf(reason, reason_size, "%s", error);
        destroy(&d->head);
        return error == ek__hdf5_no_memory ? EK_ENOMEM : EK_OK;
    }
    *out = &d->head;
    return EK_OK;
}
