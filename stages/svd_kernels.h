/* SPDX-License-Identifier: Apache-2.0 */
/* The svd stage's kernels: one argument struct for all of them, and their entry points. Private to
 * stages/.
 *
 * Matrices: A is n x p, row-major, [time, cell]: to BLAS and LAPACK, which count in columns, it is
 * the p x n matrix A^T. With n <= p the Gram matrix is A A^T (n x n), its eigenvectors are the
 * singular vectors in time; else it is A^T A (p x p), and they are those in space. */
#ifndef EK_STAGES_SVD_KERNELS_H
#define EK_STAGES_SVD_KERNELS_H

#include "stages/kernels.h"

EK_BEGIN_DECLS

/* What finish finds out besides the arrays, for the host to look at. */
typedef struct ek__svd_facts {
    double total; /* sum of all squared values */
    int64_t n_used;
    int32_t info; /* of the eigensolver; 0: success */
    int32_t rank;
} ek__svd_facts;

/* What a solver works with, chosen in negotiate. */
typedef struct ek__svd_solver {
    int64_t work_bytes;    /* in scratch */
    int64_t integer_bytes; /* in scratch, host only */
    int64_t n_vectors;     /* eigenvectors it makes: all of them (in place of the Gram matrix), or
                              the leading ones, in a matrix of their own */
    void *host_work;       /* CUDA only, with its bytes and the solver's parameter object */
    size_t host_work_bytes;
    void *params;
} ek__svd_solver;

typedef struct ek__svd_args {
    ek_stream_view in;
    int64_t n, p;       /* time steps, cells */
    int64_t chunk_rows; /* the most rows of a chunk: the launch's size */
    int64_t order;      /* of the Gram matrix: the smaller of n and p */
    int64_t modes;      /* planned */
    int64_t limit;      /* what rank cannot exceed: n less what centring removed */

    double *a;       /* n x p */
    uint8_t *bad;    /* per cell: 1 if it is missing at some step */
    double *gram;    /* order x order; the lower triangle, counted in columns */
    double *values;  /* order eigenvalues, ascending */
    double *vectors; /* order x n_vectors, ascending */
    double *scaled;  /* n <= p: n x modes, u/s; else NULL */
    ek__svd_facts *facts;
    void *work;
    void *integers;
    ek__svd_solver solver;

    double *eof, *pc; /* modes x p, modes x n; row-major */
    double *singular_value, *eigenvalue, *variance_fraction, *total_variance;
    int32_t *n_cells_used, *rank;
} ek__svd_args;

/* ek__svd_time says whether the Gram matrix is the one over time. */
static inline EK_HD bool ek__svd_time(const ek__svd_args *args)
{
    return args->n <= args->p;
}

/* ek__svd_vector returns the eigenvector of mode i, i counting from the largest eigenvalue. */
static inline EK_HD const double *ek__svd_vector(const ek__svd_args *args, int64_t i)
{
    return args->vectors + (args->solver.n_vectors - 1 - i) * args->order;
}

/* ek__svd_singular returns the i-th largest singular value. */
static inline EK_HD double ek__svd_singular(const ek__svd_args *args, int64_t i)
{
    double value = args->values[args->order - 1 - i];
    return value > 0.0 ? sqrt(value) : 0.0;
}

/* ek__svd_cut returns the singular value up to which they are zero but for rounding: an eigenvalue
 * of the Gram matrix is known to max(n, p) eps of the largest, so a singular value to its root. */
static inline EK_HD double ek__svd_cut(const ek__svd_args *args)
{
    double eps = 2.220446049250313e-16;
    return ek__svd_singular(args, 0) * sqrt((double)EK_MAX(args->n, args->p) * eps);
}

/* ek__svd_invented is element i of a made-up matrix of full rank, for rehearsals. */
static inline EK_HD double ek__svd_invented(int64_t i)
{
    uint64_t x = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u; /* splitmix64 */
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    return (double)(int64_t)(x ^ (x >> 27)) / 9.3e18;
}

/* In the order in which they run: `invent` for a rehearsal, `store` for each chunk, the others in
 * finish. */
ek_status ek__svd_invent_host(const void *args);
ek_status ek__svd_store_host(const void *args);
ek_status ek__svd_mask_host(const void *args);
ek_status ek__svd_gram_host(const void *args);
ek_status ek__svd_measure_host(const void *args);
ek_status ek__svd_eigen_host(const void *args);
ek_status ek__svd_spectrum_host(const void *args);
ek_status ek__svd_vectors_host(const void *args);
ek_status ek__svd_project_host(const void *args);
ek_status ek__svd_sign_host(const void *args);

ek_status ek__svd_invent_cuda(const void *args, ek_queue *queue);
ek_status ek__svd_store_cuda(const void *args, ek_queue *queue);
ek_status ek__svd_mask_cuda(const void *args, ek_queue *queue);
ek_status ek__svd_gram_cuda(const void *args, ek_queue *queue);
ek_status ek__svd_measure_cuda(const void *args, ek_queue *queue);
ek_status ek__svd_eigen_cuda(const void *args, ek_queue *queue);
ek_status ek__svd_spectrum_cuda(const void *args, ek_queue *queue);
ek_status ek__svd_vectors_cuda(const void *args, ek_queue *queue);
ek_status ek__svd_project_cuda(const void *args, ek_queue *queue);
ek_status ek__svd_sign_cuda(const void *args, ek_queue *queue);

/* ek__svd_solver_host and _cuda choose the solver and find its workspaces; `modes` leading vectors
 * are wanted. The CUDA one holds memory that ek__svd_solver_free_cuda releases. */
ek_status ek__svd_solver_host(ek__svd_solver *solver, int64_t order, int64_t modes);
ek_status ek__svd_solver_cuda(ek__svd_solver *solver, ek_backend *backend, int64_t order);
void ek__svd_solver_free_cuda(ek__svd_solver *solver);

EK_END_DECLS

#endif /* EK_STAGES_SVD_KERNELS_H */
