#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A file that is missing, no netCDF, or truncated: status 1, a message that names it, no output.
. "$(dirname "$0")/lib.sh"

expect_failure 1 'ekman eof: .*absent\.nc' -- "$ekman" eof absent.nc -o out.nc
expect_failure 1 'ekman stats: .*absent\.nc' -- "$ekman" stats absent.nc
expect_failure 1 'ekman plan: .*absent\.nc' -- "$ekman" plan eof absent.nc

echo 'not a netCDF file at all' >text.nc
expect_failure 1 'text\.nc' -- "$ekman" eof text.nc -o out.nc
: >empty.nc
expect_failure 1 'empty\.nc' -- "$ekman" eof empty.nc -o out.nc

sample --years 1990-1991
size=$(stat -c %s air.sig995.1991.nc)
head -c $((size / 2)) air.sig995.1991.nc >cut.nc
expect_failure 1 'cut\.nc' -- "$ekman" eof air.sig995.1990.nc cut.nc -o out.nc --json out.json
expect_only text.nc empty.nc cut.nc air.sig995.1990.nc air.sig995.1991.nc
