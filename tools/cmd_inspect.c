/* SPDX-License-Identifier: Apache-2.0 */
/* ekman inspect: the stages, from their own descriptors. */
#include "core/nearest.h"
#include "stages/stages.h"
#include "tools/inspect.h"
#include "tools/print.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "Usage: ekman inspect [--json] [STAGE...|--all]\n"
    "  or:  ekman inspect --markdown\n\n"
    "Without a name lists the stages; with names, or --all, tells each one's ports, options,\n"
    "backends, and what of it is captured in a CUDA Graph. --json writes a list of objects,\n"
    "--markdown the reference of all stages, stages/REFERENCE.md.\n";

#ifdef EK_HAVE_CUDA
static const bool has_cuda = true;
#else
static const bool has_cuda = false;
#endif

static void list_stages(void)
{
    for (int i = 0; ek_stages[i] != NULL; i++) {
        printf("%-10s %s\n", ek_stages[i]->name, ek_stages[i]->summary);
    }
    puts("\nekman inspect STAGE tells a stage's ports and options.");
}

static void print_ports(const ek_stage *stage)
{
    puts("  inputs");
    if (stage->inputs == NULL || stage->inputs[0].name == NULL) {
        puts("    none: it is a source");
        return;
    }
    for (int i = 0; stage->inputs[i].name != NULL; i++) {
        const ek_port *port = &stage->inputs[i];
        const ek_stage *implied = inspect_implied(stage, i);
        printf("    %-10s %s in %s memory: %s", port->name, inspect_kinds(port->kinds),
               port->device ? "device" : "host", port->help != NULL ? port->help : "");
        if (implied != NULL) {
            printf("; without a link, '%s' of '%s'", implied->name, stage->inputs[0].name);
        }
        fputc('\n', stdout);
    }
}

static void print_options(const ek_stage *stage)
{
    puts("  options");
    if (stage->options == NULL || stage->options[0].name == NULL) {
        puts("    none");
        return;
    }
    for (const ek_option *option = stage->options; option->name != NULL; option++) {
        char line[512];
        ek_option_describe(option, line, sizeof line);
        printf("    %-10s %s\n", option->name, option->help != NULL ? option->help : "");
        printf("    %-10s %s\n", "", line);
        for (const ek_choice *c = option->choices; c != NULL && c->name != NULL; c++) {
            if (c->help != NULL) {
                printf("    %-10s   %-8s %s\n", "", c->name, c->help);
            }
        }
    }
}

static void print_stage(const ek_stage *stage)
{
    printf("%s: %s\n", stage->name, stage->summary);
    print_ports(stage);
    printf("  output     %s\n", inspect_output(stage));
    print_options(stage);
    bool device = (stage->flags & (EK_STAGE_SOURCE | EK_STAGE_SINK)) == 0;
    printf("  backends   %s%s\n", inspect_backends(stage),
           device && !has_cuda ? "; this build has no CUDA" : "");
    printf("  graphs     %s\n", inspect_capture(stage));
}

static int unknown_stage(const char *name)
{
    ek_nearest search = ek_nearest_to(name);
    fprintf(stderr, "ekman inspect: there is no stage '%s'", name);
    for (int i = 0; ek_stages[i] != NULL; i++) {
        ek_nearest_try(&search, ek_stages[i]->name);
    }
    if (search.name != NULL) {
        fprintf(stderr, "; did you mean '%s'?", search.name);
    }
    fputs(search.name != NULL ? " The stages are:" : ". The stages are:", stderr);
    for (int i = 0; ek_stages[i] != NULL; i++) {
        fprintf(stderr, "%s %s", i == 0 ? "" : ",", ek_stages[i]->name);
    }
    fputs(".\n", stderr);
    return CLI_USAGE;
}

static int print_json(const ek_stage *const *stages, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++) {
        json_array_append_new(list, inspect_json(stages[i]));
    }
    return report_write(list, "-") == EK_OK ? CLI_OK : cli_fail("ekman inspect");
}

static void print_stages(const ek_stage *const *stages, int n)
{
    for (int i = 0; i < n; i++) {
        fputs(i == 0 ? "" : "\n", stdout);
        print_stage(stages[i]);
    }
}

/* What is asked for. */
typedef struct request {
    const ek_stage *stages[EK_STAGES_MAX];
    int n;
    bool json, markdown, help;
} request;

static int take_stage(request *r, const ek_stage *stage)
{
    if (r->n == EK_STAGES_MAX) {
        fprintf(stderr, "ekman inspect: more than %d names\n", EK_STAGES_MAX);
        return CLI_USAGE;
    }
    r->stages[r->n++] = stage;
    return CLI_OK;
}

static int take_all(request *r)
{
    int code = CLI_OK;
    for (int i = 0; ek_stages[i] != NULL && code == CLI_OK; i++) {
        code = take_stage(r, ek_stages[i]);
    }
    return code;
}

static int take_word(request *r, const char *word)
{
    if (strcmp(word, "--json") == 0) {
        r->json = true;
    } else if (strcmp(word, "--markdown") == 0) {
        r->markdown = true;
    } else if (strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0) {
        r->help = true;
    } else if (strcmp(word, "--all") == 0) {
        return take_all(r);
    } else if (word[0] == '-') {
        fprintf(stderr, "ekman inspect: there is no option '%s'\n%s", word, usage);
        return CLI_USAGE;
    } else {
        const ek_stage *stage = ek_stage_find(word);
        return stage != NULL ? take_stage(r, stage) : unknown_stage(word);
    }
    return CLI_OK;
}

int cmd_inspect(int argc, char **argv)
{
    request r = {0};
    int code = CLI_OK;
    for (int i = 1; i < argc && code == CLI_OK; i++) {
        code = take_word(&r, argv[i]);
    }
    if (code != CLI_OK) {
        return code;
    }
    if (r.markdown && (r.json || r.n > 0)) {
        fprintf(stderr, "ekman inspect: --markdown stands alone\n%s", usage);
        return CLI_USAGE;
    }
    if (r.help) {
        fputs(usage, stdout);
    } else if (r.markdown) {
        inspect_markdown();
    } else if (r.json) {
        code = r.n == 0 ? take_all(&r) : CLI_OK;
        code = code == CLI_OK ? print_json(r.stages, r.n) : code;
    } else if (r.n > 0) {
        print_stages(r.stages, r.n);
    } else {
        list_stages();
    }
    int flushed = cli_flush("ekman inspect");
    return code != CLI_OK ? code : flushed;
}
