/* SPDX-License-Identifier: Apache-2.0 */
/* Damerau's distance between short words (R. A. Wagner and M. J. Fischer, J. ACM 21, 1974, with
 * swaps of neighbours). */
#include "core/nearest.h"

#include <string.h>

#define LETTERS_MAX 64

ek_nearest ek_nearest_to(const char *word)
{
    return (ek_nearest){.word = word, .distance = (int)(strlen(word) / 3) + 2};
}

static int least(int a, int b, int c)
{
    return EK_MIN(EK_MIN(a, b), c);
}

/* The letters to add, drop, exchange or swap; both words are shorter than LETTERS_MAX. */
static int distance(const char *a, const char *b)
{
    int rows[3][LETTERS_MAX];
    int n = (int)strlen(b);
    int *before = rows[0];
    int *above = rows[1];
    int *row = rows[2];
    for (int j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (int i = 1; a[i - 1] != '\0'; i++) {
        int *spare = before;
        before = above;
        above = row;
        row = spare;
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int exchange = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = least(above[j] + 1, row[j - 1] + 1, exchange);
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) {
                row[j] = EK_MIN(row[j], before[j - 2] + 1);
            }
        }
    }
    return row[n];
}

void ek_nearest_try(ek_nearest *search, const char *name)
{
    size_t length = strlen(search->word);
    if (length == 0 || length >= LETTERS_MAX || strlen(name) >= LETTERS_MAX) {
        return;
    }
    bool begins = length >= 2 && strncmp(name, search->word, length) == 0;
    int far = begins ? 1 : distance(search->word, name);
    if (far < search->distance) {
        search->distance = far;
        search->name = name;
    }
}
