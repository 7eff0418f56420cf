/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and reading the metadata files of a Zarr store. */
#include "core/alloc.h"
#include "stages/load/zarr.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_BYTES_MAX (INT64_C(64) << 20) /* of a metadata file */
#define ARRAYS_MAX     4096

static bool has_file(const char *dir, const char *name)
{
    char path[PATH_MAX];
    struct stat info;
    int n = snprintf(path, sizeof(path), "%s/%s", dir, name);
    return n > 0 && n < (int)sizeof(path) && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool ek__zarr_is_store(const char *path)
{
    return has_file(path, "zarr.json") || has_file(path, ".zgroup") || has_file(path, ".zarray") ||
           has_file(path, ".zmetadata");
}

bool ek__zarr_stamp(const char *path, int64_t *n_bytes, int64_t *mtime_ns)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        return false;
    }
    *n_bytes = info.st_size;
    *mtime_ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
    return true;
}

static ek_status read_open(int fd, const char *path, char **text, size_t *n)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return EK_FAIL(EK_EIO, "%s is not a regular file", path);
    }
    if (info.st_size > TEXT_BYTES_MAX) {
        return EK_FAIL(EK_EDATA, "%s has %lld bytes, too many for metadata", path,
                       (long long)info.st_size);
    }
    *text = ek_alloc((size_t)info.st_size + 1, 1);
    if (*text == NULL) {
        return EK_ENOMEM;
    }
    while (*n < (size_t)info.st_size) {
        ssize_t got = read(fd, *text + *n, (size_t)info.st_size - *n);
        if (got < 0 && errno != EINTR) {
            return EK_FAIL_CODE(EK_EIO, errno, "%s: cannot be read: %s", path, strerror(errno));
        }
        if (got == 0) {
            break;
        }
        *n += got > 0 ? (size_t)got : 0;
    }
    return EK_OK;
}

/* Reads DIR/NAME as JSON; *out stays NULL if there is no such file. */
static ek_status read_json(const char *dir, const char *name, json_t **out)
{
    *out = NULL;
    if (!has_file(dir, name)) {
        return EK_OK;
    }
    char *text = NULL;
    size_t n = 0;
    int fd = -1;
    ek_status rc = EK_OK;
    char *path = ek_strprintf("%s/%s", dir, name);
    EK_GOTO(path != NULL ? EK_OK : EK_ENOMEM, done);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        rc = EK_FAIL_CODE(EK_EIO, errno, "%s: cannot be opened: %s", path, strerror(errno));
        goto done;
    }
    EK_GOTO(read_open(fd, path, &text, &n), done);
    rc = ek__zarr_json(text, n, path, out);
done:
    if (fd >= 0) {
        close(fd);
    }
    ek_free(text);
    ek_free(path);
    return rc;
}

/* Where an array's metadata are. */
typedef struct source {
    const char *dir;  /* of the file that has them */
    const char *file; /* its name */
    json_t *meta, *attrs;
    int version;
} source;

/* The name of an array that is the whole store: its directory's, without ".zarr". */
static char *root_name(const char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') {
        end--;
    }
    size_t start = end;
    while (start > 0 && path[start - 1] != '/') {
        start--;
    }
    if (end - start > 5 && strncmp(path + end - 5, ".zarr", 5) == 0) {
        end -= 5;
    }
    return ek_strprintf("%.*s", (int)(end - start), path + start);
}

/* Adds an array; `name` NULL: it is the root. */
static ek_status add_array(ek__zarr_store *store, const char *name, const source *from)
{
    if (store->n_arrays == ARRAYS_MAX) {
        return EK_FAIL(EK_ENOTSUP, "%s has more than %d arrays", store->path, ARRAYS_MAX);
    }
    EK_TRY(ek_grow(&store->arrays, &store->capacity, store->n_arrays, sizeof(*store->arrays)));
    ek__zarr_array *a = &store->arrays[store->n_arrays++];
    *a = (ek__zarr_array){0};
    a->name = name != NULL ? ek_strdup(name) : root_name(store->path);
    a->dir = name != NULL ? ek_strprintf("%s/%s", store->path, name) : ek_strdup(store->path);
    a->meta_path = ek_strprintf("%s/%s", from->dir, from->file);
    if (a->name == NULL || a->dir == NULL || a->meta_path == NULL) {
        return EK_ENOMEM;
    }
    if (!ek__zarr_stamp(a->meta_path, &a->meta_bytes, &a->meta_mtime_ns)) {
        return EK_FAIL_CODE(EK_EIO, errno, "%s: %s", a->meta_path, strerror(errno));
    }
    return from->version == 2 ? ek__zarr_parse_v2(from->meta, from->attrs, a->meta_path, a)
                              : ek__zarr_parse_v3(from->meta, a->meta_path, a);
}

/* A name that is one step below the root, and no way out of it. */
static bool is_child(const char *name)
{
    return name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

/* Takes the arrays listed in .zmetadata. */
static ek_status take_consolidated_v2(ek__zarr_store *store, json_t *all)
{
    json_t *metadata = json_object_get(all, "metadata");
    if (!json_is_object(metadata)) {
        return EK_FAIL(EK_EDATA, "%s/.zmetadata has no metadata; the store may be damaged",
                       store->path);
    }
    store->attrs = json_incref(json_object_get(metadata, ".zattrs"));
    static const char array_end[] = "/.zarray";
    static const char group_end[] = "/.zgroup";
    for (void *at = json_object_iter(metadata); at != NULL;
         at = json_object_iter_next(metadata, at)) {
        const char *key = json_object_iter_key(at);
        size_t n = strlen(key);
        size_t end = sizeof(array_end) - 1;
        store->has_groups = store->has_groups || (n > end && strcmp(key + n - end, group_end) == 0);
        if (n <= end || n - end > NAME_MAX || strcmp(key + n - end, array_end) != 0) {
            continue;
        }
        char name[NAME_MAX + 1];
        char attrs[NAME_MAX + 16];
        snprintf(name, sizeof(name), "%.*s", (int)(n - end), key);
        snprintf(attrs, sizeof(attrs), "%s/.zattrs", name);
        if (is_child(name)) {
            source from = {store->path, ".zmetadata", json_object_iter_value(at),
                           json_object_get(metadata, attrs), 2};
            EK_TRY(add_array(store, name, &from));
        }
    }
    return EK_OK;
}

static ek_status take_consolidated_v3(ek__zarr_store *store, const json_t *metadata)
{
    for (void *at = json_object_iter((json_t *)metadata); at != NULL;
         at = json_object_iter_next((json_t *)metadata, at)) {
        const char *name = json_object_iter_key(at);
        json_t *meta = json_object_iter_value(at);
        const char *type = json_string_value(json_object_get(meta, "node_type"));
        bool is_array = type != NULL && strcmp(type, "array") == 0;
        store->has_groups = store->has_groups || !is_array;
        if (is_array && is_child(name)) {
            source from = {store->path, "zarr.json", meta, NULL, 3};
            EK_TRY(add_array(store, name, &from));
        }
    }
    return EK_OK;
}

/* Looks at one directory below the root. */
static ek_status scan_child(ek__zarr_store *store, const char *name, int version)
{
    static const char *const files[] = {[2] = ".zarray", [3] = "zarr.json"};
    source from = {.file = files[version], .version = version};
    ek_status rc = EK_OK;
    char *dir = ek_strprintf("%s/%s", store->path, name);
    EK_GOTO(dir != NULL ? EK_OK : EK_ENOMEM, done);
    from.dir = dir;
    EK_GOTO(read_json(dir, from.file, &from.meta), done);
    if (version == 2) {
        store->has_groups = store->has_groups || has_file(dir, ".zgroup");
        EK_GOTO(read_json(dir, ".zattrs", &from.attrs), done);
    }
    const char *type = json_string_value(json_object_get(from.meta, "node_type"));
    bool is_group = version == 3 && from.meta != NULL && (type == NULL || type[0] != 'a');
    store->has_groups = store->has_groups || is_group;
    if (from.meta != NULL && !is_group) {
        rc = add_array(store, name, &from);
    }
done:
    json_decref(from.meta);
    json_decref(from.attrs);
    ek_free(dir);
    return rc;
}

static ek_status scan(ek__zarr_store *store, int version)
{
    DIR *dir = opendir(store->path);
    if (dir == NULL) {
        return EK_FAIL_CODE(EK_EIO, errno, "%s: cannot be opened: %s", store->path,
                            strerror(errno));
    }
    ek_status rc = EK_OK;
    for (const struct dirent *entry = readdir(dir); entry != NULL && rc == EK_OK;
         entry = readdir(dir)) {
        if (is_child(entry->d_name)) {
            rc = scan_child(store, entry->d_name, version);
        }
    }
    closedir(dir);
    return rc;
}

static ek_status read_v2(ek__zarr_store *store)
{
    source root = {.dir = store->path, .file = ".zarray", .version = 2};
    json_t *all = NULL;
    ek_status rc = EK_OK;
    EK_GOTO(read_json(store->path, ".zmetadata", &all), done);
    if (all != NULL) {
        rc = take_consolidated_v2(store, all);
        goto done;
    }
    EK_GOTO(read_json(store->path, ".zattrs", &root.attrs), done);
    EK_GOTO(read_json(store->path, ".zarray", &root.meta), done);
    if (root.meta != NULL) {
        rc = add_array(store, NULL, &root);
        goto done;
    }
    store->attrs = json_incref(root.attrs);
    rc = scan(store, 2);
done:
    json_decref(root.meta);
    json_decref(root.attrs);
    json_decref(all);
    return rc;
}

static ek_status read_v3(ek__zarr_store *store)
{
    source root = {.dir = store->path, .file = "zarr.json", .version = 3};
    ek_status rc = EK_OK;
    EK_GOTO(read_json(store->path, "zarr.json", &root.meta), done);
    const char *type = json_string_value(json_object_get(root.meta, "node_type"));
    if (type != NULL && strcmp(type, "array") == 0) {
        rc = add_array(store, NULL, &root);
        goto done;
    }
    if (type == NULL || strcmp(type, "group") != 0) {
        rc = EK_FAIL(EK_EDATA, "%s/zarr.json is neither a group nor an array", store->path);
        goto done;
    }
    store->attrs = json_incref(json_object_get(root.meta, "attributes"));
    const json_t *metadata =
        json_object_get(json_object_get(root.meta, "consolidated_metadata"), "metadata");
    rc = json_is_object(metadata) ? take_consolidated_v3(store, metadata) : scan(store, 3);
done:
    json_decref(root.meta);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const ek__zarr_array *)a)->name, ((const ek__zarr_array *)b)->name);
}

ek_status ek__zarr_store_open(ek__zarr_store **out, const char *path)
{
    *out = NULL;
    ek__zarr_store *store = ek_alloc(1, sizeof(*store));
    if (store == NULL) {
        return EK_ENOMEM;
    }
    ek_status rc = EK_OK;
    store->path = ek_strdup(path);
    EK_GOTO(store->path != NULL ? EK_OK : EK_ENOMEM, done);
    EK_GOTO(has_file(path, "zarr.json") ? read_v3(store) : read_v2(store), done);
    if (store->n_arrays == 0) {
        rc = EK_FAIL(EK_ENOENT, "the Zarr store %s has no arrays in its root group%s", path,
                     store->has_groups
                         ? "; arrays in other groups are not read, name a group's own directory"
                         : "");
        goto done;
    }
    qsort(store->arrays, store->n_arrays, sizeof(*store->arrays), by_name);
    *out = store;
    store = NULL;
done:
    ek__zarr_store_close(store);
    return rc;
}

void ek__zarr_store_close(ek__zarr_store *store)
{
    if (store == NULL) {
        return;
    }
    for (size_t i = 0; i < store->n_arrays; i++) {
        ek__zarr_array_free(&store->arrays[i]);
    }
    ek_free(store->arrays);
    json_decref(store->attrs);
    ek_free(store->path);
    ek_free(store);
}

const ek__zarr_array *ek__zarr_store_find(const ek__zarr_store *store, const char *name)
{
    for (size_t i = 0; i < store->n_arrays; i++) {
        if (strcmp(store->arrays[i].name, name) == 0) {
            return &store->arrays[i];
        }
    }
    return NULL;
}
