/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing a latitude-longitude grid with characters. See textmap.h. */
#include "tools/textmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MARGIN   8 /* columns for the latitude labels */
#define ROWS_MAX 48

/* From strongly negative over zero to strongly positive. */
static const char shades[] = "%=-.+*#";
static const int colours[] = {19, 26, 68, 111, 153, 254, 223, 216, 209, 166, 124};

/* The grid as it is drawn. */
typedef struct map {
    const double *values;
    int64_t n_y, n_x;    /* of the grid */
    const double *y, *x; /* coordinates; NULL if there are none */
    bool flip_y, flip_x; /* the file's first row is the southernmost; first column easternmost */
    int rows, columns;   /* of the drawing */
    double limit;        /* greatest absolute value */
} map;

textmap_style textmap_style_for(FILE *out)
{
    textmap_style style = {.width = 80};
    struct winsize size;
    int fd = fileno(out);
    const char *term = getenv("TERM");
    if (isatty(fd) != 0) {
        style.colour = term != NULL && strcmp(term, "dumb") != 0 && getenv("NO_COLOR") == NULL;
        if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
            style.width = EK_MIN(EK_MAX((int)size.ws_col, 40), 120);
        }
    }
    return style;
}

/* The coordinate variable of dimension `dim`, NULL if it has none. */
static const double *dim_values(const ek_field *field, int dim)
{
    for (int i = 0; i < field->n_coords; i++) {
        const ek_coord *coord = &field->coords[i];
        bool own = coord->n_dims == 1 && coord->dims[0] == dim && coord->n_vertices == 0;
        if (own && strcmp(coord->name, field->dims[dim].name) == 0) {
            return coord->values;
        }
    }
    return NULL;
}

static bool ascends(const double *values, int64_t n)
{
    return n > 1 && values[n - 1] > values[0];
}

static map map_make(const ek_field *field, const double *values, int width)
{
    int dim_y = field->n_dims - 2;
    int dim_x = field->n_dims - 1;
    map m = {.values = values, .n_y = field->dims[dim_y].size, .n_x = field->dims[dim_x].size};
    m.y = dim_values(field, dim_y);
    m.x = dim_values(field, dim_x);
    m.flip_y = m.y != NULL && ascends(m.y, m.n_y);
    m.flip_x = m.x != NULL && m.n_x > 1 && !ascends(m.x, m.n_x);

    /* A character is about twice as high as wide. */
    double span_y = m.y != NULL ? fabs(m.y[m.n_y - 1] - m.y[0]) : (double)m.n_y;
    double span_x = m.x != NULL ? fabs(m.x[m.n_x - 1] - m.x[0]) : (double)m.n_x;
    double ratio = span_x > 0 && span_y > 0 ? span_y / span_x / 2 : 1;
    m.columns = EK_MAX(width - MARGIN - 1, 8);
    if (ratio * m.columns > ROWS_MAX) {
        m.columns = EK_MAX((int)(ROWS_MAX / ratio), 8);
    }
    m.rows = (int)fmin(fmax(round(ratio * m.columns), 1), ROWS_MAX);
    for (int64_t i = 0; i < m.n_y * m.n_x; i++) {
        double size = fabs(values[i]);
        m.limit = size > m.limit ? size : m.limit; /* NaN compares false */
    }
    return m;
}

/* The first grid index that belongs to drawn position `at` of `n`. */
static int64_t grid_index(int at, int n, int64_t n_grid)
{
    return (int64_t)at * n_grid / n;
}

/* The mean of the cells that the character stands for, NaN where all are missing. */
static double map_value(const map *m, int row, int column)
{
    int64_t y0 = grid_index(row, m->rows, m->n_y);
    int64_t x0 = grid_index(column, m->columns, m->n_x);
    int64_t y1 = EK_MAX(grid_index(row + 1, m->rows, m->n_y), y0 + 1);
    int64_t x1 = EK_MAX(grid_index(column + 1, m->columns, m->n_x), x0 + 1);
    double sum = 0;
    int64_t count = 0;
    for (int64_t y = y0; y < y1; y++) {
        const double *line = m->values + (m->flip_y ? m->n_y - 1 - y : y) * m->n_x;
        for (int64_t x = x0; x < x1; x++) {
            double value = line[m->flip_x ? m->n_x - 1 - x : x];
            sum += isnan(value) ? 0 : value;
            count += isnan(value) ? 0 : 1;
        }
    }
    return count > 0 ? sum / (double)count : NAN;
}

/* Which of n levels, symmetric around zero, a value belongs to. */
static int level_of(double value, double limit, int n)
{
    double place = limit > 0 ? (value / limit + 1) / 2 * n : n / 2.0;
    return EK_MIN(EK_MAX((int)place, 0), n - 1);
}

/* `shown` is the colour that is on, -1 for none: it is set only where it changes. */
static void draw_cell(FILE *out, double value, double limit, bool colour, int *shown)
{
    if (!colour) {
        fputc(isnan(value) ? ' ' : shades[level_of(value, limit, (int)sizeof shades - 1)], out);
        return;
    }
    int wanted = isnan(value) ? -1 : colours[level_of(value, limit, (int)EK_COUNT(colours))];
    if (wanted != *shown && wanted >= 0) {
        fprintf(out, "\033[48;5;%dm", wanted);
    } else if (wanted != *shown) {
        fputs("\033[0m", out);
    }
    *shown = wanted;
    fputc(' ', out);
}

static void draw_rows(FILE *out, const map *m, bool colour)
{
    for (int row = 0; row < m->rows; row++) {
        int64_t y = grid_index(row, m->rows, m->n_y);
        int64_t at = m->flip_y ? m->n_y - 1 - y : y;
        bool labelled = row == 0 || row == m->rows - 1 || row % 5 == 0;
        if (m->y != NULL && labelled) {
            fprintf(out, "%*.1f ", MARGIN - 1,
                    m->y[row == m->rows - 1 && row > 0 ? (m->flip_y ? 0 : m->n_y - 1) : at]);
        } else {
            fprintf(out, "%*s", MARGIN, "");
        }
        int shown = -1;
        for (int column = 0; column < m->columns; column++) {
            draw_cell(out, map_value(m, row, column), m->limit, colour, &shown);
        }
        fputs(colour ? "\033[0m\n" : "\n", out);
    }
}

static void draw_x_labels(FILE *out, const map *m)
{
    if (m->x == NULL) {
        return;
    }
    double west = m->x[m->flip_x ? m->n_x - 1 : 0];
    double east = m->x[m->flip_x ? 0 : m->n_x - 1];
    char left[24];
    char right[24];
    snprintf(left, sizeof left, "%.1f", west);
    snprintf(right, sizeof right, "%.1f", east);
    int gap = m->columns - (int)strlen(left) - (int)strlen(right);
    fprintf(out, "%*s%s%*s%s\n", MARGIN, "", left, EK_MAX(gap, 1), "", right);
}

static void draw_legend(FILE *out, double limit, bool colour)
{
    int n = colour ? (int)EK_COUNT(colours) : (int)sizeof shades - 1;
    fprintf(out, "%*s%.3g ", MARGIN, "", -limit);
    int shown = -1;
    for (int i = 0; i < n; i++) {
        double middle = limit * ((2.0 * i + 1) / n - 1);
        draw_cell(out, middle, limit, colour, &shown);
        draw_cell(out, middle, limit, colour, &shown);
    }
    fprintf(out, "%s %.3g; blank: no value\n", colour ? "\033[0m" : "", limit);
}

void textmap_draw(FILE *out, const ek_field *field, const double *values, const char *title,
                  textmap_style style)
{
    fprintf(out, "\n%s\n", title);
    if (field->n_dims < 2) {
        fprintf(out, "No map: the grid of '%s' has fewer than two dimensions.\n", field->name);
        return;
    }
    for (int i = 0; i < field->n_dims - 2; i++) {
        if (field->dims[i].size > 1) {
            fprintf(out, "Drawn at the first of %lld values of '%s'.\n",
                    (long long)field->dims[i].size, field->dims[i].name);
        }
    }
    map m = map_make(field, values, style.width);
    draw_rows(out, &m, style.colour);
    draw_x_labels(out, &m);
    draw_legend(out, m.limit, style.colour);
}

void textmap_bars(FILE *out, const double *fractions, int64_t n, const char *title,
                  textmap_style style)
{
    double most = 0;
    int room = EK_MAX(style.width - 24, 10);
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, fractions[i]);
    }
    fprintf(out, "\n%s\n", title);
    for (int64_t i = 0; i < n; i++) {
        int length = most > 0 ? (int)lround(fractions[i] / most * room) : 0;
        fprintf(out, "%*lld %s", MARGIN - 1, (long long)(i + 1),
                style.colour ? "\033[48;5;68m" : "");
        for (int j = 0; j < length; j++) {
            fputc(style.colour ? ' ' : '#', out);
        }
        fprintf(out, "%s %.2f %%\n", style.colour ? "\033[0m" : "", 100 * fractions[i]);
    }
}
