/* SPDX-License-Identifier: Apache-2.0 */
/* Variables in the groups of netCDF-4 files: found by path, with the coordinates of their own group
 * and of those around it. */
#include "tests/support/loading.h"
#include "tests/support/ncmake.h"
#include "tests/support/near.h"

#include "core/loop.h"

#include <stdlib.h>
#include <string.h>

#define VALUES 60 /* of the file's v: 4 steps of 3 x 5 cells */

/* Adds /outer/lon with values 100, 101 ... and /outer/inner/w(time, lat, lon), deflated, over the
 * root's time and lat and the lon of /outer; w is twice v. A /outer/v is -1 throughout. */
static void add_groups(int ncid, int varid)
{
    (void)varid;
    int outer = 0, inner = 0, dims[3] = {0}, lon = 0, w = 0, v = 0;
    assert_int_equal(nc_def_grp(ncid, "outer", &outer), NC_NOERR);
    assert_int_equal(nc_def_grp(outer, "inner", &inner), NC_NOERR);
    assert_int_equal(nc_inq_dimid(ncid, "time", &dims[0]), NC_NOERR);
    assert_int_equal(nc_inq_dimid(ncid, "lat", &dims[1]), NC_NOERR);
    assert_int_equal(nc_def_dim(outer, "lon", 5, &dims[2]), NC_NOERR);
    assert_int_equal(nc_def_var(outer, "lon", NC_DOUBLE, 1, &dims[2], &lon), NC_NOERR);
    assert_int_equal(nc_put_att_text(outer, lon, "units", 12, "degrees_east"), NC_NOERR);
    assert_int_equal(nc_def_var(inner, "w", NC_FLOAT, 3, dims, &w), NC_NOERR);
    assert_int_equal(nc_put_att_text(inner, w, "units", 3, "m/s"), NC_NOERR);
    assert_int_equal(nc_def_var_deflate(inner, w, 1, 1, 4), NC_NOERR);
    assert_int_equal(nc_def_var(outer, "v", NC_FLOAT, 3, dims, &v), NC_NOERR);
    float values[VALUES], minus[VALUES];
    for (int i = 0; i < VALUES; i++) {
        values[i] = 2.0f * (float)ncmake_value(&(ncmake){0}, i / 15, i % 15);
        minus[i] = -1.0f;
    }
    const size_t start[3] = {0}, count[3] = {4, 3, 5};
    const double places[5] = {100, 101, 102, 103, 104};
    assert_int_equal(nc_enddef(ncid), NC_NOERR);
    assert_int_equal(nc_put_vara_float(inner, w, start, count, values), NC_NOERR);
    assert_int_equal(nc_put_vara_float(outer, v, start, count, minus), NC_NOERR);
    assert_int_equal(nc_put_var_double(outer, lon, places), NC_NOERR);
    assert_int_equal(nc_redef(ncid), NC_NOERR);
}

static void check_values(loading *node, float factor)
{
    void *raw = NULL;
    ek_assert_ok(loading_raw(node, 2, NULL, &raw));
    for (int64_t i = 0; i < node->self.out.field->n_time * 15; i++) {
        float want = factor * (float)ncmake_value(&(ncmake){0}, (int)(i / 15 % 4), (int)(i % 15));
        assert_true(((const float *)raw)[i] == want);
    }
    free(raw);
}

static void a_variable_in_a_group_is_read(void **state)
{
    (void)state;
    const char *paths[2] = {
        ncmake_file("a.nc", &(ncmake){.format = NC_NETCDF4, .more = add_groups}),
        ncmake_file("b.nc", &(ncmake){.format = NC_NETCDF4, .more = add_groups, .first = 4})};
    static const char *const names[] = {"/outer/inner/w", "outer/inner/w"};
    for (size_t i = 0; i < 4; i++) {
        loading node;
        ek_load_options options = {.paths = paths, .n_paths = 2, .variable = names[i % 2]};
        options.decoder = i < 2 ? EK_DECODER_CHUNK : EK_DECODER_LIBRARY;
        ek_assert_ok(loading_open(&node, &options));
        const ek_field *field = node.self.out.field;
        assert_string_equal(field->name, "w");
        assert_string_equal(field->units, "m/s");
        assert_int_equal(field->n_time, 8);
        assert_string_equal(field->time.units, "days since 2000-01-01"); /* the root's */
        assert_int_equal(field->n_coords, 2);
        assert_string_equal(field->coords[0].name, "lat"); /* the root's */
        assert_true(field->coords[1].values[4] == 104.0);  /* of the nearest group */
        check_values(&node, 2.0f);
        loading_close(&node);
    }
}

static void the_root_has_paths_too(void **state)
{
    (void)state;
    const char *path = ncmake_file("a.nc", &(ncmake){.format = NC_NETCDF4, .more = add_groups});
    static const char *const names[] = {"v", "/v"};
    for (size_t i = 0; i < EK_COUNT(names); i++) {
        loading node;
        ek_load_options options = {.paths = &path, .n_paths = 1, .variable = names[i]};
        ek_assert_ok(loading_open(&node, &options));
        check_values(&node, 1.0f);
        loading_close(&node);
    }
}

static void what_no_group_has_is_refused(void **state)
{
    (void)state;
    const char *path = ncmake_file("a.nc", &(ncmake){.format = NC_NETCDF4, .more = add_groups});
    /* A path means this group and none around it. */
    static const char *const names[] = {"w",      "/outer/w", "/none/w", "/outer/inner/v",
                                        "outer/", "/"};
    for (size_t i = 0; i < EK_COUNT(names); i++) {
        loading node;
        ek_load_options options = {.paths = &path, .n_paths = 1, .variable = names[i]};
        assert_int_equal(loading_open(&node, &options), EK_ENOENT);
        ek_assert_message("name those in groups as /GROUP/NAME");
        loading_close(&node);
    }
}

static int setup(void **state)
{
    (void)state;
    return ek_io_acquire() == EK_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    ncmake_cleanup();
    ek_io_release();
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_variable_in_a_group_is_read),
        TEST(the_root_has_paths_too),
        TEST(what_no_group_has_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
