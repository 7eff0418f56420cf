/* SPDX-License-Identifier: Apache-2.0 */
/* Reading chunks without the library: the decoders' jobs, for as many threads as there are. */
#include "stages/load/dataset.h"

ek_status ek__dataset_open(ek__dataset *d, int n_threads)
{
    size_t bytes = 0;
    bool inflates = false;
    for (int i = 0; i < d->n_members; i++) {
        const ek__decoder *decoder = d->members[i].decoder;
        if (decoder != NULL) {
            bytes = EK_MAX(bytes, decoder->scratch_bytes);
            inflates = inflates || decoder->inflates;
        }
    }
    if (d->most_jobs == 0) {
        return EK_OK;
    }
    return ek__scratch_pool_create(&d->scratch, n_threads, bytes, inflates);
}

int ek__dataset_jobs(const ek__dataset *d, int64_t chunk)
{
    const ek__chunk *c = &d->chunks[chunk];
    int jobs = 0;
    for (ek__piece p = {0}; ek__dataset_piece(d, c, &p);) {
        const ek__decoder *decoder = p.member->decoder;
        if (decoder == NULL) {
            return 0;
        }
        jobs += decoder->ops->jobs(decoder, p.first, p.rows);
    }
    return jobs;
}

ek_status ek__dataset_job(const ek__dataset *d, int64_t chunk, int job, void *dst)
{
    const ek__chunk *c = &d->chunks[chunk];
    for (ek__piece p = {0}; ek__dataset_piece(d, c, &p);) {
        const ek__decoder *decoder = p.member->decoder;
        int jobs = decoder->ops->jobs(decoder, p.first, p.rows);
        if (job < jobs) {
            char *to = (char *)dst + (size_t)p.at * ek__dataset_row_bytes(d, c);
            ek__scratch *scratch = ek__scratch_take(d->scratch);
            ek_status rc = decoder->ops->job(decoder, p.first, p.rows, job, to, scratch);
            ek__scratch_give(d->scratch, scratch);
            return rc;
        }
        job -= jobs;
    }
    return EK_FAIL(EK_EINTERNAL, "chunk %lld has no such job", (long long)chunk);
}
