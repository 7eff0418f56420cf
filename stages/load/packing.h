/* SPDX-License-Identifier: Apache-2.0 */
/* How a variable is stored: type, scale, offset and the values that mean "missing" (CF conventions
 * 2.5.1 and 8.1). On the io thread only. */
#ifndef EK_STAGES_LOAD_PACKING_H
#define EK_STAGES_LOAD_PACKING_H

#include "core/chunk.h"
#include "stages/load/nc.h"

EK_BEGIN_DECLS

typedef struct ek__packing {
    ek_dtype dtype;
    double scale, offset;
    double missing[EK_MISSING_MAX];
    int n_missing;
} ek__packing;

/* ek__packing_read reads the attributes of a variable. Decisions go to `notes` (may be NULL). */
ek_status ek__packing_read(const ek__nc_file *file, const ek__nc_var *var, ek_field *notes,
                           ek__packing *out);

/* ek__packing_equal says whether one chunk header can serve both. */
bool ek__packing_equal(const ek__packing *a, const ek__packing *b);

/* ek__packing_header puts the packing into a chunk header. */
void ek__packing_header(const ek__packing *packing, ek_chunk_header *header);

/* ek__packing_values reads a whole variable, decoded to float64, NaN where missing. *packed says
 * whether it has a scale or offset. Free *out with ek_free. */
ek_status ek__packing_values(const ek__nc_file *file, const ek__nc_var *var, double **out,
                             bool *packed);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_PACKING_H */
