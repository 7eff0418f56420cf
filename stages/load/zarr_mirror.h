/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of a Zarr store as attributes of the netCDF file that mirrors it. On the io thread. */
#ifndef EK_STAGES_LOAD_ZARR_MIRROR_H
#define EK_STAGES_LOAD_ZARR_MIRROR_H

#include "stages/load/zarr_meta.h"

EK_BEGIN_DECLS

/* ek__zarr_put_attrs copies the members of an object (NULL: none) that netCDF can hold: text,
 * numbers, lists of either. Objects, null and names netCDF does not allow are left out. */
ek_status ek__zarr_put_attrs(int ncid, int varid, const char *path, const json_t *attrs);

/* ek__zarr_attr_fill gets the attribute _FillValue as a value of the array's type: a number, or as
 * xarray writes it for floats of version 3, the base 64 text of a little-endian double. False if
 * there is none or it is neither. */
bool ek__zarr_attr_fill(const ek__zarr_array *a, const json_t *attr, uint8_t out[8]);

EK_END_DECLS

#endif /* EK_STAGES_LOAD_ZARR_MIRROR_H */
