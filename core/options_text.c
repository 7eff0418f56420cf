/* SPDX-License-Identifier: Apache-2.0 */
/* Options as text for people: values, and what is allowed. */
#include "core/options_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ek__text_append(char *out, size_t size, const char *format, ...)
{
    size_t used = strlen(out);
    if (used + 1 >= size) {
        return;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(out + used, size - used, format, args);
    va_end(args);
}

static void append_choices(const ek_option *option, char *out, size_t size)
{
    for (const ek_choice *c = option->choices; c->name != NULL; c++) {
        ek__text_append(out, size, "%s%s", c == option->choices ? "" : ", ", c->name);
    }
}

static void append_range(const ek_option *option, char *out, size_t size)
{
    bool lower = option->min != 0 || option->max != 0;
    bool upper = lower && option->max != INT64_MAX;
    if (lower && upper) {
        ek__text_append(out, size, " from %" PRId64 " to %" PRId64, option->min, option->max);
    } else if (lower) {
        ek__text_append(out, size, " of at least %" PRId64, option->min);
    }
}

void ek__option_allowed(const ek_option *option, char *out, size_t size)
{
    out[0] = '\0';
    switch (option->type) {
    case EK_OPTION_INT:
        ek__text_append(out, size, "an integer");
        append_range(option, out, size);
        if (option->unit != NULL) {
            ek__text_append(out, size, " (%s)", option->unit);
        }
        break;
    case EK_OPTION_BOOL:
        ek__text_append(out, size, "true or false");
        break;
    case EK_OPTION_STRING:
        ek__text_append(out, size, "text");
        break;
    case EK_OPTION_STRINGS:
        ek__text_append(out, size, "texts");
        break;
    case EK_OPTION_ENUM:
        ek__text_append(out, size, "one of ");
        append_choices(option, out, size);
        break;
    case EK_OPTION_FLAGS:
        ek__text_append(out, size, "any of, joined by commas: ");
        append_choices(option, out, size);
        break;
    }
}

void ek_option_describe(const ek_option *option, char *out, size_t size)
{
    if (size == 0) {
        return;
    }
    ek__option_allowed(option, out, size);
    if (option->required) {
        ek__text_append(out, size, "; required");
    } else if (option->fallback != NULL) {
        ek__text_append(out, size, "; default %s", option->fallback);
    } else if (option->type == EK_OPTION_BOOL) {
        ek__text_append(out, size, "; default false");
    }
}

static void format_enum(const ek_option *option, int value, char *out, size_t size)
{
    for (const ek_choice *c = option->choices; c->name != NULL; c++) {
        if (c->value == value) {
            ek__text_append(out, size, "%s", c->name);
            return;
        }
    }
    ek__text_append(out, size, "%d", value);
}

static void format_flags(const ek_option *option, unsigned value, char *out, size_t size)
{
    for (const ek_choice *c = option->choices; c->name != NULL; c++) {
        if ((value & (unsigned)c->value) != 0) {
            ek__text_append(out, size, "%s%s", out[0] != '\0' ? "," : "", c->name);
        }
    }
}

static void format_strings(const char *const *list, int count, char *out, size_t size)
{
    for (int i = 0; i < count; i++) {
        ek__text_append(out, size, "%s%s", i > 0 ? " " : "", list[i]);
    }
}

void ek_options_format(const ek_option *option, const void *options, char *out, size_t size)
{
    if (size == 0) {
        return;
    }
    out[0] = '\0';
    const void *field = (const char *)options + option->offset;
    const char *text = NULL;
    switch (option->type) {
    case EK_OPTION_INT:
        ek__text_append(out, size, "%" PRId64, *(const int64_t *)field);
        break;
    case EK_OPTION_BOOL:
        ek__text_append(out, size, "%s", *(const bool *)field ? "true" : "false");
        break;
    case EK_OPTION_STRING:
        text = *(const char *const *)field;
        ek__text_append(out, size, "%s", text != NULL ? text : "");
        break;
    case EK_OPTION_STRINGS:
        format_strings(*(const char *const *const *)field,
                       *(const int *)(const void *)((const char *)options + option->count_offset),
                       out, size);
        break;
    case EK_OPTION_ENUM:
        format_enum(option, *(const int *)field, out, size);
        break;
    case EK_OPTION_FLAGS:
        format_flags(option, *(const unsigned *)field, out, size);
        break;
    }
}
