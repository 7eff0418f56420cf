/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/contract/contract.h"

#include "pipelines/user_stage/spells.h"
#include "tests/support/near.h"
#include "tests/support/spread.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- inputs ---- */

static uint64_t seed;

/* noise returns the next number in [-1, 1). */
static double noise(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 11) / (double)(1LL << 52) - 1.0;
}

/* field_value is a few waves and noise, so that singular values are well apart. */
static double field_value(int64_t t, int64_t c)
{
    double a = (double)t, b = (double)c;
    return 10 * sin(0.31 * a) * cos(0.2 * b) + 4 * cos(0.17 * a + 1) * sin(0.45 * b) +
           1.5 * sin(0.83 * a) * cos(0.9 * b + 0.3) + 0.2 * noise();
}

static void put_value(void *data, ek_dtype dtype, int64_t i, double value)
{
    switch (dtype) {
    case EK_I8:
        ((int8_t *)data)[i] = (int8_t)lrint(value);
        break;
    case EK_U8:
        ((uint8_t *)data)[i] = (uint8_t)lrint(value);
        break;
    case EK_I16:
        ((int16_t *)data)[i] = (int16_t)lrint(value);
        break;
    case EK_U16:
        ((uint16_t *)data)[i] = (uint16_t)lrint(value);
        break;
    case EK_I32:
        ((int32_t *)data)[i] = (int32_t)lrint(value);
        break;
    case EK_U32:
        ((uint32_t *)data)[i] = (uint32_t)lrint(value);
        break;
    case EK_F32:
        ((float *)data)[i] = (float)value;
        break;
    default:
        ((double *)data)[i] = value;
        break;
    }
}

/* add_segment appends rows of the field: stored = value * gain + base, then unpacked by scale and
 * offset when read. */
static void add_segment(contract_input *self, int64_t rows, ek_dtype dtype, double gain,
                        double base)
{
    memory_input *input = &self->input;
    memory_segment *segment = &input->segments[input->n_segments++];
    int64_t row0 = memory_rows(input);
    void *data = malloc((size_t)(rows * input->cells) * ek_dtype_size(dtype));
    for (int64_t i = 0; i < rows * input->cells; i++) {
        put_value(data, dtype, i,
                  field_value(row0 + i / input->cells, i % input->cells) * gain + base);
    }
    *segment = (memory_segment){.rows = rows, .dtype = dtype, .scale = 1, .data = data};
}

/* add_gap makes value (row, cell) of segment 0 missing. */
static void add_gap(contract_input *self, int64_t row, int64_t cell)
{
    memory_segment *segment = &self->input.segments[0];
    double missing = ek_dtype_is_integer(segment->dtype) ? 99 : -9999;
    segment->n_missing = 1;
    segment->missing[0] = missing;
    put_value((void *)segment->data, segment->dtype, row * self->input.cells + cell, missing);
}

static void set_cell(contract_input *self, int64_t cell, double value)
{
    for (int s = 0; s < self->input.n_segments; s++) {
        memory_segment *segment = &self->input.segments[s];
        for (int64_t t = 0; t < segment->rows; t++) {
            put_value((void *)segment->data, segment->dtype, t * self->input.cells + cell, value);
        }
    }
}

static contract_input *add(contract_input **inputs, int *n, const char *name, int64_t cells)
{
    *inputs = realloc(*inputs, (size_t)(*n + 1) * sizeof(**inputs));
    contract_input *self = &(*inputs)[(*n)++];
    memset(self, 0, sizeof(*self));
    self->name = name;
    self->input.cells = cells;
    return self;
}

static void add_types(contract_input **inputs, int *n)
{
    static const struct {
        const char *name;
        ek_dtype dtype;
        double gain, base;
        bool exact;
    } types[] = {
        {"int8", EK_I8, 5, 0, true},        {"uint8", EK_U8, 5, 120, true},
        {"int16", EK_I16, 500, 3000, true}, {"uint16", EK_U16, 500, 30000, true},
        {"int32", EK_I32, 1e6, 2e8, false}, {"uint32", EK_U32, 1e6, 3e9, false},
        {"float32", EK_F32, 1, 280, false}, {"float64", EK_F64, 1, 101325, false},
    };
    for (size_t i = 0; i < EK_COUNT(types); i++) {
        contract_input *self = add(inputs, n, types[i].name, 37);
        self->exact = types[i].exact;
        add_segment(self, 53, types[i].dtype, types[i].gain, types[i].base);
    }
}

int contract_inputs(contract_input **out)
{
    int n = 0;
    *out = NULL;
    seed = 42;
    add_types(out, &n);

    contract_input *self = add(out, &n, "packed, two files with packings of their own", 29);
    add_segment(self, 31, EK_I16, 100, 0);
    add_segment(self, 22, EK_I16, -50, 700);
    self->input.segments[0].scale = 0.01;
    self->input.segments[0].offset = 280;
    self->input.segments[1].scale = -0.02;
    self->input.segments[1].offset = 294;

    self = add(out, &n, "int16, then float32, then float64", 29);
    add_segment(self, 20, EK_I16, 100, 0);
    self->input.segments[0].scale = 0.01;
    self->input.segments[0].offset = 280;
    add_segment(self, 13, EK_F32, 1, 280);
    add_segment(self, 17, EK_F64, 1, 280);

    self = add(out, &n, "float32 with gaps, a constant and an empty cell", 41);
    add_segment(self, 47, EK_F32, 1, 0);
    set_cell(self, 3, 271.35);
    set_cell(self, 4, -9999);
    add_gap(self, 0, 7);
    add_gap(self, 46, 8);
    add_gap(self, 20, 9);
    put_value((void *)self->input.segments[0].data, EK_F32, 5 * 41 + 11, (double)NAN);
    put_value((void *)self->input.segments[0].data, EK_F32, 6 * 41 + 12, (double)INFINITY);

    self = add(out, &n, "int16 with gaps and a constant cell", 33);
    self->exact = true;
    add_segment(self, 40, EK_I16, 100, 0);
    self->input.segments[0].scale = 0.01;
    self->input.segments[0].offset = 512.81;
    set_cell(self, 3, 1234);
    add_gap(self, 11, 7);

    self = add(out, &n, "more steps than cells", 6);
    add_segment(self, 300, EK_F32, 1, 280);

    self = add(out, &n, "one cell", 1);
    add_segment(self, 20, EK_F32, 1, 280);

    self = add(out, &n, "one step", 9);
    self->one_step = true;
    add_segment(self, 1, EK_F32, 1, 280);

    self = add(out, &n, "constant", 5);
    self->no_cells = true;
    add_segment(self, 12, EK_F32, 0, 288.15);

    self = add(out, &n, "every cell has a gap", 2);
    self->no_cells = true;
    add_segment(self, 12, EK_F32, 1, 0);
    add_gap(self, 4, 0);
    add_gap(self, 5, 1);
    return n;
}

void contract_inputs_fini(contract_input *inputs, int n)
{
    for (int i = 0; i < n; i++) {
        for (int s = 0; s < inputs[i].input.n_segments; s++) {
            free((void *)inputs[i].input.segments[s].data);
        }
    }
    free(inputs);
}

/* ---- stages ---- */

#define ALL_OPS 0xffu

static ek_node *build_transfer(ek_pipeline *p, ek_node *up)
{
    return ek_download(p, up, NULL);
}

static ek_node *build_reduce(ek_pipeline *p, ek_node *up)
{
    return ek_download(p, ek_reduce(p, up, &(ek_reduce_options){.op = ALL_OPS}), NULL);
}

static ek_node *build_reduce_population(ek_pipeline *p, ek_node *up)
{
    ek_reduce_options options = {.op = EK_REDUCE_STD | EK_REDUCE_VAR, .ddof = EK_DDOF_0};
    return ek_download(p, ek_reduce(p, up, &options), NULL);
}

static ek_node *anomaly(ek_pipeline *p, ek_node *up)
{
    return ek_anomaly(p, up, ek_reduce(p, up, NULL), NULL);
}

static ek_node *build_anomaly(ek_pipeline *p, ek_node *up)
{
    return ek_download(p, anomaly(p, up), NULL);
}

static ek_node *build_reduce_anomaly(ek_pipeline *p, ek_node *up)
{
    return ek_download(p, ek_reduce(p, anomaly(p, up), &(ek_reduce_options){.op = ALL_OPS}), NULL);
}

static ek_node *build_combine(ek_pipeline *p, ek_node *up)
{
    return ek_download(p, ek_combine(p, up, up, &(ek_combine_options){.op = EK_COMBINE_HYPOT}),
                       NULL);
}

static ek_node *build_combine_decoded(ek_pipeline *p, ek_node *up)
{
    ek_combine_options options = {.op = EK_COMBINE_DIV};
    return ek_download(p, ek_combine(p, up, anomaly(p, up), &options), NULL);
}

static ek_node *build_two_sweeps(ek_pipeline *p, ek_node *up)
{
    return ek_download(p, spread_add(p, up), NULL);
}

static ek_node *build_two_sweeps_of_anomaly(ek_pipeline *p, ek_node *up)
{
    return ek_download(p, spread_add(p, anomaly(p, up)), NULL);
}

/* The stage of a user's own program (pipelines/user_stage). */
static ek_node *build_spells(ek_pipeline *p, ek_node *up)
{
    spells_options options = {.threshold = "281"};
    return ek_download(p, ek_pipeline_add(p, &spells_stage, &up, 1, &options), NULL);
}

static ek_node *build_spells_of_anomaly(ek_pipeline *p, ek_node *up)
{
    spells_options options = {.threshold = "0.5"};
    ek_node *stream = anomaly(p, up);
    return ek_download(p, ek_pipeline_add(p, &spells_stage, &stream, 1, &options), NULL);
}

static ek_node *build_svd(ek_pipeline *p, ek_node *up)
{
    return ek_download(p, ek_svd(p, anomaly(p, up), NULL), NULL);
}

static ek_node *build_svd_leading(ek_pipeline *p, ek_node *up)
{
    return ek_download(p, ek_svd(p, anomaly(p, up), &(ek_svd_options){.modes = 3}), NULL);
}

static ek_node *build_svd_centring(ek_pipeline *p, ek_node *up)
{
    ek_svd_options options = {.modes = 3, .centring = EK_SVD_CENTRING_MEAN};
    return ek_download(p, ek_svd(p, up, &options), NULL);
}

const contract_stage contract_stages[] = {
    {"upload", "a stream there and back", build_transfer, false, 0},
    {"download", "a stream there and back", build_transfer, false, 0},
    {"reduce", "all statistics", build_reduce, false, 0},
    {"reduce", "all statistics of a decoded stream", build_reduce_anomaly, false, 0},
    {"reduce", "ddof 0", build_reduce_population, false, 0},
    {"anomaly", "from the time mean", build_anomaly, false, 0},
    {"combine", "a stream with itself", build_combine, false, 0},
    {"combine", "a stream and its anomalies", build_combine_decoded, false, 0},
    {"spread", "a fold of two sweeps", build_two_sweeps, false, 0},
    {"spread", "two sweeps of a decoded stream", build_two_sweeps_of_anomaly, false, 0},
    {"spells", "above a threshold", build_spells, false, 0},
    {"spells", "of a decoded stream", build_spells_of_anomaly, false, 0},
    {"svd", "all modes", build_svd, true, 1e-10},
    {"svd", "leading modes", build_svd_leading, true, 1e-10},
    {"svd", "leading modes of values", build_svd_centring, true, 1e-10},
};
const int n_contract_stages = (int)EK_COUNT(contract_stages);

/* ---- running and comparing ---- */

ek_status contract_run(const contract_stage *stage, const contract_input *input, contract_way way,
                       collected *out)
{
    ek_pipeline *p = NULL;
    ek_plan *plan = NULL;
    ek_plan_options options = {
        .backend = way.backend, .launch = way.launch, .slots = way.slots, .reread = way.reread};
    ek_status rc = ek_pipeline_create(&p, "contract");
    if (rc != EK_OK) {
        return rc;
    }
    ek_node *up = ek_upload(p, memory_add(p, &input->input, way.chunk), NULL);
    collect_add(p, stage->build(p, up), out);
    rc = ek_plan_create(&plan, p, &options);
    if (rc == EK_OK) {
        rc = ek_run(plan, NULL, NULL);
    }
    ek_plan_destroy(plan);
    out->spec.field = NULL; /* it went with the plan */
    ek_pipeline_destroy(p);
    return rc;
}

/* same_values compares; a value of NaN must be NaN in both. */
static void same_values(const char *what, const double *a, const double *b, int64_t n, double rtol)
{
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        largest = isfinite(a[i]) ? fmax(largest, fabs(a[i])) : largest;
    }
    for (int64_t i = 0; i < n; i++) {
        bool same = isnan(a[i]) ? isnan(b[i])
                    : rtol == 0 ? memcmp(&a[i], &b[i], 8) == 0
                                : fabs(a[i] - b[i]) <= rtol * largest;
        if (!same) {
            fail_msg("%s: value %lld is %.17g and %.17g (largest %.3g, rtol %.1g)", what,
                     (long long)i, a[i], b[i], largest, rtol);
        }
    }
}

/* trusted_modes counts the modes whose vectors are well defined: their singular value is apart from
 * both neighbours and not near the rank cut. */
static int64_t trusted_modes(const collected *a)
{
    const double *s = collected_array(a, "singular_value");
    int64_t k = a->extent[EK_AXIS_MODE], n = 0;
    while (n < k && s[n] > 1e-3 * s[0] && (n + 1 >= k || s[n + 1] < 0.98 * s[n])) {
        n++;
    }
    return n;
}

/* tells_rounding: the array measures rounding, or what a solver did about it. */
static bool tells_rounding(const char *array)
{
    return strcmp(array, "orthogonality_error") == 0 || strcmp(array, "residual") == 0 ||
           strcmp(array, "n_multiplies") == 0;
}

void contract_same(const char *what, const collected *a, const collected *b, double rtol)
{
    char text[256];
    if (a->spec.kind == EK_STREAM) {
        int64_t n = a->spec.extent[EK_AXIS_TIME] * a->spec.extent[EK_AXIS_CELL];
        same_values(what, a->values, b->values, n, rtol);
        return;
    }
    assert_int_equal(a->extent[EK_AXIS_MODE], b->extent[EK_AXIS_MODE]);
    for (int i = 0; i < a->spec.n_arrays; i++) {
        const ek_array_spec *array = &a->spec.arrays[i];
        int64_t n = ek_array_count(array, a->extent);
        if (rtol > 0 && tells_rounding(array->name)) {
            continue;
        }
        if (array->dtype != EK_F64) {
            assert_memory_equal(a->array[i], b->array[i], ek_array_bytes(array, a->extent));
            continue;
        }
        if (rtol > 0 && array->n_axes == 2 && array->axes[0] == EK_AXIS_MODE) {
            n = n / EK_MAX(1, a->extent[EK_AXIS_MODE]) * trusted_modes(a);
        }
        snprintf(text, sizeof(text), "%s, %s", what, array->name);
        same_values(text, a->array[i], b->array[i], n, rtol);
    }
}
