/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds each harness its corpus, whole and, where a file is small, cut short at every byte. */
#include "tests/support/near.h"

#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX 65536
#define CUT_BYTES_MAX  4096 /* of the files that are cut at every byte */

typedef void harness(const uint8_t *data, size_t n);

/* Feeds the first n bytes from memory of just that size, so that a byte too far is seen. */
static void feed(harness *run, const uint8_t *data, size_t n)
{
    uint8_t *exact = malloc(n > 0 ? n : 1);
    assert_non_null(exact);
    memcpy(exact, data, n);
    run(exact, n);
    free(exact);
}

static void feed_file(harness *run, const char *path)
{
    static uint8_t data[FILE_BYTES_MAX];
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    size_t n = fread(data, 1, sizeof(data), in);
    fclose(in);
    assert_true(n < sizeof(data));
    feed(run, data, n);
    for (size_t cut = 0; n <= CUT_BYTES_MAX && cut < n; cut++) {
        feed(run, data, cut);
    }
}

static void feed_corpus(harness *run, const char *name)
{
    char path[2048];
    snprintf(path, sizeof(path), "%s/%s", EK_FUZZ_CORPUS, name);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    int n = 0;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof(path), "%s/%s/%s", EK_FUZZ_CORPUS, name, entry->d_name);
            feed_file(run, path);
            n++;
        }
    }
    closedir(dir);
    assert_true(n > 0);
}

static void classic_headers(void **state)
{
    (void)state;
    feed_corpus(fuzz_classic, "classic");
}

static void time_units(void **state)
{
    (void)state;
    feed_corpus(fuzz_cftime, "cftime");
}

static void state_heads(void **state)
{
    (void)state;
    feed_corpus(fuzz_checkpoint, "checkpoint");
}

static void hdf5_chunk_indexes(void **state)
{
    (void)state;
    feed_corpus(fuzz_hdf5_index, "hdf5_index");
}

static void hdf5_chunks(void **state)
{
    (void)state;
    feed_corpus(fuzz_hdf5_filters, "hdf5_filters");
}

static void pipeline_texts(void **state)
{
    (void)state;
    feed_corpus(fuzz_text, "text");
}

static void zarr_metadata(void **state)
{
    (void)state;
    feed_corpus(fuzz_zarr_meta, "zarr_meta");
}

static void zarr_chunks(void **state)
{
    (void)state;
    feed_corpus(fuzz_zarr_codec, "zarr_codec");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classic_headers),    cmocka_unit_test(time_units),
        cmocka_unit_test(hdf5_chunk_indexes), cmocka_unit_test(hdf5_chunks),
        cmocka_unit_test(pipeline_texts),     cmocka_unit_test(state_heads),
        cmocka_unit_test(zarr_metadata),      cmocka_unit_test(zarr_chunks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
