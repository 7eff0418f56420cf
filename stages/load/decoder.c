/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a decoder, and testing it before it is believed: the first and the last rows it decodes
 * must be the library's, byte for byte. */
#include "stages/load/decoder.h"

#include "stages/load/scratch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A test under way. */
typedef struct self_test {
    const ek__decode_request *request;
    const ek__decoder *decoder;
    ek__scratch scratch;
    size_t row_bytes;
    uint8_t *ours, *theirs;
} self_test;

static ek_status read_theirs(const self_test *t, int64_t first, int64_t rows)
{
    const ek__variable *v = t->request->variable;
    size_t start[EK_NC_DIMS] = {0};
    size_t count[EK_NC_DIMS] = {0};
    for (int i = 0; i < v->var.n_dims; i++) {
        count[i] = (size_t)v->var.dims[i].size;
    }
    start[v->time_dim] = (size_t)first;
    count[v->time_dim] = (size_t)rows;
    int code = nc_get_vara(t->request->file->ncid, v->var.id, start, count, t->theirs);
    return EK_NC(code, t->request->file->path, v->var.name);
}

/* test_rows compares rows; a difference is an error. */
static ek_status test_rows(self_test *t, int64_t first, int64_t rows)
{
    int jobs = t->decoder->ops->jobs(t->decoder, first, rows);
    EK_TRY(read_theirs(t, first, rows));
    for (int j = 0; j < jobs; j++) {
        EK_TRY(t->decoder->ops->job(t->decoder, first, rows, j, t->ours, &t->scratch));
    }
    if (memcmp(t->ours, t->theirs, (size_t)rows * t->row_bytes) != 0) {
        return EK_FAIL(EK_EDATA, "steps %" PRId64 " to %" PRId64 " differ from the library's",
                       first, first + rows - 1);
    }
    return EK_OK;
}

/* run_test compares one row at each end. */
static ek_status run_test(self_test *t)
{
    ek_status rc = ek__scratch_init(&t->scratch, t->decoder->scratch_bytes, t->decoder->inflates);
    t->row_bytes = (size_t)t->request->cells * ek_dtype_size(t->request->dtype);
    t->ours = ek_alloc(1, t->row_bytes);
    t->theirs = ek_alloc(1, t->row_bytes);
    if (rc == EK_OK && (t->ours == NULL || t->theirs == NULL)) {
        rc = EK_ENOMEM;
    }
    EK_GOTO(rc, done);
    EK_GOTO(test_rows(t, 0, 1), done);
    if (t->request->n_rows > 1) {
        EK_GOTO(test_rows(t, t->request->n_rows - 1, 1), done);
    }
done:
    ek__scratch_free(&t->scratch);
    ek_free(t->ours);
    ek_free(t->theirs);
    return rc;
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
