/* SPDX-License-Identifier: Apache-2.0 */
/* The load stage: reads a variable of one or several netCDF files along their time axis. */
#ifndef EK_STAGES_LOAD_H
#define EK_STAGES_LOAD_H

#include "core/stage.h"

EK_BEGIN_DECLS

typedef struct ek_load_options {
    const char *const *paths; /* netCDF files; put in time order by their time axes */
    int n_paths;
    const char *variable; /* NULL: the only variable with a time axis */
    const char *time;     /* name of the time dimension; NULL: found by CF attributes */
    int64_t chunk;        /* time steps per chunk; 0: as many as make about 16 MiB */
} ek_load_options;

extern EK_API const ek_stage ek_stage_load;

EK_END_DECLS

#endif /* EK_STAGES_LOAD_H */
