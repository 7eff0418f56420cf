/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of a Zarr array: rows are read in jobs of whole chunks, about a megabyte of values
 * each. */
#include "stages/load/decoder.h"
#include "stages/load/zarr.h"
#include "stages/load/zarr_codec.h"
#include "stages/load/zarr_read.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define JOB_BYTES ((size_t)1 << 20)

typedef struct zarr_decoder {
    ek__decoder base;
    ek__zarr_store *store;
    const ek__zarr_array *array;
    int time_dim;
} zarr_decoder;

/* The rows as a box of the array. */
static ek__zarr_box rows_box(const zarr_decoder *self, int64_t first, int64_t rows)
{
    ek__zarr_box box = {0};
    memcpy(box.count, self->array->shape, sizeof(box.count));
    box.start[self->time_dim] = first;
    box.count[self->time_dim] = rows;
    return box;
}

/* How many chunks a job reads: few enough for their size, enough for the number of jobs. */
static int64_t chunks_per_job(const zarr_decoder *self, int64_t n_chunks)
{
    int64_t per_job = (int64_t)(JOB_BYTES / self->array->chunk_bytes);
    return EK_MAX(EK_MAX(per_job, 1), n_chunks / (INT_MAX / 2) + 1);
}

static int zarr_jobs(const ek__decoder *decoder, int64_t first, int64_t rows)
{
    const zarr_decoder *self = (const zarr_decoder *)decoder;
    ek__zarr_box box = rows_box(self, first, rows);
    int64_t n = ek__zarr_box_chunks(self->array, &box);
    int64_t per_job = chunks_per_job(self, n);
    return (int)((n + per_job - 1) / per_job);
}

static ek_status zarr_job(const ek__decoder *decoder, int64_t first, int64_t rows, int job,
                          void *dst, ek__scratch *scratch)
{
    const zarr_decoder *self = (const zarr_decoder *)decoder;
    ek__zarr_box box = rows_box(self, first, rows);
    int64_t n = ek__zarr_box_chunks(self->array, &box);
    int64_t per_job = chunks_per_job(self, n);
    int64_t end = EK_MIN(n, (job + 1) * per_job);
    ek_status rc = EK_OK;
    for (int64_t i = job * per_job; i < end && rc == EK_OK; i++) {
        rc = ek__zarr_read_chunk(self->array, self->store->path, &box, i, dst, scratch);
    }
    return rc == EK_OK ? rc
                       : ek_error_prefix("time steps %lld to %lld", (long long)first,
                                         (long long)(first + rows - 1));
}

static void zarr_destroy(ek__decoder *decoder)
{
    zarr_decoder *self = (zarr_decoder *)decoder;
    ek__zarr_store_close(self->store);
    ek_free(self);
}

static const ek__decoder_ops zarr_ops = {
    .jobs = zarr_jobs,
    .job = zarr_job,
    .destroy = zarr_destroy,
};

/* Makes sure that the array still is what the mirror said. */
static ek_status check_array(const ek__decode_request *request, const ek__zarr_array *a)
{
    const ek__nc_var *var = &request->variable->var;
    bool same = a != NULL && a->n_dims == var->n_dims && a->n_dims > 0 &&
                (size_t)a->size == ek_dtype_size(request->dtype);
    for (int i = 0; same && i < a->n_dims; i++) {
        same = a->shape[i] == var->dims[i].size;
    }
    if (!same) {
        return EK_FAIL(EK_EDATA, "%s has changed while it was opened; plan again",
                       request->file->path);
    }
    if (a->refusal[0] != '\0') {
        return EK_FAIL(EK_ENOTSUP, "%s: %s is stored as %s, which is not read", request->file->path,
                       a->name, a->refusal);
    }
    return EK_OK;
}

ek_status ek__decoder_zarr(const ek__decode_request *request, ek__decoder **out, char *reason,
                           size_t reason_size)
{
    *out = NULL;
    if (!ek__zarr_is_store(request->file->path)) {
        snprintf(reason, reason_size, "not a Zarr store");
        return EK_OK;
    }
    zarr_decoder *self = ek_alloc(1, sizeof(*self));
    if (self == NULL) {
        return EK_ENOMEM;
    }
    self->base.ops = &zarr_ops;
    self->time_dim = request->variable->time_dim;
    ek_status rc = EK_OK;
    EK_GOTO(ek__zarr_store_open(&self->store, request->file->path), done);
    const ek__zarr_array *a = ek__zarr_store_find(self->store, request->variable->var.name);
    EK_GOTO(check_array(request, a), done);
    self->array = a;
    char codecs[72];
    ek__zarr_codec_text(a, codecs, sizeof(codecs));
    snprintf(self->base.text, sizeof(self->base.text), "zarr %d (%s%s)", a->version, codecs,
             a->swapped ? ", swapped" : "");
    self->base.scratch_bytes = ek__zarr_scratch_bytes(a);
    self->base.inflates = ek__zarr_inflates(a);
    self->base.row_unit = EK_MIN(a->chunk[self->time_dim], EK_MAX(request->n_rows, 1));
    *out = &self->base;
    self = NULL;
done:
    if (self != NULL) {
        zarr_destroy(&self->base);
    }
    return rc;
}
