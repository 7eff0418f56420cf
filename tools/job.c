/* SPDX-License-Identifier: Apache-2.0 */
/* From a parsed command line to a pipeline, a plan and a run. See job.h. */
#include "tools/job.h"

#include <unistd.h>

static ek_load_options load_options(const cli_job *job)
{
    return (ek_load_options){.paths = job->paths,
                             .n_paths = job->n_paths,
                             .variable = job->variable,
                             .time = job->time,
                             .chunk = job->chunk,
                             .decoder = job->decoder};
}

static ek_write_options write_options(const cli_job *job)
{
    return (ek_write_options){
        .path = job->output, .type = job->type, .deflate = job->deflate, .command = job->command};
}

static ek_status make_pipeline(job_run *run)
{
    const cli_job *job = run->job;
    if (job->kind == CLI_EOF) {
        ek_eof_options options = {
            .load = load_options(job), .svd = {.modes = job->modes}, .write = write_options(job)};
        return ek_pipeline_eof(&run->pipeline, &run->result, &options);
    }
    if (job->kind == CLI_RUN) {
        ek_text_options options = {.name = "run",
                                   .source = job->text_file,
                                   .set = job->set,
                                   .n_set = job->n_set,
                                   .command = job->command};
        return ek_pipeline_parse(&run->pipeline, job->text, &options);
    }
    ek_stats_options options = {.load = load_options(job),
                                .from_state = job->plan.from_state,
                                .reduce = job->reduce,
                                .write = write_options(job)};
    return ek_pipeline_stats(&run->pipeline, &run->result, &options);
}

ek_status job_prepare(job_run *run, const cli_job *job)
{
    *run = (job_run){.job = job};
    if (job->quiet) {
        log_quiet();
    }
    EK_TRY(make_pipeline(run));
    EK_TRY(ek_plan_create(&run->plan, run->pipeline, &job->plan));
    const ek_field *field = ek_plan_field(run->plan);
    for (size_t i = 0; i < field->n_notes; i++) {
        log_note(field->notes[i]);
    }
    return EK_OK;
}

ek_status job_execute(job_run *run)
{
    bool watched = !run->job->quiet && isatty(STDERR_FILENO) != 0;
    ek_run_options options = run->job->run;
    options.on_progress = watched ? progress_show : NULL;
    options.detail = run->job->report != NULL;
    options.handle_interrupt = true;
    ek_status rc = ek_run(run->plan, &options, &run->report);
    progress_clear();
    return rc == EK_OK && run->job->report != NULL ? job_write_report(run) : rc;
}

int job_fail(const job_run *run, const char *name)
{
    bool wrong_text = run->job != NULL && run->job->kind == CLI_RUN && run->pipeline == NULL &&
                      ek_error_last()->status == EK_EINVAL;
    int code = cli_fail(name);
    return wrong_text ? CLI_USAGE : code;
}

void job_close(job_run *run)
{
    ek_report_destroy(run->report);
    ek_plan_destroy(run->plan);
    ek_pipeline_destroy(run->pipeline);
    *run = (job_run){0};
}
