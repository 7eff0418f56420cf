/* SPDX-License-Identifier: Apache-2.0 */
/* Going on from a state file. See checkpoint.h. */
#include "graphs/checkpoint.h"

#include "core/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* The blocks that were read must be those that a cut would make here. */
static ek_status check_blocks(ek_run_state *run)
{
    const ek__checkpoint *c = run->checkpoint;
    const ek__state *mine = c->state;
    const ek__state *theirs = c->from;
    bool same = mine->n_blocks == theirs->n_blocks;
    for (int b = 0; same && b < mine->n_blocks; b++) {
        const ek__state_block *x = &theirs->blocks[b];
        const ek__state_block *y = &mine->blocks[b];
        same = strcmp(x->node, y->node) == 0 && x->kind == y->kind && x->bytes == y->bytes;
        for (int a = 0; same && a < EK_AXES; a++) {
            same = x->kind == EK__BLOCK_STATE || x->extent[a] <= y->extent[a];
        }
    }
    return same
               ? EK_OK
               : EK_FAIL(EK_EINVAL, "%s holds other accumulators than this plan has", c->from_path);
}

ek_status ek__checkpoint_load(ek_run_state *run)
{
    ek__checkpoint *c = run->checkpoint;
    if (c == NULL || c->from == NULL) {
        return EK_OK;
    }
    ek__checkpoint_blocks(run, run->pass);
    EK_TRY(check_blocks(run));
    for (int b = 0; b < c->from->n_blocks; b++) {
        EK_TRY(ek__state_load(c->from, b, c->state->blocks[b].data, c->from_path));
    }
    for (int b = 0; b < c->from->n_blocks; b++) {
        const ek__state_block *block = &c->from->blocks[b];
        ek_data *data = &run->report->results[c->places[b].node].data;
        if (block->kind == EK__BLOCK_RESULT) {
            memcpy(data->extent, block->extent, sizeof data->extent);
        }
    }
    return EK_OK;
}

ek_status ek__checkpoint_restore(ek_run_state *run)
{
    if (run->checkpoint == NULL || run->checkpoint->from == NULL) {
        return EK_OK;
    }
    EK_TRY(ek__checkpoint_copy(run, true));
    return ek_queue_sync(run->compute);
}

static ek_status find_chunk(ek_run_state *run, const ek__state *from)
{
    for (int64_t chunk = 0; chunk <= run->plan->n_chunks; chunk++) {
        int64_t step = 0;
        EK_TRY(ek__checkpoint_step(run, chunk, &step));
        if (step == from->step) {
            run->next_chunk = run->next_submit = run->chunks_done = chunk;
            run->steps_done = step;
            return EK_OK;
        }
    }
    return EK_FAIL(EK_EINVAL,
                   "%s was made after %" PRId64
                   " steps, where no chunk of this plan begins; choose "
                   "chunks of %" PRId64 " steps, as then",
                   run->options.checkpoint, from->step, from->chunk_rows);
}

static ek_status resume(ek_run_state *run)
{
    ek__checkpoint *c = run->checkpoint;
    const char *path = run->options.checkpoint;
    EK_TRY(ek__state_match(c->from, c->state, path));
    run->pass = c->from->pass;
    EK_TRY(find_chunk(run, c->from));
    run->resumed = run->pass > 0 || run->next_chunk > 0;
    c->kept = true;
    ek_log(EK_LOG_NOTE, "resumed from %s: pass %d of %d, %" PRId64 " of %" PRId64 " steps are done",
           path, run->pass + 1, run->plan->n_passes, c->from->step, c->state->n_steps);
    return EK_OK;
}

/* What is under the checkpoint's name is replaced only if this run would have made it. */
static ek_status check_replaced(ek_run_state *run)
{
    ek__checkpoint *c = run->checkpoint;
    const char *path = run->options.checkpoint;
    if (ek__state_match(c->from, c->state, path) != EK_OK) {
        return EK_FAIL(EK_EINVAL,
                       "the checkpoint %s is of another run, and would be overwritten: %s. Remove "
                       "it, or choose another name",
                       path, ek_error_last()->message);
    }
    ek_log(EK_LOG_NOTE,
           "%s is left aside and will be overwritten; with resume the run would have "
           "gone on from it",
           path);
    ek__state_destroy(c->from);
    c->from = NULL;
    return EK_OK;
}

/* The name may be free, hold a checkpoint, or be in the way. */
ek_status ek__checkpoint_find(ek_run_state *run)
{
    ek__checkpoint *c = run->checkpoint;
    const char *path = run->options.checkpoint;
    c->part = ek_strprintf("%s.part", path);
    if (c->part == NULL) {
        return EK_ENOMEM;
    }
    int fd = open(c->part, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        return EK_FAIL_CODE(EK_EIO, errno, "the checkpoint %s cannot be written: %s", path,
                            strerror(errno));
    }
    close(fd);
    unlink(c->part);
    c->from_path = path;
    ek_status rc = ek__state_open(&c->from, path);
    if (rc == EK_ENOENT) {
        if (run->options.resume) {
            ek_log(EK_LOG_NOTE, "there is no %s to resume from; the run starts at the beginning",
                   path);
        }
        return EK_OK;
    }
    EK_TRY(rc);
    return run->options.resume ? resume(run) : check_replaced(run);
}
