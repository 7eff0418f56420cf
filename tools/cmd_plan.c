/* SPDX-License-Identifier: Apache-2.0 */
/* ekman plan: what eof or stats would do: passes, regions, launches, memory. Reads metadata only.
 */
#include "tools/job.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "Usage: ekman plan eof|stats [OPTION...] FILE...\n\n"
    "Prints what the job would do, and runs nothing: passes over the data, regions captured as\n"
    "graphs, launches and bytes per chunk, memory. Takes the options of eof and stats; see\n"
    "ekman eof --help.\n";

static ek_status print_plan(const cli_job *job, job_run *run)
{
    EK_TRY(job_prepare(run, job));
    char *text = ek_plan_text(run->plan);
    if (text == NULL) {
        return EK_FAIL(EK_ENOMEM, "out of memory for the plan's text");
    }
    fputs(text, stdout);
    ek_free(text);
    return EK_OK;
}

int cmd_plan(int argc, char **argv)
{
    cli_kind kind;
    cli_job job = {0};
    job_run run = {0};
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0)) {
        fputs(usage, stdout);
        return cli_flush("ekman plan");
    }
    if (argc < 2 || !cli_job_kind(argv[1], &kind)) {
        fprintf(stderr, "ekman plan: say which job to plan: eof or stats\n%s", usage);
        return CLI_USAGE;
    }
    ek_status rc = cli_parse_job(&job, "ekman plan", argc - 1, argv + 1);
    if (rc == EK_OK) {
        rc = print_plan(&job, &run);
    }
    int code = rc == EK_OK ? cli_flush("ekman plan") : cli_fail("ekman plan");
    job_close(&run);
    cli_job_free(&job);
    return code;
}
