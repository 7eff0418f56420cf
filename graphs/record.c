/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/record.h"

#include <math.h>
#include <time.h>

#define BIN_FIRST 1e-7
#define BIN_RATIO 1.02

const char *const ek__part_names[CHUNK_PARTS] = {
    [PART_READ] = "read",       [PART_TURN] = "turn",         [PART_UPLOAD] = "upload",
    [PART_COMPUTE] = "compute", [PART_DOWNLOAD] = "download", [PART_DEVICE] = "on_device",
    [PART_WRITE] = "write",     [PART_FREE] = "slot_free",
};

double ek__record_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void ek__spread_add(ek__spread *spread, double seconds)
{
    int bin = 0;
    if (seconds > BIN_FIRST) {
        double place = 1 + floor(log(seconds / BIN_FIRST) / log(BIN_RATIO));
        bin = place < EK__SPREAD_BINS ? (int)place : EK__SPREAD_BINS - 1;
    }
    spread->min = spread->n == 0 ? seconds : fmin(spread->min, seconds);
    spread->max = spread->n == 0 ? seconds : fmax(spread->max, seconds);
    spread->sum += seconds;
    spread->bins[bin]++;
    spread->n++;
}

double ek__spread_quantile(const ek__spread *spread, double q)
{
    int64_t rank = (int64_t)ceil(q * (double)spread->n);
    int64_t seen = 0;
    for (int bin = 0; bin < EK__SPREAD_BINS; bin++) {
        seen += spread->bins[bin];
        if (seen > 0 && seen >= rank) {
            double middle = bin == 0 ? 0 : BIN_FIRST * pow(BIN_RATIO, bin - 0.5);
            return fmin(fmax(middle, spread->min), spread->max);
        }
    }
    return (double)NAN;
}

static ek_status make_pass(run_record *record, pass_record *pass, bool keep)
{
    size_t nodes = (size_t)record->n_nodes;
    pass->stage = ek_alloc(nodes, sizeof(double));
    pass->finish = ek_alloc(nodes, sizeof(double));
    pass->spread = ek_alloc(CHUNK_PARTS, sizeof(*pass->spread));
    if (pass->stage == NULL || pass->finish == NULL || pass->spread == NULL) {
        return EK_ENOMEM;
    }
    for (int i = 0; i < record->n_nodes; i++) {
        pass->stage[i] = pass->finish[i] = (double)NAN;
    }
    for (int part = 0; part < CHUNK_PARTS && keep; part++) {
        pass->kept[part] = ek_alloc((size_t)record->n_chunks, sizeof(double));
        if (pass->kept[part] == NULL) {
            return EK_ENOMEM;
        }
    }
    return EK_OK;
}

ek_status ek__record_create(run_record **out, const ek_plan *plan)
{
    run_record *record = ek_alloc(1, sizeof(*record));
    *out = record;
    if (record == NULL) {
        return EK_ENOMEM;
    }
    record->n_nodes = plan->n_nodes;
    record->n_chunks = plan->n_chunks;
    record->n_slots = plan->n_slots;
    record->slots = ek_alloc((size_t)plan->n_slots, sizeof(*record->slots));
    record->passes = ek_alloc((size_t)plan->n_passes, sizeof(*record->passes));
    if (record->slots == NULL || record->passes == NULL) {
        return EK_ENOMEM;
    }
    record->n_passes = plan->n_passes;
    for (int k = 0; k < plan->n_passes; k++) {
        EK_TRY(make_pass(record, &record->passes[k], plan->n_chunks <= EK__KEPT_CHUNKS));
    }
    return EK_OK;
}

void ek__record_destroy(run_record *record)
{
    if (record == NULL) {
        return;
    }
    for (int k = 0; k < record->n_passes; k++) {
        ek_free(record->passes[k].stage);
        ek_free(record->passes[k].finish);
        ek_free(record->passes[k].spread);
        for (int part = 0; part < CHUNK_PARTS; part++) {
            ek_free(record->passes[k].kept[part]);
        }
    }
    ek_free(record->passes);
    ek_free(record->slots);
    ek_free(record);
}

void ek__record_chunk(run_record *record, int pass, int64_t chunk, slot_clock *clock)
{
    pass_record *into = &record->passes[pass];
    const double seconds[CHUNK_PARTS] = {
        [PART_READ] = clock->lap[SLOT_LOADING],
        [PART_TURN] = clock->lap[SLOT_LOADED],
        [PART_UPLOAD] = clock->upload,
        [PART_COMPUTE] = clock->compute,
        [PART_DOWNLOAD] = clock->download,
        [PART_DEVICE] = clock->lap[SLOT_ON_DEVICE],
        [PART_WRITE] = clock->write,
        [PART_FREE] = clock->lap[SLOT_FREE],
    };
    for (int part = 0; part < CHUNK_PARTS; part++) {
        ek__spread_add(&into->spread[part], seconds[part]);
        if (into->kept[part] != NULL) {
            into->kept[part][chunk] = seconds[part];
        }
    }
    record->write_seconds += clock->write;
    for (int state = 0; state < SLOT_STATES; state++) {
        clock->lap[state] = 0;
    }
    clock->upload = clock->compute = clock->download = clock->write = 0;
}
