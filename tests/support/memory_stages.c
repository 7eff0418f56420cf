/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/memory_stages.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pointer_options {
    int64_t pointer; /* to the test's struct */
    int64_t chunk;
} pointer_options;

static const ek_option pointer_table[] = {
    {.name = "pointer",
     .type = EK_OPTION_INT,
     .offset = offsetof(pointer_options, pointer),
     .min = INT64_MIN,
     .max = INT64_MAX,
     .incidental = true,
     .help = "Address of the test's struct."},
    {.name = "chunk",
     .type = EK_OPTION_INT,
     .offset = offsetof(pointer_options, chunk),
     .min = 0,
     .max = INT64_MAX,
     .incidental = true,
     .help = "Rows per chunk."},
    {0},
};

typedef struct memory_chunk {
    int segment;
    int64_t first, rows, row0;
} memory_chunk;

typedef struct memory_priv {
    ek_field *field;
    memory_chunk *chunks;
    size_t n_chunks, capacity;
} memory_priv;

/* What holds chunk 0 back where late_first is set: the jobs of chunk 1 that are not done. */
static pthread_mutex_t late_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t late_end = PTHREAD_COND_INITIALIZER;
static int late_left;

static const memory_input *input_of(const ek_instance *self)
{
    return (const memory_input *)(intptr_t)((const pointer_options *)self->options)->pointer;
}

int64_t memory_rows(const memory_input *input)
{
    int64_t rows = 0;
    for (int s = 0; s < input->n_segments; s++) {
        rows += input->segments[s].rows;
    }
    return rows;
}

/* raw_value reads a stored value without the library's decoding. */
static double raw_value(const memory_segment *segment, int64_t i)
{
    const char *at = (const char *)segment->data + (size_t)i * ek_dtype_size(segment->dtype);
    switch (segment->dtype) {
    case EK_I8:
        return *(const int8_t *)at;
    case EK_U8:
        return *(const uint8_t *)at;
    case EK_I16:
        return *(const int16_t *)at;
    case EK_U16:
        return *(const uint16_t *)at;
    case EK_I32:
        return *(const int32_t *)at;
    case EK_U32:
        return *(const uint32_t *)at;
    case EK_F32:
        return (double)*(const float *)at;
    default:
        return *(const double *)at;
    }
}

double memory_value(const memory_input *input, int64_t row, int64_t cell)
{
    int s = 0;
    while (row >= input->segments[s].rows) {
        row -= input->segments[s++].rows;
    }
    const memory_segment *segment = &input->segments[s];
    double raw = raw_value(segment, row * input->cells + cell);
    for (int m = 0; m < segment->n_missing; m++) {
        if (raw == segment->missing[m]) {
            return (double)NAN;
        }
    }
    volatile double scaled = raw * segment->scale; /* two roundings */
    return isfinite(raw) ? scaled + segment->offset : (double)NAN;
}

/* memory_cut makes chunks of at most `chunk` rows, ending with their segment and at the rows `at`.
 */
static ek_status memory_cut(ek_instance *self, int64_t chunk, const int64_t *at, int64_t n_at)
{
    const memory_input *input = input_of(self);
    memory_priv *priv = self->priv;
    int64_t row0 = 0, next = 0;
    priv->n_chunks = 0;
    self->out.chunk_rows = 0;
    for (int s = 0; s < input->n_segments; s++) {
        for (int64_t first = 0, rows = 0; first < input->segments[s].rows; first += rows) {
            EK_TRY(ek_grow(&priv->chunks, &priv->capacity, priv->n_chunks, sizeof(memory_chunk)));
            rows = EK_MIN(chunk, input->segments[s].rows - first);
            while (next < n_at && at[next] <= row0) {
                next++;
            }
            rows = next < n_at ? EK_MIN(rows, at[next] - row0) : rows;
            priv->chunks[priv->n_chunks++] = (memory_chunk){s, first, rows, row0};
            self->out.chunk_rows = EK_MAX(self->out.chunk_rows, rows);
            row0 += rows;
        }
    }
    self->out.n_chunks = (int64_t)priv->n_chunks;
    return EK_OK;
}

static ek_status make_field(memory_priv *priv, const memory_input *input)
{
    ek_field *field = ek_alloc(1, sizeof(*field));
    if (field == NULL) {
        return EK_ENOMEM;
    }
    priv->field = field;
    field->name = ek_strdup(input->name != NULL ? input->name : "air");
    field->units = ek_strdup(input->units != NULL ? input->units : "K");
    field->source = ek_strdup("memory");
    field->dtype = input->segments[0].dtype;
    for (int s = 0; s < input->n_segments; s++) {
        field->value_bytes = EK_MAX(field->value_bytes, ek_dtype_size(input->segments[s].dtype));
    }
    field->n_time = memory_rows(input);
    field->n_cells = input->cells;
    field->n_dims = 1;
    field->dims[0].size = input->cells;
    field->dims[0].name = ek_strdup("cell");
    field->time.name = ek_strdup("time");
    field->time.units = ek_strdup("1");
    if (input->times != NULL) {
        size_t n = (size_t)field->n_time;
        field->time.values = ek_alloc(n, sizeof(double));
        if (field->time.values == NULL) {
            return EK_ENOMEM;
        }
        memcpy(field->time.values, input->times, n * sizeof(double));
        field->time.has_values = true;
    }
    bool all = field->name != NULL && field->units != NULL && field->source != NULL &&
               field->dims[0].name != NULL && field->time.name != NULL && field->time.units != NULL;
    return all ? EK_OK : EK_ENOMEM;
}

static ek_status memory_negotiate(ek_instance *self)
{
    const pointer_options *options = self->options;
    const memory_input *input = input_of(self);
    memory_priv *priv = self->priv;
    int64_t chunk = options->chunk > 0 ? options->chunk : memory_rows(input);
    EK_TRY(make_field(priv, input));
    EK_TRY(memory_cut(self, chunk, NULL, 0));
    ek_spec *out = &self->out;
    out->kind = EK_STREAM;
    out->space = EK_SPACE_PINNED;
    out->field = priv->field;
    out->extent[EK_AXIS_TIME] = priv->field->n_time;
    out->extent[EK_AXIS_CELL] = input->cells;
    out->packed = true;
    self->needs.read_jobs = input->n_jobs;
    late_left = input->n_jobs;
    ek_array_spec *array = ek_spec_add(out, "", EK_F64, 2, EK_AXIS_TIME, EK_AXIS_CELL);
    snprintf(array->name, sizeof(array->name), "%s", priv->field->name);
    snprintf(array->units, sizeof(array->units), "%s", priv->field->units);
    return EK_OK;
}

static ek_status memory_header(ek_instance *self, int64_t chunk, ek_chunk_header *out)
{
    const memory_priv *priv = self->priv;
    const memory_chunk *at = &priv->chunks[chunk];
    const memory_segment *segment = &input_of(self)->segments[at->segment];
    *out = (ek_chunk_header){
        .index = chunk,
        .row0 = at->row0,
        .cells = input_of(self)->cells,
        .scale = segment->scale,
        .offset = segment->offset,
        .n_missing = segment->n_missing,
        .missing = {segment->missing[0], segment->missing[1]},
        .rows = (int32_t)at->rows,
        .dtype = segment->dtype,
    };
    return EK_OK;
}

static ek_status memory_read(ek_instance *self, int64_t chunk, void *dst)
{
    const memory_priv *priv = self->priv;
    const memory_input *input = input_of(self);
    const memory_chunk *at = &priv->chunks[chunk];
    const memory_segment *segment = &input->segments[at->segment];
    if (input->fail_at_chunk != 0 && chunk == input->fail_at_chunk) {
        return EK_FAIL(EK_EIO, "made to fail");
    }
    if (input->n_reads != NULL && ++*input->n_reads == input->interrupt_at_read) {
        raise(SIGINT);
    }
    size_t row = (size_t)input->cells * ek_dtype_size(segment->dtype);
    memcpy(dst, (const char *)segment->data + (size_t)at->first * row, (size_t)at->rows * row);
    return EK_OK;
}

static int memory_jobs(ek_instance *self, int64_t chunk)
{
    (void)chunk;
    return input_of(self)->n_jobs;
}

/* Jobs share the rows out like cards. */
static ek_status memory_job(ek_instance *self, int64_t chunk, int job, void *dst)
{
    memory_priv *priv = self->priv;
    const memory_input *input = input_of(self);
    const memory_chunk *at = &priv->chunks[chunk];
    const memory_segment *segment = &input->segments[at->segment];
    if (input->fail_at_chunk != 0 && chunk == input->fail_at_chunk) {
        return EK_FAIL(EK_EIO, "made to fail");
    }
    pthread_mutex_lock(&late_lock);
    while (input->late_first && chunk == 0 && late_left > 0) {
        pthread_cond_wait(&late_end, &late_lock);
    }
    pthread_mutex_unlock(&late_lock);
    size_t row = (size_t)input->cells * ek_dtype_size(segment->dtype);
    for (int64_t r = job; r < at->rows; r += input->n_jobs) {
        memcpy((char *)dst + (size_t)r * row,
               (const char *)segment->data + (size_t)(at->first + r) * row, row);
    }
    pthread_mutex_lock(&late_lock);
    late_left -= chunk == 1 ? 1 : 0;
    pthread_cond_broadcast(&late_end);
    pthread_mutex_unlock(&late_lock);
    return EK_OK;
}

static void memory_close(ek_instance *self)
{
    (void)self;
}

static void memory_fini(ek_instance *self)
{
    memory_priv *priv = self->priv;
    ek_field_destroy(priv->field);
    ek_free(priv->chunks);
}

static const ek_source_ops memory_source = {
    .header = memory_header,
    .read = memory_read,
    .jobs = memory_jobs,
    .job = memory_job,
    .cut = memory_cut,
    .close = memory_close,
};

static const ek_stage stage_memory = {
    .api = EK_STAGE_API,
    .name = "memory",
    .summary = "Reads arrays of the test.",
    .flags = EK_STAGE_SOURCE,
    .options = pointer_table,
    .options_size = sizeof(pointer_options),
    .priv_size = sizeof(memory_priv),
    .negotiate = memory_negotiate,
    .fini = memory_fini,
    .source = &memory_source,
};

static collected *collected_of(const ek_instance *self)
{
    return (collected *)(intptr_t)((const pointer_options *)self->options)->pointer;
}

static ek_status collect_negotiate(ek_instance *self)
{
    self->out.kind = self->in[0]->kind;
    return EK_OK;
}

static ek_status collect_open(ek_instance *self)
{
    collected *into = collected_of(self);
    into->spec = *self->in[0];
    into->opened++;
    return EK_OK;
}

static ek_status put_stream(collected *into, const ek_data *data)
{
    int64_t cells = data->host->cells;
    if (into->values == NULL) {
        into->values = calloc((size_t)(into->spec.extent[EK_AXIS_TIME] * cells), sizeof(double));
    }
    for (int64_t i = 0; i < data->host->rows * cells; i++) {
        into->values[data->host->row0 * cells + i] = ek_stream_value(data->stream, i);
    }
    return EK_OK;
}

static ek_status collect_put(ek_instance *self, const ek_data *data)
{
    collected *into = collected_of(self);
    into->put++;
    memcpy(into->extent, data->extent, sizeof(into->extent));
    if (into->spec.kind == EK_STREAM) {
        return put_stream(into, data);
    }
    for (int a = 0; a < into->spec.n_arrays; a++) {
        size_t bytes = ek_array_bytes(&into->spec.arrays[a], data->extent);
        into->array[a] = malloc(bytes + 1);
        memcpy(into->array[a], data->array[a], bytes);
    }
    return EK_OK;
}

static ek_status collect_close(ek_instance *self, bool commit)
{
    collected *into = collected_of(self);
    into->committed += commit;
    into->dropped += !commit;
    return EK_OK;
}

static const ek_port collect_inputs[] = {
    {.name = "in", .kinds = EK_STREAM | EK_RESULT, .help = "What to keep."},
    {0},
};

static const ek_sink_ops collect_sink = {
    .open = collect_open,
    .put = collect_put,
    .close = collect_close,
};

static const ek_stage stage_collect = {
    .api = EK_STAGE_API,
    .name = "collect",
    .summary = "Keeps what it is given.",
    .flags = EK_STAGE_SINK,
    .options = pointer_table,
    .options_size = sizeof(pointer_options),
    .inputs = collect_inputs,
    .negotiate = collect_negotiate,
    .sink = &collect_sink,
};

ek_node *memory_add(ek_pipeline *pipeline, const memory_input *input, int64_t chunk)
{
    pointer_options options = {.pointer = (int64_t)(intptr_t)input, .chunk = chunk};
    return ek_pipeline_add(pipeline, &stage_memory, NULL, 0, &options);
}

ek_node *collect_add(ek_pipeline *pipeline, ek_node *input, collected *into)
{
    pointer_options options = {.pointer = (int64_t)(intptr_t)into};
    return ek_pipeline_add(pipeline, &stage_collect, &input, 1, &options);
}

void collected_fini(collected *into)
{
    free(into->values);
    for (int a = 0; a < EK_ARRAYS_MAX; a++) {
        free(into->array[a]);
    }
    memset(into, 0, sizeof(*into));
}

const double *collected_array(const collected *from, const char *name)
{
    int a = ek_spec_array(&from->spec, name);
    return a < 0 ? NULL : from->array[a];
}
