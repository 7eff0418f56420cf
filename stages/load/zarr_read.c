/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a box of a Zarr array. Every chunk is a file of its own whose values have the shape of a
 * whole chunk, also where it hangs over the array's edge; one that is not there is full of the fill
 * value. A chunk that is a run of the box is decoded in place, any other into scratch and copied.
 */
#include "stages/load/zarr_read.h"

#include "stages/load/swap.h"
#include "stages/load/zarr.h"
#include "stages/load/zarr_codec.h"

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALIGNMENT 64

/* One chunk at work. */
typedef struct share {
    const ek__zarr_array *a;
    const char *store;
    int64_t index[EK_ZARR_DIMS]; /* of the chunk */
    int64_t from[EK_ZARR_DIMS];  /* where the box begins in the chunk */
    int64_t to[EK_ZARR_DIMS];    /* where the share begins in the box */
    int64_t count[EK_ZARR_DIMS]; /* of the share */
    char key[24 * EK_ZARR_DIMS];
} share;

int64_t ek__zarr_box_chunks(const ek__zarr_array *a, const ek__zarr_box *box)
{
    int64_t n = 1;
    for (int d = 0; d < a->n_dims; d++) {
        int64_t last = (box->start[d] + box->count[d] - 1) / a->chunk[d];
        n *= box->count[d] > 0 ? last - box->start[d] / a->chunk[d] + 1 : 0;
    }
    return n;
}

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

size_t ek__zarr_scratch_bytes(const ek__zarr_array *a)
{
    return aligned(ek__zarr_encoded_max(a)) + aligned(ek__zarr_work_bytes(a)) + a->chunk_bytes;
}

static void write_key(share *s)
{
    const ek__zarr_array *a = s->a;
    size_t used = (size_t)snprintf(s->key, sizeof(s->key), "%s", a->c_prefix ? "c" : "");
    for (int d = 0; d < a->n_dims; d++) {
        char separator[2] = {used > 0 ? a->separator : '\0', '\0'};
        used += (size_t)snprintf(s->key + used, sizeof(s->key) - used, "%s%lld", separator,
                                 (long long)s->index[d]);
    }
    if (used == 0) {
        snprintf(s->key, sizeof(s->key), "0");
    }
}

/* Finds the share of chunk number `i` in the box. */
static share find_share(const ek__zarr_array *a, const char *store, const ek__zarr_box *box,
                        int64_t i)
{
    share s = {.a = a, .store = store};
    for (int d = a->n_dims - 1; d >= 0; d--) {
        int64_t first = box->start[d] / a->chunk[d];
        int64_t end = box->start[d] + box->count[d];
        int64_t n = (end - 1) / a->chunk[d] - first + 1;
        s.index[d] = first + i % n;
        i /= n;
        int64_t chunk0 = s.index[d] * a->chunk[d];
        int64_t low = EK_MAX(box->start[d], chunk0);
        s.from[d] = low - chunk0;
        s.to[d] = low - box->start[d];
        s.count[d] = EK_MIN(end - chunk0, a->chunk[d]) - s.from[d];
    }
    write_key(&s);
    return s;
}

/* A dimension whose whole chunk lies in the box, and fills it if `fills`. */
static bool is_whole(const share *s, const ek__zarr_box *box, int d, bool fills)
{
    return s->count[d] == s->a->chunk[d] && (!fills || s->count[d] == box->count[d]);
}

/* The first dimension from which on all are whole and fill the box: these are one run. */
static int run_dim(const share *s, const ek__zarr_box *box)
{
    int d = s->a->n_dims;
    while (d > 0 && is_whole(s, box, d - 1, true)) {
        d--;
    }
    return d;
}

/* Where the share begins in the box, in values. */
static int64_t box_offset(const share *s, const ek__zarr_box *box)
{
    int64_t at = 0;
    for (int d = 0; d < s->a->n_dims; d++) {
        at = at * box->count[d] + s->to[d];
    }
    return at;
}

/* Says whether the chunk is a run of the box: whole itself, with one value before that dimension
 * which is the first that does not fill the box. */
static bool is_run(const share *s, const ek__zarr_box *box)
{
    int d = run_dim(s, box) - 1;
    bool run = d < 0 || is_whole(s, box, d, false);
    for (int i = 0; i < d; i++) {
        run = run && s->a->chunk[i] == 1;
    }
    return run;
}

/* Copies the share from the whole chunk at `from` into the box at `dst`, run by run. The chunk is
 * no run itself, so that there is a dimension. */
static void copy_share(const share *s, const ek__zarr_box *box, const uint8_t *from, uint8_t *dst)
{
    const ek__zarr_array *a = s->a;
    int last = EK_MAX(run_dim(s, box), 1) - 1; /* the dimension that runs are of */
    int64_t inner = 1;
    for (int d = last + 1; d < a->n_dims; d++) {
        inner *= s->count[d];
    }
    size_t bytes = (size_t)(s->count[last] * inner) * (size_t)a->size;
    int64_t at[EK_ZARR_DIMS] = {0};
    for (int d = 0; d >= 0;) {
        int64_t source = 0;
        int64_t target = 0;
        for (int i = 0; i <= last; i++) {
            source = source * a->chunk[i] + s->from[i] + at[i];
            target = target * box->count[i] + s->to[i] + at[i];
        }
        memcpy(dst + (size_t)(target * inner) * (size_t)a->size,
               from + (size_t)(source * inner) * (size_t)a->size, bytes);
        for (d = last - 1; d >= 0 && ++at[d] == s->count[d]; d--) {
            at[d] = 0;
        }
    }
}

static ek_status damaged(const share *s, const char *why)
{
    return EK_FAIL(EK_EDATA, "%s: the chunk %s of %s is damaged: %s; fetch it again", s->store,
                   s->key, s->a->name, why);
}

/* Fills `out` with the value that a chunk without a file has. */
static ek_status fill_chunk(const share *s, uint8_t *out)
{
    const ek__zarr_array *a = s->a;
    int64_t bytes = 0;
    int64_t mtime_ns = 0;
    if (!ek__zarr_stamp(a->meta_path, &bytes, &mtime_ns) || bytes != a->meta_bytes ||
        mtime_ns != a->meta_mtime_ns) {
        return EK_FAIL(EK_EDATA, "%s has changed since the plan was made; plan again", s->store);
    }
    if (!a->has_fill) {
        return EK_FAIL(EK_EDATA, "%s: the chunk %s of %s is not there, and %s has no fill value",
                       s->store, s->key, a->name, a->name);
    }
    for (size_t at = 0; at < a->chunk_bytes; at += (size_t)a->size) {
        memcpy(out + at, a->fill, (size_t)a->size);
    }
    return EK_OK;
}

/* Reads the n bytes of the open file. */
static ek_status read_bytes(const share *s, int fd, uint8_t *out, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(fd, out + done, n - done, (off_t)done);
        if (got < 0 && errno != EINTR) {
            return EK_FAIL_CODE(EK_EIO, errno, "%s: the chunk %s of %s cannot be read: %s",
                                s->store, s->key, s->a->name, strerror(errno));
        }
        if (got == 0) {
            return damaged(s, "it has become shorter");
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return EK_OK;
}

/* Reads and decodes the whole chunk into `out`. */
static ek_status decode_file(const share *s, int fd, uint8_t *out, ek__scratch *scratch)
{
    const ek__zarr_array *a = s->a;
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return damaged(s, "it is not a regular file");
    }
    if (info.st_size < 0 || (uint64_t)info.st_size > ek__zarr_encoded_max(a)) {
        return damaged(s, "it has more bytes than its values need");
    }
    size_t n = (size_t)info.st_size;
    if (a->n_codecs == 0) {
        return n == a->chunk_bytes ? read_bytes(s, fd, out, n)
                                   : damaged(s, "it has not as many values as it should");
    }
    EK_TRY(read_bytes(s, fd, scratch->bytes, n));
    uint8_t *work = scratch->bytes + aligned(ek__zarr_encoded_max(a));
    const char *wrong = ek__zarr_decode(a, scratch->bytes, n, work, out, scratch->inflate);
    return wrong == NULL ? EK_OK : damaged(s, wrong);
}

static ek_status get_chunk(const share *s, uint8_t *out, ek__scratch *scratch)
{
    const ek__zarr_array *a = s->a;
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/%s", a->dir, s->key);
    if (length < 0 || length >= (int)sizeof(path)) {
        return EK_FAIL(EK_EINVAL, "%s: the path of the chunk %s of %s is too long", s->store,
                       s->key, a->name);
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) {
        return fill_chunk(s, out);
    }
    if (fd < 0) {
        return EK_FAIL_CODE(EK_EIO, errno, "%s: the chunk %s of %s cannot be opened: %s", s->store,
                            s->key, a->name, strerror(errno));
    }
    ek_status rc = decode_file(s, fd, out, scratch);
    close(fd);
    if (rc == EK_OK && a->swapped) {
        ek__swap_values(out, a->chunk_bytes / (size_t)a->size, (size_t)a->size);
    }
    return rc;
}

ek_status ek__zarr_read_chunk(const ek__zarr_array *a, const char *store, const ek__zarr_box *box,
                              int64_t i, void *dst, ek__scratch *scratch)
{
    share s = find_share(a, store, box, i);
    if (is_run(&s, box)) {
        int64_t at = box_offset(&s, box);
        return get_chunk(&s, (uint8_t *)dst + (size_t)at * (size_t)a->size, scratch);
    }
    uint8_t *whole = scratch->bytes + (ek__zarr_scratch_bytes(a) - a->chunk_bytes);
    EK_TRY(get_chunk(&s, whole, scratch));
    copy_share(&s, box, whole, dst);
    return EK_OK;
}

ek_status ek__zarr_read_all(const ek__zarr_array *a, const char *store, void **out)
{
    ek__zarr_box box = {0};
    memcpy(box.count, a->shape, sizeof(box.count));
    ek__scratch scratch = {.n_bytes = ek__zarr_scratch_bytes(a)};
    ek_status rc = EK_OK;
    *out = ek_alloc((size_t)a->n_values, (size_t)a->size);
    EK_GOTO(*out != NULL ? EK_OK : EK_ENOMEM, done);
    scratch.bytes = ek_alloc(scratch.n_bytes, 1);
    EK_GOTO(scratch.bytes != NULL ? EK_OK : EK_ENOMEM, done);
    scratch.inflate = libdeflate_alloc_decompressor();
    if (scratch.inflate == NULL) {
        rc = EK_FAIL(EK_ENOMEM, "no memory to inflate %s with", store);
        goto done;
    }
    int64_t n = ek__zarr_box_chunks(a, &box);
    for (int64_t i = 0; i < n; i++) {
        EK_GOTO(ek__zarr_read_chunk(a, store, &box, i, *out, &scratch), done);
    }
done:
    libdeflate_free_decompressor(scratch.inflate);
    ek_free(scratch.bytes);
    if (rc != EK_OK) {
        ek_free(*out);
        *out = NULL;
    }
    return rc;
}
