/* SPDX-License-Identifier: Apache-2.0 */
/* What an array of a result holds, summed up. */
#ifndef EK_TOOLS_SUMMARY_H
#define EK_TOOLS_SUMMARY_H

#include "tools/print.h"

/* Values that are missing are left out; every other counts the same. NaN where there is none. */
typedef struct summary {
    double min, mean, max;
    int64_t n_cells; /* values that are there */
} summary;

/* summary_get sums up array i of a download node's result; false with an error if the report does
 * not hold it. */
bool summary_get(const job_run *run, const ek_node *node, int i, summary *out);

/* summary_json returns it as a new object: min, mean, max, n_cells. */
json_t *summary_json(const summary *s);

#endif /* EK_TOOLS_SUMMARY_H */
