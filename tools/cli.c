/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing the command lines of eof, stats and plan with argp. See cli.h; the options that every job
 * has are in cli_plan.c. */
#include "tools/cli.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_MODES 10

enum { KEY_CHUNK = 512, KEY_TIME, KEY_DECODER, KEY_PRECISION, KEY_DEFLATE };
enum { KEY_MAP = 768, KEY_STATISTICS, KEY_DDOF, KEY_MODES, KEY_STATE, KEY_FROM_STATE };

bool cli_parse_int(const char *text, int64_t min, int64_t max, int64_t *out)
{
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < min || value > max) {
        return false;
    }
    *out = value;
    return true;
}

bool cli_parse_size(const char *text, size_t *out)
{
    char *end = NULL;
    double value = strtod(text, &end);
    static const char units[] = "KMGT";
    double factor = 1;
    if (end == text || !(value > 0)) {
        return false;
    }
    const char *unit = *end != '\0' ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (unit != NULL) {
        factor = (double)(1ull << (10 * (unit - units + 1)));
        end++;
        end += strcmp(end, "iB") == 0 ? 2 : strcmp(end, "B") == 0 ? 1 : 0;
    }
    double bytes = value * factor;
    if (*end != '\0' || bytes < 1 || bytes > 1e18) {
        return false;
    }
    *out = (size_t)bytes;
    return true;
}

/* Whether a shell would leave the word as it is. */
static bool is_plain(const char *word)
{
    for (const char *c = word; *c != '\0'; c++) {
        if (!isalnum((unsigned char)*c) && strchr("-_./,:=+@%", *c) == NULL) {
            return false;
        }
    }
    return *word != '\0';
}

char *cli_join(int argc, char *const *argv, const char *first)
{
    char *line = ek_strdup(first);
    for (int i = 0; i < argc && line != NULL; i++) {
        const char *quote = is_plain(argv[i]) ? "" : "'";
        char *longer = ek_strprintf("%s %s%s%s", line, quote, argv[i], quote);
        ek_free(line);
        line = longer;
    }
    return line;
}

int cli_fail(const char *name)
{
    fprintf(stderr, "%s: %s\n", name, ek_error_last()->message);
    return CLI_FAILED;
}

int cli_flush(const char *name)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "%s: cannot write to standard output: %s\n", name, strerror(errno));
        return CLI_FAILED;
    }
    return CLI_OK;
}

bool cli_job_kind(const char *word, cli_kind *out)
{
    static const char *const names[] = {
        [CLI_EOF] = "eof", [CLI_STATS] = "stats", [CLI_RUN] = "run"};
    for (size_t i = 0; i < EK_COUNT(names); i++) {
        if (strcmp(word, names[i]) == 0) {
            *out = (cli_kind)i;
            return true;
        }
    }
    return false;
}

static const struct argp_option data_options[] = {
    {"variable", 'v', "NAME", 0, "variable to read; default: the only one with a time axis", 1},
    {"time", KEY_TIME, "DIM", 0, "name of the time dimension; default: found by CF attributes", 1},
    {"output", 'o', "OUT.nc", 0, "netCDF file to write; default: none", 2},
    {"precision", KEY_PRECISION, "TYPE", 0, "type of its values: float64 (default) or float32", 2},
    {"deflate", KEY_DEFLATE, "LEVEL", 0, "compress it, 1 to 9; default 0: not at all", 2},
    {"chunk", KEY_CHUNK, "N", 0, "time steps per chunk; default: as many as make about 16 MiB", 3},
    {"decoder", KEY_DECODER, "WHO", 0,
     "auto (default): own decoders on all threads where they can, else the netCDF library; chunk: "
     "own decoders or an error; library: on one thread",
     3},
    {0}};

static const struct argp_option eof_options[] = {
    {"modes", KEY_MODES, "K", 0, "leading modes wanted, or all; default 10", 1},
    {"map", KEY_MAP, NULL, 0, "draw EOF 1 and the modes' variances as text", 2},
    {0}};

static const struct argp_option stats_options[] = {
    {"statistics", KEY_STATISTICS, "LIST", 0,
     "any of mean, std, var, min, max, range, sum, count, joined by commas; default "
     "mean,std,range,var",
     1},
    {"ddof", KEY_DDOF, "0|1", 0, "std and var divide by N - ddof; default 1", 1},
    {"state", KEY_STATE, "FILE", 0,
     "keep the accumulators in FILE, to add later files to, or to join (ekman state merge)", 6},
    {"from-state", KEY_FROM_STATE, "FILE", 0,
     "go on from these accumulators, with the statistics they were made for: reads only the files "
     "given here, which come later in time, or none",
     6},
    {0}};

static void parse_precision(struct argp_state *state, cli_job *job, const char *text)
{
    if (strcmp(text, "float64") == 0) {
        job->type = EK_WRITE_FLOAT64;
    } else if (strcmp(text, "float32") == 0) {
        job->type = EK_WRITE_FLOAT32;
    } else {
        argp_error(state, "--precision takes float64 or float32, not '%s'", text);
    }
}

static void parse_decoder(struct argp_state *state, cli_job *job, const char *text)
{
    ek_load_options load = {0};
    if (ek_options_set(ek_stage_load.options, &load, "decoder", text) != EK_OK) {
        argp_error(state, "--decoder: %s", ek_error_last()->message);
    }
    job->decoder = load.decoder;
}

static error_t parse_data(int key, char *arg, struct argp_state *state)
{
    cli_job *job = state->input;
    switch (key) {
    case 'v':
        job->variable = arg;
        return 0;
    case KEY_TIME:
        job->time = arg;
        return 0;
    case 'o':
        job->output = arg;
        return 0;
    case KEY_PRECISION:
        parse_precision(state, job, arg);
        return 0;
    case KEY_DEFLATE:
        job->deflate = cli_parse_count(state, "deflate", arg, 0, 9);
        return 0;
    case KEY_CHUNK:
        job->chunk = cli_parse_count(state, "chunk", arg, 1, INT32_MAX);
        return 0;
    case KEY_DECODER:
        parse_decoder(state, job, arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The names come from the stage's own table, so a new statistic needs no change here. */
static void parse_statistics(struct argp_state *state, cli_job *job, const char *text)
{
    const ek_option *table = ek_stage_reduce.options;
    ek_reduce_options reduce = {0};
    if (ek_options_copy(table, &reduce, NULL) != EK_OK ||
        ek_options_set(table, &reduce, "op", text) != EK_OK) {
        argp_error(state, "--statistics: %s", ek_error_last()->message);
    }
    job->reduce.op = reduce.op;
    ek_options_free(table, &reduce);
}

static void parse_modes(struct argp_state *state, cli_job *job, const char *text)
{
    if (strcmp(text, "all") == 0) {
        job->modes = 0;
    } else if (!cli_parse_int(text, 1, INT32_MAX, &job->modes)) {
        argp_error(state, "--modes takes a whole number from 1, or 'all', not '%s'", text);
    }
}

static bool same_inode(const char *a, const char *b)
{
    struct stat info_a;
    struct stat info_b;
    return stat(a, &info_a) == 0 && stat(b, &info_b) == 0 && info_a.st_dev == info_b.st_dev &&
           info_a.st_ino == info_b.st_ino;
}

/* Whether the folders that the paths lie in are one. */
static bool same_folder(const char *a, const char *b)
{
    char *copy_a = ek_strdup(a);
    char *copy_b = ek_strdup(b);
    bool same = copy_a != NULL && copy_b != NULL && same_inode(dirname(copy_a), dirname(copy_b));
    ek_free(copy_a);
    ek_free(copy_b);
    return same;
}

bool cli_same_file(const char *a, const char *b)
{
    const char *name_a = strrchr(a, '/');
    const char *name_b = strrchr(b, '/');
    bool same_name = strcmp(name_a != NULL ? name_a + 1 : a, name_b != NULL ? name_b + 1 : b) == 0;
    return strcmp(a, b) == 0 || same_inode(a, b) || (same_name && same_folder(a, b));
}

/* A report may take the place of no input, and not of the output. */
static void check_report(struct argp_state *state, const cli_job *job, const char *option,
                         const char *path)
{
    if (path != NULL && job->output != NULL && cli_same_file(path, job->output)) {
        argp_error(state, "%s and --output both name '%s'", option, path);
    }
    for (int i = 0; path != NULL && i < job->n_paths; i++) {
        if (cli_same_file(path, job->paths[i])) {
            argp_error(state, "%s would overwrite the input '%s'", option, path);
        }
    }
}

/* The write stage protects the inputs from --output; reports are written here. */
static void check_files(struct argp_state *state, const cli_job *job)
{
    if (job->n_paths == 0 && job->plan.from_state == NULL) {
        argp_error(state, "no input files. Name one or more netCDF files, or make some to try "
                          "with: ekman sample --years 1990-1991");
    }
    check_report(state, job, "--json", job->json);
    check_report(state, job, "--report", job->report);
    check_report(state, job, "--state", job->run.state);
    if (job->json != NULL && job->report != NULL && cli_same_file(job->json, job->report)) {
        argp_error(state, "--json and --report both name '%s'", job->json);
    }
}

/* Options of one job only, and the files. */
static error_t parse_own(int key, char *arg, struct argp_state *state)
{
    cli_job *job = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = job;
        state->child_inputs[1] = job;
        state->child_inputs[2] = job;
        return 0;
    case ARGP_KEY_ARG:
        job->owned[job->n_paths++] = arg;
        return 0;
    case ARGP_KEY_END:
        check_files(state, job);
        return 0;
    case KEY_MODES:
        parse_modes(state, job, arg);
        return 0;
    case KEY_MAP:
        job->map = true;
        return 0;
    case KEY_STATISTICS:
        parse_statistics(state, job, arg);
        return 0;
    case KEY_STATE:
        job->run.state = arg;
        return 0;
    case KEY_FROM_STATE:
        job->plan.from_state = arg;
        return 0;
    case KEY_DDOF:
        job->reduce.ddof = cli_parse_count(state, "ddof", arg, 0, 1) == 0 ? EK_DDOF_0 : EK_DDOF_1;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp data_argp = {.options = data_options, .parser = parse_data};
static const struct argp_child children[] = {
    {.argp = &data_argp}, {.argp = &cli_plan_argp}, {.argp = &cli_checkpoint_argp}, {0}};
static const struct argp eof_argp = {
    .options = eof_options,
    .parser = parse_own,
    .args_doc = "FILE...",
    .doc = "Empirical orthogonal functions of a variable over time: singular value decomposition "
           "of its anomalies from the time mean. FILEs are put in order by their time axes.",
    .children = children};
static const struct argp stats_argp = {
    .options = stats_options,
    .parser = parse_own,
    .args_doc = "FILE...",
    .doc = "Statistics of each grid cell over time, all in one sweep over the files. FILEs are "
           "put in order by their time axes.",
    .children = children};

static const struct {
    const char *name;
    const struct argp *argp;
} jobs[] = {[CLI_EOF] = {"ekman eof", &eof_argp},
            [CLI_STATS] = {"ekman stats", &stats_argp},
            [CLI_RUN] = {"ekman run", &cli_run_argp}};

ek_status cli_parse_job(cli_job *job, const char *prefix, int argc, char **argv)
{
    cli_kind kind = CLI_EOF;
    cli_job_kind(argv[0], &kind);
    *job = (cli_job){.kind = kind, .modes = DEFAULT_MODES, .name = jobs[kind].name};
    job->command = cli_join(argc, argv, prefix);
    job->owned = ek_alloc((size_t)argc, sizeof *job->owned);
    char *name = ek_strprintf("%s %s", prefix, argv[0]);
    if (job->command == NULL || job->owned == NULL || name == NULL) {
        ek_free(name);
        return EK_ENOMEM;
    }
    if (kind == CLI_RUN) {
        job->set = job->owned;
    } else {
        job->paths = job->owned;
    }

    argp_err_exit_status = CLI_USAGE;
    argp_program_version = "ekman " EK_VERSION_STRING;
    char *word = argv[0];
    argv[0] = name; /* what argp's messages start with */
    argp_parse(jobs[kind].argp, argc, argv, 0, NULL, job);
    argv[0] = word;
    ek_free(name);
    return kind == CLI_RUN ? cli_run_read(job) : EK_OK;
}

void cli_job_free(cli_job *job)
{
    ek_free(job->text);
    ek_free(job->command);
    ek_free(job->owned);
    *job = (cli_job){0};
}
