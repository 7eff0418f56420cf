/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines as text. */
#include "tests/fuzz/fuzz.h"

#include "graphs/text.h"

#include <string.h>

/* What is printed reads back, and prints the same. */
static void check_round_trip(const ek_pipeline *p)
{
    ek_pipeline *again = NULL;
    char *text = ek_pipeline_text(p);
    FUZZ_REQUIRE(text != NULL);
    FUZZ_REQUIRE(ek_pipeline_parse(&again, text, NULL) == EK_OK);
    char *text_again = ek_pipeline_text(again);
    FUZZ_REQUIRE(text_again != NULL && strcmp(text, text_again) == 0);
    ek_pipeline_destroy(again);
    ek_free(text_again);
    ek_free(text);
}

/* The last line of an error is a caret below a character of the line above, or behind its end. */
static void check_caret(const char *message)
{
    const char *caret = strrchr(message, '\n');
    FUZZ_REQUIRE(caret != NULL && caret > message);
    size_t column = strspn(caret + 1, " ");
    FUZZ_REQUIRE(strcmp(caret + 1 + column, "^") == 0);
    const char *line = caret;
    while (line > message && line[-1] != '\n') {
        line--;
    }
    FUZZ_REQUIRE(column >= 2 && column <= (size_t)(caret - line));
}

void fuzz_text(const uint8_t *data, size_t n)
{
    int64_t live = ek_alloc_live();
    char *text = ek_alloc(n + 1, 1);
    FUZZ_REQUIRE(text != NULL);
    for (size_t i = 0; i < n; i++) { /* no patterns: nothing here looks at files */
        char c = (char)data[i];
        text[i] = c == '*' || c == '?' || c == '[' ? 'x' : c;
    }
    ek_pipeline *p = NULL;
    ek_status rc = ek_pipeline_parse(&p, text, NULL);
    FUZZ_REQUIRE(rc == EK_OK || rc == EK_EINVAL);
    FUZZ_REQUIRE((rc == EK_OK) == (p != NULL));
    if (rc == EK_OK) {
        check_round_trip(p);
    } else {
        check_caret(ek_error_last()->message);
    }
    ek_pipeline_destroy(p);
    ek_free(text);
    FUZZ_REQUIRE(ek_alloc_live() == live);
}
