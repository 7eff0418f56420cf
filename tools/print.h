/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the reports that eof and stats share, as text and as JSON. */
#ifndef EK_TOOLS_PRINT_H
#define EK_TOOLS_PRINT_H

#include "tools/job.h"

#include <jansson.h>
#include <stdio.h>

/* print_head prints variable, grid, period, backend and why. */
void print_head(FILE *out, const job_run *run);

/* print_cost prints what the run took, in one line. */
void print_cost(FILE *out, const job_run *run);

/* print_attr returns a fact ("solver") of the result, NULL if there is none. */
const char *print_attr(const job_run *run, const char *name);

/* report_head returns a new JSON object with what both commands report; NULL if out of memory. */
json_t *report_head(const job_run *run);

/* report_real returns a JSON number, or null where the value is not finite. */
json_t *report_real(double value);

/* report_dump writes and releases the object, with the flags of json_dumpf: to standard output for
 * "-", else to a file that appears under its name only once complete. A NULL object is an
 * out-of-memory error. report_write does so indented, with all digits. */
ek_status report_dump(json_t *object, const char *path, size_t flags);
ek_status report_write(json_t *object, const char *path);

/* report_text returns a JSON string, null for NULL; report_files the names of the input files. */
json_t *report_text(const char *text);
json_t *report_files(const job_run *run);

#endif /* EK_TOOLS_PRINT_H */
