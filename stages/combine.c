/* SPDX-License-Identifier: Apache-2.0 */
/* The combine stage: out[t][c] = a[t][c] op b[t][c] for two streams with the same grid and time
 * steps, in float64, row-major [time, cells]. Missing where either value is missing, or where the
 * result is not finite (a / 0). One rounding for each step of decoding and of the formula; the same
 * bits on both backends. Equals NumPy's float64 arithmetic, with sqrt(a*a + b*b) for hypot.
 *
 * Sums, differences and hypot want equal units and keep them; products and quotients combine them,
 * in UDUNITS' notation. */
#include "stages/combine.h"

#include "stages/combine_kernels.h"
#include "stages/naming.h"

#include <string.h>

static ek_status combine_host(const void *ptr)
{
    const ek__combine_args *args = ptr;
    double b[EK_TILE], a[EK_TILE];
    int64_t n = args->a.header->rows * args->cells;
    for (int64_t first = 0; first < n; first += EK_TILE) {
        int64_t count = EK_MIN(n - first, EK_TILE);
        ek__decode_run(args->a, first, count, a);
        ek__decode_run(args->b, first, count, b);
        for (int64_t i = 0; i < count; i++) {
            args->out[first + i] = ek__combine(args->op, a[i], b[i]);
        }
    }
    return EK_OK;
}

static const ek_kernel combine_kernel = {
    .name = "combine",
    .host = combine_host,
    .cuda = EK_CUDA_ENTRY(ek__combine_cuda),
};

static const ek_choice ops[] = {
    {"add", EK_COMBINE_ADD, "a + b"},
    {"sub", EK_COMBINE_SUB, "a - b"},
    {"mul", EK_COMBINE_MUL, "a * b"},
    {"div", EK_COMBINE_DIV, "a / b"},
    {"hypot", EK_COMBINE_HYPOT, "sqrt(a*a + b*b), a speed from its components"},
    {NULL, 0, NULL},
};

static const ek_option options[] = {
    {.name = "op",
     .type = EK_OPTION_ENUM,
     .offset = offsetof(ek_combine_options, op),
     .fallback = "add",
     .choices = ops,
     .help = "what is computed of each pair of values"},
    {.name = "name",
     .type = EK_OPTION_STRING,
     .offset = offsetof(ek_combine_options, name),
     .help = "name of the variable put out; without it, the two names with the op between"},
    {.name = NULL},
};

static const char *op_name(int op)
{
    return ops[op - 1].name;
}

static bool no_units(const char *units)
{
    return units[0] == '\0' || strcmp(units, "1") == 0;
}

/* combined_units writes the units of a product or a quotient. */
static void combined_units(char *out, size_t size, const char *a, const char *b, bool quotient)
{
    if (no_units(b)) {
        ek__text_set(out, size, "%s", a);
    } else if (quotient && strcmp(a, b) == 0) {
        ek__text_set(out, size, "1");
    } else if (quotient) {
        ek__text_set(out, size, "(%s)/(%s)", no_units(a) ? "1" : a, b);
    } else if (no_units(a)) {
        ek__text_set(out, size, "%s", b);
    } else {
        ek__text_set(out, size, "(%s) (%s)", a, b);
    }
}

static ek_status check(const ek_instance *self, int op, const ek__words *a, const ek__words *b)
{
    char text[256];
    const ek_spec *x = self->in[0], *y = self->in[1];
    if (ek_field_grids_differ(x->field, y->field, text, sizeof text)) {
        return EK_FAIL(EK_ESHAPE,
                       "the streams at 'a' (%s) and 'b' (%s) are on different grids: %s; remap one "
                       "of them first",
                       a->name, b->name, text);
    }
    bool same = op != EK_COMBINE_MUL && op != EK_COMBINE_DIV;
    if (same && strcmp(a->units, b->units) != 0) {
        return EK_FAIL(EK_EINVAL,
                       "op=%s wants equal units, but 'a' (%s) is in '%s' and 'b' (%s) in '%s'; "
                       "convert one of them first",
                       op_name(op), a->name, a->units, b->name, b->units);
    }
    return EK_OK;
}

static void describe(ek_instance *self, int op, const ek__words *a, const ek__words *b)
{
    static const char *const long_names[] = {"sum of %s and %s", "%s minus %s",
                                             "product of %s and %s", "%s divided by %s",
                                             "magnitude of %s and %s"};
    const ek_combine_options *given = self->options;
    int removed = EK_MIN(self->in[0]->n_removed, self->in[1]->n_removed);
    ek_spec *out = &self->out;
    *out = *self->in[0];
    out->packed = false;
    out->n_removed = op == EK_COMBINE_ADD || op == EK_COMBINE_SUB ? removed : 0;
    out->n_arrays = 0;
    ek_array_spec *array = ek_spec_add(out, "", EK_F64, 2, EK_AXIS_TIME, EK_AXIS_CELL);
    if (given->name != NULL) {
        ek__text_set(array->name, sizeof array->name, "%s", given->name);
    } else {
        ek__text_set(array->name, sizeof array->name, "%.12s_%s_%.12s", a->name, op_name(op),
                     b->name);
    }
    if (op == EK_COMBINE_MUL || op == EK_COMBINE_DIV) {
        combined_units(array->units, sizeof array->units, a->units, b->units, op == EK_COMBINE_DIV);
    } else {
        ek__text_set(array->units, sizeof array->units, "%s", a->units);
    }
    ek__text_set(array->long_name, sizeof array->long_name, long_names[op - 1], a->long_name,
                 b->long_name);
}

static ek_status combine_negotiate(ek_instance *self)
{
    const ek_combine_options *given = self->options;
    ek__words a = ek__spec_words(self->in[0]);
    ek__words b = ek__spec_words(self->in[1]);
    EK_TRY(check(self, given->op, &a, &b));
    describe(self, given->op, &a, &b);
    self->needs.chunk_launches = 1;
    return EK_OK;
}

static ek_status combine_submit(ek_instance *self, const ek_exec *exec, const ek_data *const *in,
                                ek_data *out)
{
    const ek_combine_options *given = self->options;
    ek__combine_args args = {
        .a = in[0]->stream,
        .b = in[1]->stream,
        .out = out->array[0],
        .cells = self->out.extent[EK_AXIS_CELL],
        .chunk_rows = self->out.chunk_rows,
        .op = given->op,
    };
    return ek_queue_launch(exec->queue, &combine_kernel, &args, sizeof args);
}

static const ek_port combine_inputs[] = {
    {"a", EK_STREAM, true, "the first stream"},
    {"b", EK_STREAM, true, "the second, on the same grid"},
    {NULL, 0, false, NULL},
};

const ek_stage ek_stage_combine = {
    .api = EK_STAGE_API,
    .name = "combine",
    .summary = "Combines two streams value by value: sum, difference, product, quotient, speed.",
    .flags = EK_STAGE_DEVICE,
    .options = options,
    .options_size = sizeof(ek_combine_options),
    .inputs = combine_inputs,
    .negotiate = combine_negotiate,
    .submit = combine_submit,
};
