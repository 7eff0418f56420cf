/* SPDX-License-Identifier: Apache-2.0 */
/* What the ways of writing down a plan (text, JSON, drawings) say alike. */
#ifndef EK_GRAPHS_EXPLAIN_H
#define EK_GRAPHS_EXPLAIN_H

#include "graphs/internal.h"

#include <jansson.h>
#include <stdio.h>

EK_BEGIN_DECLS

/* explain.c: words and figures. */
const char *ek__explain_launch(const ek_plan *plan);  /* what the launch mode means */
const char *ek__explain_begin(const plan_pass *pass); /* why a region begins there */
const char *ek__explain_end(const ek_node *node);     /* why one ends there; NULL: it goes on */
const char *ek__explain_eager(const plan_node *self); /* why a fold's end is no graph */

/* ek__explain_fresh_bytes adds up what the pass's sources read per chunk, or its uploads copy. */
size_t ek__explain_fresh_bytes(const ek_plan *plan, int pass, unsigned flag);

/* A row of the memory table; all rows of one space add up to the plan's total. */
typedef struct ek__memory_row {
    const char *space; /* "device", "pinned" */
    const char *what;
    size_t bytes;
} ek__memory_row;

#define EK__MEMORY_ROWS 8

/* ek__explain_memory fills rows[] and returns how many there are. */
int ek__explain_memory(const ek_plan *plan, ek__memory_row rows[EK__MEMORY_ROWS]);

/* explain_json.c. ek__json_text is a JSON string, null for NULL; bytes that are no UTF-8 become
 * question marks. ek__json_versions is an object of the versions of Ekman and of what it stands on.
 * ek__json_dump gives a value up and returns its text, for ek_free; NULL, with an error, if out of
 * memory, also where `value` is NULL. */
json_t *ek__json_text(const char *text);
json_t *ek__json_versions(const ek_plan *plan);
char *ek__json_dump(json_t *value, size_t flags);
void ek__json_append(json_t **list, json_t *item); /* the list becomes NULL with the item */
json_t *ek__json_decoding(const ek_field *field);  /* groups of files that are read alike */
char *ek__plan_json(const ek_plan *plan);

/* explain_draw.c. */
char *ek__plan_dot(const ek_plan *plan);
char *ek__plan_mermaid(const ek_plan *plan);

/* ek__stream_close ends a memory stream and hands its text over as ek_alloc's; NULL, with an error,
 * if out of memory, also where `out` is NULL. */
char *ek__stream_close(FILE *out, char **text);

EK_END_DECLS

#endif /* EK_GRAPHS_EXPLAIN_H */
