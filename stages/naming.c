/* SPDX-License-Identifier: Apache-2.0 */
/* The words and units of what stages put out. */
#include "stages/naming.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *text_or(const char *text, const char *fallback)
{
    return text != NULL && text[0] != '\0' ? text : fallback;
}

ek__words ek__spec_words(const ek_spec *stream)
{
    const ek_field *field = stream->field;
    ek__words words;
    if (stream->n_arrays > 0) {
        const ek_array_spec *array = &stream->arrays[0];
        words.name = text_or(array->name, text_or(field->name, "field"));
        words.units = array->units;
        words.long_name = text_or(array->long_name, words.name);
        words.standard_name = array->standard_name;
    } else {
        words.name = text_or(field->name, "field");
        words.units = text_or(field->units, "");
        words.long_name = text_or(field->long_name, words.name);
        words.standard_name = text_or(field->standard_name, "");
    }
    return words;
}

void ek__text_set(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out, size, format, args);
    va_end(args);
}

void ek__units_squared(char *out, size_t size, const char *units)
{
    if (units[0] == '\0' || strcmp(units, "1") == 0) {
        ek__text_set(out, size, "%s", units);
        return;
    }
    size_t letters = strspn(units, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    bool one_word = units[letters] == '\0';
    ek__text_set(out, size, one_word ? "%s2" : "(%s)2", units);
}
