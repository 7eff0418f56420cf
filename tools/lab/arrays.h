/* SPDX-License-Identifier: Apache-2.0 */
/* Two stages that let the laboratory's pipelines start and end in memory, so that reading files is
 * no part of what is compared: `array` is a source, `keep` a sink for a stream. */
#ifndef EK_TOOLS_LAB_ARRAYS_H
#define EK_TOOLS_LAB_ARRAYS_H

#include "graphs/pipeline.h"

/* A series in memory, [time, cell], missing values NaN. Either float32 or float64 is there. */
typedef struct lab_series {
    int64_t n_time, n_cells;
    float *singles;
    double *doubles;
    char name[64], units[64];
} lab_series;

void lab_series_free(lab_series *series);

/* lab_array adds the source: the series (borrowed) in chunks of `chunk_rows`. */
ek_node *lab_array(ek_pipeline *pipeline, const lab_series *series, int64_t chunk_rows);

/* lab_keep adds the sink, which fills *into with decoded values: as float32 if `singles`. Free it
 * with lab_series_free. */
ek_node *lab_keep(ek_pipeline *pipeline, ek_node *stream, lab_series *into, bool singles);

#endif /* EK_TOOLS_LAB_ARRAYS_H */
