/* SPDX-License-Identifier: Apache-2.0 */
/* The stage contract: all that the planner and executor know about a kind of work. A stage is one
 * `const ek_stage`; a node of a pipeline is an ek_instance of it. What flows between nodes:
 *
 *   a STREAM: one chunk after another, rows [time] by cells, in time order;
 *   a RESULT: a set of named arrays, once, when a fold has seen the whole stream.
 *
 * Life of an instance: negotiate (metadata only) -> for each pass it is in: begin -> submit for
 * each chunk -> finish -> collect -> fini, which runs always. A fold that asks for several sweeps
 * over its stream is in as many passes, one after another. */
#ifndef EK_CORE_STAGE_H
#define EK_CORE_STAGE_H

#include "core/backend.h"
#include "core/chunk.h"
#include "core/field.h"
#include "core/options.h"

EK_BEGIN_DECLS

#define EK_STAGE_API    1
#define EK_ARRAYS_MAX   24
#define EK_SPEC_ATTRS   16
#define EK_STAGE_INPUTS 4
#define EK_SWEEPS_MAX   4

typedef enum ek_link { EK_STREAM = 1, EK_RESULT = 2 } ek_link;

/* Symbolic axes of result arrays; their extents are in ek_spec and ek_data. */
typedef enum ek_axis { EK_AXIS_TIME, EK_AXIS_CELL, EK_AXIS_MODE, EK_AXES } ek_axis;

/* One array of a result. Row-major over `axes`, in the order given; n_axes 0 is a scalar. Cells
 * without a value hold NaN. */
typedef struct ek_array_spec {
    char name[32];
    ek_dtype dtype; /* EK_F64 or EK_I32 */
    int n_axes;
    ek_axis axes[2];
    char units[64]; /* CF units; empty: none */
    char long_name[128];
    char standard_name[64]; /* empty: none */
    char cell_methods[64];  /* empty: none */
    char comment[160];      /* empty: none */
} ek_array_spec;

/* What a link carries, agreed on before the run. */
typedef struct ek_spec {
    ek_link kind;
    ek_space space;          /* EK_SPACE_PINNED (host side) or EK_SPACE_DEVICE */
    const ek_field *field;   /* the source's; its grid and time axis hold for the arrays too */
    int64_t extent[EK_AXES]; /* TIME: all steps; CELL; MODE: the most there can be, 0 if no modes */

    /* STREAM */
    bool packed;        /* as the file stores it, decoded where read; else float64, NaN missing */
    int64_t chunk_rows; /* the most rows of a chunk */
    int64_t n_chunks;
    int n_removed; /* degrees of freedom per cell that centring has removed: 0, or 1 for a mean */

    /* RESULT, and STREAM (one array: its name, units and words for output) */
    int n_arrays;
    ek_array_spec arrays[EK_ARRAYS_MAX];
    int n_attrs; /* facts for the output file's global attributes and for people */
    struct {
        char name[32];
        char text[160];
    } attrs[EK_SPEC_ATTRS];
} ek_spec;

/* What a link carries, at run time. Pointers are in the spec's space. */
typedef struct ek_data {
    const ek_spec *spec;
    ek_stream_view stream;       /* STREAM: what kernels read; fixed addresses, safe to capture */
    const ek_chunk_header *host; /* STREAM: this chunk's header, readable by host code; only in
                                    upload, download and sinks, which are not captured */
    void *array[EK_ARRAYS_MAX];  /* RESULT: one per array. STREAM: [0] is the values' buffer */
    int64_t extent[EK_AXES];     /* actual; MODE may be less than planned */
} ek_data;

/* What an instance wants, stated in negotiate. */
typedef struct ek_needs {
    size_t state_bytes;   /* device memory for the whole run: accumulators */
    size_t scratch_bytes; /* device memory within one submit or one finish */
    size_t status_bytes;  /* pinned memory that finish copies small facts into, for collect */
    int read_jobs;        /* a source: the most jobs that a chunk is read in; 0: none is */
    int chunk_launches;   /* operations (kernels, copies, fills) a submit enqueues */
    int finish_launches;  /* operations a finish enqueues */
    const char *eager;    /* why finish runs outside a graph; NULL: nothing to say */

    /* A FOLD: how often it wants the whole stream; 0: once. For each sweep begin, submit, finish
     * and collect are called, with exec->sweep. State, and `out` from the first finish on, keep
     * what they hold from sweep to sweep; others get `out` after the last one. The launches above
     * are those of the first sweep, these of the ones that follow. */
    int sweeps;
    struct {
        int chunk_launches, finish_launches;
    } later[EK_SWEEPS_MAX - 1];
} ek_needs;

/* What an instance runs with. */
typedef struct ek_exec {
    ek_backend *backend;
    ek_queue *queue;
    void *state;   /* needs.state_bytes, device */
    void *scratch; /* needs.scratch_bytes, device; contents do not survive the call */
    void *status;  /* needs.status_bytes, pinned */
    int sweep;     /* which sweep this pass is for the instance, from 0 */
} ek_exec;

typedef struct ek_stage ek_stage;

/* A node's working self. `priv` is zeroed memory of stage->priv_size. */
typedef struct ek_instance {
    const ek_stage *stage;
    const char *name;    /* the node's */
    const void *options; /* the stage's options struct, defaults applied */
    void *priv;
    ek_backend *backend;
    int n_inputs;
    const ek_spec *in[EK_STAGE_INPUTS];
    ek_spec out;
    ek_needs needs;
} ek_instance;

enum {
    EK_STAGE_SOURCE = 1 << 0,   /* has no inputs; `source` is set */
    EK_STAGE_SINK = 1 << 1,     /* has no output; `sink` is set */
    EK_STAGE_FOLD = 1 << 2,     /* accumulates a stream; finish makes a RESULT */
    EK_STAGE_UPLOAD = 1 << 3,   /* host to device: submit runs on the copy queue, not captured */
    EK_STAGE_DOWNLOAD = 1 << 4, /* device to host: likewise, on the other copy queue */
    EK_STAGE_DEVICE = 1 << 5    /* runs on the device; submit may be captured */
};

/* An input port. */
typedef struct ek_port {
    const char *name; /* NULL ends the table */
    unsigned kinds;   /* ek_link bits accepted */
    bool device;      /* wants device memory; else host memory */
    const char *help;
} ek_port;

/* A source's part. `open`, `read` and `close` run on the io thread, `header` and `jobs` on any,
 * `job` on worker threads. */
typedef struct ek_source_ops {
    /* OPTIONAL. Gets ready for reading by up to n_threads jobs at once; before a run's first read.
     */
    ek_status (*open)(ek_instance *self, int n_threads);
    /* Fills the header of chunk i (rows, row0, dtype, packing ...), all but `data`. */
    ek_status (*header)(ek_instance *self, int64_t chunk, ek_chunk_header *out);
    /* Reads chunk i's stored values, rows x cells of its dtype, into `dst` (pinned). May block. */
    ek_status (*read)(ek_instance *self, int64_t chunk, void *dst);
    /* OPTIONAL, together. A chunk that can be read by several threads says in how many jobs (at
     * most needs.read_jobs); each puts its share of the values into dst, beside other jobs, also of
     * other chunks. A chunk with 0 jobs goes to `read`. */
    int (*jobs)(ek_instance *self, int64_t chunk);
    ek_status (*job)(ek_instance *self, int64_t chunk, int job, void *dst);
    /* OPTIONAL. Cuts the series into chunks anew, where several sources have to agree: at most
     * `rows` rows in each, and none across one of the `n_at` rows `at` (ascending). Updates
     * self->out and needs.read_jobs. On the planning thread, after negotiate; may block. */
    ek_status (*cut)(ek_instance *self, int64_t rows, const int64_t *at, int64_t n_at);
    /* Closes files left open by negotiate, open or read; they may be opened again. */
    void (*close)(ek_instance *self);
} ek_source_ops;

/* A sink's part; all run on the io thread and may block. */
typedef struct ek_sink_ops {
    /* Prepares the output beside its final place. */
    ek_status (*open)(ek_instance *self);
    /* Takes a chunk (STREAM) or the arrays (RESULT), in host memory. */
    ek_status (*put)(ek_instance *self, const ek_data *data);
    /* commit true: make the output visible under its name. false: leave no trace. */
    ek_status (*close)(ek_instance *self, bool commit);
} ek_sink_ops;

struct ek_stage {
    int api; /* EK_STAGE_API */
    const char *name;
    const char *summary; /* one sentence */
    unsigned flags;
    const ek_option *options; /* table; NULL: no options */
    size_t options_size;
    size_t priv_size;
    const ek_port *inputs; /* NULL for a source */

    /* OPTIONAL. One entry per input: the stage that makes this input, with its default options, out
     * of the node's first input where nothing is linked to it; NULL: it must be linked. */
    const ek_stage *const *implied;

    /* REQUIRED. From self->in[] and options to self->out and self->needs. Looks at metadata only;
     * may block (opening files). Called once, on the planning thread. Errors name the option or
     * port. self->backend is the backend the plan is for. */
    ek_status (*negotiate)(ek_instance *self);

    /* OPTIONAL. Enqueues the reset of accumulators at the start of a pass; not captured. */
    ek_status (*begin)(ek_instance *self, const ek_exec *exec);

    /* REQUIRED unless SOURCE or SINK. Enqueues the work for one chunk, or once for RESULT-only
     * inputs. No allocation, no synchronisation, no use of data->host in a DEVICE stage; rows == 0
     * in the header must change nothing. */
    ek_status (*submit)(ek_instance *self, const ek_exec *exec, const ek_data *const *in,
                        ek_data *out);

    /* FOLD: enqueues what turns the accumulators into `out`. Runs once per sweep, eagerly; may call
     * library routines that synchronise. */
    ek_status (*finish)(ek_instance *self, const ek_exec *exec, ek_data *out);

    /* OPTIONAL, FOLD, on `cuda` only. Like finish, on accumulators of its own making, so that
     * libraries load their code while the first chunks are being read. Runs once per sweep, before
     * any begin; what it leaves in state and `out` is not used. */
    ek_status (*rehearse)(ek_instance *self, const ek_exec *exec, ek_data *out);

    /* OPTIONAL. After finish is complete: looks at exec->status, sets out->extent, refuses. */
    ek_status (*collect)(ek_instance *self, const ek_exec *exec, ek_data *out);

    /* OPTIONAL, FOLD. Adds to `state` what the same fold has accumulated over the steps that come
     * next in time, in another run: both n_bytes = needs.state_bytes, in host memory. `in` tells
     * field and extents of the stream. A fold that has it promises that its accumulators hold for
     * the steps seen, however many there are to be: a run may also go on from them. */
    ek_status (*merge)(const ek_spec *in, void *state, const void *later, size_t n_bytes);

    /* OPTIONAL. Releases what negotiate made; runs even if negotiate failed half way. */
    void (*fini)(ek_instance *self);

    const ek_source_ops *source;
    const ek_sink_ops *sink;
};

/* ek_spec_array returns the index of the named array, or -1. */
EK_API int ek_spec_array(const ek_spec *spec, const char *name);

/* ek_spec_add appends an array and returns it for the caller to fill in further, NULL when full. */
EK_API ek_array_spec *ek_spec_add(ek_spec *spec, const char *name, ek_dtype dtype, int n_axes,
                                  ek_axis axis0, ek_axis axis1);

/* ek_spec_attr appends a fact. */
EK_API void ek_spec_attr(ek_spec *spec, const char *name, const char *format, ...) EK_PRINTF(3, 4);

/* ek_array_count returns the number of values of array i for the given extents; ek_array_bytes the
 * bytes. */
EK_API int64_t ek_array_count(const ek_array_spec *array, const int64_t *extent);
EK_API size_t ek_array_bytes(const ek_array_spec *array, const int64_t *extent);

EK_END_DECLS

#endif /* EK_CORE_STAGE_H */
