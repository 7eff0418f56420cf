/* SPDX-License-Identifier: Apache-2.0 */
/* From a pipeline's text to a draft: chains, stages, names and links. See text.h for the grammar.
 */
#include "core/options_text.h"
#include "graphs/text_internal.h"
#include "stages/stages.h"

#include <string.h>

#define NAME_BYTES_MAX 63
#define LIST_BYTES     400

/* What stands before the `!` on the left of a stage: a node (from >= 0), a name, or nothing. */
typedef draft_input feed;

static ek_status unknown_stage(const ek__text *text, size_t at, const char *name)
{
    char known[LIST_BYTES] = "";
    char hint[128];
    ek_nearest search = ek_nearest_to(name);
    for (int i = 0; ek_stages[i] != NULL; i++) {
        ek_nearest_try(&search, ek_stages[i]->name);
        ek__text_append(known, sizeof known, "%s%s", i > 0 ? ", " : "", ek_stages[i]->name);
    }
    ek__did_you_mean(&search, hint, sizeof hint);
    return ek__text_fail(text, at, "there is no stage '%s'%s the stages are %s", name, hint, known);
}

/* Copies the NAME of `length` bytes at `at`. */
static ek_status copy_name(const ek__text *text, size_t at, size_t length, char **out)
{
    if (length > NAME_BYTES_MAX) {
        return ek__text_fail(text, at, "this name has %zu characters; a name has at most %d",
                             length, NAME_BYTES_MAX);
    }
    *out = ek_strprintf("%.*s", (int)length, text->chars + at);
    return *out != NULL ? EK_OK : EK_ENOMEM;
}

static ek_status expected_stage(const ek__text *text, size_t at)
{
    char c = text->chars[at];
    if (c == '!' || c == ';' || c == '\0') {
        return ek__text_fail(text, at, "expected a stage before %s",
                             c == '!'   ? "this '!'"
                             : c == ';' ? "this ';'"
                                        : "the end of the text");
    }
    return ek__text_fail(text, at, "expected the name of a stage");
}

/* Reads "[NAME:] STAGE" into the node. */
static ek_status parse_head(const ek__text *text, size_t *at, draft_node *node)
{
    size_t length = ek__text_name(text, *at);
    if (length == 0) {
        return expected_stage(text, *at);
    }
    if (text->chars[*at + length] == ':') {
        node->name_at = *at;
        EK_TRY(copy_name(text, *at, length, &node->name));
        *at += length + 1;
        ek__text_skip(text, at);
        length = ek__text_name(text, *at);
        if (length == 0) {
            return expected_stage(text, *at);
        }
    }
    node->at = *at;
    if (!ek__text_ends(text, *at + length)) {
        return ek__text_fail(text, *at + length,
                             text->chars[*at + length] == '.'
                                 ? "expected a stage; a node's name and a dot begin a chain, or "
                                   "feed an input: INPUT=NAME."
                                 : "expected a space, '!' or ';' after the name of a stage");
    }
    char *name = NULL;
    EK_TRY(copy_name(text, *at, length, &name));
    node->stage = ek_stage_find(name);
    ek_status rc = node->stage != NULL ? EK_OK : unknown_stage(text, *at, name);
    ek_free(name);
    *at += length;
    return rc;
}

static ek_status parse_words(const ek__text *text, size_t *at, draft_node *node)
{
    for (ek__text_skip(text, at); !ek__text_ends(text, *at); ek__text_skip(text, at)) {
        ek__word word;
        EK_TRY(ek__text_word(text, at, &word));
        ek_status rc = ek__draft_word(node, text, &word);
        ek__word_free(&word);
        EK_TRY(rc);
    }
    return EK_OK;
}

/* Links what stands before the `!` to the first input that is not named. */
static ek_status take_feed(const ek__text *text, draft_node *node, feed *from)
{
    if (from->from < 0 && from->name == NULL) {
        return EK_OK;
    }
    int ports = ek__stage_ports(node->stage);
    int i = 0;
    while (i < ports && node->inputs[i].name != NULL) {
        i++;
    }
    if (i == ports) {
        return ek__text_fail(text, node->at,
                             ports == 0 ? "'%s' is a source and takes nothing from a '!' before it"
                                        : "every input of '%s' is named; there is none left for "
                                          "the '!' before it",
                             node->stage->name);
    }
    node->inputs[i] = *from;
    from->name = NULL;
    return EK_OK;
}

static ek_status check_linked(const ek__text *text, const draft_node *node)
{
    for (int i = 0; i < ek__stage_ports(node->stage); i++) {
        bool linked = node->inputs[i].from >= 0 || node->inputs[i].name != NULL;
        const char *port = node->stage->inputs[i].name;
        if (!linked && !ek__stage_implies(node->stage, i)) {
            return ek__text_fail(text, node->at,
                                 "nothing feeds the input '%s' of '%s'; expected '!' before it, or "
                                 "%s=NAME. behind it",
                                 port, node->stage->name, port);
        }
    }
    return EK_OK;
}

/* Reads a stage and its words as the draft's next node, fed by *from; *from is then that node. */
static ek_status parse_stage(draft *self, size_t *at, feed *from)
{
    const ek__text *text = &self->text;
    if (self->n == EK_TEXT_NODES_MAX) {
        return ek__text_fail(text, *at, "a text has at most %d stages", EK_TEXT_NODES_MAX);
    }
    EK_TRY(ek_grow(&self->nodes, &self->capacity, self->n, sizeof *self->nodes));
    draft_node *node = &self->nodes[self->n];
    *node = (draft_node){0};
    for (int i = 0; i < EK_STAGE_INPUTS; i++) {
        node->inputs[i].from = -1;
    }
    self->n++;
    EK_TRY(parse_head(text, at, node));
    if (node->stage->options != NULL) {
        node->options = ek_alloc(1, node->stage->options_size);
        EK_TRY(node->options != NULL ? EK_OK : EK_ENOMEM);
    }
    EK_TRY(parse_words(text, at, node));
    EK_TRY(take_feed(text, node, from));
    EK_TRY(check_linked(text, node));
    *from = (feed){.from = (int)self->n - 1, .at = node->at};
    return EK_OK;
}

/* Reads the "NAME." that a chain may begin with, and the `!` that must follow. */
static ek_status parse_reference(const ek__text *text, size_t *at, feed *out)
{
    size_t length = ek__text_name(text, *at);
    if (length == 0 || text->chars[*at + length] != '.' || !ek__text_ends(text, *at + length + 1)) {
        return EK_OK;
    }
    out->at = *at;
    EK_TRY(copy_name(text, *at, length, &out->name));
    *at += length + 1;
    ek__text_skip(text, at);
    return text->chars[*at] == '!'
               ? EK_OK
               : ek__text_fail(text, *at, "expected '!' and a stage after '%s.'", out->name);
}

static ek_status parse_chain(draft *self, size_t *at)
{
    const ek__text *text = &self->text;
    feed from = {.from = -1};
    ek_status rc = parse_reference(text, at, &from);
    if (rc == EK_OK && from.name == NULL) {
        rc = parse_stage(self, at, &from);
    }
    while (rc == EK_OK && text->chars[*at] == '!') {
        (*at)++;
        ek__text_skip(text, at);
        rc = parse_stage(self, at, &from);
    }
    ek_free(from.name);
    return rc;
}

static ek_status parse_chains(draft *self)
{
    const ek__text *text = &self->text;
    size_t at = 0;
    ek__text_skip(text, &at);
    while (text->chars[at] != '\0') {
        if (text->chars[at] == ';') {
            at++;
        } else {
            EK_TRY(parse_chain(self, &at));
        }
        ek__text_skip(text, &at);
    }
    return self->n > 0 ? EK_OK : expected_stage(text, at);
}

int ek__draft_find(const draft *self, const char *name)
{
    for (size_t i = 0; i < self->n; i++) {
        if (self->nodes[i].name != NULL && strcmp(self->nodes[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

ek_status ek__draft_missing(const draft *self, const char *name, const ek__text *text, size_t at)
{
    char known[LIST_BYTES] = "";
    char hint[128];
    ek_nearest search = ek_nearest_to(name);
    for (size_t i = 0; i < self->n; i++) {
        ek_nearest_try(&search, self->nodes[i].name);
        ek__text_append(known, sizeof known, "%s%s", i > 0 ? ", " : "", self->nodes[i].name);
    }
    ek__did_you_mean(&search, hint, sizeof hint);
    return ek__text_fail(text, at, "there is no node '%s'%s the nodes are %s", name, hint, known);
}

/* Each node's name, given or after its stage, is its own. */
static ek_status name_nodes(draft *self)
{
    for (size_t i = 0; i < self->n; i++) {
        draft_node *node = &self->nodes[i];
        if (node->name != NULL && ek__draft_find(self, node->name) < (int)i) {
            return ek__text_fail(&self->text, node->name_at, "there are two nodes called '%s'",
                                 node->name);
        }
    }
    for (size_t i = 0; i < self->n; i++) {
        draft_node *node = &self->nodes[i];
        char *name = node->name != NULL ? node->name : ek_strdup(node->stage->name);
        for (int k = 2; name != NULL && node->name == NULL && ek__draft_find(self, name) >= 0;
             k++) {
            ek_free(name);
            name = ek_strprintf("%s%d", node->stage->name, k);
        }
        if (name == NULL) {
            return EK_ENOMEM;
        }
        node->name = name;
    }
    return EK_OK;
}

/* Finds the node behind each name that feeds an input. */
static ek_status resolve(draft *self)
{
    for (size_t i = 0; i < self->n; i++) {
        for (int k = 0; k < EK_STAGE_INPUTS; k++) {
            draft_input *input = &self->nodes[i].inputs[k];
            if (input->name == NULL) {
                continue;
            }
            input->from = ek__draft_find(self, input->name);
            if (input->from < 0) {
                return ek__draft_missing(self, input->name, &self->text, input->at);
            }
        }
    }
    return EK_OK;
}

ek_status ek__draft_parse(draft *self)
{
    EK_TRY(parse_chains(self));
    EK_TRY(name_nodes(self));
    return resolve(self);
}

void ek__draft_free(draft *self)
{
    for (size_t i = 0; i < self->n; i++) {
        draft_node *node = &self->nodes[i];
        if (node->options != NULL) {
            ek_options_free(node->stage->options, node->options);
        }
        for (int k = 0; k < EK_STAGE_INPUTS; k++) {
            ek_free(node->inputs[k].name);
        }
        ek_free(node->options);
        ek_free(node->name);
    }
    ek_free(self->nodes);
    self->nodes = NULL;
    self->n = 0;
}
