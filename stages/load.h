/* SPDX-License-Identifier: Apache-2.0 */
/* The load stage: reads a variable of one or several netCDF files along their time axis. */
#ifndef EK_STAGES_LOAD_H
#define EK_STAGES_LOAD_H

#include "core/stage.h"

EK_BEGIN_DECLS

/* Who reads the values: Ekman's own decoders on all cores, or the netCDF library on one thread. */
typedef enum ek_load_decoder {
    EK_DECODER_AUTO,  /* own decoders where they can, else the library; the plan says which and why
                       */
    EK_DECODER_CHUNK, /* own decoders, or an error that says why not */
    EK_DECODER_LIBRARY
} ek_load_decoder;

typedef struct ek_load_options {
    const char *const *paths; /* netCDF files, Zarr stores, DAP or byte-range addresses; put in time
                                 order by their time axes */
    int n_paths;
    const char *variable; /* "/GROUP/NAME" in a group; NULL: the only one with a time axis */
    const char *time;     /* name of the time dimension; NULL: found by CF attributes */
    int64_t chunk;        /* time steps per chunk, rounded up to what a file stores together; 0: as
                             many as make about 16 MiB */
    int decoder;          /* ek_load_decoder */
} ek_load_options;

extern EK_API const ek_stage ek_stage_load;

EK_END_DECLS

#endif /* EK_STAGES_LOAD_H */
