/* SPDX-License-Identifier: Apache-2.0 */
/* netCDF calls with errors that name the file. */
#include "stages/load/nc.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

ek_status ek__nc_check(int code, const char *path, const char *what, const char *source, int line)
{
    if (code == NC_NOERR) {
        return EK_OK;
    }
    ek_status status = code == NC_ENOMEM ? EK_ENOMEM : EK_ENETCDF;
    return ek_error_record(status, code, source, line, "%s: %s: %s", path, what, nc_strerror(code));
}

static ek_dtype dtype_of(const ek__nc_file *file, int id, nc_type type)
{
    char word[16];
    ek__nc_word(file, id, "_Unsigned", word, sizeof(word));
    bool is_unsigned = strcasecmp(word, "true") == 0;
    switch (type) {
    case NC_BYTE:
        return is_unsigned ? EK_U8 : EK_I8;
    case NC_SHORT:
        return is_unsigned ? EK_U16 : EK_I16;
    case NC_INT:
        return is_unsigned ? EK_U32 : EK_I32;
    case NC_UBYTE:
        return EK_U8;
    case NC_USHORT:
        return EK_U16;
    case NC_UINT:
        return EK_U32;
    case NC_FLOAT:
        return EK_F32;
    case NC_DOUBLE:
        return EK_F64;
    default:
        return EK_DTYPE_NONE;
    }
}

/* A group lists its own unlimited dimensions only; those of the groups around it count too. */
static bool is_unlimited(const ek__nc_file *file, int dimid)
{
    bool found = false;
    int ncid = file->ncid;
    for (int code = NC_NOERR; code == NC_NOERR; code = nc_inq_grp_parent(ncid, &ncid)) {
        int ids[16];
        int n = 0;
        if (nc_inq_unlimdims(ncid, &n, NULL) != NC_NOERR || n > (int)EK_COUNT(ids) ||
            nc_inq_unlimdims(ncid, &n, ids) != NC_NOERR) {
            return false;
        }
        for (int i = 0; i < n; i++) {
            found = found || ids[i] == dimid;
        }
    }
    return found;
}

ek_status ek__nc_var_get(const ek__nc_file *file, int id, ek__nc_var *out)
{
    *out = (ek__nc_var){.ncid = file->ncid, .id = id};
    EK_TRY(EK_NC(nc_inq_var(file->ncid, id, out->name, &out->type, &out->n_dims, NULL, NULL),
                 file->path, "a variable's header cannot be read"));
    out->dtype = dtype_of(file, id, out->type);
    if (out->n_dims > EK_NC_DIMS) {
        return EK_OK;
    }
    int dimids[EK_NC_DIMS] = {0};
    EK_TRY(EK_NC(nc_inq_vardimid(file->ncid, id, dimids), file->path, out->name));
    for (int i = 0; i < out->n_dims; i++) {
        size_t size = 0;
        EK_TRY(EK_NC(nc_inq_dim(file->ncid, dimids[i], out->dims[i].name, &size), file->path,
                     out->name));
        out->dims[i].size = (int64_t)size;
        out->dims[i].unlimited = is_unlimited(file, dimids[i]);
    }
    return EK_OK;
}

/* Enters the group of "/GROUP/NAME" or "GROUP/NAME" and returns "NAME"; NULL if there is none. */
static const char *enter_group(ek__nc_file *file, const char *name)
{
    const char *slash = strrchr(name, '/');
    if (slash == NULL) {
        return name;
    }
    char group[sizeof(file->group)];
    bool absolute = name[0] == '/';
    int n = snprintf(group, sizeof(group), "%s%s%.*s", absolute ? "" : file->group,
                     absolute ? "" : "/", (int)(slash - name), name);
    if (n >= (int)sizeof(group)) {
        return NULL;
    }
    file->ncid = file->root;
    bool found = n == 0 || nc_inq_grp_full_ncid(file->root, group, &file->ncid) == NC_NOERR;
    return found ? slash + 1 : NULL;
}

ek_status ek__nc_var_find(const ek__nc_file *file, const char *name, ek__nc_var *out, bool *found)
{
    ek__nc_file at = *file;
    const char *plain = enter_group(&at, name);
    int code = plain != NULL ? NC_NOERR : NC_ENOTVAR;
    *found = false;
    while (code == NC_NOERR && !*found) {
        int id = -1;
        if (nc_inq_varid(at.ncid, plain, &id) == NC_NOERR) {
            EK_TRY(ek__nc_var_get(&at, id, out));
            *found = true;
        } else {
            code = plain == name ? nc_inq_grp_parent(at.ncid, &at.ncid) : NC_ENOTVAR;
        }
    }
    return EK_OK;
}

ek__nc_file ek__nc_home(const ek__nc_file *file, const ek__nc_var *var)
{
    ek__nc_file home = *file;
    size_t length = 0;
    home.ncid = var->ncid;
    home.group[0] = '\0';
    if (var->ncid != file->root && nc_inq_grpname_len(var->ncid, &length) == NC_NOERR &&
        nc_inq_grpname_full(var->ncid, &length, NULL) == NC_NOERR && length < sizeof(home.group)) {
        nc_inq_grpname_full(var->ncid, &length, home.group);
        home.group[length] = '\0';
    }
    return home;
}

ek_status ek__nc_coordinate(const ek__nc_file *file, const ek__nc_dim *dim, ek__nc_var *out,
                            bool *found)
{
    EK_TRY(ek__nc_var_find(file, dim->name, out, found));
    *found = *found && out->n_dims == 1 && strcmp(out->dims[0].name, dim->name) == 0 &&
             (out->dtype != EK_DTYPE_NONE || out->type == NC_INT64 || out->type == NC_UINT64);
    return EK_OK;
}

void ek__nc_var_text(const ek__nc_var *var, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "%s(", var->name);
    for (int i = 0; i < var->n_dims && i < EK_NC_DIMS && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s%s %lld", i > 0 ? ", " : "",
                                 var->dims[i].name, (long long)var->dims[i].size);
    }
    if (used < size) {
        snprintf(out + used, size - used, ")");
    }
}

int64_t ek__nc_cells(const ek__nc_var *var)
{
    int64_t cells = 1;
    for (int i = 0; i < var->n_dims && i < EK_NC_DIMS; i++) {
        cells *= var->dims[i].size;
    }
    return cells;
}

/* Joins the strings of an NC_STRING attribute with blanks. */
static ek_status strings_text(const ek__nc_file *file, int varid, const char *name, size_t n,
                              char **out)
{
    char **strings = ek_alloc(n + 1, sizeof(*strings));
    if (strings == NULL) {
        return EK_ENOMEM;
    }
    ek_status rc = EK_NC(nc_get_att_string(file->ncid, varid, name, strings), file->path, name);
    if (rc == EK_OK) {
        size_t bytes = 1;
        for (size_t i = 0; i < n; i++) {
            bytes += (strings[i] != NULL ? strlen(strings[i]) : 0) + 1;
        }
        *out = ek_alloc(bytes, 1);
        for (size_t i = 0, used = 0; *out != NULL && i < n; i++) {
            used += (size_t)snprintf(*out + used, bytes - used, "%s%s", i > 0 ? " " : "",
                                     strings[i] != NULL ? strings[i] : "");
        }
        nc_free_string(n, strings);
        rc = *out != NULL ? EK_OK : EK_ENOMEM;
    }
    ek_free(strings);
    return rc;
}

ek_status ek__nc_text(const ek__nc_file *file, int varid, const char *name, char **out)
{
    *out = NULL;
    nc_type type = NC_NAT;
    size_t n = 0;
    if (nc_inq_att(file->ncid, varid, name, &type, &n) != NC_NOERR) {
        return EK_OK;
    }
    if (type == NC_STRING) {
        return strings_text(file, varid, name, n, out);
    }
    if (type != NC_CHAR) {
        return EK_OK;
    }
    char *text = ek_alloc(n + 1, 1);
    if (text == NULL) {
        return EK_ENOMEM;
    }
    ek_status rc = EK_NC(nc_get_att_text(file->ncid, varid, name, text), file->path, name);
    if (rc != EK_OK) {
        ek_free(text);
        return rc;
    }
    *out = text;
    return EK_OK;
}

void ek__nc_word(const ek__nc_file *file, int varid, const char *name, char *out, size_t size)
{
    out[0] = '\0';
    nc_type type = NC_NAT;
    size_t n = 0;
    char text[1024];
    if (nc_inq_att(file->ncid, varid, name, &type, &n) != NC_NOERR) {
        return;
    }
    if (type == NC_CHAR && n < sizeof(text)) {
        text[n] = '\0';
        if (nc_get_att_text(file->ncid, varid, name, text) != NC_NOERR) {
            return;
        }
    } else if (type == NC_STRING && n == 1) {
        char *string = NULL;
        if (nc_get_att_string(file->ncid, varid, name, &string) != NC_NOERR) {
            return;
        }
        snprintf(text, sizeof(text), "%s", string != NULL ? string : "");
        nc_free_string(1, &string);
    } else {
        return;
    }
    const char *start = text;
    while (isspace((unsigned char)*start)) {
        start++;
    }
    size_t length = strlen(start);
    while (length > 0 && isspace((unsigned char)start[length - 1])) {
        length--;
    }
    snprintf(out, size, "%.*s", (int)length, start);
}

static ek_dtype attr_dtype(nc_type type)
{
    static const ek_dtype dtypes[] = {
        [NC_BYTE] = EK_I8,   [NC_UBYTE] = EK_U8,  [NC_SHORT] = EK_I16, [NC_USHORT] = EK_U16,
        [NC_INT] = EK_I32,   [NC_UINT] = EK_U32,  [NC_FLOAT] = EK_F32, [NC_DOUBLE] = EK_F64,
        [NC_INT64] = EK_F64, [NC_UINT64] = EK_F64};
    return type > 0 && type < (int)EK_COUNT(dtypes) ? dtypes[type] : EK_DTYPE_NONE;
}

ek_status ek__nc_attr(const ek__nc_file *file, int varid, const char *name, ek_attr *out)
{
    *out = (ek_attr){0};
    nc_type type = NC_NAT;
    size_t n = 0;
    if (nc_inq_att(file->ncid, varid, name, &type, &n) != NC_NOERR) {
        return EK_OK;
    }
    ek_status rc = EK_OK;
    if (type == NC_CHAR || type == NC_STRING) {
        EK_GOTO(ek__nc_text(file, varid, name, &out->text), done);
    } else if (attr_dtype(type) != EK_DTYPE_NONE) {
        out->numbers = ek_alloc(n, sizeof(double));
        EK_GOTO(out->numbers != NULL ? EK_OK : EK_ENOMEM, done);
        EK_GOTO(EK_NC(nc_get_att_double(file->ncid, varid, name, out->numbers), file->path, name),
                done);
        out->n_numbers = (int)n;
        out->dtype = attr_dtype(type);
    } else {
        return EK_OK;
    }
    out->name = ek_strdup(name);
    rc = out->name != NULL ? EK_OK : EK_ENOMEM;
done:
    if (rc != EK_OK) {
        ek__nc_attr_free(out);
    }
    return rc;
}

void ek__nc_attr_free(ek_attr *attr)
{
    ek_free(attr->name);
    ek_free(attr->text);
    ek_free(attr->numbers);
    *attr = (ek_attr){0};
}

ek_status ek__nc_attrs(const ek__nc_file *file, int varid, ek_attr **out, int *n_out)
{
    *out = NULL;
    *n_out = 0;
    int n = 0;
    EK_TRY(EK_NC(nc_inq_varnatts(file->ncid, varid, &n), file->path, "attributes"));
    *out = ek_alloc((size_t)n, sizeof(**out));
    if (*out == NULL) {
        return EK_ENOMEM;
    }
    for (int i = 0; i < n; i++) {
        char name[NC_MAX_NAME + 1];
        EK_TRY(EK_NC(nc_inq_attname(file->ncid, varid, i, name), file->path, "attributes"));
        EK_TRY(ek__nc_attr(file, varid, name, &(*out)[*n_out]));
        *n_out += (*out)[*n_out].name != NULL ? 1 : 0;
    }
    return EK_OK;
}
