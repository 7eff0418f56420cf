/* SPDX-License-Identifier: Apache-2.0 */
/* ekman plan: what eof, stats or run would do: passes, regions, launches, memory. Reads metadata
 * only.
 */
#include "tools/job.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "Usage: ekman plan [--format FORMAT] eof|stats [OPTION...] FILE...\n"
    "  or:  ekman plan [--format FORMAT] run [OPTION...] TEXT\n\n"
    "Prints what the job would do, and runs nothing: passes over the data, regions captured as\n"
    "graphs, launches and bytes per chunk, memory. Takes the options of the job; see\n"
    "ekman eof --help and the like.\n\n"
    "FORMAT is text (default), json (by graphs/plan.schema.json), dot (for graphviz) or mermaid.\n";

static ek_status print_plan(const cli_job *job, ek_format format, job_run *run)
{
    EK_TRY(job_prepare(run, job));
    char *text = ek_plan_format(run->plan, format);
    if (text == NULL) {
        return EK_FAIL(EK_ENOMEM, "out of memory for the plan's text");
    }
    fputs(text, stdout);
    ek_free(text);
    return EK_OK;
}

/* take_format removes "--format NAME" and "--format=NAME" from the words; false for no format. */
static bool take_format(int *argc, char **argv, ek_format *out)
{
    static const char option[] = "--format";
    const size_t length = sizeof option - 1;
    int n = 0;
    *out = EK_FORMAT_TEXT;
    for (int i = 0; i < *argc; i++) {
        bool here = strncmp(argv[i], option, length) == 0;
        if (!here || (argv[i][length] != '\0' && argv[i][length] != '=')) {
            argv[n++] = argv[i];
            continue;
        }
        const char *name = argv[i][length] == '=' ? argv[i] + length + 1
                           : i + 1 < *argc        ? argv[++i]
                                                  : "";
        *out = ek_format_parse(name);
        if (*out == 0) {
            fprintf(stderr, "ekman plan: --format takes text, json, dot or mermaid, not '%s'\n",
                    name);
            return false;
        }
    }
    argv[n] = NULL;
    *argc = n;
    return true;
}

int cmd_plan(int argc, char **argv)
{
    cli_kind kind;
    ek_format format;
    cli_job job = {0};
    job_run run = {0};
    if (!take_format(&argc, argv, &format)) {
        return CLI_USAGE;
    }
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0)) {
        fputs(usage, stdout);
        return cli_flush("ekman plan");
    }
    if (argc < 2 || !cli_job_kind(argv[1], &kind)) {
        fprintf(stderr, "ekman plan: say which job to plan: eof, stats or run\n%s", usage);
        return CLI_USAGE;
    }
    ek_status rc = cli_parse_job(&job, "ekman plan", argc - 1, argv + 1);
    if (rc == EK_OK) {
        rc = print_plan(&job, format, &run);
    }
    int code = rc == EK_OK ? cli_flush("ekman plan") : job_fail(&run, "ekman plan");
    job_close(&run);
    cli_job_free(&job);
    return code;
}
