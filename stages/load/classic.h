/* SPDX-License-Identifier: Apache-2.0 */
/* Completeness of classic netCDF files (CDF-1, CDF-2, CDF-5). netCDF-C reads zeros, without an
 * error, where such a file has been cut short; its header says how long it must be. */
#ifndef EK_STAGES_LOAD_CLASSIC_H
#define EK_STAGES_LOAD_CLASSIC_H

#include "core/status.h"

EK_BEGIN_DECLS

/* ek__classic_check returns EK_ETRUNC if the file is of a classic format and shorter than its
 * header says, EK_ENETCDF if that header makes no sense, EK_OK otherwise, also for other formats.
 * Reads the header only; blocks. */
ek_status ek__classic_check(const char *path);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_CLASSIC_H */
