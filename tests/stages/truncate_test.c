/* SPDX-License-Identifier: Apache-2.0 */
/* Files cut short at every byte, as a transfer that was broken off leaves them, give an error or
 * what the whole file gives: never other values. */
#include "tests/support/loading.h"
#include "tests/support/ncmake.h"
#include "tests/support/near.h"

#include "core/loop.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a file gives: the stored values, and where and when they are. */
typedef struct content {
    int64_t n_time, n_cells;
    size_t n_bytes;
    void *bytes;
    double *times;
    double *coords; /* of all coordinates, one after the other */
    int64_t n_coords;
} content;

static void copy_field(const ek_field *field, content *out)
{
    out->n_time = field->n_time;
    out->n_cells = field->n_cells;
    out->n_bytes = (size_t)(field->n_time * field->n_cells) * field->value_bytes;
    out->times = malloc((size_t)field->n_time * sizeof(double));
    memcpy(out->times, field->time.values, (size_t)field->n_time * sizeof(double));
    for (int i = 0; i < field->n_coords; i++) {
        out->n_coords += field->coords[i].n_values;
    }
    out->coords = malloc((size_t)(out->n_coords + 1) * sizeof(double));
    double *to = out->coords;
    for (int i = 0; i < field->n_coords; i++) {
        memcpy(to, field->coords[i].values, (size_t)field->coords[i].n_values * sizeof(double));
        to += field->coords[i].n_values;
    }
}

/* Reads a file; false if it is refused at any point. */
static bool read_content(const char *path, int decoder, content *out)
{
    *out = (content){0};
    loading node;
    ek_load_options options = {.paths = &path, .n_paths = 1, .decoder = decoder};
    bool good =
        loading_open(&node, &options) == EK_OK && loading_raw(&node, 1, NULL, &out->bytes) == EK_OK;
    if (good) {
        copy_field(node.self.out.field, out);
    }
    loading_close(&node);
    return good;
}

static void free_content(content *c)
{
    free(c->bytes);
    free(c->times);
    free(c->coords);
}

static void assert_same(const content *a, const content *b)
{
    assert_int_equal(a->n_time, b->n_time);
    assert_int_equal(a->n_cells, b->n_cells);
    assert_int_equal(a->n_coords, b->n_coords);
    assert_memory_equal(a->bytes, b->bytes, b->n_bytes);
    assert_memory_equal(a->times, b->times, (size_t)b->n_time * sizeof(double));
    assert_memory_equal(a->coords, b->coords, (size_t)b->n_coords * sizeof(double));
}

/* Cuts the file byte by byte from its end; at most `spared` cuts may still be read: those of
 * padding that belongs to no value. */
static void check_cuts(const char *path, int decoder, int spared)
{
    content whole;
    assert_true(read_content(path, decoder, &whole));
    int64_t n_bytes = ncmake_bytes(path);
    assert_in_range(n_bytes, 1, 20000);
    const char *cut = ncmake_copy("cut.nc", path, -1);
    int read = 0;
    for (int64_t n = n_bytes - 1; n >= 0; n--) {
        content part;
        assert_int_equal(truncate(cut, (off_t)n), 0);
        if (read_content(cut, decoder, &part)) {
            assert_same(&part, &whole);
            read++;
        }
        free_content(&part);
    }
    free_content(&whole);
    print_message("[          ] %lld cuts, %d of padding only\n", (long long)n_bytes, read);
    assert_in_range(read, 0, spared);
}

/* The same after the plan has been made: then even padding is missed. */
static void check_late_cuts(const char *path)
{
    int64_t n_bytes = ncmake_bytes(path);
    for (int64_t n = n_bytes - 1; n >= 0; n -= n_bytes / 7 + 1) {
        const char *cut = ncmake_copy("late.nc", path, -1);
        loading node;
        void *bytes = NULL;
        ek_load_options options = {.paths = &cut, .n_paths = 1, .decoder = EK_DECODER_CHUNK};
        ek_assert_ok(loading_open(&node, &options));
        assert_int_equal(truncate(cut, (off_t)n), 0);
        assert_int_equal(loading_raw(&node, 1, NULL, &bytes), EK_EDATA);
        ek_assert_message("has changed since the plan was made");
        loading_close(&node);
    }
}

static void check_file(const ncmake *recipe, int spared)
{
    const char *path = ncmake_file("whole.nc", recipe);
    check_cuts(path, EK_DECODER_AUTO, spared);
    check_cuts(path, EK_DECODER_LIBRARY, spared);
    check_late_cuts(path);
}

static void classic_files(void **state)
{
    (void)state;
    check_file(&(ncmake){.type = NC_SHORT}, 3);
}

static void files_with_64_bit_offsets(void **state)
{
    (void)state;
    check_file(&(ncmake){.format = NC_64BIT_OFFSET, .type = NC_BYTE, .fixed_time = true}, 3);
}

static void deflate(int ncid, int varid)
{
    size_t planes[3] = {1, 3, 5};
    nc_def_var_chunking(ncid, varid, NC_CHUNKED, planes);
    nc_def_var_deflate(ncid, varid, 1, 1, 1);
}

static void netcdf4_files(void **state)
{
    (void)state;
    check_file(
        &(ncmake){.format = NC_NETCDF4, .type = NC_SHORT, .fixed_time = true, .more = deflate}, 0);
}

static int setup(void **state)
{
    (void)state;
    return ek_io_acquire() == EK_OK ? 0 : 1;
}

static int teardown(void **state)
{
    (void)state;
    ncmake_cleanup();
    ek_io_release();
    return ek_alloc_live() == 0 ? 0 : 1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(classic_files), TEST(files_with_64_bit_offsets),
                                       TEST(netcdf4_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
