/* SPDX-License-Identifier: Apache-2.0 */
/* ekman probe: does everything that a run rests on work here? */
#include "tools/cli.h"
#include "tools/print.h"
#include "tools/probe.h"

#include <argp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { KEY_BACKEND = 256, KEY_JSON };

typedef struct probe_job {
    const char *backend, *json;
} probe_job;

static const struct argp_option options[] = {
    {"backend", KEY_BACKEND, "NAME", 0,
     "auto (default): a missing GPU is no fault; cuda: it is; host: do not look for one", 0},
    {"json", KEY_JSON, "FILE", 0,
     "findings as JSON; - is standard output, which then holds nothing else", 0},
    {0}};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    probe_job *job = state->input;
    switch (key) {
    case KEY_BACKEND:
        job->backend = cli_parse_backend(state, arg);
        return 0;
    case KEY_JSON:
        job->json = arg;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s': probe takes no arguments", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse_option,
    .doc = "Says line by line whether what a run rests on works here: the driver, CUDA and its "
           "libraries, copies, launches, graphs, and the libraries that read files. The lines "
           "stand in the order in which things rest on one another: mend the first that is wrong, "
           "then probe again.\vExit status: 0 if nothing is wrong (no GPU is not wrong, unless "
           "--backend cuda), 1 if something is, 2 for a wrong command line."};

void probe_line(probe *p, probe_verdict verdict, const char *what, const char *advice,
                const char *format, ...)
{
    static const char *const words[] = {"ok", "note", "WRONG"};
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    p->n_wrong += verdict == PROBE_WRONG;
    if (p->text) {
        printf("%-6s %-8s %-14s %s\n", words[verdict], p->group, what, text);
        if (advice != NULL) {
            printf("%-6s %-8s %-14s -> %s\n", "", "", "", advice);
        }
        fflush(stdout);
    }
    json_t *line = json_pack("{s:s, s:s, s:s, s:s, s:s*}", "verdict",
                             verdict == PROBE_WRONG ? "wrong" : words[verdict], "group", p->group,
                             "what", what, "text", text, "advice", advice);
    json_array_append_new(p->lines, line);
}

static void probe_device(probe *p)
{
    bool usable = probe_driver(p);
#ifdef EK_HAVE_CUDA
    if (usable && probe_cuda(p)) {
        probe_rates(p);
        probe_capture(p);
    }
#else
    if (usable || p->want_device) {
        p->group = "cuda";
        probe_line(p, p->want_device ? PROBE_WRONG : PROBE_NOTE, "build",
                   "install the CUDA toolkit and build again: tools/setup, or -DEK_CUDA=ON",
                   "this program was built without CUDA");
    }
#endif
}

static ek_status run_probe(probe *p, const probe_job *job)
{
    bool host_only = strcmp(job->backend, "host") == 0;
    p->want_device = strcmp(job->backend, "cuda") == 0;
    p->text = job->json == NULL || strcmp(job->json, "-") != 0;
    if (!host_only) {
        probe_device(p);
    }
    probe_host(p);
    if (p->text) {
        printf("\n%s\n", p->n_wrong == 0 ? "nothing is wrong"
                                         : "mend the first line that is WRONG, then probe again");
    }
    if (job->json == NULL) {
        return EK_OK;
    }
    json_t *report = json_pack("{s:s, s:b, s:O}", "version", EK_VERSION_STRING, "usable",
                               p->n_wrong == 0, "lines", p->lines);
    return report_write(report, job->json);
}

int cmd_probe(int argc, char **argv)
{
    static char name[] = "ekman probe";
    probe_job job = {.backend = "auto"};
    argv[0] = name;
    argp_err_exit_status = CLI_USAGE;
    argp_program_version = "ekman " EK_VERSION_STRING;
    argp_parse(&argp, argc, argv, 0, NULL, &job);
    probe p = {.lines = json_array()};
    ek_status rc = run_probe(&p, &job);
    json_decref(p.lines);
    int code = rc == EK_OK ? cli_flush(name) : cli_fail(name);
    return code == CLI_OK && p.n_wrong > 0 ? CLI_FAILED : code;
}
