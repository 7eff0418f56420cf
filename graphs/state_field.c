/* SPDX-License-Identifier: Apache-2.0 */
/* A field in a state file: all that an output file needs of it, so that a state can be ended where
 * the input files are not. */
#include "graphs/state_internal.h"

#include "stages/load/cftime.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void pack_coord(ek__pack *to, const ek_coord *coord)
{
    ek__pack_text(to, coord->name);
    ek__pack_int(to, coord->dtype);
    ek__pack_int(to, coord->n_dims);
    for (int d = 0; d < coord->n_dims; d++) {
        ek__pack_int(to, coord->dims[d]);
    }
    ek__pack_int(to, coord->n_vertices);
    ek__pack_doubles(to, coord->values, coord->n_values);
    ek__pack_int(to, coord->n_attrs);
    for (int i = 0; i < coord->n_attrs; i++) {
        const ek_attr *attr = &coord->attrs[i];
        ek__pack_text(to, attr->name);
        ek__pack_text(to, attr->text);
        ek__pack_int(to, attr->dtype);
        ek__pack_doubles(to, attr->numbers, attr->text == NULL ? attr->n_numbers : 0);
    }
}

void ek__pack_field(ek__pack *to, const ek_field *field)
{
    const char *texts[] = {field->name,          field->units,        field->long_name,
                           field->standard_name, field->cell_methods, field->coordinates,
                           field->grid_mapping,  field->source,       field->history,
                           field->time.name,     field->time.units,   field->time.calendar,
                           field->time.long_name};
    for (size_t i = 0; i < EK_COUNT(texts); i++) {
        ek__pack_text(to, texts[i]);
    }
    ek__pack_text(to, field->time.first);
    ek__pack_text(to, field->time.last);
    ek__pack_int(to, field->time.has_values);
    ek__pack_int(to, field->n_time);
    ek__pack_doubles(to, field->time.values, field->time.values != NULL ? field->n_time : 0);
    ek__pack_int(to, field->dtype);
    ek__pack_int(to, (int64_t)field->value_bytes);
    ek__pack_int(to, field->n_cells);
    ek__pack_int(to, field->n_dims);
    for (int d = 0; d < field->n_dims; d++) {
        ek__pack_text(to, field->dims[d].name);
        ek__pack_int(to, field->dims[d].size);
    }
    ek__pack_int(to, field->n_coords);
    for (int i = 0; i < field->n_coords; i++) {
        pack_coord(to, &field->coords[i]);
    }
}

static void unpack_attr(ek__unpack *from, ek_attr *attr)
{
    int64_t n = 0;
    attr->name = ek__unpack_text(from);
    attr->text = ek__unpack_text(from);
    attr->dtype = (ek_dtype)ek__unpack_int(from, 0, EK_DTYPE_COUNT - 1);
    attr->numbers = ek__unpack_doubles(from, &n);
    from->bad = from->bad || attr->name == NULL || n > INT32_MAX || (attr->text != NULL && n > 0);
    attr->n_numbers = (int)n;
}

/* The values must be as many as the dimensions say, since writers go by these. */
static void unpack_coord(ek__unpack *from, const ek_field *field, ek_coord *coord)
{
    coord->name = ek__unpack_text(from);
    coord->dtype = (ek_dtype)ek__unpack_int(from, 0, EK_DTYPE_COUNT - 1);
    coord->n_dims = (int)ek__unpack_int(from, 0, field->n_dims);
    double expected = 1;
    for (int d = 0; d < coord->n_dims; d++) {
        coord->dims[d] = (int)ek__unpack_int(from, 0, EK_MAX(field->n_dims - 1, 0));
        expected *= (double)field->dims[coord->dims[d]].size;
    }
    coord->n_vertices = (int)ek__unpack_int(from, 0, INT32_MAX);
    expected *= coord->n_vertices > 0 ? coord->n_vertices : 1;
    coord->values = ek__unpack_doubles(from, &coord->n_values);
    from->bad = from->bad || coord->name == NULL || (double)coord->n_values != expected;
    int64_t n = ek__unpack_count(from, 4 * sizeof(int64_t));
    coord->attrs = ek__unpack_alloc(from, n, sizeof *coord->attrs);
    for (int i = 0; coord->attrs != NULL && i < n; i++) {
        coord->n_attrs = i + 1;
        unpack_attr(from, &coord->attrs[i]);
    }
}

static void unpack_dims(ek__unpack *from, ek_field *field)
{
    double cells = 1;
    field->n_cells = ek__unpack_int(from, 1, INT64_MAX / (int64_t)sizeof(double));
    field->n_dims = (int)ek__unpack_int(from, 0, EK_FIELD_DIMS_MAX);
    for (int d = 0; d < field->n_dims; d++) {
        field->dims[d].name = ek__unpack_text(from);
        field->dims[d].size = ek__unpack_int(from, 1, field->n_cells);
        from->bad = from->bad || field->dims[d].name == NULL;
        cells *= (double)field->dims[d].size;
    }
    from->bad = from->bad || cells != (double)field->n_cells;
}

/* Steps that are only counted have no values. */
static void unpack_times(ek__unpack *from, ek_field *field)
{
    int64_t n = 0;
    field->n_time = ek__unpack_int(from, 0, INT64_MAX / (int64_t)sizeof(double));
    field->time.values = ek__unpack_doubles(from, &n);
    from->bad = from->bad || (n != 0 && n != field->n_time);
    if (n == 0) {
        ek_free(field->time.values);
        field->time.values = NULL;
        from->bad = from->bad || field->time.has_values;
    }
}

static void unpack_into(ek__unpack *from, ek_field *field)
{
    char **texts[] = {&field->name,          &field->units,        &field->long_name,
                      &field->standard_name, &field->cell_methods, &field->coordinates,
                      &field->grid_mapping,  &field->source,       &field->history,
                      &field->time.name,     &field->time.units,   &field->time.calendar,
                      &field->time.long_name};
    for (size_t i = 0; i < EK_COUNT(texts); i++) {
        *texts[i] = ek__unpack_text(from);
    }
    from->bad = from->bad || field->name == NULL || field->time.name == NULL ||
                field->time.units == NULL || field->source == NULL;
    ek__unpack_chars(from, field->time.first, sizeof field->time.first);
    ek__unpack_chars(from, field->time.last, sizeof field->time.last);
    field->time.has_values = ek__unpack_int(from, 0, 1) != 0;
    unpack_times(from, field);
    field->dtype = (ek_dtype)ek__unpack_int(from, 1, EK_DTYPE_COUNT - 1);
    field->value_bytes = (size_t)ek__unpack_int(from, 1, sizeof(double));
    unpack_dims(from, field);
    int64_t n = ek__unpack_count(from, 6 * sizeof(int64_t));
    field->coords = ek__unpack_alloc(from, n, sizeof *field->coords);
    for (int i = 0; field->coords != NULL && i < n && !from->bad; i++) {
        field->n_coords = i + 1;
        unpack_coord(from, field, &field->coords[i]);
    }
}

ek_field *ek__unpack_field(ek__unpack *from)
{
    ek_field *field = ek__unpack_alloc(from, 1, sizeof *field);
    if (field == NULL) {
        return NULL;
    }
    unpack_into(from, field);
    if (from->bad || from->failed) {
        ek_field_destroy(field);
        return NULL;
    }
    return field;
}

static ek_status copy_field(ek_field **out, const ek_field *field)
{
    ek__pack bytes = {0};
    ek__pack_field(&bytes, field);
    ek__unpack from = {.at = bytes.bytes, .left = bytes.n, .failed = bytes.failed};
    *out = ek__unpack_field(&from);
    ek_free(bytes.bytes);
    if (*out == NULL) {
        return from.failed
                   ? EK_ENOMEM
                   : EK_FAIL(EK_EINTERNAL, "the metadata of '%s' cannot be copied", field->name);
    }
    return EK_OK;
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

static ek_status differs(const char *path, const char *what, const char *theirs, const char *mine)
{
    return EK_FAIL(EK_EINVAL, "%s was made with %s %s, this plan has %s", path, what,
                   theirs != NULL ? theirs : "(none)", mine != NULL ? mine : "(none)");
}

ek_status ek__field_match(const ek_field *theirs, const ek_field *mine, bool times,
                          const char *path)
{
    if (!same_text(theirs->name, mine->name)) {
        return differs(path, "the variable", theirs->name, mine->name);
    }
    if (!same_text(theirs->units, mine->units)) {
        return differs(path, "the units", theirs->units, mine->units);
    }
    char text[256];
    if (ek_field_grids_differ(theirs, mine, text, sizeof text)) {
        return EK_FAIL(EK_EINVAL, "%s was made on another grid than this plan's: %s", path, text);
    }
    if (times && ek_field_times_differ(theirs, mine, text, sizeof text)) {
        return EK_FAIL(EK_EINVAL, "%s was made with other time steps than this plan's: %s", path,
                       text);
    }
    return EK_OK;
}

/* How times of the later field become times of the earlier one. */
typedef struct rebase {
    bool needed;
    ek__cftime from, to;
} rebase;

static ek_status find_rebase(rebase *out, const ek_field *earlier, const ek_field *later,
                             const char *path)
{
    const ek_time_axis *a = &earlier->time;
    const ek_time_axis *b = &later->time;
    *out =
        (rebase){.needed = !same_text(a->units, b->units) || !same_text(a->calendar, b->calendar)};
    if (!a->has_values || !b->has_values) {
        return EK_FAIL(EK_EDATA,
                       "%s and the later steps cannot be put in order: there is no time coordinate",
                       path);
    }
    if (!out->needed) {
        return EK_OK;
    }
    if (ek__cftime_parse(a->units, a->calendar, &out->to) != EK_OK ||
        ek__cftime_parse(b->units, b->calendar, &out->from) != EK_OK ||
        !ek__calendar_comparable(out->to.calendar, out->from.calendar)) {
        return EK_FAIL(
            EK_EDATA,
            "the times of %s (units \"%s\") and of the later steps (units \"%s\") cannot "
            "be compared",
            path, a->units, b->units);
    }
    return EK_OK;
}

static ek_status join_times(ek_field *joined, const ek_field *later, const char *path)
{
    rebase how;
    EK_TRY(find_rebase(&how, joined, later, path));
    int64_t n = joined->n_time;
    double *values = ek_alloc((size_t)(n + later->n_time), sizeof *values);
    if (values == NULL) {
        return EK_ENOMEM;
    }
    memcpy(values, joined->time.values, (size_t)n * sizeof *values);
    ek_free(joined->time.values);
    joined->time.values = values;
    joined->n_time += later->n_time;
    for (int64_t i = 0; i < later->n_time; i++) {
        int64_t instant = 0;
        values[n + i] = later->time.values[i];
        if (how.needed) {
            EK_TRY(ek__cftime_decode(&how.from, values[n + i], &instant));
            values[n + i] = ek__cftime_encode(&how.to, instant);
        }
    }
    if (n > 0 && later->n_time > 0 && !(values[n] > values[n - 1])) {
        return EK_FAIL(EK_EDATA,
                       "%s ends at %s, and what is to follow it begins at %s: the periods overlap "
                       "or are not in order",
                       path, joined->time.last, later->time.first);
    }
    return EK_OK;
}

static ek_status join_words(ek_field *joined, const ek_field *later, const char *path)
{
    char *source = ek_strprintf("%s; %s", joined->source, later->source);
    if (source == NULL) {
        return EK_ENOMEM;
    }
    ek_free(joined->source);
    joined->source = source;
    for (size_t i = 0; i < later->n_notes; i++) {
        EK_TRY(ek_field_note(joined, "%s", later->notes[i]));
    }
    EK_TRY(ek_field_note(joined, "%s comes before: %" PRId64 " steps, %s to %s", path,
                         joined->n_time - later->n_time, joined->time.first, joined->time.last));
    memcpy(joined->time.last, later->time.last, sizeof joined->time.last);
    joined->value_bytes = later->value_bytes;
    joined->paths = later->paths;
    joined->n_paths = later->n_paths;
    return EK_OK;
}

ek_status ek__field_join(ek_field **out, const ek_field *earlier, const ek_field *later,
                         const char *path)
{
    *out = NULL;
    EK_TRY(ek__field_match(earlier, later, false, path));
    ek_status rc = EK_OK;
    EK_GOTO(copy_field(out, earlier), done);
    EK_GOTO(join_times(*out, later, path), done);
    EK_GOTO(join_words(*out, later, path), done);
done:
    if (rc != EK_OK) {
        ek_field_destroy(*out);
        *out = NULL;
    }
    return rc;
}
