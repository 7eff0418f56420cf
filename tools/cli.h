/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: what a job (eof, stats, run) is asked to do, and the commands themselves. Each
 * cmd_NAME takes the arguments from its own name on and returns the process's exit status. */
#ifndef EK_TOOLS_CLI_H
#define EK_TOOLS_CLI_H

#include "pipelines/ekman.h"

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

typedef enum cli_kind { CLI_EOF, CLI_STATS, CLI_RUN } cli_kind;

/* What the options of eof, stats and run say; strings are borrowed from argv, but for those that
 * cli_job_free frees. */
typedef struct cli_job {
    cli_kind kind;
    const char *name; /* "ekman eof", for messages */
    const char *const *paths;
    int n_paths;
    const char *variable, *time;
    const char *output, *json, *report;
    ek_plan_options plan;
    ek_run_options run; /* checkpoints and states */
    int64_t chunk, deflate, modes;
    int type;    /* ek_write_type */
    int decoder; /* ek_load_decoder */
    ek_reduce_options reduce;
    bool map, quiet;
    const char *text_file; /* run: where the pipeline's text is; "-": standard input; NULL: argv */
    char *text;            /* run: the pipeline, owned */
    const char *const *set;
    int n_set;
    char *command;      /* the whole command line, owned */
    const char **owned; /* what `paths` or `set` points to, owned */
} cli_job;

/* cli_parse_job fills *job from a command line whose first word is "eof", "stats" or "run";
 * `prefix` is what stood before it, for messages ("ekman", "ekman plan"). A mistake, --help and
 * --version end the process. */
ek_status cli_parse_job(cli_job *job, const char *prefix, int argc, char **argv);
void cli_job_free(cli_job *job);

/* cli_parse_size reads "1500", "512M", "1.5G" (powers of 1024) as bytes. */
bool cli_parse_size(const char *text, size_t *out);

/* cli_parse_int reads a whole number within [min, max]. */
bool cli_parse_int(const char *text, int64_t min, int64_t max, int64_t *out);

/* cli_parse_count does the same for an argp option and ends the process on a mistake. */
struct argp_state;
int64_t cli_parse_count(struct argp_state *state, const char *option, const char *text, int64_t min,
                        int64_t max);

/* cli_parse_backend returns "auto", "host" or "cuda" if the text is one of them, and else ends the
 * process. */
const char *cli_parse_backend(struct argp_state *state, const char *text);

/* cli_plan_argp parses the options that every job has: how it is planned, run and reported. Its
 * input is a cli_job. */
extern const struct argp cli_plan_argp;

/* cli_run_argp parses the command line of run, cli_run_read reads the text from where it is. */
extern const struct argp cli_run_argp;
ek_status cli_run_read(cli_job *job);

/* cli_same_file says whether two paths name one file, be it there or not. */
bool cli_same_file(const char *a, const char *b);
/* cli_checkpoint_argp parses --checkpoint and what goes with it, likewise. */
extern const struct argp cli_checkpoint_argp;

/* cli_join joins words with spaces, quoting those a shell would split. Free with ek_free. */
char *cli_join(int argc, char *const *argv, const char *first);

/* cli_fail prints "NAME: <last error>" to standard error and returns CLI_FAILED. */
int cli_fail(const char *name);

/* cli_flush ends standard output; CLI_FAILED with a message if it could not be written. */
int cli_flush(const char *name);

/* cli_job_kind says whether `word` names a job, and which. */
bool cli_job_kind(const char *word, cli_kind *out);

int cmd_eof(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_lab(int argc, char **argv);
int cmd_probe(int argc, char **argv);
int cmd_sample(int argc, char **argv);
int cmd_state(int argc, char **argv);

#endif /* EK_TOOLS_CLI_H */
