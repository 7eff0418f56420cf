/* SPDX-License-Identifier: Apache-2.0 */
/* What every header needs: linkage, visibility, small macros. */
#ifndef EK_CORE_COMMON_H
#define EK_CORE_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define EK_BEGIN_DECLS extern "C" {
#define EK_END_DECLS   }
#else
#define EK_BEGIN_DECLS
#define EK_END_DECLS
#endif

#if defined(__GNUC__)
#define EK_API              __attribute__((visibility("default")))
#define EK_PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))
#else
#define EK_API
#define EK_PRINTF(fmt, arg)
#endif

#define EK_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define EK_MIN(a, b)    ((a) < (b) ? (a) : (b))
#define EK_MAX(a, b)    ((a) > (b) ? (a) : (b))

#endif /* EK_CORE_COMMON_H */
