/* SPDX-License-Identifier: Apache-2.0 */
/* The characters of a pipeline's text: words, quotes, comments, and errors that point at them. */
#include "graphs/text_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SENTENCE_BYTES 640 /* leaves room for line and caret in an ek_error */
#define LINE_BYTES     96
#define BEFORE_BYTES   64 /* shown before the place, of a longer line */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Whether a byte goes on with a character of UTF-8. */
static bool goes_on(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

size_t ek__text_name(const ek__text *text, size_t at)
{
    const char *c = text->chars + at;
    size_t n = 0;
    while (begins_name(c[n]) || (n > 0 && ((c[n] >= '0' && c[n] <= '9') || c[n] == '-'))) {
        n++;
    }
    return n;
}

bool ek__text_ends(const ek__text *text, size_t at)
{
    char c = text->chars[at];
    return c == '\0' || c == '!' || c == ';' || is_space(c);
}

void ek__text_skip(const ek__text *text, size_t *at)
{
    const char *c = text->chars;
    while (is_space(c[*at]) || c[*at] == '#') {
        *at += c[*at] == '#' ? strcspn(c + *at, "\n") : 1;
    }
}

/* The part of the place's line that an error shows. */
typedef struct excerpt {
    size_t first, n;
    bool cut_before, cut_after;
    size_t line; /* its number, from 1 */
    bool only;   /* there is no other line */
} excerpt;

static excerpt take_excerpt(const char *chars, size_t at)
{
    excerpt e = {.line = 1};
    size_t begin = 0;
    for (size_t i = 0; i < at; i++) {
        if (chars[i] == '\n') {
            begin = i + 1;
            e.line++;
        }
    }
    size_t end = at + strcspn(chars + at, "\n");
    e.only = e.line == 1 && (chars[end] == '\0' || chars[end + 1] == '\0');
    e.first = at - begin > BEFORE_BYTES ? at - BEFORE_BYTES : begin;
    while (e.first < at && goes_on(chars[e.first])) {
        e.first++;
    }
    e.n = EK_MIN(end - e.first, LINE_BYTES);
    while (e.first + e.n > at && goes_on(chars[e.first + e.n])) {
        e.n--;
    }
    e.cut_before = e.first > begin;
    e.cut_after = e.first + e.n < end;
    return e;
}

ek_status ek__text_point(const ek__text *text, size_t at)
{
    ek_error error = *ek_error_last();
    excerpt e = take_excerpt(text->chars, at);
    char line[LINE_BYTES + 1];
    int column = e.cut_before ? 3 : 0;
    for (size_t i = 0; i < e.n; i++) {
        char c = text->chars[e.first + i];
        bool control = (c >= 0 && c < ' ') || c == 0x7F;
        line[i] = control ? ' ' : c;
        column += e.first + i < at && !goes_on(c);
    }
    line[e.n] = '\0';
    char where[128] = "";
    const char *source = text->source;
    if (source != NULL && e.only) {
        snprintf(where, sizeof where, "  in %.90s\n", source);
    } else if (!e.only) {
        snprintf(where, sizeof where, "  in line %zu%s%.90s\n", e.line,
                 source != NULL ? " of " : "", source != NULL ? source : "");
    }
    return ek_error_record(error.status, error.foreign_code, error.file, error.line,
                           "%.*s\n%s  %s%s%s\n  %*s^", SENTENCE_BYTES, error.message, where,
                           e.cut_before ? "..." : "", line, e.cut_after ? "..." : "", column, "");
}

ek_status ek__text_fail(const ek__text *text, size_t at, const char *format, ...)
{
    char sentence[SENTENCE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    EK_FAIL(EK_EINVAL, "%s", sentence);
    return ek__text_point(text, at);
}

/* A word on its way: characters as they are, and as a pattern. */
typedef struct builder {
    char *value, *pattern;
    size_t n, n_pattern;
    bool magic, quoted;
} builder;

static void put(builder *b, char c, bool quoted)
{
    b->value[b->n++] = c;
    if (quoted && strchr("*?[]\\", c) != NULL) {
        b->pattern[b->n_pattern++] = '\\';
    }
    b->pattern[b->n_pattern++] = c;
    b->magic |= !quoted && strchr("*?[", c) != NULL;
    b->quoted |= quoted;
}

/* Reads '...' or "...", from the opening quote to behind the closing one. */
static ek_status read_quoted(const ek__text *text, size_t *at, builder *b)
{
    size_t opening = *at;
    char quote = text->chars[(*at)++];
    while (text->chars[*at] != quote) {
        bool escaped = quote == '"' && text->chars[*at] == '\\';
        *at += escaped ? 1 : 0;
        if (text->chars[*at] == '\0') {
            return ek__text_fail(text, opening, "this quote has no end; expected another %c",
                                 quote);
        }
        put(b, text->chars[(*at)++], true);
    }
    (*at)++;
    b->quoted = true;
    return EK_OK;
}

static ek_status read_value(const ek__text *text, size_t *at, builder *b)
{
    while (!ek__text_ends(text, *at)) {
        char c = text->chars[*at];
        if (c == '\'' || c == '"') {
            EK_TRY(read_quoted(text, at, b));
        } else if (c != '\\') {
            put(b, c, false);
            (*at)++;
        } else if (text->chars[*at + 1] == '\0') {
            return ek__text_fail(text, *at, "expected a character after '\\'");
        } else {
            put(b, text->chars[*at + 1], true);
            *at += 2;
        }
    }
    return EK_OK;
}

ek_status ek__text_word(const ek__text *text, size_t *at, ek__word *out)
{
    *out = (ek__word){.at = *at, .value_at = *at};
    ek_status rc = EK_OK;
    size_t key = ek__text_name(text, *at);
    if (key > 0 && text->chars[*at + key] == '=') {
        out->key = ek_strprintf("%.*s", (int)key, text->chars + *at);
        out->value_at = *at + key + 1;
        *at = out->value_at;
    }
    size_t most = strlen(text->chars + *at) + 1;
    builder b = {.value = ek_alloc(1, most), .pattern = ek_alloc(2, most)};
    if (b.value == NULL || b.pattern == NULL || (out->value_at > out->at && out->key == NULL)) {
        rc = EK_ENOMEM;
        goto done;
    }
    EK_GOTO(read_value(text, at, &b), done);
    if (b.n == 0 && !b.quoted) {
        rc = ek__text_fail(text, out->value_at, "expected a value after '%s='", out->key);
        goto done;
    }
    out->value = b.value;
    out->pattern = b.magic ? b.pattern : NULL;
    b.value = NULL;
    b.pattern = b.magic ? NULL : b.pattern;
done:
    ek_free(b.value);
    ek_free(b.pattern);
    if (rc != EK_OK) {
        ek__word_free(out);
    }
    return rc;
}

void ek__word_free(ek__word *word)
{
    ek_free(word->key);
    ek_free(word->value);
    ek_free(word->pattern);
    *word = (ek__word){0};
}
