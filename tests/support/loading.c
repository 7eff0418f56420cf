/* SPDX-License-Identifier: Apache-2.0 */
/* The load stage at work for tests. */
#include "tests/support/loading.h"

#include "tests/support/near.h"

#include "core/loop.h"
#include "graphs/nodes.h"
#include "graphs/run.h"

#include <netcdf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 8

ek_status loading_open(loading *node, const ek_load_options *options)
{
    *node = (loading){.options = *options};
    node->self = (ek_instance){.stage = &ek_stage_load, .name = "load", .options = &node->options};
    node->self.priv = calloc(1, ek_stage_load.priv_size);
    return ek_stage_load.negotiate(&node->self);
}

void loading_close(loading *node)
{
    ek_stage_load.fini(&node->self);
    free(node->self.priv);
}

const char *loading_decoder(const loading *node)
{
    static const char head[] = "decoder: ";
    const ek_field *field = node->self.out.field;
    for (size_t i = 0; i < field->n_notes; i++) {
        if (strncmp(field->notes[i], head, sizeof(head) - 1) == 0) {
            return field->notes[i] + sizeof(head) - 1;
        }
    }
    fail_msg("no note of %s tells the decoder", field->source);
    return NULL;
}

/* A chunk being read. */
typedef struct reading {
    ek_instance *self;
    int64_t chunk;
    void *dst;
    int n_threads, n_jobs;
    _Atomic int next;
    pthread_mutex_t lock;
    ek_error error; /* the first one */
} reading;

static void do_jobs(reading *r)
{
    for (int job = atomic_fetch_sub(&r->next, 1); job >= 0; job = atomic_fetch_sub(&r->next, 1)) {
        ek_status rc = ek_stage_load.source->job(r->self, r->chunk, job, r->dst);
        pthread_mutex_lock(&r->lock);
        if (rc != EK_OK && r->error.status == EK_OK) {
            r->error = *ek_error_last();
        }
        pthread_mutex_unlock(&r->lock);
    }
}

static void *worker(void *user)
{
    do_jobs(user);
    return NULL;
}

static ek_status share_jobs(reading *r)
{
    pthread_t threads[THREADS_MAX];
    int n = EK_MIN(r->n_threads, EK_MIN(r->n_jobs, THREADS_MAX));
    atomic_store(&r->next, r->n_jobs - 1);
    pthread_mutex_init(&r->lock, NULL);
    for (int i = 0; i + 1 < n; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, worker, r), 0);
    }
    do_jobs(r);
    for (int i = 0; i + 1 < n; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_mutex_destroy(&r->lock);
    return r->error.status == EK_OK ? EK_OK : ek_error_set(&r->error);
}

static ek_status open_node(void *user)
{
    reading *r = user;
    return ek_stage_load.source->open(r->self, EK_MIN(r->n_threads, THREADS_MAX));
}

static ek_status read_chunk(void *user)
{
    reading *r = user;
    return ek_stage_load.source->read(r->self, r->chunk, r->dst);
}

static ek_status close_node(void *user)
{
    reading *r = user;
    ek_stage_load.source->close(r->self);
    return EK_OK;
}

static ek_status read_all(reading *r, ek_chunk_header *first, char *out)
{
    const ek_spec *spec = &r->self->out;
    int64_t row = 0;
    for (int64_t c = 0; c < spec->n_chunks; c++) {
        ek_chunk_header header;
        EK_TRY(ek_stage_load.source->header(r->self, c, &header));
        assert_int_equal(header.index, c);
        assert_int_equal(header.row0, row);
        assert_int_equal(header.cells, spec->field->n_cells);
        assert_true(header.rows > 0 && header.rows <= spec->chunk_rows);
        if (c == 0 && first != NULL) {
            *first = header;
        }
        size_t row_bytes = (size_t)header.cells * ek_dtype_size(header.dtype);
        r->chunk = c;
        r->dst = out + (size_t)row * row_bytes;
        r->n_jobs = ek_stage_load.source->jobs(r->self, c);
        assert_in_range(r->n_jobs, 0, r->self->needs.read_jobs);
        EK_TRY(r->n_jobs > 0 ? share_jobs(r) : ek_io_call(read_chunk, r));
        row += header.rows;
    }
    assert_int_equal(row, spec->field->n_time);
    return EK_OK;
}

ek_status loading_raw(loading *node, int n_threads, ek_chunk_header *header, void **out)
{
    const ek_field *field = node->self.out.field;
    reading r = {.self = &node->self, .n_threads = n_threads};
    char *bytes = malloc((size_t)(field->n_time * field->n_cells) * field->value_bytes);
    ek_status rc = ek_io_call(open_node, &r);
    if (rc == EK_OK) {
        rc = read_all(&r, header, bytes);
    }
    ek_io_call(close_node, &r);
    if (rc != EK_OK) {
        free(bytes);
        bytes = NULL;
    }
    *out = bytes;
    return rc;
}

int loading_most_jobs(loading *node)
{
    int most = 0;
    for (int64_t c = 0; c < node->self.out.n_chunks; c++) {
        most = EK_MAX(most, ek_stage_load.source->jobs(&node->self, c));
    }
    return most;
}

void loading_values(const ek_load_options *options, int n_threads, collected *out)
{
    *out = (collected){0};
    ek_pipeline *pipeline = NULL;
    ek_plan *plan = NULL;
    ek_assert_ok(ek_pipeline_create(&pipeline, "loading"));
    collect_add(pipeline, ek_load(pipeline, options), out);
    ek_assert_ok(ek_plan_create(&plan, pipeline,
                                &(ek_plan_options){.backend = "host", .threads = n_threads}));
    ek_assert_ok(ek_run(plan, NULL, NULL));
    assert_int_equal(out->committed, 1);
    ek_plan_destroy(plan);
    ek_pipeline_destroy(pipeline);
}

typedef struct plain_request {
    const char *path, *variable;
    plain *out;
} plain_request;

static ek_status read_plain(void *user)
{
    const plain_request *r = user;
    plain *out = r->out;
    int ncid = -1;
    int id = -1;
    int n_dims = 0;
    int dims[NC_MAX_VAR_DIMS];
    size_t size = 0;
    int code = nc_open(r->path, NC_NOWRITE, &ncid);
    code = code == NC_NOERR ? nc_inq_varid(ncid, r->variable, &id) : code;
    code = code == NC_NOERR ? nc_inq_var(ncid, id, NULL, &out->type, &n_dims, dims, NULL) : code;
    code = code == NC_NOERR ? nc_inq_type(ncid, out->type, NULL, &size) : code;
    out->n_values = 1;
    for (int i = 0; i < n_dims && code == NC_NOERR; i++) {
        size_t length = 0;
        code = nc_inq_dimlen(ncid, dims[i], &length);
        out->n_values *= (int64_t)length;
    }
    out->n_bytes = (size_t)out->n_values * size;
    out->bytes = calloc(out->n_bytes + 1, 1);
    code = code == NC_NOERR ? nc_get_var(ncid, id, out->bytes) : code;
    nc_close(ncid);
    return code == NC_NOERR ? EK_OK
                            : EK_FAIL_CODE(EK_ENETCDF, code, "%s: %s", r->path, nc_strerror(code));
}

void plain_read(const char *path, const char *variable, plain *out)
{
    *out = (plain){0};
    ek_assert_ok(ek_io_call(read_plain, &(plain_request){path, variable, out}));
}

double plain_value(const plain *from, int64_t i)
{
    switch (from->type) {
    case NC_BYTE:
        return ((const int8_t *)from->bytes)[i];
    case NC_UBYTE:
        return ((const uint8_t *)from->bytes)[i];
    case NC_SHORT:
        return ((const int16_t *)from->bytes)[i];
    case NC_USHORT:
        return ((const uint16_t *)from->bytes)[i];
    case NC_INT:
        return ((const int32_t *)from->bytes)[i];
    case NC_UINT:
        return ((const uint32_t *)from->bytes)[i];
    case NC_FLOAT:
        return (double)((const float *)from->bytes)[i];
    default:
        return ((const double *)from->bytes)[i];
    }
}
