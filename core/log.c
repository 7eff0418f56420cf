/* SPDX-License-Identifier: Apache-2.0 */
/* The log sink, called under a lock so that messages of several threads do not mix. A sink must not
 * log itself. */
#include "core/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ek_log_fn sink; /* guarded by lock, as is sink_user */
static void *sink_user;

void ek_log_set(ek_log_fn fn, void *user)
{
    pthread_mutex_lock(&lock);
    sink = fn;
    sink_user = user;
    pthread_mutex_unlock(&lock);
}

void ek_log(ek_log_level level, const char *format, ...)
{
    char message[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    pthread_mutex_lock(&lock);
    if (sink != NULL) {
        sink(level, message, sink_user);
    }
    pthread_mutex_unlock(&lock);
}
