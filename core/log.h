/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to the person running the job: decisions made, things to know. The library prints
 * nothing itself; the program installs a sink. Any thread may log. */
#ifndef EK_CORE_LOG_H
#define EK_CORE_LOG_H

#include "core/common.h"

EK_BEGIN_DECLS

typedef enum ek_log_level { EK_LOG_DEBUG, EK_LOG_NOTE, EK_LOG_WARNING } ek_log_level;

/* Called on the logging thread, one call at a time; `message` has no final newline. */
typedef void (*ek_log_fn)(ek_log_level level, const char *message, void *user);

/* ek_log_set installs the sink; NULL (the default) drops messages. Not to be called while a
 * pipeline runs. */
EK_API void ek_log_set(ek_log_fn fn, void *user);

EK_API void ek_log(ek_log_level level, const char *format, ...) EK_PRINTF(2, 3);

EK_END_DECLS

#endif /* EK_CORE_LOG_H */
