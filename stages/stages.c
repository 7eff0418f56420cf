/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all built-in stages. */
#include "stages/stages.h"

#include <string.h>

const ek_stage *const ek_stages[] = {
    &ek_stage_load, &ek_stage_upload,   &ek_stage_reduce, &ek_stage_anomaly,
    &ek_stage_svd,  &ek_stage_download, &ek_stage_write,  NULL,
};

const ek_stage *ek_stage_find(const char *name)
{
    for (const ek_stage *const *stage = ek_stages; *stage != NULL; stage++) {
        if (strcmp((*stage)->name, name) == 0) {
            return *stage;
        }
    }
    return NULL;
}
