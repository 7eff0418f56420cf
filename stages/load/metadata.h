/* SPDX-License-Identifier: Apache-2.0 */
/* Which variable of a file is meant, and which of its dimensions is time. On the io thread only. */
#ifndef EK_STAGES_LOAD_METADATA_H
#define EK_STAGES_LOAD_METADATA_H

#include "stages/load/nc.h"

EK_BEGIN_DECLS

/* The chosen variable. Dims before the time dim all have size 1, so that the stored order is
 * [time, cells]. */
typedef struct ek__variable {
    ek__nc_var var;
    int time_dim; /* index into var.dims */
} ek__variable;

/* ek__variable_find finds variable `name` (NULL: the only one over time and space of the root
 * group;
 * "/GROUP/NAME": one in a group, from which the file is seen from then on) and its time
 * dimension `time` (NULL: the dimension whose coordinate says so by CF units, axis or standard
 * name; else by units such as "months"; else the unlimited one; else one called time, month or t).
 * Decisions go to `notes`. Errors list what the file has. */
ek_status ek__variable_find(ek__nc_file *file, const char *name, const char *time, ek_field *notes,
                            ek__variable *out);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_METADATA_H */
