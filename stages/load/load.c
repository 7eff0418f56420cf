/* SPDX-License-Identifier: Apache-2.0 */
/* The load stage: a stream of chunks [time, cells] of one variable, as the files store it.
 *
 * Values stay packed; a chunk's header says how they decode and which are missing (core/chunk.h).
 * Files are put in time order by their time axes. All netCDF calls are made on the io thread; where
 * a decoder (decoder.h) can read a file without the library, pool threads share the work. */
#include "stages/load.h"

#include "core/loop.h"
#include "stages/load/dataset.h"

#include <stdio.h>
#include <string.h>

typedef struct load_state {
    bool acquired; /* the io thread */
    ek__dataset *dataset;
} load_state;

static const ek_choice decoders[] = {
    {"auto", EK_DECODER_AUTO, "own decoders on all cores where they can, else the library"},
    {"chunk", EK_DECODER_CHUNK, "own decoders, or an error that says why not"},
    {"library", EK_DECODER_LIBRARY, "the netCDF library, on one thread"},
    {NULL, 0, NULL},
};

static const ek_option options[] = {
    {.name = "paths",
     .type = EK_OPTION_STRINGS,
     .offset = offsetof(ek_load_options, paths),
     .count_offset = offsetof(ek_load_options, n_paths),
     .required = true,
     .text = EK_TEXT_WORD | EK_TEXT_GLOB,
     .incidental = true, /* the files are known by their paths, sizes and times */
     .help = "netCDF files; put in time order by their time axes"},
    {.name = "variable",
     .type = EK_OPTION_STRING,
     .offset = offsetof(ek_load_options, variable),
     .help = "variable to read; may be left out where only one has a time axis"},
    {.name = "time",
     .type = EK_OPTION_STRING,
     .offset = offsetof(ek_load_options, time),
     .help = "name of the time dimension, where the file does not say which it is"},
    {.name = "chunk",
     .type = EK_OPTION_INT,
     .offset = offsetof(ek_load_options, chunk),
     .min = 0,
     .max = INT32_MAX,
     .unit = "time steps",
     .incidental = true,
     .help = "time steps per chunk, rounded up to what a file stores together; 0: as many as make "
             "about 16 MiB"},
    {.name = "decoder",
     .type = EK_OPTION_ENUM,
     .offset = offsetof(ek_load_options, decoder),
     .fallback = "auto",
     .choices = decoders,
     .incidental = true,
     .help = "who reads the values"},
    {.name = NULL},
};

/* Copies a text of any length (NULL: none), cut between characters of UTF-8. */
static void copy_text(char *to, size_t size, const char *from)
{
    if (from == NULL) {
        return;
    }
    size_t n = strlen(from);
    if (n >= size) {
        n = size - 1;
        while (n > 0 && ((unsigned char)from[n] & 0xC0) == 0x80) {
            n--;
        }
    }
    memcpy(to, from, n);
    to[n] = '\0';
}

static void fill_spec(const ek__dataset *dataset, ek_spec *out)
{
    const ek_field *field = dataset->field;
    out->kind = EK_STREAM;
    out->space = EK_SPACE_PINNED;
    out->field = field;
    out->extent[EK_AXIS_TIME] = field->n_time;
    out->extent[EK_AXIS_CELL] = field->n_cells;
    out->packed = true;
    out->chunk_rows = dataset->chunk_rows;
    out->n_chunks = (int64_t)dataset->n_chunks;
    ek_array_spec *array = ek_spec_add(out, "", EK_F64, 2, EK_AXIS_TIME, EK_AXIS_CELL);
    copy_text(array->name, sizeof(array->name), field->name);
    copy_text(array->units, sizeof(array->units), field->units);
    copy_text(array->long_name, sizeof(array->long_name), field->long_name);
    copy_text(array->standard_name, sizeof(array->standard_name), field->standard_name);
    copy_text(array->cell_methods, sizeof(array->cell_methods), field->cell_methods);
}

static ek_status create_dataset(void *user)
{
    ek_instance *self = user;
    load_state *state = self->priv;
    return ek__dataset_create(&state->dataset, self->options);
}

static ek_status load_negotiate(ek_instance *self)
{
    load_state *state = self->priv;
    EK_TRY(ek_io_acquire());
    state->acquired = true;
    EK_TRY(ek_io_call(create_dataset, self));
    fill_spec(state->dataset, &self->out);
    self->needs.read_jobs = state->dataset->most_jobs;
    return EK_OK;
}

static ek_status load_open(ek_instance *self, int n_threads)
{
    load_state *state = self->priv;
    return ek__dataset_open(state->dataset, n_threads);
}

static int load_jobs(ek_instance *self, int64_t chunk)
{
    const load_state *state = self->priv;
    return ek__dataset_jobs(state->dataset, chunk);
}

static ek_status load_job(ek_instance *self, int64_t chunk, int job, void *dst)
{
    const load_state *state = self->priv;
    return ek__dataset_job(state->dataset, chunk, job, dst);
}

static ek_status load_header(ek_instance *self, int64_t chunk, ek_chunk_header *out)
{
    const load_state *state = self->priv;
    return ek__dataset_header(state->dataset, chunk, out);
}

static ek_status load_read(ek_instance *self, int64_t chunk, void *dst)
{
    load_state *state = self->priv;
    return ek__dataset_read(state->dataset, chunk, dst);
}

static ek_status load_cut(ek_instance *self, int64_t rows, const int64_t *at, int64_t n_at)
{
    load_state *state = self->priv;
    ek__dataset *dataset = state->dataset;
    int64_t before = dataset->chunk_rows;
    EK_TRY(ek__dataset_cut(dataset, rows, at, n_at));
    self->out.chunk_rows = dataset->chunk_rows;
    self->out.n_chunks = (int64_t)dataset->n_chunks;
    self->needs.read_jobs = dataset->most_jobs;
    if (before == dataset->chunk_rows) {
        return EK_OK;
    }
    return ek_field_note(dataset->field,
                         "chunks have at most %lld steps, as another source's, not %lld",
                         (long long)dataset->chunk_rows, (long long)before);
}

static void load_close(ek_instance *self)
{
    load_state *state = self->priv;
    ek__dataset_close(state->dataset);
}

static ek_status destroy_dataset(void *user)
{
    load_state *state = user;
    ek__dataset_destroy(state->dataset);
    state->dataset = NULL;
    return EK_OK;
}

static void load_fini(ek_instance *self)
{
    load_state *state = self->priv;
    if (state->acquired) {
        ek_io_call(destroy_dataset, state);
        ek_io_release();
        state->acquired = false;
    }
}

static const ek_source_ops source = {
    .open = load_open,
    .header = load_header,
    .read = load_read,
    .jobs = load_jobs,
    .job = load_job,
    .cut = load_cut,
    .close = load_close,
};

const ek_stage ek_stage_load = {
    .api = EK_STAGE_API,
    .name = "load",
    .summary = "Reads a variable of netCDF files along time.",
    .flags = EK_STAGE_SOURCE,
    .options = options,
    .options_size = sizeof(ek_load_options),
    .priv_size = sizeof(load_state),
    .negotiate = load_negotiate,
    .fini = load_fini,
    .source = &source,
};
