/* SPDX-License-Identifier: Apache-2.0 */
/* The `ekman` command: finds the subcommand and hands over. */
#include "tools/job.h"

#include <stdio.h>
#include <string.h>

typedef struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} command;

static const command commands[] = {
    {"eof", cmd_eof, "empirical orthogonal functions of a variable over time"},
    {"stats", cmd_stats, "statistics of each cell over time: mean, std, range, var ..."},
    {"run", cmd_run, "run a pipeline written as text: load in.nc ! upload ! reduce ! ..."},
    {"plan", cmd_plan, "say what eof, stats or run would do, and run nothing"},
    {"state", cmd_state, "what is in a state file; join those of consecutive periods"},
    {"inspect", cmd_inspect, "the stages, their ports and options"},
    {"lab", cmd_lab, "one job done in several ways: what launches, copies and graphs cost"},
    {"probe", cmd_probe, "say whether GPU, driver and libraries work here, and what to do"},
    {"sample", cmd_sample, "write synthetic reanalysis files to try things on"},
};

static void print_help(FILE *out)
{
    fputs("Usage: ekman COMMAND ...\n\nStreams years of gridded climate data through a GPU, or "
          "through the host where there is none.\n\n",
          out);
    for (size_t i = 0; i < EK_COUNT(commands); i++) {
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\nekman COMMAND --help tells more. To try it without data:\n\n"
          "  ekman sample --years 1990-1991\n"
          "  ekman eof air.sig995.*.nc --modes 5 --map -o eof.nc\n",
          out);
}

static const command *find_command(const char *name)
{
    for (size_t i = 0; i < EK_COUNT(commands); i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static int unknown_command(const char *name)
{
    fprintf(stderr, "ekman: there is no command '%s'. The commands are:", name);
    for (size_t i = 0; i < EK_COUNT(commands); i++) {
        fprintf(stderr, "%s %s", i == 0 ? "" : ",", commands[i].name);
    }
    fputs(".\n", stderr);
    return CLI_USAGE;
}

/* `ekman help COMMAND` is `ekman COMMAND --help`. */
static int help_command(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stdout);
        return cli_flush("ekman");
    }
    const command *found = find_command(argv[1]);
    if (found == NULL) {
        return unknown_command(argv[1]);
    }
    char option[] = "--help";
    char *words[] = {argv[1], option, NULL};
    return found->run(2, words);
}

int main(int argc, char **argv)
{
    log_install();
    if (argc < 2) {
        print_help(stderr);
        return CLI_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        puts("ekman " EK_VERSION_STRING);
        return cli_flush("ekman");
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        return help_command(1, argv);
    }
    if (strcmp(word, "help") == 0) {
        return help_command(argc - 1, argv + 1);
    }
    const command *found = find_command(word);
    return found != NULL ? found->run(argc - 1, argv + 1) : unknown_command(word);
}
