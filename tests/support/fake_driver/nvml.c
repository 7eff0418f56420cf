/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libnvidia-ml.so.1, for machines without a driver. FAKE_NVML=broken: it does not
 * start; none: it sees no GPU; else one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int nvmlInit_v2(void);
EXPORT const char *nvmlErrorString(int code);
EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned size);
EXPORT int nvmlDeviceGetCount_v2(unsigned *count);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle);
EXPORT int nvmlDeviceGetName(void *handle, char *text, unsigned size);

static int is(const char *mode)
{
    const char *value = getenv("FAKE_NVML");
    return value != NULL && strcmp(value, mode) == 0;
}

int nvmlInit_v2(void)
{
    return is("broken") ? 18 : 0;
}

const char *nvmlErrorString(int code)
{
    return code == 18 ? "Driver/library version mismatch" : "Success";
}

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    snprintf(text, size, "525.60.13");
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = is("none") ? 0 : 1;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle)
{
    static int device;
    *handle = &device;
    return index == 0 ? 0 : 2;
}

int nvmlDeviceGetName(void *handle, char *text, unsigned size)
{
    snprintf(text, size, "Imaginary GPU");
    return handle != NULL ? 0 : 2;
}
