/* SPDX-License-Identifier: Apache-2.0 */
/* The anomaly stage: out[t][c] = value[t][c] - mean[c], in float64 and the field's units, row-major
 * [time, cells]. A missing value, and every value of a cell without a mean, gives NaN. One rounding
 * for each step of decoding and one for the difference; the same bits on both backends. Equals
 * xarray's `field - field.mean("time")` in float64. */
#include "stages/anomaly.h"

#include "stages/anomaly_kernels.h"
#include "stages/naming.h"
#include "stages/reduce.h"

static ek_status anomaly_host(const void *ptr)
{
    const ek__anomaly_args *args = ptr;
    int64_t rows = args->in.header->rows;
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t first = 0; first < args->cells; first += EK_TILE) {
            int64_t count = EK_MIN(args->cells - first, EK_TILE);
            double *out = args->out + row * args->cells + first;
            const double *mean = args->mean + first;
            ek__decode_run(args->in, row * args->cells + first, count, out);
            for (int64_t i = 0; i < count; i++) {
                out[i] -= mean[i];
            }
        }
    }
    return EK_OK;
}

static const ek_kernel anomaly_kernel = {
    .name = "anomaly",
    .host = anomaly_host,
    .cuda = EK_CUDA_ENTRY(ek__anomaly_cuda),
};

typedef struct anomaly_priv {
    int mean; /* index of the array in the second input */
} anomaly_priv;

static void describe(ek_instance *self)
{
    const ek_spec *in = self->in[0];
    ek__words words = ek__spec_words(in);
    ek_spec *out = &self->out;
    *out = *in;
    out->kind = EK_STREAM;
    out->space = EK_SPACE_DEVICE;
    out->packed = false;
    out->n_removed = 1;
    out->n_arrays = 0;
    ek_array_spec *array = ek_spec_add(out, words.name, EK_F64, 2, EK_AXIS_TIME, EK_AXIS_CELL);
    ek__text_set(array->units, sizeof array->units, "%s", words.units);
    ek__text_set(array->long_name, sizeof array->long_name, "%s anomaly from the time mean",
                 words.long_name);
}

static ek_status anomaly_negotiate(ek_instance *self)
{
    anomaly_priv *priv = self->priv;
    const ek_spec *mean = self->in[1];
    priv->mean = ek_spec_array(mean, "mean");
    if (priv->mean < 0) {
        return EK_FAIL(EK_EINVAL, "port 'mean' gets a result without an array 'mean'; link it to "
                                  "'reduce op=mean'");
    }
    int64_t cells = self->in[0]->extent[EK_AXIS_CELL];
    int64_t mean_cells = ek_array_count(&mean->arrays[priv->mean], mean->extent);
    if (cells != mean_cells) {
        return EK_FAIL(EK_ESHAPE,
                       "the mean at port 'mean' has %lld cells, the stream at port 'in' has %lld; "
                       "both must come from the same grid",
                       (long long)mean_cells, (long long)cells);
    }
    describe(self);
    self->needs.chunk_launches = 1;
    return EK_OK;
}

static ek_status anomaly_submit(ek_instance *self, const ek_exec *exec, const ek_data *const *in,
                                ek_data *out)
{
    const anomaly_priv *priv = self->priv;
    ek__anomaly_args args = {
        .in = in[0]->stream,
        .mean = in[1]->array[priv->mean],
        .out = out->array[0],
        .cells = self->out.extent[EK_AXIS_CELL],
        .chunk_rows = self->out.chunk_rows,
    };
    return ek_queue_launch(exec->queue, &anomaly_kernel, &args, sizeof args);
}

static const ek_port anomaly_inputs[] = {
    {"in", EK_STREAM, true, "the stream"},
    {"mean", EK_RESULT, true, "a result with an array 'mean' for the same cells"},
    {NULL, 0, false, NULL},
};

/* Without a link the mean is that of the stream. */
static const ek_stage *const anomaly_implied[] = {NULL, &ek_stage_reduce};

const ek_stage ek_stage_anomaly = {
    .api = EK_STAGE_API,
    .name = "anomaly",
    .summary = "Subtracts the time mean of each cell.",
    .flags = EK_STAGE_DEVICE,
    .priv_size = sizeof(anomaly_priv),
    .inputs = anomaly_inputs,
    .implied = anomaly_implied,
    .negotiate = anomaly_negotiate,
    .submit = anomaly_submit,
};
