/* SPDX-License-Identifier: Apache-2.0 */
/* Option tables: one table per stage drives the C defaults, the text form (key=value), range
 * checks, copying, and `ekman inspect`. Options live in a plain struct; **a zeroed struct is the
 * defaults**: a field that is 0 or NULL takes the table's default. */
#ifndef EK_CORE_OPTIONS_H
#define EK_CORE_OPTIONS_H

#include "core/alloc.h"
#include "core/status.h"

EK_BEGIN_DECLS

typedef enum ek_option_type {
    EK_OPTION_INT,     /* int64_t */
    EK_OPTION_BOOL,    /* bool; the default is false */
    EK_OPTION_STRING,  /* const char *; copied */
    EK_OPTION_STRINGS, /* const char *const *, with an int count at count_offset; copied */
    EK_OPTION_ENUM,    /* int: one of `choices` */
    EK_OPTION_FLAGS    /* unsigned: any set of `choices`; in text joined by commas */
} ek_option_type;

/* A choice of an ENUM or a bit of a FLAGS option; tables end with a NULL name. */
typedef struct ek_choice {
    const char *name;
    int value;
    const char *help;
} ek_choice;

/* How the text of a pipeline (graphs/text.h) fills an option. */
enum {
    EK_TEXT_WORD = 1 << 0,   /* takes the words that stand without a name; one option of a table */
    EK_TEXT_GLOB = 1 << 1,   /* patterns such as air.*.nc become the files that they match */
    EK_TEXT_COMMAND = 1 << 2 /* takes the command line, where the text gives nothing */
};

/* A table has at most EK_OPTIONS_MAX rows. */
#define EK_OPTIONS_MAX 64

typedef struct ek_option {
    const char *name; /* NULL ends the table */
    ek_option_type type;
    size_t offset;
    size_t count_offset;  /* STRINGS only */
    const char *fallback; /* the default as text; NULL: none, the field stays 0 or NULL */
    int64_t min, max;     /* INT only */
    const ek_choice *choices;
    bool required;   /* STRING, STRINGS: must be given */
    bool incidental; /* how the work is done, not what it gives: results do not depend on it */
    const char *help;
    const char *unit; /* INT: what is counted, such as "time steps"; NULL: nothing to say */
    unsigned text;    /* EK_TEXT_ bits */
} ek_option;

/* ek_options_copy fills the zeroed struct *to from *from (NULL: all defaults), copying strings and
 * applying defaults, and checks ranges. The error names the option and what it allows. */
EK_API ek_status ek_options_copy(const ek_option *table, void *to, const void *from);

/* ek_options_free releases the strings that ek_options_copy or ek_options_set made. */
EK_API void ek_options_free(const ek_option *table, void *options);

/* ek_options_set parses `text` into one option of a struct owned by ek_options_copy, or of a zeroed
 * one. A STRINGS option is built one call for each entry. Free with ek_options_free. */
EK_API ek_status ek_options_set(const ek_option *table, void *options, const char *name,
                                const char *text);

/* ek_options_unset gives one option back its 0 or NULL, so that ek_options_copy takes the default.
 */
EK_API void ek_options_unset(const ek_option *option, void *options);

/* ek_options_find returns the row of the table with this name, or NULL. */
EK_API const ek_option *ek_options_find(const ek_option *table, const char *name);

/* ek_options_format writes the option's value as text into `out` (always ended by 0). */
EK_API void ek_options_format(const ek_option *option, const void *options, char *out, size_t size);

/* ek_option_describe writes type, range, choices and default as one line into `out`. */
EK_API void ek_option_describe(const ek_option *option, char *out, size_t size);

EK_END_DECLS

#endif /* EK_CORE_OPTIONS_H */
