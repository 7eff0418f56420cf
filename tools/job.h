/* SPDX-License-Identifier: Apache-2.0 */
/* Making and running the pipeline that a command line asks for. */
#ifndef EK_TOOLS_JOB_H
#define EK_TOOLS_JOB_H

#include "tools/cli.h"

typedef struct job_run {
    const cli_job *job;
    ek_pipeline *pipeline;
    ek_node *result; /* NULL: run, whose pipeline has results as it likes */
    ek_plan *plan;
    ek_report *report; /* NULL until job_execute */
} job_run;

/* job_prepare makes pipeline and plan and prints the notes; job_execute runs it, with a progress
 * line where standard error is a terminal. Both leave what job_close must free, also on failure. */
ek_status job_prepare(job_run *run, const cli_job *job);
ek_status job_execute(job_run *run);
void job_close(job_run *run);

/* job_fail is cli_fail for a job that has got so far: a pipeline's text that cannot be read is
 * wrong usage. */
int job_fail(const job_run *run, const char *name);

/* job_write_report writes the report that --report asks for; job_execute does so after a run. */
ek_status job_write_report(const job_run *run);

/* log_install sends the library's messages to standard error; log_quiet keeps only warnings. */
void log_install(void);
void log_quiet(void);
/* log_note prints one note in the same form. */
void log_note(const char *text);

/* progress_show is the ek_run callback that draws the progress line; progress_clear wipes it. */
void progress_show(const ek_progress *progress, void *user);
void progress_clear(void);

#endif /* EK_TOOLS_JOB_H */
