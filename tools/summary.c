/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/summary.h"

#include <math.h>

static double value_at(const ek_array_spec *array, const void *values, int64_t i)
{
    return array->dtype == EK_I32 ? ((const int32_t *)values)[i] : ((const double *)values)[i];
}

static summary summarise(const ek_array_spec *array, const void *values, int64_t n)
{
    summary s = {.min = INFINITY, .max = -INFINITY};
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double value = value_at(array, values, i);
        if (isnan(value)) {
            continue;
        }
        s.min = fmin(s.min, value);
        s.max = fmax(s.max, value);
        sum += value;
        s.n_cells++;
    }
    if (s.n_cells == 0) {
        s.min = NAN;
        s.max = NAN;
    }
    s.mean = s.n_cells > 0 ? sum / (double)s.n_cells : NAN;
    return s;
}

bool summary_get(const job_run *run, const ek_node *node, int i, summary *out)
{
    int64_t n = 0;
    const ek_array_spec *array = &ek_plan_spec(run->plan, node)->arrays[i];
    const void *values = ek_report_array(run->report, node, array->name, &n);
    if (values == NULL) {
        return false;
    }
    *out = summarise(array, values, n);
    return true;
}

json_t *summary_json(const summary *s)
{
    json_t *object = json_object();
    json_object_set_new(object, "min", report_real(s->min));
    json_object_set_new(object, "mean", report_real(s->mean));
    json_object_set_new(object, "max", report_real(s->max));
    json_object_set_new(object, "n_cells", json_integer(s->n_cells));
    return object;
}
