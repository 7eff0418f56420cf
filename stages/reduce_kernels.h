/* SPDX-License-Identifier: Apache-2.0 */
/* The reduce stage's accumulators and kernel arguments. Private to stages/.
 *
 * A cell has three sets of accumulators. `packed` takes 8- and 16-bit integers as they are stored,
 * in exact integers, for one packing (scale, offset) at a time. `real` takes all other values. When
 * the packing changes, `packed` is merged into `merged` and starts anew. */
#ifndef EK_STAGES_REDUCE_KERNELS_H
#define EK_STAGES_REDUCE_KERNELS_H

#include "stages/reduce_cell.h"

EK_BEGIN_DECLS

/* All cells' accumulators, an array per member so that neighbouring threads touch neighbouring
 * words. All bytes 0 is the empty state: what a set with n == 0 holds is not looked at. */
typedef struct ek__reduce_state {
    struct {
        double *scale, *offset;
        int64_t *sum;
        uint64_t *squares;
        int32_t *n, *min, *max;
    } packed;
    struct {
        double *x0, *sum, *squares, *min, *max;
        int32_t *n;
    } real;
    struct {
        double *mean, *m2, *min, *max, *sum;
        int32_t *n;
    } merged;
} ek__reduce_state;

/* What a statistic needs beside n, x0 and sum may be left out: the host, whose time it costs, does
 * so, and CUDA, which waits for memory, does not. */
typedef struct ek__reduce_add_args {
    ek_stream_view in;
    int64_t cells;
    ek__reduce_state state;
    bool wants_squares;  /* for the variance and its root */
    bool wants_extremes; /* min and max */
} ek__reduce_add_args;

/* The statistics in the order of the EK_REDUCE_ bits; NULL: not wanted. */
#define EK__REDUCE_OPS 8
typedef struct ek__reduce_finish_args {
    ek__reduce_state state;
    int64_t cells;
    int32_t ddof;
    void *out[EK__REDUCE_OPS];
} ek__reduce_finish_args;

ek_status ek__reduce_add_host(const void *args);
ek_status ek__reduce_add_cuda(const void *args, ek_queue *queue);
ek_status ek__reduce_finish_host(const void *args);
ek_status ek__reduce_finish_cuda(const void *args, ek_queue *queue);

/* ek__reduce_merge adds to each cell of `state` what `later` has accumulated over the steps that
 * come next; both in host memory. */
void ek__reduce_merge(const ek__reduce_state *state, const ek__reduce_state *later, int64_t cells);

static inline EK_HD ek__packed_sums ek__packed_load(const ek__reduce_state *s, int64_t c)
{
    ek__packed_sums a;
    a.n = s->packed.n[c];
    a.min = a.n > 0 ? s->packed.min[c] : INT32_MAX;
    a.max = a.n > 0 ? s->packed.max[c] : INT32_MIN;
    a.sum = s->packed.sum[c];
    a.squares = s->packed.squares[c];
    return a;
}

static inline EK_HD void ek__packed_store(const ek__reduce_state *s, int64_t c, ek__packed_sums a)
{
    s->packed.n[c] = a.n;
    s->packed.min[c] = a.min;
    s->packed.max[c] = a.max;
    s->packed.sum[c] = a.sum;
    s->packed.squares[c] = a.squares;
}

static inline EK_HD ek__real_sums ek__real_load(const ek__reduce_state *s, int64_t c)
{
    ek__real_sums a;
    a.n = s->real.n[c];
    a.x0 = s->real.x0[c];
    a.sum = s->real.sum[c];
    a.squares = s->real.squares[c];
    a.min = a.n > 0 ? s->real.min[c] : (double)INFINITY;
    a.max = a.n > 0 ? s->real.max[c] : -(double)INFINITY;
    return a;
}

static inline EK_HD void ek__real_store(const ek__reduce_state *s, int64_t c, ek__real_sums a)
{
    s->real.n[c] = a.n;
    s->real.x0[c] = a.x0;
    s->real.sum[c] = a.sum;
    s->real.squares[c] = a.squares;
    s->real.min[c] = a.min;
    s->real.max[c] = a.max;
}

static inline EK_HD ek__moments ek__merged_load(const ek__reduce_state *s, int64_t c)
{
    ek__moments m;
    m.n = s->merged.n[c];
    m.mean = s->merged.mean[c];
    m.m2 = s->merged.m2[c];
    m.min = s->merged.min[c];
    m.max = s->merged.max[c];
    m.sum = s->merged.sum[c];
    return m;
}

static inline EK_HD void ek__merged_store(const ek__reduce_state *s, int64_t c, ek__moments m)
{
    s->merged.n[c] = m.n;
    s->merged.mean[c] = m.mean;
    s->merged.m2[c] = m.m2;
    s->merged.min[c] = m.min;
    s->merged.max[c] = m.max;
    s->merged.sum[c] = m.sum;
}

/* ek__packed_begin readies a cell's `packed` sums for values of this packing. */
static inline EK_HD void ek__packed_begin(const ek__reduce_state *s, int64_t c, double scale,
                                          double offset)
{
    double old_scale = s->packed.scale[c];
    double old_offset = s->packed.offset[c];
    if (old_scale == scale && old_offset == offset) {
        return;
    }
    ek__packed_sums a = ek__packed_load(s, c);
    if (a.n > 0) {
        ek__moments part = ek__packed_moments(a, old_scale, old_offset);
        ek__merged_store(s, c, ek__moments_merge(ek__merged_load(s, c), part));
    }
    ek__packed_sums empty = {0, 0, 0, 0, 0};
    ek__packed_store(s, c, empty);
    s->packed.scale[c] = scale;
    s->packed.offset[c] = offset;
}

/* ek__reduce_moments is all that a cell has seen. Where that was one packing only, or no packed
 * integers at all, no merge takes part in it. */
static inline EK_HD ek__moments ek__reduce_moments(const ek__reduce_state *s, int64_t c)
{
    ek__moments packed =
        ek__packed_moments(ek__packed_load(s, c), s->packed.scale[c], s->packed.offset[c]);
    ek__moments m = ek__moments_merge(ek__merged_load(s, c), packed);
    return ek__moments_merge(m, ek__real_moments(ek__real_load(s, c)));
}

/* ek__reduce_put writes a cell's statistics. */
static inline EK_HD void ek__reduce_put(const ek__reduce_finish_args *args, int64_t c)
{
    ek__moments m = ek__reduce_moments(&args->state, c);
    for (int op = 0; op < EK__REDUCE_OPS - 1; op++) {
        if (args->out[op] != NULL) {
            ((double *)args->out[op])[c] = ek__moments_statistic(m, op, args->ddof);
        }
    }
    if (args->out[EK__REDUCE_OPS - 1] != NULL) {
        ((int32_t *)args->out[EK__REDUCE_OPS - 1])[c] = m.n;
    }
}

EK_END_DECLS

#endif /* EK_STAGES_REDUCE_KERNELS_H */
