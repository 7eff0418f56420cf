/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libcuda.so.1: an old driver. FAKE_CUDA=forbidden: it does not start. */
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int cuInit(unsigned flags);
EXPORT int cuDriverGetVersion(int *version);

int cuInit(unsigned flags)
{
    return flags != 0 || getenv("FAKE_CUDA") != NULL ? 100 : 0;
}

int cuDriverGetVersion(int *version)
{
    *version = 11040;
    return 0;
}
