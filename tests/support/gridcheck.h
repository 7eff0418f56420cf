/* SPDX-License-Identifier: Apache-2.0 */
/* Holds a file of ncgrid.h against the netCDF library: stored bytes bit for bit, decoded values by
 * the rule of core/chunk.h, and who the plan says has read them. */
#ifndef EK_TESTS_SUPPORT_GRIDCHECK_H
#define EK_TESTS_SUPPORT_GRIDCHECK_H

#include "tests/support/loading.h"
#include "tests/support/ncgrid.h"

/* How a decision begins. */
#define OWN_CHUNKS "chunk ("
#define OWN_ROWS   "direct ("
#define LIBRARY    "library ("

/* A file and what is known of it. Only rows [first, first + rows) are compared. */
typedef struct subject {
    const char *path, *text, *decoder;
    bool packed;
    int64_t first, rows;
} subject;

/* Sets up and takes down a test; the first argument of a program is the number of reading threads,
 * 4 without one. */
int gridcheck_setup(void **state);
int gridcheck_teardown(void **state);
void gridcheck_arguments(int argc, char **argv);
int gridcheck_threads(void);

/* gridcheck_file compares a file; gridcheck makes one by a recipe first. */
void gridcheck_file(const subject *s);
void gridcheck(const ncgrid *recipe, const char *decoder);

/* gridcheck_value is the value of a stored one as core/chunk.h has it, written out once more. */
double gridcheck_value(const plain *from, bool packed, int64_t i);

/* gridcheck_own is how the decision for netCDF-4 of a layout begins. */
const char *gridcheck_own(ncgrid_layout layout);

#endif /* EK_TESTS_SUPPORT_GRIDCHECK_H */
