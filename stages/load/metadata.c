/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing the variable and its time dimension. A dimension is ranked by how surely it is time; the
 * highest rank wins, and where two have it the user must say which. */
#include "stages/load/metadata.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { RANK_NONE, RANK_NAME, RANK_UNLIMITED, RANK_UNIT, RANK_CF, RANK_CF_STANDARD_NAME };

static const char *const rank_reasons[] = {
    "",
    "by its name",
    "because it is unlimited",
    "by the units of its coordinate",
    "by its coordinate's attributes",
    "by its coordinate's attributes",
};

enum { TIME_NONE = -1, TIME_AMBIGUOUS = -2 };

static bool is_time_unit(const char *units)
{
    static const char *const names[] = {"month", "year", "day", "hour", "week", "season"};
    for (size_t i = 0; i < EK_COUNT(names); i++) {
        size_t n = strlen(names[i]);
        if (strncasecmp(units, names[i], n) == 0 &&
            (units[n] == '\0' || strcasecmp(units + n, "s") == 0)) {
            return true;
        }
    }
    return false;
}

static bool contains_since(const char *units)
{
    const char *at = strcasestr(units, "since");
    return at != NULL && at > units && isspace((unsigned char)at[-1]);
}

static int name_rank(const ek__nc_dim *dim)
{
    if (dim->unlimited) {
        return RANK_UNLIMITED;
    }
    bool named = strncasecmp(dim->name, "time", 4) == 0 || strcasecmp(dim->name, "month") == 0 ||
                 strcasecmp(dim->name, "t") == 0;
    return named ? RANK_NAME : RANK_NONE;
}

/* Ranks a dimension by its coordinate variable, then by itself. */
static ek_status dim_rank(const ek__nc_file *file, const ek__nc_dim *dim, int *rank)
{
    ek__nc_var coordinate;
    bool found = false;
    *rank = name_rank(dim);
    EK_TRY(ek__nc_coordinate(file, dim, &coordinate, &found));
    if (!found) {
        return EK_OK;
    }
    char units[256];
    char axis[16];
    char standard_name[256];
    ek__nc_file home = ek__nc_home(file, &coordinate);
    ek__nc_word(&home, coordinate.id, "units", units, sizeof(units));
    ek__nc_word(&home, coordinate.id, "axis", axis, sizeof(axis));
    ek__nc_word(&home, coordinate.id, "standard_name", standard_name, sizeof(standard_name));
    bool is_standard = strcmp(standard_name, "time") == 0;
    bool is_space = strncasecmp(units, "degree", 6) == 0 || strcasecmp(axis, "X") == 0 ||
                    strcasecmp(axis, "Y") == 0 || strcasecmp(axis, "Z") == 0;
    if (is_standard || contains_since(units) || strcasecmp(axis, "T") == 0) {
        *rank = is_standard ? RANK_CF_STANDARD_NAME : RANK_CF;
    } else if (is_time_unit(units)) {
        *rank = RANK_UNIT;
    } else if (is_space) {
        *rank = RANK_NONE;
    }
    return EK_OK;
}

/* Finds the time dimension of a variable: an index, TIME_NONE or TIME_AMBIGUOUS. */
static ek_status find_time(const ek__nc_file *file, const ek__nc_var *var, const char *wanted,
                           int *time_dim, int *rank)
{
    *time_dim = TIME_NONE;
    *rank = RANK_NONE;
    for (int i = 0; i < var->n_dims && var->n_dims <= EK_NC_DIMS; i++) {
        if (wanted != NULL) {
            *time_dim = strcmp(var->dims[i].name, wanted) == 0 ? i : *time_dim;
            continue;
        }
        int found = RANK_NONE;
        EK_TRY(dim_rank(file, &var->dims[i], &found));
        if (found > *rank) {
            *rank = found;
            *time_dim = i;
        } else if (found == *rank && found != RANK_NONE) {
            *time_dim = TIME_AMBIGUOUS;
        }
    }
    return EK_OK;
}

/* Says whether `name` is one of the words of a list such as a coordinates attribute. */
static bool has_word(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(list, name); at != NULL; at = strstr(at + 1, name)) {
        bool starts = at == list || isspace((unsigned char)at[-1]);
        bool ends = at[length] == '\0' || at[length] == ':' || isspace((unsigned char)at[length]);
        if (starts && ends) {
            return true;
        }
    }
    return false;
}

static bool is_bounds_name(const char *name)
{
    static const char *const endings[] = {"_bnds", "_bounds"};
    size_t length = strlen(name);
    for (size_t i = 0; i < EK_COUNT(endings); i++) {
        size_t n = strlen(endings[i]);
        if (length > n && strcmp(name + length - n, endings[i]) == 0) {
            return true;
        }
    }
    return strncmp(name, "bounds_", 7) == 0;
}

/* Says whether a variable only serves others: a coordinate, bounds, or named in their attributes.
 */
static bool is_auxiliary(const ek__nc_file *file, const ek__nc_var *var, int n_vars)
{
    static const char *const attrs[] = {"bounds",       "climatology",   "coordinates",
                                        "grid_mapping", "cell_measures", "ancillary_variables"};
    if ((var->n_dims == 1 && strcmp(var->name, var->dims[0].name) == 0) ||
        is_bounds_name(var->name)) {
        return true;
    }
    char list[1024];
    for (int i = 0; i < n_vars; i++) {
        for (size_t k = 0; k < EK_COUNT(attrs); k++) {
            ek__nc_word(file, i, attrs[k], list, sizeof(list));
            if (i != var->id && has_word(list, var->name)) {
                return true;
            }
        }
    }
    return false;
}

/* What a file offers, while the variable is looked for. */
typedef struct offer {
    char list[640]; /* of candidates, or of all variables */
    size_t used;
    int n; /* candidates */
    ek__variable first;
    int rank;
} offer;

static void offer_list(offer *o, const ek__nc_var *var)
{
    char text[256];
    ek__nc_var_text(var, text, sizeof(text));
    if (o->used + strlen(text) + 8 < sizeof(o->list)) {
        o->used += (size_t)snprintf(o->list + o->used, sizeof(o->list) - o->used, "%s%s",
                                    o->used > 0 ? ", " : "", text);
    } else if (o->used + 5 < sizeof(o->list) && o->list[o->used - 1] != '.') {
        o->used += (size_t)snprintf(o->list + o->used, sizeof(o->list) - o->used, " ...");
    }
}

/* Collects variables over time; with `spatial` only those with another dimension of size > 1. */
static ek_status collect(const ek__nc_file *file, const char *time, bool spatial, offer *out)
{
    *out = (offer){0};
    int n_vars = 0;
    EK_TRY(EK_NC(nc_inq_nvars(file->ncid, &n_vars), file->path, "variables"));
    for (int i = 0; i < n_vars; i++) {
        ek__variable v;
        int rank = RANK_NONE;
        EK_TRY(ek__nc_var_get(file, i, &v.var));
        EK_TRY(find_time(file, &v.var, time, &v.time_dim, &rank));
        if (v.time_dim == TIME_NONE || v.var.type == NC_CHAR || v.var.type == NC_STRING) {
            continue;
        }
        bool has_space = false;
        for (int k = 0; k < v.var.n_dims; k++) {
            has_space = has_space || (k != v.time_dim && v.var.dims[k].size > 1);
        }
        if ((spatial && !has_space) || is_auxiliary(file, &v.var, n_vars)) {
            continue;
        }
        offer_list(out, &v.var);
        if (out->n++ == 0) {
            out->first = v;
            out->rank = rank;
        }
    }
    return EK_OK;
}

static ek_status list_all(const ek__nc_file *file, offer *out)
{
    *out = (offer){0};
    int n_vars = 0;
    EK_TRY(EK_NC(nc_inq_nvars(file->ncid, &n_vars), file->path, "variables"));
    for (int i = 0; i < n_vars; i++) {
        ek__nc_var var;
        EK_TRY(ek__nc_var_get(file, i, &var));
        offer_list(out, &var);
    }
    int n_groups = 0;
    if (nc_inq_grps(file->ncid, &n_groups, NULL) == NC_NOERR && n_groups > 0 && out->n == 0 &&
        out->used + 64 < sizeof(out->list)) {
        snprintf(out->list + out->used, sizeof(out->list) - out->used,
                 "%s(name those in groups as /GROUP/NAME)", out->used > 0 ? " " : "");
    }
    return EK_OK;
}

static ek_status find_only(const ek__nc_file *file, const char *time, ek_field *notes,
                           ek__variable *out, int *rank)
{
    offer o;
    EK_TRY(collect(file, time, true, &o));
    if (o.n == 0) {
        EK_TRY(collect(file, time, false, &o));
    }
    if (o.n > 1) {
        return EK_FAIL(EK_EINVAL,
                       "%s has several variables over time; choose one with the option variable: "
                       "%s",
                       file->path, o.list);
    }
    if (o.n == 0) {
        EK_TRY(list_all(file, &o));
        return EK_FAIL(EK_ENOENT,
                       "%s has no variable over %s; it has: %s. If one of the dimensions is time, "
                       "say so with the option time (--time DIM)",
                       file->path, time != NULL ? time : "a time axis",
                       o.list[0] != '\0' ? o.list : "no variables");
    }
    *out = o.first;
    *rank = o.rank;
    return ek_field_note(notes, "the variable is %s, the only one over time", o.list);
}

static ek_status find_named(ek__nc_file *file, const char *name, const char *time,
                            ek__variable *out, int *rank)
{
    bool found = false;
    EK_TRY(ek__nc_var_find(file, name, &out->var, &found));
    if (!found) {
        offer o;
        EK_TRY(list_all(file, &o));
        return EK_FAIL(EK_ENOENT, "%s has no variable %s; it has: %s", file->path, name,
                       o.list[0] != '\0' ? o.list : "no variables");
    }
    if (out->var.n_dims > EK_NC_DIMS) {
        return EK_FAIL(EK_ENOTSUP, "%s: %s has %d dimensions; at most %d can be read", file->path,
                       name, out->var.n_dims, EK_NC_DIMS);
    }
    *file = ek__nc_home(file, &out->var);
    return find_time(file, &out->var, time, &out->time_dim, rank);
}

static ek_status refuse_time(const ek__nc_file *file, const ek__variable *v, const char *time)
{
    char text[256];
    ek__nc_var_text(&v->var, text, sizeof(text));
    if (time != NULL) {
        return EK_FAIL(EK_EINVAL, "%s: %s has no dimension %s, which the option time names",
                       file->path, text, time);
    }
    if (v->time_dim == TIME_AMBIGUOUS) {
        return EK_FAIL(EK_EINVAL,
                       "%s: several dimensions of %s may be time; say which with the option time "
                       "(--time DIM)",
                       file->path, text);
    }
    return EK_FAIL(EK_EINVAL,
                   "%s: %s has no time axis; if one of its dimensions is time, say so with the "
                   "option time (--time DIM)",
                   file->path, text);
}

/* Time must come first, apart from dims of size 1. */
static ek_status check_order(const ek__nc_file *file, const ek__variable *v)
{
    bool first = true;
    for (int i = 0; i < v->time_dim; i++) {
        first = first && v->var.dims[i].size == 1;
    }
    if (first) {
        return EK_OK;
    }
    char text[256];
    char order[256];
    const char *time = v->var.dims[v->time_dim].name;
    size_t used = (size_t)snprintf(order, sizeof(order), "%s", time);
    for (int i = 0; i < v->var.n_dims && used < sizeof(order); i++) {
        if (i != v->time_dim) {
            used +=
                (size_t)snprintf(order + used, sizeof(order) - used, ",%s", v->var.dims[i].name);
        }
    }
    ek__nc_var_text(&v->var, text, sizeof(text));
    return EK_FAIL(EK_ESHAPE,
                   "%s: time must be the first dimension, but the order is %s; reorder with: "
                   "ncpdq -a %s IN.nc OUT.nc",
                   file->path, text, order);
}

static ek_status check_type(const ek__nc_file *file, const ek__nc_var *var)
{
    if (var->dtype != EK_DTYPE_NONE) {
        return EK_OK;
    }
    char type[NC_MAX_NAME + 1] = "unknown";
    nc_inq_type(file->ncid, var->type, type, NULL);
    bool is_atomic = var->type <= NC_MAX_ATOMIC_TYPE;
    return EK_FAIL(EK_EDTYPE, "%s: %s is stored as %s, which is not read%s", file->path, var->name,
                   type, is_atomic ? "; integers of up to 32 bits, float and double are" : "");
}

ek_status ek__variable_find(ek__nc_file *file, const char *name, const char *time, ek_field *notes,
                            ek__variable *out)
{
    int rank = RANK_NONE;
    if (name != NULL) {
        EK_TRY(find_named(file, name, time, out, &rank));
    } else {
        EK_TRY(find_only(file, time, notes, out, &rank));
    }
    if (out->time_dim < 0) {
        return refuse_time(file, out, time);
    }
    EK_TRY(check_type(file, &out->var));
    EK_TRY(check_order(file, out));
    if (time == NULL && rank < RANK_CF) {
        return ek_field_note(notes, "the time axis is %s, %s", out->var.dims[out->time_dim].name,
                             rank_reasons[rank]);
    }
    return EK_OK;
}
