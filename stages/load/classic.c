/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the header of a classic netCDF file: how long the file must be, where a variable stands.
 *
 * The grammar is that of the "NetCDF Classic Format Specification" (CDF-1, CDF-2 with 64-bit
 * offsets, CDF-5 with 64-bit data). Lengths are worked out from types and dimensions, not from the
 * stored vsize, which is not reliable for large variables; padding after a variable's data is not
 * asked for, since nothing is lost with it. */
#include "stages/load/classic.h"

#include "core/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAG_DIMENSION = 10, TAG_VARIABLE = 11, TAG_ATTRIBUTE = 12 };

#define NAME_MAX_BYTES 65536

typedef struct record_var {
    uint64_t begin;
    uint64_t bytes; /* of one record, without padding */
} record_var;

typedef struct header {
    const ek__classic_input *input;
    const char *name; /* of the variable that is looked for; NULL: none */
    ek__classic_var found;
    uint64_t at;    /* the next byte of the file */
    uint64_t start; /* the file's part in `buffer` */
    size_t n_buffer;
    int version; /* 1, 2 or 5 */
    bool cut;    /* the file ended inside the header */
    bool wrong;  /* the header makes no sense */
    uint64_t n_records;
    bool streaming; /* the number of records follows from the file's size */
    uint64_t *dims;
    size_t n_dims, dims_capacity;
    record_var *records;
    size_t n_record_vars, records_capacity;
    uint64_t fixed_end;    /* end of the data of the variables without records */
    uint64_t record_bytes; /* of all record variables, padded */
    ek_status rc;
    uint8_t buffer[4096];
} header;

static bool failed(const header *h)
{
    return h->cut || h->wrong || h->rc != EK_OK;
}

/* Fills the buffer from the current place on. */
static void fill(header *h)
{
    size_t most = (size_t)EK_MIN(h->input->n_bytes - h->at, sizeof(h->buffer));
    h->start = h->at;
    h->n_buffer = 0;
    if (h->input->memory != NULL) {
        memcpy(h->buffer, h->input->memory + h->at, most);
        h->n_buffer = most;
        return;
    }
    ssize_t n = 0;
    do {
        n = pread(h->input->fd, h->buffer, most, (off_t)h->at);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        h->rc = EK_FAIL_CODE(EK_EIO, errno, "%s: the header cannot be read: %s", h->input->path,
                             strerror(errno));
        return;
    }
    h->n_buffer = (size_t)n;
}

static uint64_t bytes_left(const header *h)
{
    return h->input->n_bytes - h->at;
}

static uint8_t get_byte(header *h)
{
    if (failed(h) || bytes_left(h) == 0) {
        h->cut = h->cut || !failed(h);
        return 0;
    }
    if (h->at < h->start || h->at - h->start >= h->n_buffer) {
        fill(h);
    }
    if (failed(h) || h->n_buffer == 0) {
        h->cut = h->cut || !failed(h);
        return 0;
    }
    return h->buffer[h->at++ - h->start];
}

static uint64_t get_number(header *h, int n_bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < n_bytes; i++) {
        value = value << 8 | get_byte(h);
    }
    return failed(h) ? 0 : value;
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
    if (bytes > bytes_left(h)) {
        h->cut = true;
    } else {
        h->at += bytes;
    }
}

/* Reads a name and says whether it is `name` (which may be NULL). */
static bool get_name(header *h, const char *name)
{
    uint64_t length = get_count(h);
    if (length > NAME_MAX_BYTES) {
        h->wrong = true;
        return false;
    }
    bool same = name != NULL && strlen(name) == length;
    uint64_t read = 0;
    for (; same && read < length; read++) {
        same = get_byte(h) == (uint8_t)name[read];
    }
    skip(h, padded(length) - read);
    return same && !failed(h);
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
    } else if (!failed(h) && n > bytes_left(h) / 8) {
        h->cut = true; /* every element has a name and a number at least */
    }
    return failed(h) ? 0 : n;
}

static void skip_attributes(header *h)
{
    uint64_t n = get_list(h, TAG_ATTRIBUTE);
    for (uint64_t i = 0; i < n && !failed(h); i++) {
        get_name(h, NULL);
        uint64_t bytes = type_bytes(h, get_number(h, 4));
        skip(h, padded(times(h, get_count(h), bytes)));
    }
}

static void get_dims(header *h)
{
    uint64_t n = get_list(h, TAG_DIMENSION);
    for (uint64_t i = 0; i < n && !failed(h); i++) {
        get_name(h, NULL);
        uint64_t length = get_count(h);
        if (!failed(h)) {
            h->rc = ek_grow(&h->dims, &h->dims_capacity, h->n_dims, sizeof(*h->dims));
        }
        if (!failed(h)) {
            h->dims[h->n_dims++] = length;
        }
    }
}

/* Reads the dimensions of a variable and returns how many values it has (in a record). */
static uint64_t get_shape(header *h, bool *is_record)
{
    uint64_t n_dims = get_count(h);
    uint64_t values = 1;
    *is_record = false;
    for (uint64_t i = 0; i < n_dims && !failed(h); i++) {
        uint64_t dim = get_count(h);
        if (dim >= h->n_dims) {
            h->wrong = h->wrong || !failed(h);
        } else if (i == 0 && h->dims[dim] == 0) {
            *is_record = true; /* length 0 marks the record dimension */
        } else {
            values = times(h, values, h->dims[dim]);
        }
    }
    return values;
}

static void add_record_var(header *h, uint64_t begin, uint64_t bytes)
{
    h->record_bytes = plus(h, h->record_bytes, padded(bytes));
    if (!failed(h)) {
        h->rc = ek_grow(&h->records, &h->records_capacity, h->n_record_vars, sizeof(*h->records));
    }
    if (!failed(h)) {
        h->records[h->n_record_vars++] = (record_var){.begin = begin, .bytes = bytes};
    }
}

static void get_variable(header *h)
{
    bool is_wanted = get_name(h, h->name);
    bool is_record = false;
    uint64_t values = get_shape(h, &is_record);
    skip_attributes(h);
    uint64_t type = get_number(h, 4);
    uint64_t bytes = times(h, values, type_bytes(h, type));
    get_count(h); /* vsize */
    uint64_t begin = get_number(h, h->version == 1 ? 4 : 8);
    uint64_t end = plus(h, begin, bytes);
    if (is_record) {
        add_record_var(h, begin, bytes);
    } else if (!failed(h)) {
        h->fixed_end = EK_MAX(h->fixed_end, end);
    }
    if (is_wanted && !failed(h)) {
        h->found = (ek__classic_var){
            .type = (int)type, .is_record = is_record, .begin = begin, .bytes = bytes};
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

/* From a record to the next. A single record variable's records follow each other unpadded. */
static uint64_t record_stride(const header *h)
{
    return h->n_record_vars == 1 ? h->records[0].bytes : h->record_bytes;
}

/* Where the header leaves the number of records open: how many are there as a whole. */
static void count_records(header *h)
{
    uint64_t stride = record_stride(h);
    h->n_records = h->n_record_vars > 0 && stride > 0 ? (uint64_t)INT64_MAX : 0;
    for (size_t i = 0; i < h->n_record_vars && h->n_records > 0; i++) {
        uint64_t end = plus(h, h->records[i].begin, h->records[i].bytes);
        bool is_there = !failed(h) && end <= h->input->n_bytes;
        uint64_t n = is_there ? (h->input->n_bytes - end) / stride + 1 : 0;
        h->n_records = EK_MIN(h->n_records, n);
    }
}

/* The end of the last value. */
static uint64_t needed_bytes(header *h)
{
    uint64_t end = h->fixed_end;
    if (h->streaming || h->n_records == 0) {
        return end;
    }
    uint64_t last = times(h, h->n_records - 1, record_stride(h));
    for (size_t i = 0; i < h->n_record_vars; i++) {
        uint64_t begin = plus(h, h->records[i].begin, last);
        end = EK_MAX(end, plus(h, begin, h->records[i].bytes));
    }
    return end;
}

static ek_status check_header(header *h)
{
    const char *path = h->input->path;
    uint64_t n_bytes = h->input->n_bytes;
    get_header(h);
    if (!failed(h) && h->streaming) {
        count_records(h);
    }
    uint64_t needed = failed(h) ? 0 : needed_bytes(h);
    if (h->rc != EK_OK) {
        return h->rc;
    }
    if (h->cut) {
        return EK_FAIL(EK_ETRUNC,
                       "%s is cut short: its %" PRIu64 " bytes end inside the netCDF header; fetch "
                       "it again",
                       path, n_bytes);
    }
    if (h->wrong) {
        return EK_FAIL(EK_ENETCDF, "%s: the netCDF header is damaged; fetch the file again", path);
    }
    if (needed > n_bytes) {
        return EK_FAIL(EK_ETRUNC,
                       "%s is cut short: it has %" PRIu64 " bytes, but its header needs %" PRIu64
                       "; fetch it again",
                       path, n_bytes, needed);
    }
    return EK_OK;
}

ek_status ek__classic_parse(const ek__classic_input *input, const char *name, ek__classic_var *out)
{
    *out = (ek__classic_var){0};
    header h = {.input = input, .name = name};
    uint8_t magic[4] = {0};
    for (size_t i = 0; i < sizeof(magic) && bytes_left(&h) > 0; i++) {
        magic[i] = get_byte(&h);
    }
    if (h.rc != EK_OK) {
        return h.rc;
    }
    if (memcmp(magic, "CDF", 3) != 0 || (magic[3] != 1 && magic[3] != 2 && magic[3] != 5)) {
        return EK_OK;
    }
    h.version = magic[3];
    ek_status rc = check_header(&h);
    if (rc == EK_OK) {
        *out = h.found;
        out->version = h.version;
        out->n_records = h.n_records;
        out->stride = record_stride(&h);
    }
    ek_free(h.dims);
    ek_free(h.records);
    return rc;
}

ek_status ek__classic_check(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return EK_FAIL_CODE(EK_EIO, errno, "%s: cannot be opened: %s", path, strerror(errno));
    }
    struct stat info;
    ek_status rc = EK_OK;
    if (fstat(fd, &info) != 0) {
        rc = EK_FAIL_CODE(EK_EIO, errno, "%s: %s", path, strerror(errno));
    } else {
        ek__classic_input input = {.path = path, .fd = fd, .n_bytes = (uint64_t)info.st_size};
        ek__classic_var none;
        rc = ek__classic_parse(&input, NULL, &none);
    }
    close(fd);
    return rc;
}
