/* SPDX-License-Identifier: Apache-2.0 */
/* The EOF pipeline: load ! upload ! svd centring=mean ! download [! write]. */
#ifndef EK_PIPELINES_EOF_H
#define EK_PIPELINES_EOF_H

#include "graphs/nodes.h"

EK_BEGIN_DECLS

typedef struct ek_eof_options {
    ek_load_options load;
    ek_svd_options svd;     /* centring 0: mean */
    ek_write_options write; /* path NULL: nothing is written */
} ek_eof_options;

/* ek_pipeline_eof builds it. *result is the download node, whose arrays (see stages/svd.c) the
 * report holds after a run. Destroy *out with ek_pipeline_destroy. */
EK_API ek_status ek_pipeline_eof(ek_pipeline **out, ek_node **result,
                                 const ek_eof_options *options);

EK_END_DECLS

#endif /* EK_PIPELINES_EOF_H */
