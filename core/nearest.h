/* SPDX-License-Identifier: Apache-2.0 */
/* Which known name a mistyped word was meant to be. Any thread. */
#ifndef EK_CORE_NEAREST_H
#define EK_CORE_NEAREST_H

#include "core/common.h"

EK_BEGIN_DECLS

/* A search: give it the word, then one name after another; `name` is the best so far, NULL while
 * none is near. Both are borrowed. */
typedef struct ek_nearest {
    const char *word;
    const char *name;
    int distance;
} ek_nearest;

/* ek_nearest_to begins a search. */
EK_API ek_nearest ek_nearest_to(const char *word);

/* ek_nearest_try looks at one more name. Near is a name that begins with the word (2 letters or
 * more), or one that a few letters added, dropped, exchanged or swapped make out of it: 1 for each
 * 3 letters of the word, and 1. */
EK_API void ek_nearest_try(ek_nearest *search, const char *name);

EK_END_DECLS

#endif /* EK_CORE_NEAREST_H */
