/* SPDX-License-Identifier: Apache-2.0 */
/* The odd corners of storage, read through the load stage: parts never written, filters left out
 * chunk by chunk, variables of many jobs, files stored differently in one series. The argument is
 * the number of reading threads. */
#include "tests/support/gridcheck.h"
#include "tests/support/ncmake.h"
#include "tests/support/near.h"

#include "core/loop.h"

#include <hdf5.h>
#include <libdeflate.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void parts_never_written(void **state)
{
    (void)state;
    static const struct {
        int first, written;
    } parts[] = {{0, 4}, {4, 7}, {3, 1}, {0, -1}};
    static const nc_type types[] = {NC_SHORT, NC_FLOAT, NC_BYTE};
    for (size_t i = 0; i < EK_COUNT(parts) * EK_COUNT(types) * 4; i++) {
        ncgrid recipe = {.first = parts[i / 12].first,
                         .written = parts[i / 12].written,
                         .type = types[i / 4 % 3],
                         .packed = types[i / 4 % 3] == NC_SHORT && i / 2 % 2 == 0,
                         .fixed_time = i % 2 != 0,
                         .no_fill = i / 2 % 2 != 0};
        gridcheck(&recipe, OWN_ROWS);
        recipe.format = NC_NETCDF4;
        for (int layout = 0; layout < NCGRID_LAYOUTS; layout++) {
            recipe.layout = (ncgrid_layout)layout;
            recipe.filters = layout > 0 ? NCGRID_SHUFFLE | NCGRID_DEFLATE : 0;
            if (layout > 0 || recipe.fixed_time) {
                /* What is not in the file, or may hold anything, may be left to the library. */
                bool absent = recipe.no_fill || recipe.written < 0 ||
                              (!recipe.fixed_time && recipe.first + recipe.written < 11);
                gridcheck(&recipe, absent ? "" : gridcheck_own(recipe.layout));
            }
        }
    }
}

#define MASK_LAT   7
#define MASK_LON   9
#define MASK_CELLS (MASK_LAT * MASK_LON)

/* Filters one plane of int16 as HDF5 would, leaving out what the mask names (bit 0: shuffle, bit 1:
 * deflate); returns its size. */
static size_t filter_plane(const int16_t *values, unsigned mask, uint8_t *out, size_t room)
{
    uint8_t bytes[2 * MASK_CELLS];
    memcpy(bytes, values, sizeof(bytes));
    for (size_t i = 0; i < MASK_CELLS && (mask & 1) == 0; i++) {
        bytes[i] = ((const uint8_t *)values)[2 * i];
        bytes[MASK_CELLS + i] = ((const uint8_t *)values)[2 * i + 1];
    }
    if ((mask & 2) != 0) {
        memcpy(out, bytes, sizeof(bytes));
        return sizeof(bytes);
    }
    struct libdeflate_compressor *deflate = libdeflate_alloc_compressor(6);
    size_t n = libdeflate_zlib_compress(deflate, bytes, sizeof(bytes), out, room);
    libdeflate_free_compressor(deflate);
    return n;
}

/* Writes time steps 0 to 7 of a file's v, each plane with another filter mask. */
static ek_status write_masked(void *user)
{
    hid_t file = H5Fopen(user, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t v = H5Dopen2(file, "v", H5P_DEFAULT);
    herr_t failed = file < 0 || v < 0 ? -1 : 0;
    for (hsize_t t = 0; t < 8 && failed == 0; t++) {
        hsize_t at[3] = {t, 0, 0};
        int16_t values[MASK_CELLS];
        uint8_t stored[4 * MASK_CELLS];
        ncgrid_values(NC_SHORT, (int64_t)t * MASK_CELLS, MASK_CELLS, values);
        unsigned mask = (unsigned)t % 4;
        size_t n = filter_plane(values, mask, stored, sizeof(stored));
        failed = H5Dwrite_chunk(v, H5P_DEFAULT, mask, at, n, stored);
    }
    H5Dclose(v);
    H5Fclose(file);
    return failed == 0 ? EK_OK : EK_FAIL(EK_EIO, "HDF5 cannot write %s", (const char *)user);
}

static void filter_masks(void **state)
{
    (void)state;
    const char *path = ncgrid_file("masks.nc", &(ncgrid){.format = NC_NETCDF4,
                                                         .type = NC_SHORT,
                                                         .layout = NCGRID_PLANES,
                                                         .filters = NCGRID_SHUFFLE | NCGRID_DEFLATE,
                                                         .n_lat = MASK_LAT,
                                                         .n_lon = MASK_LON,
                                                         .fixed_time = true,
                                                         .packed = true,
                                                         .written = -1});
    ek_assert_ok(ek_io_call(write_masked, (void *)path));
    plain from;
    plain_read(path, "v", &from);
    int16_t values[8 * MASK_CELLS];
    ncgrid_values(NC_SHORT, 0, 8 * MASK_CELLS, values);
    assert_memory_equal(from.bytes, values, sizeof(values));
    free(from.bytes);
    gridcheck_file(&(subject){
        .path = path, .text = "filter masks", .decoder = OWN_CHUNKS, .packed = true, .rows = 11});
}

static void large_variables_are_read_in_several_jobs(void **state)
{
    (void)state;
    for (int layout = 0; layout < NCGRID_LAYOUTS; layout++) {
        for (int format = 0; format <= NC_NETCDF4; format += NC_NETCDF4) {
            ncgrid recipe = {.format = format,
                             .layout = (ncgrid_layout)layout,
                             .filters = layout > 0 ? NCGRID_SHUFFLE | NCGRID_DEFLATE : 0,
                             .n_time = 41,
                             .n_lat = 101,
                             .n_lon = 151,
                             .fixed_time = layout == 0};
            const char *path = ncgrid_file("large.nc", &recipe);
            loading node;
            ek_assert_ok(loading_open(
                &node, &(ek_load_options){.paths = &path, .n_paths = 1, .variable = "v"}));
            if (layout != NCGRID_WHOLE || format == 0) {
                assert_true(loading_most_jobs(&node) > 1);
            }
            loading_close(&node);
            gridcheck(&recipe, format == 0 ? OWN_ROWS : gridcheck_own(recipe.layout));
        }
    }
}

/* Chunks that run on from a file to the next, whoever reads the two. */
static void files_stored_differently_make_one_series(void **state)
{
    (void)state;
    static const ncgrid recipes[] = {
        {.type = NC_SHORT, .packed = true},
        {.type = NC_SHORT,
         .packed = true,
         .format = NC_NETCDF4,
         .layout = NCGRID_TILES,
         .filters = NCGRID_DEFLATE,
         .day0 = 11},
        {.type = NC_SHORT,
         .packed = true,
         .format = NC_NETCDF4,
         .layout = NCGRID_PLANES,
         .filters = NCGRID_ZSTD,
         .day0 = 22},
        {.type = NC_SHORT,
         .packed = true,
         .format = NC_NETCDF4,
         .fixed_time = true,
         .day0 = 33,
         .endian = NC_ENDIAN_BIG},
    };
    static const char *const names[] = {"a.nc", "b.nc", "c.nc", "d.nc"};
    const char *paths[EK_COUNT(recipes)];
    int n_paths = ncgrid_can(NCGRID_ZSTD) ? 4 : 2;
    for (int i = 0; i < n_paths; i++) {
        paths[i] = ncgrid_file(names[i], &recipes[i]);
    }
    for (int64_t chunk = 0; chunk < 24; chunk++) {
        collected got;
        loading_values(&(ek_load_options){.paths = paths, .n_paths = n_paths, .chunk = chunk},
                       gridcheck_threads(), &got);
        for (int i = 0; i < n_paths; i++) {
            plain from;
            plain_read(paths[i], "v", &from);
            for (int64_t k = 0; k < from.n_values; k++) {
                double expected = gridcheck_value(&from, true, k);
                double value = got.values[i * from.n_values + k];
                assert_true(value == expected || (isnan(value) && isnan(expected)));
            }
            free(from.bytes);
        }
        collected_fini(&got);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, gridcheck_setup, gridcheck_teardown)

int main(int argc, char **argv)
{
    gridcheck_arguments(argc, argv);
    const struct CMUnitTest tests[] = {
        TEST(parts_never_written),
        TEST(filter_masks),
        TEST(large_variables_are_read_in_several_jobs),
        TEST(files_stored_differently_make_one_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
