/* SPDX-License-Identifier: Apache-2.0 */
/* Packing and missing values of a variable.
 *
 * A value is missing if the stored one equals _FillValue or any element of missing_value, compared
 * in the stored type. Float variables without _FillValue also have netCDF's default one. valid_min,
 * valid_max and valid_range are not applied: too many files have wrong ones. */
#include "stages/load/packing.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the helpers below need in common. */
typedef struct reading {
    const ek__nc_file *file;
    const ek__nc_var *var;
    ek_field *notes;
    ek__packing *out;
} reading;

static ek_status note_text_number(const reading *r, const ek_attr *attr)
{
    if (r->notes == NULL) {
        return EK_OK;
    }
    return ek_field_note(r->notes, "the attribute %s of %s is the text \"%s\"; taken as a number",
                         attr->name, r->var->name, attr->text);
}

/* Reads a packing attribute as numbers; a text that is one complete number is taken as such. */
static ek_status read_numbers(const reading *r, const char *name, ek_attr *attr)
{
    EK_TRY(ek__nc_attr(r->file, r->var->id, name, attr));
    if (attr->name == NULL || attr->text == NULL) {
        return EK_OK;
    }
    char *end = attr->text;
    double number = strtod(attr->text, &end);
    bool complete = end != attr->text;
    while (isspace((unsigned char)*end)) {
        end++;
    }
    if (!complete || *end != '\0') {
        ek_status rc = EK_FAIL(EK_EDATA,
                               "%s: the attribute %s of %s is the text \"%.80s\", which is not a "
                               "number; correct it (ncatted) first",
                               r->file->path, name, r->var->name, attr->text);
        ek__nc_attr_free(attr);
        return rc;
    }
    ek_status rc = note_text_number(r, attr);
    attr->numbers = rc == EK_OK ? ek_alloc(1, sizeof(double)) : NULL;
    if (attr->numbers == NULL) {
        ek__nc_attr_free(attr);
        return rc != EK_OK ? rc : EK_ENOMEM;
    }
    attr->numbers[0] = number;
    attr->n_numbers = 1;
    attr->dtype = EK_F64;
    return EK_OK;
}

static ek_status read_scalar(const reading *r, const char *name, double *out)
{
    ek_attr attr = {0};
    EK_TRY(read_numbers(r, name, &attr));
    ek_status rc = EK_OK;
    if (attr.name != NULL && attr.n_numbers != 1) {
        rc = EK_FAIL(EK_EDATA, "%s: the attribute %s of %s has %d values; it must have one",
                     r->file->path, name, r->var->name, attr.n_numbers);
    } else if (attr.name != NULL && !isfinite(attr.numbers[0])) {
        rc = EK_FAIL(EK_EDATA, "%s: the attribute %s of %s is %g; it must be a finite number",
                     r->file->path, name, r->var->name, attr.numbers[0]);
    } else if (attr.name != NULL) {
        *out = attr.numbers[0];
    }
    ek__nc_attr_free(&attr);
    return rc;
}

static void integer_range(ek_dtype dtype, double *low, double *high)
{
    double span = (double)(UINT64_C(1) << (8 * ek_dtype_size(dtype)));
    bool is_signed = dtype == EK_I8 || dtype == EK_I16 || dtype == EK_I32;
    *low = is_signed ? -span / 2 : 0;
    *high = (is_signed ? span / 2 : span) - 1;
}

/* Converts a missing value to the stored type; false if it cannot occur there. *never is set for a
 * float's NaN and infinity, which count as missing anyhow. */
static bool to_stored(const reading *r, const ek_attr *attr, double *value, bool *never)
{
    ek_dtype dtype = r->out->dtype;
    *never = false;
    if (dtype == EK_F64 || dtype == EK_F32) {
        *never = !isfinite(*value);
        *value = dtype == EK_F32 ? (double)(float)*value : *value;
        return *never || isfinite(*value);
    }
    double low = 0;
    double high = 0;
    integer_range(dtype, &low, &high);
    bool was_signed = attr->dtype == EK_I8 || attr->dtype == EK_I16 || attr->dtype == EK_I32;
    if (low == 0 && *value < 0 && was_signed &&
        ek_dtype_size(attr->dtype) == ek_dtype_size(dtype)) {
        *value += high + 1; /* _Unsigned holds for the attribute too */
    }
    return isfinite(*value) && *value == floor(*value) && *value >= low && *value <= high;
}

static ek_status add_missing(const reading *r, double value)
{
    ek__packing *out = r->out;
    for (int i = 0; i < out->n_missing; i++) {
        if (out->missing[i] == value) {
            return EK_OK;
        }
    }
    if (out->n_missing == EK_MISSING_MAX) {
        return EK_FAIL(EK_ENOTSUP, "%s: %s has more than %d different missing values",
                       r->file->path, r->var->name, EK_MISSING_MAX);
    }
    out->missing[out->n_missing++] = value;
    return EK_OK;
}

static ek_status read_missing(const reading *r, const char *name, bool *present)
{
    ek_attr attr = {0};
    EK_TRY(read_numbers(r, name, &attr));
    *present = attr.name != NULL;
    ek_status rc = EK_OK;
    for (int i = 0; i < attr.n_numbers && rc == EK_OK; i++) {
        double value = attr.numbers[i];
        bool never = false;
        if (!to_stored(r, &attr, &value, &never)) {
            rc = r->notes == NULL
                     ? EK_OK
                     : ek_field_note(r->notes,
                                     "%s of %s is %g, which %s cannot hold; it is ignored", name,
                                     r->var->name, attr.numbers[i], ek_dtype_name(r->out->dtype));
        } else if (!never) {
            rc = add_missing(r, value);
        }
    }
    ek__nc_attr_free(&attr);
    return rc;
}

static ek_status note_ignored(const reading *r)
{
    static const char *const names[] = {"valid_range", "valid_min", "valid_max"};
    for (size_t i = 0; i < EK_COUNT(names) && r->notes != NULL; i++) {
        if (nc_inq_attid(r->file->ncid, r->var->id, names[i], NULL) == NC_NOERR) {
            EK_TRY(ek_field_note(r->notes, "%s of %s is not applied", names[i], r->var->name));
        }
    }
    return EK_OK;
}

static ek_status note_packing(const reading *r)
{
    const ek__packing *p = r->out;
    if (r->notes == NULL) {
        return EK_OK;
    }
    if (p->scale != 1.0 || p->offset != 0.0) {
        EK_TRY(ek_field_note(r->notes, "%s is packed as %s: value = stored * %.15g + %.15g",
                             r->var->name, ek_dtype_name(p->dtype), p->scale, p->offset));
    }
    char list[32 * EK_MISSING_MAX] = "";
    size_t used = 0;
    for (int i = 0; i < p->n_missing && used < sizeof(list); i++) {
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.15g", i > 0 ? ", " : "",
                                 p->missing[i]);
    }
    bool is_float = !ek_dtype_is_integer(p->dtype);
    if (p->n_missing == 0 && !is_float) {
        return ek_field_note(r->notes, "%s has no missing value", r->var->name);
    }
    return ek_field_note(r->notes, "missing in %s: %s%s%s", r->var->name, list,
                         is_float && p->n_missing > 0 ? ", " : "", is_float ? "NaN" : "");
}

ek_status ek__packing_read(const ek__nc_file *file, const ek__nc_var *var, ek_field *notes,
                           ek__packing *out)
{
    *out = (ek__packing){.dtype = var->dtype, .scale = 1.0, .offset = 0.0};
    reading r = {.file = file, .var = var, .notes = notes, .out = out};
    EK_TRY(read_scalar(&r, "scale_factor", &out->scale));
    EK_TRY(read_scalar(&r, "add_offset", &out->offset));
    bool has_fill = false;
    bool has_missing = false;
    EK_TRY(read_missing(&r, "_FillValue", &has_fill));
    EK_TRY(read_missing(&r, "missing_value", &has_missing));
    if (!has_fill && !ek_dtype_is_integer(out->dtype)) {
        double fill = out->dtype == EK_F32 ? (double)NC_FILL_FLOAT : NC_FILL_DOUBLE;
        EK_TRY(add_missing(&r, fill));
    }
    EK_TRY(note_packing(&r));
    return note_ignored(&r);
}

bool ek__packing_equal(const ek__packing *a, const ek__packing *b)
{
    bool equal = a->dtype == b->dtype && a->scale == b->scale && a->offset == b->offset &&
                 a->n_missing == b->n_missing;
    for (int i = 0; equal && i < a->n_missing; i++) {
        equal = a->missing[i] == b->missing[i];
    }
    return equal;
}

void ek__packing_header(const ek__packing *packing, ek_chunk_header *header)
{
    header->dtype = (int32_t)packing->dtype;
    header->scale = packing->scale;
    header->offset = packing->offset;
    header->n_missing = EK_MIN(packing->n_missing, EK_MISSING_MAX);
    memcpy(header->missing, packing->missing, sizeof(header->missing));
}

/* Reads 64-bit integers, which cannot be a field's type but may be a coordinate's. */
static ek_status read_wide(const ek__nc_file *file, const ek__nc_var *var, double *values)
{
    return EK_NC(nc_get_var_double(file->ncid, var->id, values), file->path, var->name);
}

static ek_status read_decoded(const ek__nc_file *file, const ek__nc_var *var, double *values,
                              bool *packed)
{
    ek__packing packing;
    EK_TRY(ek__packing_read(file, var, NULL, &packing));
    int64_t n = ek__nc_cells(var);
    void *raw = ek_alloc((size_t)n, ek_dtype_size(var->dtype));
    if (raw == NULL) {
        return EK_ENOMEM;
    }
    ek_status rc = EK_NC(nc_get_var(file->ncid, var->id, raw), file->path, var->name);
    ek_chunk_header header = {.data = raw};
    ek__packing_header(&packing, &header);
    for (int64_t i = 0; i < n && rc == EK_OK; i++) {
        values[i] = ek_chunk_value(&header, i);
    }
    *packed = packing.scale != 1.0 || packing.offset != 0.0;
    ek_free(raw);
    return rc;
}

ek_status ek__packing_values(const ek__nc_file *file, const ek__nc_var *var, double **out,
                             bool *packed)
{
    *packed = false;
    *out = ek_alloc((size_t)ek__nc_cells(var), sizeof(double));
    if (*out == NULL) {
        return EK_ENOMEM;
    }
    ek_status rc = var->dtype == EK_DTYPE_NONE ? read_wide(file, var, *out)
                                               : read_decoded(file, var, *out, packed);
    if (rc != EK_OK) {
        ek_free(*out);
        *out = NULL;
    }
    return rc;
}
