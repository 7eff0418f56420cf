/* SPDX-License-Identifier: Apache-2.0 */
/* Joining the reduce stage's accumulators of two consecutive periods. Where both hold packed
 * integers of one packing the sums are added exactly, so that the bits are those of one run;
 * float64 sums are moved to the earlier period's origin, which rounds. */
#include "stages/reduce_kernels.h"

static ek__packed_sums add_packed(ek__packed_sums a, ek__packed_sums b)
{
    a.n += b.n;
    a.sum += b.sum;
    a.squares += b.squares;
    a.min = EK_MIN(a.min, b.min);
    a.max = EK_MAX(a.max, b.max);
    return a;
}

/* With t = b.x0 - a.x0: sum(x - a.x0) = s1 + n t; sum((x - a.x0)^2) = s2 + 2 t s1 + n t^2. */
static ek__real_sums add_real(ek__real_sums a, ek__real_sums b)
{
    if (a.n == 0 || b.n == 0) {
        return a.n == 0 ? b : a;
    }
    double n = (double)b.n;
    double t = b.x0 - a.x0;
    a.n += b.n;
    a.sum += b.sum + n * t;
    a.squares += b.squares + t * (2.0 * b.sum + n * t);
    a.min = EK_MIN(a.min, b.min);
    a.max = EK_MAX(a.max, b.max);
    return a;
}

/* As in a sweep over both: the earlier packing's sums are merged when another one begins, or when
 * one had begun in the later period. */
static void merge_packed(const ek__reduce_state *a, const ek__reduce_state *b, int64_t c)
{
    ek__moments earlier = ek__merged_load(b, c);
    ek__packed_sums later = ek__packed_load(b, c);
    if (later.n == 0 && earlier.n == 0) {
        return;
    }
    if (earlier.n > 0) {
        ek__packed_begin(a, c, (double)NAN, (double)NAN);
        ek__merged_store(a, c, ek__moments_merge(ek__merged_load(a, c), earlier));
    }
    if (later.n > 0) {
        ek__packed_begin(a, c, b->packed.scale[c], b->packed.offset[c]);
        ek__packed_store(a, c, add_packed(ek__packed_load(a, c), later));
    }
}

void ek__reduce_merge(const ek__reduce_state *state, const ek__reduce_state *later, int64_t cells)
{
    for (int64_t c = 0; c < cells; c++) {
        merge_packed(state, later, c);
        ek__real_store(state, c, add_real(ek__real_load(state, c), ek__real_load(later, c)));
    }
}
