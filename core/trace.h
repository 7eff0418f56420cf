/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX ranges in the domain "ekman": the name is the stage's, the payload the chunk's index (-1
 * where there is none). Header-only NVTX3; without a listening tool a call is one branch, and a
 * build without the NVTX headers has empty functions. Push and pop on the same thread. */
#ifndef EK_CORE_TRACE_H
#define EK_CORE_TRACE_H

#include "core/common.h"

EK_BEGIN_DECLS

EK_API void ek_trace_push(const char *name, int64_t chunk);
EK_API void ek_trace_pop(void);

EK_END_DECLS

#endif /* EK_CORE_TRACE_H */
