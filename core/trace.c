/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX ranges of the domain "ekman". */
#include "core/trace.h"

#ifdef EK_HAVE_NVTX

#include <nvtx3/nvToolsExt.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static nvtxDomainHandle_t domain;

static void make_domain(void)
{
    domain = nvtxDomainCreateA("ekman");
}

void ek_trace_push(const char *name, int64_t chunk)
{
    pthread_once(&once, make_domain);
    nvtxEventAttributes_t event = {0};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = name;
    event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    event.payload.llValue = chunk;
    nvtxDomainRangePushEx(domain, &event);
}

void ek_trace_pop(void)
{
    nvtxDomainRangePop(domain);
}

#else

void ek_trace_push(const char *name, int64_t chunk)
{
    (void)name;
    (void)chunk;
}

void ek_trace_pop(void)
{
}

#endif
