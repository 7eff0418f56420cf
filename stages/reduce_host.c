/* SPDX-License-Identifier: Apache-2.0 */
/* The reduce stage's kernels on the host, in loops that the compiler turns into vector code
 * (compiled with -O3). Cells are taken a tile at a time, so that the tile's accumulators stay in
 * cache over all rows, and rows a batch at a time, so that they stay in registers. Sums that no
 * statistic asks for are not made. */
#include "stages/reduce_kernels.h"

#include "core/clones.h"

#define BATCH 4 /* rows */

/* A value read from the chunk where a packed integer is missing; no 8- or 16-bit value is this. */
#define MISSING INT32_MAX

typedef struct tile {
    const ek__reduce_add_args *args;
    int64_t first, count; /* cells */
} tile;

/* The loops below do what ek__real_add and ek__packed_add do, for a batch of rows of a tile,
 * EK_TILE values apart. */
EK_CLONES static void add_sums(int32_t *restrict n, double *restrict x0, double *restrict sum,
                               const double *restrict x, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int32_t valid = n[i];
        double first = x0[i], total = sum[i];
        for (int row = 0; row < BATCH; row++) {
            double value = x[row * EK_TILE + i];
            first = valid == 0 ? value : first; /* NaN at first does not count and is replaced */
            valid += value == value ? 1 : 0;
            total += value == value ? value - first : 0.0;
        }
        n[i] = valid;
        x0[i] = first;
        sum[i] = total;
    }
}

EK_CLONES static void add_squares(double *restrict squares, const double *restrict x0,
                                  const double *restrict x, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        double total = squares[i];
        for (int row = 0; row < BATCH; row++) {
            double value = x[row * EK_TILE + i];
            double d = value == value ? value - x0[i] : 0.0;
            total += d * d;
        }
        squares[i] = total;
    }
}

EK_CLONES static void add_extremes(double *restrict min, double *restrict max,
                                   const double *restrict x, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        double low = min[i], high = max[i];
        for (int row = 0; row < BATCH; row++) {
            double value = x[row * EK_TILE + i];
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        min[i] = low;
        max[i] = high;
    }
}

EK_CLONES static void add_packed_sums(int32_t *restrict n, int64_t *restrict sum,
                                      const int32_t *restrict q, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int32_t valid = 0, total = 0; /* a batch of 16-bit values fits into 32 bits */
        for (int row = 0; row < BATCH; row++) {
            int32_t value = q[row * EK_TILE + i];
            valid += value != MISSING ? 1 : 0;
            total += value != MISSING ? value : 0;
        }
        n[i] += valid;
        sum[i] += total;
    }
}

EK_CLONES static void add_packed_squares(uint64_t *restrict squares, const int32_t *restrict q,
                                         int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t total = squares[i];
        for (int row = 0; row < BATCH; row++) {
            int32_t value = q[row * EK_TILE + i];
            uint32_t kept = value != MISSING ? (uint32_t)value : 0;
            total += kept * kept; /* below 2^32 for 16 bits of either sign */
        }
        squares[i] = total;
    }
}

EK_CLONES static void add_packed_extremes(int32_t *restrict min, int32_t *restrict max,
                                          const int32_t *restrict q, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int32_t low = min[i], high = max[i];
        for (int row = 0; row < BATCH; row++) {
            int32_t value = q[row * EK_TILE + i];
            int32_t other = value != MISSING ? value : INT32_MIN;
            low = value < low ? value : low;
            high = other > high ? other : high;
        }
        min[i] = low;
        max[i] = high;
    }
}

/* One function per stored type: a run of packed integers, with MISSING for the missing ones. */
#define DEFINE_READ_PACKED(type)                                                                   \
    EK_CLONES static void read_##type(const type *restrict raw, const int32_t *restrict missing,   \
                                      int64_t count, int32_t *restrict q)                          \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                      \
            bool gone = false;                                                                     \
            for (int j = 0; j < EK_MISSING_MAX; j++) {                                             \
                gone |= raw[i] == missing[j];                                                      \
            }                                                                                      \
            q[i] = gone ? MISSING : raw[i];                                                        \
        }                                                                                          \
    }

DEFINE_READ_PACKED(int8_t)
DEFINE_READ_PACKED(uint8_t)
DEFINE_READ_PACKED(int16_t)
DEFINE_READ_PACKED(uint16_t)

static void read_packed(const tile *t, const int32_t *missing, int64_t row, int32_t *q)
{
    const ek_chunk_header *header = t->args->in.header;
    int64_t at = row * t->args->cells + t->first;
    switch (header->dtype) {
    case EK_I8:
        read_int8_t((const int8_t *)header->data + at, missing, t->count, q);
        break;
    case EK_U8:
        read_uint8_t((const uint8_t *)header->data + at, missing, t->count, q);
        break;
    case EK_I16:
        read_int16_t((const int16_t *)header->data + at, missing, t->count, q);
        break;
    default:
        read_uint16_t((const uint16_t *)header->data + at, missing, t->count, q);
        break;
    }
}

static void add_packed(const tile *t)
{
    const ek_chunk_header *header = t->args->in.header;
    const ek__reduce_state *s = &t->args->state;
    for (int64_t c = t->first; c < t->first + t->count; c++) {
        ek__packed_begin(s, c, header->scale, header->offset);
        ek__packed_store(s, c, ek__packed_load(s, c)); /* gives empty sums their first extremes */
    }
    int32_t missing[EK_MISSING_MAX];
    ek__missing_integers(header, missing);
    int32_t q[BATCH * EK_TILE];
    for (int64_t row = 0; row < header->rows; row += BATCH) {
        for (int64_t i = 0; i < BATCH; i++) {
            if (row + i < header->rows) {
                read_packed(t, missing, row + i, q + i * EK_TILE);
                continue;
            }
            for (int64_t c = 0; c < t->count; c++) {
                q[i * EK_TILE + c] = MISSING;
            }
        }
        add_packed_sums(s->packed.n + t->first, s->packed.sum + t->first, q, t->count);
        if (t->args->wants_squares) {
            add_packed_squares(s->packed.squares + t->first, q, t->count);
        }
        if (t->args->wants_extremes) {
            add_packed_extremes(s->packed.min + t->first, s->packed.max + t->first, q, t->count);
        }
    }
}

static void add_real(const tile *t)
{
    const ek__reduce_state *s = &t->args->state;
    for (int64_t c = t->first; c < t->first + t->count; c++) {
        ek__real_store(s, c, ek__real_load(s, c)); /* gives empty sums their first extremes */
    }
    int64_t rows = t->args->in.header->rows;
    double x[BATCH * EK_TILE];
    for (int64_t row = 0; row < rows; row += BATCH) {
        for (int64_t i = 0; i < BATCH; i++) {
            if (row + i < rows) {
                ek__decode_run(t->args->in, (row + i) * t->args->cells + t->first, t->count,
                               x + i * EK_TILE);
                continue;
            }
            for (int64_t c = 0; c < t->count; c++) {
                x[i * EK_TILE + c] = (double)NAN;
            }
        }
        double *x0 = s->real.x0 + t->first;
        add_sums(s->real.n + t->first, x0, s->real.sum + t->first, x, t->count);
        if (t->args->wants_squares) {
            add_squares(s->real.squares + t->first, x0, x, t->count);
        }
        if (t->args->wants_extremes) {
            add_extremes(s->real.min + t->first, s->real.max + t->first, x, t->count);
        }
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
