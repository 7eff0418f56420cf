/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a year of synthetic data in the form of NOAA PSL's NCEP/NCAR Reanalysis files: variable
 * on (time, lat, lon), unlimited time in hours since 1800, one compressed chunk per step. */
#ifndef EK_TOOLS_SAMPLE_H
#define EK_TOOLS_SAMPLE_H

#include "tools/sample_field.h"

typedef struct sample_options {
    sample_grid grid;
    int64_t n_steps;      /* 0: the whole year */
    const char *variable; /* its name */
    const char *command;  /* for the history attribute */
    int deflate;          /* 0 to 9 */
    bool packed;          /* int16 with scale and offset; else float32 rounded to 0.1 K */
} sample_options;

/* sample_steps returns how many steps the file of `options` has. */
int64_t sample_steps(const sample_options *options);

/* sample_write writes the file under a temporary name, then renames it to `path`, replacing what is
 * there. It blocks; while it runs SIGINT and SIGTERM end it cleanly with EK_ECANCELED. On failure
 * no file is left behind. */
ek_status sample_write(const sample_options *options, const char *path);

#endif /* EK_TOOLS_SAMPLE_H */
