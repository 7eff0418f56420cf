/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting a series into chunks, and reading them. A chunk header has one type and one packing, so a
 * chunk runs on into the next file only where these are the same there. */
#include "stages/load/dataset.h"

#include <limits.h>
#include <string.h>

#define CHUNK_BYTES   (INT64_C(16) << 20)
#define CACHE_BYTES   ((size_t)64 << 20) /* of HDF5 storage chunks of the open file */
#define CACHE_SLOTS   1009
#define CACHE_PREEMPT 0.75F

/* How many rows a chunk should have: about CHUNK_BYTES, in whole storage chunks of the file, as
 * these are inflated as a whole. */
static int64_t choose_rows(const ek__dataset *d)
{
    const ek_field *field = d->field;
    if (d->options->chunk > 0) {
        return EK_MIN(d->options->chunk, EK_MIN(field->n_time, INT32_MAX));
    }
    int64_t row_bytes = field->n_cells * (int64_t)field->value_bytes;
    int64_t rows = EK_MAX(CHUNK_BYTES / row_bytes, 1);
    int64_t storage = 1;
    for (int i = 0; i < d->n_members; i++) {
        storage = EK_MAX(storage, EK_MIN(d->members[i].time_chunk, d->members[i].n_rows));
    }
    if (rows >= storage) {
        rows = rows / storage * storage;
    } else if (storage * row_bytes <= 4 * CHUNK_BYTES) {
        rows = storage;
    }
    return EK_MIN(rows, EK_MIN(field->n_time, INT32_MAX));
}

/* The row after the last one that has the packing of member i. */
static int64_t run_end(const ek__dataset *d, int i)
{
    int last = i;
    while (last + 1 < d->n_members &&
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

ek_status ek__dataset_plan(ek__dataset *d)
{
    int64_t most = choose_rows(d);
    int64_t n_time = d->field->n_time;
    int member = 0;
    for (int64_t row = 0; row < n_time;) {
        member = member_of(d, member, row);
        int64_t rows = EK_MIN(most, run_end(d, member) - row);
        EK_TRY(ek_grow(&d->chunks, &d->chunks_capacity, d->n_chunks, sizeof(*d->chunks)));
        d->chunks[d->n_chunks++] =
            (ek__chunk){.row0 = row, .n_rows = (int32_t)rows, .member = member};
        d->chunk_rows = EK_MAX(d->chunk_rows, rows);
        row += rows;
    }
    return EK_OK;
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
    ek__dataset_close(d);
    const ek__member *m = &d->members[member];
    ek__variable *v = &d->open_variable;
    EK_TRY(ek__nc_open(&d->open, m->path));
    bool found = false;
    EK_TRY(ek__nc_var_find(&d->open, d->field->name, &v->var, &found));
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
    size_t row_bytes =
        (size_t)d->field->n_cells * ek_dtype_size(d->members[c->member].packing.dtype);
    char *to = dst;
    int member = c->member;
    for (int64_t done = 0; done < c->n_rows;) {
        member = member_of(d, member, c->row0 + done);
        const ek__member *m = &d->members[member];
        int64_t first = c->row0 + done - m->row0;
        int64_t rows = EK_MIN(c->n_rows - done, m->n_rows - first);
        EK_TRY(read_rows(d, member, first, rows, to));
        to += (size_t)rows * row_bytes;
        done += rows;
    }
    return EK_OK;
}
