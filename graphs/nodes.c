/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/nodes.h"

ek_node *ek_load(ek_pipeline *pipeline, const ek_load_options *options)
{
    return ek_pipeline_add(pipeline, &ek_stage_load, NULL, 0, options);
}

ek_node *ek_upload(ek_pipeline *pipeline, ek_node *stream, const void *options)
{
    return ek_pipeline_add(pipeline, &ek_stage_upload, &stream, 1, options);
}

ek_node *ek_reduce(ek_pipeline *pipeline, ek_node *stream, const ek_reduce_options *options)
{
    return ek_pipeline_add(pipeline, &ek_stage_reduce, &stream, 1, options);
}

ek_node *ek_combine(ek_pipeline *pipeline, ek_node *a, ek_node *b,
                    const ek_combine_options *options)
{
    ek_node *inputs[] = {a, b};
    return ek_pipeline_add(pipeline, &ek_stage_combine, inputs, 2, options);
}

ek_node *ek_anomaly(ek_pipeline *pipeline, ek_node *stream, ek_node *mean, const void *options)
{
    ek_node *inputs[] = {stream, mean};
    return ek_pipeline_add(pipeline, &ek_stage_anomaly, inputs, 2, options);
}

ek_node *ek_svd(ek_pipeline *pipeline, ek_node *stream, const ek_svd_options *options)
{
    return ek_pipeline_add(pipeline, &ek_stage_svd, &stream, 1, options);
}

ek_node *ek_download(ek_pipeline *pipeline, ek_node *input, const void *options)
{
    return ek_pipeline_add(pipeline, &ek_stage_download, &input, 1, options);
}

ek_node *ek_write(ek_pipeline *pipeline, ek_node *input, const ek_write_options *options)
{
    return ek_pipeline_add(pipeline, &ek_stage_write, &input, 1, options);
}
