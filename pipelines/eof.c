/* SPDX-License-Identifier: Apache-2.0 */
/* EOF analysis in one pipeline: the values are read once, and svd takes the mean of each cell from
 * them itself. Options of svd that are left at their defaults get that centring. */
#include "pipelines/eof.h"

ek_status ek_pipeline_eof(ek_pipeline **out, ek_node **result, const ek_eof_options *options)
{
    ek_pipeline *p = NULL;
    ek_svd_options svd_options = options->svd;
    if (svd_options.centring == 0) {
        svd_options.centring = EK_SVD_CENTRING_MEAN;
    }
    EK_TRY(ek_pipeline_create(&p, "eof"));

    ek_node *load = ek_load(p, &options->load);
    ek_node *up = ek_upload(p, load, NULL);
    ek_node *svd = ek_svd(p, up, &svd_options);
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
