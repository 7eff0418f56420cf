/* SPDX-License-Identifier: Apache-2.0 */
/* The write stage: a CF netCDF-4 file (classic model) of a result's arrays, or of a stream as float
 * values [time, grid], chunk by chunk.
 *
 * The file is written under a temporary name beside its final place and renamed once it is complete
 * and on disk, so that the name never shows half a file. Cells without a value (NaN) become
 * _FillValue. All netCDF calls are made on the io thread. */
#include "stages/write.h"

#include "core/loop.h"
#include "core/version.h"
#include "stages/load/nc.h"
#include "stages/write_cf.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct write_state {
    bool acquired; /* the io thread */
    char *directory;
    char *temporary; /* the file being written; NULL: none */
    ek__cf cf;
    double *values; /* what is written with one call */
    float *floats;  /* the same as float32; NULL if float64 is written */
    int64_t n_values;
} write_state;

static const ek_choice types[] = {
    {"float64", EK_WRITE_FLOAT64, "double precision"},
    {"float32", EK_WRITE_FLOAT32, "single precision; half the size"},
    {NULL, 0, NULL},
};

static const ek_option options[] = {
    {.name = "path",
     .type = EK_OPTION_STRING,
     .offset = offsetof(ek_write_options, path),
     .required = true,
     .text = EK_TEXT_WORD,
     .help = "file to write; replaced if it exists, only once complete"},
    {.name = "type",
     .type = EK_OPTION_ENUM,
     .offset = offsetof(ek_write_options, type),
     .fallback = "float64",
     .choices = types,
     .help = "type of floating-point arrays"},
    {.name = "deflate",
     .type = EK_OPTION_INT,
     .offset = offsetof(ek_write_options, deflate),
     .min = 0,
     .max = 9,
     .help = "compression level, 0 (none) to 9"},
    {.name = "command",
     .type = EK_OPTION_STRING,
     .offset = offsetof(ek_write_options, command),
     .fallback = "ekman " EK_VERSION_STRING,
     .text = EK_TEXT_COMMAND,
     .help = "put into the history attribute"},
    {.name = NULL},
};

static const ek_port inputs[] = {
    {"in", EK_STREAM | EK_RESULT, false, "stream or result to write, in host memory"},
    {NULL, 0, false, NULL},
};

static ek_status find_directory(write_state *state, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        state->directory = ek_strdup(".");
    } else if (slash == path) {
        state->directory = ek_strdup("/");
    } else {
        state->directory = ek_strprintf("%.*s", (int)(slash - path), path);
    }
    return state->directory != NULL ? EK_OK : EK_ENOMEM;
}

static ek_status check_directory(const write_state *state, const char *path)
{
    struct stat info;
    if (stat(state->directory, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return EK_FAIL(EK_ENOENT, "%s cannot be written: there is no directory %s", path,
                       state->directory);
    }
    if (access(state->directory, W_OK | X_OK) != 0) {
        return EK_FAIL_CODE(EK_EIO, errno, "%s cannot be written: the directory %s: %s", path,
                            state->directory, strerror(errno));
    }
    return EK_OK;
}

/* Refuses to replace what is no plain file, or is an input of the same run. */
static ek_status check_target(const ek_field *field, const char *path)
{
    struct stat target;
    if (stat(path, &target) != 0) {
        return EK_OK;
    }
    if (!S_ISREG(target.st_mode)) {
        return EK_FAIL(EK_EINVAL, "%s cannot be written: it exists and is not a regular file",
                       path);
    }
    for (int i = 0; i < field->n_paths; i++) {
        struct stat input;
        if (stat(field->paths[i], &input) == 0 && input.st_dev == target.st_dev &&
            input.st_ino == target.st_ino) {
            return EK_FAIL(EK_EINVAL,
                           "%s is an input of this pipeline and would be replaced; choose another "
                           "path",
                           path);
        }
    }
    return EK_OK;
}

static ek_status write_negotiate(ek_instance *self)
{
    write_state *state = self->priv;
    const ek_write_options *o = self->options;
    state->cf.ncid = -1;
    if (o->path == NULL || o->path[0] == '\0') {
        return EK_FAIL(EK_EINVAL, "the option path is required");
    }
    if (o->path[strlen(o->path) - 1] == '/') {
        return EK_FAIL(EK_EINVAL, "the option path, %s, names a directory; add a file name",
                       o->path);
    }
    EK_TRY(find_directory(state, o->path));
    EK_TRY(check_directory(state, o->path));
    EK_TRY(check_target(self->in[0]->field, o->path));
    EK_TRY(ek_io_acquire());
    state->acquired = true;
    return EK_OK;
}

/* Makes an empty file of a name not used yet, with the usual permissions. */
static ek_status create_temporary(write_state *state, const char *path)
{
    for (int i = 0; i < 1000; i++) {
        char *name = ek_strprintf("%s.part-%ld-%d", path, (long)getpid(), i);
        if (name == NULL) {
            return EK_ENOMEM;
        }
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            close(fd);
            state->temporary = name;
            return EK_OK;
        }
        int code = errno;
        ek_free(name);
        if (code != EEXIST) {
            return EK_FAIL_CODE(EK_EIO, code, "%s cannot be written: %s", path, strerror(code));
        }
    }
    return EK_FAIL(EK_EIO,
                   "%s cannot be written: too many unfinished files %s.part-* are beside it", path,
                   path);
}

/* Takes memory for what one nc_put call writes: the values of the last axis. */
static ek_status make_buffers(ek_instance *self)
{
    write_state *state = self->priv;
    const ek_write_options *o = self->options;
    const ek_spec *spec = self->in[0];
    int64_t most = 1;
    for (int i = 0; i < spec->n_arrays; i++) {
        const ek_array_spec *array = &spec->arrays[i];
        int64_t n = array->n_axes > 0 ? state->cf.extent[array->axes[array->n_axes - 1]] : 1;
        most = EK_MAX(most, n);
    }
    state->n_values = most;
    state->values = ek_alloc((size_t)most, sizeof(double));
    if (o->type == EK_WRITE_FLOAT32) {
        state->floats = ek_alloc((size_t)most, sizeof(float));
    }
    return state->values != NULL && (o->type != EK_WRITE_FLOAT32 || state->floats != NULL)
               ? EK_OK
               : EK_ENOMEM;
}

static ek_status write_open(ek_instance *self)
{
    write_state *state = self->priv;
    const ek_write_options *o = self->options;
    const ek_spec *spec = self->in[0];
    state->cf = (ek__cf){.path = o->path, .ncid = -1, .spec = spec, .options = o};
    memcpy(state->cf.extent, spec->extent, sizeof(state->cf.extent));
    EK_TRY(create_temporary(state, o->path));
    ek__nc_quiet();
    EK_TRY(EK_NC(
        nc_create(state->temporary, NC_CLOBBER | NC_NETCDF4 | NC_CLASSIC_MODEL, &state->cf.ncid),
        o->path, "cannot be created"));
    EK_TRY(make_buffers(self));
    return spec->kind == EK_STREAM ? ek__cf_define(&state->cf) : EK_OK;
}

/* Writes state->values (NaN: no value) to the row `row` of array i: n values of its last axis. */
static ek_status put_row(write_state *state, int i, int64_t row, int64_t n)
{
    const ek__cf *cf = &state->cf;
    const ek_array_spec *array = &cf->spec->arrays[i];
    const char *name = ek__cf_array_name(cf, i);
    size_t start[2 + EK_FIELD_DIMS_MAX] = {0};
    size_t count[2 + EK_FIELD_DIMS_MAX] = {0};
    int k = 0;
    if (array->n_axes == 2) {
        start[k] = (size_t)row;
        count[k++] = 1;
    }
    if (array->n_axes > 0 && array->axes[array->n_axes - 1] != EK_AXIS_CELL) {
        count[k++] = (size_t)n;
    } else if (array->n_axes > 0) {
        for (int d = 0; d < cf->spec->field->n_dims; d++) {
            count[k++] = (size_t)cf->spec->field->dims[d].size;
        }
    }
    for (int64_t v = 0; v < n; v++) {
        state->values[v] = isnan(state->values[v]) ? EK_CF_FILL : state->values[v];
    }
    if (array->dtype == EK_I32 || state->floats == NULL) {
        return EK_NC(nc_put_vara_double(cf->ncid, cf->array_ids[i], start, count, state->values),
                     cf->path, name);
    }
    for (int64_t v = 0; v < n; v++) {
        if (isfinite(state->values[v]) && fabs(state->values[v]) > (double)FLT_MAX) {
            return EK_FAIL(EK_EDATA,
                           "%s: a value of %s, %g, does not fit float32; use the option "
                           "type=float64",
                           cf->path, name, state->values[v]);
        }
        state->floats[v] = (float)state->values[v];
    }
    return EK_NC(nc_put_vara_float(cf->ncid, cf->array_ids[i], start, count, state->floats),
                 cf->path, name);
}

static ek_status put_array(write_state *state, int i, const void *data)
{
    const ek_array_spec *array = &state->cf.spec->arrays[i];
    const int64_t *extent = state->cf.extent;
    int64_t n = array->n_axes > 0 ? extent[array->axes[array->n_axes - 1]] : 1;
    int64_t rows = array->n_axes == 2 ? extent[array->axes[0]] : 1;
    for (int64_t row = 0; row < rows; row++) {
        if (array->dtype == EK_I32) {
            const int32_t *from = (const int32_t *)data + row * n;
            for (int64_t v = 0; v < n; v++) {
                state->values[v] = (double)from[v];
            }
        } else {
            memcpy(state->values, (const double *)data + row * n, (size_t)n * sizeof(double));
        }
        EK_TRY(put_row(state, i, row, n));
    }
    return EK_OK;
}

static ek_status put_result(write_state *state, const ek_data *data)
{
    state->cf.extent[EK_AXIS_MODE] = data->extent[EK_AXIS_MODE];
    EK_TRY(ek__cf_define(&state->cf));
    for (int i = 0; i < state->cf.spec->n_arrays; i++) {
        EK_TRY(put_array(state, i, data->array[i]));
    }
    return EK_OK;
}

static ek_status put_chunk(write_state *state, const ek_data *data)
{
    ek_chunk_header header = *data->host;
    header.data = data->array[0];
    bool packed = state->cf.spec->packed;
    ek_stream_view view = {.header = &header, .values = packed ? NULL : data->array[0]};
    int64_t cells = state->cf.extent[EK_AXIS_CELL];
    for (int64_t row = 0; row < header.rows; row++) {
        for (int64_t c = 0; c < cells; c++) {
            state->values[c] = ek_stream_value(view, row * cells + c);
        }
        EK_TRY(put_row(state, 0, header.row0 + row, cells));
    }
    return EK_OK;
}

static ek_status write_put(ek_instance *self, const ek_data *data)
{
    write_state *state = self->priv;
    return state->cf.spec->kind == EK_STREAM ? put_chunk(state, data) : put_result(state, data);
}

/* Makes what was written to a file or directory last. */
static ek_status sync_path(const char *path, const char *shown)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int code = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0) {
        close(fd);
    }
    if (code != 0 && code != EINVAL) { /* EINVAL: this file system has nothing to wait for */
        return EK_FAIL_CODE(EK_EIO, code, "%s could not be brought to disk: %s", shown,
                            strerror(code));
    }
    return EK_OK;
}

static ek_status publish(const write_state *state, const char *path)
{
    EK_TRY(sync_path(state->temporary, path));
    if (rename(state->temporary, path) != 0) {
        return EK_FAIL_CODE(EK_EIO, errno, "%s could not take its place: %s", path,
                            strerror(errno));
    }
    return sync_path(state->directory, path);
}

static ek_status write_close(ek_instance *self, bool commit)
{
    write_state *state = self->priv;
    const ek_write_options *o = self->options;
    ek_status rc = EK_OK;
    if (state->cf.ncid >= 0) {
        rc = EK_NC(nc_close(state->cf.ncid), o->path, "could not be completed");
        state->cf.ncid = -1;
        rc = commit ? rc : EK_OK;
    }
    if (state->temporary != NULL && commit && rc == EK_OK) {
        rc = publish(state, o->path);
    }
    if (state->temporary != NULL && (!commit || rc != EK_OK)) {
        unlink(state->temporary);
    }
    ek_free(state->temporary);
    ek_free(state->values);
    ek_free(state->floats);
    state->temporary = NULL;
    state->values = NULL;
    state->floats = NULL;
    ek__cf_fini(&state->cf);
    return rc;
}

static ek_status abandon(void *user)
{
    return write_close(user, false);
}

static void write_fini(ek_instance *self)
{
    write_state *state = self->priv;
    if (state->acquired) {
        ek_io_call(abandon, self);
        ek_io_release();
        state->acquired = false;
    }
    ek_free(state->directory);
    state->directory = NULL;
}

static const ek_sink_ops sink = {
    .open = write_open,
    .put = write_put,
    .close = write_close,
};

const ek_stage ek_stage_write = {
    .api = EK_STAGE_API,
    .name = "write",
    .summary = "Writes a stream or a result to a CF netCDF file.",
    .flags = EK_STAGE_SINK,
    .options = options,
    .options_size = sizeof(ek_write_options),
    .priv_size = sizeof(write_state),
    .inputs = inputs,
    .negotiate = write_negotiate,
    .fini = write_fini,
    .sink = &sink,
};
