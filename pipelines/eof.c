/* SPDX-License-Identifier: Apache-2.0 */
/* EOF analysis in one pipeline: the anomalies from the time mean, decomposed on the device. The
 * mean must be finished before an anomaly can be made, so the planner makes two passes of it; the
 * matrix never leaves the device between them. */
#include "pipelines/eof.h"

ek_status ek_pipeline_eof(ek_pipeline **out, ek_node **result, const ek_eof_options *options)
{
    ek_pipeline *p = NULL;
    EK_TRY(ek_pipeline_create(&p, "eof"));

    ek_node *load = ek_load(p, &options->load);
    ek_node *up = ek_upload(p, load, NULL);
    ek_node *mean = ek_reduce(p, up, &(ek_reduce_options){.op = EK_REDUCE_MEAN});
    ek_node *anomaly = ek_anomaly(p, up, mean, NULL);
    ek_node *svd = ek_svd(p, anomaly, &options->svd);
    ek_node *down = ek_download(p, svd, NULL);
    if (options->write.path != NULL) {
        ek_write(p, down, &options->write);
    }

    ek_status rc = ek_pipeline_status(p); /* any earlier mistake shows here */
    if (rc != EK_OK) {
        ek_pipeline_destroy(p);
        return rc;
    }
    *out = p;
    *result = down;
    return EK_OK;
}
