/* SPDX-License-Identifier: Apache-2.0 */
/* ekman sample: synthetic reanalysis files, one a year. */
#include "tools/cli.h"
#include "tools/sample.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define GRID_MAX 10000

enum { KEY_YEARS = 256, KEY_STEPS, KEY_NLAT, KEY_NLON, KEY_HOURS, KEY_TYPE, KEY_DEFLATE, KEY_SEED };

typedef struct sample_job {
    sample_options options;
    int first_year, last_year;
    const char *output; /* a folder, or a file where it ends in .nc */
} sample_job;

static const struct argp_option options[] = {
    {"output", 'o', "DIR|FILE", 0,
     "folder for air.sig995.YEAR.nc files, made if it is not there; or, for one year, a file "
     "ending in .nc; default: the current folder",
     1},
    {"years", KEY_YEARS, "FIRST-LAST", 0, "years, one file each; default 1990", 1},
    {"steps", KEY_STEPS, "N", 0, "time steps per file; default: the whole year", 1},
    {"nlat", KEY_NLAT, "N", 0, "latitudes, from 90 to -90; default 73", 1},
    {"nlon", KEY_NLON, "N", 0, "longitudes, from 0; default 144", 1},
    {"hours", KEY_HOURS, "N", 0, "hours from step to step, 1 to 24; default 6", 1},
    {"type", KEY_TYPE, "TYPE", 0, "float32 (default), rounded to 0.1 K, or int16, packed", 2},
    {"deflate", KEY_DEFLATE, "LEVEL", 0, "compression, 0 (none) to 9; default 2", 2},
    {"seed", KEY_SEED, "N", 0, "another seed makes other data; default 1", 3},
    {"variable", 'v', "NAME", 0, "the variable's name; default air", 3},
    {0}};

static void parse_years(struct argp_state *state, sample_job *job, const char *text)
{
    int first = 0;
    int last = 0;
    int end = 0;
    int n = sscanf(text, "%4d%n-%4d%n", &first, &end, &last, &end);
    if (n == 1) {
        last = first;
    }
    if (n < 1 || text[end] != '\0' || first < 1800 || last < first || last > 2200) {
        argp_error(state,
                   "--years takes a year or FIRST-LAST from 1800 to 2200, such as 1990-1993, "
                   "not '%s'",
                   text);
    }
    job->first_year = first;
    job->last_year = last;
}

static void parse_type(struct argp_state *state, sample_job *job, const char *text)
{
    job->options.packed = strcmp(text, "int16") == 0;
    if (!job->options.packed && strcmp(text, "float32") != 0) {
        argp_error(state, "--type takes float32 or int16, not '%s'", text);
    }
}

static bool is_file_name(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".nc") == 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    sample_job *job = state->input;
    sample_options *o = &job->options;
    switch (key) {
    case 'o':
        job->output = arg;
        return 0;
    case KEY_YEARS:
        parse_years(state, job, arg);
        return 0;
    case KEY_STEPS:
        o->n_steps = cli_parse_count(state, "steps", arg, 1, 1000000);
        return 0;
    case KEY_NLAT:
        o->grid.n_lat = cli_parse_count(state, "nlat", arg, 1, GRID_MAX);
        return 0;
    case KEY_NLON:
        o->grid.n_lon = cli_parse_count(state, "nlon", arg, 1, GRID_MAX);
        return 0;
    case KEY_HOURS:
        o->grid.step_hours = (double)cli_parse_count(state, "hours", arg, 1, 24);
        return 0;
    case KEY_TYPE:
        parse_type(state, job, arg);
        return 0;
    case KEY_DEFLATE:
        o->deflate = (int)cli_parse_count(state, "deflate", arg, 0, 9);
        return 0;
    case KEY_SEED:
        o->grid.seed = (uint64_t)cli_parse_count(state, "seed", arg, 0, INT64_MAX);
        return 0;
    case 'v':
        o->variable = arg;
        return 0;
    case ARGP_KEY_END:
        if (is_file_name(job->output) && job->first_year != job->last_year) {
            argp_error(state, "several years need a folder; '%s' is one file", job->output);
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse_option,
    .doc = "Writes synthetic near-surface air temperature in the form of NCEP/NCAR Reanalysis "
           "files, one a year, to try things on. The same options give the same values."};

static ek_status make_folder(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        return EK_FAIL_CODE(EK_EIO, errno, "cannot make the folder '%s': %s", path,
                            strerror(errno));
    }
    return EK_OK;
}

static ek_status write_year(const sample_job *job, int year)
{
    sample_options year_options = job->options;
    year_options.grid.year = year;
    char *path = is_file_name(job->output)
                     ? ek_strdup(job->output)
                     : ek_strprintf("%s/%s.sig995.%d.nc", job->output, job->options.variable, year);
    if (path == NULL) {
        return EK_ENOMEM;
    }
    ek_status rc = sample_write(&year_options, path);
    if (rc == EK_OK) {
        printf("%s: %lld steps of %lld x %lld\n", path, (long long)sample_steps(&year_options),
               (long long)year_options.grid.n_lat, (long long)year_options.grid.n_lon);
        fflush(stdout);
    }
    ek_free(path);
    return rc;
}

static ek_status write_years(const sample_job *job)
{
    if (!is_file_name(job->output)) {
        EK_TRY(make_folder(job->output));
    }
    for (int year = job->first_year; year <= job->last_year; year++) {
        EK_TRY(write_year(job, year));
    }
    return EK_OK;
}

int cmd_sample(int argc, char **argv)
{
    static char name[] = "ekman sample";
    char *command = cli_join(argc, argv, "ekman");
    sample_job job = {
        .options = {.grid = {.n_lat = 73, .n_lon = 144, .step_hours = 6, .seed = 1},
                    .variable = "air",
                    .command = command,
                    .deflate = 2},
        .first_year = 1990,
        .last_year = 1990,
        .output = ".",
    };
    if (command == NULL) {
        return cli_fail(name);
    }
    argv[0] = name;
    argp_err_exit_status = CLI_USAGE;
    argp_program_version = "ekman " EK_VERSION_STRING;
    argp_parse(&argp, argc, argv, 0, NULL, &job);
    ek_status rc = write_years(&job);
    ek_free(command);
    return rc == EK_OK ? cli_flush(name) : cli_fail(name);
}
