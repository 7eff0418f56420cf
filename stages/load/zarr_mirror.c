/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of a Zarr store in netCDF. Whole numbers become the smallest of int and int64 that
 * holds them all, other numbers double. */
#include "stages/load/zarr_mirror.h"

#include "core/alloc.h"

#include <limits.h>
#include <netcdf.h>
#include <string.h>

/* The text's value per character of base 64; -1 for others. */
static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

/* Decodes eight bytes: eleven digits and a '='. */
static bool base64_double(const char *text, double *out)
{
    if (text == NULL || strlen(text) != 12 || text[11] != '=') {
        return false;
    }
    uint64_t bits = 0; /* the first eight bytes, first one highest */
    for (int i = 0; i < 11; i++) {
        int digit = base64_digit(text[i]);
        if (digit < 0) {
            return false;
        }
        bits = i < 10 ? bits << 6 | (uint64_t)digit : bits << 4 | (uint64_t)digit >> 2;
    }
    bits = __builtin_bswap64(bits); /* they are stored lowest first */
    memcpy(out, &bits, sizeof(*out));
    return true;
}

bool ek__zarr_attr_fill(const ek__zarr_array *a, const json_t *attr, uint8_t out[8])
{
    double number = 0;
    if (attr == NULL) {
        return false;
    }
    if (a->type == 'f' && base64_double(json_string_value(attr), &number)) {
        float single = (float)number;
        memcpy(out, a->size == 4 ? (const void *)&single : (const void *)&number, (size_t)a->size);
        return true;
    }
    return ek__zarr_number(attr, &number) && ek__zarr_store_fill(a, attr, out);
}

/* The type that holds a number: NC_INT, NC_INT64 or NC_DOUBLE; NC_NAT if it is none. */
static nc_type number_type(const json_t *value)
{
    double number = 0;
    if (json_is_integer(value)) {
        json_int_t whole = json_integer_value(value);
        return whole >= INT_MIN && whole <= INT_MAX ? NC_INT : NC_INT64;
    }
    return ek__zarr_number(value, &number) ? NC_DOUBLE : NC_NAT;
}

static ek_status put_numbers(int ncid, int varid, const char *name, const json_t *list, int *code)
{
    size_t n = json_array_size(list);
    nc_type type = NC_INT;
    for (size_t i = 0; i < n; i++) {
        nc_type one = number_type(json_array_get(list, i));
        bool wider = one == NC_DOUBLE || (one == NC_INT64 && type == NC_INT);
        type = one == NC_NAT || type == NC_NAT ? NC_NAT : (wider ? one : type);
    }
    if (type == NC_NAT) {
        return EK_OK;
    }
    double *reals = ek_alloc(n, sizeof(*reals));
    long long *wholes = ek_alloc(n, sizeof(*wholes));
    for (size_t i = 0; i < n && reals != NULL && wholes != NULL; i++) {
        ek__zarr_number(json_array_get(list, i), &reals[i]);
        wholes[i] = json_integer_value(json_array_get(list, i));
    }
    ek_status rc = reals != NULL && wholes != NULL ? EK_OK : EK_ENOMEM;
    if (rc == EK_OK) {
        *code = type == NC_DOUBLE ? nc_put_att_double(ncid, varid, name, type, n, reals)
                                  : nc_put_att_longlong(ncid, varid, name, type, n, wholes);
    }
    ek_free(reals);
    ek_free(wholes);
    return rc;
}

static ek_status put_strings(int ncid, int varid, const char *name, const json_t *list, int *code)
{
    size_t n = json_array_size(list);
    const char **strings = ek_alloc(n, sizeof(*strings));
    if (strings == NULL) {
        return EK_ENOMEM;
    }
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        strings[i] = json_string_value(json_array_get(list, i));
        all = all && strings[i] != NULL;
    }
    if (all) {
        *code = nc_put_att_string(ncid, varid, name, n, strings);
    }
    ek_free(strings);
    return EK_OK;
}

/* Copies one attribute; *code is netCDF's. */
static ek_status put_attr(int ncid, int varid, const char *name, json_t *value, int *code)
{
    const char *text = json_string_value(value);
    if (number_type(value) != NC_NAT) {
        json_t *list = json_array();
        json_array_append(list, value);
        ek_status rc = put_numbers(ncid, varid, name, list, code);
        json_decref(list);
        return rc;
    }
    if (text != NULL) {
        *code = nc_put_att_text(ncid, varid, name, strlen(text), text);
    } else if (json_is_boolean(value)) {
        int truth = json_is_true(value) ? 1 : 0;
        *code = nc_put_att_int(ncid, varid, name, NC_INT, 1, &truth);
    } else if (json_array_size(value) > 0) {
        bool strings = json_is_string(json_array_get(value, 0)) &&
                       number_type(json_array_get(value, 0)) == NC_NAT;
        return strings ? put_strings(ncid, varid, name, value, code)
                       : put_numbers(ncid, varid, name, value, code);
    }
    return EK_OK;
}

ek_status ek__zarr_put_attrs(int ncid, int varid, const char *path, const json_t *attrs)
{
    static const char *const own[] = {"_ARRAY_DIMENSIONS", "_FillValue", "_nczarr_attrs",
                                      "_NCProperties"};
    for (void *at = json_object_iter((json_t *)attrs); at != NULL;
         at = json_object_iter_next((json_t *)attrs, at)) {
        const char *name = json_object_iter_key(at);
        bool is_own = false;
        for (size_t i = 0; i < EK_COUNT(own); i++) {
            is_own = is_own || strcmp(name, own[i]) == 0;
        }
        int code = NC_NOERR;
        if (!is_own) {
            EK_TRY(put_attr(ncid, varid, name, json_object_iter_value(at), &code));
        }
        if (code == NC_ENOMEM) {
            return EK_FAIL_CODE(EK_ENOMEM, code, "%s: no memory for the attribute %s", path, name);
        }
    }
    return EK_OK;
}
