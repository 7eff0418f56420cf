/* SPDX-License-Identifier: Apache-2.0 */
/* The load stage over generated and real files: stored types, packing, missing values, order of
 * files, chunks, refusals. */
#include "tests/support/ncmake.h"
#include "tests/support/near.h"

#include "core/loop.h"
#include "stages/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A load node at work. */
typedef struct node {
    ek_instance self;
    ek_load_options options;
} node;

static ek_status node_open(node *n, const ek_load_options *options)
{
    *n = (node){.options = *options};
    n->self = (ek_instance){.stage = &ek_stage_load, .name = "load", .options = &n->options};
    n->self.priv = calloc(1, ek_stage_load.priv_size);
    return ek_stage_load.negotiate(&n->self);
}

static void node_close(node *n)
{
    ek_stage_load.fini(&n->self);
    free(n->self.priv);
}

typedef struct reading {
    ek_instance *self;
    int64_t chunk;
    void *dst;
} reading;

static ek_status read_chunk(void *user)
{
    reading *r = user;
    return ek_stage_load.source->read(r->self, r->chunk, r->dst);
}

/* Reads and decodes all chunks; checks that their rows follow each other. Free the result. */
static double *node_values(node *n)
{
    const ek_spec *out = &n->self.out;
    int64_t cells = out->field->n_cells;
    double *values = malloc((size_t)(out->field->n_time * cells) * sizeof(double));
    void *raw = malloc((size_t)(out->chunk_rows * cells) * out->field->value_bytes);
    int64_t row = 0;
    for (int64_t c = 0; c < out->n_chunks; c++) {
        ek_chunk_header header;
        ek_assert_ok(ek_stage_load.source->header(&n->self, c, &header));
        assert_int_equal(header.row0, row);
        assert_int_equal(header.index, c);
        assert_int_equal(header.cells, cells);
        assert_true(header.rows > 0 && header.rows <= out->chunk_rows);
        ek_assert_ok(ek_io_call(read_chunk, &(reading){&n->self, c, raw}));
        header.data = raw;
        for (int64_t i = 0; i < header.rows * cells; i++) {
            values[row * cells + i] = ek_chunk_value(&header, i);
        }
        row += header.rows;
    }
    assert_int_equal(row, out->field->n_time);
    free(raw);
    return values;
}

static bool has_note(const ek_field *field, const char *part)
{
    bool found = false;
    for (size_t i = 0; i < field->n_notes; i++) {
        found = found || strstr(field->notes[i], part) != NULL;
    }
    return found;
}

/* Opens files that must be refused. */
static void refuse(const char *const *paths, int n_paths, const char *variable, ek_status status,
                   const char *message)
{
    node n;
    ek_load_options options = {.paths = paths, .n_paths = n_paths, .variable = variable};
    ek_status rc = node_open(&n, &options);
    node_close(&n);
    assert_int_equal(rc, status);
    ek_assert_message(message);
}

static void refuse_file(const char *path, ek_status status, const char *message)
{
    refuse(&path, 1, NULL, status, message);
    if (status != EK_OK) {
        ek_assert_message(path);
    }
}

static void every_stored_type_is_read(void **state)
{
    (void)state;
    static const int formats[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4,
                                  NC_NETCDF4 | NC_CLASSIC_MODEL};
    static const struct {
        nc_type type;
        ek_dtype dtype;
    } types[] = {{NC_BYTE, EK_I8},    {NC_SHORT, EK_I16}, {NC_INT, EK_I32},    {NC_FLOAT, EK_F32},
                 {NC_DOUBLE, EK_F64}, {NC_UBYTE, EK_U8},  {NC_USHORT, EK_U16}, {NC_UINT, EK_U32}};
    for (size_t f = 0; f < EK_COUNT(formats); f++) {
        bool extended = formats[f] == NC_64BIT_DATA || formats[f] == NC_NETCDF4;
        for (size_t t = 0; t < (extended ? EK_COUNT(types) : 5); t++) {
            ncmake recipe = {.format = formats[f], .type = types[t].type, .base = 3};
            const char *path = ncmake_file("type.nc", &recipe);
            node n;
            ek_assert_ok(node_open(&n, &(ek_load_options){.paths = &path, .n_paths = 1}));
            assert_int_equal(n.self.out.field->dtype, types[t].dtype);
            assert_int_equal(n.self.out.field->n_time, 4);
            assert_int_equal(n.self.out.field->n_cells, 15);
            double *values = node_values(&n);
            for (int i = 0; i < 60; i++) {
                assert_true(values[i] == ncmake_value(&recipe, i / 15, i % 15));
            }
            free(values);
            node_close(&n);
        }
    }
    const char *wide = ncmake_file("int64.nc", &(ncmake){.format = NC_NETCDF4, .type = NC_INT64});
    refuse_file(wide, EK_EDTYPE, "v is stored as int64");
}

static void spec_says_what_the_file_says(void **state)
{
    (void)state;
    const char *path = ncmake_file("spec.nc", &(ncmake){.units = "hPa"});
    node n;
    ek_assert_ok(node_open(&n, &(ek_load_options){.paths = &path, .n_paths = 1, .chunk = 3}));
    const ek_spec *out = &n.self.out;
    assert_int_equal(out->kind, EK_STREAM);
    assert_true(out->packed);
    assert_int_equal(out->chunk_rows, 3);
    assert_int_equal(out->n_chunks, 2);
    assert_int_equal(out->extent[EK_AXIS_TIME], 4);
    assert_int_equal(out->extent[EK_AXIS_CELL], 15);
    assert_int_equal(out->n_arrays, 1);
    assert_string_equal(out->arrays[0].name, "v");
    assert_string_equal(out->arrays[0].units, "hPa");
    assert_string_equal(out->field->source, "spec.nc");
    assert_string_equal(out->field->time.first, "2000-01-01 00:00");
    assert_string_equal(out->field->time.last, "2000-01-04 00:00");
    assert_int_equal(out->field->n_coords, 2);
    assert_string_equal(out->field->coords[1].name, "lon");
    assert_true(out->field->coords[1].values[2] == 20.0);
    assert_true(has_note(out->field, "v(time 4, lat 3, lon 5)"));
    free(node_values(&n));
    node_close(&n);
}

/* Attributes for the tests below. */
static void scale_tenth(int ncid, int varid)
{
    nc_put_att_double(ncid, varid, "scale_factor", NC_DOUBLE, 1, &(double){0.1});
    nc_put_att_double(ncid, varid, "add_offset", NC_FLOAT, 1, &(double){0.1});
}

static void scale_text(int ncid, int varid)
{
    nc_put_att_text(ncid, varid, "scale_factor", 4, "0.5 ");
    nc_put_att_text(ncid, varid, "missing_value", 2, "13");
}

static void scale_nonsense(int ncid, int varid)
{
    nc_put_att_text(ncid, varid, "scale_factor", 5, "0.5 K");
}

static void missing_many(int ncid, int varid)
{
    double values[3] = {11, 25, 1e6};
    nc_put_att_double(ncid, varid, "_FillValue", NC_SHORT, 1, &(double){12});
    nc_put_att_double(ncid, varid, "missing_value", NC_DOUBLE, 3, values);
    nc_put_att_double(ncid, varid, "valid_min", NC_SHORT, 1, &(double){20});
}

static void missing_nan(int ncid, int varid)
{
    nc_put_att_double(ncid, varid, "missing_value", NC_FLOAT, 1, &(double){NAN});
}

static void missing_tenth(int ncid, int varid)
{
    nc_put_att_double(ncid, varid, "missing_value", NC_DOUBLE, 1, &(double){10.1});
}

static void missing_seven(int ncid, int varid)
{
    double values[7] = {1, 2, 3, 4, 5, 6, 7};
    nc_put_att_double(ncid, varid, "missing_value", NC_SHORT, 7, values);
}

static void make_unsigned(int ncid, int varid)
{
    nc_put_att_text(ncid, varid, "_Unsigned", 4, "true");
    nc_put_att_double(ncid, varid, "_FillValue", NC_BYTE, 1, &(double){-1});
}

static double *values_of(const ncmake *recipe, node *n)
{
    const char *path = ncmake_file("one.nc", recipe);
    ek_assert_ok(node_open(n, &(ek_load_options){.paths = &path, .n_paths = 1}));
    return node_values(n);
}

static void packing_is_decoded_in_float64(void **state)
{
    (void)state;
    node n;
    double *values = values_of(&(ncmake){.type = NC_SHORT, .more = scale_tenth}, &n);
    double scaled = 14.0 * 0.1;
    assert_true(values[14] == scaled + (double)0.1F);
    assert_true(has_note(n.self.out.field, "v is packed as int16"));
    free(values);
    node_close(&n);

    values = values_of(&(ncmake){.type = NC_SHORT, .more = scale_text}, &n);
    assert_true(values[14] == 7.0);
    assert_true(isnan(values[13]));
    assert_true(has_note(n.self.out.field, "scale_factor of v is the text"));
    free(values);
    node_close(&n);

    const char *path = ncmake_file("text.nc", &(ncmake){.type = NC_SHORT, .more = scale_nonsense});
    refuse_file(path, EK_EDATA, "scale_factor of v is the text \"0.5 K\"");
}

static void missing_values_follow_the_stored_type(void **state)
{
    (void)state;
    node n;
    double *values = values_of(&(ncmake){.type = NC_SHORT, .more = missing_many}, &n);
    for (int i = 0; i < 60; i++) {
        double raw = ncmake_value(&(ncmake){0}, i / 15, i % 15);
        bool missing = raw == 11 || raw == 12 || raw == 25;
        assert_true(missing ? isnan(values[i]) : values[i] == raw); /* valid_min does nothing */
    }
    assert_true(has_note(n.self.out.field, "missing_value of v is 1e+06, which int16 cannot hold"));
    assert_true(has_note(n.self.out.field, "valid_min of v is not applied"));
    free(values);
    node_close(&n);

    values = values_of(&(ncmake){.type = NC_SHORT, .more = missing_nan}, &n);
    assert_true(has_note(n.self.out.field, "missing_value of v is nan, which int16 cannot hold"));
    free(values);
    node_close(&n);

    /* A double attribute of a float variable is rounded to float before it is compared. */
    values = values_of(&(ncmake){.base = 0.1, .more = missing_tenth}, &n);
    assert_true(isnan(values[10]));
    free(values);
    node_close(&n);

    /* The default fill value of float counts, that of integers does not. */
    values = values_of(&(ncmake){.base = 9.969209968386869e36}, &n);
    assert_true(isnan(values[0]));
    free(values);
    node_close(&n);
    values = values_of(&(ncmake){.type = NC_SHORT, .base = -32767}, &n);
    assert_true(values[0] == -32767);
    free(values);
    node_close(&n);

    const char *path = ncmake_file("seven.nc", &(ncmake){.type = NC_SHORT, .more = missing_seven});
    refuse_file(path, EK_ENOTSUP, "v has more than 6 different missing values");
}

static void unsigned_attribute_is_obeyed(void **state)
{
    (void)state;
    node n;
    double *values = values_of(&(ncmake){.type = NC_BYTE, .base = -27, .more = make_unsigned}, &n);
    assert_int_equal(n.self.out.field->dtype, EK_U8);
    assert_true(values[0] == 229);           /* stored as -27 */
    assert_true(values[15 + 15 + 8] == 1);   /* step 2, cell 8: stored as 1 */
    assert_true(isnan(values[15 + 15 + 6])); /* stored as -1, which is 255 and missing */
    free(values);
    node_close(&n);
}

static void files_are_put_in_time_order(void **state)
{
    (void)state;
    /* 2000-01-01 to 04 in days, 05 to 08 in hours since another date, given in reverse. */
    const char *paths[2];
    paths[1] =
        ncmake_file("first.nc", &(ncmake){.first = 36524, .time_units = "days since 1900-01-01"});
    paths[0] = ncmake_file("second.nc", &(ncmake){.first = 262968 + 96,
                                                  .step = 24,
                                                  .base = 100,
                                                  .time_units = "hours since 1970-01-01",
                                                  .calendar = "gregorian"});
    node n;
    ek_assert_ok(node_open(&n, &(ek_load_options){.paths = paths, .n_paths = 2, .chunk = 3}));
    const ek_field *field = n.self.out.field;
    assert_int_equal(field->n_time, 8);
    assert_string_equal(field->time.units, "days since 1900-01-01");
    for (int i = 0; i < 8; i++) {
        assert_true(field->time.values[i] == 36524 + i);
    }
    assert_string_equal(field->source, "first.nc .. second.nc (2 files)");
    assert_string_equal(field->time.last, "2000-01-08 00:00");
    assert_int_equal(n.self.out.n_chunks, 3); /* 3 + 3 + 2: the second spans both files */
    assert_false(has_note(field, "missing between"));
    double *values = node_values(&n);
    assert_true(values[0] == 0 && values[4 * 15] == 100 && values[7 * 15 + 14] == 144);
    free(values);
    node_close(&n);
}

static void a_chunk_ends_where_packing_changes(void **state)
{
    (void)state;
    const char *paths[3];
    paths[0] = ncmake_file("a.nc", &(ncmake){.type = NC_SHORT});
    paths[1] = ncmake_file("b.nc", &(ncmake){.type = NC_SHORT, .first = 4, .more = scale_tenth});
    paths[2] = ncmake_file("c.nc", &(ncmake){.type = NC_DOUBLE, .first = 10});
    node n;
    ek_assert_ok(node_open(&n, &(ek_load_options){.paths = paths, .n_paths = 3, .chunk = 100}));
    assert_int_equal(n.self.out.n_chunks, 3);
    assert_int_equal(n.self.out.chunk_rows, 4);
    assert_int_equal(n.self.out.field->value_bytes, 8);
    assert_true(has_note(n.self.out.field, "b.nc: v is packed as int16"));
    assert_true(has_note(n.self.out.field, "missing between"));
    double *values = node_values(&n);
    assert_true(values[14] == 14 && values[8 * 15 + 14] == 14);
    ek_assert_near1(values[4 * 15 + 14], 1.5, 0, 1e-6);
    free(values);
    node_close(&n);
}

static void files_that_do_not_join_are_refused(void **state)
{
    (void)state;
    const char *a = ncmake_file("a.nc", &(ncmake){0});
    const char *overlap = ncmake_file("overlap.nc", &(ncmake){.first = 3});
    const char *grid = ncmake_file("grid.nc", &(ncmake){.first = 4, .lat0 = 0.01});
    const char *size = ncmake_file("size.nc", &(ncmake){.first = 4, .n_lon = 6});
    const char *units = ncmake_file("units.nc", &(ncmake){.first = 4, .units = "degC"});
    const char *noleap = ncmake_file("noleap.nc", &(ncmake){.first = 4, .calendar = "noleap"});
    const char *months = ncmake_file("months.nc", &(ncmake){.first = 4, .time_units = "months"});
    const char *back = ncmake_file("back.nc", &(ncmake){.first = 40, .step = -1});
    const char *none = ncmake_file("none.nc", &(ncmake){.time_units = ""});
    refuse((const char *[]){a, overlap}, 2, NULL, EK_EDATA, "overlap in time");
    ek_assert_message("2000-01-04");
    refuse((const char *[]){a, grid}, 2, NULL, EK_ESHAPE, "lat[0] is 0 in");
    ek_assert_message(grid);
    refuse((const char *[]){a, size}, 2, NULL, EK_ESHAPE, "lon of size 5");
    refuse((const char *[]){a, units}, 2, NULL, EK_EDATA, "\"degC\"");
    refuse((const char *[]){a, noleap}, 2, NULL, EK_EDATA, "the calendar noleap");
    refuse((const char *[]){a, months}, 2, NULL, EK_EDATA, "cannot be compared");
    refuse((const char *[]){a, back}, 2, NULL, EK_EDATA, "do not increase at step 1");
    refuse((const char *[]){a, none}, 2, NULL, EK_EDATA, "no time coordinate");
    refuse((const char *[]){a, a}, 2, NULL, EK_EDATA, "overlap");
}

static void times_without_dates_are_kept(void **state)
{
    (void)state;
    const char *paths[2];
    paths[0] = ncmake_file("m5.nc", &(ncmake){.first = 5, .time_units = "months"});
    paths[1] = ncmake_file("m1.nc", &(ncmake){.first = 1, .time_units = "months", .base = 50});
    node n;
    ek_assert_ok(node_open(&n, &(ek_load_options){.paths = paths, .n_paths = 2}));
    const ek_field *field = n.self.out.field;
    assert_true(field->time.values[0] == 1 && field->time.values[7] == 8);
    assert_string_equal(field->time.first, "");
    assert_true(has_note(field, "times are not decoded: the time units \"months\""));
    assert_true(has_note(field, "the time axis is time, by the units"));
    node_close(&n);

    const char *back = ncmake_file("back.nc", &(ncmake){.first = 40, .step = -1});
    ek_assert_ok(node_open(&n, &(ek_load_options){.paths = &back, .n_paths = 1}));
    assert_true(has_note(n.self.out.field, "do not increase at step 1"));
    node_close(&n);

    const char *none = ncmake_file("none.nc", &(ncmake){.time_units = ""});
    ek_assert_ok(node_open(&n, &(ek_load_options){.paths = &none, .n_paths = 1}));
    assert_false(n.self.out.field->time.has_values);
    assert_true(n.self.out.field->time.values[3] == 3);
    node_close(&n);
}

static void add_second(int ncid, int varid)
{
    int dims[3] = {0};
    int id = 0;
    nc_inq_vardimid(ncid, varid, dims);
    nc_def_var(ncid, "w", NC_FLOAT, 3, dims, &id);
}

static void variables_and_axes_are_refused_by_name(void **state)
{
    (void)state;
    const char *two = ncmake_file("two.nc", &(ncmake){.more = add_second});
    refuse_file(two, EK_EINVAL, "v(time 4, lat 3, lon 5), w(time 4, lat 3, lon 5)");
    refuse(&two, 1, "x", EK_ENOENT, "has no variable x; it has: lat(lat 3)");
    const char *first = ncmake_file("first.nc", &(ncmake){.lat_first = true});
    refuse_file(first, EK_ESHAPE, "ncpdq -a time,lat,lon");
    const char *path = two;
    node n;
    ek_status rc = node_open(
        &n, &(ek_load_options){.paths = &path, .n_paths = 1, .variable = "v", .time = "month"});
    node_close(&n);
    assert_int_equal(rc, EK_EINVAL);
    ek_assert_message("has no dimension month");
    refuse(&two, 1, "lat", EK_EINVAL, "lat(lat 3) has no time axis");
    ek_assert_message("--time DIM");
    assert_int_equal(node_open(&n, &(ek_load_options){.n_paths = 0}), EK_EINVAL);
    node_close(&n);
}

static void files_that_are_not_netcdf_are_refused(void **state)
{
    (void)state;
    refuse_file(ncmake_path("absent.nc"), EK_ENOENT, "No such file");
    refuse_file("/tmp", EK_EINVAL, "is a directory");
    refuse_file(ncmake_text("empty.nc", ""), EK_ETRUNC, "is empty");
    refuse_file(ncmake_text("page.nc", "\n<!DOCTYPE html><html></html>\n"), EK_ENETCDF,
                "a web page");
    refuse_file(ncmake_text("words.nc", "temperature 1 2 3\n"), EK_ENETCDF, "not a netCDF file");
    const char *steps = ncmake_file("steps.nc", &(ncmake){0});
    const char *whole = ncmake_file("hdf5.nc", &(ncmake){.format = NC_NETCDF4});
    const char *cut = ncmake_copy("cut4.nc", whole, ncmake_bytes(whole) / 2);
    refuse_file(cut, EK_ENETCDF, "cut short or damaged");
    refuse_file(ncmake_copy("cdf.nc", steps, 3), EK_ENETCDF, "not a netCDF file");
}

static void add_mask(int ncid, int varid)
{
    (void)varid;
    int dim = 0;
    int id = 0;
    nc_inq_dimid(ncid, "lon", &dim);
    nc_def_var(ncid, "mask", NC_BYTE, 1, &dim, &id);
}

/* netCDF-C reads zeros where a classic file has been cut; the header tells. */
static void truncated_classic_files_are_refused(void **state)
{
    (void)state;
    static const int formats[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA};
    static const nc_type types[] = {NC_DOUBLE, NC_SHORT, NC_BYTE};
    for (size_t i = 0; i < 18; i++) {
        ncmake recipe = {.format = formats[i % 3],
                         .type = types[i / 3 % 3],
                         .n_time = 12,
                         .fixed_time = i / 9 == 1,
                         .more = i % 2 == 0 ? add_mask : NULL};
        const char *whole = ncmake_file("whole.nc", &recipe);
        int64_t bytes = ncmake_bytes(whole);
        node n;
        ek_assert_ok(node_open(&n, &(ek_load_options){.paths = &whole, .n_paths = 1}));
        node_close(&n);
        refuse_file(ncmake_copy("half.nc", whole, bytes / 2), EK_ETRUNC, "is cut short: ");
        /* The last bytes may be padding, which nothing is lost with. */
        int64_t padding = recipe.type == NC_DOUBLE && recipe.more == NULL ? 0 : 3;
        refuse_file(ncmake_copy("cut.nc", whole, bytes - 1 - padding), EK_ETRUNC,
                    "its header needs");
        for (int64_t cut = 5; cut < 200; cut += 13) {
            refuse_file(ncmake_copy("header.nc", whole, cut), EK_ETRUNC,
                        "inside the netCDF header");
        }
    }
}

/* One record variable: its records follow each other without padding. */
static void a_single_record_variable_is_not_padded(void **state)
{
    (void)state;
    ncmake recipe = {.type = NC_BYTE, .n_time = 7, .n_lon = 3, .time_units = ""};
    const char *whole = ncmake_file("single.nc", &recipe);
    node n;
    ek_assert_ok(node_open(&n, &(ek_load_options){.paths = &whole, .n_paths = 1}));
    double *values = node_values(&n);
    assert_true(values[6 * 9 + 8] == 68);
    free(values);
    node_close(&n);
    refuse_file(ncmake_copy("single_cut.nc", whole, ncmake_bytes(whole) - 4), EK_ETRUNC,
                "its header needs");
}

static ek_status damage(void *user)
{
    const char *path = user;
    FILE *file = fopen(path, "r+b");
    fseek(file, 0, SEEK_END);
    long end = ftell(file);
    for (long at = end / 3; at < end - 64; at++) {
        fseek(file, at, SEEK_SET);
        fputc(0xA5, file);
    }
    fclose(file);
    return EK_OK;
}

static void make_deflated(int ncid, int varid)
{
    nc_def_var_deflate(ncid, varid, 1, 1, 5);
    nc_def_var_fletcher32(ncid, varid, NC_FLETCHER32);
}

static void a_file_damaged_after_planning_is_named(void **state)
{
    (void)state;
    const char *path = ncmake_file(
        "damaged.nc",
        &(ncmake){.format = NC_NETCDF4, .n_time = 40, .n_lon = 200, .more = make_deflated});
    node n;
    ek_assert_ok(node_open(&n, &(ek_load_options){.paths = &path, .n_paths = 1}));
    ek_assert_ok(ek_io_call(damage, (void *)path));
    void *raw = malloc((size_t)(n.self.out.chunk_rows * n.self.out.field->n_cells) * 4);
    assert_int_not_equal(ek_io_call(read_chunk, &(reading){&n.self, 0, raw}), EK_OK);
    ek_assert_message(path);
    free(raw);
    node_close(&n);
}

static void a_file_changed_after_planning_is_refused(void **state)
{
    (void)state;
    const char *path = ncmake_file("changed.nc", &(ncmake){0});
    node n;
    ek_assert_ok(node_open(&n, &(ek_load_options){.paths = &path, .n_paths = 1}));
    ncmake_file("changed.nc", &(ncmake){.n_time = 3});
    double raw[60];
    assert_int_equal(ek_io_call(read_chunk, &(reading){&n.self, 0, raw}), EK_EDATA);
    ek_assert_message("has changed since the plan was made");
    node_close(&n);
}

/* What the whole variable is when netCDF reads it at once. */
typedef struct plain {
    const char *path, *variable;
    void *values;
    nc_type type;
} plain;

static ek_status read_plain(void *user)
{
    plain *p = user;
    int ncid = -1;
    int id = -1;
    nc_open(p->path, NC_NOWRITE, &ncid);
    nc_inq_varid(ncid, p->variable, &id);
    nc_inq_vartype(ncid, id, &p->type);
    nc_get_var(ncid, id, p->values);
    nc_close(ncid);
    return EK_OK;
}

static const struct {
    const char *file, *variable;
    int64_t n_time, n_cells, n_missing; /* as in data/reference.json */
    const char *first, *last;
} real[] = {
    {"cru_absolute_climatology.nc", NULL, 12, 2592, 0, "", ""},
    {"coads_wind_climatology_subset.nc", "UWND", 12, 900, 1248, "0000-01-16 06:00",
     "0000-12-16 01:20:06"},
    {"coads_3months.cdf", NULL, 3, 16200, 20103, "0000-01-16 06:00", "0000-03-17 02:58:12"},
    {"fnoc_winds_1988.nc", "u", 16, 357, 0, "", ""},
    {"gpcp_pr_climatology_1979-2007.nc", NULL, 12, 10368, 0, "", ""},
    {"ncep_air_monthly_ltm.nc", "air", 12, 10512, 0, "0001-01-01 00:00", "0001-12-01 00:00"},
    {"ncep_uwnd_bering_monthly.nc", NULL, 865, 403, 0, "1948-01-01 00:00", "2020-01-01 00:00"},
    {"era5_siconc_bering_1979-2022.nc", NULL, 176, 2997, 65472, "1979-01-01 00:00",
     "2022-04-01 00:00"},
    {"metoffice_a1b_tas_namerica_annual.nc", NULL, 240, 1813, 0, "1860-06-01 00:00",
     "2099-06-01 00:00"},
    {"ostia_sst_tropics_monthly_2006-2010.nc", NULL, 54, 7776, 110970, "2006-04-16 00:00",
     "2010-09-16 00:00"},
};

static void real_files_are_read_as_they_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < EK_COUNT(real); i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%s", EK_TEST_DATA, real[i].file);
        const char *paths[] = {path};
        node n;
        ek_assert_ok(node_open(
            &n, &(ek_load_options){
                    .paths = paths, .n_paths = 1, .chunk = 7, .variable = real[i].variable}));
        const ek_field *field = n.self.out.field;
        assert_int_equal(field->n_time, real[i].n_time);
        assert_int_equal(field->n_cells, real[i].n_cells);
        assert_string_equal(field->time.first, real[i].first);
        assert_string_equal(field->time.last, real[i].last);
        int64_t n_values = field->n_time * field->n_cells;
        plain p = {path, field->name, malloc((size_t)n_values * 8), NC_NAT};
        ek_assert_ok(ek_io_call(read_plain, &p));
        double *values = node_values(&n);
        ek_chunk_header header;
        ek_assert_ok(ek_stage_load.source->header(&n.self, 0, &header));
        header.data = p.values;
        int64_t missing = 0;
        for (int64_t k = 0; k < n_values; k++) {
            double expected = ek_chunk_value(&header, k);
            missing += isnan(values[k]) ? 1 : 0;
            assert_true(values[k] == expected || (isnan(values[k]) && isnan(expected)));
        }
        assert_int_equal(missing, real[i].n_missing);
        free(values);
        free(p.values);
        node_close(&n);
    }
}

static void coordinates_come_with_the_grid(void **state)
{
    (void)state;
    const char *path = EK_TEST_DATA "/metoffice_a1b_tas_namerica_annual.nc";
    node n;
    ek_assert_ok(node_open(&n, &(ek_load_options){.paths = &path, .n_paths = 1}));
    const ek_field *field = n.self.out.field;
    static const char *const names[] = {"latitude", "longitude", "forecast_reference_time",
                                        "height", "latitude_longitude"};
    assert_int_equal(field->n_coords, EK_COUNT(names));
    for (size_t i = 0; i < EK_COUNT(names); i++) {
        assert_string_equal(field->coords[i].name, names[i]);
    }
    assert_true(has_note(field, "forecast_period is left out: it depends on time"));
    node_close(&n);
    path = EK_TEST_DATA "/gpcp_pr_climatology_1979-2007.nc";
    ek_assert_ok(node_open(&n, &(ek_load_options){.paths = &path, .n_paths = 1}));
    field = n.self.out.field;
    assert_string_equal(field->coords[1].name, "bounds_latitude");
    assert_int_equal(field->coords[1].n_vertices, 2);
    assert_int_equal(field->coords[1].n_values, 144);
    node_close(&n);
}

static void a_failing_allocation_leaks_nothing(void **state)
{
    (void)state;
    const char *paths[2];
    paths[0] = ncmake_file("b.nc", &(ncmake){.first = 4, .more = scale_text, .type = NC_SHORT});
    paths[1] = ncmake_file("a.nc", &(ncmake){.more = scale_tenth, .type = NC_SHORT});
    int64_t before = ek_alloc_live();
    ek_status rc = EK_ENOMEM;
    for (int64_t at = 1; rc != EK_OK; at++) {
        node n;
        ek_alloc_fail_at(at);
        rc = node_open(&n, &(ek_load_options){.paths = paths, .n_paths = 2});
        ek_alloc_fail_at(0);
        node_close(&n);
        assert_int_equal(ek_alloc_live(), before);
        assert_true(rc == EK_OK || rc == EK_ENOMEM);
        assert_true(at < 1000);
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
    return ek_alloc_live() == 0 ? 0 : -1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_stored_type_is_read),
        TEST(spec_says_what_the_file_says),
        TEST(packing_is_decoded_in_float64),
        TEST(missing_values_follow_the_stored_type),
        TEST(unsigned_attribute_is_obeyed),
        TEST(files_are_put_in_time_order),
        TEST(a_chunk_ends_where_packing_changes),
        TEST(files_that_do_not_join_are_refused),
        TEST(times_without_dates_are_kept),
        TEST(variables_and_axes_are_refused_by_name),
        TEST(files_that_are_not_netcdf_are_refused),
        TEST(truncated_classic_files_are_refused),
        TEST(a_single_record_variable_is_not_padded),
        TEST(a_file_damaged_after_planning_is_named),
        TEST(a_file_changed_after_planning_is_refused),
        TEST(real_files_are_read_as_they_are),
        TEST(coordinates_come_with_the_grid),
        TEST(a_failing_allocation_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
