/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting a series into chunks, and reading them. A chunk header has one type and one packing, so a
 * chunk runs on into the next file only where these are the same there. */
#include "stages/load/dataset.h"

#include <limits.h>
#include <string.h>

#define CHUNK_BYTES   (INT64_C(16) << 20)
#define UNIT_BYTES    (INT64_C(256) << 20) /* the most that is read together for a file's sake */
#define CACHE_BYTES   ((size_t)64 << 20)   /* of HDF5 storage chunks of the open file */
#define CACHE_SLOTS   1009
#define CACHE_PREEMPT 0.75F

/* How many rows the file stores together: reading fewer would inflate them again and again. */
static int64_t unit_of(const ek__dataset *d, const ek__member *m)
{
    int64_t unit = EK_MIN(m->time_chunk, m->n_rows);
    int64_t bytes = unit * d->field->n_cells * (int64_t)ek_dtype_size(m->packing.dtype);
    return bytes <= UNIT_BYTES ? EK_MAX(unit, 1) : 1;
}

/* How many rows a chunk should have: those asked for, or about CHUNK_BYTES; in whole units. */
static int64_t choose_rows(const ek__dataset *d)
{
    const ek_field *field = d->field;
    int64_t asked = d->options->chunk;
    int64_t row_bytes = field->n_cells * (int64_t)field->value_bytes;
    int64_t rows = asked > 0 ? asked : EK_MAX(CHUNK_BYTES / row_bytes, 1);
    int64_t unit = 1;
    for (int i = 0; i < d->n_members; i++) {
        unit = EK_MAX(unit, unit_of(d, &d->members[i]));
    }
    if (asked > 0 || rows < unit) {
        rows += unit - 1;
    }
    rows = rows / unit * unit;
    return EK_MIN(rows, EK_MIN(field->n_time, INT32_MAX));
}

/* The row after the last one that may be in a chunk with the first row of member i: packing does
 * not change, and units are not cut by the border between two files. */
static int64_t run_end(const ek__dataset *d, int i)
{
    int last = i;
    while (last + 1 < d->n_members && unit_of(d, &d->members[last]) == 1 &&
           unit_of(d, &d->members[last + 1]) == 1 &&
           ek__packing_equal(&d->members[last + 1].packing, &d->members[i].packing)) {
        last++;
    }
    return d->members[last].row0 + d->members[last].n_rows;
}

static int member_of(const ek__dataset *d, int from, int64_t row)
{
    while (row >= d->members[from].row0 + d->members[from].n_rows) {
        from++;
    }
    return from;
}

ek_status ek__dataset_cut(ek__dataset *d, int64_t most, const int64_t *at, int64_t n_at)
{
    int64_t n_time = d->field->n_time;
    int64_t next = 0;
    int member = 0;
    d->n_chunks = 0;
    d->chunk_rows = d->most_jobs = 0;
    for (int64_t row = 0; row < n_time;) {
        member = member_of(d, member, row);
        while (next < n_at && at[next] <= row) {
            next++;
        }
        int64_t end = EK_MIN(run_end(d, member), next < n_at ? at[next] : n_time);
        int64_t rows = EK_MIN(most, end - row);
        EK_TRY(ek_grow(&d->chunks, &d->chunks_capacity, d->n_chunks, sizeof(*d->chunks)));
        d->chunks[d->n_chunks++] =
            (ek__chunk){.row0 = row, .n_rows = (int32_t)rows, .member = member};
        d->chunk_rows = EK_MAX(d->chunk_rows, rows);
        d->most_jobs = EK_MAX(d->most_jobs, ek__dataset_jobs(d, (int64_t)d->n_chunks - 1));
        row += rows;
    }
    return EK_OK;
}

ek_status ek__dataset_plan(ek__dataset *d)
{
    int64_t most = choose_rows(d);
    EK_TRY(ek__dataset_cut(d, most, NULL, 0));
    if (d->options->chunk > 0 && most > d->options->chunk) {
        return ek_field_note(d->field,
                             "chunks have %lld steps, not the %lld asked for: that many are stored "
                             "together",
                             (long long)most, (long long)d->options->chunk);
    }
    return EK_OK;
}

bool ek__dataset_piece(const ek__dataset *d, const ek__chunk *chunk, ek__piece *piece)
{
    int64_t at = piece->at + piece->rows;
    if (at >= chunk->n_rows) {
        return false;
    }
    int from = piece->member != NULL ? (int)(piece->member - d->members) : chunk->member;
    const ek__member *m = &d->members[member_of(d, from, chunk->row0 + at)];
    piece->member = m;
    piece->at = at;
    piece->first = chunk->row0 + at - m->row0;
    piece->rows = EK_MIN(chunk->n_rows - at, m->n_rows - piece->first);
    return true;
}

ek_status ek__dataset_header(const ek__dataset *d, int64_t chunk, ek_chunk_header *out)
{
    if (chunk < 0 || chunk >= (int64_t)d->n_chunks) {
        return EK_FAIL(EK_EINTERNAL, "%s has no chunk %lld", d->field->name, (long long)chunk);
    }
    const ek__chunk *c = &d->chunks[chunk];
    *out = (ek_chunk_header){
        .index = chunk, .row0 = c->row0, .cells = d->field->n_cells, .rows = c->n_rows};
    ek__packing_header(&d->members[c->member].packing, out);
    return EK_OK;
}

void ek__dataset_close(ek__dataset *d)
{
    ek__nc_close(&d->open);
    d->open_member = -1;
    ek__scratch_pool_destroy(d->scratch);
    d->scratch = NULL;
}

/* Makes room for the storage chunks of one time slab, if that is little enough. */
static void set_cache(const ek__dataset *d)
{
    const ek__nc_var *var = &d->open_variable.var;
    int storage = NC_CONTIGUOUS;
    size_t shape[EK_NC_DIMS] = {0};
    if (nc_inq_var_chunking(d->open.ncid, var->id, &storage, shape) != NC_NOERR ||
        storage != NC_CHUNKED) {
        return;
    }
    size_t bytes = ek_dtype_size(var->dtype);
    for (int i = 0; i < var->n_dims; i++) {
        size_t size = (size_t)var->dims[i].size;
        bytes *=
            i == d->open_variable.time_dim ? shape[i] : (size + shape[i] - 1) / shape[i] * shape[i];
    }
    bytes = EK_MIN(EK_MAX(bytes, (size_t)4 << 20), CACHE_BYTES);
    /* A failure only means a smaller cache. */
    nc_set_var_chunk_cache(d->open.ncid, var->id, bytes, CACHE_SLOTS, CACHE_PREEMPT);
}

/* Opens the file of a member, and makes sure that it still is what the plan was made for. */
static ek_status open_member(ek__dataset *d, int member)
{
    if (d->open_member == member) {
        return EK_OK;
    }
    ek__nc_close(&d->open);
    d->open_member = -1;
    const ek__member *m = &d->members[member];
    ek__variable *v = &d->open_variable;
    EK_TRY(ek__nc_open(&d->open, m->path));
    bool found = false;
    EK_TRY(ek__nc_var_find(&d->open, ek__dataset_variable(d), &v->var, &found));
    d->open = found ? ek__nc_home(&d->open, &v->var) : d->open;
    v->time_dim = -1;
    for (int i = 0; found && i < v->var.n_dims && v->var.n_dims <= EK_NC_DIMS; i++) {
        v->time_dim = strcmp(v->var.dims[i].name, d->field->time.name) == 0 ? i : v->time_dim;
    }
    if (v->time_dim < 0 || v->var.dtype != m->packing.dtype ||
        v->var.dims[v->time_dim].size != m->n_rows ||
        ek__nc_cells(&v->var) != m->n_rows * d->field->n_cells) {
        return EK_FAIL(EK_EDATA, "%s has changed since the plan was made; plan again", m->path);
    }
    set_cache(d);
    d->open_member = member;
    return EK_OK;
}

/* Reads `rows` time steps of a member, from its step `first` on. */
static ek_status read_rows(ek__dataset *d, int member, int64_t first, int64_t rows, void *dst)
{
    EK_TRY(open_member(d, member));
    const ek__variable *v = &d->open_variable;
    size_t start[EK_NC_DIMS] = {0};
    size_t count[EK_NC_DIMS] = {0};
    for (int i = 0; i < v->var.n_dims; i++) {
        count[i] = (size_t)v->var.dims[i].size;
    }
    start[v->time_dim] = (size_t)first;
    count[v->time_dim] = (size_t)rows;
    int code = nc_get_vara(d->open.ncid, v->var.id, start, count, dst);
    if (code != NC_NOERR) {
        return EK_FAIL_CODE(EK_ENETCDF, code,
                            "%s: the time steps %lld to %lld of %s cannot be read (%s); the file "
                            "may be damaged",
                            d->members[member].path, (long long)first,
                            (long long)(first + rows - 1), v->var.name, nc_strerror(code));
    }
    return EK_OK;
}

ek_status ek__dataset_read(ek__dataset *d, int64_t chunk, void *dst)
{
    if (chunk < 0 || chunk >= (int64_t)d->n_chunks) {
        return EK_FAIL(EK_EINTERNAL, "%s has no chunk %lld", d->field->name, (long long)chunk);
    }
    const ek__chunk *c = &d->chunks[chunk];
    size_t row_bytes = ek__dataset_row_bytes(d, c);
    for (ek__piece p = {0}; ek__dataset_piece(d, c, &p);) {
        int member = (int)(p.member - d->members);
        EK_TRY(read_rows(d, member, p.first, p.rows, (char *)dst + (size_t)p.at * row_bytes));
    }
    return EK_OK;
}
