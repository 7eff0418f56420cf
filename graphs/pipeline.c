/* SPDX-License-Identifier: Apache-2.0 */
/* Building a pipeline: nodes, links, and the first mistake kept for later. */
#include "graphs/pipeline.h"

#include "graphs/internal.h"

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

/* default_name is the stage's name, with a number from the second node on. */
static char *default_name(const ek_pipeline *pipeline, const char *stage)
{
    char *name = ek_strdup(stage);
    for (int i = 2; name != NULL && ek_pipeline_find(pipeline, name) != NULL; i++) {
        ek_free(name);
        name = ek_strprintf("%s%d", stage, i);
    }
    return name;
}

int ek__stage_ports(const ek_stage *stage)
{
    int n = 0;
    while (stage->inputs != NULL && stage->inputs[n].name != NULL) {
        n++;
    }
    return n;
}

bool ek__stage_implies(const ek_stage *stage, int port)
{
    return port > 0 && stage->implied != NULL && stage->implied[port] != NULL;
}

static ek_status check_input(const ek_pipeline *pipeline, const ek_stage *stage, int port,
                             const ek_node *from)
{
    const char *name = stage->inputs[port].name;
    if (from == NULL) {
        return ek__stage_implies(stage, port)
                   ? EK_OK
                   : EK_FAIL(EK_EINVAL, "%s: nothing is linked to its input '%s'", stage->name,
                             name);
    }
    if (from->pipeline != pipeline) {
        return EK_FAIL(EK_EINVAL, "%s: input '%s' comes from node '%s' of another pipeline",
                       stage->name, name, from->name);
    }
    if (ek__stage_is(from, EK_STAGE_SINK)) {
        return EK_FAIL(EK_EINVAL, "%s: input '%s' comes from '%s', which has no output",
                       stage->name, name, from->name);
    }
    return EK_OK;
}

/* new_name copies the name a node shall have, or makes one; NULL after a mistake. */
static char *new_name(const ek_pipeline *pipeline, const ek_stage *stage, const char *name)
{
    if (name == NULL) {
        return default_name(pipeline, stage->name);
    }
    if (ek_pipeline_find(pipeline, name) != NULL) {
        EK_FAIL(EK_EINVAL, "there are two nodes called '%s'; names are unique in a pipeline", name);
        return NULL;
    }
    return ek_strdup(name);
}

static ek_status check_inputs(const ek_pipeline *pipeline, const ek_stage *stage,
                              const node_inputs *inputs)
{
    if (stage->api != EK_STAGE_API) {
        return EK_FAIL(EK_EINVAL, "stage '%s' was made for stage interface %d; this is %d",
                       stage->name, stage->api, EK_STAGE_API);
    }
    int n_ports = ek__stage_ports(stage);
    if (n_ports > EK_STAGE_INPUTS) {
        return EK_FAIL(EK_EINVAL, "stage '%s' has %d inputs; there can be %d", stage->name, n_ports,
                       EK_STAGE_INPUTS);
    }
    if (inputs->n != n_ports) {
        return EK_FAIL(EK_EINVAL, "%s: %d inputs given, the stage has %d", stage->name, inputs->n,
                       n_ports);
    }
    for (int i = 0; i < inputs->n; i++) {
        EK_TRY(check_input(pipeline, stage, i, inputs->nodes[i]));
    }
    return EK_OK;
}

/* node_create makes a node with its copy of the options; NULL after a mistake. */
static ek_node *node_create(ek_pipeline *pipeline, const ek_stage *stage, const char *name,
                            const void *options)
{
    ek_node *node = ek_alloc(1, sizeof(*node));
    if (node == NULL) {
        return NULL;
    }
    node->pipeline = pipeline;
    node->stage = stage;
    node->name = ek_strdup(name);
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

/* node_insert makes a node of links that are checked, and lists it. */
static ek_node *node_insert(ek_pipeline *pipeline, const ek_stage *stage, const char *name,
                            const node_inputs *inputs, const void *options)
{
    ek_node *node = node_create(pipeline, stage, name, options);
    if (node == NULL || ek_grow(&pipeline->nodes, &pipeline->capacity, pipeline->n_nodes,
                                sizeof(*pipeline->nodes)) != EK_OK) {
        node_destroy(node);
        fail(pipeline);
        return NULL;
    }
    node->n_inputs = inputs->n;
    for (int i = 0; i < inputs->n; i++) {
        node->inputs[i] = inputs->nodes[i];
    }
    node->index = (int)pipeline->n_nodes;
    pipeline->nodes[pipeline->n_nodes++] = node;
    return node;
}

/* imply makes the input i that nothing is linked to out of the first; NULL after a mistake. */
static ek_node *imply(ek_pipeline *pipeline, const ek_stage *stage, const char *name,
                      ek_node *const *inputs, int i)
{
    char *stem = ek_strprintf("%s_%s", name, stage->inputs[i].name);
    char *unique = stem != NULL ? default_name(pipeline, stem) : NULL;
    ek_free(stem);
    if (unique == NULL) {
        fail(pipeline);
        return NULL;
    }
    node_inputs first = {.n = 1, .nodes = {inputs[0]}};
    ek_node *node = node_insert(pipeline, stage->implied[i], unique, &first, NULL);
    ek_free(unique);
    return node;
}

ek_node *ek__pipeline_add_named(ek_pipeline *pipeline, const ek_stage *stage, const char *name,
                                const node_inputs *inputs, const void *options)
{
    if (pipeline == NULL || pipeline->error.status != EK_OK) {
        return NULL;
    }
    char *own = new_name(pipeline, stage, name);
    if (own == NULL || check_inputs(pipeline, stage, inputs) != EK_OK) {
        ek_free(own);
        fail(pipeline);
        return NULL;
    }
    node_inputs full = *inputs;
    for (int i = 1; i < full.n && pipeline->error.status == EK_OK; i++) {
        if (full.nodes[i] == NULL) {
            full.nodes[i] = imply(pipeline, stage, own, full.nodes, i);
        }
    }
    ek_node *node = NULL;
    if (pipeline->error.status == EK_OK) {
        node = node_insert(pipeline, stage, own, &full, options);
    }
    ek_free(own);
    return node;
}
ek_node *ek_pipeline_add(ek_pipeline *pipeline, const ek_stage *stage, ek_node *const *inputs,
                         int n_inputs, const void *options)
{
    node_inputs links = {.n = n_inputs};
    for (int i = 0; i < n_inputs && i < EK_STAGE_INPUTS; i++) {
        links.nodes[i] = inputs[i];
    }
    return ek__pipeline_add_named(pipeline, stage, NULL, &links, options);
}

void ek_node_name_set(ek_node *node, const char *name)
{
    if (node == NULL || strcmp(node->name, name) == 0) {
        return;
    }
    if (ek_pipeline_find(node->pipeline, name) != NULL) {
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

const ek_stage *ek_node_stage(const ek_node *node)
{
    return node->stage;
}

const void *ek_node_options(const ek_node *node)
{
    return node->options;
}

ek_node *ek_node_input(const ek_node *node, int port)
{
    return port >= 0 && port < node->n_inputs ? node->inputs[port] : NULL;
}

int ek_pipeline_size(const ek_pipeline *pipeline)
{
    return (int)pipeline->n_nodes;
}

ek_node *ek_pipeline_node(const ek_pipeline *pipeline, int index)
{
    bool there = index >= 0 && (size_t)index < pipeline->n_nodes;
    return there ? pipeline->nodes[index] : NULL;
}

ek_node *ek_pipeline_find(const ek_pipeline *pipeline, const char *name)
{
    for (size_t i = 0; i < pipeline->n_nodes; i++) {
        if (strcmp(pipeline->nodes[i]->name, name) == 0) {
            return pipeline->nodes[i];
        }
    }
    return NULL;
}
