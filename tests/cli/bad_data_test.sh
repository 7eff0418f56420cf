#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Data that do not allow the job: status 1, a message that names what is wrong, no output.
. "$(dirname "$0")/lib.sh"

sample -o in.nc
expect_failure 1 "'?wind'?" 'air' -- "$ekman" eof in.nc --variable wind -o out.nc
expect_failure 1 "'?month'?" -- "$ekman" eof in.nc --time month -o out.nc

"$ekman" sample --years 1991 --steps 40 --nlat 10 --nlon 14 -o other.nc >/dev/null
expect_failure 1 'other\.nc|in\.nc' 'lon' -- "$ekman" eof in.nc other.nc -o out.nc

"$ekman" sample --years 1991 --steps 1 --nlat 10 --nlon 12 -o one.nc >/dev/null
expect_failure 1 'at least 2 time steps' -- "$ekman" eof one.nc -o out.nc
expect_only in.nc other.nc one.nc
