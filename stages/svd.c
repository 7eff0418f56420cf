/* SPDX-License-Identifier: Apache-2.0 */
/* The svd stage: A = U S V^T of a stream A [time, cells], all in float64. With anomalies this is an
 * EOF analysis: EOF i is row i of V^T (unit norm), its principal component PC i = u_i s_i (the
 * field's units), its eigenvalue s_i^2/(n - 1), its share of the variance s_i^2/trace(A A^T), of
 * all modes. Cells count alike: there is no area weight.
 *
 * The Gram matrix of the shorter side is decomposed (Sirovich's method of snapshots where that is
 * time) and the other side's vectors come by projection. A singular value s_i carries a relative
 * error of about eps (s_1/s_i)^2; those up to s_1 sqrt(max(n, p) eps) are indistinguishable from
 * zero and beyond the rank. As U S V^T = (-U) S (-V)^T, signs are chosen: the largest value of each
 * EOF is positive; of values within 1e-6 of it, the first in cell order decides.
 *
 * A cell that is missing at some step is left out and has NaN in every EOF. Equals
 * numpy.linalg.svd(A, full_matrices=False) up to signs. */
#include "stages/svd.h"

#include "stages/naming.h"
#include "stages/svd_kernels.h"

#include "core/log.h"
#include "core/memory.h"

#include <string.h>

#define DEFINE_KERNEL(kernel)                                                                      \
    static const ek_kernel kernel##_kernel = {                                                     \
        .name = "svd_" #kernel,                                                                    \
        .host = ek__svd_##kernel##_host,                                                           \
        .cuda = EK_CUDA_ENTRY(ek__svd_##kernel##_cuda),                                            \
    };

DEFINE_KERNEL(invent)
DEFINE_KERNEL(store)
DEFINE_KERNEL(mask)
DEFINE_KERNEL(gram)
DEFINE_KERNEL(measure)
DEFINE_KERNEL(eigen)
DEFINE_KERNEL(spectrum)
DEFINE_KERNEL(vectors)
DEFINE_KERNEL(project)
DEFINE_KERNEL(sign)

static const ek_kernel *const finish_kernels[] = {
    &mask_kernel,     &gram_kernel,    &measure_kernel, &eigen_kernel,
    &spectrum_kernel, &vectors_kernel, &project_kernel, &sign_kernel,
};

/* The arrays of the result, in this order. */
enum {
    OUT_EOF,
    OUT_PC,
    OUT_SINGULAR_VALUE,
    OUT_EIGENVALUE,
    OUT_VARIANCE_FRACTION,
    OUT_TOTAL_VARIANCE,
    OUT_N_CELLS_USED,
    OUT_RANK,
};

/* `shape` has the sizes only; each call adds the addresses it works with. */
typedef struct svd_priv {
    ek__svd_args shape;
    bool cuda;
} svd_priv;

/* Hands out `count` objects of `size` bytes at *at, moving it on; base NULL: only *at is wanted. */
static void *take(char *base, size_t *at, int64_t count, size_t size)
{
    void *ptr = base != NULL ? base + *at : NULL;
    *at += ek_align((size_t)count * size);
    return ptr;
}

static size_t lay_out_state(ek__svd_args *args, void *base)
{
    size_t at = 0;
    args->bad = take(base, &at, args->p, 1);
    args->a = take(base, &at, args->n * args->p, sizeof(double));
    return at;
}

static size_t lay_out_scratch(ek__svd_args *args, void *base)
{
    size_t at = 0;
    int64_t m = args->order;
    bool apart = args->solver.n_vectors < m;
    args->gram = take(base, &at, m * m, sizeof(double));
    args->values = take(base, &at, m, sizeof(double));
    args->vectors = args->gram;
    if (apart) {
        args->vectors = take(base, &at, m * args->solver.n_vectors, sizeof(double));
    }
    args->scaled = NULL;
    if (ek__svd_time(args)) {
        args->scaled = take(base, &at, args->n * args->modes, sizeof(double));
    }
    args->facts = take(base, &at, 1, sizeof(ek__svd_facts));
    args->work = take(base, &at, args->solver.work_bytes, 1);
    args->integers = take(base, &at, args->solver.integer_bytes, 1);
    return at;
}

static ek_status check_size(const ek_spec *in)
{
    const char *name = ek__spec_words(in).name;
    int64_t n = in->extent[EK_AXIS_TIME];
    int64_t p = in->extent[EK_AXIS_CELL];
    if (n < 2 || n - in->n_removed < 1) {
        return EK_FAIL(EK_EDATA, "an EOF analysis needs at least 2 time steps; '%s' has %lld", name,
                       (long long)n);
    }
    if (p < 1 || n > INT32_MAX || p > INT32_MAX) {
        return EK_FAIL(EK_ENOTSUP,
                       "'%s' has %lld time steps and %lld cells; svd takes up to %d of each", name,
                       (long long)n, (long long)p, INT32_MAX);
    }
    return EK_OK;
}

/* How many modes are planned: those asked for, of those that can be. */
static int64_t plan_modes(const ek_instance *self, const ek_spec *in)
{
    const ek_svd_options *options = self->options;
    int64_t n = in->extent[EK_AXIS_TIME];
    int64_t p = in->extent[EK_AXIS_CELL];
    int64_t most = EK_MIN(n - in->n_removed, p);
    if (options->modes > most) {
        ek_log(EK_LOG_NOTE,
               "%s: %lld modes were asked for; %lld time steps and %lld cells have at most %lld",
               self->name, (long long)options->modes, (long long)n, (long long)p, (long long)most);
    }
    return options->modes > 0 ? EK_MIN(options->modes, most) : most;
}

static ek_status choose_solver(ek_instance *self, svd_priv *priv)
{
    ek__svd_args *shape = &priv->shape;
#ifdef EK_HAVE_CUDA
    if (priv->cuda) {
        self->needs.eager = "cuSOLVER syevd cannot be captured";
        return ek__svd_solver_cuda(&shape->solver, self->backend, shape->order);
    }
#endif
    self->needs.eager = "LAPACK runs on the host";
    return ek__svd_solver_host(&shape->solver, shape->order, shape->modes);
}

static ek_array_spec *add(ek_spec *out, const char *name, int n_axes, ek_axis second,
                          const char *long_name)
{
    ek_array_spec *array = ek_spec_add(out, name, EK_F64, n_axes, EK_AXIS_MODE, second);
    ek__text_set(array->long_name, sizeof array->long_name, "%s", long_name);
    ek__text_set(array->units, sizeof array->units, "1");
    return array;
}

static void describe_arrays(ek_spec *out, const ek__words *words)
{
    const size_t units_size = sizeof out->arrays[0].units;
    const size_t comment_size = sizeof out->arrays[0].comment;
    ek_array_spec *a = add(out, "eof", 2, EK_AXIS_CELL, "empirical orthogonal functions");
    ek__text_set(a->comment, comment_size,
                 "unit norm over the cells used, no area weight; the largest value of each is "
                 "positive; missing where a cell is missing at some step");
    a = add(out, "pc", 2, EK_AXIS_TIME, "principal component time series");
    ek__text_set(a->units, units_size, "%s", words->units);
    ek__text_set(a->comment, comment_size, "projection of the field on each EOF: u times s");
    a = add(out, "singular_value", 1, EK_AXIS_CELL, "singular values");
    ek__text_set(a->units, units_size, "%s", words->units);
    a = add(out, "eigenvalue", 1, EK_AXIS_CELL, "eigenvalues of the covariance matrix");
    ek__units_squared(a->units, units_size, words->units);
    ek__text_set(a->comment, comment_size,
                 "singular value squared over N-1: variance of the mode, summed over cells");
    a = add(out, "variance_fraction", 1, EK_AXIS_CELL, "fraction of the total variance");
    ek__text_set(a->comment, comment_size, "of the variance of all modes, computed or not");
    a = add(out, "total_variance", 0, EK_AXIS_CELL, "variance of all modes, summed over cells");
    ek__units_squared(a->units, units_size, words->units);
    a = add(out, "n_cells_used", 0, EK_AXIS_CELL, "number of cells that are never missing");
    a->dtype = EK_I32;
    a = add(out, "rank", 0, EK_AXIS_CELL, "number of modes that are not zero but for rounding");
    a->dtype = EK_I32;
}

static void describe(ek_instance *self, const svd_priv *priv)
{
    const ek_spec *in = self->in[0];
    const ek__svd_args *shape = &priv->shape;
    ek_spec *out = &self->out;
    memset(out, 0, sizeof *out);
    out->kind = EK_RESULT;
    out->space = EK_SPACE_DEVICE;
    out->field = in->field;
    out->extent[EK_AXIS_TIME] = shape->n;
    out->extent[EK_AXIS_CELL] = shape->p;
    out->extent[EK_AXIS_MODE] = shape->modes;
    ek__words words = ek__spec_words(in);
    describe_arrays(out, &words);

    const char *library = "LAPACK dsyevd";
    if (priv->cuda) {
        library = "cuSOLVER syevd";
    } else if (shape->solver.n_vectors < shape->order) {
        library = "LAPACK dsytrd, dsterf, dstebz, dstein";
    }
    ek_spec_attr(out, "solver", "%s Gram float64, %s", ek__svd_time(shape) ? "time" : "space",
                 library);
    ek_spec_attr(out, "centring", "%s",
                 in->n_removed > 0 ? "the time mean of each cell is removed" : "none");
    ek_spec_attr(out, "sign_rule", "the largest value of each EOF is positive");
}

static ek_status svd_negotiate(ek_instance *self)
{
    svd_priv *priv = self->priv;
    const ek_spec *in = self->in[0];
    EK_TRY(check_size(in));
    ek__svd_args *shape = &priv->shape;
    priv->cuda = ek_backend_which(self->backend) == EK_BACKEND_CUDA;
    shape->n = in->extent[EK_AXIS_TIME];
    shape->p = in->extent[EK_AXIS_CELL];
    shape->chunk_rows = in->chunk_rows;
    shape->order = EK_MIN(shape->n, shape->p);
    shape->modes = plan_modes(self, in);
    shape->limit = shape->n - in->n_removed;
    if (in->n_removed == 0) {
        ek_log(EK_LOG_NOTE, "%s: no mean is removed from '%s'; the modes include it", self->name,
               ek__spec_words(in).name);
    }
    EK_TRY(choose_solver(self, priv));
    describe(self, priv);
    self->needs.state_bytes = lay_out_state(shape, NULL);
    self->needs.scratch_bytes = lay_out_scratch(shape, NULL);
    self->needs.status_bytes = sizeof(ek__svd_facts);
    self->needs.chunk_launches = 1;
    self->needs.finish_launches = (int)EK_COUNT(finish_kernels) + 1;
    return EK_OK;
}

static ek_status svd_begin(ek_instance *self, const ek_exec *exec)
{
    const svd_priv *priv = self->priv;
    ek__svd_args args = priv->shape;
    lay_out_state(&args, exec->state);
    return ek_queue_fill(exec->queue, args.bad, 0, (size_t)args.p);
}

static ek_status svd_submit(ek_instance *self, const ek_exec *exec, const ek_data *const *in,
                            ek_data *out)
{
    (void)out;
    const svd_priv *priv = self->priv;
    ek__svd_args args = priv->shape;
    args.in = in[0]->stream;
    lay_out_state(&args, exec->state);
    return ek_queue_launch(exec->queue, &store_kernel, &args, sizeof args);
}

/* enqueue_finish decomposes what state holds, for the sizes in `args`. */
static ek_status enqueue_finish(ek__svd_args args, const ek_exec *exec, ek_data *out)
{
    lay_out_state(&args, exec->state);
    lay_out_scratch(&args, exec->scratch);
    args.eof = out->array[OUT_EOF];
    args.pc = out->array[OUT_PC];
    args.singular_value = out->array[OUT_SINGULAR_VALUE];
    args.eigenvalue = out->array[OUT_EIGENVALUE];
    args.variance_fraction = out->array[OUT_VARIANCE_FRACTION];
    args.total_variance = out->array[OUT_TOTAL_VARIANCE];
    args.n_cells_used = out->array[OUT_N_CELLS_USED];
    args.rank = out->array[OUT_RANK];
    for (size_t i = 0; i < EK_COUNT(finish_kernels); i++) {
        EK_TRY(ek_queue_launch(exec->queue, finish_kernels[i], &args, sizeof args));
    }
    return ek_queue_copy(exec->queue, exec->status, args.facts, sizeof *args.facts);
}

/* The library kernels that a matrix of this order needs are those of larger ones too. */
#define REHEARSAL_ORDER 2048

static ek_status svd_rehearse(ek_instance *self, const ek_exec *exec, ek_data *out)
{
    const svd_priv *priv = self->priv;
    ek__svd_args args = priv->shape;
    if (args.order > REHEARSAL_ORDER) {
        int64_t order = REHEARSAL_ORDER / 2;
        args.n = ek__svd_time(&priv->shape) ? order : order + 1;
        args.p = args.order = args.limit = args.solver.n_vectors = order;
        args.modes = EK_MIN(args.modes, order);
    }
    lay_out_state(&args, exec->state);
    EK_TRY(ek_queue_fill(exec->queue, args.bad, 0, (size_t)args.p));
    EK_TRY(ek_queue_launch(exec->queue, &invent_kernel, &args, sizeof args));
    return enqueue_finish(args, exec, out);
}

static ek_status svd_finish(ek_instance *self, const ek_exec *exec, ek_data *out)
{
    const svd_priv *priv = self->priv;
    return enqueue_finish(priv->shape, exec, out);
}

static ek_status svd_collect(ek_instance *self, const ek_exec *exec, ek_data *out)
{
    const svd_priv *priv = self->priv;
    const ek__svd_facts *facts = exec->status;
    const char *name = ek__spec_words(self->in[0]).name;
    if (facts->n_used == 0) {
        return EK_FAIL(EK_EDATA,
                       "every cell of '%s' is missing at some step, so none is left to decompose; "
                       "choose a period without gaps",
                       name);
    }
    if (facts->total == 0.0) {
        return EK_FAIL(EK_EDATA, "'%s' does not vary: all its values are zero, so it has no modes",
                       name);
    }
    if (facts->info != 0) {
        return EK_FAIL_CODE(priv->cuda ? EK_ECUSOLVER : EK_ELAPACK, facts->info,
                            "the eigensolver did not converge for '%s' (info %d); look for "
                            "values that are infinite or absurdly large",
                            name, (int)facts->info);
    }
    if (facts->rank < 1) {
        return EK_FAIL(EK_EDATA,
                       "'%s' has no finite variance; look for values that are infinite or "
                       "absurdly large",
                       name);
    }
    int64_t left_out = priv->shape.p - facts->n_used;
    if (left_out > 0) {
        ek_log(EK_LOG_NOTE, "%s: %lld of %lld cells are missing at some step and are left out",
               self->name, (long long)left_out, (long long)priv->shape.p);
    }
    out->extent[EK_AXIS_MODE] = EK_MIN(priv->shape.modes, facts->rank);
    return EK_OK;
}

static void svd_fini(ek_instance *self)
{
#ifdef EK_HAVE_CUDA
    svd_priv *priv = self->priv;
    ek__svd_solver_free_cuda(&priv->shape.solver);
#else
    (void)self;
#endif
}

static const ek_option svd_options[] = {
    {.name = "modes",
     .type = EK_OPTION_INT,
     .offset = offsetof(ek_svd_options, modes),
     .fallback = "0",
     .min = 0,
     .max = INT64_MAX,
     .help = "leading modes wanted; 0: all"},
    {.name = NULL},
};

static const ek_port svd_inputs[] = {
    {"in", EK_STREAM, true, "the stream to decompose, as a rule of anomalies"},
    {NULL, 0, false, NULL},
};

const ek_stage ek_stage_svd = {
    .api = EK_STAGE_API,
    .name = "svd",
    .summary = "Decomposes a stream into its modes: an EOF analysis.",
    .flags = EK_STAGE_DEVICE | EK_STAGE_FOLD,
    .options = svd_options,
    .options_size = sizeof(ek_svd_options),
    .priv_size = sizeof(svd_priv),
    .inputs = svd_inputs,
    .negotiate = svd_negotiate,
    .rehearse = svd_rehearse,
    .begin = svd_begin,
    .submit = svd_submit,
    .finish = svd_finish,
    .collect = svd_collect,
    .fini = svd_fini,
};
