/* SPDX-License-Identifier: Apache-2.0 */
/* The reduce stage: statistics over time for each cell, any set of them in one sweep. */
#ifndef EK_STAGES_REDUCE_H
#define EK_STAGES_REDUCE_H

#include "core/stage.h"

EK_BEGIN_DECLS

enum {
    EK_REDUCE_MEAN = 1 << 0,
    EK_REDUCE_STD = 1 << 1,
    EK_REDUCE_VAR = 1 << 2,
    EK_REDUCE_MIN = 1 << 3,
    EK_REDUCE_MAX = 1 << 4,
    EK_REDUCE_RANGE = 1 << 5,
    EK_REDUCE_SUM = 1 << 6,
    EK_REDUCE_COUNT = 1 << 7
};

/* Divisor of variance and standard deviation: N-1 (the sample's) or N (the population's). */
typedef enum ek_ddof { EK_DDOF_1 = 1, EK_DDOF_0 = 2 } ek_ddof;

typedef struct ek_reduce_options {
    unsigned op; /* EK_REDUCE_ bits; 0: mean */
    int ddof;    /* ek_ddof; 0: EK_DDOF_1 */
} ek_reduce_options;

extern EK_API const ek_stage ek_stage_reduce;

EK_END_DECLS

#endif /* EK_STAGES_REDUCE_H */
