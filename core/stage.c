/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the stage contract: the arrays and facts of a spec. */
#include "core/stage.h"

#include "core/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int ek_spec_array(const ek_spec *spec, const char *name)
{
    for (int i = 0; i < spec->n_arrays; i++) {
        if (strcmp(spec->arrays[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

ek_array_spec *ek_spec_add(ek_spec *spec, const char *name, ek_dtype dtype, int n_axes,
                           ek_axis axis0, ek_axis axis1)
{
    if (spec->n_arrays >= EK_ARRAYS_MAX) {
        return NULL;
    }
    ek_array_spec *array = &spec->arrays[spec->n_arrays++];
    memset(array, 0, sizeof *array);
    snprintf(array->name, sizeof array->name, "%s", name);
    array->dtype = dtype;
    array->n_axes = n_axes;
    array->axes[0] = axis0;
    array->axes[1] = axis1;
    return array;
}

void ek_spec_attr(ek_spec *spec, const char *name, const char *format, ...)
{
    if (spec->n_attrs >= EK_SPEC_ATTRS) {
        ek_log(EK_LOG_WARNING, "The fact \"%s\" is left out of the output: there is room for %d.",
               name, EK_SPEC_ATTRS);
        return;
    }
    int i = spec->n_attrs++;
    snprintf(spec->attrs[i].name, sizeof spec->attrs[i].name, "%s", name);
    va_list args;
    va_start(args, format);
    vsnprintf(spec->attrs[i].text, sizeof spec->attrs[i].text, format, args);
    va_end(args);
}

int64_t ek_array_count(const ek_array_spec *array, const int64_t *extent)
{
    int64_t count = 1;
    for (int i = 0; i < array->n_axes; i++) {
        count *= extent[array->axes[i]];
    }
    return count;
}

size_t ek_array_bytes(const ek_array_spec *array, const int64_t *extent)
{
    return (size_t)ek_array_count(array, extent) * ek_dtype_size(array->dtype);
}
