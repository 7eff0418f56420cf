/* SPDX-License-Identifier: Apache-2.0 */
/* What the words behind a stage's name do: option values, patterns of files, links to inputs; and
 * the settings that override them. */
#include "core/options_text.h"
#include "graphs/text_internal.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#define LIST_BYTES 400

void ek__did_you_mean(const ek_nearest *search, char *out, size_t size)
{
    if (search->name != NULL) {
        snprintf(out, size, "; did you mean '%s'?", search->name);
    } else {
        snprintf(out, size, ";");
    }
}

static uint64_t bit_of(const draft_node *node, const ek_option *option)
{
    return UINT64_C(1) << (option - node->stage->options);
}

/* Gives the option each file that matches, in the order of their names. */
static ek_status set_matches(draft_node *node, const ek_option *option, const char *pattern)
{
    glob_t found = {0};
    int code = glob(pattern, 0, NULL, &found);
    ek_status rc = EK_OK;
    if (code == GLOB_NOSPACE) {
        rc = EK_FAIL(EK_ENOMEM, "out of memory for the files that match '%s'", pattern);
    } else if (code != 0) {
        rc = EK_FAIL(EK_ENOENT, "no file matches '%s'; quote a name that is no pattern", pattern);
    }
    for (size_t i = 0; rc == EK_OK && i < found.gl_pathc; i++) {
        rc = ek_options_set(option, node->options, option->name, found.gl_pathv[i]);
    }
    globfree(&found);
    return rc;
}

static ek_status set_value(draft_node *node, const ek_option *option, const ek__word *word)
{
    node->given |= bit_of(node, option);
    if (word->pattern != NULL && (option->text & EK_TEXT_GLOB) != 0) {
        return set_matches(node, option, word->pattern);
    }
    return ek_options_set(option, node->options, option->name, word->value);
}

static ek_status set_option(draft_node *node, const ek_option *option, const ek__text *text,
                            const ek__word *word)
{
    bool again = (node->given & bit_of(node, option)) != 0;
    if (again && option->type != EK_OPTION_STRINGS) {
        return ek__text_fail(text, word->at, "'%s' gets its option '%s' a second time",
                             node->stage->name, option->name);
    }
    ek_status rc = set_value(node, option, word);
    return rc == EK_OK ? EK_OK : ek__text_point(text, word->value_at);
}

/* Links the input to the node that the word, "NAME.", names. */
static ek_status set_input(draft_node *node, int port, const ek__text *text, const ek__word *word)
{
    draft_input *input = &node->inputs[port];
    const ek__text value = {.chars = word->value};
    size_t length = ek__text_name(&value, 0);
    if (length == 0 || strcmp(word->value + length, ".") != 0) {
        return ek__text_fail(text, word->value_at,
                             "expected the name of a node and a dot, such as 'upload.', for the "
                             "input '%s' of '%s'",
                             word->key, node->stage->name);
    }
    if (input->name != NULL) {
        return ek__text_fail(text, word->at, "'%s' gets its input '%s' a second time",
                             node->stage->name, word->key);
    }
    input->name = ek_strprintf("%.*s", (int)length, word->value);
    input->at = word->value_at;
    return input->name != NULL ? EK_OK : EK_ENOMEM;
}

/* Says that the stage has no option or input of the word's name, and what it has. */
static ek_status unknown_key(const draft_node *node, const ek__text *text, size_t at,
                             const char *key)
{
    char options[LIST_BYTES] = "";
    char inputs[LIST_BYTES] = "";
    char hint[128];
    ek_nearest search = ek_nearest_to(key);
    for (const ek_option *o = node->stage->options; o != NULL && o->name != NULL; o++) {
        ek_nearest_try(&search, o->name);
        ek__text_append(options, sizeof options, "%s%s", options[0] != '\0' ? ", " : "", o->name);
    }
    for (int i = 0; i < ek__stage_ports(node->stage); i++) {
        const char *name = node->stage->inputs[i].name;
        ek_nearest_try(&search, name);
        ek__text_append(inputs, sizeof inputs, "%s%s", i > 0 ? ", " : "", name);
    }
    ek__did_you_mean(&search, hint, sizeof hint);
    return ek__text_fail(text, at, "'%s' has no option or input '%s'%s options: %s; inputs: %s",
                         node->stage->name, key, hint, options[0] != '\0' ? options : "none",
                         inputs[0] != '\0' ? inputs : "none");
}

/* The option that takes words without a name, or NULL. */
static const ek_option *word_option(const ek_stage *stage)
{
    for (const ek_option *o = stage->options; o != NULL && o->name != NULL; o++) {
        if ((o->text & EK_TEXT_WORD) != 0) {
            return o;
        }
    }
    return NULL;
}

static ek_status bare_word(draft_node *node, const ek__text *text, const ek__word *word)
{
    const ek_option *option = word_option(node->stage);
    if (option == NULL) {
        return ek__text_fail(text, word->at,
                             "'%s' takes no words; expected NAME=value, '!' and the next stage, or "
                             "';' and the next chain",
                             node->stage->name);
    }
    if ((node->given & bit_of(node, option)) != 0 && option->type != EK_OPTION_STRINGS) {
        return ek__text_fail(
            text, word->at,
            "'%s' has its %s already; expected NAME=value, '!' and the next stage, "
            "or ';' and the next chain",
            node->stage->name, option->name);
    }
    return set_option(node, option, text, word);
}

ek_status ek__draft_word(draft_node *node, const ek__text *text, const ek__word *word)
{
    if (word->key == NULL) {
        return bare_word(node, text, word);
    }
    for (int i = 0; i < ek__stage_ports(node->stage); i++) {
        if (strcmp(node->stage->inputs[i].name, word->key) == 0) {
            return set_input(node, i, text, word);
        }
    }
    const ek_option *option = ek_options_find(node->stage->options, word->key);
    return option != NULL ? set_option(node, option, text, word)
                          : unknown_key(node, text, word->at, word->key);
}

/* Gives the option of the node the rest of the setting, taken as it is. */
static ek_status override_option(draft_node *node, const ek__text *text, size_t at, size_t equals)
{
    char *key = ek_strprintf("%.*s", (int)(equals - at), text->chars + at);
    char *value = ek_strdup(text->chars + equals + 1);
    ek_status rc = key != NULL && value != NULL ? EK_OK : EK_ENOMEM;
    const ek_option *option = key != NULL ? ek_options_find(node->stage->options, key) : NULL;
    if (rc == EK_OK && option == NULL) {
        rc = unknown_key(node, text, at, key);
    }
    if (rc == EK_OK && (node->set & bit_of(node, option)) == 0) {
        ek_options_unset(option, node->options);
        node->set |= bit_of(node, option);
    }
    if (rc == EK_OK) {
        char *pattern = strpbrk(value, "*?[") != NULL ? value : NULL;
        ek__word word = {.value = value, .pattern = pattern};
        rc = set_value(node, option, &word);
        rc = rc == EK_OK ? EK_OK : ek__text_point(text, equals + 1);
    }
    ek_free(key);
    ek_free(value);
    return rc;
}

ek_status ek__draft_override(draft *self, const char *setting)
{
    const ek__text text = {.chars = setting, .source = "--set"};
    size_t length = ek__text_name(&text, 0);
    if (length == 0 || setting[length] != '.') {
        return ek__text_fail(&text, length, "expected the name of a node, a dot, and OPTION=value");
    }
    size_t key = length + 1;
    size_t equals = key + ek__text_name(&text, key);
    if (equals == key || setting[equals] != '=') {
        return ek__text_fail(&text, equals, "expected the name of an option, '=', and a value");
    }
    char *name = ek_strprintf("%.*s", (int)length, setting);
    if (name == NULL) {
        return EK_ENOMEM;
    }
    int node = ek__draft_find(self, name);
    ek_status rc = node >= 0 ? override_option(&self->nodes[node], &text, key, equals)
                             : ek__draft_missing(self, name, &text, 0);
    ek_free(name);
    return rc;
}
