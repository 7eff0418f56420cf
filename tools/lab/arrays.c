/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/lab/arrays.h"

#include "core/alloc.h"

#include <stdio.h>
#include <string.h>

void lab_series_free(lab_series *series)
{
    ek_free(series->singles);
    ek_free(series->doubles);
    memset(series, 0, sizeof *series);
}

/* What both stages are told. The series is passed by address, which a table of options holds as a
 * number. */
typedef struct array_options {
    int64_t series;     /* the address of a lab_series */
    int64_t chunk_rows; /* array */
    bool singles;       /* keep */
} array_options;

static const ek_option array_table[] = {
    {.name = "series",
     .type = EK_OPTION_INT,
     .offset = offsetof(array_options, series),
     .min = INT64_MIN,
     .max = INT64_MAX,
     .help = "address of the series"},
    {.name = "chunk_rows",
     .type = EK_OPTION_INT,
     .offset = offsetof(array_options, chunk_rows),
     .min = 0,
     .max = INT64_MAX,
     .help = "time steps per chunk"},
    {.name = "singles",
     .type = EK_OPTION_BOOL,
     .offset = offsetof(array_options, singles),
     .help = "keep values as float32"},
    {.name = NULL},
};

static lab_series *series_of(const ek_instance *self)
{
    return (lab_series *)(intptr_t)((const array_options *)self->options)->series;
}

/* ---- array ---- */

typedef struct array_priv {
    ek_field *field;
} array_priv;

static ek_status make_field(array_priv *priv, const lab_series *series)
{
    ek_field *field = priv->field = ek_alloc(1, sizeof *field);
    if (field == NULL) {
        return EK_ENOMEM;
    }
    field->name = ek_strdup(series->name);
    field->units = ek_strdup(series->units);
    field->source = ek_strdup("memory");
    field->dtype = series->singles != NULL ? EK_F32 : EK_F64;
    field->value_bytes = ek_dtype_size(field->dtype);
    field->n_time = series->n_time;
    field->n_cells = series->n_cells;
    field->n_dims = 1;
    field->dims[0].size = series->n_cells;
    field->dims[0].name = ek_strdup("cell");
    field->time.name = ek_strdup("time");
    field->time.units = ek_strdup("1");
    bool all = field->name != NULL && field->units != NULL && field->source != NULL &&
               field->dims[0].name != NULL && field->time.name != NULL && field->time.units != NULL;
    return all ? EK_OK : EK_ENOMEM;
}

static ek_status array_negotiate(ek_instance *self)
{
    const array_options *options = self->options;
    const lab_series *series = series_of(self);
    array_priv *priv = self->priv;
    EK_TRY(make_field(priv, series));
    ek_spec *out = &self->out;
    out->kind = EK_STREAM;
    out->space = EK_SPACE_PINNED;
    out->field = priv->field;
    out->extent[EK_AXIS_TIME] = series->n_time;
    out->extent[EK_AXIS_CELL] = series->n_cells;
    out->packed = true;
    out->chunk_rows = EK_MIN(options->chunk_rows, series->n_time);
    out->n_chunks = (series->n_time + out->chunk_rows - 1) / out->chunk_rows;
    ek_array_spec *values = ek_spec_add(out, series->name, EK_F64, 2, EK_AXIS_TIME, EK_AXIS_CELL);
    snprintf(values->units, sizeof values->units, "%s", series->units);
    return EK_OK;
}

static ek_status array_header(ek_instance *self, int64_t chunk, ek_chunk_header *out)
{
    const array_priv *priv = self->priv;
    int64_t row0 = chunk * self->out.chunk_rows;
    *out = (ek_chunk_header){
        .index = chunk,
        .row0 = row0,
        .cells = priv->field->n_cells,
        .scale = 1,
        .rows = (int32_t)EK_MIN(self->out.chunk_rows, priv->field->n_time - row0),
        .dtype = priv->field->dtype,
    };
    return EK_OK;
}

static ek_status array_read(ek_instance *self, int64_t chunk, void *dst)
{
    const lab_series *series = series_of(self);
    ek_chunk_header header;
    EK_TRY(array_header(self, chunk, &header));
    int64_t first = header.row0 * header.cells;
    size_t n = (size_t)(header.rows * header.cells);
    if (series->singles != NULL) {
        memcpy(dst, series->singles + first, n * sizeof(float));
    } else {
        memcpy(dst, series->doubles + first, n * sizeof(double));
    }
    return EK_OK;
}

static void array_close(ek_instance *self)
{
    (void)self;
}

static void array_fini(ek_instance *self)
{
    ek_field_destroy(((array_priv *)self->priv)->field);
}

static const ek_source_ops array_source = {
    .header = array_header,
    .read = array_read,
    .close = array_close,
};

static const ek_stage array_stage = {
    .api = EK_STAGE_API,
    .name = "array",
    .summary = "Reads a series from memory.",
    .flags = EK_STAGE_SOURCE,
    .options = array_table,
    .options_size = sizeof(array_options),
    .priv_size = sizeof(array_priv),
    .negotiate = array_negotiate,
    .fini = array_fini,
    .source = &array_source,
};

ek_node *lab_array(ek_pipeline *pipeline, const lab_series *series, int64_t chunk_rows)
{
    array_options options = {.series = (int64_t)(intptr_t)series, .chunk_rows = chunk_rows};
    return ek_pipeline_add(pipeline, &array_stage, NULL, 0, &options);
}

/* ---- keep ---- */

static ek_status keep_negotiate(ek_instance *self)
{
    self->out.kind = self->in[0]->kind;
    return EK_OK;
}

/* keep_open takes memory once: what an earlier run took serves again. */
static ek_status keep_open(ek_instance *self)
{
    const array_options *options = self->options;
    const ek_spec *spec = self->in[0];
    lab_series *into = series_of(self);
    int64_t n_time = spec->extent[EK_AXIS_TIME];
    int64_t n_cells = spec->extent[EK_AXIS_CELL];
    if (into->n_time == n_time && into->n_cells == n_cells) {
        return EK_OK;
    }
    lab_series_free(into);
    size_t n = (size_t)(n_time * n_cells);
    if (options->singles) {
        into->singles = ek_alloc(n, sizeof(float));
    } else {
        into->doubles = ek_alloc(n, sizeof(double));
    }
    if (into->singles == NULL && into->doubles == NULL) {
        return EK_ENOMEM;
    }
    into->n_time = n_time;
    into->n_cells = n_cells;
    const char *units = spec->field->units;
    snprintf(into->name, sizeof into->name, "%s", spec->field->name);
    snprintf(into->units, sizeof into->units, "%s", units != NULL ? units : "");
    return EK_OK;
}

static ek_status keep_put(ek_instance *self, const ek_data *data)
{
    const lab_series *into = series_of(self);
    int64_t first = data->host->row0 * into->n_cells;
    int64_t n = data->host->rows * into->n_cells;
    if (into->doubles != NULL && data->stream.values != NULL) {
        memcpy(into->doubles + first, data->stream.values, (size_t)n * sizeof(double));
        return EK_OK;
    }
    for (int64_t i = 0; i < n; i++) {
        double value = ek_stream_value(data->stream, i);
        if (into->singles != NULL) {
            into->singles[first + i] = (float)value;
        } else {
            into->doubles[first + i] = value;
        }
    }
    return EK_OK;
}

static ek_status keep_close(ek_instance *self, bool commit)
{
    (void)self;
    (void)commit;
    return EK_OK;
}

static const ek_port keep_inputs[] = {
    {"in", EK_STREAM, false, "the stream to keep"},
    {NULL, 0, false, NULL},
};

static const ek_sink_ops keep_sink = {.open = keep_open, .put = keep_put, .close = keep_close};

static const ek_stage keep_stage = {
    .api = EK_STAGE_API,
    .name = "keep",
    .summary = "Keeps a stream in memory.",
    .flags = EK_STAGE_SINK,
    .options = array_table,
    .options_size = sizeof(array_options),
    .inputs = keep_inputs,
    .negotiate = keep_negotiate,
    .sink = &keep_sink,
};

ek_node *lab_keep(ek_pipeline *pipeline, ek_node *stream, lab_series *into, bool singles)
{
    array_options options = {.series = (int64_t)(intptr_t)into, .singles = singles};
    return ek_pipeline_add(pipeline, &keep_stage, &stream, 1, &options);
}
