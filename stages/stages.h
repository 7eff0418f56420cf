/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all built-in stages. A program may add its own to a pipeline without listing it. */
#ifndef EK_STAGES_STAGES_H
#define EK_STAGES_STAGES_H

#include "core/stage.h"
#include "stages/anomaly.h"
#include "stages/load.h"
#include "stages/reduce.h"
#include "stages/svd.h"
#include "stages/transfer.h"
#include "stages/write.h"

EK_BEGIN_DECLS

/* ek_stages is the list, ended by NULL, in the order of a pipeline. */
extern EK_API const ek_stage *const ek_stages[];

/* ek_stage_find returns a built-in stage by name, or NULL. */
EK_API const ek_stage *ek_stage_find(const char *name);

EK_END_DECLS

#endif /* EK_STAGES_STAGES_H */
