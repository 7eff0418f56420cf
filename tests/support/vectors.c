/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/vectors.h"

static ek_status scale_add_host(const void *args)
{
    const vector_args *v = args;
    for (int i = 0; i < v->n; i++) {
        v->x[i] *= v->factor;
        if (v->y != NULL) {
            v->x[i] += v->y[i];
        }
    }
    return EK_OK;
}

static ek_status refuse_host(const void *args)
{
    (void)args;
    return EK_FAIL(EK_EDATA, "The vector is not to the kernel's taste.");
}

static ek_status refuse_cuda(const void *args, ek_queue *queue)
{
    (void)queue;
    return refuse_host(args);
}

const ek_kernel vector_scale_add = {
    .name = "scale_add",
    .host = scale_add_host,
#ifdef EK_HAVE_CUDA
    .cuda = ek__vector_scale_add_cuda,
#endif
};

const ek_kernel vector_refuse = {.name = "refuse", .host = refuse_host, .cuda = refuse_cuda};
