/* SPDX-License-Identifier: Apache-2.0 */
/* The stage `spells`: its options, its life, and the host version of its kernel. See spells.h. */
#include "spells.h"

#include <core/memory.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

ek_status spells_host(const void *ptr)
{
    const spells_args *a = ptr;
    for (int64_t row = 0; row < a->in.header->rows; row++) {
        for (int64_t cell = 0; cell < a->cells; cell++) {
            double value = ek_stream_value(a->in, row * a->cells + cell); /* NaN where missing */
            bool above = value > a->threshold;
            a->open[cell] = above ? a->open[cell] + 1 : 0;
            a->count[cell] += above;
            a->longest[cell] = EK_MAX(a->longest[cell], a->open[cell]);
        }
    }
    return EK_OK;
}

/* One unit of device work, and where its two versions are. */
static const ek_kernel spells_kernel = {
    .name = "spells",
    .host = spells_host,
#ifdef SPELLS_CUDA
    .cuda = spells_cuda,
#endif
};

/* ---- options ---- */

static const ek_option options[] = {
    {.name = "threshold",
     .type = EK_OPTION_STRING,
     .offset = offsetof(spells_options, threshold),
     .required = true,
     .help = "Values greater than this are counted; in the variable's units."},
    {0},
};

/* ---- the life of an instance, in order ---- */

typedef struct spells_priv {
    double threshold;
} spells_priv;

static size_t array_bytes(const ek_instance *self)
{
    return ek_align((size_t)self->in[0]->extent[EK_AXIS_CELL] * sizeof(int32_t));
}

/* What comes out, and what memory and launches it takes. Metadata only. */
static ek_status negotiate(ek_instance *self)
{
    const spells_options *given = self->options;
    spells_priv *priv = self->priv;
    char *end = NULL;
    priv->threshold = strtod(given->threshold, &end);
    if (end == given->threshold || *end != '\0' || !isfinite(priv->threshold)) {
        return EK_FAIL(EK_EINVAL, "the option threshold takes a number, not '%s'",
                       given->threshold);
    }
    const ek_spec *in = self->in[0];
    ek_spec *out = &self->out;
    out->kind = EK_RESULT;
    out->space = EK_SPACE_DEVICE;
    out->field = in->field;
    for (int a = 0; a < EK_AXES; a++) {
        out->extent[a] = in->extent[a];
    }
    ek_array_spec *count =
        ek_spec_add(out, "exceedance_count", EK_I32, 1, EK_AXIS_CELL, EK_AXIS_CELL);
    ek_array_spec *longest =
        ek_spec_add(out, "longest_spell", EK_I32, 1, EK_AXIS_CELL, EK_AXIS_CELL);
    snprintf(count->units, sizeof count->units, "1");
    snprintf(longest->units, sizeof longest->units, "1");
    snprintf(count->long_name, sizeof count->long_name, "time steps above %g", priv->threshold);
    snprintf(longest->long_name, sizeof longest->long_name, "most time steps in a row above %g",
             priv->threshold);
    self->needs.state_bytes = 3 * array_bytes(self);
    self->needs.chunk_launches = 1;
    self->needs.finish_launches = 2;
    return EK_OK;
}

/* The state is three arrays one after another: count, longest, open. */
static int32_t *state_array(const ek_instance *self, const ek_exec *exec, int i)
{
    return (int32_t *)((char *)exec->state + (size_t)i * array_bytes(self));
}

static ek_status begin(ek_instance *self, const ek_exec *exec)
{
    return ek_queue_fill(exec->queue, exec->state, 0, 3 * array_bytes(self));
}

/* Captured once and replayed for every chunk: looks at no data, allocates nothing, waits for
 * nothing. Addresses in `in` are fixed; what differs from chunk to chunk is in the header on the
 * device. */
static ek_status submit(ek_instance *self, const ek_exec *exec, const ek_data *const *in,
                        ek_data *out)
{
    (void)out; /* there is no result before the last chunk */
    const spells_priv *priv = self->priv;
    spells_args args = {
        .in = in[0]->stream,
        .count = state_array(self, exec, 0),
        .longest = state_array(self, exec, 1),
        .open = state_array(self, exec, 2),
        .cells = self->in[0]->extent[EK_AXIS_CELL],
        .threshold = priv->threshold,
    };
    return ek_queue_launch(exec->queue, &spells_kernel, &args, sizeof args);
}

static ek_status finish(ek_instance *self, const ek_exec *exec, ek_data *out)
{
    size_t bytes = (size_t)self->in[0]->extent[EK_AXIS_CELL] * sizeof(int32_t);
    EK_TRY(ek_queue_copy(exec->queue, out->array[0], state_array(self, exec, 0), bytes));
    return ek_queue_copy(exec->queue, out->array[1], state_array(self, exec, 1), bytes);
}

/* ---- the descriptor ---- */

static const ek_port inputs[] = {
    {"in", EK_STREAM, true, "the stream"},
    {NULL, 0, false, NULL},
};

const ek_stage spells_stage = {
    .api = EK_STAGE_API,
    .name = "spells",
    .summary = "Counts the time steps above a threshold, and the most of them in a row.",
    .flags = EK_STAGE_FOLD | EK_STAGE_DEVICE,
    .options = options,
    .options_size = sizeof(spells_options),
    .priv_size = sizeof(spells_priv),
    .inputs = inputs,
    .negotiate = negotiate,
    .begin = begin,
    .submit = submit,
    .finish = finish,
};
