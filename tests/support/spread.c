/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/spread.h"

static ek_status spread_host(const void *ptr)
{
    const spread_args *args = ptr;
    for (int64_t cell = 0; cell < args->cells; cell++) {
        spread_cell(args, cell);
    }
    return EK_OK;
}

static const ek_kernel spread_kernel = {
    .name = "spread",
    .host = spread_host,
#ifdef EK_HAVE_CUDA
    .cuda = ek__spread_cuda,
#endif
};

static ek_status spread_negotiate(ek_instance *self)
{
    ek_spec *out = &self->out;
    *out = *self->in[0];
    out->kind = EK_RESULT;
    out->n_arrays = 0;
    ek_spec_add(out, "mean", EK_F64, 1, EK_AXIS_CELL, EK_AXIS_CELL);
    ek_spec_add(out, "squares", EK_F64, 1, EK_AXIS_CELL, EK_AXIS_CELL);
    self->needs.state_bytes = 2 * sizeof(double) * (size_t)out->extent[EK_AXIS_CELL];
    self->needs.sweeps = 2;
    self->needs.chunk_launches = self->needs.later[0].chunk_launches = 1;
    self->needs.finish_launches = self->needs.later[0].finish_launches = 1;
    return EK_OK;
}

static ek_status spread_begin(ek_instance *self, const ek_exec *exec)
{
    return exec->sweep > 0 ? EK_OK
                           : ek_queue_fill(exec->queue, exec->state, 0, self->needs.state_bytes);
}

static ek_status launch(ek_instance *self, const ek_exec *exec, spread_step step, ek_data *out,
                        ek_stream_view in)
{
    int64_t cells = self->out.extent[EK_AXIS_CELL];
    spread_args args = {
        .step = step,
        .in = in,
        .cells = cells,
        .sums = exec->state,
        .counts = (double *)exec->state + cells,
        .mean = out->array[0],
        .squares = out->array[1],
    };
    return ek_queue_launch(exec->queue, &spread_kernel, &args, sizeof args);
}

static ek_status spread_submit(ek_instance *self, const ek_exec *exec, const ek_data *const *in,
                               ek_data *out)
{
    spread_step step = exec->sweep == 0 ? SPREAD_ADD : SPREAD_SQUARES;
    return launch(self, exec, step, out, in[0]->stream);
}

static ek_status spread_finish(ek_instance *self, const ek_exec *exec, ek_data *out)
{
    spread_step step = exec->sweep == 0 ? SPREAD_MEAN : SPREAD_END;
    return launch(self, exec, step, out, (ek_stream_view){0});
}

static const ek_port spread_inputs[] = {
    {.name = "in", .kinds = EK_STREAM, .device = true, .help = "The stream."},
    {0},
};

static const ek_stage stage_spread = {
    .api = EK_STAGE_API,
    .name = "spread",
    .summary = "Adds up squared distances from the mean.",
    .flags = EK_STAGE_FOLD | EK_STAGE_DEVICE,
    .inputs = spread_inputs,
    .negotiate = spread_negotiate,
    .begin = spread_begin,
    .submit = spread_submit,
    .finish = spread_finish,
};

ek_node *spread_add(ek_pipeline *pipeline, ek_node *stream)
{
    return ek_pipeline_add(pipeline, &stage_spread, &stream, 1, NULL);
}
