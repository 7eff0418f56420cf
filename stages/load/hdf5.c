/* SPDX-License-Identifier: Apache-2.0 */
/* Deciding, on the io thread and with HDF5's help, whether a netCDF-4 variable is stored in a way
 * that hdf5_decode.c can read, and taking down where. */
#include "stages/load/hdf5.h"

#include "core/alloc.h"
#include "stages/load/swap.h"

#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A decision under way. */
typedef struct decision {
    const ek__decode_request *request;
    ek__hdf5 *self;
    hid_t file, dataset, type, space, dcpl;
    int fd;
    bool has_fill;
    char *reason; /* empty until something speaks against it */
    size_t reason_size;
} decision;

static bool declined(const decision *d)
{
    return d->reason[0] != '\0';
}

static void decline(decision *d, const char *why)
{
    if (!declined(d)) {
        snprintf(d->reason, d->reason_size, "%s", why);
    }
}

/* netCDF has the file open, and HDF5 opens it again only with the same close degree, which depends
 * on netCDF's version. */
static hid_t open_again(const char *path)
{
    static const H5F_close_degree_t degrees[] = {H5F_CLOSE_WEAK, H5F_CLOSE_SEMI, H5F_CLOSE_STRONG};
    hid_t file = -1;
    for (size_t i = 0; i < EK_COUNT(degrees) && file < 0; i++) {
        hid_t access = H5Pcreate(H5P_FILE_ACCESS);
        if (access >= 0 && H5Pset_fclose_degree(access, degrees[i]) >= 0) {
            file = H5Fopen(path, H5F_ACC_RDONLY, access);
        }
        H5Pclose(access);
    }
    return file;
}

static void check_signature(decision *d)
{
    static const uint8_t signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};
    uint8_t head[8] = {0};
    if (pread(d->fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
        memcmp(head, "CDF", 3) == 0) {
        decline(d, "not HDF5");
    } else if (memcmp(head, signature, sizeof(head)) != 0) {
        decline(d, "user block");
    }
}

/* The addresses in the file must be counted from its first byte and be 8 bytes long. */
static void check_file(decision *d)
{
    hsize_t block = 1;
    size_t address = 0;
    size_t length = 0;
    hid_t create = H5Fget_create_plist(d->file);
    if (H5Pget_userblock(create, &block) < 0 || block != 0) {
        decline(d, "user block");
    } else if (H5Pget_sizes(create, &address, &length) < 0 || address != 8 || length != 8) {
        decline(d, "addresses that are not of 8 bytes");
    }
    H5Pclose(create);
}

/* Opens the dataset of the variable. One that has the name of a dimension without being its
 * coordinate is stored under a longer one. */
static void open_dataset(decision *d)
{
    const char *group = d->request->file->group, *variable = d->request->variable->var.name;
    char plain[2 * NC_MAX_NAME + 32], longer[sizeof(plain)];
    snprintf(plain, sizeof(plain), "%s/%s", group, variable);
    snprintf(longer, sizeof(longer), "%s/_nc4_non_coord_%s", group, variable);
    const char *name = H5Lexists(d->file, longer, H5P_DEFAULT) > 0 ? longer : plain;
    H5L_info_t link;
    if (H5Lget_info(d->file, name, &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD) {
        decline(d, "not in the file itself");
        return;
    }
    d->dataset = H5Dopen2(d->file, name, H5P_DEFAULT);
    if (d->dataset < 0) {
        decline(d, "not found by HDF5");
        return;
    }
    d->type = H5Dget_type(d->dataset);
    d->space = H5Dget_space(d->dataset);
    d->dcpl = H5Dget_create_plist(d->dataset);
    if (d->type < 0 || d->space < 0 || d->dcpl < 0) {
        decline(d, "not understood by HDF5");
    }
}

/* Compares the type with those that the framework knows, and reads the fill value. */
static void check_type(decision *d)
{
    const struct {
        ek_dtype dtype;
        hid_t little, big, native;
    } known[] = {
        {EK_I8, H5T_STD_I8LE, H5T_STD_I8BE, H5T_NATIVE_INT8},
        {EK_U8, H5T_STD_U8LE, H5T_STD_U8BE, H5T_NATIVE_UINT8},
        {EK_I16, H5T_STD_I16LE, H5T_STD_I16BE, H5T_NATIVE_INT16},
        {EK_U16, H5T_STD_U16LE, H5T_STD_U16BE, H5T_NATIVE_UINT16},
        {EK_I32, H5T_STD_I32LE, H5T_STD_I32BE, H5T_NATIVE_INT32},
        {EK_U32, H5T_STD_U32LE, H5T_STD_U32BE, H5T_NATIVE_UINT32},
        {EK_F32, H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_NATIVE_FLOAT},
        {EK_F64, H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE},
    };
    ek_dtype wanted = d->request->dtype;
    for (size_t i = 0; i < EK_COUNT(known); i++) {
        bool is_little = H5Tequal(d->type, known[i].little) > 0;
        bool is_big = !is_little && H5Tequal(d->type, known[i].big) > 0;
        if (!is_little && !is_big) {
            continue;
        }
        size_t size = ek_dtype_size(known[i].dtype);
        if (size != ek_dtype_size(wanted) ||
            ek_dtype_is_integer(known[i].dtype) != ek_dtype_is_integer(wanted)) {
            break;
        }
        d->self->value_bytes = size;
        d->self->swap = size > 1 && is_big == ek__is_little_endian();
        H5D_fill_value_t fill = H5D_FILL_VALUE_UNDEFINED;
        d->has_fill = H5Pfill_value_defined(d->dcpl, &fill) >= 0 &&
                      fill != H5D_FILL_VALUE_UNDEFINED &&
                      H5Pget_fill_value(d->dcpl, known[i].native, d->self->fill) >= 0;
        return;
    }
    decline(d, "a stored type of another kind");
}

/* The extent must be what netCDF says: a dimension that another variable has lengthened is longer
 * than what is stored of this one. */
static void check_extent(decision *d)
{
    const ek__nc_var *var = &d->request->variable->var;
    ek__hdf5 *self = d->self;
    ek__hdf5_grid *grid = &self->grid;
    hsize_t dims[EK_HDF5_RANK_MAX] = {0};
    if (H5Sget_simple_extent_ndims(d->space) != var->n_dims || var->n_dims > EK_HDF5_RANK_MAX ||
        H5Sget_simple_extent_dims(d->space, dims, NULL) != var->n_dims) {
        decline(d, "another number of dimensions");
        return;
    }
    grid->rank = var->n_dims;
    int64_t cells = 1;
    int64_t bytes = 0;
    bool same = true;
    for (int i = 0; i < var->n_dims; i++) {
        same = same && dims[i] == (uint64_t)var->dims[i].size && dims[i] > 0;
        same = same && (i >= self->time_dim || dims[i] == 1);
        grid->dims[i] = dims[i];
        if (i > self->time_dim && __builtin_mul_overflow(cells, var->dims[i].size, &cells)) {
            same = false;
        }
    }
    same = same && cells == self->cells && dims[self->time_dim] == (uint64_t)self->n_rows;
    if (!same || __builtin_mul_overflow(cells, self->n_rows, &bytes) ||
        __builtin_mul_overflow(bytes, (int64_t)self->value_bytes, &bytes)) {
        decline(d, "stored for another number of time steps or cells");
    }
}

/* Where chunks of the grid are missing, HDF5 must know of no others either. A grid in which each
 * was found once is complete, and HDF5 is not asked: it would take longer than all the rest. */
static void check_missing(decision *d, uint64_t n_found)
{
    hsize_t expected = 0;
    if (H5Dget_num_chunks(d->dataset, d->space, &expected) < 0 || expected != n_found) {
        decline(d, "chunk index: another number of chunks than HDF5's");
    } else if (!d->has_fill) {
        decline(d, "chunks never written and no fill value");
    }
}

static ek_status read_index(decision *d)
{
    ek__hdf5 *self = d->self;
    hsize_t shape[EK_HDF5_RANK_MAX] = {0};
    unsigned options = 0;
    if (H5Pget_chunk(d->dcpl, self->grid.rank, shape) != self->grid.rank) {
        decline(d, "another number of dimensions");
        return EK_OK;
    }
    if (H5Pget_chunk_opts(d->dcpl, &options) < 0 || options != 0) {
        decline(d, "chunks at the edge without filters");
        return EK_OK;
    }
    for (int i = 0; i < self->grid.rank; i++) {
        self->grid.chunk[i] = shape[i];
    }
    self->grid.value_bytes = (uint32_t)self->value_bytes;
    const char *problem = ek__hdf5_grid_finish(&self->grid);
    if (problem != NULL) {
        decline(d, problem);
        return EK_OK;
    }
    self->chunks = ek_alloc(self->grid.n_chunks, sizeof(*self->chunks));
    if (self->chunks == NULL) {
        return EK_ENOMEM;
    }
    ek__hdf5_walked walked = {0};
    EK_TRY(ek__hdf5_list_chunks(self, d->dataset, d->fd, &walked));
    if (walked.problem != NULL) {
        decline(d, walked.problem);
    } else if (walked.n_found < self->grid.n_chunks) {
        check_missing(d, walked.n_found);
    }
    return EK_OK;
}

static void read_contiguous(decision *d)
{
    ek__hdf5 *self = d->self;
    haddr_t at = H5Dget_offset(d->dataset);
    uint64_t bytes = (uint64_t)(self->n_rows * self->cells) * self->value_bytes;
    uint64_t file_bytes = (uint64_t)self->file_bytes;
    if (H5Pget_external_count(d->dcpl) != 0) {
        decline(d, "values in an external file");
    } else if (at != HADDR_UNDEF && (at > file_bytes || bytes > file_bytes - at)) {
        decline(d, "values outside the file");
    } else if (at == HADDR_UNDEF && !d->has_fill) {
        decline(d, "values never written and no fill value");
    }
    self->allocated = at != HADDR_UNDEF;
    self->offset = self->allocated ? at : 0;
}

static ek_status read_layout(decision *d)
{
    switch (H5Pget_layout(d->dcpl)) {
    case H5D_CHUNKED:
        d->self->chunked = true;
        d->self->allocated = true;
        ek__hdf5_read_filters(d->dcpl, d->self->value_bytes, &d->self->filters, d->reason,
                              d->reason_size);
        return declined(d) ? EK_OK : read_index(d);
    case H5D_CONTIGUOUS:
        read_contiguous(d);
        return EK_OK;
    case H5D_COMPACT:
        decline(d, "no chunks: compact");
        return EK_OK;
    case H5D_VIRTUAL:
        decline(d, "no chunks: virtual");
        return EK_OK;
    default:
        decline(d, "an unknown layout");
        return EK_OK;
    }
}

/* Puts the questions in turn, until one is answered with no. */
static ek_status decide(decision *d)
{
    ek__hdf5 *self = d->self;
    struct stat info;
    d->fd = open(self->path, O_RDONLY | O_CLOEXEC);
    if (d->fd < 0 || fstat(d->fd, &info) != 0) {
        decline(d, "cannot be opened again");
        return EK_OK;
    }
    self->file_bytes = info.st_size;
    self->changed = info.st_mtim;
    check_signature(d);
    d->file = declined(d) ? -1 : open_again(self->path);
    if (d->file < 0) {
        decline(d, "not opened by HDF5");
        return EK_OK;
    }
    void (*const checks[])(decision *) = {check_file, open_dataset, check_type, check_extent};
    for (size_t i = 0; i < EK_COUNT(checks) && !declined(d); i++) {
        checks[i](d);
    }
    return declined(d) ? EK_OK : read_layout(d);
}

/* Closes what is open. What HDF5 remembers of failures it would keep beyond the thread's end. */
static void close_all(decision *d)
{
    const struct {
        hid_t id;
        herr_t (*close)(hid_t id);
    } open[] = {{d->dcpl, H5Pclose},
                {d->space, H5Sclose},
                {d->type, H5Tclose},
                {d->dataset, H5Dclose},
                {d->file, H5Fclose}};
    for (size_t i = 0; i < EK_COUNT(open); i++) {
        if (open[i].id >= 0) {
            open[i].close(open[i].id);
        }
    }
    H5Eclear2(H5E_DEFAULT);
    if (d->fd >= 0) {
        close(d->fd);
    }
}

ek_status ek__decoder_hdf5(const ek__decode_request *request, ek__decoder **out, char *reason,
                           size_t reason_size)
{
    *out = NULL;
    reason[0] = '\0';
    ek__hdf5 *self = ek_alloc(1, sizeof(*self));
    if (self == NULL) {
        return EK_ENOMEM;
    }
    decision d = {.request = request, .self = self, .fd = -1, .reason = reason};
    d.file = d.dataset = d.type = d.space = d.dcpl = -1;
    d.reason_size = reason_size;
    self->path = ek_strdup(request->file->path);
    self->variable = ek_strdup(request->variable->var.name);
    self->n_rows = request->n_rows;
    self->cells = request->cells;
    self->time_dim = request->variable->time_dim;
    ek_status rc = self->path != NULL && self->variable != NULL ? EK_OK : EK_ENOMEM;
    if (rc == EK_OK) {
        ek__nc_quiet();
        rc = decide(&d);
    }
    close_all(&d);
    if (rc == EK_OK && !declined(&d)) {
        ek__hdf5_describe(self);
        ek__hdf5_finish(self);
        *out = &self->base;
    } else {
        ek__hdf5_destroy(&self->base);
    }
    return rc;
}
