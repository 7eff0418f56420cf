/* SPDX-License-Identifier: Apache-2.0 */
/* The write stage: a CF netCDF-4 file from a result, or from a stream chunk by chunk. */
#ifndef EK_STAGES_WRITE_H
#define EK_STAGES_WRITE_H

#include "core/stage.h"

EK_BEGIN_DECLS

typedef enum ek_write_type { EK_WRITE_FLOAT64 = 1, EK_WRITE_FLOAT32 } ek_write_type;

typedef struct ek_write_options {
    const char *path;    /* the file to write; replaced if it exists, only once complete */
    int type;            /* ek_write_type of floating-point arrays; 0: float64 */
    int64_t deflate;     /* compression level 0 (none) to 9 */
    const char *command; /* put into the history attribute; NULL: "ekman" and the version */
} ek_write_options;

extern EK_API const ek_stage ek_stage_write;

EK_END_DECLS

#endif /* EK_STAGES_WRITE_H */
