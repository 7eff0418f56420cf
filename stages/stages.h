/* SPDX-License-Identifier: Apache-2.0 */
/* The list of stages: the built-in ones, and those that a program adds to be found by name. (A
 * stage can be put into a pipeline without being listed.) */
#ifndef EK_STAGES_STAGES_H
#define EK_STAGES_STAGES_H

#include "core/stage.h"
#include "stages/anomaly.h"
#include "stages/combine.h"
#include "stages/load.h"
#include "stages/reduce.h"
#include "stages/svd.h"
#include "stages/transfer.h"
#include "stages/write.h"

EK_BEGIN_DECLS

/* The most stages that there can be, built-in ones included. */
#define EK_STAGES_MAX 64

/* ek_stages is the list, ended by NULL: the built-in stages in the order of a pipeline, then the
 * program's own. */
extern EK_API const ek_stage *const *const ek_stages;

/* ek_stage_find returns a listed stage by name, or NULL. */
EK_API const ek_stage *ek_stage_find(const char *name);

/* ek_stage_register lists a stage of the program's own, so that a pipeline's text can name it. The
 * descriptor is borrowed for good. Refuses a name that is taken or that a text could not hold (a
 * letter or _, then letters, digits, _ and -, at most 31), an option called like an input, and more
 * than EK_STAGES_MAX stages. Not thread-safe: call it before pipelines are made. */
EK_API ek_status ek_stage_register(const ek_stage *stage);

EK_END_DECLS

#endif /* EK_STAGES_STAGES_H */
