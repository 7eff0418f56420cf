#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where every cell is missing at some step there is no EOF; stats says null in JSON, and 0 counts.
. "$(dirname "$0")/lib.sh"

from_cdl missing.nc <<'END'
netcdf missing {
dimensions: time = 3 ; lat = 1 ; lon = 2 ;
variables: double time(time) ; time:units = "days since 2000-01-01" ;
  float lat(lat) ; lat:units = "degrees_north" ;
  float lon(lon) ; lon:units = "degrees_east" ;
  float t(time, lat, lon) ; t:_FillValue = -99.f ;
data: time = 0, 1, 2 ; lat = 10 ; lon = 0, 1 ; t = -99, -99, -99, -99, -99, -99 ;
}
END
expect_failure 1 'missing' -- "$ekman" eof missing.nc -o out.nc
expect_only missing.nc
"$ekman" stats missing.nc --statistics mean,count --json - >out.json
expect_text '"mean": null' out.json
