/* SPDX-License-Identifier: Apache-2.0 */
/* Making a plan: validate the links, negotiate what they carry, find the passes, lay out memory. */
#include "graphs/plan.h"

#include "core/crew.h"
#include "core/loop.h"
#include "graphs/internal.h"

#include <string.h>

#define SLOTS_DEFAULT 3
#define SLOTS_MAX     64
#define THREADS_MAX   1024 /* libuv's */

static const char *kind_text(ek_link kind)
{
    return kind == EK_STREAM ? "a stream" : "a result";
}

static const char *kinds_text(unsigned kinds)
{
    return kinds == EK_STREAM ? "a stream" : kinds == EK_RESULT ? "a result" : "either";
}

/* check_link refuses a wrong kind or memory space and says what to put between. */
static ek_status check_link(const ek_node *node, int i, const ek_spec *spec)
{
    const ek_port *port = &node->stage->inputs[i];
    const char *from = node->inputs[i]->name;
    if ((port->kinds & spec->kind) == 0) {
        return EK_FAIL(EK_EINVAL, "node '%s', input '%s': wants %s, but '%s' puts out %s%s",
                       node->name, port->name, kinds_text(port->kinds), from, kind_text(spec->kind),
                       port->kinds == EK_RESULT ? "; put a fold such as 'reduce' between" : "");
    }
    bool device = spec->space == EK_SPACE_DEVICE;
    if (port->device && !device) {
        return EK_FAIL(EK_EINVAL,
                       "node '%s', input '%s': wants device memory, but '%s' puts out host memory; "
                       "put 'upload' between",
                       node->name, port->name, from);
    }
    if (!port->device && device) {
        return EK_FAIL(EK_EINVAL,
                       "node '%s', input '%s': wants host memory, but '%s' puts out device memory; "
                       "put 'download' between",
                       node->name, port->name, from);
    }
    return EK_OK;
}

/* check_sweeps takes over how often the node wants its stream. */
static ek_status check_sweeps(plan_node *self)
{
    self->sweeps = EK_MAX(self->instance.needs.sweeps, 1);
    if (self->instance.needs.sweeps < 0 || self->sweeps > EK_SWEEPS_MAX) {
        return EK_FAIL(EK_EINVAL,
                       "node '%s': asks for %d sweeps over its stream; 1 to %d are "
                       "allowed",
                       self->node->name, self->instance.needs.sweeps, EK_SWEEPS_MAX);
    }
    const ek_spec *in = self->node->n_inputs > 0 ? self->instance.in[0] : NULL;
    bool fold = ek__stage_is(self->node, EK_STAGE_FOLD) && in != NULL && in->kind == EK_STREAM;
    if (self->sweeps > 1 && !fold) {
        return EK_FAIL(EK_EINVAL,
                       "node '%s': asks for %d sweeps over its stream; only a fold of a stream may",
                       self->node->name, self->sweeps);
    }
    return EK_OK;
}

static ek_status negotiate_node(ek_plan *plan, plan_node *self)
{
    const ek_node *node = self->node;
    ek_instance *instance = &self->instance;
    instance->stage = node->stage;
    instance->name = node->name;
    instance->options = node->options;
    instance->backend = plan->backend;
    instance->n_inputs = node->n_inputs;
    self->state = self->scratch = self->output = -1;
    for (int i = 0; i < node->n_inputs; i++) {
        instance->in[i] = &plan->nodes[node->inputs[i]->index].instance.out;
        EK_TRY(check_link(node, i, instance->in[i]));
    }
    if (node->stage->priv_size > 0) {
        instance->priv = ek_alloc(1, node->stage->priv_size);
        if (instance->priv == NULL) {
            return EK_ENOMEM;
        }
    }
    if (node->stage->negotiate(instance) != EK_OK) {
        return ek_error_prefix("%s", node->name);
    }
    return check_sweeps(self);
}

static ek_status find_sources(ek_plan *plan)
{
    plan->n_nodes = (int)plan->pipeline->n_nodes;
    for (int i = 0; i < plan->n_nodes; i++) {
        const ek_node *node = plan->pipeline->nodes[i];
        if (!ek__stage_is(node, EK_STAGE_SOURCE)) {
            continue;
        }
        if (plan->n_sources == EK__SOURCES_MAX) {
            return EK_FAIL(EK_EINVAL, "node '%s': a pipeline has at most %d sources", node->name,
                           EK__SOURCES_MAX);
        }
        plan->sources[plan->n_sources++] = i;
    }
    if (plan->n_sources == 0) {
        return EK_FAIL(EK_EINVAL, "pipeline '%s' has no source; begin it with 'load'",
                       plan->pipeline->name);
    }
    plan->source = plan->sources[0];
    return EK_OK;
}

/* negotiate_sources negotiates them before all others, which then see the chunks agreed on. */
static ek_status negotiate_sources(ek_plan *plan)
{
    for (int s = 0; s < plan->n_sources; s++) {
        EK_TRY(negotiate_node(plan, &plan->nodes[plan->sources[s]]));
    }
    if (plan->n_sources > 1) {
        EK_TRY(ek__plan_agree(plan));
    }
    EK_TRY(ek__plan_recall(plan));
    plan->n_chunks = plan->nodes[plan->source].instance.out.n_chunks;
    for (int s = 0; s < plan->n_sources; s++) {
        plan->chunk_bytes += ek__plan_stream_bytes(&plan->nodes[plan->sources[s]].instance.out);
    }
    return EK_OK;
}

static ek_status negotiate_all(ek_plan *plan)
{
    plan->nodes = ek_alloc((size_t)plan->n_nodes, sizeof(*plan->nodes));
    if (plan->nodes == NULL) {
        return EK_ENOMEM;
    }
    for (int i = 0; i < plan->n_nodes; i++) {
        plan->nodes[i].node = plan->pipeline->nodes[i];
    }
    EK_TRY(negotiate_sources(plan));
    for (int i = 0; i < plan->n_nodes; i++) {
        if (!ek__stage_is(plan->nodes[i].node, EK_STAGE_SOURCE)) {
            EK_TRY(negotiate_node(plan, &plan->nodes[i]));
        }
    }
    return EK_OK;
}

static ek_status check_options(ek_plan *plan, const ek_plan_options *options)
{
    if (options != NULL) {
        plan->options = *options;
    }
    if (plan->options.launch == 0) {
        plan->options.launch = EK_LAUNCH_GRAPH;
    }
    plan->n_slots = plan->options.slots == 0 ? SLOTS_DEFAULT : plan->options.slots;
    if (plan->n_slots < 1 || plan->n_slots > SLOTS_MAX) {
        return EK_FAIL(EK_EINVAL, "slots: %d is out of range; 1 to %d are allowed", plan->n_slots,
                       SLOTS_MAX);
    }
    if (plan->options.threads < 0 || plan->options.threads > THREADS_MAX) {
        return EK_FAIL(EK_EINVAL, "threads: %d is out of range; 0 to %d are allowed",
                       plan->options.threads, THREADS_MAX);
    }
    if (plan->options.launch < EK_LAUNCH_GRAPH || plan->options.launch > EK_LAUNCH_SERIAL) {
        return EK_FAIL(EK_EINVAL, "launch: %d is no launch mode; use graph, stream or serial",
                       (int)plan->options.launch);
    }
    return EK_OK;
}

static ek_status plan_make(ek_plan *plan, const ek_plan_options *options)
{
    EK_TRY(ek_pipeline_status(plan->pipeline));
    EK_TRY(check_options(plan, options));
    EK_TRY(find_sources(plan));
    plan->n_threads = ek_crew_threads(plan->options.threads);
    EK_TRY(ek_io_acquire());
    plan->io_held = true;
    const char *backend = plan->options.backend != NULL ? plan->options.backend : "auto";
    EK_TRY(ek_backend_create(&plan->backend, backend, plan->reason, sizeof(plan->reason)));
    EK_TRY(ek_backend_get_props(plan->backend, &plan->props));
    plan->options.backend = ek_backend_name(plan->backend);
    EK_TRY(negotiate_all(plan));
    EK_TRY(ek__plan_passes(plan));
    EK_TRY(ek__plan_recall_check(plan));
    return ek__plan_memory(plan);
}

ek_status ek_plan_create(ek_plan **out, ek_pipeline *pipeline, const ek_plan_options *options)
{
    *out = NULL;
    if (pipeline == NULL) {
        return EK_FAIL(EK_EINVAL, "there is no pipeline to plan");
    }
    ek_plan *plan = ek_alloc(1, sizeof(*plan));
    if (plan == NULL) {
        return EK_ENOMEM;
    }
    plan->pipeline = pipeline;
    ek_status rc = plan_make(plan, options);
    if (rc != EK_OK) {
        ek_error error = *ek_error_last();
        ek_plan_destroy(plan);
        return ek_error_set(&error);
    }
    *out = plan;
    return EK_OK;
}

void ek_plan_destroy(ek_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    for (int i = plan->n_nodes - 1; plan->nodes != NULL && i >= 0; i--) {
        ek_instance *instance = &plan->nodes[i].instance;
        const ek_stage *stage = instance->stage;
        if (stage != NULL && stage->fini != NULL &&
            (instance->priv != NULL || stage->priv_size == 0)) {
            stage->fini(instance);
        }
        ek_free(instance->priv);
    }
    for (int k = 0; plan->passes != NULL && k < plan->n_passes; k++) {
        ek_free(plan->passes[k].member);
        ek_free(plan->passes[k].fresh);
    }
    ek_arena_fini(&plan->device);
    ek_field_destroy(plan->joined);
    ek_free(plan->passes);
    ek_free(plan->nodes);
    ek_backend_destroy(plan->backend);
    if (plan->io_held) {
        ek_io_release();
    }
    ek_free(plan);
}

const char *ek_plan_backend(const ek_plan *plan)
{
    return ek_backend_name(plan->backend);
}

const char *ek_plan_backend_reason(const ek_plan *plan)
{
    return plan->reason;
}

ek_launch ek_plan_launch(const ek_plan *plan)
{
    return plan->options.launch;
}

static const char *const launch_names[] = {"", "graph", "stream", "serial"};

const char *ek_launch_name(ek_launch launch)
{
    return launch_names[launch];
}

ek_launch ek_launch_parse(const char *name)
{
    for (int i = EK_LAUNCH_GRAPH; i <= EK_LAUNCH_SERIAL; i++) {
        if (strcmp(name, launch_names[i]) == 0) {
            return (ek_launch)i;
        }
    }
    return (ek_launch)0;
}

const ek_field *ek_plan_field(const ek_plan *plan)
{
    return plan->nodes[plan->source].instance.out.field;
}

const ek_spec *ek_plan_spec(const ek_plan *plan, const ek_node *node)
{
    if (node == NULL || node->pipeline != plan->pipeline) {
        return NULL;
    }
    return &plan->nodes[node->index].instance.out;
}

int ek_plan_passes(const ek_plan *plan)
{
    return plan->n_passes;
}

int ek_plan_chunk_launches(const ek_plan *plan, int pass)
{
    return plan->passes[pass].launches;
}
