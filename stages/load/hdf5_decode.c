/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs of the HDF5 decoder. A job reads its chunks in runs that stand side by side in the file,
 * inflates each into working memory and unshuffles it into place, or into a box that is then copied
 * where a chunk is clipped or does not lie in one piece. */
#include "stages/load/filters.h"
#include "stages/load/hdf5.h"
#include "stages/load/swap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libdeflate.h>
#include <string.h>
#include <unistd.h>

/* What a job works on. */
typedef struct job_work {
    const ek__hdf5_decoder *self;
    int fd;
    int64_t first, rows; /* the rows asked for */
    uint8_t *dst;        /* where row `first` goes */
    ek__scratch *scratch;
    uint8_t *stored, *raw, *aux, *box; /* in scratch */
} job_work;

static ek_status fail_at(const job_work *w, int64_t chunk, const char *what)
{
    const ek__hdf5_decoder *d = w->self;
    int64_t step = chunk / d->per_row * d->grid.chunk[d->time];
    return EK_FAIL(EK_EDATA,
                   "%s: the time steps from %" PRId64
                   " of %s cannot be read (%s); the file is damaged",
                   d->path, step, d->variable, what);
}

/* open_file opens the file and makes sure that it still is what the plan was made for. */
static ek_status open_file(const ek__hdf5_decoder *d, int *fd)
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

/* ---- one chunk ---- */

/* A chunk on its way back through the filters. */
typedef struct passage {
    const uint8_t *from;
    size_t n;
    bool left[EK_HDF5_FILTERS]; /* the filter is still to be undone */
} passage;

static bool any_left(const passage *p)
{
    bool any = false;
    for (int f = 0; f < EK_HDF5_FILTERS; f++) {
        any = any || p->left[f];
    }
    return any;
}

static bool still(const ek__hdf5_decoder *d, const passage *p, ek__hdf5_filter kind)
{
    bool found = false;
    for (int f = 0; f < EK_HDF5_FILTERS; f++) {
        found = found || (p->left[f] && d->filters[f] == kind);
    }
    return found;
}

static ek_status check_sum(const job_work *w, int64_t index, passage *p)
{
    if (p->n < 4) {
        return fail_at(w, index, "a chunk is too short");
    }
    p->n -= 4;
    const uint8_t *at = p->from + p->n;
    uint32_t sum =
        (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    return ek__fletcher32(p->from, p->n) == sum ? EK_OK : fail_at(w, index, "a checksum is wrong");
}

/* inflate puts the values into `to` at once where nothing else is left to be undone. */
static ek_status inflate(const job_work *w, int64_t index, passage *p, uint8_t *to)
{
    const ek__hdf5_decoder *d = w->self;
    size_t expected = d->raw_bytes + (still(d, p, EK_FILTER_FLETCHER) ? 4 : 0);
    uint8_t *out = any_left(p) ? w->raw : to;
    if (libdeflate_zlib_decompress(w->scratch->inflate, p->from, p->n, out, expected, NULL) !=
        LIBDEFLATE_SUCCESS) {
        return fail_at(w, index, "a chunk cannot be inflated");
    }
    p->from = out;
    p->n = expected;
    return EK_OK;
}

/* unshuffle does the same; the byte order is changed on the way only if these are the values. */
static void unshuffle(const job_work *w, passage *p, uint8_t *to)
{
    const ek__hdf5_decoder *d = w->self;
    bool more = any_left(p);
    uint8_t *out = more ? w->aux : to;
    size_t whole = p->n / d->size * d->size; /* a checksum may leave part of a value over */
    ek__unshuffle(p->from, out, whole / d->size, d->size, d->swap && !more);
    memcpy(out + whole, p->from + whole, p->n - whole);
    p->from = out;
}

/* undo turns a chunk's stored bytes into values in `to` (raw_bytes). */
static ek_status undo(const job_work *w, int64_t index, const uint8_t *stored, uint8_t *to)
{
    const ek__hdf5_decoder *d = w->self;
    const ek__hdf5_chunk *chunk = &d->chunks[index];
    passage p = {.from = stored, .n = chunk->bytes};
    for (int f = 0; f < EK_HDF5_FILTERS; f++) {
        p.left[f] = f < d->n_filters && (chunk->mask >> f & 1) == 0;
    }
    bool swap = d->swap;
    for (int f = EK_HDF5_FILTERS - 1; f >= 0; f--) {
        if (!p.left[f]) {
            continue;
        }
        p.left[f] = false;
        if (d->filters[f] == EK_FILTER_FLETCHER) {
            EK_TRY(check_sum(w, index, &p));
        } else if (d->filters[f] == EK_FILTER_DEFLATE) {
            EK_TRY(inflate(w, index, &p, to));
        } else {
            size_t expected = d->raw_bytes + (still(d, &p, EK_FILTER_FLETCHER) ? 4 : 0);
            if (p.n != expected) {
                return fail_at(w, index, "a chunk has the wrong size");
            }
            swap = swap && any_left(&p);
            unshuffle(w, &p, to);
        }
    }
    if (p.n != d->raw_bytes) {
        return fail_at(w, index, "a chunk has the wrong size");
    }
    if (p.from != to) {
        memcpy(to, p.from, p.n);
    }
    if (swap) {
        ek__swap_values(to, p.n / d->size, d->size);
    }
    return EK_OK;
}

/* A chunk's place: origin in the dataset, and the part of it that is wanted. */
typedef struct place {
    int64_t origin[EK_HDF5_RANK];
    int64_t from[EK_HDF5_RANK], count[EK_HDF5_RANK]; /* within the chunk */
    bool in_one_piece;                               /* the whole chunk, adjacent in dst */
} place;

static place place_of(const job_work *w, int64_t index)
{
    const ek__hdf5_decoder *d = w->self;
    const ek__hdf5_grid *g = &d->grid;
    place p = {.in_one_piece = true};
    for (int k = g->rank - 1; k >= 0; k--) {
        p.origin[k] = index % g->counts[k] * g->chunk[k];
        index /= g->counts[k];
        int64_t low = k == d->time ? w->first : 0;
        int64_t high = k == d->time ? w->first + w->rows : g->dims[k];
        p.from[k] = EK_MAX(low - p.origin[k], 0);
        p.count[k] = EK_MIN(g->chunk[k], high - p.origin[k]) - p.from[k];
        bool whole = p.count[k] == g->chunk[k];
        p.in_one_piece = p.in_one_piece && whole && (k <= d->time || g->chunk[k] == g->dims[k]);
    }
    return p;
}

/* target returns where the value at `at` (in the dataset) goes. */
static uint8_t *target(const job_work *w, const int64_t *at)
{
    const ek__hdf5_grid *g = &w->self->grid;
    int64_t index = 0;
    for (int k = w->self->time; k < g->rank; k++) {
        index = index * g->dims[k] + at[k] - (k == w->self->time ? w->first : 0);
    }
    return w->dst + (size_t)index * w->self->size;
}

/* scatter copies the wanted part of a chunk, line by line of its last dimension; from NULL: fill.
 */
static void scatter(const job_work *w, const place *p, const uint8_t *from)
{
    const ek__hdf5_decoder *d = w->self;
    const ek__hdf5_grid *g = &d->grid;
    int last = g->rank - 1;
    int64_t i[EK_HDF5_RANK] = {0};
    for (bool more = true; more;) {
        int64_t at[EK_HDF5_RANK];
        int64_t source = 0;
        for (int k = 0; k < g->rank; k++) {
            at[k] = p->origin[k] + p->from[k] + i[k];
            source = source * g->chunk[k] + p->from[k] + i[k];
        }
        uint8_t *to = target(w, at);
        if (from != NULL) {
            memcpy(to, from + (size_t)source * d->size, (size_t)p->count[last] * d->size);
        } else {
            for (int64_t c = 0; c < p->count[last]; c++) {
                memcpy(to + (size_t)c * d->size, d->fill, d->size);
            }
        }
        more = false;
        for (int k = last - 1; k >= 0 && !more; k--) {
            more = ++i[k] < p->count[k];
            i[k] = more ? i[k] : 0;
        }
    }
}

static ek_status decode_chunk(const job_work *w, int64_t index, const uint8_t *stored)
{
    place p = place_of(w, index);
    if (w->self->chunks[index].bytes == 0) {
        scatter(w, &p, NULL);
        return EK_OK;
    }
    if (p.in_one_piece) {
        return undo(w, index, stored, target(w, p.origin));
    }
    EK_TRY(undo(w, index, stored, w->box));
    scatter(w, &p, w->box);
    return EK_OK;
}

/* ---- a job ---- */

/* run_length counts the chunks from `index` on that stand side by side in the file. */
static int64_t run_length(const ek__hdf5_decoder *d, int64_t index, int64_t end, size_t *bytes)
{
    uint64_t start = d->chunks[index].offset;
    uint64_t stop = start + d->chunks[index].bytes;
    int64_t n = 1;
    for (; index + n < end; n++) {
        const ek__hdf5_chunk *next = &d->chunks[index + n];
        bool adjacent =
            next->bytes != 0 && next->offset >= stop && next->offset - stop <= EK_HDF5_GAP;
        if (!adjacent) {
            break;
        }
        stop = next->offset + next->bytes;
    }
    *bytes = (size_t)(stop - start);
    return n;
}

static ek_status decode_chunks(const job_work *w, int64_t index, int64_t end)
{
    const ek__hdf5_decoder *d = w->self;
    while (index < end) {
        if (d->chunks[index].bytes == 0) {
            EK_TRY(decode_chunk(w, index++, NULL));
            continue;
        }
        size_t bytes = 0;
        int64_t n = run_length(d, index, end, &bytes);
        uint64_t start = d->chunks[index].offset;
        if (pread(w->fd, w->stored, bytes, (off_t)start) != (ssize_t)bytes) {
            return fail_at(w, index, "the file ends before them");
        }
        for (int64_t i = index; i < index + n; i++) {
            EK_TRY(decode_chunk(w, i, w->stored + (d->chunks[i].offset - start)));
        }
        index += n;
    }
    return EK_OK;
}

/* chunk_range finds the chunks that hold the rows. */
static void chunk_range(const ek__hdf5_decoder *d, int64_t first, int64_t rows, int64_t *begin,
                        int64_t *end)
{
    int64_t unit = d->grid.chunk[d->time];
    *begin = first / unit * d->per_row;
    *end = ((first + rows - 1) / unit + 1) * d->per_row;
}

static int64_t rows_per_job(const ek__hdf5_decoder *d)
{
    return EK_MAX(EK_HDF5_JOB_BYTES / (d->cells * (int64_t)d->size), 1);
}

int ek__hdf5_jobs(const ek__decoder *head, int64_t first, int64_t rows)
{
    const ek__hdf5_decoder *d = (const ek__hdf5_decoder *)head;
    int64_t begin = 0, end = rows, unit = 0;
    if (d->offset >= 0) {
        unit = rows_per_job(d);
    } else {
        chunk_range(d, first, rows, &begin, &end);
        unit = d->per_job;
    }
    return (int)((end - begin + unit - 1) / unit);
}

static ek_status read_contiguous(const job_work *w, int job)
{
    const ek__hdf5_decoder *d = w->self;
    int64_t unit = rows_per_job(d);
    int64_t skip = job * unit;
    size_t row = (size_t)d->cells * d->size;
    size_t bytes = (size_t)EK_MIN(unit, w->rows - skip) * row;
    uint8_t *to = w->dst + (size_t)skip * row;
    off_t at = (off_t)(d->offset + (w->first + skip) * (int64_t)row);
    if (pread(w->fd, to, bytes, at) != (ssize_t)bytes) {
        return EK_FAIL(EK_EDATA,
                       "%s: the time steps from %" PRId64 " of %s cannot be read; the file ends "
                       "before them",
                       d->path, w->first + skip, d->variable);
    }
    if (d->swap) {
        ek__swap_values(to, bytes / d->size, d->size);
    }
    return EK_OK;
}

ek_status ek__hdf5_job(const ek__decoder *head, int64_t first, int64_t rows, int job, void *dst,
                       ek__scratch *scratch)
{
    const ek__hdf5_decoder *d = (const ek__hdf5_decoder *)head;
    job_work w = {.self = d, .first = first, .rows = rows, .dst = dst, .scratch = scratch};
    EK_TRY(open_file(d, &w.fd));
    ek_status rc = EK_OK;
    if (d->offset >= 0) {
        rc = read_contiguous(&w, job);
    } else {
        int64_t begin = 0, end = 0;
        chunk_range(d, first, rows, &begin, &end);
        begin += job * d->per_job;
        w.raw = scratch->bytes;
        w.aux = w.raw + ek__hdf5_room(d);
        w.box = w.aux + ek__hdf5_room(d);
        w.stored = w.box + ek__hdf5_room(d);
        rc = decode_chunks(&w, begin, EK_MIN(begin + d->per_job, end));
    }
    close(w.fd);
    return rc;
}
