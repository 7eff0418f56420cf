/* SPDX-License-Identifier: Apache-2.0 */
/* Data types, and the life of a field. */
#include "core/field.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
    const char *name;
    size_t size;
    bool integer;
} dtypes[EK_DTYPE_COUNT] = {
    [EK_DTYPE_NONE] = {"none", 0, false}, [EK_I8] = {"int8", 1, true},
    [EK_U8] = {"uint8", 1, true},         [EK_I16] = {"int16", 2, true},
    [EK_U16] = {"uint16", 2, true},       [EK_I32] = {"int32", 4, true},
    [EK_U32] = {"uint32", 4, true},       [EK_F32] = {"float32", 4, false},
    [EK_F64] = {"float64", 8, false},
};

static ek_dtype known(ek_dtype dtype)
{
    return (unsigned)dtype < EK_DTYPE_COUNT ? dtype : EK_DTYPE_NONE;
}

size_t ek_dtype_size(ek_dtype dtype)
{
    return dtypes[known(dtype)].size;
}

const char *ek_dtype_name(ek_dtype dtype)
{
    return dtypes[known(dtype)].name;
}

bool ek_dtype_is_integer(ek_dtype dtype)
{
    return dtypes[known(dtype)].integer;
}

static void coord_fini(ek_coord *coord)
{
    for (int i = 0; i < coord->n_attrs; i++) {
        ek_free(coord->attrs[i].name);
        ek_free(coord->attrs[i].text);
        ek_free(coord->attrs[i].numbers);
    }
    ek_free(coord->attrs);
    ek_free(coord->values);
    ek_free(coord->name);
}

static void time_axis_fini(ek_time_axis *time)
{
    ek_free(time->name);
    ek_free(time->units);
    ek_free(time->calendar);
    ek_free(time->values);
    ek_free(time->long_name);
}

void ek_field_destroy(ek_field *field)
{
    if (field == NULL) {
        return;
    }
    char *texts[] = {field->name,          field->units,        field->long_name,
                     field->standard_name, field->cell_methods, field->coordinates,
                     field->grid_mapping,  field->source,       field->history};
    for (size_t i = 0; i < EK_COUNT(texts); i++) {
        ek_free(texts[i]);
    }
    for (int i = 0; i < EK_FIELD_DIMS_MAX; i++) {
        ek_free(field->dims[i].name);
    }
    for (int i = 0; i < field->n_coords; i++) {
        coord_fini(&field->coords[i]);
    }
    ek_free(field->coords);
    for (int i = 0; i < field->n_files; i++) {
        ek_free(field->files[i].path);
        ek_free(field->files[i].decoder);
    }
    ek_free(field->files);
    time_axis_fini(&field->time);
    for (size_t i = 0; i < field->n_notes; i++) {
        ek_free(field->notes[i]);
    }
    ek_free(field->notes);
    ek_free(field);
}

ek_status ek_field_note(ek_field *field, const char *format, ...)
{
    EK_TRY(ek_grow(&field->notes, &field->notes_capacity, field->n_notes, sizeof *field->notes));
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) {
        return EK_FAIL(EK_EINTERNAL, "A note could not be formatted.");
    }
    char *note = ek_alloc((size_t)n + 1, 1);
    if (note == NULL) {
        return EK_ENOMEM;
    }
    va_start(args, format);
    vsnprintf(note, (size_t)n + 1, format, args);
    va_end(args);
    field->notes[field->n_notes++] = note;
    return EK_OK;
}
