/* SPDX-License-Identifier: Apache-2.0 */
/* The combine stage: two streams on one grid, value by value. */
#ifndef EK_STAGES_COMBINE_H
#define EK_STAGES_COMBINE_H

#include "core/stage.h"

EK_BEGIN_DECLS

typedef enum ek_combine_op {
    EK_COMBINE_ADD = 1, /* a + b */
    EK_COMBINE_SUB,     /* a - b */
    EK_COMBINE_MUL,     /* a * b */
    EK_COMBINE_DIV,     /* a / b */
    EK_COMBINE_HYPOT    /* sqrt(a*a + b*b): a speed from its two components */
} ek_combine_op;

typedef struct ek_combine_options {
    int op;           /* ek_combine_op; 0: add */
    const char *name; /* of the variable put out; NULL: the two names with the op between */
} ek_combine_options;

extern EK_API const ek_stage ek_stage_combine;

EK_END_DECLS

#endif /* EK_STAGES_COMBINE_H */
