/* SPDX-License-Identifier: Apache-2.0 */
/* The svd stage's kernels: one argument struct for all of them, and their entry points. Private to
 * stages/.
 *
 * Matrices: A is n x p, row-major, [time, cell]: to BLAS and LAPACK, which count in columns, it is
 * the p x n matrix A^T. With n <= p the Gram matrix is A A^T (n x n), its eigenvectors are the
 * singular vectors in time, and A is kept until the end. Else it is A^T A (p x p), added up chunk
 * by chunk: A is not kept, and a second sweep over the stream makes the PCs. There each value is
 * taken relative to its cell's first one, in units of the first file's scale: where all files are
 * packed alike these are whole numbers, their products and sums are exact, and so the Gram matrix
 * has the same bits for any chunk size and on any backend. */
#ifndef EK_STAGES_SVD_KERNELS_H
#define EK_STAGES_SVD_KERNELS_H

#include "stages/kernels.h"
#include "stages/svd.h"

EK_BEGIN_DECLS

/* What finish finds out besides the arrays, for the host to look at. */
typedef struct ek__svd_facts {
    double total;    /* sum of all squared values */
    double residual; /* chebyshev: largest |C v - lambda v| over lambda_1, else NaN */
    double overlap;  /* largest entry of V^T V - I, of the EOFs within the rank */
    int64_t n_used;
    int32_t info; /* of the solver; 0: success */
    int32_t rank;
    int32_t multiplies; /* of the Gram matrix with the block; 0: not chebyshev */
    int32_t reserved;
} ek__svd_facts;

/* The state of the filtered iteration (svd_block.h). */
typedef struct ek__svd_control {
    double center;   /* half of the interval [0, 2 center] that the filter damps */
    double residual; /* largest |C q - theta q| over theta_1, of the modes wanted */
    int32_t degree;  /* of the next filter */
    int32_t step;    /* multiplications left of the present one */
    int32_t rounds;  /* done */
    int32_t multiplies;
    int32_t running; /* 1: another round is needed */
    int32_t converged;
} ek__svd_control;

/* What the filtered iteration works with, in scratch. */
typedef struct ek__svd_block {
    int64_t size;             /* columns */
    double *q, *z;            /* order x size: Ritz vectors, and the Gram matrix times them */
    double *y, *last;         /* order x size: filter terms */
    double *small, *rotation; /* size x size */
    double *norm;             /* size: residual norms */
    int32_t *dependent;       /* size: 1 for a column that the others span */
    ek__svd_control *control;
} ek__svd_block;

/* The packing of the first chunk, whose units a streamed Gram matrix is in. */
typedef struct ek__svd_unit {
    double scale, offset;
} ek__svd_unit;

/* What a solver works with, chosen in negotiate. */
typedef struct ek__svd_solver {
    int32_t kind;          /* ek_svd_solver, not AUTO */
    int32_t descending;    /* 1: values and vectors begin with the largest; else they end with it */
    int64_t work_bytes;    /* in scratch */
    int64_t integer_bytes; /* in scratch, host only */
    int64_t n_values;
    int64_t n_vectors; /* all (syevd: in place of the Gram matrix), or leading ones, apart */
    void *host;        /* CUDA only: what the solver holds on the host */
    ek__svd_block block;
} ek__svd_solver;

typedef struct ek__svd_args {
    ek_stream_view in;
    int64_t n, p;       /* time steps, cells */
    int64_t chunk_rows; /* the most rows of a chunk: the launch's size */
    int64_t order;      /* of the Gram matrix: the smaller of n and p */
    int64_t modes;      /* planned */
    int64_t limit;      /* what rank cannot exceed: n less what centring removed */
    int32_t centred;    /* 1: the mean of each cell is removed here */
    int32_t sweep;      /* n > p: 0 adds up the Gram matrix, 1 makes the PCs */

    double *a;      /* n <= p: n x p; else a chunk's part of it, chunk_rows x p */
    double *first;  /* n > p: each cell's first stored value, 0 where not centred */
    double *sums;   /* n > p: sum of each cell's deviations from it */
    double *basis;  /* n > p: modes x p, the EOFs with 0 in cells left out */
    double *offset; /* n > p: modes, what the mean deviation projects on */
    double *part;   /* n > p: modes x chunk_rows, a chunk's part of the PCs */
    ek__svd_unit *unit;
    double *mean;    /* per cell; zero where not centred */
    uint8_t *bad;    /* per cell: 1 if it is missing at some step */
    double *gram;    /* order x order; the lower triangle, counted in columns */
    double *values;  /* eigenvalues */
    double *vectors; /* order x n_vectors */
    double *scaled;  /* n <= p: n x modes, u/s; else NULL */
    ek__svd_facts *facts;
    void *work;
    void *integers;
    ek__svd_solver solver;

    double *eof, *pc; /* modes x p, modes x n; row-major */
    double *singular_value, *eigenvalue, *variance_fraction, *total_variance, *mean_out;
    double *orthogonality;
    int32_t *n_cells_used, *rank;
    double *residual;      /* chebyshev only, as is the next; else NULL */
    int32_t *n_multiplies; /* of the Gram matrix */
} ek__svd_args;

/* ek__svd_time says whether the Gram matrix is the one over time. */
static inline EK_HD bool ek__svd_time(const ek__svd_args *args)
{
    return args->n <= args->p;
}

/* ek__svd_vector returns the eigenvector of mode i, i counting from the largest eigenvalue. */
static inline EK_HD const double *ek__svd_vector(const ek__svd_args *args, int64_t i)
{
    int64_t k = args->solver.descending != 0 ? i : args->solver.n_vectors - 1 - i;
    return args->vectors + k * args->order;
}

/* ek__svd_singular returns the i-th largest singular value. */
static inline EK_HD double ek__svd_singular(const ek__svd_args *args, int64_t i)
{
    double value = args->values[args->solver.descending != 0 ? i : args->solver.n_values - 1 - i];
    return value > 0.0 ? sqrt(value) : 0.0;
}

/* ek__svd_alike says whether a chunk's stored values are those of the first one's units. */
static inline EK_HD bool ek__svd_alike(const ek__svd_args *args, const ek_chunk_header *header,
                                       ek__svd_unit unit)
{
    return args->in.values != NULL ||
           (header->scale == unit.scale && header->offset == unit.offset);
}

/* ek__svd_unit_of returns the units that a series beginning with this chunk is in: its packing
 * where deviations are taken, else the field's own units. */
static inline EK_HD ek__svd_unit ek__svd_unit_of(const ek__svd_args *args,
                                                 const ek_chunk_header *header)
{
    ek__svd_unit unit = {1.0, 0.0};
    if (args->centred != 0 && args->in.values == NULL) {
        unit.scale = header->scale;
        unit.offset = header->offset;
    }
    return unit;
}

/* ek__svd_stored returns value i of the chunk as it is stored, in the first chunk's units: exactly
 * where the packing is alike. NaN: missing. */
static inline EK_HD double ek__svd_stored(const ek__svd_args *args, const ek_chunk_header *header,
                                          ek__svd_unit unit, int64_t i)
{
    if (args->in.values != NULL) {
        return args->in.values[i];
    }
    double raw = ek_chunk_raw(header->data, header->dtype, i);
    if (ek_chunk_is_missing(header, raw)) {
        return (double)NAN;
    }
    return ek__svd_alike(args, header, unit)
               ? raw
               : (ek_chunk_unpack(header, raw) - unit.offset) / unit.scale;
}

/* ek__svd_cut returns the singular value up to which they are zero but for rounding: an eigenvalue
 * of the Gram matrix is known to max(n, p) eps of the largest, so a singular value to its root. */
static inline EK_HD double ek__svd_cut(const ek__svd_args *args)
{
    double eps = 2.220446049250313e-16;
    return ek__svd_singular(args, 0) * sqrt((double)EK_MAX(args->n, args->p) * eps);
}

/* ek__svd_ranked returns how many values the rank can be counted from: with chebyshev, the modes
 * wanted. */
static inline EK_HD int64_t ek__svd_ranked(const ek__svd_args *args)
{
    bool leading = args->solver.kind == EK_SVD_CHEBYSHEV;
    return leading ? args->modes : args->solver.n_values;
}

/* ek__svd_invented is element i of a made-up matrix of full rank, in (-1, 1). */
static inline EK_HD double ek__svd_invented(int64_t i)
{
    uint64_t x = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u; /* splitmix64 */
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    return (double)(int64_t)(x ^ (x >> 27)) / 9.3e18;
}

/* Every kernel's two entry points. In the order in which they run: `invent` for a rehearsal; for
 * each chunk `store` (n <= p), or `deviate` and `fold`, and in the second sweep `deviate`, `part`
 * and `place`; the others in finish, `correct` in place of `center` and `gram` where n > p. */
#define EK__SVD_KERNELS(X)                                                                         \
    X(invent)                                                                                      \
    X(store)                                                                                       \
    X(deviate)                                                                                     \
    X(fold)                                                                                        \
    X(part)                                                                                        \
    X(place)                                                                                       \
    X(correct)                                                                                     \
    X(center)                                                                                      \
    X(gram)                                                                                        \
    X(mirror)                                                                                      \
    X(measure)                                                                                     \
    X(eigen)                                                                                       \
    X(spectrum)                                                                                    \
    X(vectors)                                                                                     \
    X(project)                                                                                     \
    X(sign)                                                                                        \
    X(overlap)                                                                                     \
    X(conclude)

#define EK__SVD_DECLARE(name)                                                                      \
    ek_status ek__svd_##name##_host(const void *args);                                             \
    ek_status ek__svd_##name##_cuda(const void *args, ek_queue *queue);
EK__SVD_KERNELS(EK__SVD_DECLARE)

/* ek__svd_solver_host and _cuda find the workspaces of the solver that `args` names, for its sizes.
 * The CUDA one holds memory that ek__svd_solver_free_cuda releases. */
ek_status ek__svd_solver_host(ek__svd_args *args);
ek_status ek__svd_solver_cuda(ek__svd_args *args, ek_backend *backend);
void ek__svd_solver_free_cuda(ek__svd_solver *solver);

/* ek__svd_library names what a solver is made of. */
const char *ek__svd_library(const ek__svd_args *args, bool cuda);

EK_END_DECLS

#endif /* EK_STAGES_SVD_KERNELS_H */
