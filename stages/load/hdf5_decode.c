/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the rows of a netCDF-4 variable: runs of neighbouring chunks are fetched with one pread,
 * and each is inflated into scratch, and its values unshuffled and put in native byte order on
 * their way to the caller. */
#include "stages/load/hdf5.h"

#include "core/alloc.h"
#include "stages/load/swap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOB_BYTES (UINT64_C(1) << 20) /* of values */
#define RUN_BYTES                                                                                  \
    (UINT64_C(512) << 10)              /* stored bytes fetched at once; one chunk may be longer    \
                                        */
#define GAP_BYTES (UINT64_C(16) << 10) /* read over rather than sought over */

/* A job at work. */
typedef struct job {
    const ek__hdf5 *self;
    int64_t first, rows; /* what the caller wants */
    uint8_t *dst;
    ek__scratch *scratch;
    int fd;
    uint64_t run_at, run_bytes; /* which bytes of the file are in scratch */
} job;

/* Which values of a chunk are wanted: [low, high) in coordinates of the variable. */
typedef struct box {
    uint64_t origin[EK_HDF5_RANK_MAX]; /* of the chunk */
    uint64_t low[EK_HDF5_RANK_MAX], high[EK_HDF5_RANK_MAX];
} box;

static ek_status fail_rows(const ek__hdf5 *self, int64_t first, int64_t last, const char *problem)
{
    return EK_FAIL(EK_EDATA,
                   "%s: the time steps %lld to %lld of %s cannot be decoded: %s; the file may be "
                   "damaged",
                   self->path, (long long)first, (long long)last, self->variable, problem);
}

/* Opens the file and makes sure that it is the one that the plan was made for. */
static ek_status open_file(const ek__hdf5 *self, int *fd)
{
    *fd = open(self->path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0) {
        return EK_FAIL_CODE(EK_EIO, errno, "%s: cannot be opened: %s", self->path, strerror(errno));
    }
    struct stat info;
    if (fstat(*fd, &info) == 0 && info.st_size == self->file_bytes &&
        info.st_mtim.tv_sec == self->changed.tv_sec &&
        info.st_mtim.tv_nsec == self->changed.tv_nsec) {
        return EK_OK;
    }
    close(*fd);
    *fd = -1;
    return EK_FAIL(EK_EDATA, "%s has changed since the plan was made; plan again", self->path);
}

static ek_status read_bytes(const ek__hdf5 *self, int fd, uint64_t at, size_t n, uint8_t *to)
{
    while (n > 0) {
        ssize_t got = pread(fd, to, n, (off_t)at);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return EK_FAIL_CODE(EK_EIO, errno, "%s: %s cannot be read: %s", self->path,
                                self->variable, strerror(errno));
        }
        if (got == 0) {
            return EK_FAIL(EK_ETRUNC,
                           "%s ends at byte %lld, inside the values of %s; fetch it again",
                           self->path, (long long)at, self->variable);
        }
        at += (uint64_t)got;
        n -= (size_t)got;
        to += got;
    }
    return EK_OK;
}

static void put_fill(const ek__hdf5 *self, uint8_t *to, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        memcpy(to + i * self->value_bytes, self->fill, self->value_bytes);
    }
}

static int contiguous_jobs(const ek__decoder *base, int64_t first, int64_t rows)
{
    const ek__hdf5 *self = (const ek__hdf5 *)base;
    (void)first;
    int64_t per_job = EK_MAX((int64_t)JOB_BYTES / (self->cells * (int64_t)self->value_bytes), 1);
    return rows > 0 ? (int)((rows - 1) / per_job + 1) : 0;
}

static ek_status contiguous_job(const ek__decoder *base, int64_t first, int64_t rows, int number,
                                void *dst, ek__scratch *scratch)
{
    const ek__hdf5 *self = (const ek__hdf5 *)base;
    (void)scratch;
    size_t row_bytes = (size_t)self->cells * self->value_bytes;
    int64_t per_job = EK_MAX((int64_t)JOB_BYTES / (int64_t)row_bytes, 1);
    int64_t skip = per_job * number;
    if (first < 0 || skip >= rows || number < 0 || rows > self->n_rows - first) {
        return EK_FAIL(EK_EINTERNAL, "%s has no such rows or job", self->variable);
    }
    size_t n = (size_t)EK_MIN(per_job, rows - skip) * row_bytes;
    uint8_t *to = (uint8_t *)dst + (size_t)skip * row_bytes;
    int fd = -1;
    EK_TRY(open_file(self, &fd));
    ek_status rc = EK_OK;
    if (self->allocated) {
        rc = read_bytes(self, fd, self->offset + (uint64_t)(first + skip) * row_bytes, n, to);
    } else {
        put_fill(self, to, n / self->value_bytes);
    }
    close(fd);
    if (rc == EK_OK && self->allocated && self->swap) {
        ek__swap_values(to, n / self->value_bytes, self->value_bytes);
    }
    return rc;
}

/* The chunks [*from, *to) that the rows touch. */
static void chunks_of(const ek__hdf5 *self, int64_t first, int64_t rows, uint64_t *from,
                      uint64_t *to)
{
    uint64_t steps = self->grid.chunk[self->time_dim];
    *from = (uint64_t)first / steps * self->row_chunks;
    *to = ((uint64_t)(first + rows - 1) / steps + 1) * self->row_chunks;
}

static uint64_t chunks_per_job(const ek__hdf5 *self)
{
    return EK_MAX(JOB_BYTES / self->grid.chunk_bytes, 1);
}

static int chunked_jobs(const ek__decoder *base, int64_t first, int64_t rows)
{
    const ek__hdf5 *self = (const ek__hdf5 *)base;
    if (rows <= 0) {
        return 0;
    }
    uint64_t from = 0;
    uint64_t to = 0;
    chunks_of(self, first, rows, &from, &to);
    return (int)((to - from - 1) / chunks_per_job(self) + 1);
}

/* The part of chunk k that lies in the wanted rows. */
static box box_of(const job *j, uint64_t k)
{
    const ek__hdf5_grid *grid = &j->self->grid;
    int t = j->self->time_dim;
    box b = {{0}, {0}, {0}};
    for (int i = grid->rank - 1; i >= 0; i--) {
        b.origin[i] = k % grid->counts[i] * grid->chunk[i];
        k /= grid->counts[i];
        b.low[i] = b.origin[i];
        b.high[i] = EK_MIN(b.origin[i] + grid->chunk[i], grid->dims[i]);
    }
    b.low[t] = EK_MAX(b.low[t], (uint64_t)j->first);
    b.high[t] = EK_MIN(b.high[t], (uint64_t)(j->first + j->rows));
    return b;
}

/* Where the values of a chunk come from. */
typedef struct values {
    const uint8_t *bytes; /* NULL: the fill value */
    bool shuffled;
} values;

/* Copies n values from place `at` of the chunk. */
static void put_run(const ek__hdf5 *self, values from, uint64_t at, uint64_t n, uint8_t *to)
{
    size_t size = self->value_bytes;
    if (from.bytes == NULL) {
        put_fill(self, to, n);
    } else if (from.shuffled) {
        ek__planes planes = {from.bytes, self->grid.chunk_values, size, self->swap};
        ek__unshuffle_part(&planes, at, n, to);
    } else {
        if (from.bytes + at * size != to) { /* else inflated in place */
            memcpy(to, from.bytes + at * size, n * size);
        }
        if (self->swap) {
            ek__swap_values(to, n, size);
        }
    }
}

/* Copies a box, one run of values that are neighbours on both sides after another. */
static void put_box(const job *j, const box *b, values from)
{
    const ek__hdf5_grid *grid = &j->self->grid;
    int t = j->self->time_dim;
    int inner = grid->rank - 1;
    uint64_t run = b->high[inner] - b->low[inner];
    while (inner > t && grid->chunk[inner] == grid->dims[inner]) {
        inner--;
        run *= b->high[inner] - b->low[inner];
    }
    uint64_t index[EK_HDF5_RANK_MAX];
    memcpy(index, b->low, sizeof(index));
    for (bool more = true; more;) {
        uint64_t in_chunk = 0;
        uint64_t in_rows = 0;
        for (int i = t; i < grid->rank; i++) {
            uint64_t zero = i == t ? (uint64_t)j->first : 0;
            in_chunk = in_chunk * grid->chunk[i] + (index[i] - b->origin[i]);
            in_rows = in_rows * grid->dims[i] + (index[i] - zero);
        }
        put_run(j->self, from, in_chunk, run, j->dst + in_rows * j->self->value_bytes);
        int i = inner - 1;
        while (i >= t && ++index[i] == b->high[i]) {
            index[i] = b->low[i];
            i--;
        }
        more = i >= t;
    }
}

/* Fetches chunk k and those after it, up to `end`, that lie near behind it in the file. */
static ek_status fetch(job *j, uint64_t k, uint64_t end)
{
    const ek__hdf5_chunk *chunks = j->self->chunks;
    uint64_t at = chunks[k].offset;
    uint64_t stop = at + chunks[k].n_bytes;
    for (uint64_t i = k + 1; i < end; i++) {
        if (chunks[i].n_bytes == 0) {
            continue;
        }
        uint64_t next = chunks[i].offset + chunks[i].n_bytes;
        if (chunks[i].offset < stop || chunks[i].offset - stop > GAP_BYTES ||
            next - at > j->self->input_bytes) {
            break;
        }
        stop = next;
    }
    j->run_at = at;
    j->run_bytes = stop - at;
    return read_bytes(j->self, j->fd, at, stop - at, j->scratch->bytes);
}

/* Working memory for the filters of a chunk. It is inflated into its place if its values all go
 * there side by side and need nothing more than a change of byte order, else into scratch. */
static ek__filter_room room_of(const job *j, const box *b)
{
    const ek__hdf5 *self = j->self;
    const ek__hdf5_grid *grid = &self->grid;
    int t = self->time_dim;
    bool direct = self->filters.n == 1 && b->high[t] - b->low[t] == grid->chunk[t] &&
                  grid->chunk_values == grid->chunk[t] * (uint64_t)self->cells;
    for (int i = t + 1; i < grid->rank; i++) {
        direct = direct && grid->chunk[i] == grid->dims[i];
    }
    ek__filter_room room = {.inflated = j->scratch->bytes + self->input_bytes,
                            .inflate = j->scratch->inflate};
    if (ek__filters_unshuffle(&self->filters)) {
        room.unshuffled = room.inflated + self->step_bytes;
    }
    if (direct) {
        uint64_t rows = b->low[t] - (uint64_t)j->first;
        room.inflated = j->dst + rows * (uint64_t)self->cells * self->value_bytes;
    }
    return room;
}

static ek_status decode_chunk(job *j, uint64_t k, uint64_t end)
{
    const ek__hdf5 *self = j->self;
    const ek__hdf5_chunk *chunk = &self->chunks[k];
    box b = box_of(j, k);
    if (chunk->n_bytes == 0) {
        put_box(j, &b, (values){NULL, false});
        return EK_OK;
    }
    if (chunk->offset < j->run_at || chunk->offset - j->run_at >= j->run_bytes ||
        chunk->n_bytes > j->run_bytes - (chunk->offset - j->run_at)) {
        EK_TRY(fetch(j, k, end));
    }
    ek__filtered filtered = {
        .bytes = j->scratch->bytes + (chunk->offset - j->run_at),
        .n_bytes = chunk->n_bytes,
        .raw_bytes = self->grid.chunk_bytes,
        .mask = chunk->mask,
    };
    ek__filter_room room = room_of(j, &b);
    const char *problem = ek__filters_undo(&self->filters, &filtered, &room);
    if (problem != NULL) {
        int t = self->time_dim;
        return fail_rows(self, (int64_t)b.low[t], (int64_t)b.high[t] - 1, problem);
    }
    put_box(j, &b, (values){filtered.bytes, filtered.shuffled});
    return EK_OK;
}

static ek_status chunked_job(const ek__decoder *base, int64_t first, int64_t rows, int number,
                             void *dst, ek__scratch *scratch)
{
    const ek__hdf5 *self = (const ek__hdf5 *)base;
    if (first < 0 || rows <= 0 || rows > self->n_rows - first || number < 0 ||
        number >= chunked_jobs(base, first, rows)) {
        return EK_FAIL(EK_EINTERNAL, "%s has no such rows or job", self->variable);
    }
    if (scratch->n_bytes < base->scratch_bytes || (base->inflates && scratch->inflate == NULL)) {
        return EK_FAIL(EK_EINTERNAL, "%s needs more scratch than it was given", self->variable);
    }
    uint64_t from = 0;
    uint64_t to = 0;
    chunks_of(self, first, rows, &from, &to);
    from += (uint64_t)number * chunks_per_job(self);
    to = EK_MIN(to, from + chunks_per_job(self));
    job j = {.self = self, .first = first, .rows = rows, .dst = dst, .scratch = scratch, .fd = -1};
    EK_TRY(open_file(self, &j.fd));
    ek_status rc = EK_OK;
    for (uint64_t k = from; k < to && rc == EK_OK; k++) {
        rc = decode_chunk(&j, k, to);
    }
    close(j.fd);
    return rc;
}

void ek__hdf5_destroy(ek__decoder *base)
{
    ek__hdf5 *self = (ek__hdf5 *)base;
    if (self != NULL) {
        ek_free(self->chunks);
        ek_free(self->path);
        ek_free(self->variable);
        ek_free(self);
    }
}

void ek__hdf5_finish(ek__hdf5 *self)
{
    static const ek__decoder_ops contiguous = {contiguous_jobs, contiguous_job, ek__hdf5_destroy};
    static const ek__decoder_ops chunked = {chunked_jobs, chunked_job, ek__hdf5_destroy};
    ek__decoder *base = &self->base;
    base->ops = self->chunked ? &chunked : &contiguous;
    base->row_unit = 1;
    if (!self->chunked) {
        return;
    }
    const ek__hdf5_grid *grid = &self->grid;
    base->row_unit = (int64_t)EK_MIN(grid->chunk[self->time_dim], grid->dims[self->time_dim]);
    for (int i = 0; i < grid->rank; i++) {
        base->box[i] = (int64_t)EK_MIN(grid->chunk[i], grid->dims[i]);
    }
    self->row_chunks = grid->n_chunks / grid->counts[self->time_dim];
    uint64_t total = 0;
    uint64_t largest = 0;
    for (uint64_t k = 0; k < grid->n_chunks; k++) {
        largest = EK_MAX(largest, self->chunks[k].n_bytes);
        total += self->chunks[k].n_bytes;
    }
    self->input_bytes = EK_MAX(largest, EK_MIN(RUN_BYTES, total));
    base->inflates = ek__filters_has(&self->filters, EK_FILTER_DEFLATE);
    self->step_bytes = EK_MAX(grid->chunk_bytes + EK_FLETCHER_LEN, largest);
    uint64_t steps = ek__filters_unshuffle(&self->filters) ? 2 : base->inflates ? 1 : 0;
    base->scratch_bytes = self->input_bytes + steps * self->step_bytes;
}
