/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory for the library's own objects. One door, so that a test can make the n-th
 * allocation fail and see that nothing leaks. Pinned and device memory come from the backend and
 * count here too. Thread-safe. */
#ifndef EK_CORE_ALLOC_H
#define EK_CORE_ALLOC_H

#include "core/status.h"

EK_BEGIN_DECLS

/* ek_alloc returns `count` zeroed objects of `size` bytes, or NULL with EK_ENOMEM recorded. A
 * request of 0 bytes returns a valid pointer. Free with ek_free. */
EK_API void *ek_alloc(size_t count, size_t size);

/* ek_free releases what ek_alloc or ek_strdup returned; NULL is fine. */
EK_API void ek_free(void *ptr);

/* ek_grow doubles *array (elements of `size` bytes) when *capacity is used up, keeping the first
 * `count`; new elements are zeroed. On failure the array is unchanged. */
EK_API ek_status ek_grow(void *array_ptr, size_t *capacity, size_t count, size_t size);

/* ek_strdup copies a string; NULL gives NULL without an error. ek_strprintf formats one. */
EK_API char *ek_strdup(const char *text);
EK_API char *ek_strprintf(const char *format, ...) EK_PRINTF(1, 2);

/* ek_alloc_live returns how many allocations are not yet freed. */
EK_API int64_t ek_alloc_live(void);

/* ek_alloc_fail_at makes the n-th allocation from now on fail (n >= 1); 0 turns this off. */
EK_API void ek_alloc_fail_at(int64_t n);

/* ek_alloc_count_one counts an allocation made elsewhere (a backend's) and says whether it should
 * fail instead; ek_alloc_count_free counts its release. */
EK_API bool ek_alloc_count_one(void);
EK_API void ek_alloc_count_free(void);

EK_END_DECLS

#endif /* EK_CORE_ALLOC_H */
