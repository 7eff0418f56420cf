/* SPDX-License-Identifier: Apache-2.0 */
/* The last error of each thread, and the names and texts of the codes. */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local ek_error last_error;

const char *ek_status_name(ek_status status)
{
    switch (status) {
#define EK_STATUS_NAME(name, code, text)                                                           \
    case EK_##name:                                                                                \
        return "EK_" #name;
        EK_STATUS_MAP(EK_STATUS_NAME)
#undef EK_STATUS_NAME
    }
    return "EK_UNKNOWN";
}

const char *ek_status_text(ek_status status)
{
    switch (status) {
#define EK_STATUS_TEXT(name, code, text)                                                           \
    case EK_##name:                                                                                \
        return text;
        EK_STATUS_MAP(EK_STATUS_TEXT)
#undef EK_STATUS_TEXT
    }
    return "unknown status";
}

const ek_error *ek_error_last(void)
{
    return &last_error;
}

ek_status ek_error_set(const ek_error *error)
{
    if (error != &last_error) {
        last_error = *error;
    }
    return last_error.status;
}

void ek_error_clear(void)
{
    memset(&last_error, 0, sizeof last_error);
}

/* A message that did not fit ends in "..." rather than in the middle of a number. */
static void mark_truncated(char *message, size_t size, int wanted)
{
    if (wanted >= 0 && (size_t)wanted >= size) {
        memcpy(message + size - 4, "...", 4);
    }
}

ek_status ek_error_prefix(const char *format, ...)
{
    char prefix[EK_ERROR_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(prefix, sizeof prefix, format, args);
    va_end(args);
    if (n < 0) {
        return last_error.status;
    }
    size_t length = strlen(prefix);
    size_t room = sizeof last_error.message;
    if (length + 2 >= room) {
        length = room - 3;
    }
    size_t old = strlen(last_error.message);
    size_t kept = EK_MIN(old, room - 1 - length - 2);
    memmove(last_error.message + length + 2, last_error.message, kept);
    last_error.message[length + 2 + kept] = '\0';
    memcpy(last_error.message, prefix, length);
    memcpy(last_error.message + length, ": ", 2);
    mark_truncated(last_error.message, room, (int)EK_MIN(length + 2 + old, room));
    return last_error.status;
}

ek_status ek_error_record(ek_status status, int foreign_code, const char *file, int line,
                          const char *format, ...)
{
    /* The arguments may point into the last error, so it is replaced only once all is formatted. */
    ek_error error = {.status = status, .foreign_code = foreign_code, .line = line};
    const char *slash = strrchr(file, '/');
    snprintf(error.file, sizeof error.file, "%s", slash != NULL ? slash + 1 : file);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(error.message, sizeof error.message, format, args);
    va_end(args);
    if (n < 0) {
        snprintf(error.message, sizeof error.message, "%s", ek_status_text(status));
    }
    mark_truncated(error.message, sizeof error.message, n);
    last_error = error;
    return status;
}
