/* SPDX-License-Identifier: Apache-2.0 */
/* The svd stage's kernels for a Gram matrix over space, on the host: added up chunk by chunk. */
#include "stages/svd_kernels.h"

#include <cblas.h>
#include <string.h>

/* From the first row: units, and the value that each cell's deviations are taken from. */
static void adopt(const ek__svd_args *args, const ek_chunk_header *header)
{
    *args->unit = ek__svd_unit_of(args, header);
    for (int64_t c = 0; c < args->p; c++) {
        double x = args->centred != 0 ? ek__svd_stored(args, header, *args->unit, c) : 0.0;
        args->first[c] = x == x ? x : 0.0;
    }
}

/* The chunk's deviations from each cell's first value into `a`, 0 where missing; the first sweep
 * also adds them up and marks the cells with gaps. */
ek_status ek__svd_deviate_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    const ek_chunk_header *header = args->in.header;
    if (args->sweep == 0 && header->row0 == 0 && header->rows > 0) {
        adopt(args, header);
    }
    for (int64_t row = 0; row < header->rows; row++) {
        double *a = args->a + row * args->p;
        for (int64_t c = 0; c < args->p; c++) {
            double x = ek__svd_stored(args, header, *args->unit, row * args->p + c);
            bool missing = x != x;
            a[c] = missing ? 0.0 : x - args->first[c];
            if (args->sweep == 0) {
                args->sums[c] += a[c];
                args->bad[c] = missing ? 1 : args->bad[c];
            }
        }
    }
    return EK_OK;
}

/* Adds the chunk's products to the Gram matrix. */
ek_status ek__svd_fold_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    int p = (int)args->p, rows = args->in.header->rows;
    if (rows > 0) {
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, p, rows, 1.0, args->a, p, 1.0,
                    args->gram, p);
    }
    return EK_OK;
}

/* From deviations d in units to the values' Gram matrix: (sum d d^T - sums sums^T/n) scale^2, the
 * second part where centred. Cells left out have rows and columns of zeros. */
ek_status ek__svd_correct_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    double scale = args->unit->scale, offset = args->unit->offset, n = (double)args->n;
    for (int64_t j = 0; j < args->p; j++) {
        double *column = args->gram + j * args->p;
        for (int64_t i = j; i < args->p; i++) {
            double away = args->centred != 0 ? args->sums[i] * args->sums[j] / n : 0.0;
            bool out = args->bad[i] != 0 || args->bad[j] != 0;
            column[i] = out ? 0.0 : (column[i] - away) * (scale * scale);
        }
        double mean = (args->first[j] + args->sums[j] / n) * scale + offset;
        args->mean[j] = args->centred != 0 ? mean : 0.0;
    }
    return EK_OK;
}

/* The chunk's deviations times the EOFs. */
ek_status ek__svd_part_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    int p = (int)args->p, rows = args->in.header->rows;
    if (rows > 0) {
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, rows, (int)args->modes, p, 1.0,
                    args->a, p, args->basis, p, 0.0, args->part, (int)args->chunk_rows);
    }
    return EK_OK;
}

/* Puts the chunk's rows of the PCs in their place. */
ek_status ek__svd_place_host(const void *ptr)
{
    const ek__svd_args *args = ptr;
    const ek_chunk_header *header = args->in.header;
    for (int64_t i = 0; i < args->modes; i++) {
        double *pc = args->pc + i * args->n + header->row0;
        const double *part = args->part + i * args->chunk_rows;
        for (int64_t row = 0; row < header->rows && header->row0 + row < args->n; row++) {
            pc[row] = (part[row] - args->offset[i]) * args->unit->scale;
        }
    }
    return EK_OK;
}
