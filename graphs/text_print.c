/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline written as the text that makes it again. Chains go on as long as the next node's other
 * inputs are written already, so no name is used before it is given. */
#include "graphs/text_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_BYTES 512 /* of numbers and choices; texts are printed as they are */

static void print_quoted(FILE *out, const char *value)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./,:+@%";
    if (value[0] != '\0' && value[strspn(value, plain)] == '\0') {
        fputs(value, out);
        return;
    }
    fputc('"', out);
    for (const char *c = value; *c != '\0'; c++) {
        fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    }
    fputc('"', out);
}

/* Prints " NAME=", or a space alone where words need no name. */
static void print_key(FILE *out, const ek_option *option)
{
    fputc(' ', out);
    if ((option->text & EK_TEXT_WORD) == 0) {
        fprintf(out, "%s=", option->name);
    }
}

static void print_texts(FILE *out, const ek_option *option, const void *options)
{
    const char *at = options;
    if (option->type == EK_OPTION_STRING) {
        const char *text = *(const char *const *)(const void *)(at + option->offset);
        bool said =
            text != NULL && (option->fallback == NULL || strcmp(text, option->fallback) != 0);
        if (said) {
            print_key(out, option);
            print_quoted(out, text);
        }
        return;
    }
    const char *const *list = *(const char *const *const *)(const void *)(at + option->offset);
    int n = *(const int *)(const void *)(at + option->count_offset);
    for (int i = 0; i < n; i++) {
        print_key(out, option);
        print_quoted(out, list[i]);
    }
}

static void print_option(FILE *out, const ek_option *option, const void *options)
{
    char value[VALUE_BYTES];
    if (option->type == EK_OPTION_STRING || option->type == EK_OPTION_STRINGS) {
        print_texts(out, option, options);
        return;
    }
    ek_options_format(option, options, value, sizeof value);
    const char *fallback = option->fallback;
    if (fallback == NULL) {
        fallback = option->type == EK_OPTION_BOOL ? "false" : "0";
    }
    if (value[0] != '\0' && strcmp(value, fallback) != 0) {
        print_key(out, option);
        print_quoted(out, value);
    }
}

/* Prints "[NAME:] STAGE ..."; the first input is named only where no `!` feeds it. */
static void print_node(FILE *out, const ek_node *node)
{
    const ek_stage *stage = node->stage;
    if (strcmp(node->name, stage->name) != 0) {
        fprintf(out, "%s: ", node->name);
    }
    fputs(stage->name, out);
    for (const ek_option *o = stage->options; o != NULL && o->name != NULL; o++) {
        print_option(out, o, node->options);
    }
    for (int i = 1; i < node->n_inputs; i++) {
        fprintf(out, " %s=%s.", stage->inputs[i].name, node->inputs[i]->name);
    }
}

static bool is_ready(const ek_node *node, const bool *printed)
{
    for (int i = 0; i < node->n_inputs; i++) {
        if (!printed[node->inputs[i]->index]) {
            return false;
        }
    }
    return !printed[node->index];
}

/* The node that goes on the chain after `node`, or NULL. */
static const ek_node *next_of(const ek_pipeline *pipeline, const ek_node *node, const bool *printed)
{
    for (size_t i = 0; i < pipeline->n_nodes; i++) {
        const ek_node *next = pipeline->nodes[i];
        if (next->n_inputs > 0 && next->inputs[0] == node && is_ready(next, printed)) {
            return next;
        }
    }
    return NULL;
}

static void print_chain(FILE *out, const ek_pipeline *pipeline, const ek_node *node, bool *printed)
{
    if (node->n_inputs > 0) {
        fprintf(out, "%s. ! ", node->inputs[0]->name);
    }
    print_node(out, node);
    printed[node->index] = true;
    for (node = next_of(pipeline, node, printed); node != NULL;
         node = next_of(pipeline, node, printed)) {
        fputs(" ! ", out);
        print_node(out, node);
        printed[node->index] = true;
    }
}

char *ek_pipeline_text(const ek_pipeline *pipeline)
{
    char *text = NULL;
    size_t size = 0;
    char *copy = NULL;
    bool *printed = ek_alloc(pipeline->n_nodes, sizeof *printed);
    FILE *out = printed != NULL ? open_memstream(&text, &size) : NULL;
    if (out == NULL) {
        ek_free(printed);
        return NULL;
    }
    for (size_t i = 0; i < pipeline->n_nodes; i++) {
        if (!printed[i]) {
            fputs(i > 0 ? ";\n" : "", out);
            print_chain(out, pipeline, pipeline->nodes[i], printed);
        }
    }
    fputc('\n', out);
    if (fclose(out) == 0) {
        copy = ek_strdup(text);
    }
    free(text);
    ek_free(printed);
    return copy;
}
