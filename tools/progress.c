/* SPDX-License-Identifier: Apache-2.0 */
/* What goes to standard error while a job runs: notes, and on a terminal one progress line that is
 * overwritten in place. */
#include "tools/job.h"

#include <pthread.h>
#include <stdio.h>

/* Messages may come from any thread, the progress line from the main one. `lock` guards both
 * variables and the writing. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool line_shown;
static ek_log_level least_level = EK_LOG_NOTE;

static void clear_line(void)
{
    if (line_shown) {
        fputs("\r\033[K", stderr);
        line_shown = false;
    }
}

static void on_message(ek_log_level level, const char *message, void *user)
{
    (void)user;
    pthread_mutex_lock(&lock);
    if (level >= least_level) {
        clear_line();
        fprintf(stderr, "ekman: %s: %s\n", level == EK_LOG_WARNING ? "warning" : "note", message);
    }
    pthread_mutex_unlock(&lock);
}

void log_install(void)
{
    ek_log_set(on_message, NULL);
}

void log_quiet(void)
{
    least_level = EK_LOG_WARNING;
}

void log_note(const char *text)
{
    on_message(EK_LOG_NOTE, text, NULL);
}

/* Time steps still to do over time steps done so far, both counted over all passes. */
static double seconds_left(const ek_progress *p)
{
    double done = (double)p->pass * (double)p->n_steps + (double)p->steps_done;
    double all = (double)p->n_passes * (double)p->n_steps;
    return done > 0 ? p->seconds * (all - done) / done : 0;
}

/* What most chunks in flight are at, which is what the run waits for. */
static const char *busy_with(const ek_progress *p)
{
    if (p->loading + p->computing + p->writing == 0) {
        return "";
    }
    if (p->loading >= p->computing && p->loading >= p->writing) {
        return "  reading";
    }
    return p->computing >= p->writing ? "  computing" : "  writing";
}

void progress_show(const ek_progress *progress, void *user)
{
    (void)user;
    double done = (double)progress->pass * (double)progress->n_steps + (double)progress->steps_done;
    double rate = progress->seconds > 0 ? done / progress->seconds : 0;
    pthread_mutex_lock(&lock);
    fprintf(stderr, "\r\033[Kpass %d of %d  chunk %lld of %lld  ", progress->pass + 1,
            progress->n_passes, (long long)progress->chunks_done, (long long)progress->n_chunks);
    if (progress->chunks_done == progress->n_chunks) {
        fprintf(stderr, "finishing, %.0f s so far", progress->seconds);
    } else {
        fprintf(stderr, "%.0f steps/s  %.1f MB/s  %.0f s left%s", rate,
                rate * progress->step_bytes * 1e-6, seconds_left(progress), busy_with(progress));
    }
    fflush(stderr);
    line_shown = true;
    pthread_mutex_unlock(&lock);
}

void progress_clear(void)
{
    pthread_mutex_lock(&lock);
    clear_line();
    pthread_mutex_unlock(&lock);
}
