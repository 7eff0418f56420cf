/* SPDX-License-Identifier: Apache-2.0 */
/* The options for runs that take long: checkpoints. See cli.h. */
#include "tools/cli.h"

#include <argp.h>
#include <stdlib.h>

enum { KEY_CHECKPOINT = 1024, KEY_EVERY, KEY_RESUME };

static const struct argp_option options[] = {
    {"checkpoint", KEY_CHECKPOINT, "FILE", 0,
     "keep what is done so far in FILE, to go on from after a crash, a kill or Ctrl-C; removed "
     "when "
     "the run ends well",
     5},
    {"checkpoint-every", KEY_EVERY, "SECONDS", 0, "how often; default 30", 5},
    {"resume", KEY_RESUME, NULL, 0,
     "go on from --checkpoint FILE if it is there; same results as without a stop", 5},
    {0}};

static double parse_seconds(struct argp_state *state, const char *text)
{
    char *end = NULL;
    double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds > 0) || seconds > 1e6) {
        argp_error(state, "--checkpoint-every takes a number of seconds up to 1000000, not '%s'",
                   text);
    }
    return seconds;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    cli_job *job = state->input;
    switch (key) {
    case KEY_CHECKPOINT:
        job->run.checkpoint = arg;
        return 0;
    case KEY_EVERY:
        job->run.checkpoint_s = parse_seconds(state, arg);
        return 0;
    case KEY_RESUME:
        job->run.resume = true;
        return 0;
    case ARGP_KEY_END:
        if (job->run.checkpoint == NULL && (job->run.resume || job->run.checkpoint_s > 0)) {
            argp_error(state, "--resume and --checkpoint-every need --checkpoint FILE");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cli_checkpoint_argp = {.options = options, .parser = parse};
