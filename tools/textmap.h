/* SPDX-License-Identifier: Apache-2.0 */
/* A field drawn as text: blocks of 256 colours on a colour terminal, ASCII shades elsewhere. */
#ifndef EK_TOOLS_TEXTMAP_H
#define EK_TOOLS_TEXTMAP_H

#include "core/field.h"

#include <stdio.h>

typedef struct textmap_style {
    int width;   /* columns there are */
    bool colour; /* 256 colours */
} textmap_style;

/* textmap_style_for says what suits the terminal behind `out`: its width (80 where there is none,
 * at most 120), and colour unless it is no terminal, TERM is dumb or NO_COLOR is set. */
textmap_style textmap_style_for(FILE *out);

/* textmap_draw draws `values` (one per cell of the field; NaN is left blank) around zero, with a
 * legend. North is up and east is right, whatever the order in the file. Of a grid with more than
 * two dimensions the first level is drawn, and said so; a grid with fewer is not drawn, and said
 * so. */
void textmap_draw(FILE *out, const ek_field *field, const double *values, const char *title,
                  textmap_style style);

/* textmap_bars draws fractions between 0 and 1 as a bar chart, one line each, numbered from 1. */
void textmap_bars(FILE *out, const double *fractions, int64_t n, const char *title,
                  textmap_style style);

#endif /* EK_TOOLS_TEXTMAP_H */
