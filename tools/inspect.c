/* SPDX-License-Identifier: Apache-2.0 */
/* The words and the JSON of a stage's descriptor. See inspect.h. */
#include "tools/inspect.h"

#include "tools/print.h"

const char *inspect_kinds(unsigned kinds)
{
    if (kinds == (EK_STREAM | EK_RESULT)) {
        return "stream or result";
    }
    return kinds == EK_RESULT ? "result" : "stream";
}

const char *inspect_output(const ek_stage *stage)
{
    if ((stage->flags & EK_STAGE_SINK) != 0) {
        return "none: it is a sink";
    }
    if ((stage->flags & EK_STAGE_FOLD) != 0) {
        return "result in device memory, once the whole stream has been seen";
    }
    if ((stage->flags & EK_STAGE_DOWNLOAD) != 0) {
        return "what comes in, in host memory";
    }
    return (stage->flags & EK_STAGE_SOURCE) != 0 ? "stream in host memory"
                                                 : "stream in device memory";
}

const char *inspect_backends(const ek_stage *stage)
{
    bool host_only = (stage->flags & (EK_STAGE_SOURCE | EK_STAGE_SINK)) != 0;
    return host_only ? "any: it works on the host" : "host, cuda";
}

const char *inspect_capture(const ek_stage *stage)
{
    if ((stage->flags & (EK_STAGE_SOURCE | EK_STAGE_SINK)) != 0) {
        return "not captured: it reads or writes files on the host";
    }
    if ((stage->flags & (EK_STAGE_UPLOAD | EK_STAGE_DOWNLOAD)) != 0) {
        return "not captured: its copy runs on a queue of its own, to overlap with other chunks";
    }
    if ((stage->flags & EK_STAGE_FOLD) != 0) {
        return "each chunk's work in the region's graph; the end eagerly, since it runs once and "
               "may call libraries that cannot be captured";
    }
    return "each chunk's work in the region's graph";
}

const ek_stage *inspect_implied(const ek_stage *stage, int port)
{
    return port > 0 && stage->implied != NULL ? stage->implied[port] : NULL;
}

static json_t *ports_json(const ek_stage *stage)
{
    json_t *ports = json_array();
    for (int i = 0; stage->inputs != NULL && stage->inputs[i].name != NULL; i++) {
        const ek_port *port = &stage->inputs[i];
        const ek_stage *implied = inspect_implied(stage, i);
        json_array_append_new(ports, json_pack("{s:s,s:b,s:b,s:s,s:s*,s:s*}", "name", port->name,
                                               "stream", (port->kinds & EK_STREAM) != 0, "result",
                                               (port->kinds & EK_RESULT) != 0, "memory",
                                               port->device ? "device" : "host", "implied",
                                               implied != NULL ? implied->name : NULL, "help",
                                               port->help));
    }
    return ports;
}

static json_t *choices_json(const ek_option *option)
{
    json_t *choices = json_object();
    for (const ek_choice *c = option->choices; c != NULL && c->name != NULL; c++) {
        json_object_set_new(choices, c->name, report_text(c->help));
    }
    return choices;
}

static json_t *option_json(const ek_option *option)
{
    static const char *const types[] = {
        [EK_OPTION_INT] = "int",         [EK_OPTION_BOOL] = "bool", [EK_OPTION_STRING] = "string",
        [EK_OPTION_STRINGS] = "strings", [EK_OPTION_ENUM] = "enum", [EK_OPTION_FLAGS] = "flags"};
    json_t *object =
        json_pack("{s:s,s:s,s:s*,s:s*,s:b,s:b,s:b,s:s*}", "name", option->name, "type",
                  types[option->type], "default", option->fallback, "unit", option->unit,
                  "required", option->required, "word", (option->text & EK_TEXT_WORD) != 0,
                  "pattern", (option->text & EK_TEXT_GLOB) != 0, "help", option->help);
    bool ranged = option->min != 0 || option->max != 0;
    if (option->type == EK_OPTION_INT && ranged) {
        json_object_set_new(object, "min", json_integer(option->min));
        json_object_set_new(object, "max", json_integer(option->max));
    }
    if (option->choices != NULL) {
        json_object_set_new(object, "choices", choices_json(option));
    }
    return object;
}

json_t *inspect_json(const ek_stage *stage)
{
    json_t *options = json_array();
    for (const ek_option *o = stage->options; o != NULL && o->name != NULL; o++) {
        json_array_append_new(options, option_json(o));
    }
    return json_pack("{s:s,s:s,s:o,s:s,s:o,s:s,s:s}", "name", stage->name, "summary",
                     stage->summary, "inputs", ports_json(stage), "output", inspect_output(stage),
                     "options", options, "backends", inspect_backends(stage), "capture",
                     inspect_capture(stage));
}
