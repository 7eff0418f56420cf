/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of classic netCDF files (CDF-1, 2 and 5): their values stand in the file as they are,
 * high byte first, a time step after another or one to a record. */
#include "stages/load/classic.h"
#include "stages/load/decoder.h"
#include "stages/load/swap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOB_BYTES (INT64_C(1) << 20)
#define GAP_BYTES 4096 /* between records: read over rather than skipped */

typedef struct direct_decoder {
    ek__decoder head;
    char *path, *variable;
    struct stat stat; /* of the file at plan time */
    size_t size;      /* of a value, bytes */
    int64_t begin, row_bytes, stride;
    int64_t per_job;  /* rows */
    int64_t together; /* rows read in one call with what stands between; 0: each on its own */
} direct_decoder;

static ek_status fail_at(const direct_decoder *d, int64_t row, int code)
{
    return EK_FAIL_CODE(EK_EIO, code,
                        "%s: the time steps from %" PRId64 " of %s cannot be read: %s", d->path,
                        row, d->variable, code != 0 ? strerror(code) : "the file ends before them");
}

/* open_file opens the file and makes sure that it still is what the plan was made for. */
static ek_status open_file(const direct_decoder *d, int *fd)
{
    struct stat now;
    *fd = open(d->path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0 || fstat(*fd, &now) != 0) {
        int code = errno;
        if (*fd >= 0) {
            close(*fd);
        }
        return EK_FAIL_CODE(EK_EIO, code, "%s: %s", d->path, strerror(code));
    }
    if (now.st_size != d->stat.st_size || now.st_mtim.tv_sec != d->stat.st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != d->stat.st_mtim.tv_nsec) {
        close(*fd);
        return EK_FAIL(EK_EDATA, "%s has changed since the plan was made; plan again", d->path);
    }
    return EK_OK;
}

static int direct_jobs(const ek__decoder *head, int64_t first, int64_t rows)
{
    const direct_decoder *d = (const direct_decoder *)head;
    (void)first;
    return (int)((rows + d->per_job - 1) / d->per_job);
}

/* read_bytes reads all of the bytes; where it fails errno is 0 if the file has ended. */
static bool read_bytes(int fd, void *to, int64_t bytes, int64_t at)
{
    for (int64_t done = 0; done < bytes;) {
        errno = 0;
        ssize_t n = pread(fd, (char *)to + done, (size_t)(bytes - done), (off_t)(at + done));
        if (n <= 0 && errno != EINTR) {
            return false;
        }
        done += EK_MAX(n, 0);
    }
    return true;
}

/* read_rows reads rows from `row` on into `to`, in as few calls as their distance allows. */
static ek_status read_rows(const direct_decoder *d, int fd, int64_t row, int64_t rows, uint8_t *to,
                           const ek__scratch *scratch)
{
    if (d->stride == d->row_bytes) {
        bool all = read_bytes(fd, to, rows * d->row_bytes, d->begin + row * d->stride);
        return all ? EK_OK : fail_at(d, row, errno);
    }
    int64_t most = EK_MAX(d->together, 1);
    for (int64_t r = 0; r < rows; r += most) {
        int64_t n = EK_MIN(most, rows - r);
        uint8_t *out = to + r * d->row_bytes;
        uint8_t *in = d->together > 0 ? scratch->bytes : out;
        int64_t at = d->begin + (row + r) * d->stride;
        if (!read_bytes(fd, in, (n - 1) * d->stride + d->row_bytes, at)) {
            return fail_at(d, row + r, errno);
        }
        for (int64_t i = 0; i < n && in != out; i++) {
            memcpy(out + i * d->row_bytes, in + i * d->stride, (size_t)d->row_bytes);
        }
    }
    return EK_OK;
}

static ek_status direct_job(const ek__decoder *head, int64_t first, int64_t rows, int job,
                            void *dst, ek__scratch *scratch)
{
    const direct_decoder *d = (const direct_decoder *)head;
    int64_t skip = job * d->per_job;
    int64_t mine = EK_MIN(d->per_job, rows - skip);
    uint8_t *to = (uint8_t *)dst + skip * d->row_bytes;
    int fd = -1;
    EK_TRY(open_file(d, &fd));
    ek_status rc = read_rows(d, fd, first + skip, mine, to, scratch);
    close(fd);
    if (rc == EK_OK && ek__is_little_endian()) {
        ek__swap_values(to, (size_t)(mine * d->row_bytes) / d->size, d->size);
    }
    return rc;
}

static void direct_destroy(ek__decoder *head)
{
    direct_decoder *d = (direct_decoder *)head;
    ek_free(d->path);
    ek_free(d->variable);
    ek_free(d);
}

static const ek__decoder_ops ops = {
    .jobs = direct_jobs,
    .job = direct_job,
    .destroy = direct_destroy,
};

/* place finds where the rows stand, or says why they are not taken. */
static const char *place(direct_decoder *d, const ek__decode_request *r, const ek__classic_var *v)
{
    int64_t all = r->n_rows * d->row_bytes;
    d->begin = (int64_t)v->begin;
    d->stride = d->row_bytes;
    if (v->is_record && r->variable->time_dim == 0) {
        if ((int64_t)v->bytes != d->row_bytes || (int64_t)v->n_records < r->n_rows) {
            return "its records are not its time steps";
        }
        d->stride = (int64_t)v->stride;
    } else if ((int64_t)v->bytes != all || (v->is_record && v->n_records != 1)) {
        return "its size is not that of its dimensions";
    }
    int64_t end = d->begin + (r->n_rows - 1) * d->stride + d->row_bytes;
    return end <= d->stat.st_size ? NULL : "the file ends before its values";
}

static ek_status decide(direct_decoder *d, const ek__decode_request *r, const char **why)
{
    ek__classic_var v = {0};
    ek_status rc = EK_OK;
    *why = NULL;
    int fd = open(d->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &d->stat) != 0) {
        *why = "it cannot be opened again";
    } else {
        ek__classic_input input = {.path = d->path, .fd = fd, .n_bytes = (uint64_t)d->stat.st_size};
        rc = ek__classic_parse(&input, d->variable, &v);
        *why = rc != EK_OK ? "its header makes no sense" : NULL;
    }
    if (fd >= 0) {
        close(fd);
    }
    if (rc == EK_ENOMEM) {
        return rc;
    }
    if (*why == NULL) {
        *why = v.version == 0 ? "no classic file" : v.type == 0 ? "no such variable" : NULL;
    }
    if (*why == NULL) {
        *why = place(d, r, &v);
    }
    if (*why == NULL) {
        snprintf(d->head.text, sizeof(d->head.text), "direct (classic netCDF, %s)",
                 d->stride == d->row_bytes ? "contiguous" : "by records");
    }
    return EK_OK;
}

ek_status ek__decoder_classic(const ek__decode_request *request, ek__decoder **out, char *reason,
                              size_t reason_size)
{
    *out = NULL;
    direct_decoder *d = ek_alloc(1, sizeof(*d));
    if (d == NULL) {
        return EK_ENOMEM;
    }
    d->head.ops = &ops;
    d->head.row_unit = 1;
    d->path = ek_strdup(request->file->path);
    d->variable = ek_strdup(request->variable->var.name);
    if (d->path == NULL || d->variable == NULL) {
        direct_destroy(&d->head);
        return EK_ENOMEM;
    }
    const char *why = NULL;
    d->size = ek_dtype_size(request->dtype);
    d->row_bytes = request->cells * (int64_t)d->size;
    d->per_job = EK_MAX(JOB_BYTES / d->row_bytes, 1);
    ek_status rc = decide(d, request, &why);
    if (rc == EK_OK && why == NULL) {
        int64_t gap = d->stride - d->row_bytes;
        if (gap > 0 && gap <= GAP_BYTES && d->row_bytes <= JOB_BYTES) {
            d->together = EK_MIN(d->per_job, EK_MAX(2 * JOB_BYTES / d->stride, 1));
        }
        d->head.scratch_bytes = (size_t)(d->together * d->stride);
        *out = &d->head;
        return EK_OK;
    }
    direct_destroy(&d->head);
    if (rc == EK_OK) {
        snprintf(reason, reason_size, "%s", why);
    }
    return rc;
}
