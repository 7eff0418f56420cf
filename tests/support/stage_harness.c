/* SPDX-License-Identifier: Apache-2.0 */
/* Drives one stage without a pipeline. */
#include "tests/support/stage_harness.h"

#include "core/memory.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define BLOCKS_MAX (2 * EK_ARRAYS_MAX + 16)

/* All that a case holds while it runs. The chunk's addresses are fixed, as in a real run. */
typedef struct rig {
    const stage_case *test;
    ek_field field;
    ek_spec in[2];
    ek_instance self;
    ek_exec exec;
    ek_graph *graph;
    ek_data input[2], output;
    ek_chunk_header *header; /* pinned */
    void *staging;           /* pinned: the chunk's rows on their way in or out */
    void *chunk;             /* where `in` reads the stored rows */
    void *values;            /* device; decoded rows, or NULL */
    ek_chunk_header *device_header;
    struct {
        ek_space space;
        void *ptr;
    } blocks[BLOCKS_MAX];
    int n_blocks;
} rig;

ek_backend *stage_backend(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "host";
    ek_backend *backend = NULL;
    if (ek_backend_create(&backend, name, NULL, 0) != EK_OK) {
        fprintf(stderr, "no backend %s: %s\n", name, ek_error_last()->message);
        return NULL;
    }
    return backend;
}

int64_t stage_series_rows(const stage_series *series)
{
    int64_t rows = 0;
    for (int i = 0; i < series->n_pieces; i++) {
        rows += series->pieces[i].rows;
    }
    return rows;
}

static void packing(const stage_piece *piece, double *scale, double *offset)
{
    bool none = piece->scale == 0.0 && piece->offset == 0.0;
    *scale = none ? 1.0 : piece->scale;
    *offset = piece->offset;
}

static double raw_value(const void *data, ek_dtype dtype, int64_t i)
{
    switch (dtype) {
    case EK_I8:
        return ((const int8_t *)data)[i];
    case EK_U8:
        return ((const uint8_t *)data)[i];
    case EK_I16:
        return ((const int16_t *)data)[i];
    case EK_U16:
        return ((const uint16_t *)data)[i];
    case EK_I32:
        return ((const int32_t *)data)[i];
    case EK_U32:
        return ((const uint32_t *)data)[i];
    case EK_F32:
        return (double)((const float *)data)[i];
    default:
        return ((const double *)data)[i];
    }
}

double stage_value(const stage_series *series, int64_t row, int64_t cell)
{
    const stage_piece *piece = series->pieces;
    while (row >= piece->rows) {
        row -= piece->rows;
        piece++;
    }
    double raw = raw_value(piece->data, piece->dtype, row * series->cells + cell);
    for (int i = 0; i < piece->n_missing; i++) {
        if (raw == piece->missing[i]) {
            return (double)NAN;
        }
    }
    double scale, offset;
    packing(piece, &scale, &offset);
    return isfinite(raw) ? raw * scale + offset : (double)NAN;
}

/* Takes memory that rig_fini gives back; filled with a pattern, so that nothing counts on zeros. */
static ek_status take(rig *r, ek_space space, size_t bytes, void *out_ptr)
{
    void *ptr = NULL;
    assert(r->n_blocks < BLOCKS_MAX);
    EK_TRY(ek_mem_alloc(r->test->backend, space, EK_MAX(bytes, 1), &ptr));
    r->blocks[r->n_blocks].space = space;
    r->blocks[r->n_blocks++].ptr = ptr;
    *(void **)out_ptr = ptr;
    return ek_queue_fill(r->exec.queue, ptr, 0xa5, bytes);
}

static void rig_fini(rig *r)
{
    if (r->exec.queue != NULL) {
        ek_queue_sync(r->exec.queue);
    }
    ek_graph_destroy(r->graph);
    if (r->self.stage != NULL && r->self.stage->fini != NULL) {
        r->self.stage->fini(&r->self);
    }
    for (int i = 0; i < r->n_blocks; i++) {
        ek_mem_free(r->test->backend, r->blocks[i].space, r->blocks[i].ptr);
    }
    ek_queue_destroy(r->exec.queue);
    if (r->self.options != NULL) {
        if (r->test->stage->options != NULL) {
            ek_options_free(r->test->stage->options, (void *)r->self.options);
        }
        ek_free((void *)r->self.options);
    }
    ek_free(r->self.priv);
}

static void describe_input(rig *r)
{
    const stage_case *test = r->test;
    const stage_series *series = test->series;
    ek_field *field = &r->field;
    field->name = "air";
    field->units = "K";
    field->long_name = "Air temperature";
    field->standard_name = "air_temperature";
    field->n_time = stage_series_rows(series);
    field->n_cells = series->cells;
    field->dtype = series->pieces[0].dtype;
    int64_t longest = 0;
    for (int i = 0; i < series->n_pieces; i++) {
        field->value_bytes = EK_MAX(field->value_bytes, ek_dtype_size(series->pieces[i].dtype));
        longest = EK_MAX(longest, series->pieces[i].rows);
    }
    const ek_port *port = test->stage->inputs;
    ek_spec *in = &r->in[0];
    in->kind = EK_STREAM;
    in->space = port->device ? EK_SPACE_DEVICE : EK_SPACE_PINNED;
    in->field = field;
    in->extent[EK_AXIS_TIME] = field->n_time;
    in->extent[EK_AXIS_CELL] = field->n_cells;
    in->packed = !test->decoded;
    in->chunk_rows = test->chunk_rows > 0 ? test->chunk_rows : longest;
    in->n_removed = test->n_removed;
    if (test->second != NULL) {
        r->in[1] = test->second->spec;
        r->in[1].field = field;
        r->in[1].space = EK_SPACE_DEVICE;
    }
}

static ek_status negotiate(rig *r)
{
    const stage_case *test = r->test;
    ek_instance *self = &r->self;
    void *options = ek_alloc(1, test->stage->options_size);
    self->options = options;
    self->priv = ek_alloc(1, test->stage->priv_size);
    if (options == NULL || self->priv == NULL) {
        return EK_ENOMEM;
    }
    if (test->stage->options != NULL) {
        EK_TRY(ek_options_copy(test->stage->options, options, test->options));
    }
    self->stage = test->stage;
    self->name = test->stage->name;
    self->backend = test->backend;
    self->n_inputs = test->second != NULL ? 2 : 1;
    self->in[0] = &r->in[0];
    self->in[1] = test->second != NULL ? &r->in[1] : NULL;
    return test->stage->negotiate(self);
}

static size_t chunk_bytes(const ek_spec *spec)
{
    size_t values = (size_t)spec->chunk_rows * (size_t)spec->extent[EK_AXIS_CELL];
    return values * (spec->packed ? spec->field->value_bytes : sizeof(double));
}

static ek_status take_input(rig *r)
{
    ek_spec *in = &r->in[0];
    size_t bytes = EK_MAX(chunk_bytes(in), chunk_bytes(in) / in->field->value_bytes * 8);
    EK_TRY(take(r, EK_SPACE_PINNED, bytes, &r->staging));
    EK_TRY(take(r, EK_SPACE_PINNED, sizeof *r->header, &r->header));
    EK_TRY(take(r, EK_SPACE_DEVICE, sizeof *r->header, &r->device_header));
    if (r->test->decoded) {
        EK_TRY(take(r, in->space, bytes, &r->values));
    } else if (in->space == EK_SPACE_DEVICE) {
        EK_TRY(take(r, in->space, bytes, &r->chunk));
    } else {
        r->chunk = r->staging;
    }
    ek_data *data = &r->input[0];
    data->spec = in;
    data->array[0] = r->test->decoded ? r->values : r->chunk;
    data->stream.header = r->device_header;
    data->stream.values = r->values;
    bool crossing = (r->test->stage->flags & (EK_STAGE_UPLOAD | EK_STAGE_DOWNLOAD)) != 0;
    data->host = crossing ? r->header : NULL;
    memcpy(data->extent, in->extent, sizeof data->extent);
    return EK_OK;
}

/* Brings the result at the second port to the device. */
static ek_status take_second(rig *r)
{
    const stage_outcome *second = r->test->second;
    ek_data *data = &r->input[1];
    data->spec = &r->in[1];
    for (int i = 0; second != NULL && i < second->spec.n_arrays; i++) {
        void *pinned = NULL;
        size_t bytes = ek_array_bytes(&second->spec.arrays[i], second->extent);
        EK_TRY(take(r, EK_SPACE_PINNED, bytes, &pinned));
        EK_TRY(take(r, EK_SPACE_DEVICE, bytes, &data->array[i]));
        EK_TRY(ek_queue_sync(r->exec.queue));
        memcpy(pinned, second->array[i], bytes);
        EK_TRY(ek_queue_copy(r->exec.queue, data->array[i], pinned, bytes));
    }
    return ek_queue_sync(r->exec.queue);
}

static ek_status take_output(rig *r)
{
    const ek_spec *out = &r->self.out;
    const ek_needs *needs = &r->self.needs;
    EK_TRY(take(r, EK_SPACE_DEVICE, needs->state_bytes, &r->exec.state));
    EK_TRY(take(r, EK_SPACE_DEVICE, needs->scratch_bytes, &r->exec.scratch));
    EK_TRY(take(r, EK_SPACE_PINNED, needs->status_bytes, &r->exec.status));
    ek_data *data = &r->output;
    data->spec = out;
    data->stream.header = r->device_header;
    memcpy(data->extent, out->extent, sizeof data->extent);
    if (out->kind == EK_STREAM) {
        EK_TRY(take(r, out->space, chunk_bytes(out), &data->array[0]));
        data->stream.values = out->packed ? NULL : data->array[0];
        return EK_OK;
    }
    for (int i = 0; i < out->n_arrays; i++) {
        size_t bytes = ek_array_bytes(&out->arrays[i], out->extent);
        EK_TRY(take(r, out->space, bytes, &data->array[i]));
    }
    return EK_OK;
}

/* Puts `rows` rows from row `row0` of the series, row `first` of the piece, where the stage reads.
 */
static ek_status bring_chunk(rig *r, const stage_piece *piece, int64_t row0, int64_t first,
                             int64_t rows)
{
    ek_queue *queue = r->exec.queue;
    int64_t cells = r->test->series->cells;
    ek_chunk_header *header = r->header;
    memset(header, 0, sizeof *header);
    header->index = row0;
    header->row0 = row0;
    header->cells = cells;
    header->data = r->chunk;
    packing(piece, &header->scale, &header->offset);
    memcpy(header->missing, piece->missing, sizeof header->missing);
    header->n_missing = piece->n_missing;
    header->rows = (int32_t)rows;
    header->dtype = piece->dtype;
    size_t values = (size_t)(rows * cells);
    size_t bytes = values * (r->test->decoded ? sizeof(double) : ek_dtype_size(piece->dtype));
    if (r->test->decoded) {
        for (int64_t i = 0; i < rows * cells; i++) {
            ((double *)r->staging)[i] = stage_value(r->test->series, row0 + i / cells, i % cells);
        }
    } else {
        size_t skip = (size_t)(first * cells) * ek_dtype_size(piece->dtype);
        memcpy(r->staging, (const char *)piece->data + skip, bytes);
    }
    void *target = r->input[0].array[0];
    if (target != r->staging) {
        EK_TRY(ek_queue_copy(queue, target, r->staging, bytes));
    }
    return ek_queue_copy(queue, r->device_header, header, sizeof *header);
}

/* An empty chunk, as runs have before a capture: libraries make what cannot be made during one. */
static ek_status warm_up(rig *r, const ek_data *const *in)
{
    ek_queue *queue = r->exec.queue;
    int32_t rows = r->header->rows;
    EK_TRY(ek_queue_sync(queue)); /* the header may still be being copied */
    r->header->rows = 0;
    EK_TRY(ek_queue_copy(queue, r->device_header, r->header, sizeof *r->header));
    EK_TRY(r->test->stage->submit(&r->self, &r->exec, in, &r->output));
    EK_TRY(ek_queue_sync(queue));
    r->header->rows = rows;
    return ek_queue_copy(queue, r->device_header, r->header, sizeof *r->header);
}

static ek_status submit(rig *r, stage_outcome *out)
{
    const ek_data *in[2] = {&r->input[0], &r->input[1]};
    const ek_stage *stage = r->test->stage;
    if (!r->test->captured) {
        return stage->submit(&r->self, &r->exec, in, &r->output);
    }
    if (r->graph == NULL) {
        EK_TRY(warm_up(r, in));
        EK_TRY(ek_capture_begin(r->exec.queue));
        ek_status rc = stage->submit(&r->self, &r->exec, in, &r->output);
        ek_status end = ek_capture_end(r->exec.queue, &r->graph);
        EK_TRY(rc != EK_OK ? rc : end);
        out->captured_size = ek_graph_size(r->graph);
    }
    return ek_graph_launch(r->graph, r->exec.queue);
}

/* Keeps the rows that a stream stage has put out. */
static ek_status keep_rows(rig *r, stage_outcome *out)
{
    const ek_spec *spec = &r->self.out;
    if (spec->kind != EK_STREAM || r->header->rows == 0) {
        return EK_OK;
    }
    size_t width = spec->packed ? ek_dtype_size((ek_dtype)r->header->dtype) : sizeof(double);
    size_t bytes = (size_t)r->header->rows * (size_t)r->header->cells * width;
    EK_TRY(ek_queue_sync(r->exec.queue));
    EK_TRY(ek_queue_copy(r->exec.queue, r->staging, r->output.array[0], bytes));
    EK_TRY(ek_queue_sync(r->exec.queue));
    memcpy((char *)out->rows + out->row_bytes_used, r->staging, bytes);
    out->row_bytes_used += bytes;
    return EK_OK;
}

static ek_status one_chunk(rig *r, const stage_piece *piece, const int64_t at[3],
                           stage_outcome *out)
{
    EK_TRY(bring_chunk(r, piece, at[0], at[1], at[2]));
    EK_TRY(submit(r, out));
    EK_TRY(keep_rows(r, out));
    return ek_queue_sync(r->exec.queue); /* the staging buffer is free again */
}

static ek_status all_chunks(rig *r, stage_outcome *out)
{
    const stage_series *series = r->test->series;
    int64_t row0 = 0;
    for (int i = 0; i < series->n_pieces; i++) {
        const stage_piece *piece = &series->pieces[i];
        for (int64_t first = 0; first < piece->rows;) {
            int64_t rows = EK_MIN(piece->rows - first, r->in[0].chunk_rows);
            if (r->test->empty_chunks) {
                EK_TRY(one_chunk(r, piece, (int64_t[]){row0, first, 0}, out));
            }
            EK_TRY(one_chunk(r, piece, (int64_t[]){row0, first, rows}, out));
            first += rows;
            row0 += rows;
        }
    }
    if (r->test->empty_chunks) {
        EK_TRY(one_chunk(r, &series->pieces[0], (int64_t[]){row0, 0, 0}, out));
    }
    return EK_OK;
}

static ek_status keep_arrays(rig *r, stage_outcome *out)
{
    const ek_spec *spec = &r->self.out;
    for (int i = 0; spec->kind == EK_RESULT && i < spec->n_arrays; i++) {
        void *pinned = NULL;
        size_t bytes = ek_array_bytes(&spec->arrays[i], spec->extent);
        out->array[i] = ek_alloc(1, bytes);
        if (out->array[i] == NULL) {
            return EK_ENOMEM;
        }
        EK_TRY(take(r, EK_SPACE_PINNED, bytes, &pinned));
        EK_TRY(ek_queue_copy(r->exec.queue, pinned, r->output.array[i], bytes));
        EK_TRY(ek_queue_sync(r->exec.queue));
        memcpy(out->array[i], pinned, bytes);
    }
    memcpy(out->extent, r->output.extent, sizeof out->extent);
    return EK_OK;
}

static ek_status one_sweep(rig *r, stage_outcome *out)
{
    const ek_stage *stage = r->test->stage;
    ek_exec *exec = &r->exec;
    ek_graph_destroy(r->graph);
    r->graph = NULL;
    if (stage->begin != NULL) {
        EK_TRY(stage->begin(&r->self, exec));
    }
    EK_TRY(all_chunks(r, out));
    if (stage->finish != NULL) {
        EK_TRY(stage->finish(&r->self, exec, &r->output));
    }
    EK_TRY(ek_queue_sync(exec->queue));
    return stage->collect != NULL ? stage->collect(&r->self, exec, &r->output) : EK_OK;
}

static ek_status run_stage(rig *r, stage_outcome *out)
{
    ek_exec *exec = &r->exec;
    exec->backend = r->test->backend;
    EK_TRY(ek_queue_create(exec->backend, &exec->queue));
    describe_input(r);
    EK_TRY(negotiate(r));
    out->spec = r->self.out;
    out->spec.field = NULL;
    out->needs = r->self.needs;
    EK_TRY(take_input(r));
    EK_TRY(take_second(r));
    EK_TRY(take_output(r));
    out->rows = ek_alloc((size_t)(r->field.n_time * r->field.n_cells), sizeof(double));
    if (out->rows == NULL) {
        return EK_ENOMEM;
    }
    EK_TRY(ek_queue_sync(exec->queue));
    for (exec->sweep = 0; exec->sweep < EK_MAX(r->self.needs.sweeps, 1); exec->sweep++) {
        EK_TRY(one_sweep(r, out));
    }
    return keep_arrays(r, out);
}

ek_status stage_run(const stage_case *test, stage_outcome *out)
{
    rig r = {.test = test};
    memset(out, 0, sizeof *out);
    ek_status rc = run_stage(&r, out);
    rig_fini(&r);
    if (rc != EK_OK) {
        stage_outcome_fini(out);
    }
    return rc;
}

void stage_outcome_fini(stage_outcome *out)
{
    for (int i = 0; i < EK_ARRAYS_MAX; i++) {
        ek_free(out->array[i]);
        out->array[i] = NULL;
    }
    ek_free(out->rows);
    out->rows = NULL;
}

const double *stage_array(const stage_outcome *from, const char *name)
{
    int i = ek_spec_array(&from->spec, name);
    assert(i >= 0 && from->spec.arrays[i].dtype == EK_F64);
    return from->array[i];
}

int32_t stage_int(const stage_outcome *from, const char *name)
{
    int i = ek_spec_array(&from->spec, name);
    assert(i >= 0 && from->spec.arrays[i].dtype == EK_I32);
    return *(const int32_t *)from->array[i];
}

static bool same_doubles(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool both_nan = isnan(a[i]) && isnan(b[i]);
        if (!both_nan && memcmp(&a[i], &b[i], sizeof a[i]) != 0) {
            return false;
        }
    }
    return true;
}

bool stage_same_bits(const stage_outcome *a, const stage_outcome *b)
{
    bool same = a->row_bytes_used == b->row_bytes_used && a->spec.n_arrays == b->spec.n_arrays &&
                memcmp(a->extent, b->extent, sizeof a->extent) == 0;
    if (same && a->spec.kind == EK_STREAM) {
        return a->spec.packed ? memcmp(a->rows, b->rows, a->row_bytes_used) == 0
                              : same_doubles(a->rows, b->rows, a->row_bytes_used / sizeof(double));
    }
    for (int i = 0; same && i < a->spec.n_arrays; i++) {
        const ek_array_spec *array = &a->spec.arrays[i];
        size_t n = (size_t)ek_array_count(array, a->extent);
        same = array->dtype == EK_F64 ? same_doubles(a->array[i], b->array[i], n)
                                      : memcmp(a->array[i], b->array[i], n * 4) == 0;
    }
    return same;
}
