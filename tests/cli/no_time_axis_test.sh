#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A variable without a time axis is refused by name.
. "$(dirname "$0")/lib.sh"

from_cdl flat.nc <<'END'
netcdf flat {
dimensions: lat = 2 ; lon = 3 ;
variables: float lat(lat) ; lat:units = "degrees_north" ;
  float lon(lon) ; lon:units = "degrees_east" ;
  float height(lat, lon) ; height:units = "m" ;
data: lat = 10, 20 ; lon = 0, 1, 2 ; height = 1, 2, 3, 4, 5, 6 ;
}
END
expect_failure 1 'flat\.nc' 'time' -- "$ekman" eof flat.nc -o out.nc
expect_failure 1 'height' 'time' -- "$ekman" stats flat.nc --variable height
expect_only flat.nc
