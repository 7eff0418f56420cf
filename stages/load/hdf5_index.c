/* SPDX-License-Identifier: Apache-2.0 */
/* After the HDF5 file format specification, version 3.0: superblock (II), version-1 B-trees
 * (III.A.1), object headers (IV.A.1), data layout message version 3 (IV.A.2.i). */
#include "stages/load/hdf5_index.h"

#include <string.h>
#include <unistd.h>

#define MESSAGE_LAYOUT       0x08
#define MESSAGE_CONTINUATION 0x10
#define BLOCKS_MAX           64    /* of an object header */
#define BLOCK_BYTES          65536 /* read of one */
#define NODE_BYTES           65536 /* of a tree node */
#define DEPTH_MAX            16

const char ek__hdf5_no_memory[] = "there is no memory for its chunk index";
static const char cut_short[] = "its chunk index points outside the file";
static const char newer[] = "its chunk index is of a newer form";
static const char damaged[] = "its chunk index makes no sense";

/* A walk in progress; error is NULL while all is well. */
typedef struct walk {
    const ek__hdf5_bytes *bytes;
    const ek__hdf5_grid *grid;
    ek__hdf5_chunk *chunks;
    int64_t found;
    int64_t nodes_left; /* so that a tree that runs in circles ends */
    const char *error;
} walk;

static bool fetch(const ek__hdf5_bytes *bytes, uint64_t at, size_t n, uint8_t *out)
{
    if (at > bytes->size || n > bytes->size - at) {
        return false;
    }
    if (bytes->memory != NULL) {
        memcpy(out, bytes->memory + at, n);
        return true;
    }
    return pread(bytes->fd, out, n, (off_t)at) == (ssize_t)n;
}

static uint64_t number(const uint8_t *at, int n)
{
    uint64_t value = 0;
    for (int i = n - 1; i >= 0; i--) {
        value = value << 8 | at[i];
    }
    return value;
}

/* check_superblock makes sure that addresses have 8 bytes and count from the file's start. */
static const char *check_superblock(const ek__hdf5_bytes *bytes)
{
    static const uint8_t signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    uint8_t s[40];
    if (!fetch(bytes, 0, sizeof(s), s) || memcmp(s, signature, sizeof(signature)) != 0) {
        return "it has a user block";
    }
    bool old = s[8] <= 1;
    uint8_t offsets = old ? s[13] : s[9];
    uint8_t lengths = old ? s[14] : s[10];
    size_t base = old ? (s[8] == 0 ? 24 : 28) : 12;
    if (s[8] > 3 || offsets != 8 || lengths != 8 || number(s + base, 8) != 0) {
        return "its addresses are not 8 bytes from the file's start";
    }
    return NULL;
}

/* A block of an object header still to be looked at. */
typedef struct block {
    uint64_t at, bytes;
} block;

typedef struct header_walk {
    const ek__hdf5_bytes *bytes;
    block blocks[BLOCKS_MAX];
    int n_blocks;
    int prefix; /* bytes before a message's data */
    bool version2;
    uint8_t layout[64];
    size_t n_layout;
} header_walk;

/* look_at_messages scans one block for the layout and for further blocks. */
static const char *look_at_messages(header_walk *h, const uint8_t *data, uint64_t n)
{
    for (uint64_t at = 0; at + (uint64_t)h->prefix <= n;) {
        int type = h->version2 ? data[at] : (int)number(data + at, 2);
        uint64_t size = number(data + at + (h->version2 ? 1 : 2), 2);
        at += (uint64_t)h->prefix;
        if (size > n - at) {
            return damaged;
        }
        if (type == MESSAGE_LAYOUT && h->n_layout == 0) {
            h->n_layout = EK_MIN(size, sizeof(h->layout));
            memcpy(h->layout, data + at, h->n_layout);
        }
        if (type == MESSAGE_CONTINUATION && size >= 16) {
            if (h->n_blocks == BLOCKS_MAX) {
                return damaged;
            }
            h->blocks[h->n_blocks++] = (block){number(data + at, 8), number(data + at + 8, 8)};
        }
        at += size;
    }
    return NULL;
}

/* open_header reads the start of the object header: which version, and its first block. */
static const char *open_header(header_walk *h, uint64_t header)
{
    uint8_t s[34];
    size_t n = EK_MIN(sizeof(s), h->bytes->size - EK_MIN(header, h->bytes->size));
    if (n < 16 || !fetch(h->bytes, header, n, s)) {
        return cut_short;
    }
    if (s[0] == 1) {
        h->prefix = 8;
        h->blocks[h->n_blocks++] = (block){header + 16, number(s + 8, 4)};
        return NULL;
    }
    if (memcmp(s, "OHDR", 4) != 0 || s[4] != 2) {
        return newer;
    }
    h->version2 = true;
    h->prefix = 4 + (s[5] & 4 ? 2 : 0);
    size_t at = 6 + (s[5] & 0x20 ? 16 : 0) + (s[5] & 0x10 ? 4 : 0);
    int width = 1 << (s[5] & 3);
    if (at + (size_t)width > n) {
        return cut_short;
    }
    h->blocks[h->n_blocks++] = (block){header + at + (size_t)width, number(s + at, width)};
    return NULL;
}

/* find_tree goes through the object header for the layout and returns the root's address in *out.
 */
static const char *find_tree(const ek__hdf5_bytes *bytes, uint64_t header,
                             const ek__hdf5_grid *grid, uint64_t *out)
{
    header_walk h = {.bytes = bytes};
    static _Thread_local uint8_t data[BLOCK_BYTES];
    const char *error = open_header(&h, header);
    for (int i = 0; i < h.n_blocks && error == NULL; i++) {
        block b = h.blocks[i];
        if (h.version2 && i > 0) { /* "OCHK", and a checksum at the end */
            if (b.bytes < 8) {
                return damaged;
            }
            b.at += 4;
            b.bytes -= 8;
        }
        if (b.bytes > sizeof(data)) {
            return newer;
        }
        error = fetch(bytes, b.at, b.bytes, data) ? look_at_messages(&h, data, b.bytes) : cut_short;
    }
    if (error != NULL) {
        return error;
    }
    size_t wanted = 3 + 8 + 4 * ((size_t)grid->rank + 1);
    if (h.n_layout < wanted || h.layout[0] != 3 || h.layout[1] != 2) {
        return newer;
    }
    if (h.layout[2] != grid->rank + 1) {
        return damaged;
    }
    for (int d = 0; d < grid->rank; d++) {
        if ((int64_t)number(h.layout + 11 + 4 * d, 4) != grid->chunk[d]) {
            return damaged;
        }
    }
    *out = number(h.layout + 3, 8);
    return NULL;
}

/* put_chunk enters a leaf's key and child. */
static void put_chunk(walk *w, const uint8_t *key, uint64_t address)
{
    int64_t index = 0;
    for (int d = 0; d < w->grid->rank; d++) {
        uint64_t first = number(key + 8 + 8 * d, 8);
        uint64_t unit = (uint64_t)w->grid->chunk[d];
        if (first % unit != 0 || first / unit >= (uint64_t)w->grid->counts[d]) {
            w->error = damaged;
            return;
        }
        index = index * w->grid->counts[d] + (int64_t)(first / unit);
    }
    ek__hdf5_chunk *chunk = &w->chunks[index];
    uint32_t bytes = (uint32_t)number(key, 4);
    if (address > w->bytes->size || bytes > w->bytes->size - address) {
        w->error = cut_short;
    } else if (chunk->bytes != 0 || bytes == 0) {
        w->error = damaged;
    } else {
        *chunk = (ek__hdf5_chunk){address, bytes, (uint32_t)number(key + 4, 4)};
        w->found++;
    }
}

/* walk_node goes through one node; the depth is bounded by the level, which must go down. */
static void walk_node(walk *w, uint64_t at, int level)
{
    uint8_t head[24];
    size_t key = 8 + 8 * ((size_t)w->grid->rank + 1);
    if (w->nodes_left-- <= 0) {
        w->error = damaged;
        return;
    }
    if (!fetch(w->bytes, at, sizeof(head), head)) {
        w->error = cut_short;
        return;
    }
    size_t n = number(head + 6, 2);
    bool sound = memcmp(head, "TREE", 4) == 0 && head[4] == 1 && head[5] < DEPTH_MAX &&
                 (level < 0 || head[5] == level) && n * (key + 8) <= NODE_BYTES;
    if (!sound) {
        w->error = damaged;
        return;
    }
    uint8_t *entries = ek_alloc(1, n * (key + 8));
    if (entries == NULL) {
        w->error = ek__hdf5_no_memory;
    } else if (!fetch(w->bytes, at + sizeof(head), n * (key + 8), entries)) {
        w->error = cut_short;
    }
    for (size_t i = 0; i < n && w->error == NULL; i++) {
        const uint8_t *entry = entries + i * (key + 8);
        uint64_t child = number(entry + key, 8);
        if (head[5] == 0) {
            put_chunk(w, entry, child);
        } else {
            walk_node(w, child, head[5] - 1);
        }
    }
    ek_free(entries);
}

const char *ek__hdf5_index(const ek__hdf5_bytes *bytes, uint64_t header, const ek__hdf5_grid *grid,
                           ek__hdf5_chunk *chunks, int64_t *n_found)
{
    uint64_t root = 0;
    *n_found = 0;
    const char *error = check_superblock(bytes);
    if (error == NULL) {
        error = find_tree(bytes, header, grid, &root);
    }
    if (error != NULL || root == UINT64_MAX) { /* no tree: nothing was ever written */
        return error;
    }
    walk w = {.bytes = bytes, .grid = grid, .chunks = chunks, .nodes_left = grid->n_chunks + 64};
    walk_node(&w, root, -1);
    *n_found = w.found;
    return w.error;
}
