/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing state files; see state_internal.h for what they hold. */
#include "graphs/state_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT     1
#define BYTE_ORDER 0x01020304

typedef struct prefix {
    char magic[8];
    uint32_t format, order;
    int64_t head_bytes;
    uint32_t head_crc;
    uint32_t crc; /* of all before it */
} prefix;

static const char magic[8] = {'E', 'K', 'S', 'T', 'A', 'T', 'E', '\n'};

static uint32_t crc_of(const void *bytes, size_t n)
{
    return libdeflate_crc32(0, bytes, n);
}

/* ---- reading ---- */

static ek_status read_all(int fd, void *to, size_t n, int64_t offset)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(fd, (char *)to + done, n - done, offset + (int64_t)done);
        if (got == 0) {
            return EK_FAIL(EK_ETRUNC, "it ends early");
        }
        if (got < 0 && errno != EINTR) {
            return EK_FAIL_CODE(EK_EIO, errno, "it cannot be read: %s", strerror(errno));
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return EK_OK;
}

static ek_status check_prefix(const prefix *p, int64_t file_bytes)
{
    if (memcmp(p->magic, magic, sizeof magic) != 0) {
        return EK_FAIL(EK_EDATA, "it is no state file of Ekman");
    }
    if (p->order != BYTE_ORDER) {
        return EK_FAIL(EK_ENOTSUP, "it is from a machine with another byte order, or damaged");
    }
    if (crc_of(p, offsetof(prefix, crc)) != p->crc) {
        return EK_FAIL(EK_EDATA, "it is damaged (checksum of the prefix)");
    }
    if (p->format != FORMAT) {
        return EK_FAIL(EK_ENOTSUP, "it has format %u, and this program reads format %d", p->format,
                       FORMAT);
    }
    if (p->head_bytes < 0 || p->head_bytes > file_bytes - (int64_t)sizeof *p) {
        return EK_FAIL(EK_ETRUNC, "it ends early");
    }
    return EK_OK;
}

/* Places the blocks and compares their end with the file's. */
static ek_status place_blocks(ek__state *s, int64_t at, int64_t file_bytes)
{
    for (int i = 0; i < s->n_blocks; i++) {
        s->blocks[i].offset = at;
        if (s->blocks[i].bytes > file_bytes - at) {
            return EK_FAIL(EK_ETRUNC, "it ends early");
        }
        at += s->blocks[i].bytes;
    }
    return at == file_bytes ? EK_OK : EK_FAIL(EK_EDATA, "it goes on after its end");
}

static ek_status read_head(ek__state *s)
{
    prefix p;
    struct stat info;
    if (fstat(s->fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return EK_FAIL(EK_EIO, "it is no regular file");
    }
    EK_TRY(read_all(s->fd, &p, sizeof p, 0));
    EK_TRY(check_prefix(&p, info.st_size));
    unsigned char *head = ek_alloc((size_t)p.head_bytes, 1);
    if (head == NULL) {
        return EK_ENOMEM;
    }
    ek_status rc = EK_OK;
    EK_GOTO(read_all(s->fd, head, (size_t)p.head_bytes, sizeof p), done);
    if (crc_of(head, (size_t)p.head_bytes) != p.head_crc) {
        rc = EK_FAIL(EK_EDATA, "it is damaged (checksum of the head)");
        goto done;
    }
    s->head_crc = p.head_crc;
    EK_GOTO(ek__state_parse(s, head, (size_t)p.head_bytes), done);
    rc = place_blocks(s, p.head_bytes + (int64_t)sizeof p, info.st_size);
done:
    ek_free(head);
    return rc;
}

ek_status ek__state_open(ek__state **out, const char *path)
{
    *out = NULL;
    ek__state *s = ek_alloc(1, sizeof *s);
    if (s == NULL) {
        return EK_ENOMEM;
    }
    s->fd = open(path, O_RDONLY | O_CLOEXEC);
    ek_status rc = s->fd < 0 ? EK_FAIL_CODE(errno == ENOENT ? EK_ENOENT : EK_EIO, errno,
                                            "it cannot be opened: %s", strerror(errno))
                             : read_head(s);
    if (rc != EK_OK) {
        ek_error_prefix("state file %s", path);
        ek_error error = *ek_error_last();
        ek__state_destroy(s);
        return ek_error_set(&error);
    }
    *out = s;
    return EK_OK;
}

ek_status ek__state_load(const ek__state *s, int block, void *dst, const char *path)
{
    const ek__state_block *b = &s->blocks[block];
    ek_status rc = read_all(s->fd, dst, (size_t)b->bytes, b->offset);
    if (rc == EK_OK && crc_of(dst, (size_t)b->bytes) != b->crc) {
        rc = EK_FAIL(EK_EDATA, "it is damaged (checksum of node '%s')", b->node);
    }
    return rc == EK_OK ? EK_OK : ek_error_prefix("state file %s", path);
}

/* ---- writing ---- */

ek_status ek__state_replaceable(const char *path)
{
    char found[sizeof magic] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        return EK_OK;
    }
    bool state = fd >= 0 && pread(fd, found, sizeof found, 0) == (ssize_t)sizeof found &&
                 memcmp(found, magic, sizeof magic) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return state ? EK_OK
                 : EK_FAIL(EK_EINVAL,
                           "%s would be overwritten by a state file, and is none; choose "
                           "another name",
                           path);
}

static ek_status write_all(int fd, const void *from, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t put = write(fd, (const char *)from + done, n - done);
        if (put < 0 && errno != EINTR) {
            return EK_FAIL_CODE(EK_EIO, errno, "it cannot be written: %s", strerror(errno));
        }
        done += put > 0 ? (size_t)put : 0;
    }
    return EK_OK;
}

static ek_status write_parts(int fd, const ek__state *s, const ek__pack *head)
{
    prefix p = {.format = FORMAT, .order = BYTE_ORDER, .head_bytes = (int64_t)head->n};
    memcpy(p.magic, magic, sizeof magic);
    p.head_crc = crc_of(head->bytes, head->n);
    p.crc = crc_of(&p, offsetof(prefix, crc));
    EK_TRY(write_all(fd, &p, sizeof p));
    EK_TRY(write_all(fd, head->bytes, head->n));
    for (int i = 0; i < s->n_blocks; i++) {
        EK_TRY(write_all(fd, s->blocks[i].data, (size_t)s->blocks[i].bytes));
    }
    if (fsync(fd) != 0 && errno != EINVAL) { /* EINVAL: nothing to wait for here */
        return EK_FAIL_CODE(EK_EIO, errno, "it could not be brought to disk: %s", strerror(errno));
    }
    return EK_OK;
}

/* Brings the new name to disk, too. */
static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[4096] = ".";
    size_t n = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    if (n > 0 && n < sizeof folder) {
        memcpy(folder, path, n);
        folder[n] = '\0';
    }
    int fd = open(folder, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

static ek_status write_beside(const ek__state *s, const ek__pack *head, const char *part,
                              const char *path)
{
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        return EK_FAIL_CODE(EK_EIO, errno, "it cannot be written: %s", strerror(errno));
    }
    ek_status rc = write_parts(fd, s, head);
    if (close(fd) != 0 && rc == EK_OK) {
        rc = EK_FAIL_CODE(EK_EIO, errno, "it cannot be written: %s", strerror(errno));
    }
    if (rc == EK_OK && rename(part, path) != 0) {
        rc = EK_FAIL_CODE(EK_EIO, errno, "it could not take its place: %s", strerror(errno));
    }
    if (rc != EK_OK) {
        unlink(part);
    }
    return rc;
}

ek_status ek__state_write(ek__state *s, const ek__pack *identity, ek__pack *head, const char *path)
{
    char part[4096];
    int length = snprintf(part, sizeof part, "%s.part", path);
    for (int i = 0; i < s->n_blocks; i++) {
        s->blocks[i].crc = crc_of(s->blocks[i].data, (size_t)s->blocks[i].bytes);
    }
    head->n = 0;
    ek__state_progress(s, head);
    ek__pack_bytes(head, identity->bytes, identity->n);
    if (head->failed || identity->failed) {
        return EK_ENOMEM;
    }
    ek_status rc = length < (int)sizeof part ? write_beside(s, head, part, path)
                                             : EK_FAIL(EK_EINVAL, "its path is too long");
    if (rc != EK_OK) {
        return ek_error_prefix("state file %s", path);
    }
    sync_folder(path);
    return EK_OK;
}
