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
 * struct; NULL: defaults). inputs[i] feeds the stage's i-th input port; NULL there makes what the
 * stage implies (ek_stage.implied), in a node called NODE_PORT. The node is called after its stage,
 * with a number from the second on. Returns NULL after a mistake. Borrowed from the
 * pipeline. */
EK_API ek_node *ek_pipeline_add(ek_pipeline *pipeline, const ek_stage *stage,
                                ek_node *const *inputs, int n_inputs, const void *options);

/* ek_node_name_set renames a node; names are unique in a pipeline. */
EK_API void ek_node_name_set(ek_node *node, const char *name);
EK_API const char *ek_node_name(const ek_node *node);

/* What a node is made of: its stage, its options with defaults applied (NULL: the stage has none),
 * and the node that feeds an input port (NULL: there is no such port). */
EK_API const ek_stage *ek_node_stage(const ek_node *node);
EK_API const void *ek_node_options(const ek_node *node);
EK_API ek_node *ek_node_input(const ek_node *node, int port);

/* ek_pipeline_size counts the nodes; ek_pipeline_node returns one by number, from 0, each after the
 * nodes that feed it; ek_pipeline_find one by name. NULL if there is none. */
EK_API int ek_pipeline_size(const ek_pipeline *pipeline);
EK_API ek_node *ek_pipeline_node(const ek_pipeline *pipeline, int index);
EK_API ek_node *ek_pipeline_find(const ek_pipeline *pipeline, const char *name);

/* ek_pipeline_status returns EK_OK, or the first mistake made while building, as the last error. */
EK_API ek_status ek_pipeline_status(const ek_pipeline *pipeline);

EK_END_DECLS

#endif /* EK_GRAPHS_PIPELINE_H */
