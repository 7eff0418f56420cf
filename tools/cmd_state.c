/* SPDX-License-Identifier: Apache-2.0 */
/* ekman state: what is in a state file, and joining several. */
#include "tools/cli.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "Usage: ekman state show FILE\n"
    "       ekman state merge FILE FILE... -o OUT\n\n"
    "show says what is in a checkpoint or a finished state, and whether it is whole.\n\n"
    "merge joins the finished states (ekman stats --state) of consecutive periods, in the order\n"
    "given, into one: as if a single run had seen them all. Runs on several machines can so share\n"
    "a long series. ekman stats --from-state OUT then makes the statistics, without reading the\n"
    "data again.\n";

static int misuse(const char *text)
{
    fprintf(stderr, "ekman state: %s\n%s", text, usage);
    return CLI_USAGE;
}

static int show(const char *path)
{
    char *text = ek_state_text(path);
    if (text == NULL) {
        return cli_fail("ekman state");
    }
    fputs(text, stdout);
    ek_free(text);
    return cli_flush("ekman state");
}

/* Moves the words that are no options to the front; *out is what -o names. */
static int sort_words(int argc, char **argv, const char **out)
{
    int n = 0;
    for (int i = 0; i < argc; i++) {
        bool option = strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--output") == 0;
        if (option && i + 1 < argc) {
            *out = argv[++i];
        } else if (argv[i][0] == '-') {
            return -1;
        } else {
            argv[n++] = argv[i];
        }
    }
    return n;
}

int cmd_state(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0) {
        fputs(usage, stdout);
        return cli_flush("ekman state");
    }
    if (strcmp(word, "show") == 0) {
        return argc == 3 && argv[2][0] != '-' ? show(argv[2]) : misuse("name one file to show");
    }
    if (strcmp(word, "merge") != 0) {
        return misuse("say what to do: show or merge");
    }
    const char *out = NULL;
    int n = sort_words(argc - 2, argv + 2, &out);
    if (n < 2 || out == NULL) {
        return misuse("name two states or more, and -o OUT");
    }
    return ek_state_merge(out, (const char *const *)argv + 2, n) == EK_OK ? CLI_OK
                                                                          : cli_fail("ekman state");
}
