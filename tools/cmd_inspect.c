/* SPDX-License-Identifier: Apache-2.0 */
/* ekman inspect: the stages, from their own descriptors. */
#include "tools/cli.h"

#include "stages/stages.h"

#include <stdio.h>
#include <string.h>

static const char usage[] = "Usage: ekman inspect [STAGE...|--all]\n\n"
                            "Without a name lists the stages; with names, or --all, tells each\n"
                            "one's ports, options and backends.\n";

#ifdef EK_HAVE_CUDA
static const char device_backends[] = "host, cuda";
#else
static const char device_backends[] = "host (this build has no CUDA)";
#endif

static void list_stages(void)
{
    for (int i = 0; ek_stages[i] != NULL; i++) {
        printf("%-10s %s\n", ek_stages[i]->name, ek_stages[i]->summary);
    }
    puts("\nekman inspect STAGE tells a stage's ports and options.");
}

static const char *kinds_text(unsigned kinds)
{
    if (kinds == (EK_STREAM | EK_RESULT)) {
        return "stream or result";
    }
    return kinds == EK_RESULT ? "result" : "stream";
}

static void print_ports(const ek_stage *stage)
{
    puts("  inputs");
    if (stage->inputs == NULL || stage->inputs[0].name == NULL) {
        puts("    none: it is a source");
        return;
    }
    for (const ek_port *port = stage->inputs; port->name != NULL; port++) {
        printf("    %-10s %s in %s memory: %s\n", port->name, kinds_text(port->kinds),
               port->device ? "device" : "host", port->help != NULL ? port->help : "");
    }
}

static void print_output(const ek_stage *stage)
{
    if ((stage->flags & EK_STAGE_SINK) != 0) {
        puts("  output     none: it is a sink");
    } else if ((stage->flags & EK_STAGE_FOLD) != 0) {
        puts("  output     result, once the whole stream has been seen");
    } else if ((stage->flags & EK_STAGE_DOWNLOAD) != 0) {
        puts("  output     what comes in, in host memory");
    } else {
        printf("  output     stream, in %s memory\n",
               (stage->flags & EK_STAGE_SOURCE) != 0 ? "host" : "device");
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
    bool host_only = (stage->flags & (EK_STAGE_SOURCE | EK_STAGE_SINK)) != 0;
    printf("%s: %s\n", stage->name, stage->summary);
    print_ports(stage);
    print_output(stage);
    print_options(stage);
    printf("  backends   %s\n", host_only ? "any: it works on the host" : device_backends);
}

static int inspect_one(const char *name)
{
    const ek_stage *stage = ek_stage_find(name);
    if (stage != NULL) {
        print_stage(stage);
        return CLI_OK;
    }
    fprintf(stderr, "ekman inspect: there is no stage '%s'. The stages are:", name);
    for (int i = 0; ek_stages[i] != NULL; i++) {
        fprintf(stderr, "%s %s", i == 0 ? "" : ",", ek_stages[i]->name);
    }
    fputs(".\n", stderr);
    return CLI_USAGE;
}

static void inspect_all(void)
{
    for (int i = 0; ek_stages[i] != NULL; i++) {
        fputs(i == 0 ? "" : "\n", stdout);
        print_stage(ek_stages[i]);
    }
}

int cmd_inspect(int argc, char **argv)
{
    int code = CLI_OK;
    if (argc < 2) {
        list_stages();
    } else if (strcmp(argv[1], "--all") == 0) {
        inspect_all();
    } else if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0) {
        fputs(usage, stdout);
    } else if (argv[1][0] == '-') {
        fprintf(stderr, "ekman inspect: there is no option '%s'\n%s", argv[1], usage);
        return CLI_USAGE;
    } else {
        for (int i = 1; i < argc && code == CLI_OK; i++) {
            fputs(i == 1 ? "" : "\n", stdout);
            code = inspect_one(argv[i]);
        }
    }
    int flushed = cli_flush("ekman inspect");
    return code != CLI_OK ? code : flushed;
}
