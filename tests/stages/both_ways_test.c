/* SPDX-License-Identifier: Apache-2.0 */
/* Every variable over time of every netCDF file in a folder (the argument; the tests' data without
 * one), read by the own decoders and by the library: the same bits, the same headers. */
#include "tests/support/loading.h"
#include "tests/support/near.h"

#include "core/loop.h"

#include <dirent.h>
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 256

static const char *folder = EK_TEST_DATA;

typedef struct listing {
    const char *path;
    int n;
    char names[NAMES_MAX][NC_MAX_NAME + 1];
} listing;

static ek_status list_variables(void *user)
{
    listing *l = user;
    int ncid = -1;
    int code = nc_open(l->path, NC_NOWRITE, &ncid);
    if (code != NC_NOERR) {
        return EK_FAIL_CODE(EK_ENETCDF, code, "%s: %s", l->path, nc_strerror(code));
    }
    nc_inq_nvars(ncid, &l->n);
    l->n = EK_MIN(l->n, NAMES_MAX);
    for (int i = 0; i < l->n; i++) {
        nc_inq_varname(ncid, i, l->names[i]);
    }
    nc_close(ncid);
    return EK_OK;
}

/* Reads a variable whole; false if the load stage refuses it. */
static bool read_variable(const char *path, const char *variable, int decoder,
                          ek_chunk_header *header, void **bytes, size_t *n_bytes, char *who)
{
    loading node;
    ek_load_options options = {
        .paths = &path, .n_paths = 1, .variable = variable, .decoder = decoder};
    bool taken = loading_open(&node, &options) == EK_OK;
    if (taken) {
        const ek_field *field = node.self.out.field;
        *n_bytes = (size_t)(field->n_time * field->n_cells) * field->value_bytes;
        snprintf(who, 128, "%s", loading_decoder(&node));
        ek_assert_ok(loading_raw(&node, 3, header, bytes));
    }
    loading_close(&node);
    return taken;
}

/* Compares the two ways; returns how many variables were. */
static int compare_variable(const char *path, const char *variable)
{
    ek_chunk_header headers[2] = {0};
    void *bytes[2] = {NULL, NULL};
    size_t sizes[2] = {0, 0};
    char who[2][128];
    bool library = read_variable(path, variable, EK_DECODER_LIBRARY, &headers[0], &bytes[0],
                                 &sizes[0], who[0]);
    bool own =
        read_variable(path, variable, EK_DECODER_AUTO, &headers[1], &bytes[1], &sizes[1], who[1]);
    assert_int_equal(own, library);
    if (own) {
        const char *base = strrchr(path, '/');
        print_message("[          ] %s %s: %s\n", base != NULL ? base + 1 : path, variable, who[1]);
        headers[0].rows = headers[1].rows; /* chunks may be longer where storage chunks are */
        assert_memory_equal(&headers[0], &headers[1], sizeof(headers[0]));
        assert_int_equal(sizes[0], sizes[1]);
        if (memcmp(bytes[0], bytes[1], sizes[0]) != 0) {
            fail_msg("%s: %s read by %s differs from the library", path, variable, who[1]);
        }
    }
    free(bytes[0]);
    free(bytes[1]);
    return own ? 1 : 0;
}

static bool is_netcdf(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && (strcmp(dot, ".nc") == 0 || strcmp(dot, ".cdf") == 0);
}

static void both_ways_give_the_same_bits(void **state)
{
    (void)state;
    ek_assert_ok(ek_io_acquire());
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    int compared = 0;
    listing *list = malloc(sizeof(*list));
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char path[1024];
        if (!is_netcdf(entry->d_name)) {
            continue;
        }
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        *list = (listing){.path = path};
        ek_assert_ok(ek_io_call(list_variables, list));
        for (int i = 0; i < list->n; i++) {
            compared += compare_variable(path, list->names[i]);
        }
    }
    closedir(dir);
    free(list);
    ek_io_release();
    assert_true(compared > 0);
    assert_int_equal(ek_alloc_live(), 0);
}

int main(int argc, char **argv)
{
    folder = argc > 1 ? argv[1] : folder;
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_ways_give_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
