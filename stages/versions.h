/* SPDX-License-Identifier: Apache-2.0 */
/* Which versions of other libraries read and compute here, for plans and reports. */
#ifndef EK_STAGES_VERSIONS_H
#define EK_STAGES_VERSIONS_H

#include "core/status.h"

EK_BEGIN_DECLS

typedef struct ek_version {
    const char *name; /* "HDF5" */
    char number[48];  /* "1.14.3" */
} ek_version;

#define EK_VERSIONS_MAX 12

/* ek_versions_get fills out[0] to out[n - 1] and returns n: the libraries that stages use on the
 * host, in a fixed order. Asks HDF5, so the io thread must run (a plan sees to that). */
EK_API int ek_versions_get(ek_version out[EK_VERSIONS_MAX]);

EK_END_DECLS

#endif /* EK_STAGES_VERSIONS_H */
