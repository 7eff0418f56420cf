/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of one cell in the reduce stage. The same inline functions run on the host and in
 * CUDA kernels, so that both give the same bits. Values are added one by one in time order: the
 * result does not depend on how the series is cut into chunks. Private to stages/. */
#ifndef EK_STAGES_REDUCE_CELL_H
#define EK_STAGES_REDUCE_CELL_H

#include "stages/kernels.h"

#include <string.h>

EK_BEGIN_DECLS

/* Sums over q, the stored integers. Exact up to 2^31 steps. */
typedef struct ek__packed_sums {
    int32_t n, min, max;
    int64_t sum;
    uint64_t squares;
} ek__packed_sums;

/* Sums over d = x - x0, x0 being the cell's first valid value. */
typedef struct ek__real_sums {
    int32_t n;
    double x0, sum, squares, min, max;
} ek__real_sums;

/* What the sums come to; m2 is the sum of squared deviations from the mean. */
typedef struct ek__moments {
    int32_t n;
    double mean, m2, min, max, sum;
} ek__moments;

/* ek__reduce_exact says whether stored values of this type go to the `packed` sums. */
static inline EK_HD bool ek__reduce_exact(int32_t dtype)
{
    return dtype == EK_I8 || dtype == EK_U8 || dtype == EK_I16 || dtype == EK_U16;
}

/* ek__missing_integers lists the missing values that an 8- or 16-bit integer can equal, filled up
 * with one that it cannot, and returns how many they are. */
static inline EK_HD int ek__missing_integers(const ek_chunk_header *header, int32_t *out)
{
    int count = 0;
    for (int i = 0; i < EK_MISSING_MAX; i++) {
        double m = i < header->n_missing ? header->missing[i] : (double)NAN;
        bool integer = m >= -32768.0 && m <= 65535.0 && m == (double)(int32_t)m;
        out[i] = integer ? (int32_t)m : INT32_MAX;
        count += integer ? 1 : 0;
    }
    return count;
}

static inline EK_HD bool ek__is_missing_integer(const int32_t *missing, int32_t q)
{
    bool found = false;
    for (int i = 0; i < EK_MISSING_MAX; i++) {
        found |= q == missing[i];
    }
    return found;
}

static inline EK_HD void ek__packed_add(ek__packed_sums *a, int32_t q, bool missing)
{
    int32_t value = missing ? 0 : q;
    a->n += missing ? 0 : 1;
    a->sum += value;
    a->squares += (uint32_t)value * (uint32_t)value; /* below 2^32 for 16 bits of either sign */
    a->min = !missing && q < a->min ? q : a->min;
    a->max = !missing && q > a->max ? q : a->max;
}

static inline EK_HD void ek__real_add(ek__real_sums *a, double x)
{
    bool valid = x == x; /* NaN is missing */
    a->x0 = valid && a->n == 0 ? x : a->x0;
    double d = valid ? x - a->x0 : 0.0;
    a->n += valid ? 1 : 0;
    a->sum += d;
    a->squares += d * d;
    a->min = x < a->min ? x : a->min;
    a->max = x > a->max ? x : a->max;
}

/* mean = unpack(S1/n); m2 = scale^2 (n S2 - S1^2)/n, the numerator exact in 128 bits, so that it is
 * never negative and 0 for a constant cell; sum = scale S1 + offset n. */
static inline EK_HD ek__moments ek__packed_moments(ek__packed_sums a, double scale, double offset)
{
    ek__moments m = {0, 0.0, 0.0, 0.0, 0.0, 0.0};
    if (a.n == 0) {
        return m;
    }
    ek_chunk_header packing;
    memset(&packing, 0, sizeof packing);
    packing.scale = scale;
    packing.offset = offset;
    uint64_t magnitude = a.sum < 0 ? 0 - (uint64_t)a.sum : (uint64_t)a.sum;
    unsigned __int128 top = (unsigned __int128)a.squares * (uint64_t)a.n;
    top -= (unsigned __int128)magnitude * magnitude;
    double spread = (double)(uint64_t)(top >> 64) * 18446744073709551616.0 + (double)(uint64_t)top;
    double n = (double)a.n;
    m.n = a.n;
    m.mean = ek_chunk_unpack(&packing, (double)a.sum / n);
    m.m2 = scale * scale * (spread / n);
    m.min = ek_chunk_unpack(&packing, (double)(scale < 0.0 ? a.max : a.min));
    m.max = ek_chunk_unpack(&packing, (double)(scale < 0.0 ? a.min : a.max));
    m.sum = scale * (double)a.sum + offset * n;
    return m;
}

/* mean = x0 + s1/n; m2 = s2 - s1^2/n, not below 0; sum = x0 n + s1. */
static inline EK_HD ek__moments ek__real_moments(ek__real_sums a)
{
    ek__moments m = {0, 0.0, 0.0, 0.0, 0.0, 0.0};
    if (a.n == 0) {
        return m;
    }
    double n = (double)a.n;
    double m2 = a.squares - a.sum * a.sum / n;
    m.n = a.n;
    m.mean = a.x0 + a.sum / n;
    m.m2 = m2 < 0.0 ? 0.0 : m2;
    m.min = a.min;
    m.max = a.max;
    m.sum = a.x0 * n + a.sum;
    return m;
}

/* Chan, Golub and LeVeque (1983): moments of the union of two sets. */
static inline EK_HD ek__moments ek__moments_merge(ek__moments a, ek__moments b)
{
    if (b.n == 0) {
        return a;
    }
    if (a.n == 0) {
        return b;
    }
    ek__moments m;
    m.n = a.n + b.n;
    double t = b.mean - a.mean;
    double share = (double)b.n / (double)m.n;
    m.mean = a.mean + t * share;
    m.m2 = a.m2 + b.m2 + t * t * ((double)a.n * share);
    m.min = b.min < a.min ? b.min : a.min;
    m.max = b.max > a.max ? b.max : a.max;
    m.sum = a.sum + b.sum;
    return m;
}

/* ek__moments_statistic returns the statistic of EK_REDUCE_ bit number `op` (not the count). */
static inline EK_HD double ek__moments_statistic(ek__moments m, int op, int32_t ddof)
{
    bool spread = op == 1 || op == 2;
    if (m.n < 1 || (spread && m.n <= ddof)) {
        return (double)NAN;
    }
    switch (op) {
    case 0:
        return m.mean;
    case 1:
        return sqrt(m.m2 / (double)(m.n - ddof));
    case 2:
        return m.m2 / (double)(m.n - ddof);
    case 3:
        return m.min;
    case 4:
        return m.max;
    case 5:
        return m.max - m.min;
    default:
        return m.sum;
    }
}

EK_END_DECLS

#endif /* EK_STAGES_REDUCE_CELL_H */
