/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/run_internal.h"

#include <math.h>

void ek_report_destroy(ek_report *report)
{
    if (report == NULL) {
        return;
    }
    for (int i = 0; report->results != NULL && i < report->n_results; i++) {
        ek_mem_free(report->backend, EK_SPACE_PINNED, report->results[i].block);
    }
    ek__record_destroy(report->record);
    ek_free(report->results);
    ek_free(report);
}

double ek_report_seconds(const ek_report *report)
{
    return report->seconds;
}

double ek_report_device_seconds(const ek_report *report)
{
    const ek_times *t = &report->times;
    return t->upload + t->compute + t->download + t->closing;
}

ek_times ek_report_times(const ek_report *report)
{
    return report->times;
}

ek_counts ek_report_counts(const ek_report *report)
{
    return report->counts;
}

/* find returns the node's result on the host, NULL if it has none. */
static const ek_data *find(const ek_report *report, const ek_node *node)
{
    for (int i = 0; i < report->n_results; i++) {
        if (report->results[i].node == node && report->results[i].block != NULL) {
            return &report->results[i].data;
        }
    }
    return NULL;
}

const void *ek_report_array(const ek_report *report, const ek_node *node, const char *name,
                            int64_t *n_values)
{
    const ek_data *data = find(report, node);
    if (data == NULL) {
        EK_FAIL(EK_ENOENT, "node '%s' has no result on the host; only a 'download' node has",
                ek_node_name(node));
        return NULL;
    }
    int i = ek_spec_array(data->spec, name);
    if (i < 0) {
        EK_FAIL(EK_ENOENT, "the result of node '%s' has no array '%s'", ek_node_name(node), name);
        return NULL;
    }
    if (n_values != NULL) {
        *n_values = ek_array_count(&data->spec->arrays[i], data->extent);
    }
    return data->array[i];
}

double ek_report_number(const ek_report *report, const ek_node *node, const char *name)
{
    const ek_data *data = find(report, node);
    int i = data != NULL ? ek_spec_array(data->spec, name) : -1;
    if (i < 0 || data->spec->arrays[i].n_axes != 0) {
        return (double)NAN;
    }
    const void *value = data->array[i];
    return data->spec->arrays[i].dtype == EK_I32 ? (double)*(const int32_t *)value
                                                 : *(const double *)value;
}

int64_t ek_report_modes(const ek_report *report, const ek_node *node)
{
    const ek_data *data = find(report, node);
    return data != NULL ? data->extent[EK_AXIS_MODE] : 0;
}
