/* SPDX-License-Identifier: Apache-2.0 */
/* Reading whole variables: the own decoders on several threads beside nc_get_vara, in one process,
 * in interleaved rounds, into buffers that are used again. Run by tools/bench/load, which makes the
 * files. Prints a JSON object for each number of threads and each of the library's two ways: as
 * float32, and as stored. */
#include "tools/bench/load_pool.h"

#include "core/loop.h"

#include <argp.h>
#include <jansson.h>
#include <libdeflate.h>
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define THREADS_MAX 256
#define CASES_MAX   16
#define ROUNDS_MAX  999

typedef struct bench {
    char **paths;
    int n_paths;
    const char *name, *commit;
    int threads[CASES_MAX], n_cases, rounds;
    bench_file *files;
    void *buffer;                                       /* of the library: one for all files */
    bench_time *as_float, *as_stored, *ours[CASES_MAX]; /* a time for each round */
    int64_t bytes, n_values, file_bytes;
    double decide_s; /* opening, choosing, index and self-test, per file */
} bench;

static ek_status prepare_file(bench_file *f, const char *path, const ek__decoder *like)
{
    ek__nc_file file = {.ncid = -1};
    ek_field *notes = ek_alloc(1, sizeof(*notes));
    ek__packing packing;
    char reason[96] = "";
    ek_status rc = notes != NULL ? EK_OK : EK_ENOMEM;
    f->path = path;
    EK_GOTO(rc, done);
    EK_GOTO(ek__nc_open(&file, path), done);
    EK_GOTO(ek__variable_find(&file, NULL, NULL, notes, &f->variable), done);
    EK_GOTO(ek__packing_read(&file, &f->variable.var, notes, &packing), done);
    f->n_rows = f->variable.var.dims[f->variable.time_dim].size;
    f->n_values = ek__nc_cells(&f->variable.var);
    f->n_bytes = (size_t)f->n_values * ek_dtype_size(packing.dtype);
    bench_time began = bench_now();
    EK_GOTO(ek__decoder_create(&(ek__decode_request){.file = &file,
                                                     .variable = &f->variable,
                                                     .dtype = packing.dtype,
                                                     .n_rows = f->n_rows,
                                                     .cells = f->n_values / f->n_rows,
                                                     .like = like},
                               &f->decoder, reason, sizeof(reason)),
            done);
    f->decide_s = bench_since(began).wall_s;
    if (f->decoder == NULL) {
        EK_GOTO(
            EK_FAIL(EK_ENOTSUP, "%s: no decoder takes %s (%s)", path, f->variable.var.name, reason),
            done);
    }
    f->n_jobs = f->decoder->ops->jobs(f->decoder, 0, f->n_rows);
    f->out = ek_alloc(f->n_bytes, 1);
    rc = f->out != NULL ? EK_OK : EK_ENOMEM;
done:
    ek_field_destroy(notes);
    ek__nc_close(&file);
    return rc;
}

static ek_status prepare(bench *b)
{
    size_t most = 0;
    b->files = ek_alloc((size_t)b->n_paths, sizeof(*b->files));
    if (b->files == NULL) {
        return EK_ENOMEM;
    }
    for (int i = 0; i < b->n_paths; i++) {
        struct stat info;
        bench_file *f = &b->files[i];
        EK_TRY(prepare_file(f, b->paths[i], i > 0 ? f[-1].decoder : NULL));
        b->bytes += (int64_t)f->n_bytes;
        b->n_values += f->n_values;
        b->decide_s += f->decide_s / b->n_paths;
        b->file_bytes += stat(f->path, &info) == 0 ? info.st_size : 0;
        most = EK_MAX(most, (size_t)f->n_values * sizeof(double));
    }
    b->buffer = ek_alloc(most, 1);
    b->as_float = ek_alloc((size_t)b->rounds, sizeof(bench_time));
    b->as_stored = ek_alloc((size_t)b->rounds, sizeof(bench_time));
    bool all = b->buffer != NULL && b->as_float != NULL && b->as_stored != NULL;
    for (int i = 0; i < b->n_cases; i++) {
        b->ours[i] = ek_alloc((size_t)b->rounds, sizeof(bench_time));
        all = all && b->ours[i] != NULL;
    }
    return all ? EK_OK : EK_ENOMEM;
}

static void finish(bench *b)
{
    for (int i = 0; b->files != NULL && i < b->n_paths; i++) {
        ek__decoder_destroy(b->files[i].decoder);
        ek_free(b->files[i].out);
    }
    for (int i = 0; i < b->n_cases; i++) {
        ek_free(b->ours[i]);
    }
    ek_free(b->files);
    ek_free(b->buffer);
    ek_free(b->as_float);
    ek_free(b->as_stored);
}

/* Reads a whole variable by the library; the file is opened and closed outside of the time taken,
 * so that no chunk is left in the library's cache. */
static ek_status read_library(bench *b, const bench_file *f, bool as_float, bench_time *took)
{
    ek__nc_file file = {.ncid = -1};
    size_t start[EK_NC_DIMS] = {0};
    size_t count[EK_NC_DIMS] = {0};
    const ek__nc_var *var = &f->variable.var;
    for (int i = 0; i < var->n_dims; i++) {
        count[i] = (size_t)var->dims[i].size;
    }
    EK_TRY(ek__nc_open(&file, f->path));
    bench_time began = bench_now();
    int code = as_float ? nc_get_vara_float(file.ncid, var->id, start, count, b->buffer)
                        : nc_get_vara(file.ncid, var->id, start, count, b->buffer);
    bench_time one = bench_since(began);
    took->wall_s += one.wall_s;
    took->cpu_s += one.cpu_s;
    ek__nc_close(&file);
    return code == NC_ERANGE ? EK_OK : EK_NC(code, f->path, "reading the variable");
}

static ek_status compare(bench *b)
{
    for (int i = 0; i < b->n_paths; i++) {
        bench_time took = {0};
        EK_TRY(read_library(b, &b->files[i], false, &took));
        if (memcmp(b->files[i].out, b->buffer, b->files[i].n_bytes) != 0) {
            return EK_FAIL(EK_EINTERNAL, "%s: the decoder and the library read different values",
                           b->paths[i]);
        }
    }
    return EK_OK;
}

/* Measures all ways in rounds, one after the other, after a first round that warms up. */
static ek_status measure(bench *b)
{
    for (int round = -1; round < b->rounds; round++) {
        int at = EK_MAX(round, 0);
        b->as_float[at] = (bench_time){0};
        b->as_stored[at] = (bench_time){0};
        for (int i = 0; i < b->n_paths; i++) {
            EK_TRY(read_library(b, &b->files[i], true, &b->as_float[at]));
        }
        for (int i = 0; i < b->n_cases; i++) {
            EK_TRY(bench_pool_read(b->files, b->n_paths, b->threads[i], &b->ours[i][at]));
            if (round < 0) {
                EK_TRY(compare(b));
            }
        }
        for (int i = 0; i < b->n_paths; i++) {
            EK_TRY(read_library(b, &b->files[i], false, &b->as_stored[at]));
        }
    }
    return EK_OK;
}

static int by_wall(const void *a, const void *b)
{
    double x = ((const bench_time *)a)->wall_s;
    double y = ((const bench_time *)b)->wall_s;
    return (x > y) - (x < y);
}

static int by_cpu(const void *a, const void *b)
{
    double x = ((const bench_time *)a)->cpu_s;
    double y = ((const bench_time *)b)->cpu_s;
    return (x > y) - (x < y);
}

/* The medians of wall and processor time (of an even number of rounds the upper ones). */
static bench_time median(bench_time *times, int n)
{
    bench_time middle;
    qsort(times, (size_t)n, sizeof(*times), by_wall);
    middle.wall_s = times[n / 2].wall_s;
    qsort(times, (size_t)n, sizeof(*times), by_cpu);
    middle.cpu_s = times[n / 2].cpu_s;
    return middle;
}

/* The processor's name, as Linux tells it. */
static void machine_name(char *out, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(out, size, "unknown");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            snprintf(out, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

static void print_line(const bench *b, int i, const char *library, bench_time ours,
                       bench_time theirs)
{
    char machine[128];
    machine_name(machine, sizeof(machine));
    char *name = ek_strprintf("%s, %d thread%s, %s, library as %s", b->name, b->threads[i],
                              b->threads[i] > 1 ? "s" : "", b->files[0].decoder->text, library);
    char *versions =
        ek_strprintf("netCDF %.*s, zlib %s, libdeflate %s", (int)strcspn(nc_inq_libvers(), " "),
                     nc_inq_libvers(), zlibVersion(), LIBDEFLATE_VERSION_STRING);
    json_t *line = json_pack(
        "{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:i, s:i, s:f, s:s, s:i, s:s, s:s}",
        "bench", "load", "case", name, "ours_s", ours.wall_s, "theirs_s", theirs.wall_s, "ratio",
        theirs.wall_s / ours.wall_s, "ours_cpu_s", ours.cpu_s, "theirs_cpu_s", theirs.cpu_s,
        "bytes", (json_int_t)b->bytes, "values", (json_int_t)b->n_values, "file_bytes",
        (json_int_t)b->file_bytes, "files", b->n_paths, "threads", b->threads[i], "decide_s",
        b->decide_s, "machine", machine, "rounds", b->rounds, "commit", b->commit, "libraries",
        versions);
    if (line != NULL) {
        json_dumpf(line, stdout, 0);
        printf("\n");
    }
    json_decref(line);
    ek_free(name);
    ek_free(versions);
}

static ek_status run(void *user)
{
    bench *b = user;
    ek_status rc = EK_OK;
    EK_GOTO(prepare(b), done);
    EK_GOTO(measure(b), done);
    bench_time as_float = median(b->as_float, b->rounds);
    bench_time as_stored = median(b->as_stored, b->rounds);
    for (int i = 0; i < b->n_cases; i++) {
        bench_time ours = median(b->ours[i], b->rounds);
        print_line(b, i, "float32", ours, as_float);
        print_line(b, i, "stored", ours, as_stored);
    }
done:
    finish(b);
    return rc;
}

static void parse_threads(struct argp_state *state, bench *b, const char *text)
{
    b->n_cases = 0;
    for (char *end = NULL; *text != '\0'; text = *end == ',' ? end + 1 : end) {
        long n = strtol(text, &end, 10);
        if (end == text || n < 1 || n > THREADS_MAX || b->n_cases == CASES_MAX) {
            argp_error(state, "--threads takes numbers from 1 to %d, such as 1,2,16", THREADS_MAX);
            return;
        }
        b->threads[b->n_cases++] = (int)n;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    bench *b = state->input;
    switch (key) {
    case 't':
        parse_threads(state, b, arg);
        return 0;
    case 'r':
        b->rounds = (int)strtol(arg, NULL, 10);
        if (b->rounds < 1 || b->rounds > ROUNDS_MAX) {
            argp_error(state, "--rounds takes a number from 1 to %d", ROUNDS_MAX);
        }
        return 0;
    case 'n':
        b->name = arg;
        return 0;
    case 'c':
        b->commit = arg;
        return 0;
    case ARGP_KEY_ARGS:
        b->paths = state->argv + state->next;
        b->n_paths = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_usage(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"threads", 't', "LIST", 0, "numbers of reading threads; default 1", 0},
        {"rounds", 'r', "N", 0, "repeats, of which the median counts; default 9", 0},
        {"name", 'n', "TEXT", 0, "what the files are called in the output", 0},
        {"commit", 'c', "TEXT", 0, "the commit to name in the output", 0},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "FILE...",
        .doc = "Measures the reading of the only variable over time of all files together."};
    bench b = {.name = "files", .commit = "unknown", .threads = {1}, .n_cases = 1, .rounds = 9};
    argp_parse(&argp, argc, argv, 0, NULL, &b);
    ek_status rc = ek_io_acquire();
    if (rc == EK_OK) {
        rc = ek_io_call(run, &b);
        ek_io_release();
    }
    if (rc != EK_OK) {
        fprintf(stderr, "bench-load: %s\n", ek_error_last()->message);
    }
    return rc == EK_OK ? 0 : 1;
}
