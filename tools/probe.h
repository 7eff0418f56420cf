/* SPDX-License-Identifier: Apache-2.0 */
/* ekman probe: one line for each thing that a run on a GPU rests on, in the order in which they
 * rest on one another, with what to do where one does not work. */
#ifndef EK_TOOLS_PROBE_H
#define EK_TOOLS_PROBE_H

#include "core/status.h"

#include <jansson.h>
#include <stdbool.h>

/* OK: works. NOTE: works, but worth knowing, or absent and not needed. WRONG: there and broken, or
 * asked for and absent. */
typedef enum probe_verdict { PROBE_OK, PROBE_NOTE, PROBE_WRONG } probe_verdict;

typedef struct probe {
    bool text;        /* print lines as they are found */
    bool want_device; /* no device is WRONG, not a NOTE */
    json_t *lines;    /* all of them, for --json */
    const char *group;
    int n_wrong;
} probe;

/* probe_line tells one finding. `advice` says what to do, NULL where there is nothing to do. */
void probe_line(probe *p, probe_verdict verdict, const char *what, const char *advice,
                const char *format, ...) EK_PRINTF(5, 6);

/* probe_driver: the GPU as the host sees it, without CUDA: PCI bus, NVML, the CUDA driver. False if
 * there is nothing to go on with. */
bool probe_driver(probe *p);

#ifdef EK_HAVE_CUDA
/* probe_cuda: the CUDA runtime and its libraries against the driver, and the device. False if the
 * device cannot be used. */
bool probe_cuda(probe *p);

/* probe_rates measures copies and launches; probe_capture tries what a graph may hold; both want a
 * device. */
void probe_rates(probe *p);
void probe_capture(probe *p);
#endif

/* probe_host: processors, memory, and the libraries that read and compute on the host. */
void probe_host(probe *p);

#endif /* EK_TOOLS_PROBE_H */
