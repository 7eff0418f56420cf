/* SPDX-License-Identifier: Apache-2.0 */
/* The reference of all stages: stages/REFERENCE.md. */
#include "stages/stages.h"
#include "tools/inspect.h"

#include <stdio.h>

static void print_inputs(const ek_stage *stage)
{
    if (stage->inputs == NULL || stage->inputs[0].name == NULL) {
        puts("Inputs: none; it is a source.");
        return;
    }
    puts("| input | takes | in | |\n|---|---|---|---|");
    for (int i = 0; stage->inputs[i].name != NULL; i++) {
        const ek_port *port = &stage->inputs[i];
        const ek_stage *implied = inspect_implied(stage, i);
        printf("| `%s` | %s | %s memory | %s", port->name, inspect_kinds(port->kinds),
               port->device ? "device" : "host", port->help != NULL ? port->help : "");
        if (implied != NULL) {
            printf("; without a link, `%s` of `%s`", implied->name, stage->inputs[0].name);
        }
        puts(" |");
    }
}

static void print_text_rule(const ek_option *option)
{
    if ((option->text & EK_TEXT_WORD) != 0) {
        fputs("; in text, the words without a name", stdout);
    }
    if ((option->text & EK_TEXT_GLOB) != 0) {
        fputs("; patterns become files", stdout);
    }
    if ((option->text & EK_TEXT_COMMAND) != 0) {
        fputs("; `ekman run` gives its command line", stdout);
    }
}

static void print_options(const ek_stage *stage)
{
    if (stage->options == NULL || stage->options[0].name == NULL) {
        puts("\nOptions: none.");
        return;
    }
    puts("\n| option | takes | |\n|---|---|---|");
    for (const ek_option *o = stage->options; o->name != NULL; o++) {
        char line[512];
        ek_option_describe(o, line, sizeof line);
        printf("| `%s` | %s | %s", o->name, line, o->help != NULL ? o->help : "");
        print_text_rule(o);
        for (const ek_choice *c = o->choices; c != NULL && c->name != NULL; c++) {
            if (c->help != NULL) {
                printf("; `%s`: %s", c->name, c->help);
            }
        }
        puts(" |");
    }
}

void inspect_markdown(void)
{
    puts(
        "# The stages\n\n`ekman inspect --markdown` writes this page from the tables that the code "
        "uses; a test compares\nthem. In a pipeline's text an option is written `NAME=value`, an "
        "input `NAME=NODE.` (see\n`graphs/text.h`).");
    for (int i = 0; ek_stages[i] != NULL; i++) {
        const ek_stage *stage = ek_stages[i];
        printf("\n## %s\n\n%s\n\n", stage->name, stage->summary);
        print_inputs(stage);
        printf("\nOutput: %s.\n", inspect_output(stage));
        print_options(stage);
        printf("\nBackends: %s. Graphs: %s.\n", inspect_backends(stage), inspect_capture(stage));
    }
}
