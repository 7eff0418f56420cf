/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan is, in the words of a state file, and whether two such descriptions agree. Chunk
 * length, slots, threads, launch mode and backend do not count: the accumulators do not depend on
 * them. */
#include "graphs/state_internal.h"

#include "core/version.h"

#include <inttypes.h>
#include <libdeflate.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- describing a plan ---- */

static char *options_text(const ek_node *node)
{
    char value[4096];
    char *text = ek_strdup("");
    for (const ek_option *o = node->stage->options; o != NULL && o->name != NULL && text != NULL;
         o++) {
        if (o->incidental) {
            continue;
        }
        ek_options_format(o, node->options, value, sizeof value);
        char *longer = ek_strprintf("%s%s=%s\n", text, o->name, value);
        ek_free(text);
        text = longer;
    }
    return text;
}

static char *inputs_text(const ek_node *node)
{
    char *text = ek_strdup("");
    for (int i = 0; i < node->n_inputs && text != NULL; i++) {
        const ek_node *from = node->inputs[i];
        char *longer = ek_strprintf("%s%s%s", text, i > 0 ? " " : "",
                                    ek__stage_is(from, EK_STAGE_SOURCE) ? "source" : from->name);
        ek_free(text);
        text = longer;
    }
    return text;
}

static ek_status describe_node(ek__state_node *out, const plan_node *self)
{
    const ek_node *node = self->node;
    const ek_spec *spec = node->n_inputs > 0 ? self->instance.in[0] : &self->instance.out;
    memcpy(out->extent, spec->extent, sizeof out->extent);
    out->source = ek__stage_is(node, EK_STAGE_SOURCE);
    out->fold = ek__stage_is(node, EK_STAGE_FOLD);
    out->name = ek_strdup(node->name);
    out->stage = ek_strdup(node->stage->name);
    out->options = options_text(node);
    out->inputs = inputs_text(node);
    return out->name != NULL && out->stage != NULL && out->options != NULL && out->inputs != NULL
               ? EK_OK
               : EK_ENOMEM;
}

static ek_status describe_file(ek__state_file *out, const char *path)
{
    char full[PATH_MAX];
    struct stat info = {0};
    out->path = ek_strdup(realpath(path, full) != NULL ? full : path);
    if (out->path != NULL && stat(path, &info) == 0) {
        out->bytes = info.st_size;
        out->mtime_ns =
            (int64_t)info.st_mtim.tv_sec * INT64_C(1000000000) + (int64_t)info.st_mtim.tv_nsec;
    }
    return out->path != NULL ? EK_OK : EK_ENOMEM;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const ek__state_file *)a)->path, ((const ek__state_file *)b)->path);
}

/* How steps are stored, as the chunk headers say it, however the steps are cut into chunks. */
static ek_status hash_packing(ek__state *s, const plan_node *source)
{
    uint32_t last = 0;
    for (int64_t chunk = 0; chunk < source->instance.out.n_chunks; chunk++) {
        ek_chunk_header h = {0};
        ek_instance *instance = (ek_instance *)&source->instance;
        EK_TRY(source->node->stage->source->header(instance, chunk, &h));
        double facts[4] = {(double)h.dtype, h.scale, h.offset, (double)h.n_missing};
        uint32_t crc = libdeflate_crc32(0, facts, sizeof facts);
        crc = libdeflate_crc32(crc, h.missing, sizeof h.missing);
        if (chunk == 0 || crc != last) {
            s->packing = libdeflate_crc32(s->packing, &h.row0, sizeof h.row0);
            s->packing = libdeflate_crc32(s->packing, &crc, sizeof crc);
        }
        last = crc;
    }
    return EK_OK;
}

static ek_status describe_source(ek__state *s, const plan_node *source)
{
    const ek_field *field = source->instance.out.field;
    size_t capacity = (size_t)s->n_files;
    for (int i = 0; i < field->n_paths; i++) {
        EK_TRY(ek_grow(&s->files, &capacity, (size_t)s->n_files, sizeof *s->files));
        s->n_files++;
        EK_TRY(describe_file(&s->files[s->n_files - 1], field->paths[i]));
    }
    return hash_packing(s, source);
}

static ek_status describe_sources(ek__state *s, const ek_plan *plan)
{
    for (int k = 0; k < plan->n_sources; k++) {
        EK_TRY(describe_source(s, &plan->nodes[plan->sources[k]]));
    }
    if (s->n_files > 0) {
        qsort(s->files, (size_t)s->n_files, sizeof *s->files, by_path);
    }
    return EK_OK;
}

static ek_status describe(ek__state *s, const ek_plan *plan)
{
    const plan_node *source = &plan->nodes[plan->source];
    s->program = ek_strdup(EK_VERSION_STRING);
    s->backend = ek_strdup(ek_backend_name(plan->backend));
    s->pipeline = ek_strdup(plan->pipeline->name);
    s->nodes = ek_alloc((size_t)plan->n_nodes, sizeof *s->nodes);
    if (s->program == NULL || s->backend == NULL || s->pipeline == NULL || s->nodes == NULL) {
        return EK_ENOMEM;
    }
    s->n_passes = plan->n_passes;
    s->field = (ek_field *)source->instance.out.field;
    s->earlier = plan->earlier_crc;
    s->earlier_steps = plan->earlier_steps;
    s->n_steps = s->field->n_time - s->earlier_steps;
    for (int i = 0; i < plan->n_nodes; i++) {
        if (!ek__stage_is(plan->nodes[i].node, EK_STAGE_SINK)) {
            s->n_nodes++;
            EK_TRY(describe_node(&s->nodes[s->n_nodes - 1], &plan->nodes[i]));
        }
    }
    s->chunk_rows = source->instance.out.chunk_rows;
    return describe_sources(s, plan);
}

ek_status ek__state_of_plan(ek__state **out, const ek_plan *plan)
{
    *out = NULL;
    ek__state *s = ek_alloc(1, sizeof *s);
    if (s == NULL) {
        return EK_ENOMEM;
    }
    s->fd = -1;
    s->from_plan = true;
    ek_status rc = describe(s, plan);
    if (rc != EK_OK) {
        ek__state_destroy(s);
        return rc;
    }
    *out = s;
    return EK_OK;
}

/* ---- comparing ---- */

/* The first lines that differ, without their ends. */
static ek_status options_differ(const char *path, const char *name, const char *a, const char *b)
{
    size_t n = 0;
    size_t m = 0;
    for (;;) {
        n = strcspn(a, "\n");
        m = strcspn(b, "\n");
        if (n != m || memcmp(a, b, n) != 0 || a[n] == '\0' || b[m] == '\0') {
            break;
        }
        a += n + 1;
        b += m + 1;
    }
    return EK_FAIL(EK_EINVAL, "%s was made with %.*s at '%s', this plan has %.*s", path,
                   (int)EK_MIN(n, 200), a, name, (int)EK_MIN(m, 200), b);
}

static ek_status match_program(const ek__state *theirs, const ek__state *mine, const char *path)
{
    if (strcmp(theirs->program, mine->program) != 0) {
        return EK_FAIL(EK_ENOTSUP, "%s was made by Ekman %s, this is %s; use the one that made it",
                       path, theirs->program, mine->program);
    }
    return EK_OK;
}

static ek_status match_node(const ek__state_node *a, const ek__state_node *b, const char *path)
{
    if (strcmp(a->name, b->name) != 0 || strcmp(a->stage, b->stage) != 0 ||
        strcmp(a->inputs, b->inputs) != 0) {
        return EK_FAIL(EK_EINVAL,
                       "%s was made with the node '%s' (%s of %s) where this plan has '%s' (%s of "
                       "%s)",
                       path, a->name, a->stage, a->inputs, b->name, b->stage, b->inputs);
    }
    return strcmp(a->options, b->options) == 0
               ? EK_OK
               : options_differ(path, a->name, a->options, b->options);
}

static ek_status match_nodes(const ek__state *theirs, const ek__state *mine, bool sources,
                             const char *path)
{
    if (theirs->n_nodes != mine->n_nodes) {
        return EK_FAIL(EK_EINVAL, "%s was made by a pipeline '%s' of other stages", path,
                       theirs->pipeline);
    }
    for (int i = 0; i < mine->n_nodes; i++) {
        if (sources || !theirs->nodes[i].source || !mine->nodes[i].source) {
            EK_TRY(match_node(&theirs->nodes[i], &mine->nodes[i], path));
        }
    }
    return EK_OK;
}

static ek_status match_files(const ek__state *theirs, const ek__state *mine, const char *path)
{
    for (int i = 0; i < EK_MIN(theirs->n_files, mine->n_files); i++) {
        const ek__state_file *a = &theirs->files[i];
        const ek__state_file *b = &mine->files[i];
        int order = strcmp(a->path, b->path);
        if (order != 0) {
            return EK_FAIL(EK_EINVAL, "%s was made with %s the file %s", path,
                           order < 0 ? "also" : "out", order < 0 ? a->path : b->path);
        }
        if (a->bytes != b->bytes || a->mtime_ns != b->mtime_ns) {
            return EK_FAIL(EK_EINVAL, "%s: the file %s has changed since it was made", path,
                           b->path);
        }
    }
    if (theirs->n_files != mine->n_files) {
        return EK_FAIL(EK_EINVAL, "%s was made with %d files, this plan has %d", path,
                       theirs->n_files, mine->n_files);
    }
    return EK_OK;
}

ek_status ek__state_match(const ek__state *theirs, const ek__state *mine, const char *path)
{
    EK_TRY(match_program(theirs, mine, path));
    EK_TRY(match_nodes(theirs, mine, true, path));
    EK_TRY(match_files(theirs, mine, path));
    if (theirs->earlier != mine->earlier || theirs->earlier_steps != mine->earlier_steps) {
        return EK_FAIL(EK_EINVAL, "%s was made with %s finished state before it", path,
                       theirs->earlier == 0 ? "no" : "another");
    }
    EK_TRY(ek__field_match(theirs->field, mine->field, true, path));
    if (theirs->packing != mine->packing || theirs->n_passes != mine->n_passes) {
        return EK_FAIL(EK_EINVAL,
                       "%s was made when the files stored their values in another way (type, "
                       "packing or missing values)",
                       path);
    }
    return EK_OK;
}

ek_status ek__state_extends(const ek__state *theirs, const ek__state *mine, const char *path)
{
    EK_TRY(match_program(theirs, mine, path));
    if (!ek__state_finished(theirs)) {
        return EK_FAIL(EK_EINVAL,
                       "%s is a checkpoint on the way, after %" PRId64 " of %" PRId64
                       " steps; go on with --resume instead",
                       path, theirs->step, theirs->n_steps);
    }
    return match_nodes(theirs, mine, false, path);
}
