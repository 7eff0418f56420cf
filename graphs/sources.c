/* SPDX-License-Identifier: Apache-2.0 */
/* Several sources in one pipeline are read chunk by chunk in step. Their time axes must be the
 * same; where they have cut them into different chunks, all are cut again: by the shortest chunk
 * length, and at every row where one of them has to begin a chunk. */
#include "graphs/internal.h"

#include <inttypes.h>

#define TRIES 5

static ek_instance *source_at(const ek_plan *plan, int s)
{
    return &plan->nodes[plan->sources[s]].instance;
}

/* first_row returns the row that a chunk begins with, the number of rows after the last chunk. */
static ek_status first_row(ek_instance *source, int64_t chunk, int64_t *row)
{
    ek_chunk_header header = {0};
    *row = source->out.extent[EK_AXIS_TIME];
    if (chunk < source->out.n_chunks) {
        if (source->stage->source->header(source, chunk, &header) != EK_OK) {
            return ek_error_prefix("%s, chunk %" PRId64, source->name, chunk);
        }
        *row = header.row0;
    }
    return EK_OK;
}

static ek_status same_times(const ek_plan *plan, int s)
{
    const ek_instance *a = source_at(plan, 0), *b = source_at(plan, s);
    char text[256];
    if (ek_field_times_differ(a->out.field, b->out.field, text, sizeof(text))) {
        return EK_FAIL(EK_ESHAPE,
                       "nodes '%s' and '%s' are read in step, so their time axes must be the same: "
                       "%s; choose files of the same time steps, or make two pipelines",
                       a->name, b->name, text);
    }
    return EK_OK;
}

/* same_cuts puts the first chunk in which source s is not cut like source 0 into *at; -1: none. */
static ek_status same_cuts(const ek_plan *plan, int s, int64_t *at)
{
    ek_instance *a = source_at(plan, 0), *b = source_at(plan, s);
    int64_t n = EK_MAX(a->out.n_chunks, b->out.n_chunks);
    *at = -1;
    for (int64_t i = 0; i < n && *at < 0; i++) {
        int64_t row_a = 0, row_b = 0;
        EK_TRY(first_row(a, EK_MIN(i, a->out.n_chunks), &row_a));
        EK_TRY(first_row(b, EK_MIN(i, b->out.n_chunks), &row_b));
        *at = row_a != row_b ? i : -1;
    }
    return EK_OK;
}

static ek_status all_same_cuts(const ek_plan *plan, bool *same)
{
    *same = true;
    for (int s = 1; s < plan->n_sources && *same; s++) {
        int64_t at = -1;
        EK_TRY(same_cuts(plan, s, &at));
        *same = at < 0;
    }
    return EK_OK;
}

/* cut has all sources use chunks of at most `rows` rows, none across one of the rows `at`. */
static ek_status cut(const ek_plan *plan, int64_t rows, const int64_t *at, int64_t n_at)
{
    for (int s = 0; s < plan->n_sources; s++) {
        ek_instance *source = source_at(plan, s);
        if (source->stage->source->cut == NULL) {
            return EK_FAIL(EK_ENOTSUP,
                           "node '%s' cannot cut its stream as the other sources do: into chunks "
                           "of at most %" PRId64 " steps",
                           source->name, rows);
        }
        if (source->stage->source->cut(source, rows, at, n_at) != EK_OK) {
            return ek_error_prefix("%s", source->name);
        }
    }
    return EK_OK;
}

/* is_border: the source's chunk before the one at *next is shorter than `rows`, as at the end of a
 * file; *next moves on past row. */
static ek_status is_border(ek_instance *source, int64_t row, int64_t rows, int64_t *next, bool *is)
{
    int64_t first = 0, before = 0;
    EK_TRY(first_row(source, *next, &first));
    if (first != row) {
        return EK_OK;
    }
    EK_TRY(first_row(source, EK_MAX(*next - 1, 0), &before));
    *is = *is || row - before < rows;
    (*next)++;
    return EK_OK;
}

/* borders lists rows at which chunks begin in some source, ascending: those that follow a chunk of
 * less than `rows` rows, or all of them. */
static ek_status borders(const ek_plan *plan, int64_t rows, bool all, int64_t *at, int64_t *n_at)
{
    int64_t next[EK__SOURCES_MAX] = {0};
    int64_t n_time = source_at(plan, 0)->out.extent[EK_AXIS_TIME];
    *n_at = 0;
    for (int64_t row = 0; row < n_time;) {
        int64_t following = n_time;
        bool border = all;
        for (int s = 0; s < plan->n_sources; s++) {
            int64_t first = 0;
            EK_TRY(is_border(source_at(plan, s), row, rows, &next[s], &border));
            EK_TRY(first_row(source_at(plan, s), next[s], &first));
            following = EK_MIN(following, first);
        }
        if (border) {
            at[(*n_at)++] = row;
        }
        row = following;
    }
    return EK_OK;
}

static ek_status cut_at_borders(const ek_plan *plan, int64_t rows, bool all)
{
    int64_t most = 0, n_at = 0;
    for (int s = 0; s < plan->n_sources; s++) {
        most += source_at(plan, s)->out.n_chunks;
    }
    int64_t *at = ek_alloc((size_t)most, sizeof(*at));
    if (at == NULL) {
        return EK_ENOMEM;
    }
    ek_status rc = borders(plan, rows, all, at, &n_at);
    if (rc == EK_OK) {
        rc = cut(plan, rows, at, n_at);
    }
    ek_free(at);
    return rc;
}

ek_status ek__plan_agree(const ek_plan *plan)
{
    int64_t rows = INT64_MAX;
    bool same = false;
    for (int s = 0; s < plan->n_sources; s++) {
        EK_TRY(same_times(plan, s));
        rows = EK_MIN(rows, source_at(plan, s)->out.chunk_rows);
    }
    EK_TRY(all_same_cuts(plan, &same));
    if (!same) {
        EK_TRY(cut(plan, rows, NULL, 0));
        EK_TRY(all_same_cuts(plan, &same));
    }
    for (int try = 1; try <= TRIES && !same; try++) {
        EK_TRY(cut_at_borders(plan, rows, try == TRIES));
        EK_TRY(all_same_cuts(plan, &same));
    }
    return same ? EK_OK : EK_FAIL(EK_EINTERNAL, "the sources do not agree on chunks");
}
