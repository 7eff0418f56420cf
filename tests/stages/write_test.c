/* SPDX-License-Identifier: Apache-2.0 */
/* The write stage: what it writes is read back with plain netCDF calls; a failed run leaves
 * nothing. */
#include "tests/support/ncmake.h"
#include "tests/support/near.h"

#include "core/loop.h"
#include "stages/load.h"
#include "stages/load/nc.h"
#include "stages/write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A load node and a write node behind it, the executor's part played by the test. */
typedef struct pair {
    ek_instance load, write;
    ek_load_options load_options;
    ek_write_options write_options;
    const char *path; /* the input */
    ek_spec spec;     /* what write gets */
} pair;

static void pair_open(pair *p, const char *input)
{
    *p = (pair){.path = input};
    p->load_options = (ek_load_options){.paths = &p->path, .n_paths = 1, .chunk = 3};
    p->load = (ek_instance){.stage = &ek_stage_load, .name = "load", .options = &p->load_options};
    p->load.priv = calloc(1, ek_stage_load.priv_size);
    ek_assert_ok(ek_stage_load.negotiate(&p->load));
    p->spec = p->load.out;
    p->write = (ek_instance){.stage = &ek_stage_write, .name = "write", .n_inputs = 1};
    p->write.options = &p->write_options;
    p->write.in[0] = &p->spec;
    p->write.priv = calloc(1, ek_stage_write.priv_size);
}

static void pair_close(pair *p)
{
    ek_stage_write.fini(&p->write);
    ek_stage_load.fini(&p->load);
    free(p->write.priv);
    free(p->load.priv);
}

/* Turns the link into a result with arrays of every kind. */
static void make_result(pair *p)
{
    ek_spec *s = &p->spec;
    s->kind = EK_RESULT;
    s->n_arrays = 0;
    s->extent[EK_AXIS_MODE] = 5;
    ek_array_spec *mean = ek_spec_add(s, "v_mean", EK_F64, 1, EK_AXIS_CELL, EK_AXIS_CELL);
    strcpy(mean->units, "K");
    strcpy(mean->long_name, "mean of v");
    strcpy(mean->standard_name, "air_temperature");
    strcpy(mean->cell_methods, "time: mean");
    strcpy(mean->comment, "missing values are left out");
    ek_spec_add(s, "v_count", EK_I32, 1, EK_AXIS_CELL, EK_AXIS_CELL);
    ek_spec_add(s, "eof", EK_F64, 2, EK_AXIS_MODE, EK_AXIS_CELL);
    ek_spec_add(s, "pc", EK_F64, 2, EK_AXIS_MODE, EK_AXIS_TIME);
    ek_spec_add(s, "total", EK_F64, 0, EK_AXIS_MODE, EK_AXIS_TIME);
    ek_spec_attr(s, "eof_weights", "none");
}

/* The values of a result; 2 of the 5 planned modes are there. */
typedef struct result {
    double mean[15], eof[30], pc[8], total;
    int32_t count[15];
    ek_data data;
} result;

static void fill_result(result *r, const ek_spec *spec)
{
    *r = (result){.total = 42.5};
    for (int i = 0; i < 30; i++) {
        r->mean[i % 15] = i % 15 == 7 ? NAN : 0.1 * i;
        r->count[i % 15] = i;
        r->eof[i] = i == 3 ? NAN : 1.0 / (i + 1);
        r->pc[i % 8] = -i;
    }
    r->data = (ek_data){
        .spec = spec, .array = {r->mean, r->count, r->eof, r->pc, &r->total}, .extent = {4, 15, 2}};
}

/* A sink's call, made on the io thread. */
typedef struct call {
    ek_instance *self;
    const ek_data *data;
    bool commit;
} call;

static ek_status call_open(void *user)
{
    return ek_stage_write.sink->open(((call *)user)->self);
}

static ek_status call_put(void *user)
{
    call *c = user;
    return ek_stage_write.sink->put(c->self, c->data);
}

static ek_status call_close(void *user)
{
    call *c = user;
    return ek_stage_write.sink->close(c->self, c->commit);
}

static ek_status run_result(pair *p, const result *r)
{
    call c = {.self = &p->write, .data = &r->data};
    ek_status rc = ek_stage_write.negotiate(&p->write);
    rc = rc == EK_OK ? ek_io_call(call_open, &c) : rc;
    rc = rc == EK_OK ? ek_io_call(call_put, &c) : rc;
    c.commit = rc == EK_OK;
    ek_status closed = ek_io_call(call_close, &c);
    return rc != EK_OK ? rc : closed;
}

/* An output file. Asserts must stay on the test's thread, so it calls netCDF itself while the io
 * thread has nothing to do. */
typedef struct output {
    int ncid;
} output;

static ek_status open_output(void *user)
{
    void **args = user;
    output *o = args[1];
    int code = nc_open(args[0], NC_NOWRITE, &o->ncid);
    return code == NC_NOERR ? EK_OK : EK_FAIL(EK_ENETCDF, "%s", nc_strerror(code));
}

static output look(const char *path)
{
    output o = {-1};
    ek_assert_ok(ek_io_call(open_output, (void *[]){(void *)path, &o}));
    return o;
}

static int variable(const output *o, const char *name, nc_type type, int n_dims)
{
    int id = -1;
    nc_type found = NC_NAT;
    int found_dims = -1;
    assert_int_equal(nc_inq_varid(o->ncid, name, &id), NC_NOERR);
    nc_inq_var(o->ncid, id, NULL, &found, &found_dims, NULL, NULL);
    assert_int_equal(found, type);
    assert_int_equal(found_dims, n_dims);
    return id;
}

static void has_text(const output *o, int varid, const char *name, const char *text)
{
    char found[2048] = "";
    assert_int_equal(nc_get_att_text(o->ncid, varid, name, found), NC_NOERR);
    assert_string_equal(found, text);
}

static void has_no(const output *o, int varid, const char *name)
{
    assert_int_equal(nc_inq_attid(o->ncid, varid, name, NULL), NC_ENOTATT);
}

/* Auxiliary, scalar and bounds variables, a grid mapping, and attributes that must not survive. */
static void rich_grid(int ncid, int varid)
{
    int dims[2] = {0};
    int id = 0;
    int lat = 0;
    int bnds = 0;
    nc_inq_dimid(ncid, "lat", &dims[0]);
    nc_inq_dimid(ncid, "lon", &dims[1]);
    nc_inq_varid(ncid, "lat", &lat);
    nc_def_dim(ncid, "two", 2, &bnds);
    nc_put_att_text(ncid, lat, "bounds", 7, "lat_box");
    nc_put_att_text(ncid, lat, "standard_name", 8, "latitude");
    nc_put_att_double(ncid, lat, "actual_range", NC_DOUBLE, 2, (double[]){0, 5});
    nc_put_att_double(ncid, lat, "spacing", NC_FLOAT, 1, (double[]){2.5});
    nc_def_var(ncid, "lat_box", NC_DOUBLE, 2, (int[]){dims[0], bnds}, &id);
    nc_def_var(ncid, "area", NC_FLOAT, 2, dims, &id);
    nc_put_att_double(ncid, id, "_FillValue", NC_FLOAT, 1, (double[]){-1});
    nc_def_var(ncid, "height", NC_DOUBLE, 0, NULL, &id);
    nc_def_var(ncid, "crs", NC_CHAR, 0, NULL, &id);
    nc_put_att_text(ncid, id, "grid_mapping_name", 18, "latitude_longitude");
    nc_put_att_text(ncid, varid, "coordinates", 11, "area height");
    nc_put_att_text(ncid, varid, "grid_mapping", 3, "crs");
    nc_put_att_text(ncid, NC_GLOBAL, "history", 7, "was cut");
}

static void a_result_is_written_by_cf(void **state)
{
    (void)state;
    pair p;
    result r;
    pair_open(&p, ncmake_file("in.nc", &(ncmake){.more = rich_grid, .calendar = "noleap"}));
    make_result(&p);
    fill_result(&r, &p.spec);
    const char *path = ncmake_path("out.nc");
    p.write_options = (ek_write_options){.path = path, .command = "ekman eof in.nc"};
    ek_assert_ok(run_result(&p, &r));
    assert_int_equal(ncmake_entries(), 2); /* nothing beside input and output */

    output o = look(path);
    int format = 0;
    nc_inq_format(o.ncid, &format);
    assert_int_equal(format, NC_FORMAT_NETCDF4_CLASSIC);
    int mean = variable(&o, "v_mean", NC_DOUBLE, 2);
    has_text(&o, mean, "units", "K");
    has_text(&o, mean, "cell_methods", "time: mean");
    has_text(&o, mean, "coordinates", "area height time_period");
    has_text(&o, mean, "grid_mapping", "crs");
    double values[60];
    nc_get_var_double(o.ncid, mean, values);
    for (int i = 0; i < 15; i++) {
        double expected = i == 7 ? 9.969209968386869e36 : r.mean[i];
        assert_true(values[i] == expected);
    }
    double fill = 0;
    assert_int_equal(nc_get_att_double(o.ncid, mean, "_FillValue", &fill), NC_NOERR);
    assert_true(fill == 9.969209968386869e36);
    int counts[15];
    nc_get_var_int(o.ncid, variable(&o, "v_count", NC_INT, 2), counts);
    assert_int_equal(counts[14], 29);
    size_t n_modes = 0;
    int mode_dim = 0;
    nc_inq_dimid(o.ncid, "mode", &mode_dim);
    nc_inq_dimlen(o.ncid, mode_dim, &n_modes);
    assert_int_equal(n_modes, 2);
    nc_get_var_int(o.ncid, variable(&o, "mode", NC_INT, 1), counts);
    assert_true(counts[0] == 1 && counts[1] == 2);
    nc_get_var_double(o.ncid, variable(&o, "eof", NC_DOUBLE, 3), values);
    assert_true(values[29] == r.eof[29] && values[3] == 9.969209968386869e36);
    nc_get_var_double(o.ncid, variable(&o, "pc", NC_DOUBLE, 2), values);
    assert_memory_equal(values, r.pc, sizeof(r.pc));
    nc_get_var_double(o.ncid, variable(&o, "total", NC_DOUBLE, 0), values);
    assert_true(values[0] == 42.5);
    nc_close(o.ncid);
    pair_close(&p);
}

static void grid_and_time_are_carried_over(void **state)
{
    (void)state;
    pair p;
    result r;
    pair_open(&p, ncmake_file("in.nc", &(ncmake){.more = rich_grid, .calendar = "noleap"}));
    make_result(&p);
    fill_result(&r, &p.spec);
    const char *path = ncmake_path("out.nc");
    p.write_options = (ek_write_options){.path = path, .command = "ekman eof in.nc"};
    ek_assert_ok(run_result(&p, &r));
    output o = look(path);
    int lat = variable(&o, "lat", NC_DOUBLE, 1);
    has_text(&o, lat, "standard_name", "latitude");
    has_text(&o, lat, "bounds", "lat_box");
    has_no(&o, lat, "actual_range");
    double values[15];
    assert_int_equal(nc_get_att_double(o.ncid, lat, "spacing", values), NC_NOERR);
    nc_get_var_double(o.ncid, lat, values);
    assert_true(values[2] == 5.0);
    variable(&o, "lat_box", NC_DOUBLE, 2);
    variable(&o, "lon", NC_FLOAT, 1);
    variable(&o, "area", NC_FLOAT, 2);
    variable(&o, "height", NC_DOUBLE, 0);
    has_text(&o, variable(&o, "crs", NC_INT, 0), "grid_mapping_name", "latitude_longitude");
    int time = variable(&o, "time", NC_DOUBLE, 1);
    has_text(&o, time, "units", "days since 2000-01-01");
    has_text(&o, time, "calendar", "noleap");
    has_text(&o, time, "standard_name", "time");
    has_text(&o, time, "axis", "T");
    nc_get_var_double(o.ncid, time, values);
    assert_true(values[3] == 3);
    int period = variable(&o, "time_period", NC_DOUBLE, 0);
    nc_get_var_double(o.ncid, period, values);
    assert_true(values[0] == 1.5);
    has_text(&o, period, "bounds", "time_period_bnds");
    nc_get_var_double(o.ncid, variable(&o, "time_period_bnds", NC_DOUBLE, 1), values);
    assert_true(values[0] == 0 && values[1] == 3);
    has_text(&o, NC_GLOBAL, "Conventions", "CF-1.11");
    has_text(&o, NC_GLOBAL, "source", "in.nc");
    has_text(&o, NC_GLOBAL, "eof_weights", "none");
    char history[256] = "";
    nc_get_att_text(o.ncid, NC_GLOBAL, "history", history);
    assert_non_null(strstr(history, "Z: ekman eof in.nc\nwas cut"));
    nc_close(o.ncid);
    pair_close(&p);
}

static void statistics_have_a_scalar_time(void **state)
{
    (void)state;
    pair p;
    pair_open(&p, ncmake_file("in.nc", &(ncmake){0}));
    make_result(&p);
    p.spec.n_arrays = 1;
    result r;
    fill_result(&r, &p.spec);
    const char *path = ncmake_path("out.nc");
    p.write_options = (ek_write_options){.path = path};
    ek_assert_ok(run_result(&p, &r));
    output o = look(path);
    double time = 0;
    nc_get_var_double(o.ncid, variable(&o, "time", NC_DOUBLE, 0), &time);
    assert_true(time == 1.5);
    variable(&o, "time_bnds", NC_DOUBLE, 1);
    has_text(&o, variable(&o, "v_mean", NC_DOUBLE, 2), "coordinates", "time");
    has_text(&o, NC_GLOBAL, "title", "mean of v");
    nc_close(o.ncid);
    pair_close(&p);
}

typedef struct copying {
    pair *p;
    double *values; /* decoded values are given instead of packed ones; NULL: packed */
} copying;

static ek_status copy_stream(void *user)
{
    copying *copy = user;
    pair *p = copy->p;
    EK_TRY(ek_stage_write.sink->open(&p->write));
    double raw[3 * 15];
    for (int64_t c = 0; c < p->spec.n_chunks; c++) {
        ek_chunk_header header;
        EK_TRY(ek_stage_load.source->header(&p->load, c, &header));
        EK_TRY(ek_stage_load.source->read(&p->load, c, raw));
        ek_data data = {.spec = &p->spec, .host = &header, .array = {raw}};
        if (copy->values != NULL) {
            data.array[0] = copy->values + header.row0 * 15;
        }
        EK_TRY(ek_stage_write.sink->put(&p->write, &data));
    }
    return ek_stage_write.sink->close(&p->write, true);
}

static void pack(int ncid, int varid)
{
    nc_put_att_double(ncid, varid, "scale_factor", NC_DOUBLE, 1, &(double){0.25});
    nc_put_att_double(ncid, varid, "_FillValue", NC_SHORT, 1, &(double){12});
}

static void check_stream(const char *path, nc_type type)
{
    output o = look(path);
    int v = variable(&o, "v", type, 3);
    has_text(&o, v, "units", "K");
    has_no(&o, v, "scale_factor");
    double values[60];
    nc_get_var_double(o.ncid, v, values);
    for (int i = 0; i < 60; i++) {
        double raw = ncmake_value(&(ncmake){0}, i / 15, i % 15);
        double expected =
            raw == 12 ? (type == NC_FLOAT ? (double)9.969209968386869e36F : 9.969209968386869e36)
                      : raw * 0.25;
        assert_true(values[i] == expected);
    }
    int storage = 0;
    size_t shape[3] = {0};
    nc_inq_var_chunking(o.ncid, v, &storage, shape);
    assert_true(storage == NC_CHUNKED && shape[0] == 1 && shape[1] == 3 && shape[2] == 5);
    int shuffle = 0;
    int deflate = 0;
    int level = 0;
    nc_inq_var_deflate(o.ncid, v, &shuffle, &deflate, &level);
    assert_true(shuffle && deflate && level == 4);
    nc_get_var_double(o.ncid, variable(&o, "time", NC_DOUBLE, 1), values);
    assert_true(values[3] == 3);
    nc_close(o.ncid);
}

static void a_stream_is_written_chunk_by_chunk(void **state)
{
    (void)state;
    static const int types[] = {EK_WRITE_FLOAT64, EK_WRITE_FLOAT32};
    for (size_t i = 0; i < 4; i++) {
        pair p;
        pair_open(&p, ncmake_file("in.nc", &(ncmake){.type = NC_SHORT, .more = pack}));
        const char *path = ncmake_path("out.nc");
        p.write_options = (ek_write_options){.path = path, .deflate = 4, .type = types[i % 2]};
        double values[60];
        for (int k = 0; k < 60; k++) {
            double raw = ncmake_value(&(ncmake){0}, k / 15, k % 15);
            values[k] = raw == 12 ? (double)NAN : raw * 0.25;
        }
        p.spec.packed = i < 2;
        ek_assert_ok(ek_stage_write.negotiate(&p.write));
        copying copy = {&p, p.spec.packed ? NULL : values};
        ek_assert_ok(ek_io_call(copy_stream, &copy));
        check_stream(path, i % 2 == 0 ? NC_DOUBLE : NC_FLOAT);
        ek_assert_ok(ek_io_call(copy_stream, &copy)); /* a plan may be run again */
        check_stream(path, i % 2 == 0 ? NC_DOUBLE : NC_FLOAT);
        pair_close(&p);
    }
    assert_int_equal(ncmake_entries(), 2);
}

static void a_failed_run_leaves_nothing(void **state)
{
    (void)state;
    pair p;
    result r;
    pair_open(&p, ncmake_file("in.nc", &(ncmake){0}));
    make_result(&p);
    fill_result(&r, &p.spec);
    r.mean[2] = 1e200;
    p.write_options = (ek_write_options){.path = ncmake_path("out.nc"), .type = EK_WRITE_FLOAT32};
    assert_int_equal(run_result(&p, &r), EK_EDATA);
    ek_assert_message("a value of v_mean, 1e+200, does not fit float32");
    assert_int_equal(ncmake_entries(), 1);
    pair_close(&p);

    /* A run that never closes: fini tidies up. An older file of that name stays. */
    pair_open(&p, ncmake_file("in.nc", &(ncmake){0}));
    p.write_options = (ek_write_options){.path = ncmake_text("out.nc", "old")};
    ek_assert_ok(ek_stage_write.negotiate(&p.write));
    ek_assert_ok(ek_io_call(call_open, &(call){.self = &p.write}));
    assert_int_equal(ncmake_entries(), 3);
    pair_close(&p);
    assert_int_equal(ncmake_entries(), 2);
    assert_int_equal(ncmake_bytes(ncmake_path("out.nc")), 3);
}

static void refuse(const char *path, ek_status status, const char *message)
{
    pair p;
    pair_open(&p, ncmake_file("in.nc", &(ncmake){0}));
    p.write_options = (ek_write_options){.path = path};
    ek_status rc = ek_stage_write.negotiate(&p.write);
    pair_close(&p);
    assert_int_equal(rc, status);
    ek_assert_message(message);
}

static void places_that_cannot_be_written_are_refused(void **state)
{
    (void)state;
    refuse(ncmake_path("none/out.nc"), EK_ENOENT, "there is no directory");
    refuse("/tmp/", EK_EINVAL, "names a directory");
    refuse("/tmp", EK_EINVAL, "not a regular file");
    refuse("/dev/null", EK_EINVAL, "not a regular file");
    refuse(ncmake_path("in.nc"), EK_EINVAL, "is an input of this pipeline");
    refuse(ncmake_path("../"), EK_EINVAL, "names a directory");
    refuse("", EK_EINVAL, "path is required");
    char other[512];
    snprintf(other, sizeof(other), "%s", ncmake_path("in.nc"));
    char *slash = strrchr(other, '/');
    memmove(slash + 3, slash + 1, strlen(slash)); /* another way to the same file */
    memcpy(slash + 1, "./", 2);
    refuse(other, EK_EINVAL, "is an input of this pipeline");
}

static void a_failing_allocation_leaks_nothing(void **state)
{
    (void)state;
    const char *input = ncmake_file("in.nc", &(ncmake){.more = rich_grid});
    const char *path = ncmake_path("out.nc");
    ek_status rc = EK_ENOMEM;
    for (int64_t at = 1; rc != EK_OK; at++) {
        pair p;
        result r;
        pair_open(&p, input);
        make_result(&p);
        fill_result(&r, &p.spec);
        p.write_options = (ek_write_options){.path = path};
        int64_t before = ek_alloc_live();
        ek_alloc_fail_at(at);
        rc = run_result(&p, &r);
        ek_alloc_fail_at(0);
        ek_stage_write.fini(&p.write);
        assert_int_equal(ek_alloc_live(), before);
        assert_true(rc == EK_OK || rc == EK_ENOMEM);
        assert_int_equal(ncmake_entries(), rc == EK_OK ? 2 : 1);
        pair_close(&p);
        assert_true(at < 1000);
    }
}

static int setup(void **state)
{
    (void)state;
    ek__nc_quiet();
    return ek_io_acquire() == EK_OK ? 0 : -1;
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
        TEST(a_result_is_written_by_cf),          TEST(grid_and_time_are_carried_over),
        TEST(statistics_have_a_scalar_time),      TEST(a_stream_is_written_chunk_by_chunk),
        TEST(a_failed_run_leaves_nothing),        TEST(places_that_cannot_be_written_are_refused),
        TEST(a_failing_allocation_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
