/* SPDX-License-Identifier: Apache-2.0 */
/* Building a pipeline: nodes, links, and the first mistake kept for later. */
#include "graphs/pipeline.h"

#include "graphs/internal.h"

#include <stdio.h>
#include <string.h>

ek_status ek_pipeline_create(ek_pipeline **out, const char *name)
{
    *out = NULL;
    ek_pipeline *pipeline = ek_alloc(1, sizeof(*pipeline));
    if (pipeline == NULL) {
        return EK_ENOMEM;
    }
    pipeline->name = ek_strdup(name != NULL ? name : "pipeline");
    if (pipeline->name == NULL) {
        ek_free(pipeline);
        return EK_ENOMEM;
    }
    *out = pipeline;
    return EK_OK;
}

static void node_destroy(ek_node *node)
{
    if (node == NULL) {
        return;
    }
    if (node->stage != NULL && node->options != NULL) {
        ek_options_free(node->stage->options, node->options);
    }
    ek_free(node->options);
    ek_free(node->name);
    ek_free(node);
}

void ek_pipeline_destroy(ek_pipeline *pipeline)
{
    if (pipeline == NULL) {
        return;
    }
    for (size_t i = 0; i < pipeline->n_nodes; i++) {
        node_destroy(pipeline->nodes[i]);
    }
    ek_free(pipeline->nodes);
    ek_free(pipeline->name);
    ek_free(pipeline);
}

ek_status ek_pipeline_status(const ek_pipeline *pipeline)
{
    return pipeline->error.status == EK_OK ? EK_OK : ek_error_set(&pipeline->error);
}

/* fail keeps the thread's last error as the pipeline's, unless there was one before. */
static void fail(ek_pipeline *pipeline)
{
    if (pipeline->error.status == EK_OK) {
        pipeline->error = *ek_error_last();
    }
}

static bool name_taken(const ek_pipeline *pipeline, const char *name)
{
    for (size_t i = 0; i < pipeline->n_nodes; i++) {
        if (strcmp(pipeline->nodes[i]->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* default_name is the stage's name, with a number from the second node on. */
static char *default_name(const ek_pipeline *pipeline, const char *stage)
{
    char name[64];
    snprintf(name, sizeof(name), "%s", stage);
    for (int i = 2; name_taken(pipeline, name); i++) {
        snprintf(name, sizeof(name), "%s%d", stage, i);
    }
    return ek_strdup(name);
}

static int count_ports(const ek_stage *stage)
{
    int n = 0;
    while (stage->inputs != NULL && stage->inputs[n].name != NULL) {
        n++;
    }
    return n;
}

static ek_status check_inputs(const ek_pipeline *pipeline, const ek_stage *stage,
                              ek_node *const *inputs, int n_inputs)
{
    if (stage->api != EK_STAGE_API) {
        return EK_FAIL(EK_EINVAL, "stage '%s' was made for stage interface %d; this is %d",
                       stage->name, stage->api, EK_STAGE_API);
    }
    int n_ports = count_ports(stage);
    if (n_inputs != n_ports) {
        return EK_FAIL(EK_EINVAL, "%s: %d inputs given, the stage has %d", stage->name, n_inputs,
                       n_ports);
    }
    for (int i = 0; i < n_inputs; i++) {
        const char *port = stage->inputs[i].name;
        if (inputs[i] == NULL) {
            return EK_FAIL(EK_EINVAL, "%s: nothing is linked to its input '%s'", stage->name, port);
        }
        if (inputs[i]->pipeline != pipeline) {
            return EK_FAIL(EK_EINVAL, "%s: input '%s' comes from node '%s' of another pipeline",
                           stage->name, port, inputs[i]->name);
        }
        if (ek__stage_is(inputs[i], EK_STAGE_SINK)) {
            return EK_FAIL(EK_EINVAL, "%s: input '%s' comes from '%s', which has no output",
                           stage->name, port, inputs[i]->name);
        }
    }
    return EK_OK;
}

/* node_create makes a node with its copy of the options; NULL after a mistake. */
static ek_node *node_create(ek_pipeline *pipeline, const ek_stage *stage, const void *options)
{
    ek_node *node = ek_alloc(1, sizeof(*node));
    if (node == NULL) {
        return NULL;
    }
    node->pipeline = pipeline;
    node->stage = stage;
    node->name = default_name(pipeline, stage->name);
    if (stage->options != NULL) {
        node->options = ek_alloc(1, stage->options_size);
    }
    bool complete = node->name != NULL && (stage->options == NULL || node->options != NULL);
    if (complete && stage->options != NULL &&
        ek_options_copy(stage->options, node->options, options) != EK_OK) {
        ek_error_prefix("%s", node->name);
        complete = false;
    }
    if (!complete) {
        node_destroy(node);
        return NULL;
    }
    return node;
}

ek_node *ek_pipeline_add(ek_pipeline *pipeline, const ek_stage *stage, ek_node *const *inputs,
                         int n_inputs, const void *options)
{
    if (pipeline == NULL || pipeline->error.status != EK_OK) {
        return NULL;
    }
    if (check_inputs(pipeline, stage, inputs, n_inputs) != EK_OK) {
        fail(pipeline);
        return NULL;
    }
    ek_node *node = node_create(pipeline, stage, options);
    if (node == NULL || ek_grow(&pipeline->nodes, &pipeline->capacity, pipeline->n_nodes,
                                sizeof(*pipeline->nodes)) != EK_OK) {
        node_destroy(node);
        fail(pipeline);
        return NULL;
    }
    node->n_inputs = n_inputs;
    for (int i = 0; i < n_inputs; i++) {
        node->inputs[i] = inputs[i];
    }
    node->index = (int)pipeline->n_nodes;
    pipeline->nodes[pipeline->n_nodes++] = node;
    return node;
}

void ek_node_name_set(ek_node *node, const char *name)
{
    if (node == NULL || strcmp(node->name, name) == 0) {
        return;
    }
    if (name_taken(node->pipeline, name)) {
        EK_FAIL(EK_EINVAL, "there are two nodes called '%s'; names are unique in a pipeline", name);
        fail(node->pipeline);
        return;
    }
    char *copy = ek_strdup(name);
    if (copy == NULL) {
        fail(node->pipeline);
        return;
    }
    ek_free(node->name);
    node->name = copy;
}

const char *ek_node_name(const ek_node *node)
{
    return node != NULL ? node->name : "";
}
