/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing the command line of run, and reading the pipeline's text from where it is. See cli.h. */
#include "tools/cli.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TEXT_BYTES_MAX (1 << 20)

enum { KEY_SET = 512 };

static const struct argp_option options[] = {
    {"file", 'f', "FILE", 0, "read the pipeline from a file; - is standard input", 1},
    {"set", KEY_SET, "NODE.OPTION=VALUE", 0,
     "give a node's option this value, whatever the text says; may be repeated", 1},
    {0}};

static void take_text(struct argp_state *state, cli_job *job, const char *word)
{
    if (job->text_file != NULL || job->text != NULL) {
        argp_error(state,
                   "there is a pipeline already before '%s'; a pipeline is one word, in "
                   "quotes: 'load in.nc ! upload ! ...'",
                   word);
    }
    if (strcmp(word, "-") == 0) {
        job->text_file = word;
        return;
    }
    job->text = ek_strdup(word);
    if (job->text == NULL) {
        argp_failure(state, CLI_FAILED, 0, "out of memory for the pipeline");
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    cli_job *job = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = job;
        state->child_inputs[1] = job;
        return 0;
    case ARGP_KEY_ARG:
        take_text(state, job, arg);
        return 0;
    case ARGP_KEY_END:
        if (job->text_file == NULL && job->text == NULL) {
            argp_error(state, "no pipeline. Name one in quotes, such as 'load in.nc ! upload ! "
                              "reduce ! download ! write mean.nc', or a file with -f");
        }
        return 0;
    case 'f':
        if (job->text_file != NULL || job->text != NULL) {
            argp_error(state, "there is a pipeline already before --file %s", arg);
        }
        job->text_file = arg;
        return 0;
    case KEY_SET:
        job->owned[job->n_set++] = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {.argp = &cli_plan_argp}, {.argp = &cli_checkpoint_argp}, {0}};
const struct argp cli_run_argp = {
    .options = options,
    .parser = parse,
    .args_doc = "TEXT",
    .doc =
        "Runs a pipeline written as text: chains of stages joined by '!', with ';' between them. A "
        "chain that begins with NAME. goes on from that node; a node is named by NAME: before its "
        "stage, or is called after it.\vTEXT may be - for standard input. An example, with two "
        "results of one sweep:\n\n"
        "  ekman run 'load air.*.nc ! up: upload ! reduce ! download ! write mean.nc;\n"
        "             up. ! reduce op=std,range ! download ! write stats.nc'\n\n"
        "ekman inspect STAGE tells what a stage takes, ekman plan run TEXT what would be done.",
    .children = children};

static ek_status read_all(FILE *in, const char *name, char **out)
{
    char *text = ek_alloc(TEXT_BYTES_MAX + 1, 1);
    if (text == NULL) {
        return EK_ENOMEM;
    }
    size_t n = fread(text, 1, TEXT_BYTES_MAX + 1, in);
    ek_status rc = EK_OK;
    if (ferror(in) != 0) {
        rc = EK_FAIL_CODE(EK_EIO, errno, "cannot read '%s': %s", name, strerror(errno));
    } else if (n > TEXT_BYTES_MAX || memchr(text, '\0', n) != NULL) {
        rc = EK_FAIL(EK_EDATA,
                     "'%s' is no pipeline's text: it is longer than a megabyte or has "
                     "zero bytes",
                     name);
    }
    if (rc != EK_OK) {
        ek_free(text);
        return rc;
    }
    text[n] = '\0';
    *out = text;
    return EK_OK;
}

ek_status cli_run_read(cli_job *job)
{
    if (job->text_file == NULL) {
        return EK_OK;
    }
    if (strcmp(job->text_file, "-") == 0) {
        job->text_file = "standard input";
        return read_all(stdin, job->text_file, &job->text);
    }
    FILE *in = fopen(job->text_file, "r");
    if (in == NULL) {
        return EK_FAIL_CODE(EK_ENOENT, errno, "cannot open '%s': %s", job->text_file,
                            strerror(errno));
    }
    ek_status rc = read_all(in, job->text_file, &job->text);
    fclose(in);
    return rc;
}
