/* SPDX-License-Identifier: Apache-2.0 */
/* What can be done with state files outside a run: see what is in one, and join several. */
#include "graphs/state_internal.h"

#include "stages/stages.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- showing ---- */

/* Appends to *text; once it is NULL for want of memory it stays so. */
static void append(char **text, char *more)
{
    char *longer = *text != NULL && more != NULL ? ek_strprintf("%s%s", *text, more) : NULL;
    ek_free(*text);
    ek_free(more);
    *text = longer;
}

static void append_nodes(char **text, const ek__state *s)
{
    for (int i = 0; i < s->n_nodes; i++) {
        const ek__state_node *node = &s->nodes[i];
        append(text, ek_strprintf("node      %s (%s)", node->name, node->stage));
        for (const char *line = node->options; *line != '\0';) {
            int n = (int)strcspn(line, "\n");
            append(text, ek_strprintf(" %.*s", n, line));
            line += n + (line[n] == '\n' ? 1 : 0);
        }
        append(text, ek_strdup("\n"));
    }
}

static char *describe(const ek__state *s)
{
    const ek_field *f = s->field;
    char *text =
        ek_strprintf("%s of the pipeline '%s', made by Ekman %s on %s\n"
                     "pass      %d of %d, %" PRId64 " of %" PRId64 " steps\n"
                     "variable  %s%s%s, %" PRId64 " cells\n"
                     "period    %" PRId64 " steps, %s to %s\n",
                     ek__state_finished(s) ? "finished state" : "checkpoint", s->pipeline,
                     s->program, s->backend, s->pass + 1, s->n_passes, s->step, s->n_steps, f->name,
                     f->units != NULL ? ", " : "", f->units != NULL ? f->units : "", f->n_cells,
                     f->n_time, f->time.first, f->time.last);
    if (s->earlier_steps > 0) {
        append(&text,
               ek_strprintf("before    %" PRId64 " steps from another state\n", s->earlier_steps));
    }
    for (int i = 0; i < s->n_files; i++) {
        append(&text, ek_strprintf("file      %s, %" PRId64 " bytes\n", s->files[i].path,
                                   s->files[i].bytes));
    }
    append_nodes(&text, s);
    for (int i = 0; i < s->n_blocks; i++) {
        const ek__state_block *b = &s->blocks[i];
        append(&text, ek_strprintf("block     %s of %s, %" PRId64 " bytes, CRC-32 %08x\n",
                                   b->kind == EK__BLOCK_STATE ? "accumulators" : "result", b->node,
                                   b->bytes, b->crc));
    }
    return text;
}

/* Memory for a block, and the block in it. */
static ek_status load_new(const ek__state *s, int block, void **out, const char *path)
{
    *out = ek_alloc((size_t)s->blocks[block].bytes, 1);
    return *out == NULL ? EK_ENOMEM : ek__state_load(s, block, *out, path);
}

char *ek_state_text(const char *path)
{
    ek__state *s = NULL;
    char *text = NULL;
    if (ek__state_open(&s, path) != EK_OK) {
        return NULL;
    }
    for (int i = 0; i < s->n_blocks; i++) { /* so that it is known to be whole */
        void *data = NULL;
        ek_status rc = load_new(s, i, &data, path);
        ek_free(data);
        if (rc != EK_OK) {
            goto done;
        }
    }
    text = describe(s);
done:
    ek__state_destroy(s);
    return text;
}

static ek_status set_options(const ek_option *table, const char *lines, void *options)
{
    char name[64];
    char value[4096];
    for (const char *line = lines; *line != '\0';) {
        size_t n = strcspn(line, "\n");
        size_t key = strcspn(line, "=");
        if (key >= n || key >= sizeof name || n - key > sizeof value) {
            return EK_FAIL(EK_EDATA, "the state's options make no sense");
        }
        memcpy(name, line, key);
        name[key] = '\0';
        memcpy(value, line + key + 1, n - key - 1);
        value[n - key - 1] = '\0';
        EK_TRY(ek_options_set(table, options, name, value));
        line += n + (line[n] == '\n' ? 1 : 0);
    }
    return EK_OK;
}

ek_status ek_state_options(const char *path, const ek_stage *stage, void *options)
{
    ek__state *s = NULL;
    const char *found = NULL;
    EK_TRY(ek__state_open(&s, path));
    for (int i = 0; i < s->n_nodes; i++) {
        found = strcmp(s->nodes[i].stage, stage->name) == 0 ? s->nodes[i].options : found;
    }
    ek_status rc = found != NULL
                       ? set_options(stage->options, found, options)
                       : EK_FAIL(EK_EINVAL, "state file %s is of a pipeline '%s' without '%s'",
                                 path, s->pipeline, stage->name);
    ek__state_destroy(s);
    return rc;
}

/* ---- joining ---- */

/* The sum so far: a state that was read, with its blocks in memory. */
typedef struct sum {
    ek__state *state;
    void **data; /* per block, owned */
} sum;

static const ek__state_node *node_of(const ek__state *s, const ek__state_block *block)
{
    for (int i = 0; i < s->n_nodes; i++) {
        if (strcmp(s->nodes[i].name, block->node) == 0) {
            return &s->nodes[i];
        }
    }
    return NULL;
}

static ek_status check_folds(const ek__state *s, const char *path)
{
    for (int i = 0; i < s->n_blocks; i++) {
        const ek__state_node *node = node_of(s, &s->blocks[i]);
        const ek_stage *stage = node != NULL ? ek_stage_find(node->stage) : NULL;
        if (s->blocks[i].kind != EK__BLOCK_STATE || stage == NULL || stage->merge == NULL) {
            return EK_FAIL(EK_ENOTSUP,
                           "state file %s: what node '%s'%s%s accumulates cannot be "
                           "joined with another run's",
                           path, s->blocks[i].node, node != NULL ? ", stage " : "",
                           node != NULL ? node->stage : "");
        }
    }
    return EK_OK;
}

static ek_status sum_begin(sum *to, const char *path)
{
    EK_TRY(ek__state_open(&to->state, path));
    ek__state *s = to->state;
    EK_TRY(ek__state_extends(s, s, path));
    EK_TRY(check_folds(s, path));
    to->data = ek_alloc((size_t)s->n_blocks, sizeof *to->data);
    if (to->data == NULL) {
        return EK_ENOMEM;
    }
    for (int i = 0; i < s->n_blocks; i++) {
        EK_TRY(load_new(s, i, &to->data[i], path));
        s->blocks[i].data = to->data[i];
    }
    return EK_OK;
}

static ek_status merge_block(sum *to, int i, const ek__state *later, const char *path)
{
    const ek__state_block *a = &to->state->blocks[i];
    const ek__state_block *b = &later->blocks[i];
    const ek__state_node *node = node_of(to->state, a);
    if (strcmp(a->node, b->node) != 0 || a->bytes != b->bytes) {
        return EK_FAIL(EK_EINVAL, "state file %s holds accumulators of another size at '%s'", path,
                       b->node);
    }
    ek_spec in = {.kind = EK_STREAM, .field = to->state->field};
    memcpy(in.extent, node->extent, sizeof in.extent);
    void *data = NULL;
    ek_status rc = load_new(later, i, &data, path);
    if (rc == EK_OK) {
        rc = ek_stage_find(node->stage)->merge(&in, a->data, data, (size_t)a->bytes);
    }
    ek_free(data);
    return rc == EK_OK ? EK_OK : ek_error_prefix("%s", path);
}

/* Moves the later state's files to the end of the sum's. */
static ek_status take_files(ek__state *to, ek__state *later)
{
    int n = to->n_files + later->n_files;
    ek__state_file *files = ek_alloc((size_t)n, sizeof *files);
    if (files == NULL) {
        return EK_ENOMEM;
    }
    memcpy(files, to->files, (size_t)to->n_files * sizeof *files);
    memcpy(files + to->n_files, later->files, (size_t)later->n_files * sizeof *files);
    ek_free(to->files);
    to->files = files;
    to->n_files = n;
    later->n_files = 0;
    return EK_OK;
}

static ek_status add(sum *to, ek__state *later, const char *path, const char *first)
{
    ek__state *s = to->state;
    EK_TRY(ek__state_extends(later, s, path));
    ek_field *joined = NULL;
    EK_TRY(ek__field_join(&joined, s->field, later->field, first));
    ek_field_destroy(s->field);
    s->field = joined;
    s->n_steps = s->step = joined->n_time;
    s->earlier_steps = 0;
    s->earlier = s->packing = 0;
    if (s->n_blocks != later->n_blocks) {
        return EK_FAIL(EK_EINVAL, "state file %s holds %d blocks, and those before it %d", path,
                       later->n_blocks, s->n_blocks);
    }
    for (int i = 0; i < s->n_blocks; i++) {
        EK_TRY(merge_block(to, i, later, path));
    }
    return take_files(s, later);
}

static ek_status add_file(sum *to, const char *path, const char *first)
{
    ek__state *later = NULL;
    EK_TRY(ek__state_open(&later, path));
    ek_status rc = add(to, later, path, first);
    ek__state_destroy(later);
    return rc;
}

ek_status ek_state_merge(const char *out, const char *const *paths, int n_paths)
{
    sum to = {0};
    ek__pack identity = {0};
    ek__pack head = {0};
    ek_status rc = EK_OK;
    if (n_paths < 2) {
        return EK_FAIL(EK_EINVAL, "name two states or more to join");
    }
    EK_TRY(ek__state_replaceable(out));
    EK_GOTO(sum_begin(&to, paths[0]), done);
    for (int i = 1; i < n_paths; i++) {
        EK_GOTO(add_file(&to, paths[i], paths[i - 1]), done);
    }
    ek__state_identity(to.state, &identity);
    rc = ek__state_write(to.state, &identity, &head, out);
done:
    for (int i = 0; to.data != NULL && i < to.state->n_blocks; i++) {
        ek_free(to.data[i]);
    }
    ek_free(to.data);
    ek__state_destroy(to.state);
    ek_free(identity.bytes);
    ek_free(head.bytes);
    return rc;
}
