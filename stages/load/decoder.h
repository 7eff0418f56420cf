/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder reads the values of one variable of one file without the netCDF library, on several
 * threads at once, straight into the slot's pinned buffer and as the file stores them. It is made
 * at plan time on the io thread; a file that no decoder takes is read by the library (chunks.c).
 *
 * A decoder never guesses: whatever it does not know for certain it declines, with the reason. */
#ifndef EK_STAGES_LOAD_DECODER_H
#define EK_STAGES_LOAD_DECODER_H

#include "stages/load/metadata.h"
#include "stages/load/packing.h"

EK_BEGIN_DECLS

typedef struct ek__decoder ek__decoder;

/* What a decoder is asked to read. `file` is open during ek__decoder_create only. */
typedef struct ek__decode_request {
    const ek__nc_file *file;
    const ek__variable *variable;
    ek_dtype dtype;          /* as stored, with _Unsigned obeyed */
    int64_t n_rows;          /* time steps in the file */
    int64_t cells;           /* values per time step */
    const ek__decoder *like; /* a believed decoder of the same variable, of this dtype, in
                                another file; or NULL */
} ek__decode_request;

/* Working memory of one thread, at least ek__decoder.scratch_bytes long; see scratch.c. */
typedef struct ek__scratch {
    uint8_t *bytes;
    size_t n_bytes;
    struct libdeflate_decompressor *inflate; /* NULL where no decoder inflates */
} ek__scratch;

typedef struct ek__decoder_ops {
    /* Into how many jobs, about a megabyte of values each, reading these rows is divided. Jobs go
     * through storage in order: the first has the first storage chunk, the last the last. Pure. */
    int (*jobs)(const ek__decoder *self, int64_t first, int64_t rows);

    /* Does job number `job` of them: puts its share of the rows x cells values into `dst`, which
     * is the place of row `first`, in native byte order. On a worker thread, beside other jobs on
     * the same decoder; blocks in pread only; allocates nothing. Errors name file, variable and
     * time steps. */
    ek_status (*job)(const ek__decoder *self, int64_t first, int64_t rows, int job, void *dst,
                     ek__scratch *scratch);

    void (*destroy)(ek__decoder *self);
} ek__decoder_ops;

/* The common head of every decoder. Immutable once made. */
struct ek__decoder {
    const ek__decoder_ops *ops;
    char text[96]; /* for people: "chunk (shuffle, deflate)", "direct (classic, big-endian)" */
    size_t scratch_bytes; /* of working memory that a job needs */
    bool inflates;        /* a job needs scratch->inflate */
    int64_t row_unit;     /* rows that are stored together: reading fewer wastes work; 1 or more */
    int64_t box[EK_NC_DIMS]; /* a storage chunk's extent along each dimension; 0: all of it */
};

/* ek__decoder_create finds a decoder for the variable. *out stays NULL where none takes it, and
 * `reason` says why in a few words ("szip", "no chunks: compact"). Only lack of memory is an error.
 * A decoder is tested before it is believed: values of the first and the last storage chunk (once
 * where these are the same) are compared with the library's, and a difference declines it. Chunks
 * of over 4 MiB, which take the library long, are tested in one of several files that are stored
 * alike. */
ek_status ek__decoder_create(const ek__decode_request *request, ek__decoder **out, char *reason,
                             size_t reason_size);
void ek__decoder_destroy(ek__decoder *decoder);

/* The kinds, chosen among by ek__decoder_create; each declines by *out NULL and a reason. */
ek_status ek__decoder_classic(const ek__decode_request *request, ek__decoder **out, char *reason,
                              size_t reason_size); /* direct.c: CDF-1, 2, 5 */
ek_status ek__decoder_hdf5(const ek__decode_request *request, ek__decoder **out, char *reason,
                           size_t reason_size); /* hdf5.c: chunked or contiguous */

/* ek__decoder_zarr is tried before these, and is not tested: the library does not know the values.
 * Declines what is no Zarr store; anything else that hinders it is an error (zarr_decoder.c). */
ek_status ek__decoder_zarr(const ek__decode_request *request, ek__decoder **out, char *reason,
                           size_t reason_size);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_DECODER_H */
