/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of classic files, and what is done before a decoder is believed: where records stand,
 * files that change, the number of records left open, the self-test, working memory. */
#include "tests/support/ncmake.h"
#include "tests/support/near.h"

#include "core/loop.h"
#include "stages/load/decoder.h"
#include "stages/load/scratch.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An open file, and the decoder of its v. netCDF is called on the io thread, all else here. */
typedef struct work {
    const char *path;
    const char *claimed; /* what the decoder is told to be the path; NULL: the same */
    void (*run)(struct work *w);
    ek__nc_file file;
    ek__variable v;
    ek__decode_request request;
    ek__decoder *decoder;
    char reason[96];      /* with which it was declined */
    const char *expected; /* part of the reason */
    int64_t first, rows;
    void *theirs;
} work;

static ek_status open_file(void *user)
{
    work *w = user;
    ek_field *notes = ek_alloc(1, sizeof(*notes));
    if (notes == NULL) {
        return EK_ENOMEM;
    }
    ek_status rc = EK_OK;
    EK_GOTO(ek__nc_open(&w->file, w->path), done);
    EK_GOTO(ek__variable_find(&w->file, "v", "time", notes, &w->v), done);
done:
    ek_field_destroy(notes);
    return rc;
}

static ek_status close_file(void *user)
{
    work *w = user;
    ek__decoder_destroy(w->decoder);
    ek__nc_close(&w->file);
    return EK_OK;
}

static ek_status create_decoder(void *user)
{
    work *w = user;
    w->reason[0] = '\0';
    return ek__decoder_create(&w->request, &w->decoder, w->reason, sizeof(w->reason));
}

static ek_status read_theirs(void *user)
{
    work *w = user;
    size_t start[3] = {0};
    size_t count[3] = {0};
    for (int i = 0; i < 3; i++) {
        count[i] = (size_t)w->v.var.dims[i].size;
    }
    start[w->v.time_dim] = (size_t)w->first;
    count[w->v.time_dim] = (size_t)w->rows;
    return EK_NC(nc_get_vara(w->file.ncid, w->v.var.id, start, count, w->theirs), w->path, "v");
}

static void on_file(work *w)
{
    ek_assert_ok(ek_io_call(open_file, w));
    w->file.path = w->claimed != NULL ? w->claimed : w->path;
    int64_t n_rows = w->v.var.dims[w->v.time_dim].size;
    w->request = (ek__decode_request){.file = &w->file,
                                      .variable = &w->v,
                                      .dtype = w->v.var.dtype,
                                      .n_rows = n_rows,
                                      .cells = ek__nc_cells(&w->v.var) / n_rows};
    w->run(w);
    ek_assert_ok(ek_io_call(close_file, w));
}

/* ---- where values stand ---- */

/* Decodes rows [first, first + rows), the last job first, and compares with the library. */
static void check_rows(work *w, ek__scratch *scratch, int64_t first, int64_t rows)
{
    size_t n = (size_t)(rows * w->request.cells) * ek_dtype_size(w->request.dtype);
    uint8_t *ours = malloc(n);
    w->theirs = malloc(n);
    w->first = first;
    w->rows = rows;
    ek_assert_ok(ek_io_call(read_theirs, w));
    memset(ours, 0x5a, n);
    const ek__decoder_ops *ops = w->decoder->ops;
    for (int job = ops->jobs(w->decoder, first, rows) - 1; job >= 0; job--) {
        ek_assert_ok(ops->job(w->decoder, first, rows, job, ours, scratch));
    }
    assert_memory_equal(ours, w->theirs, n);
    free(ours);
    free(w->theirs);
}

/* Makes the decoder, and working memory for it. */
static void begin(work *w, ek__scratch *scratch)
{
    ek_assert_ok(ek_io_call(create_decoder, w));
    assert_string_equal(w->decoder == NULL ? w->reason : "", "");
    assert_non_null(w->decoder);
    ek_assert_ok(ek__scratch_init(scratch, w->decoder->scratch_bytes, w->decoder->inflates));
}

static void check_values(work *w)
{
    ek__scratch scratch;
    begin(w, &scratch);
    assert_non_null(strstr(w->decoder->text, "direct (classic netCDF"));
    assert_true(w->decoder->scratch_bytes <= (size_t)4 << 20);
    int64_t n = w->request.n_rows;
    check_rows(w, &scratch, 0, n);
    check_rows(w, &scratch, n / 2, 1);
    check_rows(w, &scratch, n / 3, n - n / 3);
    ek__scratch_free(&scratch);
}

static int n_between; /* bytes of other variables in each record */

static void add_record_variables(int ncid, int varid)
{
    (void)varid;
    int dims[2];
    int id = -1;
    nc_inq_dimid(ncid, "time", &dims[0]);
    nc_def_dim(ncid, "other", (size_t)n_between, &dims[1]);
    nc_def_var(ncid, "other", NC_BYTE, 2, dims, &id);
}

static void records_stand_near_and_far(void **state)
{
    (void)state;
    static const struct {
        int format;
        nc_type type;
        int between, n_time, n_lat, n_lon;
    } cases[] = {{0, NC_BYTE, 1, 10, 3, 5},
                 {0, NC_DOUBLE, 1, 50, 3, 5},
                 {NC_64BIT_OFFSET, NC_SHORT, 3, 700, 1, 1},
                 {NC_64BIT_DATA, NC_FLOAT, 4000, 1500, 1, 1},
                 {0, NC_INT, 5000, 40, 3, 5},
                 {NC_64BIT_OFFSET, NC_DOUBLE, 8, 2, 350, 400}};
    for (size_t i = 0; i < EK_COUNT(cases); i++) {
        n_between = cases[i].between;
        ncmake recipe = {.format = cases[i].format,
                         .type = cases[i].type,
                         .n_time = cases[i].n_time,
                         .n_lat = cases[i].n_lat,
                         .n_lon = cases[i].n_lon,
                         .more = add_record_variables};
        on_file(&(work){.path = ncmake_file("records.nc", &recipe), .run = check_values});
    }
}

/* One record variable whose records are no multiple of four bytes: they follow each other. */
static void single_records_are_not_padded(void **state)
{
    (void)state;
    for (nc_type type = NC_BYTE; type <= NC_SHORT; type += NC_SHORT - NC_BYTE) {
        ncmake recipe = {.type = type, .time_units = "", .n_time = 7};
        on_file(&(work){.path = ncmake_file("single.nc", &recipe), .run = check_values});
    }
}

/* Time is not the first dimension; the one before has size 1. */
static void time_comes_second(void **state)
{
    (void)state;
    ncmake recipe = {.lat_first = true, .n_lat = 1, .n_time = 9};
    on_file(&(work){.path = ncmake_file("second.nc", &recipe), .run = check_values});
}

/* ---- what is declined ---- */

static void check_declined(work *w)
{
    ek_assert_ok(ek_io_call(create_decoder, w));
    assert_null(w->decoder);
    if (strstr(w->reason, w->expected) == NULL) {
        fail_msg("the reason is \"%s\"", w->reason);
    }
}

static void in_one_chunk(int ncid, int varid)
{
    nc_def_var_chunking(ncid, varid, NC_CHUNKED, (size_t[]){4, 3, 5});
}

/* The decoder is shown another file than the library: of the same shape, with other values. */
static void self_test_declines_wrong_values(void **state)
{
    (void)state;
    ncmake recipes[] = {{0}, {.format = NC_NETCDF4}, {.format = NC_NETCDF4, .more = in_one_chunk}};
    for (size_t i = 0; i < EK_COUNT(recipes); i++) {
        const char *path = ncmake_file("a.nc", &recipes[i]);
        recipes[i].base = 1;
        on_file(&(work){.path = path,
                        .claimed = ncmake_file("b.nc", &recipes[i]),
                        .run = check_declined,
                        .expected = i < 2 ? "self-test: step 0 differs" : "self-test: step 3"});
    }
}

/* The last row only is wrong. */
static void self_test_looks_at_the_last_row(void **state)
{
    (void)state;
    const char *path = ncmake_file("a.nc", &(ncmake){.n_time = 6});
    const char *other = ncmake_copy("b.nc", path, -1);
    int fd = open(other, O_RDWR);
    uint8_t byte = 0;
    off_t last = ncmake_bytes(other) - 1;
    assert_int_equal(pread(fd, &byte, 1, last), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, last), 1);
    close(fd);
    on_file(&(work){.path = path,
                    .claimed = other,
                    .run = check_declined,
                    .expected = "self-test: step 5 differs"});
}

static void in_tiles(int ncid, int varid)
{
    static const size_t tile[3] = {2, 2, 2};
    nc_def_var_chunking(ncid, varid, NC_CHUNKED, tile);
}

/* Only the last of many tiles is wrong. Each tile has values of its own, so where the last value
 * of the file stands is found by its bytes. */
static void self_test_looks_at_the_last_tile(void **state)
{
    (void)state;
    ncmake recipe = {.format = NC_NETCDF4, .n_time = 6, .more = in_tiles};
    const char *path = ncmake_file("a.nc", &recipe);
    const char *other = ncmake_copy("b.nc", path, -1);
    float last = (float)ncmake_value(&recipe, 5, 14);
    int fd = open(other, O_RDWR);
    int n_found = 0;
    for (off_t at = 0; at + 4 <= ncmake_bytes(other); at++) {
        float value = 0;
        assert_int_equal(pread(fd, &value, sizeof(value), at), sizeof(value));
        if (value == last) {
            value = 0;
            assert_int_equal(pwrite(fd, &value, sizeof(value), at), sizeof(value));
            n_found++;
        }
    }
    close(fd);
    assert_int_equal(n_found, 1);
    on_file(&(work){.path = path,
                    .claimed = other,
                    .run = check_declined,
                    .expected = "self-test: step 5 differs"});
}

static void other_shapes_are_declined(void **state)
{
    (void)state;
    const char *path = ncmake_file("a.nc", &(ncmake){.n_time = 6});
    const char *other = ncmake_file("b.nc", &(ncmake){.n_time = 5});
    const char *wide = ncmake_file("c.nc", &(ncmake){.n_time = 6, .n_lon = 6});
    static const char why[] = "its records are not its time steps";
    on_file(&(work){.path = path, .claimed = other, .run = check_declined, .expected = why});
    on_file(&(work){.path = path, .claimed = wide, .run = check_declined, .expected = why});
}

/* ---- files that change ---- */

static void check_changes(work *w)
{
    uint8_t row[1024];
    ek__scratch scratch;
    begin(w, &scratch);
    const ek__decoder_ops *ops = w->decoder->ops;
    ek_assert_ok(ops->job(w->decoder, 1, 2, 0, row, &scratch));

    struct stat before;
    assert_int_equal(stat(w->path, &before), 0);
    struct timespec times[2] = {before.st_atim, before.st_mtim};
    times[1].tv_nsec = times[1].tv_nsec == 0 ? 1 : times[1].tv_nsec - 1;
    assert_int_equal(utimensat(AT_FDCWD, w->path, times, 0), 0);
    assert_int_equal(ops->job(w->decoder, 1, 2, 0, row, &scratch), EK_EDATA);
    ek_assert_message("has changed since the plan was made");
    ek_assert_message(w->path);

    times[1] = before.st_mtim;
    assert_int_equal(utimensat(AT_FDCWD, w->path, times, 0), 0);
    ek_assert_ok(ops->job(w->decoder, 1, 2, 0, row, &scratch));

    assert_int_equal(truncate(w->path, before.st_size + 4), 0);
    assert_int_equal(utimensat(AT_FDCWD, w->path, times, 0), 0);
    assert_int_equal(ops->job(w->decoder, 1, 2, 0, row, &scratch), EK_EDATA);
    ek_assert_message("has changed since the plan was made");

    assert_int_equal(unlink(w->path), 0);
    assert_int_equal(ops->job(w->decoder, 1, 2, 0, row, &scratch), EK_EIO);
    ek_assert_message(w->path);
    ek__scratch_free(&scratch);
}

static void files_that_change_are_refused(void **state)
{
    (void)state;
    static const int formats[] = {0, NC_64BIT_DATA, NC_NETCDF4};
    for (size_t i = 0; i < EK_COUNT(formats); i++) {
        ncmake recipe = {.format = formats[i], .n_time = 6};
        on_file(&(work){.path = ncmake_file("changes.nc", &recipe), .run = check_changes});
    }
}

/* ---- memory ---- */

static void check_no_memory(work *w)
{
    int64_t live = ek_alloc_live();
    ek_status rc = EK_ENOMEM;
    for (int n = 1; rc == EK_ENOMEM; n++) {
        ek_alloc_fail_at(n);
        rc = ek_io_call(create_decoder, w);
        ek_alloc_fail_at(0);
        assert_true(rc == EK_OK || rc == EK_ENOMEM);
        assert_int_equal(w->decoder != NULL, rc == EK_OK);
        assert_true(rc == EK_OK || ek_alloc_live() == live);
        assert_in_range(n, 1, 100);
    }
}

static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    static const int formats[] = {0, NC_NETCDF4};
    for (size_t i = 0; i < EK_COUNT(formats); i++) {
        const char *path = ncmake_file("memory.nc", &(ncmake){.format = formats[i]});
        on_file(&(work){.path = path, .run = check_no_memory});
    }
}

static void *take_and_give(void *user)
{
    ek__scratch_pool *pool = user;
    for (int i = 0; i < 2000; i++) {
        ek__scratch *scratch = ek__scratch_take(pool);
        scratch->bytes[0]++; /* a race if two threads had it */
        ek__scratch_give(pool, scratch);
    }
    return NULL;
}

static void scratches_belong_to_one_thread_at_a_time(void **state)
{
    (void)state;
    ek__scratch_pool *pool = NULL;
    assert_int_equal(ek__scratch_pool_create(&pool, 0, 64, false), EK_EINVAL);
    for (int n = 1; n <= 8; n++) {
        ek_alloc_fail_at(n);
        assert_int_equal(ek__scratch_pool_create(&pool, 3, 64, true), EK_ENOMEM);
        ek_alloc_fail_at(0);
        assert_null(pool);
    }
    ek_assert_ok(ek__scratch_pool_create(&pool, 3, 64, true));
    pthread_t threads[5]; /* more than scratches: some wait */
    for (size_t i = 0; i < EK_COUNT(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, pool), 0);
    }
    for (size_t i = 0; i < EK_COUNT(threads); i++) {
        pthread_join(threads[i], NULL);
    }
    ek__scratch_pool_destroy(pool);
    ek__scratch_pool_destroy(NULL);
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
    const struct CMUnitTest tests[] = {TEST(records_stand_near_and_far),
                                       TEST(single_records_are_not_padded),
                                       TEST(time_comes_second),
                                       TEST(self_test_declines_wrong_values),
                                       TEST(self_test_looks_at_the_last_row),
                                       TEST(self_test_looks_at_the_last_tile),
                                       TEST(other_shapes_are_declined),
                                       TEST(files_that_change_are_refused),
                                       TEST(lack_of_memory_is_an_error),
                                       TEST(scratches_belong_to_one_thread_at_a_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
