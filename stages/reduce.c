/* SPDX-License-Identifier: Apache-2.0 */
/* The reduce stage: mean, standard deviation, variance, minimum, maximum, range, sum and count over
 * time for each cell, in one sweep. Missing values are left out; a cell without a valid value (for
 * the variance: with no more than ddof) gives NaN.
 *
 *     mean = sum(x)/n        var = sum((x - mean)^2)/(n - ddof)        std = sqrt(var)
 *
 * 8- and 16-bit packed integers are summed in exact integers and unpacked at the end; all other
 * values in float64, as differences from the cell's first valid value. Either way in time order, so
 * the bits depend neither on the chunk size nor on the backend, and a constant cell has a variance
 * of exactly 0. Equals xarray's reductions with skipna=True, but for the sum of no values. */
#include "stages/reduce.h"

#include "stages/naming.h"
#include "stages/reduce_kernels.h"

#include "core/memory.h"

#include <string.h>

static const ek_kernel add_kernel = {
    .name = "reduce_add",
    .host = ek__reduce_add_host,
    .cuda = EK_CUDA_ENTRY(ek__reduce_add_cuda),
};

static const ek_kernel finish_kernel = {
    .name = "reduce_finish",
    .host = ek__reduce_finish_host,
    .cuda = EK_CUDA_ENTRY(ek__reduce_finish_cuda),
};

/* How each statistic is called in a file, in the order of the EK_REDUCE_ bits. */
typedef struct statistic {
    const char *name;
    const char *long_name; /* after the variable's */
    const char *cell_method;
    bool keeps_standard_name;
} statistic;

static const statistic statistics[EK__REDUCE_OPS] = {
    {"mean", "time mean", "mean", true},
    {"std", "time standard deviation", "standard_deviation", false},
    {"var", "time variance", "variance", false},
    {"min", "time minimum", "minimum", true},
    {"max", "time maximum", "maximum", true},
    {"range", "time range", "range", false},
    {"sum", "time sum", "sum", false},
    {"count", "number of valid time steps", "", false},
};

/* Hands out `count` words of `size` bytes at *at, moving it on; from a NULL base only sizes are
 * meant, so the offset is kept apart. */
static void *take(char *base, size_t *at, int64_t count, size_t size)
{
    void *ptr = base != NULL ? base + *at : NULL;
    *at += ek_align((size_t)count * size);
    return ptr;
}

/* Lays out the accumulators at `base` and returns their bytes; base NULL: just the bytes. */
static size_t lay_out(ek__reduce_state *s, void *base, int64_t cells)
{
    size_t at = 0;
    double **doubles[] = {
        &s->packed.scale, &s->packed.offset, &s->real.x0,    &s->real.sum,
        &s->real.squares, &s->real.min,      &s->real.max,   &s->merged.mean,
        &s->merged.m2,    &s->merged.min,    &s->merged.max, &s->merged.sum,
    };
    int32_t **ints[] = {
        &s->packed.n, &s->packed.min, &s->packed.max, &s->real.n, &s->merged.n,
    };
    for (size_t i = 0; i < EK_COUNT(doubles); i++) {
        *doubles[i] = take(base, &at, cells, sizeof(double));
    }
    s->packed.sum = take(base, &at, cells, sizeof(int64_t));
    s->packed.squares = take(base, &at, cells, sizeof(uint64_t));
    for (size_t i = 0; i < EK_COUNT(ints); i++) {
        *ints[i] = take(base, &at, cells, sizeof(int32_t));
    }
    return at;
}

static int32_t divisor(const ek_instance *self)
{
    const ek_reduce_options *options = self->options;
    return options->ddof == EK_DDOF_0 ? 0 : 1;
}

static void set_units(ek_array_spec *array, int op, const char *units)
{
    if (op == 2) {
        ek__units_squared(array->units, sizeof array->units, units);
    } else {
        ek__text_set(array->units, sizeof array->units, "%s",
                     op == EK__REDUCE_OPS - 1 ? "1" : units);
    }
}

/* CF 7.3: methods are listed in the order in which they were applied. */
static void set_cell_methods(ek_array_spec *array, const char *method, const char *earlier)
{
    if (method[0] == '\0') {
        return;
    }
    bool fits =
        earlier != NULL && strlen(earlier) + strlen(method) + 8 < sizeof array->cell_methods;
    ek__text_set(array->cell_methods, sizeof array->cell_methods, "%s%stime: %s",
                 fits ? earlier : "", fits && earlier[0] != '\0' ? " " : "", method);
}

static void add_statistic(ek_instance *self, int op, const ek__words *words)
{
    const statistic *what = &statistics[op];
    ek_dtype dtype = op == EK__REDUCE_OPS - 1 ? EK_I32 : EK_F64;
    ek_array_spec *array =
        ek_spec_add(&self->out, what->name, dtype, 1, EK_AXIS_CELL, EK_AXIS_CELL);
    ek__text_set(array->long_name, sizeof array->long_name, "%s, %s", words->long_name,
                 what->long_name);
    set_units(array, op, words->units);
    set_cell_methods(array, what->cell_method, self->in[0]->field->cell_methods);
    if (what->keeps_standard_name) {
        ek__text_set(array->standard_name, sizeof array->standard_name, "%s", words->standard_name);
    }
    bool spread = op == 1 || op == 2;
    if (spread) {
        ek__text_set(array->comment, sizeof array->comment,
                     "divisor N-%d, N the number of valid steps; missing values are left out",
                     (int)divisor(self));
    } else if (op != EK__REDUCE_OPS - 1) {
        ek__text_set(array->comment, sizeof array->comment, "missing values are left out");
    }
}

static ek_status reduce_negotiate(ek_instance *self)
{
    const ek_reduce_options *options = self->options;
    const ek_spec *in = self->in[0];
    ek_spec *out = &self->out;
    if (in->extent[EK_AXIS_TIME] > INT32_MAX) {
        return EK_FAIL(EK_ENOTSUP, "'%s' has %lld time steps; reduce counts up to %d",
                       in->field->name, (long long)in->extent[EK_AXIS_TIME], INT32_MAX);
    }
    memset(out, 0, sizeof *out);
    out->kind = EK_RESULT;
    out->space = EK_SPACE_DEVICE;
    out->field = in->field;
    memcpy(out->extent, in->extent, sizeof out->extent);
    ek__words words = ek__spec_words(in);
    for (int op = 0; op < EK__REDUCE_OPS; op++) {
        if ((options->op & (1u << op)) != 0) {
            add_statistic(self, op, &words);
        }
    }
    ek_spec_attr(out, "ddof", "%d", (int)divisor(self));
    ek__reduce_state state;
    self->needs.state_bytes = lay_out(&state, NULL, in->extent[EK_AXIS_CELL]);
    self->needs.chunk_launches = 1;
    self->needs.finish_launches = 1;
    return EK_OK;
}

static ek_status reduce_begin(ek_instance *self, const ek_exec *exec)
{
    return ek_queue_fill(exec->queue, exec->state, 0, self->needs.state_bytes);
}

static ek_status reduce_submit(ek_instance *self, const ek_exec *exec, const ek_data *const *in,
                               ek_data *out)
{
    (void)out;
    unsigned op = ((const ek_reduce_options *)self->options)->op;
    ek__reduce_add_args args = {
        .in = in[0]->stream,
        .cells = self->out.extent[EK_AXIS_CELL],
        .wants_squares = (op & (EK_REDUCE_STD | EK_REDUCE_VAR)) != 0,
        .wants_extremes = (op & (EK_REDUCE_MIN | EK_REDUCE_MAX | EK_REDUCE_RANGE)) != 0,
    };
    lay_out(&args.state, exec->state, args.cells);
    return ek_queue_launch(exec->queue, &add_kernel, &args, sizeof args);
}

static ek_status reduce_finish(ek_instance *self, const ek_exec *exec, ek_data *out)
{
    ek__reduce_finish_args args = {
        .cells = self->out.extent[EK_AXIS_CELL],
        .ddof = divisor(self),
    };
    lay_out(&args.state, exec->state, args.cells);
    for (int op = 0; op < EK__REDUCE_OPS; op++) {
        int array = ek_spec_array(&self->out, statistics[op].name);
        args.out[op] = array >= 0 ? out->array[array] : NULL;
    }
    return ek_queue_launch(exec->queue, &finish_kernel, &args, sizeof args);
}

static ek_status reduce_merge(const ek_spec *in, void *state, const void *later, size_t n_bytes)
{
    ek__reduce_state to;
    ek__reduce_state from;
    int64_t cells = in->extent[EK_AXIS_CELL];
    if (lay_out(&to, state, cells) != n_bytes) {
        return EK_FAIL(EK_EDATA, "%zu bytes are no accumulators of %lld cells", n_bytes,
                       (long long)cells);
    }
    lay_out(&from, (void *)later, cells); /* read only */
    ek__reduce_merge(&to, &from, cells);
    return EK_OK;
}

static const ek_choice op_choices[] = {
    {"mean", EK_REDUCE_MEAN, "mean"},
    {"std", EK_REDUCE_STD, "standard deviation"},
    {"var", EK_REDUCE_VAR, "variance"},
    {"min", EK_REDUCE_MIN, "minimum"},
    {"max", EK_REDUCE_MAX, "maximum"},
    {"range", EK_REDUCE_RANGE, "maximum minus minimum"},
    {"sum", EK_REDUCE_SUM, "sum"},
    {"count", EK_REDUCE_COUNT, "number of valid steps"},
    {NULL, 0, NULL},
};

static const ek_choice ddof_choices[] = {
    {"1", EK_DDOF_1, "divide by N-1, as for a sample"},
    {"0", EK_DDOF_0, "divide by N, as for a population"},
    {NULL, 0, NULL},
};

static const ek_option reduce_options[] = {
    {.name = "op",
     .type = EK_OPTION_FLAGS,
     .offset = offsetof(ek_reduce_options, op),
     .fallback = "mean",
     .choices = op_choices,
     .help = "the statistics to make"},
    {.name = "ddof",
     .type = EK_OPTION_ENUM,
     .offset = offsetof(ek_reduce_options, ddof),
     .fallback = "1",
     .choices = ddof_choices,
     .help = "degrees of freedom taken off the divisor of variance and standard deviation"},
    {.name = NULL},
};

static const ek_port reduce_inputs[] = {
    {"in", EK_STREAM, true, "the stream"},
    {NULL, 0, false, NULL},
};

const ek_stage ek_stage_reduce = {
    .api = EK_STAGE_API,
    .name = "reduce",
    .summary = "Makes statistics over time of each cell, any set of them in one sweep.",
    .flags = EK_STAGE_DEVICE | EK_STAGE_FOLD,
    .options = reduce_options,
    .options_size = sizeof(ek_reduce_options),
    .inputs = reduce_inputs,
    .negotiate = reduce_negotiate,
    .begin = reduce_begin,
    .submit = reduce_submit,
    .finish = reduce_finish,
    .merge = reduce_merge,
};
