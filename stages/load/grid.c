/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and comparing grids. */
#include "stages/load/grid.h"

#include "stages/load/packing.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SAME_WITHIN 1e-5 /* of the spacing: apart, a point is another one */

/* What the helpers below need in common. */
typedef struct grid {
    const ek__nc_file *file;
    const ek__variable *v;
    ek_field *field;
    size_t capacity; /* of field->coords */
} grid;

static const ek_coord *find_coord(const ek_field *field, const char *name)
{
    for (int i = 0; i < field->n_coords; i++) {
        if (strcmp(field->coords[i].name, name) == 0) {
            return &field->coords[i];
        }
    }
    return NULL;
}

static int find_dim(const ek_field *field, const char *name)
{
    for (int i = 0; i < field->n_dims; i++) {
        if (strcmp(field->dims[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

/* Maps a variable's dims to the field's. Returns NULL if all are the grid's (the last may be
 * vertices), else a phrase saying why the variable is left out. */
static const char *map_dims(const grid *g, const ek__nc_var *var, bool bounds, ek_coord *out)
{
    if (var->n_dims > EK_NC_DIMS || (bounds && var->n_dims == 0)) {
        return "has too many or too few dimensions";
    }
    const char *time = g->v->var.dims[g->v->time_dim].name;
    out->n_dims = var->n_dims - (bounds ? 1 : 0);
    for (int i = 0; i < var->n_dims; i++) {
        int dim = find_dim(g->field, var->dims[i].name);
        if (strcmp(var->dims[i].name, time) == 0) {
            return "depends on time";
        }
        if (i == out->n_dims) {
            out->n_vertices = (int)var->dims[i].size;
        } else if (dim < 0) {
            return "has a dimension that is not the variable's";
        } else {
            out->dims[i] = dim;
        }
    }
    return NULL;
}

/* Reads a coordinate's values; a variable without numbers (a grid mapping of type char) becomes an
 * integer 0, as its value means nothing. */
static ek_status read_values(const grid *g, const ek__nc_var *var, ek_coord *out)
{
    out->n_values = ek__nc_cells(var);
    if (var->type == NC_CHAR) {
        out->dtype = EK_I32;
        out->values = ek_alloc((size_t)out->n_values, sizeof(double));
        return out->values != NULL ? EK_OK : EK_ENOMEM;
    }
    bool packed = false;
    ek__nc_file home = ek__nc_home(g->file, var);
    EK_TRY(ek__packing_values(&home, var, &out->values, &packed));
    out->dtype = packed || var->dtype == EK_DTYPE_NONE ? EK_F64 : var->dtype;
    return EK_OK;
}

static bool is_numeric(const ek__nc_var *var)
{
    return var->dtype != EK_DTYPE_NONE || var->type == NC_INT64 || var->type == NC_UINT64;
}

static ek_status add_coord(grid *g, const ek__nc_var *var, bool bounds)
{
    ek_coord coord = {0};
    const char *why = map_dims(g, var, bounds, &coord);
    bool is_mapping = var->type == NC_CHAR && var->n_dims == 0;
    if (why == NULL && !is_numeric(var) && !is_mapping) {
        why = "is not numeric";
    }
    if (why != NULL) {
        return ek_field_note(g->field, "the coordinate %s is left out: it %s", var->name, why);
    }
    ek_field *field = g->field;
    EK_TRY(ek_grow(&field->coords, &g->capacity, (size_t)field->n_coords, sizeof(coord)));
    ek_coord *to = &field->coords[field->n_coords];
    *to = coord;
    to->name = ek_strdup(var->name);
    if (to->name == NULL) {
        return EK_ENOMEM;
    }
    field->n_coords++; /* from here on the field frees it */
    EK_TRY(read_values(g, var, to));
    ek__nc_file home = ek__nc_home(g->file, var);
    return ek__nc_attrs(&home, var->id, &to->attrs, &to->n_attrs);
}

/* Adds the named variable and its bounds, unless they are there. */
static ek_status add_named(grid *g, const char *name)
{
    ek__nc_var var;
    bool found = false;
    EK_TRY(ek__nc_var_find(g->file, name, &var, &found));
    if (!found) {
        return ek_field_note(g->field, "the coordinate %s is left out: the file does not have it",
                             name);
    }
    if (find_coord(g->field, var.name) != NULL) {
        return EK_OK;
    }
    EK_TRY(add_coord(g, &var, false));
    char bounds[NC_MAX_NAME + 1];
    ek__nc_file home = ek__nc_home(g->file, &var);
    ek__nc_word(&home, var.id, "bounds", bounds, sizeof(bounds));
    if (bounds[0] == '\0' || find_coord(g->field, var.name) == NULL ||
        find_coord(g->field, bounds) != NULL) {
        return EK_OK;
    }
    EK_TRY(ek__nc_var_find(&home, bounds, &var, &found));
    return found ? add_coord(g, &var, true) : EK_OK;
}

/* Adds every variable named in a list; of the form "crs: x y" only what has a colon. */
static ek_status add_list(grid *g, const char *list)
{
    bool extended = list != NULL && strchr(list, ':') != NULL;
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, " \t\n");
        bool colon = length > 0 && list[length - 1] == ':';
        size_t n = length - (colon ? 1 : 0);
        if (n > 0 && n <= NC_MAX_NAME && (colon || !extended)) {
            char name[NC_MAX_NAME + 1];
            snprintf(name, sizeof(name), "%.*s", (int)n, list);
            EK_TRY(add_named(g, name));
        }
        list += length;
        list += strspn(list, " \t\n");
    }
    return EK_OK;
}

static ek_status read_dims(grid *g)
{
    ek_field *field = g->field;
    const ek__nc_var *var = &g->v->var;
    field->n_cells = 1;
    for (int i = 0; i < var->n_dims; i++) {
        if (i == g->v->time_dim) {
            continue;
        }
        ek_dim *dim = &field->dims[field->n_dims];
        dim->name = ek_strdup(var->dims[i].name);
        if (dim->name == NULL) {
            return EK_ENOMEM;
        }
        dim->size = var->dims[i].size;
        field->n_cells *= dim->size;
        field->n_dims++;
    }
    return EK_OK;
}

ek_status ek__grid_read(const ek__nc_file *file, const ek__variable *v, ek_field *field)
{
    grid g = {.file = file, .v = v, .field = field};
    EK_TRY(read_dims(&g));
    for (int i = 0; i < v->var.n_dims; i++) {
        ek__nc_var coordinate;
        bool found = false;
        if (i != v->time_dim) {
            EK_TRY(ek__nc_coordinate(file, &v->var.dims[i], &coordinate, &found));
        }
        if (found) {
            EK_TRY(add_named(&g, coordinate.name));
        }
    }
    EK_TRY(add_list(&g, field->coordinates));
    return add_list(&g, field->grid_mapping);
}

/* The smallest distance of neighbours; for a grid in two dimensions, of its range in one. */
static double spacing(const ek_coord *c)
{
    double least = INFINITY;
    double low = INFINITY;
    double high = -INFINITY;
    for (int64_t i = 0; i < c->n_values; i++) {
        low = fmin(low, c->values[i]);
        high = fmax(high, c->values[i]);
        double step = i > 0 ? fabs(c->values[i] - c->values[i - 1]) : 0;
        least = step > 0 ? fmin(least, step) : least;
    }
    if (!isfinite(least)) {
        return fmax(1.0, isfinite(high) ? fabs(high) : 1.0);
    }
    return c->n_dims == 1 ? least : (high - low) / sqrt((double)c->n_values);
}

static ek_status compare_coord(const ek_coord *a, const char *path_a, const ek_coord *b,
                               const char *path_b)
{
    if (a->n_values != b->n_values) {
        return EK_FAIL(EK_ESHAPE, "%s and %s have different numbers of %s values", path_a, path_b,
                       a->name);
    }
    double tolerance = SAME_WITHIN * spacing(a);
    for (int64_t i = 0; i < a->n_values; i++) {
        bool both_missing = isnan(a->values[i]) && isnan(b->values[i]);
        if (!both_missing && !(fabs(a->values[i] - b->values[i]) <= tolerance)) {
            return EK_FAIL(EK_ESHAPE,
                           "the files are on different grids: %s[%lld] is %.9g in %s and %.9g in "
                           "%s; load them separately",
                           a->name, (long long)i, a->values[i], path_a, b->values[i], path_b);
        }
    }
    return EK_OK;
}

static ek_status compare_dims(const ek_field *a, const char *path_a, const ek_field *b,
                              const char *path_b)
{
    if (a->n_dims != b->n_dims) {
        return EK_FAIL(EK_ESHAPE, "%s has %d dimensions besides time in %s and %d in %s", a->name,
                       a->n_dims, path_a, b->n_dims, path_b);
    }
    for (int i = 0; i < a->n_dims; i++) {
        if (strcmp(a->dims[i].name, b->dims[i].name) != 0 || a->dims[i].size != b->dims[i].size) {
            return EK_FAIL(EK_ESHAPE,
                           "the files are on different grids: %s has the dimension %s of size %lld "
                           "in %s and %s of size %lld in %s; load them separately",
                           a->name, a->dims[i].name, (long long)a->dims[i].size, path_a,
                           b->dims[i].name, (long long)b->dims[i].size, path_b);
        }
    }
    return EK_OK;
}

ek_status ek__grid_compare(const ek_field *a, const char *path_a, const ek_field *b,
                           const char *path_b)
{
    EK_TRY(compare_dims(a, path_a, b, path_b));
    for (int i = 0; i < a->n_coords; i++) {
        const ek_coord *coord = &a->coords[i];
        if (coord->n_dims == 0 || coord->n_vertices > 0) {
            continue;
        }
        const ek_coord *other = find_coord(b, coord->name);
        if (other == NULL) {
            return EK_FAIL(EK_ESHAPE, "%s has the coordinate %s, but %s does not", path_a,
                           coord->name, path_b);
        }
        EK_TRY(compare_coord(coord, path_a, other, path_b));
    }
    return EK_OK;
}
