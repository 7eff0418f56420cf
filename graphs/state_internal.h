/* SPDX-License-Identifier: Apache-2.0 */
/* A state file in memory, shared by the files that make, read, write and compare it.
 *
 * On disk: a prefix of 32 bytes (magic, format, byte order, bytes and CRC-32 of the head, CRC-32 of
 * the prefix), the head (graphs/pack.h), and the blocks one after another; nothing else. */
#ifndef EK_GRAPHS_STATE_INTERNAL_H
#define EK_GRAPHS_STATE_INTERNAL_H

#include "graphs/internal.h"
#include "graphs/pack.h"
#include "graphs/state.h"

EK_BEGIN_DECLS

/* A node of the plan that left the file; sinks are left out. */
typedef struct ek__state_node {
    char *name, *stage;
    char *options; /* those that results depend on: lines "name=value" */
    char *inputs;  /* names, joined by spaces; a source is called "source" */
    bool source, fold;
    int64_t extent[EK_AXES]; /* of its first input, or of a source's output */
} ek__state_node;

/* An input file, as it was when the plan was made. */
typedef struct ek__state_file {
    char *path; /* absolute */
    int64_t bytes, mtime_ns;
} ek__state_file;

typedef enum ek__block_kind { EK__BLOCK_STATE, EK__BLOCK_RESULT } ek__block_kind;

/* What a node has accumulated, or an earlier pass's result: its arrays, each aligned. */
typedef struct ek__state_block {
    char *node; /* its name; in a state made from a plan it is the node's own */
    ek__block_kind kind;
    int64_t extent[EK_AXES]; /* of a result: actual */
    int64_t bytes, offset;   /* offset: in the file */
    uint32_t crc;
    void *data; /* borrowed; NULL in a state that was read */
} ek__state_block;

typedef struct ek__state {
    /* Where the run was: `step` steps of pass `pass` of n_passes are in the blocks. */
    int pass, n_passes;
    int64_t step;
    ek__state_block *blocks;
    int n_blocks;

    /* What it was a run of. */
    char *program, *backend, *pipeline;
    int64_t n_steps;       /* that the source gives in a pass */
    int64_t chunk_rows;    /* of its chunks, the most */
    int64_t earlier_steps; /* that came from a finished state, before n_steps */
    uint32_t earlier;      /* the head's CRC of that state; 0: none */
    uint32_t packing;      /* CRC of how the source's steps are stored */
    ek_field *field;       /* over all steps; borrowed in a state made from a plan */
    ek__state_node *nodes;
    int n_nodes;
    ek__state_file *files;
    int n_files;

    /* Of a state that was read. */
    int fd;
    uint32_t head_crc;
    bool from_plan;
} ek__state;

static inline bool ek__state_finished(const ek__state *s)
{
    return s->pass + 1 == s->n_passes && s->step == s->n_steps;
}

/* state_field.c. ek__field_unpack makes a field of its own; free with ek_field_destroy.
 * ek__field_match refuses a field on another grid, with a sentence that begins with `path`, the
 * file that `theirs` is from; `times`: or with another time axis. ek__field_join copies `earlier`
 * (from the file `path`) and adds the steps of `later`, which must come after it in time. */
void ek__pack_field(ek__pack *to, const ek_field *field);
ek_field *ek__unpack_field(ek__unpack *from);
ek_status ek__field_match(const ek_field *theirs, const ek_field *mine, bool times,
                          const char *path);
ek_status ek__field_join(ek_field **out, const ek_field *earlier, const ek_field *later,
                         const char *path);

/* state_head.c. ek__state_identity packs the part of the head that stays while a run goes on, and
 * ek__state_progress the part before it: where the run is, and the blocks. ek__state_parse reads
 * both from memory. */
void ek__state_identity(const ek__state *s, ek__pack *to);
void ek__state_progress(const ek__state *s, ek__pack *to);
ek_status ek__state_parse(ek__state *s, const unsigned char *head, size_t n);
void ek__state_destroy(ek__state *s);

/* state_file.c. ek__state_open reads the head and checks it and the file's length;
 * ek__state_load reads block i into `dst` and checks it. ek__state_write writes the file beside its
 * place, brings it to disk and renames it; `head` is its working memory, so that it allocates
 * nothing where that is large enough already. */
ek_status ek__state_open(ek__state **out, const char *path);
ek_status ek__state_load(const ek__state *s, int block, void *dst, const char *path);
ek_status ek__state_write(ek__state *s, const ek__pack *identity, ek__pack *head, const char *path);

/* ek__state_replaceable refuses a path under which there is something that is no state file. */
ek_status ek__state_replaceable(const char *path);

/* state_plan.c. ek__state_of_plan makes the state of a plan, without blocks. ek__state_match
 * refuses to resume a run that was not of this plan and these inputs; ek__state_extends refuses a
 * finished state whose accumulators `mine` cannot go on with. Both name what differs. */
ek_status ek__state_of_plan(ek__state **out, const ek_plan *plan);
ek_status ek__state_match(const ek__state *theirs, const ek__state *mine, const char *path);
ek_status ek__state_extends(const ek__state *theirs, const ek__state *mine, const char *path);

EK_END_DECLS

#endif /* EK_GRAPHS_STATE_INTERNAL_H */
