/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/svd_result.h"

#include "stages/naming.h"
#include "stages/svd_block.h"

#include "core/log.h"

#include <string.h>

static ek_array_spec *add(ek_spec *out, const char *name, int n_axes, ek_axis second,
                          const char *long_name)
{
    ek_axis first = n_axes == 1 && second == EK_AXIS_CELL ? EK_AXIS_CELL : EK_AXIS_MODE;
    ek_array_spec *array = ek_spec_add(out, name, EK_F64, n_axes, first, second);
    ek__text_set(array->long_name, sizeof array->long_name, "%s", long_name);
    ek__text_set(array->units, sizeof array->units, "1");
    return array;
}

static ek_array_spec *add_scalar(ek_spec *out, const char *name, ek_dtype dtype,
                                 const char *long_name)
{
    ek_array_spec *array = add(out, name, 0, EK_AXIS_MODE, long_name);
    array->dtype = dtype;
    return array;
}

static void comment(ek_array_spec *array, const char *text)
{
    ek__text_set(array->comment, sizeof array->comment, "%s", text);
}

static void describe_modes(ek_spec *out, const ek__words *words)
{
    const size_t units_size = sizeof out->arrays[0].units;
    ek_array_spec *a = add(out, "eof", 2, EK_AXIS_CELL, "empirical orthogonal functions");
    comment(a, "unit norm over the cells used, no area weight; the largest value of each is "
               "positive; missing where a cell is missing at some step");
    a = add(out, "pc", 2, EK_AXIS_TIME, "principal component time series");
    ek__text_set(a->units, units_size, "%s", words->units);
    comment(a, "projection of the field on each EOF: u times s");
    a = add(out, "singular_value", 1, EK_AXIS_MODE, "singular values");
    ek__text_set(a->units, units_size, "%s", words->units);
    a = add(out, "eigenvalue", 1, EK_AXIS_MODE, "eigenvalues of the covariance matrix");
    ek__units_squared(a->units, units_size, words->units);
    comment(a, "singular value squared over N-1: variance of the mode, summed over cells");
    a = add(out, "variance_fraction", 1, EK_AXIS_MODE, "fraction of the total variance");
    comment(a, "of the variance of all modes, computed or not");
}

static void describe_facts(ek_spec *out, const ek__words *words, const ek__svd_args *shape)
{
    const size_t units_size = sizeof out->arrays[0].units;
    bool leading = shape->solver.kind == EK_SVD_CHEBYSHEV;
    ek_array_spec *a =
        add_scalar(out, "total_variance", EK_F64, "variance of all modes, summed over cells");
    ek__units_squared(a->units, units_size, words->units);
    add_scalar(out, "n_cells_used", EK_I32, "number of cells that are never missing");
    a = add_scalar(out, "rank", EK_I32, "number of modes that are not zero but for rounding");
    if (leading) {
        comment(a, "of the leading modes; the others were not computed");
    }
    add_scalar(out, "orthogonality_error", EK_F64, "largest entry of V^T V - I");
    if (leading) {
        a = add_scalar(out, "residual", EK_F64, "largest residual of the modes");
        comment(a, "norm of C v - lambda v over the largest lambda, C the Gram matrix, v a unit "
                   "vector");
        add_scalar(out, "n_multiplies", EK_I32, "products of the Gram matrix with a block");
    }
    if (shape->centred != 0) {
        a = add(out, "mean", 1, EK_AXIS_CELL, "mean that was removed");
        ek__text_set(a->units, units_size, "%s", words->units);
        ek__text_set(a->cell_methods, sizeof a->cell_methods, "time: mean");
    }
}

void ek__svd_describe(ek_instance *self, const ek__svd_args *shape, bool cuda)
{
    const ek_spec *in = self->in[0];
    ek_spec *out = &self->out;
    memset(out, 0, sizeof *out);
    out->kind = EK_RESULT;
    out->space = EK_SPACE_DEVICE;
    out->field = in->field;
    out->extent[EK_AXIS_TIME] = shape->n;
    out->extent[EK_AXIS_CELL] = shape->p;
    out->extent[EK_AXIS_MODE] = shape->modes;
    ek__words words = ek__spec_words(in);
    describe_modes(out, &words);
    describe_facts(out, &words, shape);
    ek_spec_attr(out, "solver", "%s Gram float64, %s", ek__svd_time(shape) ? "time" : "space",
                 ek__svd_library(shape, cuda));
    ek_spec_attr(out, "centring", "%s",
                 in->n_removed > 0 || shape->centred != 0 ? "the time mean of each cell is removed"
                                                          : "none");
    ek_spec_attr(out, "sign_rule", "the largest value of each EOF is positive");
}

static void *array(const ek_data *out, const char *name)
{
    int i = ek_spec_array(out->spec, name);
    return i >= 0 ? out->array[i] : NULL;
}

void ek__svd_place(ek__svd_args *args, const ek_data *out)
{
    args->eof = array(out, "eof");
    args->pc = array(out, "pc");
    args->singular_value = array(out, "singular_value");
    args->eigenvalue = array(out, "eigenvalue");
    args->variance_fraction = array(out, "variance_fraction");
    args->total_variance = array(out, "total_variance");
    args->n_cells_used = array(out, "n_cells_used");
    args->rank = array(out, "rank");
    args->orthogonality = array(out, "orthogonality_error");
    args->residual = array(out, "residual");
    args->n_multiplies = array(out, "n_multiplies");
    args->mean_out = array(out, "mean");
}

/* What the solver has to say where it failed. */
static ek_status blame(const ek__svd_args *shape, const ek__svd_facts *facts, const char *name,
                       bool cuda)
{
    if (shape->solver.kind == EK_SVD_CHEBYSHEV && isfinite(facts->residual)) {
        return EK_FAIL(EK_EDATA,
                       "the %lld leading modes of '%s' did not converge: after %d products the "
                       "residual is %.2g, not %.2g; use solver=syevd",
                       (long long)shape->modes, name, (int)facts->multiplies, facts->residual,
                       ek__svd_tolerance(shape->order));
    }
    return EK_FAIL_CODE(cuda ? EK_ECUSOLVER : EK_ELAPACK, facts->info,
                        "the eigensolver did not converge for '%s' (info %d); look for "
                        "values that are infinite or absurdly large",
                        name, (int)facts->info);
}

ek_status ek__svd_judge(const ek_instance *self, const ek__svd_args *shape,
                        const ek__svd_facts *facts, bool cuda)
{
    const char *name = ek__spec_words(self->in[0]).name;
    if (facts->n_used == 0) {
        return EK_FAIL(EK_EDATA,
                       "every cell of '%s' is missing at some step, so none is left to decompose; "
                       "choose a period without gaps",
                       name);
    }
    if (facts->total == 0.0) {
        return EK_FAIL(EK_EDATA, "'%s' does not vary: all its values are %s, so it has no modes",
                       name, shape->centred != 0 ? "constant in time" : "zero");
    }
    if (facts->info != 0) {
        return blame(shape, facts, name, cuda);
    }
    if (facts->rank < 1) {
        return EK_FAIL(EK_EDATA,
                       "'%s' has no finite variance; look for values that are infinite or "
                       "absurdly large",
                       name);
    }
    int64_t left_out = shape->p - facts->n_used;
    if (left_out > 0) {
        ek_log(EK_LOG_NOTE, "%s: %lld of %lld cells are missing at some step and are left out",
               self->name, (long long)left_out, (long long)shape->p);
    }
    return EK_OK;
}
