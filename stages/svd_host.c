/* SPDX-License-Identifier: Apache-2.0 */
/* The svd stage's own kernels on the host; the ones that call BLAS and LAPACK are in svd_lapack.c.
 */
#include "stages/svd_kernels.h"

#include <string.h>

/* A matrix of full rank; where A is not kept, a Gram matrix in its place. */
ek_status ek__svd_invent_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    for (int64_t i = 0; ek__svd_time(args) && i < args->n * args->p; i++) {
        args->a[i] = ek__svd_invented(i);
    }
    for (int64_t i = 0; !ek__svd_time(args) && i < args->p; i++) {
        memset(args->gram + i * args->p, 0, (size_t)args->p * sizeof(double));
        args->gram[i * args->p + i] = 1.0 / (double)(1 + i);
        args->first[i] = args->sums[i] = 0.0;
        *args->unit = (ek__svd_unit){1.0, 0.0};
    }
    return EK_OK;
}

ek_status ek__svd_store_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    const ek_chunk_header *header = args->in.header;
    for (int64_t row = 0; row < header->rows && header->row0 + row < args->n; row++) {
        double *a = args->a + (header->row0 + row) * args->p;
        ek__decode_run(args->in, row * args->p, args->p, a);
        for (int64_t c = 0; c < args->p; c++) {
            bool missing = a[c] != a[c];
            args->bad[c] = missing ? 1 : args->bad[c];
            a[c] = missing ? 0.0 : a[c];
        }
    }
    return EK_OK;
}

/* The mean over time of each cell, as the first value and the mean difference from it. */
static void find_means(const ek__svd_args *args)
{
    memset(args->mean, 0, (size_t)args->p * sizeof(double));
    for (int64_t t = 1; args->centred != 0 && t < args->n; t++) {
        const double *a = args->a + t * args->p;
        for (int64_t c = 0; c < args->p; c++) {
            args->mean[c] += a[c] - args->a[c];
        }
    }
    for (int64_t c = 0; args->centred != 0 && c < args->p; c++) {
        args->mean[c] = args->a[c] + args->mean[c] / (double)args->n;
    }
}

/* Takes the mean from every cell, where asked for. A cell that is missing at some step takes no
 * part: its column is zero. */
ek_status ek__svd_center_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    find_means(args);
    if (args->centred == 0 && memchr(args->bad, 1, (size_t)args->p) == NULL) {
        return EK_OK;
    }
    for (int64_t t = 0; t < args->n; t++) {
        double *a = args->a + t * args->p;
        for (int64_t c = 0; c < args->p; c++) {
            a[c] = args->bad[c] != 0 ? 0.0 : a[c] - args->mean[c];
        }
    }
    return EK_OK;
}

#define TILE 64

/* Fills the upper triangle of the Gram matrix from the lower, tile by tile. */
ek_status ek__svd_mirror_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    int64_t m = args->order;
    for (int64_t left = 0; left < m; left += TILE) {
        for (int64_t top = left; top < m; top += TILE) {
            for (int64_t j = left; j < EK_MIN(left + TILE, m); j++) {
                for (int64_t i = EK_MAX(top, j + 1); i < EK_MIN(top + TILE, m); i++) {
                    args->gram[i * m + j] = args->gram[j * m + i];
                }
            }
        }
    }
    return EK_OK;
}

/* The total of all squares is the trace of the Gram matrix. */
ek_status ek__svd_measure_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    double total = 0.0;
    for (int64_t i = 0; i < args->order; i++) {
        total += args->gram[i * args->order + i];
    }
    int64_t used = 0;
    for (int64_t c = 0; c < args->p; c++) {
        used += args->bad[c] == 0 ? 1 : 0;
    }
    args->facts->total = total;
    args->facts->n_used = used;
    return EK_OK;
}

ek_status ek__svd_spectrum_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    ek__svd_facts *facts = args->facts;
    double cut = ek__svd_cut(args);
    int64_t rank = 0;
    while (rank < ek__svd_ranked(args) && ek__svd_singular(args, rank) > cut) {
        rank++;
    }
    rank = EK_MIN(rank, EK_MIN(args->limit, facts->n_used));
    double freedom = (double)(args->n - 1);
    for (int64_t i = 0; i < args->modes; i++) {
        double s = ek__svd_singular(args, i);
        args->singular_value[i] = s;
        args->eigenvalue[i] = s * s / freedom;
        args->variance_fraction[i] = facts->total > 0.0 ? s * s / facts->total : 0.0;
    }
    *args->total_variance = facts->total / freedom;
    *args->n_cells_used = (int32_t)facts->n_used;
    *args->rank = (int32_t)rank;
    facts->rank = (int32_t)rank;
    return EK_OK;
}

/* From the eigenvectors: over time, pc = u s and u/s, which projects A onto the EOFs; over space,
 * the EOFs themselves. Modes beyond the rank are zero. */
ek_status ek__svd_vectors_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    for (int64_t i = 0; i < args->modes; i++) {
        const double *vector = ek__svd_vector(args, i);
        double s = i < args->facts->rank ? ek__svd_singular(args, i) : 0.0;
        for (int64_t j = 0; j < args->order; j++) {
            if (ek__svd_time(args)) {
                args->pc[i * args->n + j] = s > 0.0 ? vector[j] * s : 0.0;
                args->scaled[i * args->n + j] = s > 0.0 ? vector[j] / s : 0.0;
            } else {
                args->eof[i * args->p + j] = s > 0.0 ? vector[j] : 0.0;
            }
        }
    }
    return EK_OK;
}

typedef struct extent {
    double max, squares; /* largest magnitude; sum of squares */
    int64_t first;       /* lowest cell within 1e-6 of the largest magnitude */
} extent;

static extent measure_mode(const ek__svd_args *args, const double *eof)
{
    extent e = {0.0, 0.0, 0};
    for (int64_t c = 0; c < args->p; c++) {
        double v = args->bad[c] != 0 ? 0.0 : eof[c];
        e.max = fabs(v) > e.max ? fabs(v) : e.max;
        e.squares += v * v;
    }
    double near = (1.0 - 1e-6) * e.max;
    while (e.first + 1 < args->p && (args->bad[e.first] != 0 || fabs(eof[e.first]) < near)) {
        e.first++;
    }
    return e;
}

/* Fixes each mode's sign and brings its EOF to unit norm: it has lost some of it where s is small.
 */
ek_status ek__svd_sign_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    for (int64_t i = 0; i < args->modes; i++) {
        double *eof = args->eof + i * args->p;
        extent e = measure_mode(args, eof);
        double sign = eof[e.first] < 0.0 ? -1.0 : 1.0;
        double factor = e.squares > 0.0 ? sign / sqrt(e.squares) : 0.0;
        for (int64_t c = 0; c < args->p; c++) {
            eof[c] = args->bad[c] != 0 ? 0.0 : eof[c] * factor;
        }
        for (int64_t t = 0; ek__svd_time(args) && t < args->n; t++) {
            args->pc[i * args->n + t] *= sign;
        }
    }
    return EK_OK;
}

/* What the second sweep projects on: the EOFs, and what the mean deviation gives. */
static void keep_basis(const ek__svd_args *args)
{
    memcpy(args->basis, args->eof, (size_t)(args->modes * args->p) * sizeof(double));
    for (int64_t i = 0; i < args->modes; i++) {
        double sum = 0.0;
        for (int64_t c = 0; args->centred != 0 && c < args->p; c++) {
            sum += args->basis[i * args->p + c] * (args->sums[c] / (double)args->n);
        }
        args->offset[i] = sum;
    }
}

/* Blanks the cells left out and puts out the facts. */
ek_status ek__svd_conclude_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    if (!ek__svd_time(args)) {
        keep_basis(args);
    }
    for (int64_t c = 0; c < args->p; c++) {
        if (args->mean_out != NULL) {
            args->mean_out[c] = args->bad[c] != 0 ? (double)NAN : args->mean[c];
        }
        for (int64_t i = 0; args->bad[c] != 0 && i < args->modes; i++) {
            args->eof[i * args->p + c] = (double)NAN;
        }
    }
    *args->orthogonality = args->facts->overlap;
    if (args->residual != NULL) {
        *args->residual = args->facts->residual;
        *args->n_multiplies = args->facts->multiplies;
    }
    return EK_OK;
}
