/* SPDX-License-Identifier: Apache-2.0 */
/* What options.c and options_text.c share; nobody else includes this. */
#ifndef EK_CORE_OPTIONS_TEXT_H
#define EK_CORE_OPTIONS_TEXT_H

#include "core/options.h"

#define EK__OPTION_TEXT 512

/* ek__text_append formats behind the text already in `out`, as far as there is room. */
void ek__text_append(char *out, size_t size, const char *format, ...) EK_PRINTF(3, 4);

/* ek__option_allowed writes what the option takes: "an integer from 1 to 9", "one of a, b". */
void ek__option_allowed(const ek_option *option, char *out, size_t size);

#endif /* EK_CORE_OPTIONS_TEXT_H */
