/* SPDX-License-Identifier: Apache-2.0 */
/* How stages name what they put out: the words of the stream they read, and units. Private to
 * stages/. */
#ifndef EK_STAGES_NAMING_H
#define EK_STAGES_NAMING_H

#include "core/stage.h"

EK_BEGIN_DECLS

/* The words of a stream: those its own stage chose, else the source field's. Never NULL; empty
 * where there is nothing to say. `long_name` falls back to the name. Borrowed from the spec. */
typedef struct ek__words {
    const char *name;
    const char *units;
    const char *long_name;
    const char *standard_name;
} ek__words;

ek__words ek__spec_words(const ek_spec *stream);

/* ek__text_set formats into a fixed field of a spec; text that does not fit is cut at its end. */
void ek__text_set(char *out, size_t size, const char *format, ...) EK_PRINTF(3, 4);

/* ek__units_squared writes the square of CF units: "K2" for one plain word, else "(m s-1)2"; units
 * that are empty or "1" stay as they are. */
void ek__units_squared(char *out, size_t size, const char *units);

EK_END_DECLS

#endif /* EK_STAGES_NAMING_H */
