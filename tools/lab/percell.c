/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/lab/percell.h"

#include "stages/kernels.h"

#include <math.h>
#include <stdio.h>

static const ek_kernel percell_kernel = {"percell", lab_percell_host,
                                         EK_CUDA_ENTRY(lab_percell_cuda)};
static const ek_kernel fork_kernel = {"fork", lab_no_branch, EK_CUDA_ENTRY(lab_fork_cuda)};
static const ek_kernel join_kernel = {"join", lab_no_branch, EK_CUDA_ENTRY(lab_join_cuda)};

ek_status lab_no_branch(const void *args)
{
    (void)args;
    return EK_OK;
}

/* column_statistic computes one statistic of a cell's values, as its user would write it. */
static double column_statistic(ek_stream_view in, int64_t cell, int statistic)
{
    int64_t stride = in.header->cells;
    int64_t end = in.header->rows * stride;
    double sum = 0;
    double squares = 0;
    double low = INFINITY;
    double high = -INFINITY;
    int64_t n = 0;
    for (int64_t i = cell; i < end; i += stride) {
        double value = ek_stream_value(in, i);
        if (!isnan(value)) {
            n++;
            sum += value;
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
    }
    double mean = sum / (double)n; /* NaN without values */
    if (statistic == LAB_MEAN || statistic == LAB_RANGE) {
        return statistic == LAB_MEAN || n == 0 ? mean : high - low;
    }
    for (int64_t i = cell; i < end; i += stride) {
        double value = ek_stream_value(in, i);
        squares += isnan(value) ? 0 : (value - mean) * (value - mean);
    }
    double variance = squares / (double)(n - 1);
    return statistic == LAB_VAR ? variance : sqrt(variance);
}

ek_status lab_percell_host(const void *args)
{
    const lab_percell_args *a = args;
    if (a->in.header->rows > 0) {
        *a->out = column_statistic(a->in, a->cell, a->statistic);
    }
    return EK_OK;
}

ek_status lab_loop(const float *values, int64_t n_time, int64_t n_cells, double *out)
{
    double *column = ek_alloc((size_t)n_time, sizeof(double));
    if (column == NULL) {
        return EK_ENOMEM;
    }
    ek_chunk_header header = {.cells = 1, .rows = (int32_t)n_time};
    ek_stream_view view = {.header = &header, .values = column};
    for (int64_t cell = 0; cell < n_cells; cell++) {
        for (int64_t r = 0; r < n_time; r++) {
            column[r] = (double)values[r * n_cells + cell];
        }
        for (int s = 0; s < LAB_STATISTICS; s++) {
            out[s * n_cells + cell] = column_statistic(view, 0, s);
        }
    }
    ek_free(column);
    return EK_OK;
}

typedef struct percell_priv {
    void *branches;
} percell_priv;

/* make_branches makes them where the device has queues that can be split. */
static ek_status make_branches(ek_instance *self)
{
#ifdef EK_HAVE_CUDA
    if (ek_backend_which(self->backend) == EK_BACKEND_CUDA) {
        return lab_branches_create(&((percell_priv *)self->priv)->branches);
    }
#else
    (void)self;
#endif
    return EK_OK;
}

static void percell_fini(ek_instance *self)
{
#ifdef EK_HAVE_CUDA
    lab_branches_destroy(((percell_priv *)self->priv)->branches);
#else
    (void)self;
#endif
}

static ek_status percell_negotiate(ek_instance *self)
{
    static const char *const names[] = {"mean", "std", "range", "var"};
    const ek_spec *in = self->in[0];
    ek_spec *out = &self->out;
    int64_t cells = in->extent[EK_AXIS_CELL];
    if (in->n_chunks != 1) {
        return EK_FAIL(EK_EINVAL, "percell wants its stream in one chunk, not in %lld",
                       (long long)in->n_chunks);
    }
    if (cells > INT32_MAX / LAB_STATISTICS) {
        return EK_FAIL(EK_EINVAL, "percell has no room for %lld cells", (long long)cells);
    }
    out->kind = EK_RESULT;
    out->space = EK_SPACE_DEVICE;
    out->field = in->field;
    out->extent[EK_AXIS_TIME] = in->extent[EK_AXIS_TIME];
    out->extent[EK_AXIS_CELL] = cells;
    for (int s = 0; s < LAB_STATISTICS; s++) {
        ek_spec_add(out, names[s], EK_F64, 1, EK_AXIS_CELL, EK_AXIS_CELL);
    }
    self->needs.state_bytes = (size_t)(LAB_STATISTICS * cells) * sizeof(double);
    self->needs.chunk_launches = (int)(LAB_STATISTICS * cells);
    self->needs.finish_launches = LAB_STATISTICS;
    return make_branches(self);
}

static ek_status percell_submit(ek_instance *self, const ek_exec *exec, const ek_data *const *in,
                                ek_data *out)
{
    (void)out;
    int64_t cells = self->out.extent[EK_AXIS_CELL];
    lab_percell_args args = {.in = in[0]->stream,
                             .branches = ((percell_priv *)self->priv)->branches};
    EK_TRY(ek_queue_launch(exec->queue, &fork_kernel, &args, sizeof args));
    for (args.cell = 0; args.cell < cells; args.cell++) {
        for (args.statistic = 0; args.statistic < LAB_STATISTICS; args.statistic++) {
            args.out = (double *)exec->state + args.statistic * cells + args.cell;
            EK_TRY(ek_queue_launch(exec->queue, &percell_kernel, &args, sizeof args));
        }
    }
    return ek_queue_launch(exec->queue, &join_kernel, &args, sizeof args);
}

static ek_status percell_finish(ek_instance *self, const ek_exec *exec, ek_data *out)
{
    int64_t cells = self->out.extent[EK_AXIS_CELL];
    for (int s = 0; s < LAB_STATISTICS; s++) {
        EK_TRY(ek_queue_copy(exec->queue, out->array[s], (double *)exec->state + s * cells,
                             (size_t)cells * sizeof(double)));
    }
    return EK_OK;
}

static const ek_port percell_inputs[] = {
    {"in", EK_STREAM, true, "the stream, in one chunk"},
    {NULL, 0, false, NULL},
};

static const ek_stage percell_stage = {
    .api = EK_STAGE_API,
    .name = "percell",
    .summary = "Statistics over time, one kernel for each cell and statistic.",
    .flags = EK_STAGE_DEVICE | EK_STAGE_FOLD,
    .priv_size = sizeof(percell_priv),
    .inputs = percell_inputs,
    .negotiate = percell_negotiate,
    .submit = percell_submit,
    .finish = percell_finish,
    .fini = percell_fini,
};

ek_node *lab_percell(ek_pipeline *pipeline, ek_node *stream)
{
    return ek_pipeline_add(pipeline, &percell_stage, &stream, 1, NULL);
}
