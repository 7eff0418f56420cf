/* SPDX-License-Identifier: Apache-2.0 */
/* The svd stage's BLAS and LAPACK calls on the host. All modes come from dsyevd; a few of many from
 * the parts that dsyevr is made of, which leave all eigenvalues behind, so that the rank is known.
 */
#include "stages/svd_block.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>

/* 32-bit LAPACK counts its work, some 2 m^2, in an int. */
#define ORDER_MAX 32000

/* Up to a quarter of the modes, bisection and inverse iteration cost less than all vectors. */
static bool few(int64_t order, int64_t modes)
{
    return modes <= order / 4;
}

static ek_status check(lapack_int info, const char *routine)
{
    if (info == 0) {
        return EK_OK;
    }
    return EK_FAIL_CODE(EK_ELAPACK, (int)info, "LAPACK %s refused its workspace query (info %d)",
                        routine, (int)info);
}

/* Where the few-modes path keeps things within args->work and args->integers. */
typedef struct few_layout {
    double *d, *e, *tau, *copy, *leading, *work;
    lapack_int *block, *split, *fail, *integers;
} few_layout;

#define FEW_VECTORS  5 /* of `order` doubles before `work` */
#define FEW_INTEGERS 6 /* of `order` integers: 3 and dstebz's 3 */

static few_layout lay_out(const ek__svd_args *args)
{
    int64_t m = args->order;
    double *d = args->work;
    lapack_int *i = args->integers;
    return (few_layout){
        d, d + m, d + 2 * m, d + 3 * m, d + 4 * m, d + FEW_VECTORS * m,
        i, i + m, i + 2 * m, i + 3 * m,
    };
}

static ek_status plan_few(ek__svd_solver *solver, lapack_int m, lapack_int k)
{
    double reduce = 0.0, apply = 0.0, dummy = 0.0;
    EK_TRY(check(LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'L', m, &dummy, m, &dummy, &dummy, &dummy,
                                     &reduce, -1),
                 "dsytrd"));
    EK_TRY(check(LAPACKE_dormtr_work(LAPACK_COL_MAJOR, 'L', 'L', 'N', m, k, &dummy, m, &dummy,
                                     &dummy, m, &apply, -1),
                 "dormtr"));
    int64_t work = EK_MAX(EK_MAX((int64_t)reduce, (int64_t)apply), 5 * (int64_t)m);
    solver->work_bytes = (FEW_VECTORS * (int64_t)m + work) * (int64_t)sizeof(double);
    solver->integer_bytes = FEW_INTEGERS * (int64_t)m * (int64_t)sizeof(lapack_int);
    solver->n_vectors = k;
    return EK_OK;
}

static ek_status plan_all(ek__svd_solver *solver, lapack_int m)
{
    double work = 0.0, dummy = 0.0;
    lapack_int integers = 0;
    EK_TRY(check(LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', m, &dummy, m, &dummy, &work, -1,
                                     &integers, -1),
                 "dsyevd"));
    solver->work_bytes = (int64_t)work * (int64_t)sizeof(double);
    solver->integer_bytes = integers * (int64_t)sizeof(lapack_int);
    solver->n_vectors = m;
    return EK_OK;
}

/* The filtered iteration's block lives in `work`. */
static ek_status plan_block(ek__svd_args *args)
{
    ek__svd_solver *solver = &args->solver;
    solver->descending = 1;
    solver->block.size = ek__svd_block_size(args->order, args->modes);
    solver->n_values = solver->n_vectors = solver->block.size;
    solver->work_bytes = ek__svd_block_lay_out(&solver->block, args->order, NULL);
    return EK_OK;
}

ek_status ek__svd_solver_host(ek__svd_args *args)
{
    int64_t m = args->order;
    if (m > ORDER_MAX) {
        return EK_FAIL(EK_ENOTSUP,
                       "the host backend decomposes up to %d time steps or cells, whichever are "
                       "fewer; here they are %lld",
                       ORDER_MAX, (long long)m);
    }
    if (args->solver.kind == EK_SVD_CHEBYSHEV) {
        return plan_block(args);
    }
    args->solver.n_values = m;
    if (few(m, args->modes)) {
        return plan_few(&args->solver, (lapack_int)m, (lapack_int)args->modes);
    }
    return plan_all(&args->solver, (lapack_int)m);
}

const char *ek__svd_library(const ek__svd_args *args, bool cuda)
{
    if (args->solver.kind == EK_SVD_CHEBYSHEV) {
        return "Chebyshev-filtered block iteration";
    }
    if (cuda) {
        return "cuSOLVER syevd";
    }
    return args->solver.n_vectors < args->order ? "LAPACK dsytrd, dsterf, dstebz, dstein"
                                                : "LAPACK dsyevd";
}

ek_status ek__svd_gram_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    int n = (int)args->n, p = (int)args->p;
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, n, p, 1.0, args->a, p, 0.0, args->gram, n);
    return EK_OK;
}

/* The largest entry of V^T V - I: how far the EOFs within the rank are from orthonormal. */
ek_status ek__svd_overlap_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    int64_t k = EK_MIN(args->modes, args->facts->rank);
    double largest = 0.0;
    if (k > 0) {
        cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)k, (int)args->p, 1.0, args->eof,
                    (int)args->p, 0.0, args->gram, (int)k);
    }
    for (int64_t i = 0; i < k; i++) {
        for (int64_t j = i; j < k; j++) {
            double off = fabs(args->gram[i * k + j] - (i == j ? 1.0 : 0.0));
            largest = off <= largest ? largest : off;
        }
    }
    args->facts->overlap = largest;
    return EK_OK;
}

/* Sorts the leading eigenpairs, which dstein leaves block by block, in ascending order. */
static void sort_pairs(double *values, double *vectors, int m, int k)
{
    for (int i = 0; i < k; i++) {
        int least = i;
        for (int j = i + 1; j < k; j++) {
            least = values[j] < values[least] ? j : least;
        }
        if (least != i) {
            double value = values[i];
            values[i] = values[least];
            values[least] = value;
            cblas_dswap(m, vectors + (int64_t)i * m, 1, vectors + (int64_t)least * m, 1);
        }
    }
}

/* The k leading vectors of the tridiagonal matrix (d, e), brought back by the reflectors. */
static lapack_int few_vectors(const ek__svd_args *args, const few_layout *at, lapack_int work)
{
    lapack_int m = (lapack_int)args->order, k = (lapack_int)args->solver.n_vectors;
    lapack_int found = 0, n_split = 0;
    lapack_int info = LAPACKE_dstebz_work('I', 'B', m, 0.0, 0.0, m - k + 1, m, 2.0 * DBL_MIN, at->d,
                                          at->e, &found, &n_split, at->leading, at->block,
                                          at->split, at->work, at->integers);
    if (info != 0 || found != k) {
        return info != 0 ? info : 1;
    }
    info = LAPACKE_dstein_work(LAPACK_COL_MAJOR, m, at->d, at->e, k, at->leading, at->block,
                               at->split, args->vectors, m, at->work, at->integers, at->fail);
    if (info != 0) {
        return info;
    }
    sort_pairs(at->leading, args->vectors, m, k);
    return LAPACKE_dormtr_work(LAPACK_COL_MAJOR, 'L', 'L', 'N', m, k, args->gram, m, at->tau,
                               args->vectors, m, at->work, work);
}

static lapack_int solve_few(const ek__svd_args *args)
{
    few_layout at = lay_out(args);
    lapack_int m = (lapack_int)args->order;
    int64_t doubles = args->solver.work_bytes / (int64_t)sizeof(double);
    lapack_int work = (lapack_int)(doubles - FEW_VECTORS * args->order);
    lapack_int info = LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'L', m, args->gram, m, at.d, at.e,
                                          at.tau, at.work, work);
    if (info != 0) {
        return info;
    }
    cblas_dcopy(m, at.d, 1, args->values, 1);
    cblas_dcopy(m - 1, at.e, 1, at.copy, 1);
    info = LAPACKE_dsterf_work(m, args->values, at.copy);
    return info != 0 ? info : few_vectors(args, &at, work);
}

ek_status ek__svd_eigen_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    lapack_int m = (lapack_int)args->order;
    lapack_int info = 0;
    args->facts->residual = (double)NAN;
    args->facts->multiplies = 0;
    if (args->solver.kind == EK_SVD_CHEBYSHEV) {
        return ek__svd_iterate_host(args);
    }
    if (args->solver.n_vectors < args->order) {
        info = solve_few(args);
    } else {
        info = LAPACKE_dsyevd_work(
            LAPACK_COL_MAJOR, 'V', 'L', m, args->gram, m, args->values, args->work,
            (lapack_int)(args->solver.work_bytes / (int64_t)sizeof(double)), args->integers,
            (lapack_int)(args->solver.integer_bytes / (int64_t)sizeof(lapack_int)));
    }
    args->facts->info = (int32_t)info;
    return EK_OK;
}

/* EOF^T = A^T (u/s). */
ek_status ek__svd_project_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    int n = (int)args->n, p = (int)args->p, k = (int)args->modes;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, p, k, n, 1.0, args->a, p, args->scaled,
                n, 0.0, args->eof, p);
    return EK_OK;
}
