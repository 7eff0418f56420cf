/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a state file: where the run was, its blocks, and what it was a run of. */
#include "graphs/state_internal.h"

#include <unistd.h>

void ek__state_identity(const ek__state *s, ek__pack *to)
{
    ek__pack_text(to, s->program);
    ek__pack_text(to, s->backend);
    ek__pack_text(to, s->pipeline);
    ek__pack_int(to, s->n_passes);
    ek__pack_int(to, s->n_steps);
    ek__pack_int(to, s->chunk_rows);
    ek__pack_int(to, s->earlier_steps);
    ek__pack_int(to, s->earlier);
    ek__pack_int(to, s->packing);
    ek__pack_int(to, s->n_nodes);
    for (int i = 0; i < s->n_nodes; i++) {
        const ek__state_node *node = &s->nodes[i];
        const char *texts[] = {node->name, node->stage, node->options, node->inputs};
        for (size_t k = 0; k < EK_COUNT(texts); k++) {
            ek__pack_text(to, texts[k]);
        }
        ek__pack_int(to, node->source);
        ek__pack_int(to, node->fold);
        ek__pack_bytes(to, node->extent, sizeof node->extent);
    }
    ek__pack_int(to, s->n_files);
    for (int i = 0; i < s->n_files; i++) {
        ek__pack_text(to, s->files[i].path);
        ek__pack_int(to, s->files[i].bytes);
        ek__pack_int(to, s->files[i].mtime_ns);
    }
    ek__pack_field(to, s->field);
}

void ek__state_progress(const ek__state *s, ek__pack *to)
{
    ek__pack_int(to, s->pass);
    ek__pack_int(to, s->step);
    ek__pack_int(to, s->n_blocks);
    for (int i = 0; i < s->n_blocks; i++) {
        const ek__state_block *block = &s->blocks[i];
        ek__pack_text(to, block->node);
        ek__pack_int(to, block->kind);
        ek__pack_bytes(to, block->extent, sizeof block->extent);
        ek__pack_int(to, block->bytes);
        ek__pack_int(to, block->crc);
    }
}

static void unpack_extent(ek__unpack *from, int64_t *extent)
{
    for (int a = 0; a < EK_AXES; a++) {
        extent[a] = ek__unpack_int(from, 0, INT64_MAX / (int64_t)sizeof(double));
    }
}

static void unpack_blocks(ek__unpack *from, ek__state *s)
{
    int64_t n = ek__unpack_count(from, 7 * sizeof(int64_t));
    s->blocks = ek__unpack_alloc(from, n, sizeof *s->blocks);
    for (int i = 0; s->blocks != NULL && i < n && !from->bad; i++) {
        ek__state_block *block = &s->blocks[i];
        s->n_blocks = i + 1;
        block->node = ek__unpack_text(from);
        block->kind = (ek__block_kind)ek__unpack_int(from, EK__BLOCK_STATE, EK__BLOCK_RESULT);
        unpack_extent(from, block->extent);
        block->bytes = ek__unpack_int(from, 0, INT64_MAX / 2);
        block->crc = (uint32_t)ek__unpack_int(from, 0, UINT32_MAX);
        from->bad = from->bad || block->node == NULL;
    }
}

static void unpack_nodes(ek__unpack *from, ek__state *s)
{
    int64_t n = ek__unpack_count(from, (6 + EK_AXES) * sizeof(int64_t));
    s->nodes = ek__unpack_alloc(from, n, sizeof *s->nodes);
    for (int i = 0; s->nodes != NULL && i < n && !from->bad; i++) {
        ek__state_node *node = &s->nodes[i];
        s->n_nodes = i + 1;
        char **texts[] = {&node->name, &node->stage, &node->options, &node->inputs};
        for (size_t k = 0; k < EK_COUNT(texts); k++) {
            *texts[k] = ek__unpack_text(from);
            from->bad = from->bad || *texts[k] == NULL;
        }
        node->source = ek__unpack_int(from, 0, 1) != 0;
        node->fold = ek__unpack_int(from, 0, 1) != 0;
        unpack_extent(from, node->extent);
    }
}

static void unpack_files(ek__unpack *from, ek__state *s)
{
    int64_t n = ek__unpack_count(from, 3 * sizeof(int64_t));
    s->files = ek__unpack_alloc(from, n, sizeof *s->files);
    for (int i = 0; s->files != NULL && i < n && !from->bad; i++) {
        s->n_files = i + 1;
        s->files[i].path = ek__unpack_text(from);
        s->files[i].bytes = ek__unpack_int(from, 0, INT64_MAX);
        s->files[i].mtime_ns = ek__unpack_int(from, INT64_MIN, INT64_MAX);
        from->bad = from->bad || s->files[i].path == NULL;
    }
}

/* What is within bounds one by one must also agree. */
static bool is_consistent(const ek__state *s)
{
    return s->program != NULL && s->backend != NULL && s->pipeline != NULL &&
           s->pass < s->n_passes && s->step <= s->n_steps && s->field != NULL &&
           s->earlier_steps <= INT64_MAX / 2 && s->n_steps <= INT64_MAX / 2 &&
           s->field->n_time == s->earlier_steps + s->n_steps;
}

ek_status ek__state_parse(ek__state *s, const unsigned char *head, size_t n)
{
    ek__unpack from = {.at = head, .left = n};
    s->pass = (int)ek__unpack_int(&from, 0, INT32_MAX);
    s->step = ek__unpack_int(&from, 0, INT64_MAX);
    unpack_blocks(&from, s);
    s->program = ek__unpack_text(&from);
    s->backend = ek__unpack_text(&from);
    s->pipeline = ek__unpack_text(&from);
    s->n_passes = (int)ek__unpack_int(&from, 1, INT32_MAX);
    s->n_steps = ek__unpack_int(&from, 0, INT64_MAX);
    s->chunk_rows = ek__unpack_int(&from, 0, INT64_MAX);
    s->earlier_steps = ek__unpack_int(&from, 0, INT64_MAX);
    s->earlier = (uint32_t)ek__unpack_int(&from, 0, UINT32_MAX);
    s->packing = (uint32_t)ek__unpack_int(&from, 0, UINT32_MAX);
    unpack_nodes(&from, s);
    unpack_files(&from, s);
    s->field = ek__unpack_field(&from);
    if (from.failed) {
        return EK_ENOMEM;
    }
    if (from.bad || from.left != 0 || !is_consistent(s)) {
        return EK_FAIL(EK_EDATA, "it holds values that make no sense");
    }
    return EK_OK;
}

void ek__state_destroy(ek__state *s)
{
    if (s == NULL) {
        return;
    }
    if (s->fd >= 0) {
        close(s->fd);
    }
    for (int i = 0; i < s->n_nodes; i++) {
        ek_free(s->nodes[i].name);
        ek_free(s->nodes[i].stage);
        ek_free(s->nodes[i].options);
        ek_free(s->nodes[i].inputs);
    }
    for (int i = 0; i < s->n_files; i++) {
        ek_free(s->files[i].path);
    }
    for (int i = 0; i < s->n_blocks; i++) {
        ek_free(s->blocks[i].node);
    }
    ek_free(s->nodes);
    ek_free(s->files);
    ek_free(s->blocks);
    ek_free(s->program);
    ek_free(s->backend);
    ek_free(s->pipeline);
    if (!s->from_plan) {
        ek_field_destroy(s->field);
    }
    ek_free(s);
}
