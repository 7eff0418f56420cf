/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the header of a classic netCDF file and works out how long the file must be.
 *
 * The grammar is that of the "NetCDF Classic Format Specification" (CDF-1, CDF-2 with 64-bit
 * offsets, CDF-5 with 64-bit data). Lengths are worked out from types and dimensions, not from the
 * stored vsize, which is not reliable for large variables; padding after a variable's data is not
 * asked for, since nothing is lost with it. */
#include "stages/load/classic.h"

#include "core/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { TAG_DIMENSION = 10, TAG_VARIABLE = 11, TAG_ATTRIBUTE = 12 };

typedef struct record_var {
    uint64_t begin;
    uint64_t bytes; /* of one record, without padding */
} record_var;

typedef struct header {
    FILE *stream;
    int version; /* 1, 2 or 5 */
    bool cut;    /* the file ended inside the header */
    bool wrong;  /* the header makes no sense */
    uint64_t file_bytes;
    uint64_t n_records;
    bool streaming; /* the number of records follows from the file's size */
    uint64_t *dims;
    size_t n_dims, dims_capacity;
    record_var *records;
    size_t n_record_vars, records_capacity;
    uint64_t fixed_end;    /* end of the data of the variables without records */
    uint64_t record_bytes; /* of all record variables, padded */
    ek_status rc;
} header;

static bool failed(const header *h)
{
    return h->cut || h->wrong || h->rc != EK_OK;
}

static uint64_t get_number(header *h, int n_bytes)
{
    unsigned char raw[8] = {0};
    if (failed(h) || fread(raw, 1, (size_t)n_bytes, h->stream) != (size_t)n_bytes) {
        h->cut = h->cut || !failed(h);
        return 0;
    }
    uint64_t value = 0;
    for (int i = 0; i < n_bytes; i++) {
        value = value << 8 | raw[i];
    }
    return value;
}

/* A count or length: 64 bits in CDF-5, else 32. */
static uint64_t get_count(header *h)
{
    return get_number(h, h->version == 5 ? 8 : 4);
}

static uint64_t times(header *h, uint64_t a, uint64_t b)
{
    uint64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product) || product > (uint64_t)INT64_MAX) {
        h->wrong = true;
        return 0;
    }
    return product;
}

static uint64_t plus(header *h, uint64_t a, uint64_t b)
{
    if (a > (uint64_t)INT64_MAX || b > (uint64_t)INT64_MAX - a) {
        h->wrong = true;
        return 0;
    }
    return a + b;
}

static uint64_t padded(uint64_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

static void skip(header *h, uint64_t bytes)
{
    if (failed(h)) {
        return;
    }
    uint64_t at = (uint64_t)ftello(h->stream);
    if (bytes > h->file_bytes || at > h->file_bytes - bytes) {
        h->cut = true;
    } else if (fseeko(h->stream, (off_t)bytes, SEEK_CUR) != 0) {
        h->wrong = true;
    }
}

static void skip_name(header *h)
{
    uint64_t length = get_count(h);
    if (length > 65536) {
        h->wrong = true;
        return;
    }
    skip(h, padded(length));
}

static uint64_t type_bytes(header *h, uint64_t type)
{
    static const uint64_t bytes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    if (type == 0 || type >= EK_COUNT(bytes)) {
        h->wrong = h->wrong || !failed(h);
        return 0;
    }
    return bytes[type];
}

/* Reads a list's tag and returns how many elements follow. */
static uint64_t get_list(header *h, uint64_t tag)
{
    uint64_t found = get_number(h, 4);
    uint64_t n = get_count(h);
    if (!failed(h) && ((found != tag && found != 0) || (found == 0 && n != 0))) {
        h->wrong = true;
    }
    return failed(h) ? 0 : n;
}

static void skip_attributes(header *h)
{
    uint64_t n = get_list(h, TAG_ATTRIBUTE);
    for (uint64_t i = 0; i < n && !failed(h); i++) {
        skip_name(h);
        uint64_t bytes = type_bytes(h, get_number(h, 4));
        skip(h, padded(times(h, get_count(h), bytes)));
    }
}

static void get_dims(header *h)
{
    uint64_t n = get_list(h, TAG_DIMENSION);
    for (uint64_t i = 0; i < n && !failed(h); i++) {
        skip_name(h);
        uint64_t length = get_count(h);
        if (!failed(h)) {
            h->rc = ek_grow(&h->dims, &h->dims_capacity, h->n_dims, sizeof(*h->dims));
        }
        if (!failed(h)) {
            h->dims[h->n_dims++] = length;
        }
    }
}

static void get_variable(header *h)
{
    skip_name(h);
    uint64_t n_dims = get_count(h);
    uint64_t values = 1;
    bool is_record = false;
    for (uint64_t i = 0; i < n_dims && !failed(h); i++) {
        uint64_t dim = get_count(h);
        if (dim >= h->n_dims) {
            h->wrong = h->wrong || !failed(h);
        } else if (i == 0 && h->dims[dim] == 0) {
            is_record = true; /* length 0 marks the record dimension */
        } else {
            values = times(h, values, h->dims[dim]);
        }
    }
    skip_attributes(h);
    uint64_t bytes = times(h, values, type_bytes(h, get_number(h, 4)));
    get_count(h); /* vsize */
    uint64_t begin = get_number(h, h->version == 1 ? 4 : 8);
    if (!is_record) {
        uint64_t end = plus(h, begin, bytes);
        h->fixed_end = failed(h) ? 0 : EK_MAX(h->fixed_end, end);
        return;
    }
    h->record_bytes = plus(h, h->record_bytes, padded(bytes));
    if (!failed(h)) {
        h->rc = ek_grow(&h->records, &h->records_capacity, h->n_record_vars, sizeof(*h->records));
    }
    if (!failed(h)) {
        h->records[h->n_record_vars++] = (record_var){.begin = begin, .bytes = bytes};
    }
}

static void get_header(header *h)
{
    h->n_records = get_count(h);
    h->streaming = h->n_records == (h->version == 5 ? UINT64_MAX : UINT32_MAX);
    get_dims(h);
    skip_attributes(h);
    uint64_t n = get_list(h, TAG_VARIABLE);
    for (uint64_t i = 0; i < n && !failed(h); i++) {
        get_variable(h);
    }
}

/* The end of the last value. A single record variable's records follow each other unpadded. */
static uint64_t needed_bytes(header *h)
{
    uint64_t end = h->fixed_end;
    if (h->streaming || h->n_records == 0) {
        return end;
    }
    uint64_t stride = h->n_record_vars == 1 ? h->records[0].bytes : h->record_bytes;
    uint64_t last = times(h, h->n_records - 1, stride);
    for (size_t i = 0; i < h->n_record_vars; i++) {
        uint64_t begin = plus(h, h->records[i].begin, last);
        end = EK_MAX(end, plus(h, begin, h->records[i].bytes));
    }
    return end;
}

static ek_status check_header(header *h, const char *path)
{
    get_header(h);
    uint64_t needed = failed(h) ? 0 : needed_bytes(h);
    if (h->rc != EK_OK) {
        return h->rc;
    }
    if (h->cut) {
        return EK_FAIL(EK_ETRUNC,
                       "%s is cut short: its %" PRIu64 " bytes end inside the netCDF header; fetch "
                       "it again",
                       path, h->file_bytes);
    }
    if (h->wrong) {
        return EK_FAIL(EK_ENETCDF, "%s: the netCDF header is damaged; fetch the file again", path);
    }
    if (needed > h->file_bytes) {
        return EK_FAIL(EK_ETRUNC,
                       "%s is cut short: it has %" PRIu64 " bytes, but its header needs %" PRIu64
                       "; fetch it again",
                       path, h->file_bytes, needed);
    }
    return EK_OK;
}

ek_status ek__classic_check(const char *path)
{
    header h = {0};
    ek_status rc = EK_OK;
    h.stream = fopen(path, "rbe");
    if (h.stream == NULL) {
        return EK_FAIL_CODE(EK_EIO, errno, "%s: cannot be opened: %s", path, strerror(errno));
    }
    struct stat info;
    if (fstat(fileno(h.stream), &info) != 0) {
        rc = EK_FAIL_CODE(EK_EIO, errno, "%s: %s", path, strerror(errno));
        goto done;
    }
    h.file_bytes = (uint64_t)info.st_size;
    unsigned char magic[4] = {0};
    size_t n = fread(magic, 1, sizeof(magic), h.stream);
    if (n == sizeof(magic) && memcmp(magic, "CDF", 3) == 0 &&
        (magic[3] == 1 || magic[3] == 2 || magic[3] == 5)) {
        h.version = magic[3];
        rc = check_header(&h, path);
    }
done:
    fclose(h.stream);
    ek_free(h.dims);
    ek_free(h.records);
    return rc;
}
