/* SPDX-License-Identifier: Apache-2.0 */
/* HDF5 files chunk by chunk. */
#include "tests/support/h5make.h"

#include "tests/support/ncmake.h"
#include "tests/support/near.h"

#include "core/loop.h"
#include "stages/load/filters.h"

#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOBODYS_ID 305
#define RANK_MAX   4

/* A file being made. */
typedef struct making {
    const h5make *r;
    const char *path;
    hid_t file, dataset, type;
    int rank;
    hsize_t dims[RANK_MAX], chunk[RANK_MAX];
} making;

static size_t pass(unsigned flags, size_t n_values, const unsigned *values, size_t n,
                   size_t *capacity, void **buffer)
{
    (void)flags;
    (void)n_values;
    (void)values;
    (void)capacity;
    (void)buffer;
    return n;
}

ek_status h5make_prepare(void *user)
{
    static const H5Z_class2_t nobodys = {.version = H5Z_CLASS_T_VERS,
                                         .id = NOBODYS_ID,
                                         .encoder_present = 1,
                                         .decoder_present = 1,
                                         .name = "nobody's",
                                         .filter = pass};
    (void)user;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return H5Zregister(&nobodys) >= 0 ? EK_OK : EK_FAIL(EK_EIO, "HDF5 takes no filter");
}

bool h5make_can(const h5make *r)
{
    unsigned config = 0;
    return r->filters == NULL || strchr(r->filters, 'z') == NULL ||
           (H5Zget_filter_info(H5Z_FILTER_SZIP, &config) >= 0 &&
            (config & H5Z_FILTER_CONFIG_ENCODE_ENABLED) != 0);
}

static void add_filters(const h5make *r, hid_t dcpl)
{
    for (const char *f = r->filters; f != NULL && *f != '\0'; f++) {
        switch (*f) {
        case 's':
            H5Pset_shuffle(dcpl);
            break;
        case 'd':
            H5Pset_deflate(dcpl, 4);
            break;
        case 'f':
            H5Pset_fletcher32(dcpl);
            break;
        case 'n':
            H5Pset_nbit(dcpl);
            break;
        case 'o':
            H5Pset_scaleoffset(dcpl, H5Z_SO_INT, H5Z_SO_INT_MINBITS_DEFAULT);
            break;
        case 'z':
            H5Pset_szip(dcpl, H5_SZIP_NN_OPTION_MASK, 8);
            break;
        default:
            H5Pset_filter(dcpl, NOBODYS_ID, 0, 0, NULL);
            break;
        }
    }
}

/* Maps the dataset onto another one of the file. */
static void map_onto(making *m, hid_t dcpl, hid_t space)
{
    hid_t other =
        H5Dcreate2(m->file, "other", m->type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(other);
    H5Pset_virtual(dcpl, space, ".", "other", space);
}

static hid_t make_plist(making *m, hid_t space)
{
    const h5make *r = m->r;
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    int64_t fill = 0x4142434445464748;
    H5Pset_attr_phase_change(dcpl, 1000, 900);
    H5Pset_fill_value(dcpl, m->type, r->no_fill ? NULL : &fill);
    if (r->no_fill) {
        H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);
    }
    if (r->layout == H5MAKE_CHUNKED) {
        H5Pset_chunk(dcpl, m->rank, m->chunk);
        add_filters(r, dcpl);
        if (r->bare_edges) {
            H5Pset_chunk_opts(dcpl, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
        }
    } else if (r->layout == H5MAKE_COMPACT) {
        H5Pset_layout(dcpl, H5D_COMPACT);
    } else if (r->layout == H5MAKE_EXTERNAL) {
        H5Pset_external(dcpl, ncmake_path("external.raw"), 0, H5F_UNLIMITED);
    } else if (r->layout == H5MAKE_VIRTUAL) {
        map_onto(m, dcpl, space);
    }
    return dcpl;
}

static void set_shape(making *m)
{
    const h5make *r = m->r;
    hsize_t dims[] = {1, r->n_time > 0 ? (hsize_t)r->n_time : 11, 7, 9};
    hsize_t planes[] = {(hsize_t)r->leading, 1, 7, 9};
    hsize_t tiles[] = {(hsize_t)r->leading, 4, 3, 4};
    hsize_t huge[] = {(hsize_t)r->leading, 150000000, 1, 1};
    hsize_t *chunk = r->tiled ? tiles : r->huge ? huge : planes;
    m->rank = r->leading > 0 ? 4 : 3;
    memcpy(m->dims, dims + 4 - m->rank, (size_t)m->rank * sizeof(*dims));
    memcpy(m->chunk, chunk + 4 - m->rank, (size_t)m->rank * sizeof(*chunk));
}

static bool make_dataset(making *m)
{
    const h5make *r = m->r;
    static const hsize_t unlimited[RANK_MAX] = {H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED,
                                                H5S_UNLIMITED};
    hid_t space = H5Screate_simple(m->rank, m->dims,
                                   r->layout == H5MAKE_CHUNKED && !r->fixed ? unlimited : NULL);
    hid_t dcpl = make_plist(m, space);
    m->dataset = H5Dcreate2(m->file, r->soft_link ? "target" : "v", m->type, space, H5P_DEFAULT,
                            dcpl, H5P_DEFAULT);
    if (r->soft_link) {
        H5Lcreate_soft("/target", m->file, "v", H5P_DEFAULT, H5P_DEFAULT);
    }
    H5Pclose(dcpl);
    hsize_t n = 30;
    hid_t list = H5Screate_simple(1, &n, NULL);
    double numbers[30] = {1.5};
    for (int i = 0; i < r->attributes; i++) {
        char name[32];
        snprintf(name, sizeof(name), "number_%d", i);
        hid_t attr = H5Acreate2(m->dataset, name, H5T_IEEE_F64LE, list, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(attr, H5T_NATIVE_DOUBLE, numbers);
        H5Aclose(attr);
    }
    H5Sclose(list);
    H5Sclose(space);
    return m->dataset >= 0;
}

/* Byte b of a value, the same each time, with some order in it. */
static uint8_t value_byte(uint64_t value, size_t b)
{
    uint64_t mixed = value * 0x9E3779B97F4A7C15U;
    return (uint8_t)(b == 0 ? mixed >> 57 : value >> (3 + b));
}

/* Fills a whole chunk; what sticks out of the dataset is something else. */
static void fill_chunk(const making *m, const hsize_t *origin, uint8_t *to)
{
    size_t size = (size_t)m->r->value_bytes;
    hsize_t n = 1;
    for (int i = 0; i < m->rank; i++) {
        n *= m->chunk[i];
    }
    for (hsize_t k = 0; k < n; k++) {
        hsize_t rest = k, unit = 1, value = 0;
        bool inside = true;
        for (int i = m->rank - 1; i >= 0; i--) {
            hsize_t at = origin[i] + rest % m->chunk[i];
            inside = inside && at < m->dims[i];
            value += at * unit;
            unit *= m->dims[i];
            rest /= m->chunk[i];
        }
        for (size_t b = 0; b < size; b++) {
            to[k * size + b] = (uint8_t)(inside ? value_byte(value, b) : 0x5A);
        }
    }
}

static size_t shuffle(const uint8_t *from, size_t n, size_t size, uint8_t *to)
{
    size_t values = n / size;
    memcpy(to, from, n);
    for (size_t b = 0; b < size; b++) {
        for (size_t v = 0; v < values; v++) {
            to[b * values + v] = from[v * size + b];
        }
    }
    return n;
}

/* Applies the filters but those of the mask, as HDF5 would; returns the length. */
static size_t apply_filters(const h5make *r, unsigned mask, uint8_t *bytes, size_t n)
{
    size_t room = 2 * n + 1024;
    uint8_t *other = malloc(room);
    for (int i = 0; r->filters[i] != '\0'; i++) {
        if ((mask >> i & 1) != 0) {
            continue;
        }
        if (r->filters[i] == 'f') {
            uint32_t sum = ek__fletcher32(bytes, n); /* HDF5 checks it as it reads */
            for (int b = 0; b < 4; b++) {
                bytes[n++] = (uint8_t)(sum >> (8 * b));
            }
            continue;
        }
        if (r->filters[i] == 'd') {
            struct libdeflate_compressor *deflate = libdeflate_alloc_compressor(4);
            n = libdeflate_zlib_compress(deflate, bytes, n, other, room);
            libdeflate_free_compressor(deflate);
        } else {
            n = shuffle(bytes, n, (size_t)r->value_bytes, other);
        }
        memcpy(bytes, other, n);
    }
    free(other);
    return n;
}

static bool write_chunks(making *m)
{
    const h5make *r = m->r;
    size_t raw = (size_t)r->value_bytes;
    hsize_t counts[RANK_MAX] = {1, 1, 1, 1}, n_chunks = 1;
    int rank = EK_MIN(m->rank, RANK_MAX);
    for (int i = 0; i < rank; i++) {
        raw *= m->chunk[i];
        counts[i] = EK_MAX((m->dims[i] + m->chunk[i] - 1) / m->chunk[i], 1);
        n_chunks *= counts[i];
    }
    uint8_t *bytes = malloc(2 * raw + 1024);
    bool written = true;
    for (hsize_t k = 0; k < n_chunks && written; k++) {
        hsize_t origin[RANK_MAX] = {0},
                rest = k * 7 % n_chunks; /* not in order, where 7 allows it */
        rest = n_chunks % 7 == 0 ? k : rest;
        for (int i = rank - 1; i >= 0; i--) {
            origin[i] = rest % counts[i] * m->chunk[i];
            rest /= counts[i];
        }
        if (r->unwritten && k % 3 == 1) {
            continue;
        }
        unsigned mask = r->masked ? (unsigned)k % (1U << strlen(r->filters)) : 0;
        fill_chunk(m, origin, bytes);
        size_t n = apply_filters(r, mask, bytes, raw);
        written = H5Dwrite_chunk(m->dataset, H5P_DEFAULT, mask, origin, n, bytes) >= 0;
    }
    free(bytes);
    return written;
}

static bool write_values(making *m)
{
    const h5make *r = m->r;
    if (r->layout == H5MAKE_CHUNKED) {
        bool ours = r->filters != NULL && strspn(r->filters, "sdf") == strlen(r->filters) &&
                    strcmp(r->filters, "dd") != 0;
        return !ours || write_chunks(m);
    }
    if (r->layout != H5MAKE_CONTIGUOUS || r->unwritten || r->no_fill) {
        return true;
    }
    memcpy(m->chunk, m->dims, sizeof(m->chunk));
    uint8_t *bytes = malloc((size_t)(m->dims[0] * m->dims[1] * m->dims[2]) * 8);
    fill_chunk(m, (hsize_t[RANK_MAX]){0}, bytes);
    bool written = H5Dwrite(m->dataset, m->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0;
    free(bytes);
    return written;
}

static ek_status make_on_io(void *user)
{
    making *m = user;
    const h5make *r = m->r;
    hid_t types[] = {0, H5T_STD_I8LE, H5T_STD_I16LE, 0, H5T_STD_I32LE, 0, 0, 0, H5T_IEEE_F64LE};
    hid_t create = H5Pcreate(H5P_FILE_CREATE);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_userblock(create, (hsize_t)r->user_block);
    if (r->wide_nodes) {
        H5Pset_istore_k(create, 500);
    }
    if (r->newest) {
        H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    } else if (r->header_v2) {
        H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
    }
    m->type = H5Tcopy(types[r->value_bytes]);
    if (r->narrow) {
        H5Tset_precision(m->type, 12);
    }
    set_shape(m);
    m->file = H5Fcreate(m->path, H5F_ACC_TRUNC, create, access);
    bool made = m->file >= 0 && make_dataset(m) && write_values(m);
    H5Dclose(m->dataset);
    H5Tclose(m->type);
    H5Pclose(create);
    H5Pclose(access);
    made = H5Fclose(m->file) >= 0 && made;
    return made ? EK_OK : EK_FAIL(EK_EIO, "HDF5 cannot write %s", m->path);
}

const char *h5make_file(const char *name, const h5make *recipe)
{
    making m = {.r = recipe, .path = ncmake_path(name), .file = -1, .dataset = -1};
    ek_assert_ok(ek_io_call(make_on_io, &m));
    return m.path;
}
