/* SPDX-License-Identifier: Apache-2.0 */
/* The filtered block iteration's workspace, and the iteration on the host. The block is made
 * orthonormal by Householder reflections, which take any Y. */
#include "stages/svd_block.h"

#include "core/memory.h"

#include <cblas.h>
#include <lapacke.h>
#include <string.h>

/* Hands out `count` objects of `size` bytes, moving *at on; base NULL: only *at is wanted. */
static void *take(char *base, size_t *at, int64_t count, size_t size)
{
    void *ptr = base != NULL ? base + *at : NULL;
    *at += ek_align((size_t)count * size);
    return ptr;
}

#define NORM_SIZE 4 /* times the block's size: residuals, and 3 for dsyev or dgeqrf */

int64_t ek__svd_block_lay_out(ek__svd_block *block, int64_t order, void *work)
{
    size_t at = 0;
    int64_t l = block->size;
    block->q = take(work, &at, order * l, sizeof(double));
    block->z = take(work, &at, order * l, sizeof(double));
    block->y = take(work, &at, order * l, sizeof(double));
    block->last = take(work, &at, order * l, sizeof(double));
    block->small = take(work, &at, l * l, sizeof(double));
    block->rotation = take(work, &at, l * l, sizeof(double));
    block->norm = take(work, &at, NORM_SIZE * l, sizeof(double));
    block->dependent = take(work, &at, l, sizeof(int32_t));
    block->control = take(work, &at, 1, sizeof(ek__svd_control));
    return (int64_t)at;
}

/* out = C in. */
static void multiply(const ek__svd_args *args, const double *in, double *out)
{
    int m = (int)args->order, l = (int)args->solver.block.size;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, l, m, 1.0, args->gram, m, in, m, 0.0,
                out, m);
    args->solver.block.control->multiplies++;
}

/* Makes the columns of y orthonormal; `last` is free for LAPACK to work in. */
static lapack_int orthonormalise(const ek__svd_args *args)
{
    const ek__svd_block *b = &args->solver.block;
    lapack_int m = (lapack_int)args->order, l = (lapack_int)b->size;
    int64_t room = EK_MIN((int64_t)m * l, (int64_t)INT32_MAX);
    lapack_int info =
        LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, m, l, b->y, m, b->norm, b->last, (lapack_int)room);
    if (info != 0) {
        return info;
    }
    return LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, m, l, l, b->y, m, b->norm, b->last,
                               (lapack_int)room);
}

/* The small problem: theta into args->values and W into `rotation`, largest first. */
static lapack_int solve_small(const ek__svd_args *args)
{
    const ek__svd_block *b = &args->solver.block;
    lapack_int l = (lapack_int)b->size;
    lapack_int info = LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'L', l, b->small, l, b->norm,
                                         b->norm + l, (NORM_SIZE - 1) * l);
    for (lapack_int i = 0; i < l; i++) {
        args->values[i] = b->norm[l - 1 - i];
        memcpy(b->rotation + (int64_t)i * l, b->small + (int64_t)(l - 1 - i) * l,
               (size_t)l * sizeof(double));
    }
    return info;
}

/* From an orthonormal y: Ritz values, q and z = C q. */
static lapack_int rotate(const ek__svd_args *args)
{
    const ek__svd_block *b = &args->solver.block;
    int m = (int)args->order, l = (int)b->size;
    multiply(args, b->y, b->last);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, l, l, m, 1.0, b->y, m, b->last, m, 0.0,
                b->small, l);
    lapack_int info = solve_small(args);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, l, l, 1.0, b->y, m, b->rotation, l,
                0.0, b->q, m);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, l, l, 1.0, b->last, m, b->rotation, l,
                0.0, b->z, m);
    return info;
}

static double largest_residual(const ek__svd_args *args)
{
    const ek__svd_block *b = &args->solver.block;
    double largest = 0.0;
    for (int64_t i = 0; i < args->modes; i++) {
        double squares = 0.0;
        for (int64_t j = i * args->order; j < (i + 1) * args->order; j++) {
            double r = b->z[j] - args->values[i] * b->q[j];
            squares += r * r;
        }
        largest = squares <= largest ? largest : squares; /* keeps NaN */
    }
    return sqrt(largest);
}

/* y = T_d((C - c)/c) q by the three-term recurrence, from z = C q. */
static void filter(const ek__svd_args *args)
{
    const ek__svd_block *b = &args->solver.block;
    double inverse = 1.0 / b->control->center;
    int64_t count = args->order * b->size;
    for (int64_t i = 0; i < count; i++) {
        b->last[i] = b->q[i];
        b->y[i] = b->z[i] * inverse - b->q[i];
    }
    for (; b->control->step > 0; b->control->step--) {
        multiply(args, b->y, b->z);
        for (int64_t i = 0; i < count; i++) {
            double next = 2.0 * (b->z[i] * inverse - b->y[i]) - b->last[i];
            b->last[i] = b->y[i];
            b->y[i] = next;
        }
    }
}

ek_status ek__svd_iterate_host(const ek__svd_args *args)
{
    const ek__svd_block *b = &args->solver.block;
    ek__svd_control *control = b->control;
    *control = (ek__svd_control){.running = 1};
    for (int64_t i = 0; i < args->order * b->size; i++) {
        b->y[i] = ek__svd_invented(i);
    }
    lapack_int info = 0;
    while (info == 0 && control->running != 0) {
        info = orthonormalise(args);
        info = info == 0 ? rotate(args) : info;
        ek__svd_steer(control, args->values[0], args->values[b->size - 1], largest_residual(args),
                      args->order);
        if (control->running != 0) {
            filter(args);
        }
    }
    args->facts->info = info != 0 ? (int32_t)info : 1 - control->converged;
    args->facts->residual = control->residual;
    args->facts->multiplies = control->multiplies;
    return EK_OK;
}
