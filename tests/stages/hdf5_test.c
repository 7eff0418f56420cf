/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of netCDF-4 files by itself: every layout it takes against nc_get_vara, what it
 * declines and why, and damaged files. */
#include "tests/support/decoding.h"
#include "tests/support/h5make.h"
#include "tests/support/ncgrid.h"
#include "tests/support/ncmake.h"
#include "tests/support/near.h"

#include "core/loop.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void check_file(const char *path, int time_dim, const char *text)
{
    decoding d;
    decoding_open(&d, ek__decoder_hdf5, path, "v", time_dim);
    decoding_check(&d);
    assert_string_equal(d.decoder->text, text);
    decoding_close(&d);
}

static void declines(const char *path, int time_dim, const char *reason)
{
    decoding d;
    decoding_open(&d, ek__decoder_hdf5, path, "v", time_dim);
    assert_null(d.decoder);
    assert_string_equal(d.reason, reason);
    decoding_close(&d);
}

static void whatever_netcdf_writes_is_decoded(void **state)
{
    (void)state;
    static const struct {
        unsigned filters;
        const char *text;
    } cases[] = {
        {0, "chunk (no filter"},
        {NCGRID_SHUFFLE, "chunk (shuffle"},
        {NCGRID_DEFLATE, "chunk (deflate"},
        {NCGRID_SHUFFLE | NCGRID_DEFLATE, "chunk (shuffle, deflate"},
    };
    for (size_t c = 0; c < EK_COUNT(cases); c++) {
        for (const nc_type *type = ncgrid_types(NC_NETCDF4); *type != NC_NAT; type++) {
            for (unsigned bits = 0; bits < 12; bits++) {
                bool big = (bits & 1) != 0;
                ncgrid recipe = {.format = NC_NETCDF4,
                                 .type = *type,
                                 .layout = (ncgrid_layout)(NCGRID_PLANES + bits / 4),
                                 .filters = cases[c].filters,
                                 .fixed_time = (bits & 2) != 0,
                                 .endian = big ? NC_ENDIAN_BIG : NC_ENDIAN_LITTLE};
                bool swaps = big && *type != NC_BYTE && *type != NC_UBYTE;
                char text[96];
                snprintf(text, sizeof(text), "%s%s)", cases[c].text,
                         swaps ? ", other byte order" : "");
                check_file(ncgrid_file("grid.nc", &recipe), 0, text);
            }
        }
    }
}

static void rows_without_chunks_are_read_directly(void **state)
{
    (void)state;
    for (const nc_type *type = ncgrid_types(NC_NETCDF4); *type != NC_NAT; type++) {
        ncgrid recipe = {.format = NC_NETCDF4, .type = *type, .fixed_time = true};
        check_file(ncgrid_file("rows.nc", &recipe), 0, "direct (contiguous)");
        recipe.endian = NC_ENDIAN_BIG;
        bool swaps = *type != NC_BYTE && *type != NC_UBYTE;
        check_file(ncgrid_file("rows.nc", &recipe), 0,
                   swaps ? "direct (contiguous, other byte order)" : "direct (contiguous)");
    }
}

/* Chunks of all filters and every set of them left out, side by side; some never written. */
static void filters_left_out_chunk_by_chunk(void **state)
{
    (void)state;
    static const struct {
        h5make recipe;
        const char *text;
    } cases[] = {
        {{.filters = "sdf"}, "chunk (shuffle, deflate, fletcher32)"},
        {{.filters = "sfd"}, "chunk (shuffle, fletcher32, deflate)"},
        {{.filters = "fsd"}, "chunk (fletcher32, shuffle, deflate)"},
        {{.filters = "sd"}, "chunk (shuffle, deflate)"},
        {{.filters = "ds"}, "chunk (deflate, shuffle)"},
        {{.filters = "dsf"}, "chunk (deflate, shuffle, fletcher32)"},
        {{.filters = "dfs"}, "chunk (deflate, fletcher32, shuffle)"},
        {{.filters = "fds"}, "chunk (fletcher32, deflate, shuffle)"},
        {{.filters = "df"}, "chunk (deflate, fletcher32)"},
        {{.filters = "sf"}, "chunk (shuffle, fletcher32)"},
        {{.filters = "d"}, "chunk (deflate)"},
        {{.filters = "f"}, "chunk (fletcher32)"},
        {{.filters = ""}, "chunk (no filter)"},
    };
    static const int sizes[] = {1, 2, 4, 8};
    for (size_t c = 0; c < EK_COUNT(cases); c++) {
        for (int i = 0; i < 4 * 4; i++) {
            h5make recipe = cases[c].recipe;
            recipe.value_bytes = sizes[i % 4];
            recipe.tiled = i / 4 % 2 != 0;
            recipe.unwritten = i / 8 != 0;
            recipe.masked = true;
            check_file(h5make_file("masks.h5", &recipe), 0, cases[c].text);
        }
    }
}

static void many_chunks_and_headers_in_pieces(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++) {
        h5make recipe = {.filters = "sd",
                         .value_bytes = 2,
                         .wide_nodes = i >= 8,
                         .n_time = i % 8 < 4 ? 3000 : 60,
                         .attributes = i % 2 != 0 ? 40 : 0,
                         .header_v2 = i % 4 >= 2};
        const char *path = h5make_file("many.h5", &recipe);
        check_file(path, 0, "chunk (shuffle, deflate)");
    }
}

/* The kinds of index of HDF5 1.10: one chunk, fixed, extensible, and trees of version 2. */
static void newer_indexes_where_hdf5_lists_them(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        h5make recipe = {.filters = i % 2 != 0 ? "sd" : "",
                         .value_bytes = 2,
                         .newest = true,
                         .tiled = i % 4 >= 2,
                         .fixed = i >= 4};
        const char *path = h5make_file("newest.h5", &recipe);
        if (H5MAKE_LISTS_CHUNKS) {
            check_file(path, 0, i % 2 != 0 ? "chunk (shuffle, deflate)" : "chunk (no filter)");
        } else {
            declines(path, 0, "chunk index of a newer form");
        }
    }
}

static void dimensions_of_size_one_before_time(void **state)
{
    (void)state;
    h5make recipe = {.filters = "sd", .value_bytes = 4, .leading = 1};
    check_file(h5make_file("one.h5", &recipe), 1, "chunk (shuffle, deflate)");
    recipe.leading = 5; /* unlimited, in chunks of five */
    check_file(h5make_file("five.h5", &recipe), 1, "chunk (shuffle, deflate)");
    recipe.tiled = true;
    check_file(h5make_file("tiled.h5", &recipe), 1, "chunk (shuffle, deflate)");
}

static void values_never_written_are_the_fill_value(void **state)
{
    (void)state;
    h5make recipe = {.value_bytes = 2, .layout = H5MAKE_CONTIGUOUS, .unwritten = true};
    check_file(h5make_file("rows.h5", &recipe), 0, "direct (contiguous)");
    recipe = (h5make){.value_bytes = 2, .filters = "", .unwritten = true, .no_fill = true};
    declines(h5make_file("none.h5", &recipe), 0, "chunks never written and no fill value");
    recipe.layout = H5MAKE_CONTIGUOUS;
    declines(h5make_file("none.h5", &recipe), 0, "values never written and no fill value");
}

static void what_is_not_known_for_certain_is_declined(void **state)
{
    (void)state;
    static const struct {
        h5make recipe;
        const char *reason;
    } cases[] = {
        {{.layout = H5MAKE_COMPACT}, "no chunks: compact"},
        {{.layout = H5MAKE_VIRTUAL}, "no chunks: virtual"},
        {{.layout = H5MAKE_EXTERNAL}, "values in an external file"},
        {{.filters = "n"}, "filter nbit"},
        {{.filters = "o"}, "filter scaleoffset"},
        {{.filters = "z"}, "filter szip"},
        {{.filters = "x"}, "filter 305"},
        {{.filters = "sx"}, "filter 305"},
        {{.filters = "dd"}, "a filter applied twice"},
        {{.filters = "sds"}, "a filter applied twice"},
        {{.user_block = 512}, "user block"},
        {{.user_block = 4096, .layout = H5MAKE_CONTIGUOUS}, "user block"},
        {{.soft_link = true}, "not in the file itself"},
        {{.huge = true}, "chunks too large to decode at once"},
        {{.narrow = true}, "a stored type of another kind"},
        {{.newest = true, .bare_edges = true, .tiled = true}, "chunks at the edge without filters"},
    };
    for (size_t c = 0; c < EK_COUNT(cases); c++) {
        h5make recipe = cases[c].recipe;
        recipe.value_bytes = 2;
        if (h5make_can(&recipe)) {
            declines(h5make_file("odd.h5", &recipe), 0, cases[c].reason);
        } else {
            print_message("[  NOTICE  ] this HDF5 cannot write: %s\n", cases[c].reason);
        }
    }
    ncmake classic = {.n_time = 5};
    declines(ncmake_file("classic.nc", &classic), 0, "not HDF5");
}

/* v has fewer steps than the unlimited dimension, which another variable has lengthened. */
static ek_status lengthen(void *user)
{
    int ncid = -1, dim = -1, other = -1, code = nc_open(user, NC_WRITE, &ncid);
    code = code == NC_NOERR ? nc_inq_dimid(ncid, "time", &dim) : code;
    code = code == NC_NOERR ? nc_redef(ncid) : code;
    code = code == NC_NOERR ? nc_def_var(ncid, "longer", NC_INT, 1, &dim, &other) : code;
    code = code == NC_NOERR ? nc_enddef(ncid) : code;
    size_t at = 30;
    int one = 1;
    code = code == NC_NOERR ? nc_put_var1_int(ncid, other, &at, &one) : code;
    nc_close(ncid);
    return code == NC_NOERR ? EK_OK : EK_FAIL(EK_ENETCDF, "%s", nc_strerror(code));
}

static void a_shorter_variable_is_declined(void **state)
{
    (void)state;
    ncgrid recipe = {.format = NC_NETCDF4, .layout = NCGRID_PLANES};
    const char *path = ncgrid_file("short.nc", &recipe);
    ek_assert_ok(ek_io_call(lengthen, (void *)path));
    declines(path, 0, "stored for another number of time steps or cells");
}

static void put_byte(const char *path, int64_t at, uint8_t change)
{
    struct stat before;
    int fd = open(path, O_RDWR);
    uint8_t byte = 0;
    assert_int_equal(fstat(fd, &before), 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= change;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    struct timespec times[2] = {before.st_atim, before.st_mtim};
    assert_int_equal(futimens(fd, times), 0); /* as damage does that no one writes */
    close(fd);
}

static void damage_is_an_error_or_does_no_harm(void **state)
{
    (void)state;
    static const char *const filters[] = {"sd", "sdf", "fsd", "f"};
    for (size_t f = 0; f < EK_COUNT(filters); f++) {
        h5make recipe = {.value_bytes = 2, .filters = filters[f]};
        const char *path = h5make_file("damaged.h5", &recipe);
        decoding d;
        decoding_open(&d, ek__decoder_hdf5, path, "v", 0);
        decoding_check(&d);
        size_t n = (size_t)d.n_rows * d.row_bytes;
        uint8_t *out = malloc(n);
        int failed = 0;
        for (int64_t at = 0; at < ncmake_bytes(path); at += 7) {
            put_byte(path, at, (uint8_t)(1U << at % 8));
            if (decoding_read(&d, 0, d.n_rows, out) != EK_OK) {
                failed++;
                assert_int_equal(ek_error_last()->status, EK_EDATA);
                ek_assert_message(path);
                ek_assert_message("the time steps ");
                ek_assert_message(" of v cannot be decoded: it");
            } else {
                assert_memory_equal(out, d.expected, n);
            }
            put_byte(path, at, (uint8_t)(1U << at % 8));
        }
        assert_true(failed > 100);
        free(out);
        decoding_close(&d);
    }
}

static void a_file_that_changes_is_refused(void **state)
{
    (void)state;
    h5make recipes[] = {{.value_bytes = 2, .filters = "sd"},
                        {.value_bytes = 2, .layout = H5MAKE_CONTIGUOUS}};
    for (size_t i = 0; i < EK_COUNT(recipes); i++) {
        const char *path = h5make_file("changing.h5", &recipes[i]);
        decoding d;
        decoding_open(&d, ek__decoder_hdf5, path, "v", 0);
        uint8_t *out = malloc((size_t)d.n_rows * d.row_bytes);
        ek_assert_ok(decoding_read(&d, 0, d.n_rows, out));
        assert_int_equal(truncate(path, ncmake_bytes(path) - 1), 0);
        assert_int_equal(decoding_read(&d, 0, d.n_rows, out), EK_EDATA);
        ek_assert_message("has changed since the plan was made");
        assert_int_equal(unlink(path), 0);
        assert_int_equal(decoding_read(&d, 0, d.n_rows, out), EK_EIO);
        ek_assert_message(path);
        free(out);
        decoding_close(&d);
    }
}

static void lack_of_memory_is_the_only_error(void **state)
{
    (void)state;
    h5make recipe = {.value_bytes = 2, .filters = "sd", .n_time = 500};
    const char *path = h5make_file("memory.h5", &recipe);
    int64_t live = ek_alloc_live();
    bool made = false;
    for (int n = 1; !made; n++) {
        ek_status rc = decoding_attempt(ek__decoder_hdf5, path, "v", n);
        assert_true(rc == EK_OK || rc == EK_ENOMEM);
        assert_int_equal(ek_alloc_live(), live);
        made = rc == EK_OK;
        assert_true(n < 1000);
    }
}

static int setup(void **state)
{
    (void)state;
    return ek_io_acquire() == EK_OK && ek_io_call(h5make_prepare, NULL) == EK_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    ncmake_cleanup();
    ek_io_release();
    return ek_alloc_live() == 0 ? 0 : -1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(whatever_netcdf_writes_is_decoded),
        TEST(rows_without_chunks_are_read_directly),
        TEST(filters_left_out_chunk_by_chunk),
        TEST(many_chunks_and_headers_in_pieces),
        TEST(newer_indexes_where_hdf5_lists_them),
        TEST(dimensions_of_size_one_before_time),
        TEST(values_never_written_are_the_fill_value),
        TEST(what_is_not_known_for_certain_is_declined),
        TEST(a_shorter_variable_is_declined),
        TEST(damage_is_an_error_or_does_no_harm),
        TEST(a_file_that_changes_is_refused),
        TEST(lack_of_memory_is_the_only_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
