/* SPDX-License-Identifier: Apache-2.0 */
/* The stages that cross the host/device border. A stream crosses as it is stored: packed values
 * stay packed, so that no more bytes cross than the file holds. Neither stage is captured, so both
 * may read the chunk's header on the host. */
#include "stages/transfer.h"

static size_t value_bytes(const ek_spec *spec, const ek_chunk_header *header)
{
    return spec->packed ? ek_dtype_size((ek_dtype)header->dtype) : sizeof(double);
}

/* Copies the valid rows of a chunk to the other side. */
static ek_status copy_chunk(const ek_instance *self, const ek_exec *exec, const ek_data *in,
                            const ek_data *out)
{
    const ek_spec *spec = self->in[0];
    const ek_chunk_header *header = in->host;
    size_t row_values = (size_t)spec->extent[EK_AXIS_CELL];
    size_t stored = value_bytes(spec, header);
    size_t widest = spec->packed ? spec->field->value_bytes : sizeof(double);
    if (stored == 0 || stored > widest || header->rows > spec->chunk_rows) {
        return EK_FAIL(EK_EINTERNAL,
                       "chunk %lld has %d rows of %zu-byte values, more than the planned %lld rows "
                       "of %zu bytes; this is a mistake in the stage that made it",
                       (long long)header->index, header->rows, stored, (long long)spec->chunk_rows,
                       widest);
    }
    size_t bytes = (size_t)header->rows * row_values * stored;
    return ek_queue_copy(exec->queue, out->array[0], in->array[0], bytes);
}

static ek_status upload_negotiate(ek_instance *self)
{
    self->out = *self->in[0];
    self->out.space = EK_SPACE_DEVICE;
    self->needs.chunk_launches = 1;
    return EK_OK;
}

static ek_status upload_submit(ek_instance *self, const ek_exec *exec, const ek_data *const *in,
                               ek_data *out)
{
    return copy_chunk(self, exec, in[0], out);
}

static ek_status download_negotiate(ek_instance *self)
{
    self->out = *self->in[0];
    self->out.space = EK_SPACE_PINNED;
    self->needs.chunk_launches = self->out.kind == EK_RESULT ? self->out.n_arrays : 1;
    return EK_OK;
}

/* A result crosses at its planned size: what is left over in a shorter array is not looked at. */
static ek_status download_submit(ek_instance *self, const ek_exec *exec, const ek_data *const *in,
                                 ek_data *out)
{
    const ek_spec *spec = self->in[0];
    if (spec->kind == EK_STREAM) {
        return copy_chunk(self, exec, in[0], out);
    }
    for (int i = 0; i < spec->n_arrays; i++) {
        size_t bytes = ek_array_bytes(&spec->arrays[i], spec->extent);
        EK_TRY(ek_queue_copy(exec->queue, out->array[i], in[0]->array[i], bytes));
    }
    return EK_OK;
}

static const ek_port upload_inputs[] = {
    {"in", EK_STREAM, false, "the stream to bring to the device"},
    {NULL, 0, false, NULL},
};

static const ek_port download_inputs[] = {
    {"in", EK_STREAM | EK_RESULT, true, "the stream or result to bring to the host"},
    {NULL, 0, false, NULL},
};

const ek_stage ek_stage_upload = {
    .api = EK_STAGE_API,
    .name = "upload",
    .summary = "Copies each chunk to the device, as the file stores it.",
    .flags = EK_STAGE_UPLOAD,
    .inputs = upload_inputs,
    .negotiate = upload_negotiate,
    .submit = upload_submit,
};

const ek_stage ek_stage_download = {
    .api = EK_STAGE_API,
    .name = "download",
    .summary = "Copies chunks or results from the device to the host.",
    .flags = EK_STAGE_DOWNLOAD,
    .inputs = download_inputs,
    .negotiate = download_negotiate,
    .submit = download_submit,
};
