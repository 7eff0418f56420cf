/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a decoder, and testing it before it is believed: what it decodes of the first and of the
 * last storage chunk must be the library's, byte for byte. */
#include "stages/load/decoder.h"

#include "stages/load/scratch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEST_BYTES 0x1p22 /* a storage chunk up to this size is tested in every file */

/* A test under way. */
typedef struct self_test {
    const ek__decode_request *request;
    const ek__decoder *decoder;
    ek__scratch scratch;
    size_t value_bytes;
    uint8_t *ours;   /* a row, of which the decoder fills in what is tested */
    uint8_t *theirs; /* what is tested, packed */
} self_test;

/* The part of a row that lies in one storage chunk. */
typedef struct test_box {
    size_t start[EK_NC_DIMS], count[EK_NC_DIMS];
} test_box;

/* box_of finds it: in the first chunk of row 0, or in the last chunk of the last row. */
static test_box box_of(const self_test *t, bool last)
{
    const ek__variable *v = t->request->variable;
    test_box box = {{0}, {0}};
    for (int i = 0; i < v->var.n_dims; i++) {
        int64_t size = v->var.dims[i].size;
        int64_t extent = t->decoder->box[i] > 0 ? EK_MIN(t->decoder->box[i], size) : size;
        int64_t start = last ? (size - 1) / extent * extent : 0;
        box.start[i] = (size_t)start;
        box.count[i] = (size_t)EK_MIN(extent, size - start);
    }
    box.start[v->time_dim] = last ? (size_t)t->request->n_rows - 1 : 0;
    box.count[v->time_dim] = 1;
    return box;
}

/* same_values compares the box, line by line of the last dimension; dimensions before time have
 * size 1. */
static bool same_values(const self_test *t, const test_box *box)
{
    const ek__variable *v = t->request->variable;
    int inner = v->var.n_dims - 1;
    size_t line = inner > v->time_dim ? box->count[inner] : 1;
    size_t n_lines = 1;
    for (int i = v->time_dim + 1; i < inner; i++) {
        n_lines *= box->count[i];
    }
    for (size_t l = 0; l < n_lines; l++) {
        size_t rest = l;
        size_t unit = 1;
        size_t at = 0;
        for (int i = inner; i > v->time_dim; i--) {
            size_t index = i == inner ? 0 : rest % box->count[i];
            rest = i == inner ? rest : rest / box->count[i];
            at += (box->start[i] + index) * unit;
            unit *= (size_t)v->var.dims[i].size;
        }
        if (memcmp(t->ours + at * t->value_bytes, t->theirs + l * line * t->value_bytes,
                   line * t->value_bytes) != 0) {
            return false;
        }
    }
    return true;
}

/* test_end compares values at one end of the variable; a difference is an error. */
static ek_status test_end(self_test *t, bool last)
{
    const ek__decode_request *r = t->request;
    test_box box = box_of(t, last);
    int64_t row = last ? r->n_rows - 1 : 0;
    int jobs = t->decoder->ops->jobs(t->decoder, row, 1);
    EK_TRY(EK_NC(nc_get_vara(r->file->ncid, r->variable->var.id, box.start, box.count, t->theirs),
                 r->file->path, r->variable->var.name));
    EK_TRY(t->decoder->ops->job(t->decoder, row, 1, last ? jobs - 1 : 0, t->ours, &t->scratch));
    if (!same_values(t, &box)) {
        return EK_FAIL(EK_EDATA, "step %" PRId64 " differs from the library's", row);
    }
    return EK_OK;
}

/* one_chunk says whether all values lie in one storage chunk, of which the library inflates the
 * whole each time: its end is tested only. */
static bool one_chunk(const self_test *t)
{
    const ek__nc_var *var = &t->request->variable->var;
    bool one = true;
    for (int i = 0; i < var->n_dims; i++) {
        one = one && t->decoder->box[i] >= var->dims[i].size;
    }
    return one;
}

static ek_status run_test(self_test *t)
{
    ek_status rc = ek__scratch_init(&t->scratch, t->decoder->scratch_bytes, t->decoder->inflates);
    t->value_bytes = ek_dtype_size(t->request->dtype);
    t->ours = ek_alloc((size_t)t->request->cells, t->value_bytes);
    t->theirs = ek_alloc((size_t)t->request->cells, t->value_bytes);
    if (rc == EK_OK && (t->ours == NULL || t->theirs == NULL)) {
        rc = EK_ENOMEM;
    }
    EK_GOTO(rc, done);
    if (!one_chunk(t)) {
        EK_GOTO(test_end(t, false), done);
    }
    EK_GOTO(test_end(t, true), done);
done:
    ek__scratch_free(&t->scratch);
    ek_free(t->ours);
    ek_free(t->theirs);
    return rc;
}

/* tested_elsewhere says whether the decoder works just as a tested one does, and chunks are large.
 */
static bool tested_elsewhere(const ek__decode_request *request, const ek__decoder *decoder)
{
    const ek__decoder *like = request->like;
    const ek__nc_var *var = &request->variable->var;
    double bytes = (double)ek_dtype_size(request->dtype);
    bool chunked = false;
    for (int i = 0; i < var->n_dims; i++) {
        chunked = chunked || decoder->box[i] > 0;
        bytes *= (double)decoder->box[i];
    }
    return like != NULL && chunked && bytes > TEST_BYTES && like->ops == decoder->ops &&
           strcmp(like->text, decoder->text) == 0 &&
           memcmp(like->box, decoder->box, sizeof(decoder->box)) == 0;
}

static bool is_netcdf4(const ek__nc_file *file)
{
    int format = 0;
    return nc_inq_format(file->ncid, &format) == NC_NOERR &&
           (format == NC_FORMAT_NETCDF4 || format == NC_FORMAT_NETCDF4_CLASSIC);
}

ek_status ek__decoder_create(const ek__decode_request *request, ek__decoder **out, char *reason,
                             size_t reason_size)
{
    ek__decoder *decoder = NULL;
    *out = NULL;
    EK_TRY(ek__decoder_zarr(request, out, reason, reason_size));
    if (*out != NULL) {
        return EK_OK; /* there is no library to compare with */
    }
    bool is_hdf5 = is_netcdf4(request->file);
    EK_TRY(is_hdf5 ? ek__decoder_hdf5(request, &decoder, reason, reason_size)
                   : ek__decoder_classic(request, &decoder, reason, reason_size));
    if (decoder == NULL) {
        return EK_OK;
    }
    if (tested_elsewhere(request, decoder)) {
        *out = decoder;
        return EK_OK;
    }
    self_test test = {.request = request, .decoder = decoder};
    ek_status rc = run_test(&test);
    if (rc == EK_OK) {
        *out = decoder;
        return EK_OK;
    }
    ek__decoder_destroy(decoder);
    if (rc == EK_ENOMEM) {
        return rc;
    }
    snprintf(reason, reason_size, "self-test: %s", ek_error_last()->message);
    return EK_OK;
}

void ek__decoder_destroy(ek__decoder *decoder)
{
    if (decoder != NULL) {
        decoder->ops->destroy(decoder);
    }
}
