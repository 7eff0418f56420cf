/* SPDX-License-Identifier: Apache-2.0 */
/* The two stages that cross the host/device border. They have no options. */
#ifndef EK_STAGES_TRANSFER_H
#define EK_STAGES_TRANSFER_H

#include "core/stage.h"

EK_BEGIN_DECLS

extern EK_API const ek_stage ek_stage_upload;
extern EK_API const ek_stage ek_stage_download;

EK_END_DECLS

#endif /* EK_STAGES_TRANSFER_H */
