/* SPDX-License-Identifier: Apache-2.0 */
/* The svd stage: A = U S V^T of a stream A [time, cells], all in float64. With anomalies this is an
 * EOF analysis: EOF i is row i of V^T (unit norm), its principal component PC i = u_i s_i (the
 * field's units), its eigenvalue s_i^2/(n - 1), its share of the variance s_i^2/trace(A A^T), of
 * all modes. Cells count alike: there is no area weight. With centring=mean the mean of each cell
 * over time is taken from it here, so that a stream of values will do.
 *
 * The Gram matrix of the shorter side is decomposed (Sirovich's method of snapshots where that is
 * time) and the other side's vectors come by projection, where that is time from a second sweep:
 * all modes by syevd, a few of many by the filtered iteration of svd_block.h. A singular value s_i
 * carries a relative error of about eps (s_1/s_i)^2; those up to s_1 sqrt(max(n, p) eps) are
 * indistinguishable from zero and beyond the rank. As U S V^T = (-U) S (-V)^T, signs are chosen:
 * the largest value of each EOF is positive; of values within 1e-6 of it, the first in cell order
 * decides.
 *
 * A cell that is missing at some step is left out and has NaN in every EOF. Equals
 * numpy.linalg.svd(A, full_matrices=False) up to signs. */
#include "stages/svd.h"

#include "stages/naming.h"
#include "stages/svd_block.h"
#include "stages/svd_result.h"

#include "core/log.h"
#include "core/memory.h"

#define DEFINE_KERNEL(kernel)                                                                      \
    static const ek_kernel kernel##_kernel = {                                                     \
        .name = "svd_" #kernel,                                                                    \
        .host = ek__svd_##kernel##_host,                                                           \
        .cuda = EK_CUDA_ENTRY(ek__svd_##kernel##_cuda),                                            \
    };
EK__SVD_KERNELS(DEFINE_KERNEL)

/* What finish runs, in this order; `mirror` for chebyshev only. */
static const ek_kernel *const time_kernels[] = {
    &center_kernel, &gram_kernel,     &mirror_kernel,   &measure_kernel,
    &eigen_kernel,  &spectrum_kernel, &vectors_kernel,  &project_kernel,
    &sign_kernel,   &overlap_kernel,  &conclude_kernel,
};
static const ek_kernel *const space_kernels[] = {
    &correct_kernel, &mirror_kernel, &measure_kernel, &eigen_kernel,    &spectrum_kernel,
    &vectors_kernel, &sign_kernel,   &overlap_kernel, &conclude_kernel,
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
    args->mean = take(base, &at, args->p, sizeof(double));
    if (ek__svd_time(args)) {
        args->a = take(base, &at, args->n * args->p, sizeof(double));
        return at;
    }
    args->first = take(base, &at, args->p, sizeof(double));
    args->sums = take(base, &at, args->p, sizeof(double));
    args->basis = take(base, &at, args->modes * args->p, sizeof(double));
    args->offset = take(base, &at, args->modes, sizeof(double));
    args->unit = take(base, &at, 1, sizeof(ek__svd_unit));
    args->gram = take(base, &at, args->p * args->p, sizeof(double));
    return at;
}

/* Scratch of a submit where n > p. */
static size_t lay_out_chunk(ek__svd_args *args, void *base)
{
    size_t at = 0;
    args->a = take(base, &at, args->chunk_rows * args->p, sizeof(double));
    args->part = take(base, &at, args->chunk_rows * args->modes, sizeof(double));
    return at;
}

/* Scratch of finish. */
static size_t lay_out_scratch(ek__svd_args *args, void *base)
{
    size_t at = 0;
    int64_t m = args->order;
    if (ek__svd_time(args)) {
        args->gram = take(base, &at, m * m, sizeof(double));
    }
    args->values = take(base, &at, args->solver.n_values, sizeof(double));
    args->vectors = args->gram;
    if (args->solver.kind != EK_SVD_CHEBYSHEV && args->solver.n_vectors < m) {
        args->vectors = take(base, &at, m * args->solver.n_vectors, sizeof(double));
    }
    args->scaled = NULL;
    if (ek__svd_time(args)) {
        args->scaled = take(base, &at, args->n * args->modes, sizeof(double));
    }
    args->facts = take(base, &at, 1, sizeof(ek__svd_facts));
    args->work = take(base, &at, args->solver.work_bytes, 1);
    args->integers = take(base, &at, args->solver.integer_bytes, 1);
    if (args->solver.kind == EK_SVD_CHEBYSHEV) {
        ek__svd_block_lay_out(&args->solver.block, m, args->work);
        args->vectors = args->solver.block.q;
    }
    return at;
}

static int removed(const ek_instance *self)
{
    const ek_svd_options *options = self->options;
    return EK_MAX(self->in[0]->n_removed, options->centring == EK_SVD_CENTRING_MEAN ? 1 : 0);
}

static ek_status check_size(const ek_instance *self)
{
    const ek_spec *in = self->in[0];
    const char *name = ek__spec_words(in).name;
    int64_t n = in->extent[EK_AXIS_TIME];
    int64_t p = in->extent[EK_AXIS_CELL];
    if (n < 2 || n - removed(self) < 1) {
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
    int64_t most = EK_MIN(n - removed(self), p);
    if (options->modes > most) {
        ek_log(EK_LOG_NOTE,
               "%s: %lld modes were asked for; %lld time steps and %lld cells have at most %lld",
               self->name, (long long)options->modes, (long long)n, (long long)p, (long long)most);
    }
    return options->modes > 0 ? EK_MIN(options->modes, most) : most;
}

/* few says whether `modes` leading modes are few enough of all for the filtered iteration: its
 * some dozen products with a block then cost less than a tridiagonalisation. */
static bool few(int64_t order, int64_t modes)
{
    int64_t size = ek__svd_block_size(order, modes);
    return 8 * size <= order && size <= EK__SVD_BLOCK_MAX;
}

static ek_status choose_solver(ek_instance *self, svd_priv *priv)
{
    const ek_svd_options *options = self->options;
    ek__svd_args *shape = &priv->shape;
    shape->solver.kind = options->solver;
    if (options->solver == EK_SVD_AUTO) {
        shape->solver.kind = few(shape->order, shape->modes) ? EK_SVD_CHEBYSHEV : EK_SVD_SYEVD;
    }
    if (shape->solver.kind == EK_SVD_CHEBYSHEV &&
        ek__svd_block_size(shape->order, shape->modes) > EK__SVD_BLOCK_MAX) {
        return EK_FAIL(EK_ENOTSUP,
                       "solver=chebyshev takes up to %d modes; here they are %lld: say how many "
                       "you want with modes, or use solver=syevd",
                       EK__SVD_BLOCK_MAX / 2, (long long)shape->modes);
    }
#ifdef EK_HAVE_CUDA
    if (priv->cuda) {
        self->needs.eager = "the solver's length depends on the data";
        return ek__svd_solver_cuda(shape, self->backend);
    }
#endif
    self->needs.eager = "LAPACK runs on the host";
    return ek__svd_solver_host(shape);
}

static void state_needs(ek_instance *self, ek__svd_args *shape)
{
    ek_needs *needs = &self->needs;
    bool time = ek__svd_time(shape);
    int kernels = (int)(time ? EK_COUNT(time_kernels) : EK_COUNT(space_kernels));
    bool mirrored = shape->solver.kind == EK_SVD_CHEBYSHEV;
    needs->state_bytes = lay_out_state(shape, NULL);
    needs->scratch_bytes = lay_out_scratch(shape, NULL);
    needs->status_bytes = sizeof(ek__svd_facts);
    needs->chunk_launches = time ? 1 : 2;
    needs->finish_launches = kernels - (mirrored ? 0 : 1) + 1; /* and a copy of the facts */
    if (!time) {
        needs->scratch_bytes = EK_MAX(needs->scratch_bytes, lay_out_chunk(shape, NULL));
        needs->sweeps = 2;
        needs->later[0].chunk_launches = 3;
    }
}

static ek_status svd_negotiate(ek_instance *self)
{
    svd_priv *priv = self->priv;
    const ek_svd_options *options = self->options;
    const ek_spec *in = self->in[0];
    EK_TRY(check_size(self));
    ek__svd_args *shape = &priv->shape;
    priv->cuda = ek_backend_which(self->backend) == EK_BACKEND_CUDA;
    shape->n = in->extent[EK_AXIS_TIME];
    shape->p = in->extent[EK_AXIS_CELL];
    shape->chunk_rows = in->chunk_rows;
    shape->order = EK_MIN(shape->n, shape->p);
    shape->modes = plan_modes(self, in);
    shape->centred = options->centring == EK_SVD_CENTRING_MEAN ? 1 : 0;
    shape->limit = shape->n - removed(self);
    if (removed(self) == 0) {
        ek_log(EK_LOG_NOTE, "%s: no mean is removed from '%s'; the modes include it", self->name,
               ek__spec_words(in).name);
    }
    EK_TRY(choose_solver(self, priv));
    ek__svd_describe(self, shape, priv->cuda);
    state_needs(self, shape);
    return EK_OK;
}

/* reset forgets what was accumulated. */
static ek_status reset(const ek__svd_args *args, ek_queue *queue)
{
    EK_TRY(ek_queue_fill(queue, args->bad, 0, (size_t)args->p));
    if (ek__svd_time(args)) {
        return EK_OK;
    }
    size_t row = (size_t)args->p * sizeof(double);
    EK_TRY(ek_queue_fill(queue, args->sums, 0, row));
    return ek_queue_fill(queue, args->gram, 0, row * (size_t)args->p);
}

static ek_status svd_begin(ek_instance *self, const ek_exec *exec)
{
    const svd_priv *priv = self->priv;
    ek__svd_args args = priv->shape;
    lay_out_state(&args, exec->state);
    return exec->sweep == 0 ? reset(&args, exec->queue) : EK_OK;
}

static ek_status svd_submit(ek_instance *self, const ek_exec *exec, const ek_data *const *in,
                            ek_data *out)
{
    const svd_priv *priv = self->priv;
    ek__svd_args args = priv->shape;
    args.in = in[0]->stream;
    args.sweep = exec->sweep;
    lay_out_state(&args, exec->state);
    if (ek__svd_time(&args)) {
        return ek_queue_launch(exec->queue, &store_kernel, &args, sizeof args);
    }
    lay_out_chunk(&args, exec->scratch);
    ek__svd_place(&args, out);
    EK_TRY(ek_queue_launch(exec->queue, &deviate_kernel, &args, sizeof args));
    if (exec->sweep == 0) {
        return ek_queue_launch(exec->queue, &fold_kernel, &args, sizeof args);
    }
    EK_TRY(ek_queue_launch(exec->queue, &part_kernel, &args, sizeof args));
    return ek_queue_launch(exec->queue, &place_kernel, &args, sizeof args);
}

/* enqueue_finish decomposes what state holds, for the sizes in `args`. */
static ek_status enqueue_finish(ek__svd_args args, const ek_exec *exec, ek_data *out)
{
    bool time = ek__svd_time(&args);
    const ek_kernel *const *kernels = time ? time_kernels : space_kernels;
    size_t n = time ? EK_COUNT(time_kernels) : EK_COUNT(space_kernels);
    lay_out_state(&args, exec->state);
    lay_out_scratch(&args, exec->scratch);
    ek__svd_place(&args, out);
    for (size_t i = 0; i < n; i++) {
        if (kernels[i] != &mirror_kernel || args.solver.kind == EK_SVD_CHEBYSHEV) {
            EK_TRY(ek_queue_launch(exec->queue, kernels[i], &args, sizeof args));
        }
    }
    return ek_queue_copy(exec->queue, exec->status, args.facts, sizeof *args.facts);
}

/* The library kernels that a matrix of this order needs are those of larger ones too. */
#define REHEARSAL_ORDER 2048

static ek_status svd_rehearse(ek_instance *self, const ek_exec *exec, ek_data *out)
{
    const svd_priv *priv = self->priv;
    ek__svd_args args = priv->shape;
    if (exec->sweep > 0) {
        return EK_OK;
    }
    if (args.order > REHEARSAL_ORDER) {
        int64_t order = REHEARSAL_ORDER / 2;
        args.n = ek__svd_time(&priv->shape) ? order : order + 1;
        args.p = args.order = args.limit = order;
        args.modes = EK_MIN(args.modes, order);
        if (args.solver.kind != EK_SVD_CHEBYSHEV) {
            args.solver.n_values = args.solver.n_vectors = order;
        }
    }
    lay_out_state(&args, exec->state);
    EK_TRY(reset(&args, exec->queue));
    EK_TRY(ek_queue_launch(exec->queue, &invent_kernel, &args, sizeof args));
    return enqueue_finish(args, exec, out);
}

static ek_status svd_finish(ek_instance *self, const ek_exec *exec, ek_data *out)
{
    const svd_priv *priv = self->priv;
    if (exec->sweep > 0) {
        return EK_OK; /* the PCs are in place */
    }
    return enqueue_finish(priv->shape, exec, out);
}

static ek_status svd_collect(ek_instance *self, const ek_exec *exec, ek_data *out)
{
    const svd_priv *priv = self->priv;
    const ek__svd_facts *facts = exec->status;
    if (exec->sweep > 0) {
        return EK_OK;
    }
    EK_TRY(ek__svd_judge(self, &priv->shape, facts, priv->cuda));
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

static const ek_choice solvers[] = {
    {"auto", EK_SVD_AUTO, "chebyshev where the modes wanted are few of many, else syevd"},
    {"syevd", EK_SVD_SYEVD, "all eigenvalues of the Gram matrix"},
    {"chebyshev", EK_SVD_CHEBYSHEV, "leading eigenpairs of the Gram matrix, iterated"},
    {NULL, 0, NULL},
};

static const ek_choice centrings[] = {
    {"none", EK_SVD_CENTRING_NONE, "values are taken as they come"},
    {"mean", EK_SVD_CENTRING_MEAN, "the mean of each cell over time is removed"},
    {NULL, 0, NULL},
};

static const ek_option svd_options[] = {
    {.name = "modes",
     .type = EK_OPTION_INT,
     .offset = offsetof(ek_svd_options, modes),
     .fallback = "0",
     .min = 0,
     .max = INT64_MAX,
     .help = "leading modes wanted; 0: all"},
    {.name = "solver",
     .type = EK_OPTION_ENUM,
     .offset = offsetof(ek_svd_options, solver),
     .fallback = "auto",
     .choices = solvers,
     .help = "how the modes are found"},
    {.name = "centring",
     .type = EK_OPTION_ENUM,
     .offset = offsetof(ek_svd_options, centring),
     .fallback = "none",
     .choices = centrings,
     .help = "what is removed from each cell first"},
    {.name = NULL},
};

static const ek_port svd_inputs[] = {
    {"in", EK_STREAM, true, "the stream to decompose: anomalies, or values with centring"},
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
