/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, checking, copying and freeing option structs by their table. What they look like as text
 * is in options_text.c. */
#include "core/options.h"

#include "core/options_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef const char *const *strings;

static void *at(void *options, size_t offset)
{
    return (char *)options + offset;
}

static const void *at_const(const void *options, size_t offset)
{
    return (const char *)options + offset;
}

static ek_status refuse(const ek_option *option, const char *given)
{
    char allowed[EK__OPTION_TEXT];
    ek__option_allowed(option, allowed, sizeof allowed);
    return EK_FAIL(EK_EINVAL, "Option %s cannot be \"%s\"; it takes %s.", option->name, given,
                   allowed);
}

static ek_status refuse_number(const ek_option *option, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return refuse(option, text);
}

/* Whether a value not taken from the default is allowed; min and max both 0 mean any. */
static ek_status check_int(const ek_option *option, int64_t value)
{
    bool any = option->min == 0 && option->max == 0;
    bool inside = any || (value >= option->min && value <= option->max);
    return inside ? EK_OK : refuse_number(option, value);
}

static ek_status check_enum(const ek_option *option, int value)
{
    for (const ek_choice *c = option->choices; c->name != NULL; c++) {
        if (c->value == value) {
            return EK_OK;
        }
    }
    return refuse_number(option, value);
}

static ek_status check_flags(const ek_option *option, unsigned value)
{
    unsigned all = 0;
    for (const ek_choice *c = option->choices; c->name != NULL; c++) {
        all |= (unsigned)c->value;
    }
    return (value & ~all) == 0 ? EK_OK : refuse_number(option, value);
}

static ek_status parse_int(const ek_option *option, void *options, const char *text)
{
    bool starts = (text[0] >= '0' && text[0] <= '9') || text[0] == '-' || text[0] == '+';
    char *end = NULL;
    errno = 0;
    long long value = starts ? strtoll(text, &end, 10) : 0;
    if (!starts || end == text || *end != '\0' || errno != 0) {
        return refuse(option, text);
    }
    EK_TRY(check_int(option, value));
    *(int64_t *)at(options, option->offset) = value;
    return EK_OK;
}

static ek_status parse_bool(const ek_option *option, void *options, const char *text)
{
    static const char *const yes[] = {"true", "yes", "on", "1"};
    static const char *const no[] = {"false", "no", "off", "0"};
    for (size_t i = 0; i < EK_COUNT(yes); i++) {
        if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
            *(bool *)at(options, option->offset) = strcmp(text, yes[i]) == 0;
            return EK_OK;
        }
    }
    return refuse(option, text);
}

/* Returns the choice whose name is the first `length` characters of `text`, or NULL. */
static const ek_choice *find_choice(const ek_option *option, const char *text, size_t length)
{
    for (const ek_choice *c = option->choices; c->name != NULL; c++) {
        if (strlen(c->name) == length && strncmp(c->name, text, length) == 0) {
            return c;
        }
    }
    return NULL;
}

static ek_status parse_enum(const ek_option *option, void *options, const char *text)
{
    const ek_choice *choice = find_choice(option, text, strlen(text));
    if (choice == NULL) {
        return refuse(option, text);
    }
    *(int *)at(options, option->offset) = choice->value;
    return EK_OK;
}

static ek_status parse_flags(const ek_option *option, void *options, const char *text)
{
    unsigned value = 0;
    const char *word = text;
    while (true) {
        size_t length = strcspn(word, ",");
        const ek_choice *choice = find_choice(option, word, length);
        if (choice == NULL) {
            return refuse(option, text);
        }
        value |= (unsigned)choice->value;
        if (word[length] == '\0') {
            break;
        }
        word += length + 1;
    }
    *(unsigned *)at(options, option->offset) = value;
    return EK_OK;
}

static ek_status set_string(const ek_option *option, void *options, const char *text)
{
    if (option->required && text[0] == '\0') {
        return EK_FAIL(EK_EINVAL, "Option %s must not be empty.", option->name);
    }
    char *copy = ek_strdup(text);
    if (copy == NULL) {
        return EK_ENOMEM;
    }
    const char **field = at(options, option->offset);
    ek_free((void *)(uintptr_t)*field);
    *field = copy;
    return EK_OK;
}

/* Appends one string to a list; a list given as text is built one call for each entry. */
static ek_status append_string(const ek_option *option, void *options, const char *text)
{
    if (text[0] == '\0') {
        return EK_FAIL(EK_EINVAL, "Option %s must not be empty.", option->name);
    }
    strings *field = at(options, option->offset);
    int *count = at(options, option->count_offset);
    const char **longer = ek_alloc((size_t)*count + 1, sizeof *longer);
    char *copy = ek_strdup(text);
    if (longer == NULL || copy == NULL) {
        ek_free(longer);
        ek_free(copy);
        return EK_ENOMEM;
    }
    for (int i = 0; i < *count; i++) {
        longer[i] = (*field)[i];
    }
    longer[*count] = copy;
    ek_free((void *)(uintptr_t)*field);
    *field = longer;
    (*count)++;
    return EK_OK;
}

static ek_status parse(const ek_option *option, void *options, const char *text)
{
    switch (option->type) {
    case EK_OPTION_INT:
        return parse_int(option, options, text);
    case EK_OPTION_BOOL:
        return parse_bool(option, options, text);
    case EK_OPTION_STRING:
        return set_string(option, options, text);
    case EK_OPTION_STRINGS:
        return append_string(option, options, text);
    case EK_OPTION_ENUM:
        return parse_enum(option, options, text);
    case EK_OPTION_FLAGS:
        return parse_flags(option, options, text);
    }
    return EK_FAIL(EK_EINTERNAL, "Option %s has a type that does not exist.", option->name);
}

const ek_option *ek_options_find(const ek_option *table, const char *name)
{
    for (const ek_option *option = table; option != NULL && option->name != NULL; option++) {
        if (strcmp(option->name, name) == 0) {
            return option;
        }
    }
    return NULL;
}

ek_status ek_options_set(const ek_option *table, void *options, const char *name, const char *text)
{
    const ek_option *found = ek_options_find(table, name);
    if (found != NULL) {
        return parse(found, options, text);
    }
    char known[EK__OPTION_TEXT] = "";
    for (const ek_option *option = table; option != NULL && option->name != NULL; option++) {
        ek__text_append(known, sizeof known, "%s%s", known[0] != '\0' ? ", " : "", option->name);
    }
    if (known[0] == '\0') {
        return EK_FAIL(EK_EINVAL, "There is no option \"%s\"; there are none here.", name);
    }
    return EK_FAIL(EK_EINVAL, "There is no option \"%s\"; the options are %s.", name, known);
}

static ek_status copy_strings(const ek_option *option, void *to, const void *from)
{
    strings list = *(const strings *)at_const(from, option->offset);
    int count = *(const int *)at_const(from, option->count_offset);
    if (count < 0 || (count > 0 && list == NULL)) {
        return EK_FAIL(EK_EINVAL, "Option %s has a count of %d and no list to go with it.",
                       option->name, count);
    }
    for (int i = 0; i < count; i++) {
        if (list[i] == NULL) {
            return EK_FAIL(EK_EINVAL, "Entry %d of option %s is NULL.", i, option->name);
        }
        EK_TRY(append_string(option, to, list[i]));
    }
    return EK_OK;
}

/* Copies one field; *given tells whether it was set, that is, not 0 and not NULL. */
static ek_status copy_given(const ek_option *option, void *to, const void *from, bool *given)
{
    const void *source = at_const(from, option->offset);
    void *target = at(to, option->offset);
    switch (option->type) {
    case EK_OPTION_INT:
        *(int64_t *)target = *(const int64_t *)source;
        *given = *(int64_t *)target != 0;
        return *given ? check_int(option, *(int64_t *)target) : EK_OK;
    case EK_OPTION_BOOL:
        *(bool *)target = *(const bool *)source;
        *given = *(bool *)target;
        return EK_OK;
    case EK_OPTION_STRING: {
        const char *text = *(const char *const *)source;
        *given = text != NULL;
        return *given ? set_string(option, to, text) : EK_OK;
    }
    case EK_OPTION_STRINGS:
        *given = *(const int *)at_const(from, option->count_offset) != 0;
        return copy_strings(option, to, from);
    case EK_OPTION_ENUM:
        *(int *)target = *(const int *)source;
        *given = *(int *)target != 0;
        return *given ? check_enum(option, *(int *)target) : EK_OK;
    case EK_OPTION_FLAGS:
        *(unsigned *)target = *(const unsigned *)source;
        *given = *(unsigned *)target != 0;
        return *given ? check_flags(option, *(unsigned *)target) : EK_OK;
    }
    return EK_FAIL(EK_EINTERNAL, "Option %s has a type that does not exist.", option->name);
}

static ek_status copy_one(const ek_option *option, void *to, const void *from)
{
    bool given = false;
    if (from != NULL) {
        EK_TRY(copy_given(option, to, from, &given));
    }
    if (given) {
        return EK_OK;
    }
    if (option->fallback != NULL) {
        return parse(option, to, option->fallback);
    }
    if (option->required) {
        return EK_FAIL(EK_EINVAL, "Option %s must be given: %s.", option->name, option->help);
    }
    return EK_OK;
}

ek_status ek_options_copy(const ek_option *table, void *to, const void *from)
{
    for (const ek_option *option = table; option != NULL && option->name != NULL; option++) {
        ek_status rc = copy_one(option, to, from);
        if (rc != EK_OK) {
            ek_options_free(table, to);
            return rc;
        }
    }
    return EK_OK;
}

static void free_strings(const ek_option *option, void *options)
{
    strings *field = at(options, option->offset);
    int *count = at(options, option->count_offset);
    for (int i = 0; i < *count; i++) {
        ek_free((void *)(uintptr_t)(*field)[i]);
    }
    ek_free((void *)(uintptr_t)*field);
    *field = NULL;
    *count = 0;
}

void ek_options_unset(const ek_option *option, void *options)
{
    void *field = at(options, option->offset);
    switch (option->type) {
    case EK_OPTION_INT:
        *(int64_t *)field = 0;
        break;
    case EK_OPTION_BOOL:
        *(bool *)field = false;
        break;
    case EK_OPTION_STRING:
        ek_free((void *)(uintptr_t) * (const char **)field);
        *(const char **)field = NULL;
        break;
    case EK_OPTION_STRINGS:
        free_strings(option, options);
        break;
    case EK_OPTION_ENUM:
        *(int *)field = 0;
        break;
    case EK_OPTION_FLAGS:
        *(unsigned *)field = 0;
        break;
    }
}

void ek_options_free(const ek_option *table, void *options)
{
    for (const ek_option *option = table; option != NULL && option->name != NULL; option++) {
        if (option->type == EK_OPTION_STRINGS || option->type == EK_OPTION_STRING) {
            ek_options_unset(option, options);
        }
    }
}
