/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline: the DAG as its user builds it. Constructors are sticky: after the first mistake they
 * return NULL and accept NULL inputs, and ek_pipeline_status (or ek_plan_create) reports that first
 * mistake, so that a program checks once. One thread at a time. */
#ifndef EK_GRAPHS_PIPELINE_H
#define EK_GRAPHS_PIPELINE_H

#include "core/stage.h"

EK_BEGIN_DECLS

typedef struct ek_pipeline ek_pipeline;
typedef struct ek_node ek_node;

/* ek_pipeline_create makes an empty pipeline; its name is for reports. */
EK_API ek_status ek_pipeline_create(ek_pipeline **out, const char *name);

/* ek_pipeline_destroy frees it with its nodes, after plans made from it. NULL is fine. */
EK_API void ek_pipeline_destroy(ek_pipeline *pipeline);

/* ek_pipeline_add adds a node running `stage`, with a copy of `options` (the stage's option
 * struct; NULL: defaults). inputs[i] feeds the stage's i-th input port. The node is called after
 * its stage, with a number from the second on. Returns NULL after a mistake. Borrowed from the
 * pipeline. */
EK_API ek_node *ek_pipeline_add(ek_pipeline *pipeline, const ek_stage *stage,
                                ek_node *const *inputs, int n_inputs, const void *options);

/* ek_node_name_set renames a node; names are unique in a pipeline. */
EK_API void ek_node_name_set(ek_node *node, const char *name);
EK_API const char *ek_node_name(const ek_node *node);

/* ek_pipeline_status returns EK_OK, or the first mistake made while building, as the last error. */
EK_API ek_status ek_pipeline_status(const ek_pipeline *pipeline);

EK_END_DECLS

#endif /* EK_GRAPHS_PIPELINE_H */
