/* SPDX-License-Identifier: Apache-2.0 */
/* Zarr stores made by other software, read through the load stage: every codec, layout and type
 * against a netCDF file with the same values, and what must be refused. With a directory as its
 * argument it compares the stores there instead. */
#include "tests/support/loading.h"
#include "tests/support/ncmake.h"
#include "tests/support/near.h"

#include "core/loop.h"
#include "stages/load/nc.h"
#include "stages/load/zarr.h"
#include "stages/load/zarr_codec.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *data_dir = EK_TEST_DATA "/zarr";

/* Opens a variable with these options and reads all of it, decoded. */
static double *read_values(const char *path, const char *variable, int64_t chunk, int decoder,
                           int64_t *n)
{
    loading node;
    ek_load_options options = {
        .paths = &path, .n_paths = 1, .variable = variable, .chunk = chunk, .decoder = decoder};
    ek_assert_ok(loading_open(&node, &options));
    ek_chunk_header header;
    void *raw = NULL;
    ek_assert_ok(loading_raw(&node, 2, &header, &raw));
    *n = node.self.out.field->n_time * node.self.out.field->n_cells;
    double *values = malloc((size_t)*n * sizeof(double));
    header.data = raw;
    for (int64_t i = 0; i < *n; i++) {
        values[i] = ek_chunk_value(&header, i);
    }
    free(raw);
    loading_close(&node);
    return values;
}

static bool same(const double *a, const double *b, int64_t n)
{
    int64_t differences = 0;
    for (int64_t i = 0; i < n; i++) {
        differences += a[i] == b[i] || (isnan(a[i]) && isnan(b[i])) ? 0 : 1;
    }
    return differences == 0;
}

/* The variables of a store over time and space. */
typedef struct names {
    const char *path;
    char list[64][NC_MAX_NAME + 1];
    int n;
} names;

static ek_status list_names(void *user)
{
    names *found = user;
    ek__nc_file file;
    EK_TRY(ek__nc_open(&file, found->path));
    int n_vars = 0;
    nc_inq_nvars(file.ncid, &n_vars);
    for (int i = 0; i < n_vars && found->n < (int)EK_COUNT(found->list); i++) {
        ek__nc_var var;
        EK_TRY(ek__nc_var_get(&file, i, &var));
        if (var.n_dims == 3) {
            snprintf(found->list[found->n++], sizeof(found->list[0]), "%s", var.name);
        }
    }
    ek__nc_close(&file);
    return EK_OK;
}

/* Compares every variable of a store with the one it is named after; returns how many. */
static int compare_store(const char *path)
{
    char expected_path[512];
    snprintf(expected_path, sizeof(expected_path), "%s/expected.nc", data_dir);
    names found = {.path = path};
    ek_assert_ok(ek_io_call(list_names, &found));
    for (int v = 0; v < found.n; v++) {
        char base[NC_MAX_NAME + 1];
        snprintf(base, sizeof(base), "%.*s", (int)strcspn(found.list[v], "_"), found.list[v]);
        int64_t n = 0;
        double *expected = read_values(expected_path, base, 0, EK_DECODER_LIBRARY, &n);
        static const int64_t chunks[] = {0, 1, 3};
        for (size_t c = 0; c < EK_COUNT(chunks); c++) {
            int64_t n_read = 0;
            double *values = read_values(path, found.list[v], chunks[c], EK_DECODER_AUTO, &n_read);
            assert_int_equal(n_read, n);
            if (!same(values, expected, n)) {
                print_error("%s: %s is wrong in chunks of %d\n", path, found.list[v],
                            (int)chunks[c]);
                fail();
            }
            free(values);
        }
        free(expected);
    }
    return found.n;
}

static void all_stores_have_the_expected_values(void **state)
{
    int compared = 0;
    int stores = 0;
    DIR *dir = opendir(data_dir);
    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (strstr(entry->d_name, ".zarr") != NULL && strncmp(entry->d_name, "refused", 7) != 0) {
            char path[512];
            snprintf(path, sizeof(path), "%s/%s", data_dir, entry->d_name);
            compared += compare_store(path);
            stores++;
        }
    }
    closedir(dir);
    print_message("%d variables of %d stores\n", compared, stores);
    assert_true(stores > 0 && compared > 2 * stores - 1);
    if (*state == NULL) {
        assert_int_equal(stores, 6);
        assert_int_equal(compared, 48);
    }
}

/* Opens and reads a variable that must fail on the way. */
static void refuse(const char *path, const char *variable, ek_status status, const char *message)
{
    loading node;
    ek_load_options options = {.paths = &path, .n_paths = 1, .variable = variable};
    ek_status rc = loading_open(&node, &options);
    void *raw = NULL;
    if (rc == EK_OK) {
        rc = loading_raw(&node, 1, NULL, &raw);
    }
    free(raw);
    loading_close(&node);
    if (rc != status) {
        print_error("%s, %s: %s: %s\n", path, variable, ek_status_name(rc),
                    ek_error_last()->message);
    }
    assert_int_equal(rc, status);
    ek_assert_message(message);
    ek_assert_message(path);
}

static const char *data_path(const char *name)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s/%s", data_dir, name);
    return path;
}

static void what_cannot_be_read_is_named(void **state)
{
    (void)state;
    const char *v2 = data_path("refused_v2.zarr");
    refuse(v2, "t_fortran", EK_EDTYPE, "t_fortran is stored as Zarr in Fortran order, which is");
    refuse(v2, "t_lzma", EK_EDTYPE, "t_lzma is stored as Zarr with the codec lzma, which is not");
    refuse(v2, "p_delta", EK_EDTYPE, "p_delta is stored as Zarr with the codec delta");
    refuse(v2, "t_half", EK_EDTYPE, "t_half is stored as Zarr type <f2");
    refuse(v2, "time", EK_EDTYPE, "time is stored as int64");
    const char *v3 = data_path("refused_v3.zarr");
    refuse(v3, "t_sharded", EK_EDTYPE, "Zarr with the codec sharding_indexed");
    refuse(v3, "t_transposed", EK_EDTYPE, "Zarr with transposed chunks");
    const char *path = data_path("v2_codecs.zarr");
    loading node;
    ek_load_options options = {
        .paths = &path, .n_paths = 1, .variable = "t_zlib", .decoder = EK_DECODER_LIBRARY};
    assert_int_equal(loading_open(&node, &options), EK_ENOTSUP);
    loading_close(&node);
    ek_assert_message("is a Zarr store");
}

/* Copies a store of the test data to where it may be changed. */
static const char *copy_store(const char *name)
{
    static char path[512];
    char command[2048];
    snprintf(path, sizeof(path), "%s", ncmake_path("copy.zarr"));
    snprintf(command, sizeof(command), "rm -rf '%s' && cp -r '%s' '%s'", path, data_path(name),
             path);
    assert_int_equal(system(command), 0);
    return path;
}

static void write_text(const char *store, const char *name, const char *text)
{
    char path[800];
    snprintf(path, sizeof(path), "%s/%s", store, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Reads a whole file of a store; *n gets its size. Free the result. */
static uint8_t *slurp(const char *store, const char *name, size_t *n)
{
    char path[800];
    snprintf(path, sizeof(path), "%s/%s", store, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t *bytes = malloc(65536);
    *n = fread(bytes, 1, 65536, file);
    fclose(file);
    return bytes;
}

static void spill(const char *store, const char *name, const uint8_t *bytes, size_t n)
{
    char path[800];
    snprintf(path, sizeof(path), "%s/%s", store, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

/* Cuts a chunk's file at every length: an error that names it, never other values. */
static void cut_everywhere(const char *store, const char *variable, const char *chunk)
{
    char name[128];
    snprintf(name, sizeof(name), "%s/%s", variable, chunk);
    size_t n = 0;
    uint8_t *bytes = slurp(store, name, &n);
    char message[128];
    snprintf(message, sizeof(message), "the chunk %s of %s is damaged", chunk, variable);
    for (size_t length = 0; length<n; length += n> 64 ? 7 : 1) {
        spill(store, name, bytes, length);
        refuse(store, variable, EK_EDATA, message);
    }
    spill(store, name, bytes, n);
    free(bytes);
}

static void cut_chunks_are_errors(void **state)
{
    (void)state;
    static const char *const variables[] = {"t_zlib",     "t_gzip",       "t_zstd",   "t_lz4",
                                            "t_blosclz4", "t_bitshuffle", "t_shuffle"};
    const char *v2 = copy_store("v2_codecs.zarr");
    for (size_t i = 0; i < EK_COUNT(variables); i++) {
        cut_everywhere(v2, variables[i], "0.0.0");
    }
    const char *v3 = copy_store("v3_codecs.zarr");
    cut_everywhere(v3, "t_crc", "c/0/0/0");
    cut_everywhere(v3, "t_gzipcrc", "c/0/0/0");
    cut_everywhere(copy_store("v2_chunks.zarr"), "t_big", "1.0.0");
}

static void wrong_chunks_are_errors(void **state)
{
    (void)state;
    const char *store = copy_store("v3_codecs.zarr");
    size_t n = 0;
    uint8_t *bytes = slurp(store, "t_crc/c/0/0/0", &n);
    bytes[17] ^= 4;
    spill(store, "t_crc/c/0/0/0", bytes, n);
    refuse(store, "t_crc", EK_EDATA, "its checksum is wrong");
    bytes[n] = 0;
    spill(store, "t_crc/c/0/0/0", bytes, n + 1);
    refuse(store, "t_crc", EK_EDATA, "it has more bytes than its values need");
    free(bytes);
    /* Every byte of a compressed chunk changed: an error or the length that was asked for. */
    static const char *const files[] = {"t_blosc/c/0/0/0", "t_zstd/c/0/0/0", "t_gzip/c/0/0/0"};
    for (size_t i = 0; i < EK_COUNT(files); i++) {
        bytes = slurp(store, files[i], &n);
        char variable[32];
        snprintf(variable, sizeof(variable), "%.*s", (int)strcspn(files[i], "/"), files[i]);
        for (size_t k = 0; k < n; k += 7) {
            bytes[k] ^= 0x55;
            spill(store, files[i], bytes, n);
            bytes[k] ^= 0x55;
            loading node;
            ek_load_options options = {.paths = &store, .n_paths = 1, .variable = variable};
            ek_assert_ok(loading_open(&node, &options));
            void *raw = NULL;
            ek_status rc = loading_raw(&node, 1, NULL, &raw);
            assert_true(rc == EK_OK || rc == EK_EDATA);
            free(raw);
            loading_close(&node);
        }
        free(bytes);
    }
}

static void wrong_metadata_are_errors(void **state)
{
    (void)state;
    const char *store = copy_store("v2_chunks.zarr");
    write_text(store, "t_big/.zarray", "{\"zarr_format\": 2, ");
    refuse(store, "t_tile", EK_EDATA, "t_big/.zarray is not valid JSON");
    write_text(store, "t_big/.zarray", "[1]");
    refuse(store, "t_tile", EK_EDATA, "is not a JSON object");
    write_text(store, "t_big/.zarray", "{\"zarr_format\": 3}");
    refuse(store, "t_tile", EK_EDATA, "zarr_format is not 2");
    write_text(store, "t_big/.zarray",
               "{\"zarr_format\": 2, \"shape\": [-1], \"chunks\": [1], \"dtype\": \"<f4\"}");
    refuse(store, "t_tile", EK_EDATA, "makes no sense");
    write_text(store, "t_big/.zarray",
               "{\"zarr_format\": 2, \"shape\": [281474976710656, 281474976710656, 3],"
               " \"chunks\": [1, 1, 1], \"dtype\": \"<f4\"}");
    refuse(store, "t_tile", EK_EDATA, "is too large");
    write_text(
        store, "t_big/.zarray",
        "{\"zarr_format\": 2, \"shape\": [9, 3, 6], \"chunks\": [9, 3, 6], \"dtype\": \"<f4\","
        "\"order\": \"C\", \"compressor\": null, \"filters\": null, \"fill_value\": 0}");
    refuse(store, "t_tile", EK_ESHAPE, "the dimension time has");
    store = copy_store("v2_codecs.zarr");
    write_text(store, ".zmetadata", "{}");
    refuse(store, "t_zlib", EK_EDATA, ".zmetadata has no metadata");
    store = copy_store("v2_codecs.zarr");
    char path[800];
    snprintf(path, sizeof(path), "%s/lat/0", store);
    unlink(path);
    refuse(store, "t_zlib", EK_EDATA, "the chunk 0 of lat is not there");
    store = ncmake_path("empty.zarr");
    mkdir(store, 0777);
    write_text(store, ".zgroup", "{\"zarr_format\": 2}");
    refuse(store, "t", EK_ENOENT, "has no arrays in its root group");
}

static void the_plan_says_what_is_read(void **state)
{
    (void)state;
    const char *path = data_path("xarray_v2.zarr");
    loading node;
    ek_load_options options = {.paths = &path, .n_paths = 1, .variable = "p", .chunk = 1};
    ek_assert_ok(loading_open(&node, &options));
    const ek_field *field = node.self.out.field;
    assert_string_equal(loading_decoder(&node), "zarr 2 (blosc)");
    assert_int_equal(node.self.out.chunk_rows, 3);
    assert_string_equal(field->units, "hPa");
    assert_string_equal(field->history, "none");
    assert_string_equal(field->time.first, "1999-12-31 12:00");
    assert_string_equal(field->time.last, "2000-01-04 12:00");
    assert_int_equal(field->n_coords, 3); /* lat, lon, area */
    assert_string_equal(field->coords[2].name, "area");
    assert_int_equal(field->coords[2].n_values, 18);
    ek_assert_near1(field->coords[2].values[4], 4, 0, 0);
    loading_close(&node);

    path = data_path("v2_codecs.zarr");
    options = (ek_load_options){.paths = &path, .n_paths = 1, .variable = "p_shufflezlib"};
    ek_assert_ok(loading_open(&node, &options));
    assert_string_equal(loading_decoder(&node), "zarr 2 (shuffle, zlib)");
    loading_close(&node);
}

static void stores_follow_each_other_in_time(void **state)
{
    (void)state;
    char first[512];
    snprintf(first, sizeof(first), "%s", data_path("xarray_v3.zarr"));
    const char *second = copy_store("v2_chunks.zarr");
    const int64_t later[] = {120, 144, 168, 192, 216};
    for (int i = 0; i < 3; i++) {
        char name[16];
        int64_t pair[2] = {later[2 * i], i < 2 ? later[2 * i + 1] : 0};
        snprintf(name, sizeof(name), "time/%d", i);
        spill(second, name, (const uint8_t *)pair, sizeof(pair));
    }
    const char *paths[] = {second, first};
    refuse(first, "t_tile", EK_ENOENT, "has no variable t_tile");
    loading node;
    ek_load_options options = {.paths = paths, .n_paths = 2, .variable = "u8"};
    assert_int_equal(loading_open(&node, &options), EK_ENOENT);
    loading_close(&node);
    char copy[512];
    snprintf(copy, sizeof(copy), "%s", data_path("v2_chunks.zarr"));
    paths[1] = copy;
    ek_assert_ok(loading_open(&node, &options));
    assert_int_equal(node.self.out.field->n_time, 10);
    assert_string_equal(node.self.out.field->time.last, "2000-01-09 12:00");
    void *raw = NULL;
    ek_assert_ok(loading_raw(&node, 2, NULL, &raw));
    for (int i = 0; i < 180; i++) {
        assert_int_equal(((const uint8_t *)raw)[i], i % 90 % 250);
    }
    free(raw);
    loading_close(&node);
}

static void a_store_that_changes_is_noticed(void **state)
{
    (void)state;
    const char *store = copy_store("v2_chunks.zarr");
    loading node;
    ek_load_options options = {.paths = &store, .n_paths = 1, .variable = "t_plane"};
    ek_assert_ok(loading_open(&node, &options));
    char command[600];
    snprintf(command, sizeof(command), "rm -rf '%s'", store);
    assert_int_equal(system(command), 0);
    void *raw = NULL;
    assert_int_equal(loading_raw(&node, 1, NULL, &raw), EK_EDATA);
    ek_assert_message("has changed since the plan was made");
    loading_close(&node);
}

static void checksums_are_castagnolis(void **state)
{
    (void)state;
    assert_int_equal(ek__zarr_crc32c((const uint8_t *)"123456789", 9), 0xe3069283U);
    uint8_t zeros[32] = {0};
    assert_int_equal(ek__zarr_crc32c(zeros, sizeof(zeros)), 0x8a9136aaU);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    const char *path = data_path("v2_codecs.zarr");
    int64_t live = ek_alloc_live();
    ek_status rc = EK_ENOMEM;
    for (int64_t n = 1; rc != EK_OK && n < 5000; n += 1 + n / 40) {
        loading node;
        ek_load_options options = {.paths = &path, .n_paths = 1, .variable = "t_zlib"};
        ek_alloc_fail_at(n);
        rc = loading_open(&node, &options);
        ek_alloc_fail_at(0);
        loading_close(&node);
        assert_true(rc == EK_OK || rc == EK_ENOMEM);
        assert_int_equal(ek_alloc_live(), live);
    }
    assert_int_equal(rc, EK_OK);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(all_stores_have_the_expected_values),
        cmocka_unit_test(what_cannot_be_read_is_named),
        cmocka_unit_test(cut_chunks_are_errors),
        cmocka_unit_test(wrong_chunks_are_errors),
        cmocka_unit_test(wrong_metadata_are_errors),
        cmocka_unit_test(the_plan_says_what_is_read),
        cmocka_unit_test(stores_follow_each_other_in_time),
        cmocka_unit_test(a_store_that_changes_is_noticed),
        cmocka_unit_test(checksums_are_castagnolis),
        cmocka_unit_test(memory_may_run_out),
    };
    const struct CMUnitTest given[] = {
        cmocka_unit_test_prestate(all_stores_have_the_expected_values, argv),
    };
    if (ek_io_acquire() != EK_OK) {
        return 1;
    }
    if (argc > 1) {
        data_dir = argv[1];
    }
    int failed = argc > 1 ? cmocka_run_group_tests(given, NULL, NULL)
                          : cmocka_run_group_tests(all, NULL, NULL);
    ncmake_cleanup();
    ek_io_release();
    return failed;
}
