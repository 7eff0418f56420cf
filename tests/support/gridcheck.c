/* SPDX-License-Identifier: Apache-2.0 */
/* Holds files against the netCDF library. */
#include "tests/support/gridcheck.h"

#include "tests/support/ncmake.h"
#include "tests/support/near.h"

#include "core/loop.h"
#include "stages/load/nc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int n_threads = 4;
static const int64_t chunks[] = {1, 5, 0};

double gridcheck_value(const plain *from, bool packed, int64_t i)
{
    double raw = plain_value(from, i);
    if (!isfinite(raw)) {
        return (double)NAN;
    }
    if (packed) {
        volatile double scaled = raw * NCGRID_SCALE; /* two roundings */
        return raw == NCGRID_FILL ? (double)NAN : scaled + NCGRID_OFFSET;
    }
    bool filled = (from->type == NC_FLOAT && raw == (double)NC_FILL_FLOAT) ||
                  (from->type == NC_DOUBLE && raw == NC_FILL_DOUBLE);
    return filled ? (double)NAN : raw;
}

static void check_bytes(const subject *s, const plain *from)
{
    for (size_t c = 0; c < EK_COUNT(chunks); c++) {
        loading node;
        void *raw = NULL;
        ek_assert_ok(loading_open(
            &node, &(ek_load_options){
                       .paths = &s->path, .n_paths = 1, .variable = "v", .chunk = chunks[c]}));
        if (strncmp(loading_decoder(&node), s->decoder, strlen(s->decoder)) != 0) {
            fail_msg("%s: the decoder is %s, not %s", s->text, loading_decoder(&node), s->decoder);
        }
        ek_assert_ok(loading_raw(&node, n_threads, NULL, &raw));
        size_t row = from->n_bytes / (size_t)node.self.out.field->n_time;
        size_t at = (size_t)s->first * row;
        if (memcmp((char *)raw + at, (char *)from->bytes + at, (size_t)s->rows * row) != 0) {
            fail_msg("%s: stored bytes differ in chunks of %d", s->text, (int)chunks[c]);
        }
        free(raw);
        loading_close(&node);
    }
}

/* Bytes are read in all sizes of chunks, values in one of them, another each time. */
static void check_values(const subject *s, const plain *from)
{
    static size_t turn;
    int64_t chunk = chunks[turn++ % EK_COUNT(chunks)];
    collected got;
    loading_values(
        &(ek_load_options){.paths = &s->path, .n_paths = 1, .variable = "v", .chunk = chunk},
        n_threads, &got);
    int64_t cells = got.spec.extent[EK_AXIS_CELL];
    for (int64_t i = s->first * cells; i < (s->first + s->rows) * cells; i++) {
        double expected = gridcheck_value(from, s->packed, i);
        double value = got.values[i];
        if (!(value == expected || (isnan(value) && isnan(expected)))) {
            fail_msg("%s: value %d is %.17g, not %.17g, in chunks of %d", s->text, (int)i, value,
                     expected, (int)chunk);
        }
    }
    collected_fini(&got);
}

void gridcheck_file(const subject *s)
{
    plain from;
    plain_read(s->path, "v", &from);
    check_bytes(s, &from);
    check_values(s, &from);
    free(from.bytes);
}

/* Makes a file by a recipe and checks it. */
void gridcheck(const ncgrid *recipe, const char *decoder)
{
    subject s = {.path = ncgrid_file("grid.nc", recipe),
                 .text = ncgrid_text(recipe),
                 .decoder = decoder,
                 .packed = recipe->packed,
                 .rows = recipe->n_time > 0 ? recipe->n_time : 11};
    if (recipe->no_fill && (recipe->format & NC_NETCDF4) != 0) {
        s.first = recipe->first; /* nothing says what the other rows hold */
        s.rows = recipe->written > 0 ? recipe->written : 0;
    }
    gridcheck_file(&s);
}

const char *gridcheck_own(ncgrid_layout layout)
{
    return layout == NCGRID_CONTIGUOUS ? OWN_ROWS : OWN_CHUNKS;
}

void gridcheck_arguments(int argc, char **argv)
{
    n_threads = argc > 1 ? (int)strtol(argv[1], NULL, 10) : n_threads;
}

int gridcheck_threads(void)
{
    return n_threads;
}

static ek_status prepare(void *user)
{
    (void)user;
    ek__nc_quiet();
    ncgrid_zstd_register();
    return EK_OK;
}

int gridcheck_setup(void **state)
{
    (void)state;
    return ek_io_acquire() == EK_OK && ek_io_call(prepare, NULL) == EK_OK ? 0 : -1;
}

int gridcheck_teardown(void **state)
{
    (void)state;
    ncmake_cleanup();
    ek_io_release();
    return ek_alloc_live() == 0 ? 0 : -1;
}
