/* SPDX-License-Identifier: Apache-2.0 */
/* The options that every job has: how it is planned, run and reported. See cli.h. */
#include "tools/cli.h"

#include <argp.h>
#include <string.h>

enum { KEY_JSON = 256, KEY_REPORT, KEY_BACKEND, KEY_LAUNCH, KEY_SLOTS, KEY_THREADS, KEY_MEMORY };

static const struct argp_option options[] = {
    {"json", KEY_JSON, "FILE", 0,
     "report as JSON; - is standard output, which then holds nothing else", 2},
    {"report", KEY_REPORT, "FILE.json", 0,
     "what the run did: times, launches and bytes by pass, stage, chunk and slot; memory; versions",
     2},
    {"backend", KEY_BACKEND, "NAME", 0, "auto (default), host or cuda", 3},
    {"launch", KEY_LAUNCH, "MODE", 0,
     "graph (default), stream or serial: how device work is launched; same results", 3},
    {"slots", KEY_SLOTS, "N", 0, "chunks in flight; default 3", 3},
    {"threads", KEY_THREADS, "N", 0, "threads that read files; default: one per processor", 3},
    {"memory", KEY_MEMORY, "SIZE", 0,
     "budget of device memory, such as 512M or 8G; default: 90 % of what is free", 3},
    {"quiet", 'q', NULL, 0, "no notes and no progress line", 4},
    {0}};

int64_t cli_parse_count(struct argp_state *state, const char *option, const char *text, int64_t min,
                        int64_t max)
{
    int64_t value = 0;
    if (!cli_parse_int(text, min, max, &value)) {
        argp_error(state, "--%s takes a whole number from %lld to %lld, not '%s'", option,
                   (long long)min, (long long)max, text);
    }
    return value;
}

const char *cli_parse_backend(struct argp_state *state, const char *text)
{
    if (strcmp(text, "auto") != 0 && strcmp(text, "host") != 0 && strcmp(text, "cuda") != 0) {
        argp_error(state, "--backend takes auto, host or cuda, not '%s'", text);
    }
    return text;
}

static void parse_launch(struct argp_state *state, cli_job *job, const char *text)
{
    job->plan.launch = ek_launch_parse(text);
    if (job->plan.launch == 0) {
        argp_error(state, "--launch takes graph, stream or serial, not '%s'", text);
    }
}

static void parse_memory(struct argp_state *state, cli_job *job, const char *text)
{
    if (!cli_parse_size(text, &job->plan.device_bytes)) {
        argp_error(state, "--memory takes a size such as 512M or 8G, not '%s'", text);
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    cli_job *job = state->input;
    switch (key) {
    case KEY_REPORT:
        if (strcmp(arg, "-") == 0) {
            argp_error(state, "--report takes the name of a file, not '-'");
        }
        job->report = arg;
        return 0;
    case KEY_JSON:
        job->json = arg;
        return 0;
    case KEY_BACKEND:
        job->plan.backend = cli_parse_backend(state, arg);
        return 0;
    case KEY_LAUNCH:
        parse_launch(state, job, arg);
        return 0;
    case KEY_SLOTS:
        job->plan.slots = (int)cli_parse_count(state, "slots", arg, 1, 64);
        return 0;
    case KEY_THREADS:
        job->plan.threads = (int)cli_parse_count(state, "threads", arg, 1, 1024);
        return 0;
    case KEY_MEMORY:
        parse_memory(state, job, arg);
        return 0;
    case 'q':
        job->quiet = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cli_plan_argp = {.options = options, .parser = parse};
