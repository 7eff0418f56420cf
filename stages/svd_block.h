/* SPDX-License-Identifier: Apache-2.0 */
/* The leading eigenpairs of a Gram matrix C by Chebyshev-filtered block iteration with Ritz
 * rotation: what host and CUDA share. Private to stages/.
 *
 * A block Q of l = max(2 k, k + 22) columns starts at random. Each round filters it, Y = T_d((C -
 * c)/c) Q, with [0, 2c] = [0, theta_l] the part of the spectrum to damp; makes Y orthonormal; and
 * solves the small problem (Y^T C Y) W = W diag(theta), Q = Y W (Rayleigh-Ritz). The product C Q
 * that this needs is also the next filter's first, so that a round of degree d costs d products.
 * The degree is the largest, from 2 to 20, for which the filter grows by no more than 1e8 at
 * theta_1: the columns then stay independent. The first k pairs are done when each |C q - theta q|
 * is at most ek__svd_tolerance times theta_1. It bounds the error of an eigenvalue, and over its
 * gap that of the vector's angle.
 *
 * Sources: Zhou, Saad, Tiago and Chelikowsky, J. Comput. Phys. 219 (2006) 172; Saad, Numerical
 * Methods for Large Eigenvalue Problems (2011), 5.2 and 7.4. */
#ifndef EK_STAGES_SVD_BLOCK_H
#define EK_STAGES_SVD_BLOCK_H

#include "stages/svd_kernels.h"

EK_BEGIN_DECLS

#define EK__SVD_BLOCK_MAX      160  /* columns: what one thread block can solve in good time */
#define EK__SVD_MULTIPLIES_MAX 3000 /* beyond this the iteration has failed */
#define EK__SVD_EPS            2.220446049250313e-16

/* ek__svd_block_size returns the columns for k modes. */
static inline int64_t ek__svd_block_size(int64_t order, int64_t k)
{
    return EK_MIN(order, EK_MAX(2 * k, k + 22));
}

/* ek__svd_tolerance is what rounding in a product of this order leaves, with room. */
static inline EK_HD double ek__svd_tolerance(int64_t order)
{
    return EK__SVD_EPS * EK_MAX(64.0, sqrt((double)order));
}

/* ek__svd_steer decides after a round, from the largest and smallest Ritz value and the largest
 * residual of the wanted pairs, whether to go on, and with which filter. */
static inline EK_HD void ek__svd_steer(ek__svd_control *c, double first, double last,
                                       double residual, int64_t order)
{
    c->residual = first > 0.0 ? residual / first : residual;
    c->converged = c->residual <= ek__svd_tolerance(order) ? 1 : 0;
    bool hopeless = !(first > 0.0) || !isfinite(residual);
    c->running = c->converged == 0 && !hopeless && c->multiplies < EK__SVD_MULTIPLIES_MAX ? 1 : 0;
    double least = (double)order * EK__SVD_EPS * first; /* below it all is rounding */
    c->center = 0.5 * (last > least ? last : least);
    double growth = acosh(EK_MAX(first / c->center - 1.0, 1.0));
    double degree = 19.1 / EK_MAX(growth, 0.1); /* acosh(1e8) = 19.1 */
    c->degree = (int32_t)EK_MIN(EK_MAX(degree, 2.0), 20.0);
    c->step = c->degree - 1;
    c->rounds++;
}

/* ek__svd_block_lay_out places the block within `work` (NULL: only its bytes are wanted). */
int64_t ek__svd_block_lay_out(ek__svd_block *block, int64_t order, void *work);

/* ek__svd_iterate_host and _cuda run it: args->solver.block is laid out, args->gram mirrored. They
 * leave pairs in args->values and args->vectors (which is block.q), facts in args->facts. */
ek_status ek__svd_iterate_host(const ek__svd_args *args);
ek_status ek__svd_iterate_cuda(const ek__svd_args *args, ek_queue *queue);

/* The steps of the iteration on CUDA, for ek__svd_iterate_cuda; see svd_block.cu. `loop` is the
 * conditional handle that a step sets, 0 for none. */
typedef unsigned long long ek__svd_loop;
ek_status ek__svd_block_start_cuda(const ek__svd_args *args, ek_queue *queue);
ek_status ek__svd_block_factor_cuda(const ek__svd_args *args, ek_queue *queue);
ek_status ek__svd_block_ritz_cuda(const ek__svd_args *args, ek_queue *queue);
ek_status ek__svd_block_steer_cuda(const ek__svd_args *args, ek_queue *queue, ek__svd_loop loop);
ek_status ek__svd_block_filter_cuda(const ek__svd_args *args, ek_queue *queue, ek__svd_loop loop);
ek_status ek__svd_block_step_cuda(const ek__svd_args *args, ek_queue *queue, ek__svd_loop loop);

EK_END_DECLS

#endif /* EK_STAGES_SVD_BLOCK_H */
