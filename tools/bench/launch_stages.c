/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/bench/launch_stages.h"

#include <string.h>

#ifdef EK_HAVE_CUDA
#define WORK_CUDA work_cuda
#else
#define WORK_CUDA NULL
#endif

float rows_value(int64_t row, int64_t cell)
{
    return (float)(row % ROWS_PERIOD) / (float)ROWS_PERIOD + (float)(cell % 64) / 512.0F;
}

double work_value(double value, int64_t steps)
{
    for (int64_t i = 0; i < steps; i++) {
        double square = value * value; /* compiled with -ffp-contract=off */
        value = square - EK_WORK_SHIFT;
    }
    return value;
}

/* ---- rows ---- */

static const ek_option rows_table[] = {
    {.name = "cells",
     .type = EK_OPTION_INT,
     .offset = offsetof(rows_options, cells),
     .min = 1,
     .max = INT32_MAX,
     .help = "Values of a row."},
    {.name = "chunks",
     .type = EK_OPTION_INT,
     .offset = offsetof(rows_options, chunks),
     .min = 1,
     .max = INT32_MAX,
     .help = "Number of rows, each a chunk."},
    {0},
};

typedef struct rows_priv {
    ek_field *field;
    float *values; /* ROWS_PERIOD rows */
} rows_priv;

static ek_status make_field(rows_priv *priv, const rows_options *options)
{
    ek_field *field = ek_alloc(1, sizeof(*field));
    if (field == NULL) {
        return EK_ENOMEM;
    }
    priv->field = field;
    field->dtype = EK_F32;
    field->value_bytes = sizeof(float);
    field->n_time = options->chunks;
    field->n_cells = options->cells;
    field->n_dims = 1;
    field->dims[0].size = options->cells;
    char **words[] = {&field->name,         &field->units,     &field->source,
                      &field->dims[0].name, &field->time.name, &field->time.units};
    static const char *const texts[] = {"value", "1", "memory", "cell", "time", "1"};
    for (size_t i = 0; i < EK_COUNT(words); i++) {
        *words[i] = ek_strdup(texts[i]);
        if (*words[i] == NULL) {
            return EK_ENOMEM;
        }
    }
    return EK_OK;
}

static ek_status rows_negotiate(ek_instance *self)
{
    const rows_options *options = self->options;
    rows_priv *priv = self->priv;
    EK_TRY(make_field(priv, options));
    priv->values = ek_alloc((size_t)(ROWS_PERIOD * options->cells), sizeof(float));
    if (priv->values == NULL) {
        return EK_ENOMEM;
    }
    for (int64_t i = 0; i < ROWS_PERIOD * options->cells; i++) {
        priv->values[i] = rows_value(i / options->cells, i % options->cells);
    }
    ek_spec *out = &self->out;
    out->kind = EK_STREAM;
    out->space = EK_SPACE_PINNED;
    out->field = priv->field;
    out->extent[EK_AXIS_TIME] = options->chunks;
    out->extent[EK_AXIS_CELL] = options->cells;
    out->packed = true;
    out->chunk_rows = 1;
    out->n_chunks = options->chunks;
    ek_spec_add(out, "value", EK_F64, 2, EK_AXIS_TIME, EK_AXIS_CELL);
    return EK_OK;
}

static ek_status rows_header(ek_instance *self, int64_t chunk, ek_chunk_header *out)
{
    *out = (ek_chunk_header){
        .index = chunk,
        .row0 = chunk,
        .cells = self->out.extent[EK_AXIS_CELL],
        .scale = 1.0,
        .rows = 1,
        .dtype = EK_F32,
    };
    return EK_OK;
}

static ek_status rows_read(ek_instance *self, int64_t chunk, void *dst)
{
    const rows_priv *priv = self->priv;
    size_t cells = (size_t)self->out.extent[EK_AXIS_CELL];
    memcpy(dst, priv->values + (size_t)(chunk % ROWS_PERIOD) * cells, cells * sizeof(float));
    return EK_OK;
}

static void rows_close(ek_instance *self)
{
    (void)self;
}

static void rows_fini(ek_instance *self)
{
    rows_priv *priv = self->priv;
    ek_field_destroy(priv->field);
    ek_free(priv->values);
}

static const ek_source_ops rows_source = {
    .header = rows_header,
    .read = rows_read,
    .close = rows_close,
};

const ek_stage rows_stage = {
    .api = EK_STAGE_API,
    .name = "rows",
    .summary = "Makes one-row chunks in memory.",
    .flags = EK_STAGE_SOURCE,
    .options = rows_table,
    .options_size = sizeof(rows_options),
    .priv_size = sizeof(rows_priv),
    .negotiate = rows_negotiate,
    .fini = rows_fini,
    .source = &rows_source,
};

/* ---- work and tally ---- */

static ek_status work_host(const void *ptr)
{
    const work_args *args = ptr;
    for (int64_t cell = 0; cell < args->cells && args->in.header->rows > 0; cell++) {
        double value = work_value(ek_stream_value(args->in, cell), args->steps);
        if (args->sum != NULL) {
            args->sum[cell] += value;
        } else {
            args->out[cell] = value;
        }
    }
    return EK_OK;
}

static const ek_kernel work_kernel = {.name = "work", .host = work_host, .cuda = WORK_CUDA};

static const ek_option work_table[] = {
    {.name = "steps",
     .type = EK_OPTION_INT,
     .offset = offsetof(work_options, steps),
     .min = 0,
     .max = INT32_MAX,
     .help = "Length of the kernel."},
    {0},
};

static const ek_port work_inputs[] = {
    {.name = "in", .kinds = EK_STREAM, .device = true, .help = "What to work on."},
    {0},
};

static ek_status launch(const ek_instance *self, const ek_exec *exec, const ek_data *in,
                        double *out)
{
    const work_options *options = self->options;
    work_args args = {
        .in = in->stream,
        .out = out,
        .sum = exec->state,
        .cells = self->in[0]->extent[EK_AXIS_CELL],
        .steps = options->steps,
    };
    return ek_queue_launch(exec->queue, &work_kernel, &args, sizeof args);
}

static ek_status work_negotiate(ek_instance *self)
{
    self->out = *self->in[0];
    self->out.packed = false;
    self->needs.chunk_launches = 1;
    return EK_OK;
}

static ek_status work_submit(ek_instance *self, const ek_exec *exec, const ek_data *const *in,
                             ek_data *out)
{
    return launch(self, exec, in[0], out->array[0]);
}

const ek_stage work_stage = {
    .api = EK_STAGE_API,
    .name = "work",
    .summary = "Runs one small kernel.",
    .flags = EK_STAGE_DEVICE,
    .options = work_table,
    .options_size = sizeof(work_options),
    .inputs = work_inputs,
    .negotiate = work_negotiate,
    .submit = work_submit,
};

static size_t sum_bytes(const ek_instance *self)
{
    return (size_t)self->in[0]->extent[EK_AXIS_CELL] * sizeof(double);
}

static ek_status tally_negotiate(ek_instance *self)
{
    const ek_spec *in = self->in[0];
    ek_spec *out = &self->out;
    out->kind = EK_RESULT;
    out->space = EK_SPACE_DEVICE;
    out->field = in->field;
    out->extent[EK_AXIS_CELL] = in->extent[EK_AXIS_CELL];
    ek_spec_add(out, "sum", EK_F64, 1, EK_AXIS_CELL, EK_AXIS_CELL);
    self->needs.state_bytes = sum_bytes(self);
    self->needs.chunk_launches = 1;
    self->needs.finish_launches = 1;
    return EK_OK;
}

static ek_status tally_begin(ek_instance *self, const ek_exec *exec)
{
    return ek_queue_fill(exec->queue, exec->state, 0, sum_bytes(self));
}

static ek_status tally_submit(ek_instance *self, const ek_exec *exec, const ek_data *const *in,
                              ek_data *out)
{
    (void)out;
    return launch(self, exec, in[0], NULL);
}

static ek_status tally_finish(ek_instance *self, const ek_exec *exec, ek_data *out)
{
    return ek_queue_copy(exec->queue, out->array[0], exec->state, sum_bytes(self));
}

const ek_stage tally_stage = {
    .api = EK_STAGE_API,
    .name = "tally",
    .summary = "Runs one small kernel that adds up over the chunks.",
    .flags = EK_STAGE_DEVICE | EK_STAGE_FOLD,
    .options = work_table,
    .options_size = sizeof(work_options),
    .inputs = work_inputs,
    .negotiate = tally_negotiate,
    .begin = tally_begin,
    .submit = tally_submit,
    .finish = tally_finish,
};
