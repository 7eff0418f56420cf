/* SPDX-License-Identifier: Apache-2.0 */
/* The list of stages. */
#include "stages/stages.h"

#include <string.h>

#define NAME_MAX_LETTERS 31

static const ek_stage *list[EK_STAGES_MAX + 1] = {
    &ek_stage_load,     &ek_stage_upload,  &ek_stage_combine,
    &ek_stage_reduce,   &ek_stage_anomaly, &ek_stage_svd,
    &ek_stage_download, &ek_stage_write,   NULL,
};

const ek_stage *const *const ek_stages = list;

const ek_stage *ek_stage_find(const char *name)
{
    for (const ek_stage *const *stage = ek_stages; *stage != NULL; stage++) {
        if (strcmp((*stage)->name, name) == 0) {
            return *stage;
        }
    }
    return NULL;
}

static bool is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-";
    size_t length = strlen(text);
    return length > 0 && length <= NAME_MAX_LETTERS && strspn(text, letters) > 0 &&
           strspn(text, all) == length;
}

static ek_status check_tables(const ek_stage *stage)
{
    int n_options = 0;
    for (const ek_option *o = stage->options; o != NULL && o->name != NULL; o++) {
        if (!is_name(o->name)) {
            return EK_FAIL(EK_EINVAL, "stage '%s': '%s' is no name for an option", stage->name,
                           o->name);
        }
        if (++n_options > EK_OPTIONS_MAX) {
            return EK_FAIL(EK_EINVAL, "stage '%s' has more than %d options", stage->name,
                           EK_OPTIONS_MAX);
        }
    }
    int n_ports = 0;
    for (const ek_port *port = stage->inputs; port != NULL && port->name != NULL; port++) {
        if (!is_name(port->name) || ek_options_find(stage->options, port->name) != NULL) {
            return EK_FAIL(EK_EINVAL,
                           "stage '%s': '%s' is no name for an input, or is an option's name too",
                           stage->name, port->name);
        }
        if (++n_ports > EK_STAGE_INPUTS) {
            return EK_FAIL(EK_EINVAL, "stage '%s' has more than %d inputs", stage->name,
                           EK_STAGE_INPUTS);
        }
    }
    return EK_OK;
}

ek_status ek_stage_register(const ek_stage *stage)
{
    if (stage->api != EK_STAGE_API) {
        return EK_FAIL(EK_EINVAL, "stage '%s' was made for stage interface %d; this is %d",
                       stage->name, stage->api, EK_STAGE_API);
    }
    if (!is_name(stage->name)) {
        return EK_FAIL(EK_EINVAL,
                       "'%s' is no name for a stage; it takes a letter or _, then letters, digits, "
                       "_ and -, at most %d in all",
                       stage->name, NAME_MAX_LETTERS);
    }
    if (ek_stage_find(stage->name) != NULL) {
        return EK_FAIL(EK_EINVAL, "there is a stage '%s' already; give yours another name",
                       stage->name);
    }
    EK_TRY(check_tables(stage));
    size_t n = 0;
    while (list[n] != NULL) {
        n++;
    }
    if (n == EK_STAGES_MAX) {
        return EK_FAIL(EK_EINVAL, "stage '%s' cannot be listed: there can be %d stages",
                       stage->name, EK_STAGES_MAX);
    }
    list[n] = stage;
    return EK_OK;
}
