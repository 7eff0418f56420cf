/* SPDX-License-Identifier: Apache-2.0 */
/* One typed constructor for each built-in stage; see graphs/pipeline.h for how mistakes are
 * reported, and stages/NAME.h for the options (NULL: defaults). */
#ifndef EK_GRAPHS_NODES_H
#define EK_GRAPHS_NODES_H

#include "graphs/pipeline.h"
#include "stages/stages.h"

EK_BEGIN_DECLS

/* ek_load reads a variable of netCDF files: a stream of chunks in host memory. */
EK_API ek_node *ek_load(ek_pipeline *pipeline, const ek_load_options *options);

/* ek_upload brings a stream to the device, as the file stores it. `options` is NULL. */
EK_API ek_node *ek_upload(ek_pipeline *pipeline, ek_node *stream, const void *options);

/* ek_combine combines two streams value by value, say the components of a wind to its speed. */
EK_API ek_node *ek_combine(ek_pipeline *pipeline, ek_node *a, ek_node *b,
                           const ek_combine_options *options);

/* ek_reduce makes statistics over time of a stream. */
EK_API ek_node *ek_reduce(ek_pipeline *pipeline, ek_node *stream, const ek_reduce_options *options);

/* ek_anomaly subtracts from a stream its mean, an ek_reduce result; NULL makes that node too.
 * `options` is NULL. */
EK_API ek_node *ek_anomaly(ek_pipeline *pipeline, ek_node *stream, ek_node *mean,
                           const void *options);

/* ek_svd decomposes a stream of anomalies. */
EK_API ek_node *ek_svd(ek_pipeline *pipeline, ek_node *stream, const ek_svd_options *options);

/* ek_download brings a stream or a result to the host. `options` is NULL. */
EK_API ek_node *ek_download(ek_pipeline *pipeline, ek_node *input, const void *options);

/* ek_write writes a downloaded stream or result to a netCDF file. */
EK_API ek_node *ek_write(ek_pipeline *pipeline, ek_node *input, const ek_write_options *options);

EK_END_DECLS

#endif /* EK_GRAPHS_NODES_H */
