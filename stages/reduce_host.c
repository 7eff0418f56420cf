/* SPDX-License-Identifier: Apache-2.0 */
/* The reduce stage's kernels on the host. Cells are taken a tile at a time, so that the tile's
 * accumulators stay in cache over all rows; within a tile the loops run along the cells. */
#include "stages/reduce_kernels.h"

typedef struct tile {
    const ek__reduce_add_args *args;
    int64_t first, count; /* cells */
} tile;

/* The `packed` sums of a tile, as plain arrays that do not overlap. */
typedef struct packed_arrays {
    int32_t *restrict n, *restrict min, *restrict max;
    int64_t *restrict sum;
    uint64_t *restrict squares;
} packed_arrays;

/* One function per stored type. What ek__packed_add does, for a row of the tile, in a form that can
 * be vectorised: with the number of missing values a constant, and no branches. */
#define DEFINE_ADD_PACKED(type)                                                                    \
    static inline __attribute__((always_inline)) void add_row_##type(                              \
        packed_arrays a, const type *restrict q, int64_t count, const int32_t *missing,            \
        int n_missing)                                                                             \
    {                                                                                              \
        int32_t *restrict n = a.n, *restrict min = a.min, *restrict max = a.max;                   \
        int64_t *restrict sum = a.sum;                                                             \
        uint64_t *restrict squares = a.squares;                                                    \
        for (int64_t i = 0; i < count; i++) {                                                      \
            int32_t value = q[i], valid = 1;                                                       \
            for (int j = 0; j < n_missing; j++) {                                                  \
                valid &= value != missing[j];                                                      \
            }                                                                                      \
            int32_t kept = value & -valid;                                                         \
            int32_t low = valid != 0 ? value : INT32_MAX, high = valid != 0 ? value : INT32_MIN;   \
            n[i] += valid;                                                                         \
            sum[i] += kept;                                                                        \
            squares[i] += (uint32_t)kept * (uint32_t)kept;                                         \
            min[i] = low < min[i] ? low : min[i];                                                  \
            max[i] = high > max[i] ? high : max[i];                                                \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void add_packed_##type(const tile *t, packed_arrays a)                                  \
    {                                                                                              \
        const ek_chunk_header *header = t->args->in.header;                                        \
        const type *q = (const type *)header->data + t->first;                                     \
        int32_t missing[EK_MISSING_MAX];                                                           \
        int n_missing = ek__missing_integers(header, missing);                                     \
        bool one = n_missing == 0 || (n_missing == 1 && missing[0] != INT32_MAX);                  \
        for (int64_t row = 0; row < header->rows; row++) {                                         \
            if (one) {                                                                             \
                add_row_##type(a, q, t->count, missing, 1);                                        \
            } else {                                                                               \
                add_row_##type(a, q, t->count, missing, EK_MISSING_MAX);                           \
            }                                                                                      \
            q += t->args->cells;                                                                   \
        }                                                                                          \
    }

DEFINE_ADD_PACKED(int8_t)
DEFINE_ADD_PACKED(uint8_t)
DEFINE_ADD_PACKED(int16_t)
DEFINE_ADD_PACKED(uint16_t)

static void add_packed(const tile *t)
{
    const ek_chunk_header *header = t->args->in.header;
    const ek__reduce_state *s = &t->args->state;
    for (int64_t c = t->first; c < t->first + t->count; c++) {
        ek__packed_begin(s, c, header->scale, header->offset);
        ek__packed_store(s, c, ek__packed_load(s, c)); /* gives empty sums their first extremes */
    }
    packed_arrays a = {s->packed.n + t->first, s->packed.min + t->first, s->packed.max + t->first,
                       s->packed.sum + t->first, s->packed.squares + t->first};
    switch (header->dtype) {
    case EK_I8:
        add_packed_int8_t(t, a);
        break;
    case EK_U8:
        add_packed_uint8_t(t, a);
        break;
    case EK_I16:
        add_packed_int16_t(t, a);
        break;
    default:
        add_packed_uint16_t(t, a);
        break;
    }
}

static void add_row(const tile *t, const double *x)
{
    const ek__reduce_state *s = &t->args->state;
    int32_t *restrict n = s->real.n + t->first;
    double *restrict x0 = s->real.x0 + t->first;
    double *restrict sum = s->real.sum + t->first;
    double *restrict squares = s->real.squares + t->first;
    double *restrict min = s->real.min + t->first;
    double *restrict max = s->real.max + t->first;
    for (int64_t i = 0; i < t->count; i++) {
        ek__real_sums a = {n[i], x0[i], sum[i], squares[i], min[i], max[i]};
        ek__real_add(&a, x[i]);
        n[i] = a.n;
        x0[i] = a.x0;
        sum[i] = a.sum;
        squares[i] = a.squares;
        min[i] = a.min;
        max[i] = a.max;
    }
}

static void add_real(const tile *t)
{
    const ek__reduce_state *s = &t->args->state;
    for (int64_t c = t->first; c < t->first + t->count; c++) {
        ek__real_store(s, c, ek__real_load(s, c)); /* gives empty sums their first extremes */
    }
    double x[EK_TILE];
    for (int64_t row = 0; row < t->args->in.header->rows; row++) {
        ek__decode_run(t->args->in, row * t->args->cells + t->first, t->count, x);
        add_row(t, x);
    }
}

ek_status ek__reduce_add_host(const void *ptr)
{
    const ek__reduce_add_args *args = ptr;
    if (args->in.header->rows == 0) {
        return EK_OK;
    }
    bool packed = args->in.values == NULL && ek__reduce_exact(args->in.header->dtype);
    for (int64_t first = 0; first < args->cells; first += EK_TILE) {
        tile t = {args, first, EK_MIN(args->cells - first, EK_TILE)};
        if (packed) {
            add_packed(&t);
        } else {
            add_real(&t);
        }
    }
    return EK_OK;
}

ek_status ek__reduce_finish_host(const void *ptr)
{
    const ek__reduce_finish_args *args = ptr;
    for (int64_t c = 0; c < args->cells; c++) {
        ek__reduce_put(args, c);
    }
    return EK_OK;
}
