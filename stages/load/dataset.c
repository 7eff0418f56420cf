/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the headers of all files, and the field they make together. */
#include "stages/load/dataset.h"

#include "stages/load/grid.h"
#include "stages/load/zarr.h"

#include <stdio.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static ek_status read_words(const ek__nc_file *file, const ek__variable *v, ek_field *field)
{
    int id = v->var.id;
    field->name = ek_strdup(v->var.name);
    field->time.name = ek_strdup(v->var.dims[v->time_dim].name);
    if (field->name == NULL || field->time.name == NULL) {
        return EK_ENOMEM;
    }
    field->dtype = v->var.dtype;
    EK_TRY(ek__nc_text(file, id, "units", &field->units));
    EK_TRY(ek__nc_text(file, id, "long_name", &field->long_name));
    EK_TRY(ek__nc_text(file, id, "standard_name", &field->standard_name));
    EK_TRY(ek__nc_text(file, id, "cell_methods", &field->cell_methods));
    EK_TRY(ek__nc_text(file, id, "coordinates", &field->coordinates));
    EK_TRY(ek__nc_text(file, id, "grid_mapping", &field->grid_mapping));
    ek__nc_file root = *file;
    root.ncid = file->root;
    return ek__nc_text(&root, NC_GLOBAL, "history", &field->history);
}

/* Reads what one file says about the variable and its grid. */
static ek_status read_field(const ek__nc_file *file, const ek__variable *v, ek_field **out)
{
    ek_field *field = ek_alloc(1, sizeof(*field));
    if (field == NULL) {
        return EK_ENOMEM;
    }
    ek_status rc = EK_OK;
    EK_GOTO(read_words(file, v, field), done);
    EK_GOTO(ek__grid_read(file, v, field), done);
    *out = field;
    field = NULL;
done:
    ek_field_destroy(field);
    return rc;
}

static int64_t storage_steps(const ek__nc_file *file, const ek__variable *v)
{
    int storage = NC_CONTIGUOUS;
    size_t steps[EK_NC_DIMS] = {0};
    if (nc_inq_var_chunking(file->ncid, v->var.id, &storage, steps) != NC_NOERR ||
        storage != NC_CHUNKED) {
        return 1;
    }
    return (int64_t)steps[v->time_dim];
}

static ek_status read_member(const ek__nc_file *file, const ek__variable *v, ek__member *m)
{
    m->n_rows = v->var.dims[v->time_dim].size;
    m->time_chunk = storage_steps(file, v);
    if (m->n_rows == 0) {
        return EK_FAIL(EK_EDATA, "%s: %s has no time steps", file->path, v->var.name);
    }
    if (ek__nc_cells(&v->var) == 0) {
        return EK_FAIL(EK_EDATA, "%s: %s has a dimension of size 0", file->path, v->var.name);
    }
    EK_TRY(ek__packing_read(file, &v->var, m->notes, &m->packing));
    EK_TRY(ek__nc_text(file, v->var.id, "units", &m->units));
    return ek__times_read(file, v, m->notes, &m->times);
}

/* Finds who will read the file's values. */
static ek_status choose_decoder(const ek__dataset *d, const ek__nc_file *file,
                                const ek__variable *v, ek__member *m)
{
    char reason[96] = "as asked for";
    if (d->options->decoder == EK_DECODER_LIBRARY && ek__zarr_is_store(m->path)) {
        return EK_FAIL(EK_ENOTSUP,
                       "%s is a Zarr store, which the netCDF library does not read; leave the "
                       "option decoder at auto",
                       m->path);
    }
    if (ek__nc_is_remote(m->path)) {
        snprintf(reason, sizeof(reason), "remote");
    } else if (d->options->decoder != EK_DECODER_LIBRARY) {
        const ek__member *before = m > d->members ? m - 1 : NULL;
        bool alike = before != NULL && before->packing.dtype == m->packing.dtype;
        ek__decode_request request = {
            .file = file,
            .variable = v,
            .dtype = m->packing.dtype,
            .n_rows = m->n_rows,
            .cells = ek__nc_cells(&v->var) / m->n_rows,
            .like = alike ? before->decoder : NULL,
        };
        EK_TRY(ek__decoder_create(&request, &m->decoder, reason, sizeof(reason)));
    }
    if (m->decoder != NULL) {
        m->reader = ek_strdup(m->decoder->text);
        return m->reader != NULL ? ek_field_note(m->notes, "decoder: %s", m->reader) : EK_ENOMEM;
    }
    if (d->options->decoder == EK_DECODER_CHUNK) {
        return EK_FAIL(EK_ENOTSUP,
                       "%s: %s cannot be read without the netCDF library (%s); leave the option "
                       "decoder at auto",
                       m->path, v->var.name, reason);
    }
    m->reader = ek_strprintf("library (%s)", reason);
    return m->reader != NULL ? ek_field_note(m->notes, "decoder: %s", m->reader) : EK_ENOMEM;
}

/* Refuses a file that does not continue the first one named. */
static ek_status check_member(const ek__dataset *d, const ek__member *m, const ek_field *field)
{
    const char *first = d->members[0].path;
    if (strcmp(field->time.name, d->field->time.name) != 0) {
        return EK_FAIL(EK_ESHAPE, "the time axis of %s is %s in %s and %s in %s", field->name,
                       d->field->time.name, first, field->time.name, m->path);
    }
    const char *a = d->field->units != NULL ? d->field->units : "(none)";
    const char *b = field->units != NULL ? field->units : "(none)";
    if (strcmp(a, b) != 0) {
        return EK_FAIL(EK_EDATA, "the units of %s are \"%s\" in %s and \"%s\" in %s; convert them",
                       field->name, a, first, b, m->path);
    }
    return ek__grid_compare(d->field, first, field, m->path);
}

/* Opens file i and reads its header. The first file's field becomes the dataset's. */
static ek_status open_member(ek__dataset *d, int i)
{
    ek__member *m = &d->members[i];
    const char *name = ek__dataset_variable(d);
    ek_field *field = NULL;
    ek__nc_file file = {.ncid = -1};
    ek__variable v;
    ek_status rc = EK_OK;
    EK_GOTO(ek__nc_open(&file, m->path), done);
    EK_GOTO(ek__variable_find(&file, name, d->options->time, m->notes, &v), done);
    EK_GOTO(read_member(&file, &v, m), done);
    EK_GOTO(choose_decoder(d, &file, &v, m), done);
    EK_GOTO(read_field(&file, &v, &field), done);
    if (d->field != NULL) {
        EK_GOTO(check_member(d, m, field), done);
    } else {
        d->field = field;
        field = NULL;
    }
done:
    ek_field_destroy(field);
    ek__nc_close(&file);
    return rc;
}

/* Reads the field again, of the file that turned out to be the first in time. */
static ek_status reread_field(ek__dataset *d)
{
    ek_field *field = NULL;
    ek_field *notes = ek_alloc(1, sizeof(*notes));
    ek__nc_file file = {.ncid = -1};
    ek__variable v;
    ek_status rc = notes != NULL ? EK_OK : EK_ENOMEM;
    EK_GOTO(rc, done);
    EK_GOTO(ek__nc_open(&file, d->members[0].path), done);
    EK_GOTO(ek__variable_find(&file, ek__dataset_variable(d), d->field->time.name, notes, &v),
            done);
    EK_GOTO(read_field(&file, &v, &field), done);
    ek_field_destroy(d->field);
    d->field = field;
done:
    ek_field_destroy(notes);
    ek__nc_close(&file);
    return rc;
}

static ek_status add_note(ek__dataset *d, const ek__member *m, const char *text)
{
    const ek_field *field = d->field;
    for (size_t i = 0; i < field->n_notes; i++) {
        if (strcmp(field->notes[i], text) == 0) {
            return EK_OK;
        }
    }
    if (m == d->members) {
        return ek_field_note(d->field, "%s", text);
    }
    return ek_field_note(d->field, "%s: %s", base_name(m->path), text);
}

/* Collects the notes of all files; what several say stands there once. */
static ek_status collect_notes(ek__dataset *d)
{
    for (int i = 0; i < d->n_members; i++) {
        const ek_field *notes = d->members[i].notes;
        for (size_t k = 0; k < notes->n_notes; k++) {
            EK_TRY(add_note(d, &d->members[i], notes->notes[k]));
        }
    }
    return EK_OK;
}

static ek_status list_files(ek__dataset *d)
{
    ek_field *field = d->field;
    field->files = ek_alloc((size_t)d->n_members, sizeof(*field->files));
    if (field->files == NULL) {
        return EK_ENOMEM;
    }
    field->n_files = d->n_members;
    for (int i = 0; i < d->n_members; i++) {
        ek_file *file = &field->files[i];
        file->path = ek_strdup(d->members[i].path);
        file->decoder = ek_strdup(d->members[i].reader);
        if (file->path == NULL || file->decoder == NULL) {
            return EK_ENOMEM;
        }
    }
    return EK_OK;
}

static ek_status finish_field(ek__dataset *d)
{
    ek_field *field = d->field;
    const char *first = base_name(d->members[0].path);
    const char *last = base_name(d->members[d->n_members - 1].path);
    field->source = d->n_members == 1
                        ? ek_strdup(first)
                        : ek_strprintf("%s .. %s (%d files)", first, last, d->n_members);
    field->paths = d->options->paths;
    field->n_paths = d->options->n_paths;
    field->dtype = d->members[0].packing.dtype;
    for (int i = 0; i < d->n_members; i++) {
        size_t bytes = ek_dtype_size(d->members[i].packing.dtype);
        field->value_bytes = EK_MAX(field->value_bytes, bytes);
    }
    return field->source != NULL ? list_files(d) : EK_ENOMEM;
}

static ek_status create_members(ek__dataset *d)
{
    d->members = ek_alloc((size_t)d->options->n_paths, sizeof(*d->members));
    if (d->members == NULL) {
        return EK_ENOMEM;
    }
    for (int i = 0; i < d->options->n_paths; i++) {
        ek__member *m = &d->members[d->n_members++];
        m->path = d->options->paths[i];
        m->notes = ek_alloc(1, sizeof(*m->notes));
        if (m->notes == NULL) {
            return EK_ENOMEM;
        }
    }
    return EK_OK;
}

ek_status ek__dataset_create(ek__dataset **out, const ek_load_options *options)
{
    *out = NULL;
    if (options->n_paths < 1) {
        return EK_FAIL(EK_EINVAL, "the option paths names no files");
    }
    ek__dataset *d = ek_alloc(1, sizeof(*d));
    if (d == NULL) {
        return EK_ENOMEM;
    }
    d->options = options;
    d->open.ncid = -1;
    d->open_member = -1;
    ek_status rc = EK_OK;
    EK_GOTO(create_members(d), done);
    for (int i = 0; i < d->n_members; i++) {
        EK_GOTO(open_member(d, i), done);
    }
    EK_GOTO(ek__series_order(d), done);
    if (d->members[0].path != options->paths[0]) {
        EK_GOTO(reread_field(d), done);
    }
    EK_GOTO(collect_notes(d), done);
    EK_GOTO(finish_field(d), done);
    EK_GOTO(ek__series_join(d), done);
    EK_GOTO(ek__dataset_plan(d), done);
    *out = d;
    d = NULL;
done:
    ek__dataset_destroy(d);
    return rc;
}

void ek__dataset_destroy(ek__dataset *dataset)
{
    if (dataset == NULL) {
        return;
    }
    ek__dataset_close(dataset);
    for (int i = 0; i < dataset->n_members; i++) {
        ek__decoder_destroy(dataset->members[i].decoder);
        ek__times_free(&dataset->members[i].times);
        ek_free(dataset->members[i].units);
        ek_free(dataset->members[i].reader);
        ek_field_destroy(dataset->members[i].notes);
    }
    ek_free(dataset->members);
    ek_free(dataset->chunks);
    ek_field_destroy(dataset->field);
    ek_free(dataset);
}
