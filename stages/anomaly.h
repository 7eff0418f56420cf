/* SPDX-License-Identifier: Apache-2.0 */
/* The anomaly stage: a stream minus its time mean. It has no options. */
#ifndef EK_STAGES_ANOMALY_H
#define EK_STAGES_ANOMALY_H

#include "core/stage.h"

EK_BEGIN_DECLS

extern EK_API const ek_stage ek_stage_anomaly;

EK_END_DECLS

#endif /* EK_STAGES_ANOMALY_H */
