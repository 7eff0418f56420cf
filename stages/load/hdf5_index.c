/* SPDX-License-Identifier: Apache-2.0 */
/* The way from a dataset's object header to its chunks. */
#include "stages/load/hdf5_index.h"

#include "core/alloc.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS_MAX      256 /* pieces of an object header */
#define BLOCK_BYTES_MAX (UINT64_C(1) << 22)
#define DEPTH_MAX       12
#define NODE_HEAD       24   /* bytes of a node before its entries */
#define NODE_BYTES      4096 /* read at once: HDF5's usual 64 entries, up to 4 dimensions */

enum { MESSAGE_LAYOUT = 8, MESSAGE_CONTINUATION = 16, MESSAGE_SHARED = 2 };

const char *ek__hdf5_grid_finish(ek__hdf5_grid *grid)
{
    grid->n_chunks = 1;
    grid->chunk_values = 1;
    if (grid->rank < 1 || grid->rank > EK_HDF5_RANK_MAX || grid->value_bytes == 0) {
        return "more dimensions than expected";
    }
    for (int i = 0; i < grid->rank; i++) {
        uint64_t size = grid->dims[i];
        uint64_t chunk = grid->chunk[i];
        if (size == 0 || chunk == 0) {
            return "a dimension of size 0";
        }
        grid->counts[i] = (size - 1) / chunk + 1;
        if (__builtin_mul_overflow(grid->n_chunks, grid->counts[i], &grid->n_chunks) ||
            grid->n_chunks > EK_HDF5_CHUNKS_MAX) {
            return "too many chunks";
        }
        if (__builtin_mul_overflow(grid->chunk_values, chunk, &grid->chunk_values) ||
            grid->chunk_values > EK_HDF5_CHUNK_MAX / grid->value_bytes) {
            return "chunks too large to decode at once";
        }
    }
    grid->chunk_bytes = grid->chunk_values * grid->value_bytes;
    return NULL;
}

const char *ek__hdf5_index_add(const ek__hdf5_grid *grid, uint64_t file_bytes,
                               const uint64_t *origin, const ek__hdf5_chunk *chunk,
                               ek__hdf5_chunk *chunks)
{
    uint64_t at = 0;
    for (int i = 0; i < grid->rank; i++) {
        if (origin[i] >= grid->dims[i] || origin[i] % grid->chunk[i] != 0) {
            return "chunk index: a chunk outside the grid";
        }
        at = at * grid->counts[i] + origin[i] / grid->chunk[i];
    }
    if (chunk->n_bytes == 0 || chunk->offset >= file_bytes ||
        chunk->n_bytes > file_bytes - chunk->offset) {
        return "chunk index: a chunk outside the file";
    }
    /* What filters do not shrink is stored as it is, or little longer. */
    if (chunk->n_bytes > grid->chunk_bytes + grid->chunk_bytes / 8 + 4096) {
        return "chunk index: a chunk stored much longer than its values";
    }
    if (chunks[at].n_bytes != 0) {
        return "chunk index: a chunk stands there twice";
    }
    chunks[at] = *chunk;
    return NULL;
}

typedef struct walk {
    const ek__hdf5_file *file;
    const ek__hdf5_grid *grid;
    ek__hdf5_chunk *chunks;
    ek__hdf5_walked *out;
    bool continued_v2; /* the header is of version 2 */
    int message_head;  /* bytes before each message's data */
    uint64_t tree;     /* address of the root; UINT64_MAX: none */
    bool has_tree;
    int n_blocks;
    struct block {
        uint64_t at, n_bytes;
    } blocks[BLOCKS_MAX];
} walk;

static uint64_t number(const uint8_t *bytes, int n)
{
    uint64_t value = 0;
    for (int i = n - 1; i >= 0; i--) {
        value = value << 8 | bytes[i];
    }
    return value;
}

/* Records why the index is not believed; the first reason stays. */
static void doubt(walk *w, const char *problem)
{
    if (w->out->problem == NULL) {
        w->out->problem = problem;
    }
}

static bool failed(const walk *w)
{
    return w->out->problem != NULL;
}

static bool read_at(walk *w, uint64_t at, uint64_t n, uint8_t *to)
{
    const ek__hdf5_file *file = w->file;
    if (at > file->n_bytes || n > file->n_bytes - at) {
        doubt(w, "chunk index: an address outside the file");
        return false;
    }
    if (file->fd < 0) {
        memcpy(to, file->memory + at, n);
        return true;
    }
    while (n > 0) {
        ssize_t got = pread(file->fd, to, n, (off_t)at);
        if (got <= 0) {
            if (got < 0 && errno == EINTR) {
                continue;
            }
            doubt(w, "chunk index: the file cannot be read");
            return false;
        }
        at += (uint64_t)got;
        n -= (uint64_t)got;
        to += got;
    }
    return true;
}

static void add_block(walk *w, uint64_t at, uint64_t n_bytes)
{
    if (w->n_blocks == BLOCKS_MAX || n_bytes > BLOCK_BYTES_MAX) {
        doubt(w, "chunk index: the object header is too large");
        return;
    }
    w->blocks[w->n_blocks++] = (struct block){.at = at, .n_bytes = n_bytes};
}

/* A version-1 header: 16 bytes, then messages. */
static void open_header_v1(walk *w, uint64_t at, const uint8_t *head)
{
    w->message_head = 8;
    add_block(w, at + 16, number(head + 8, 4));
}

/* A version-2 header: signature, version, flags, times and limits where the flags say so, the size
 * of the first block, then messages. */
static void open_header_v2(walk *w, uint64_t at, const uint8_t *head)
{
    unsigned flags = head[5];
    uint64_t skip = 6 + ((flags & 0x20) != 0 ? 16 : 0) + ((flags & 0x10) != 0 ? 4 : 0);
    int size_bytes = 1 << (flags & 3);
    uint8_t size[8] = {0};
    w->continued_v2 = true;
    w->message_head = (flags & 4) != 0 ? 6 : 4;
    if (read_at(w, at + skip, (uint64_t)size_bytes, size)) {
        add_block(w, at + skip + (uint64_t)size_bytes, number(size, size_bytes));
    }
}

/* A data layout message: version, class, rank + 1, address of the B-tree, the chunk's dimensions
 * and the size of a value. */
static void read_layout(walk *w, const uint8_t *data, uint64_t n)
{
    const ek__hdf5_grid *grid = w->grid;
    uint64_t needed = 3 + 8 + 4 * ((uint64_t)grid->rank + 1);
    if (n < 3 || data[0] != 3) {
        doubt(w, n >= 1 && data[0] > 3 ? "chunk index of a newer form"
                                       : "chunk index of an older form");
        return;
    }
    if (data[1] != 2 || data[2] != grid->rank + 1 || n < needed) {
        doubt(w, "chunk index: another rank than the variable's");
        return;
    }
    bool same = number(data + 11 + 4 * (uint64_t)grid->rank, 4) == grid->value_bytes;
    for (int i = 0; i < grid->rank; i++) {
        same = same && number(data + 11 + 4 * (uint64_t)i, 4) == grid->chunk[i];
    }
    if (!same) {
        doubt(w, "chunk index: another chunk shape than the variable's");
        return;
    }
    w->tree = number(data + 3, 8);
    w->has_tree = true;
}

/* Looks through the messages of a block for the layout and for further blocks. */
static void read_messages(walk *w, const uint8_t *data, uint64_t n)
{
    uint64_t head = (uint64_t)w->message_head;
    for (uint64_t at = 0; !failed(w) && !w->has_tree && n - at >= head;) {
        const uint8_t *message = data + at;
        unsigned type = w->continued_v2 ? message[0] : (unsigned)number(message, 2);
        uint64_t size = number(message + (w->continued_v2 ? 1 : 2), 2);
        unsigned flags = message[w->continued_v2 ? 3 : 4];
        at += head;
        if (size > n - at) {
            doubt(w, "chunk index: a message outside the object header");
        } else if (type == MESSAGE_LAYOUT && (flags & MESSAGE_SHARED) != 0) {
            doubt(w, "chunk index: a shared layout");
        } else if (type == MESSAGE_LAYOUT) {
            read_layout(w, data + at, size);
        } else if (type == MESSAGE_CONTINUATION && size >= 16) {
            add_block(w, number(data + at, 8), number(data + at + 8, 8));
        }
        at += size;
    }
}

/* Continuations of a version-2 header have a signature before and a checksum after the messages. */
static ek_status read_block(walk *w, int i)
{
    struct block b = w->blocks[i];
    if (b.at > w->file->n_bytes || b.n_bytes > w->file->n_bytes - b.at) {
        doubt(w, "chunk index: the object header ends outside the file");
        return EK_OK;
    }
    uint8_t *data = ek_alloc(b.n_bytes, 1);
    if (data == NULL) {
        return EK_ENOMEM;
    }
    if (read_at(w, b.at, b.n_bytes, data)) {
        if (i == 0 || !w->continued_v2) {
            read_messages(w, data, b.n_bytes);
        } else if (b.n_bytes >= 8 && memcmp(data, "OCHK", 4) == 0) {
            read_messages(w, data + 4, b.n_bytes - 8);
        } else {
            doubt(w, "chunk index: the object header is damaged");
        }
    }
    ek_free(data);
    return EK_OK;
}

static ek_status find_tree(walk *w, uint64_t header)
{
    uint8_t head[16];
    if (!read_at(w, header, sizeof(head), head)) {
        return EK_OK;
    }
    if (memcmp(head, "OHDR", 4) == 0 && head[4] == 2) {
        open_header_v2(w, header, head);
    } else if (head[0] == 1) {
        open_header_v1(w, header, head);
    } else {
        doubt(w, "chunk index: no object header");
    }
    for (int i = 0; i < w->n_blocks && !failed(w) && !w->has_tree; i++) {
        EK_TRY(read_block(w, i));
    }
    if (!w->has_tree) {
        doubt(w, "chunk index: no layout message");
    }
    return EK_OK;
}

/* Of a key of a node; the dimensions are those of the variable and the bytes of a value. */
static uint64_t key_bytes_of(const walk *w)
{
    return 8 + 8 * ((uint64_t)w->grid->rank + 1);
}

/* A key of a leaf: stored size, filter mask, the coordinates of the first value, and 0 in place of
 * one along the bytes of a value. */
static void read_leaf(walk *w, const uint8_t *key, uint64_t child)
{
    uint64_t origin[EK_HDF5_RANK_MAX] = {0};
    int rank = w->grid->rank;
    for (int i = 0; i < rank; i++) {
        origin[i] = number(key + 8 + 8 * (size_t)i, 8);
    }
    ek__hdf5_chunk chunk = {
        .offset = child, .n_bytes = (uint32_t)number(key, 4), .mask = (uint32_t)number(key + 4, 4)};
    const char *problem = ek__hdf5_index_add(w->grid, w->file->n_bytes, origin, &chunk, w->chunks);
    if (problem != NULL) {
        doubt(w, problem);
        return;
    }
    w->out->n_found++;
}

static ek_status walk_node(walk *w, uint64_t at, int level);

/* Goes through the n entries of a node: a key and the address of what it stands for. */
static ek_status walk_entries(walk *w, const uint8_t *entries, uint64_t n, int level)
{
    uint64_t key_bytes = key_bytes_of(w);
    for (uint64_t i = 0; i < n && !failed(w); i++) {
        const uint8_t *key = entries + i * (key_bytes + 8);
        uint64_t child = number(key + key_bytes, 8);
        if (level == 0) {
            read_leaf(w, key, child);
        } else {
            EK_TRY(walk_node(w, child, level - 1));
        }
    }
    return EK_OK;
}

/* Reads the node at `at` and those below. Levels go down by one each time and every leaf brings new
 * chunks, so a damaged tree comes to an end too. `level` is -1 for the root: any up to DEPTH_MAX.
 * A node of the usual size is read at once, with what lies behind it. */
static ek_status walk_node(walk *w, uint64_t at, int level)
{
    uint8_t node[NODE_BYTES];
    uint64_t got = at < w->file->n_bytes ? EK_MIN(w->file->n_bytes - at, sizeof(node)) : 0;
    if (got < NODE_HEAD || !read_at(w, at, got, node)) {
        doubt(w, "chunk index: an address outside the file");
        return EK_OK;
    }
    bool is_root = level < 0;
    level = is_root ? node[5] : level;
    uint64_t n = number(node + 6, 2);
    if (memcmp(node, "TREE", 4) != 0 || node[4] != 1 || node[5] != level || level > DEPTH_MAX ||
        (n == 0 && !is_root)) {
        doubt(w, "chunk index: a damaged node");
        return EK_OK;
    }
    uint64_t n_bytes = n * (key_bytes_of(w) + 8);
    if (n_bytes <= got - NODE_HEAD) {
        return walk_entries(w, node + NODE_HEAD, n, level);
    }
    if (n_bytes > w->file->n_bytes - NODE_HEAD - at) {
        doubt(w, "chunk index: a node outside the file");
        return EK_OK;
    }
    uint8_t *entries = ek_alloc(n_bytes, 1);
    if (entries == NULL) {
        return EK_ENOMEM;
    }
    ek_status rc = EK_OK;
    if (read_at(w, at + NODE_HEAD, n_bytes, entries)) {
        rc = walk_entries(w, entries, n, level);
    }
    ek_free(entries);
    return rc;
}

ek_status ek__hdf5_index_walk(const ek__hdf5_file *file, uint64_t header, const ek__hdf5_grid *grid,
                              ek__hdf5_chunk *chunks, ek__hdf5_walked *out)
{
    *out = (ek__hdf5_walked){0};
    walk *w = ek_alloc(1, sizeof(*w));
    if (w == NULL) {
        return EK_ENOMEM;
    }
    w->file = file;
    w->grid = grid;
    w->chunks = chunks;
    w->out = out;
    ek_status rc = find_tree(w, header);
    if (rc == EK_OK && !failed(w) && w->tree != UINT64_MAX) {
        rc = walk_node(w, w->tree, -1);
    }
    ek_free(w);
    return rc;
}
