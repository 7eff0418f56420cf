/* SPDX-License-Identifier: Apache-2.0 */
/* The svd stage: singular value decomposition of a stream of anomalies (an EOF analysis). */
#ifndef EK_STAGES_SVD_H
#define EK_STAGES_SVD_H

#include "core/stage.h"

EK_BEGIN_DECLS

typedef struct ek_svd_options {
    int64_t modes; /* leading modes wanted; 0: all */
} ek_svd_options;

extern EK_API const ek_stage ek_stage_svd;

EK_END_DECLS

#endif /* EK_STAGES_SVD_H */
