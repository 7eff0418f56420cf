/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that read a pipeline's text share: the text, its words, and the draft made of it
 * before any node exists. */
#ifndef EK_GRAPHS_TEXT_INTERNAL_H
#define EK_GRAPHS_TEXT_INTERNAL_H

#include "core/nearest.h"
#include "graphs/internal.h"
#include "graphs/text.h"

EK_BEGIN_DECLS

typedef struct ek__text {
    const char *chars;
    const char *source; /* where it is from; NULL: not said */
} ek__text;

/* ek__text_fail records an error that points at a place of the text; ek__text_point makes the last
 * error point there, and returns its status. */
ek_status ek__text_fail(const ek__text *text, size_t at, const char *format, ...) EK_PRINTF(3, 4);
ek_status ek__text_point(const ek__text *text, size_t at);

/* A word, unquoted. */
typedef struct ek__word {
    size_t at, value_at;
    char *key;     /* NAME of NAME=value; NULL: none */
    char *value;   /* all else */
    char *pattern; /* the value for glob(3), quoted characters escaped; NULL: it is no pattern */
} ek__word;

/* ek__text_skip moves *at over spaces and comments. */
void ek__text_skip(const ek__text *text, size_t *at);

/* ek__text_name returns the length of the NAME at `at`, 0 if there is none. */
size_t ek__text_name(const ek__text *text, size_t at);

/* ek__text_ends says whether a word cannot go on at `at`. */
bool ek__text_ends(const ek__text *text, size_t at);

/* ek__text_word reads the word at *at and moves behind it; free with ek__word_free. */
ek_status ek__text_word(const ek__text *text, size_t *at, ek__word *out);
void ek__word_free(ek__word *word);

/* What feeds an input: the node before `!` (from >= 0), or a name to be looked up. */
typedef struct draft_input {
    int from; /* -1: not known, or nothing */
    char *name;
    size_t at;
} draft_input;

typedef struct draft_node {
    size_t at;      /* of the stage's name */
    size_t name_at; /* of the node's, if given */
    const ek_stage *stage;
    char *name;
    void *options;
    uint64_t given; /* bit i: option i has a value */
    uint64_t set;   /* bit i: an override gave it */
    draft_input inputs[EK_STAGE_INPUTS];
    ek_node *node; /* once built */
} draft_node;

typedef struct draft {
    ek__text text;
    draft_node *nodes;
    size_t n, capacity;
} draft;

/* text_parse.c: fills the draft's nodes, named and linked, from its text. */
ek_status ek__draft_parse(draft *self);
void ek__draft_free(draft *self);

/* text_option.c: what a word in `text` does to a node: an option's value, or a link to an input. */
ek_status ek__draft_word(draft_node *node, const ek__text *text, const ek__word *word);

/* ek__draft_override does what "NODE.OPTION=VALUE" says. */
ek_status ek__draft_override(draft *self, const char *setting);

/* ek__draft_find returns the index of the node of this name, -1 if there is none; ek__draft_missing
 * records that there is none, and what there is, and points at the place. */
int ek__draft_find(const draft *self, const char *name);
ek_status ek__draft_missing(const draft *self, const char *name, const ek__text *text, size_t at);

/* ek__did_you_mean writes "; did you mean 'NAME'?", or ";" alone where nothing is near. */
void ek__did_you_mean(const ek_nearest *search, char *out, size_t size);

EK_END_DECLS

#endif /* EK_GRAPHS_TEXT_INTERNAL_H */
