#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same options give the same values; a year does not depend on which others are made; leap years
# have 366 days.
. "$(dirname "$0")/lib.sh"

# checksum FILE: of the values, as stats sees them.
checksum() {
  "$ekman" stats "$1" --statistics mean,std,min,max --json - | sed -n '/"statistics"/,$p' | cksum
}
mkdir a b
sample --years 1990-1992 -o a
sample --years 1991 -o b
[[ $(checksum a/air.sig995.1991.nc) == $(checksum b/air.sig995.1991.nc) ]] || fail "not repeatable"
[[ $(checksum a/air.sig995.1991.nc) != $(checksum a/air.sig995.1992.nc) ]] || fail "years alike"
sample --years 1991 --seed 2 -o c.nc
[[ $(checksum c.nc) != $(checksum b/air.sig995.1991.nc) ]] || fail "seeds alike"
sample --years 1991 --type int16 -v tas -o d.nc
"$ekman" stats d.nc --json - >out.json
expect_text '"variable": "tas"' out.json

"$ekman" sample --years 1992 --hours 24 --nlat 4 --nlon 8 -o leap.nc >/dev/null
"$ekman" stats leap.nc --json - >out.json
expect_text '"n_time": 366,' out.json
"$ekman" sample --years 1900 --hours 24 --nlat 4 --nlon 8 -o common.nc >/dev/null
"$ekman" stats common.nc --json - >out.json
expect_text '"n_time": 365,' out.json

# Consecutive whole years make one gapless series.
"$ekman" sample --years 1999-2001 --hours 24 --nlat 4 --nlon 8 -o years >/dev/null
"$ekman" stats years/*.nc --json - >out.json 2>err.txt
expect_text '"n_time": 1096,' out.json
if grep -qi 'gap' err.txt; then
  fail "a gap: $(cat err.txt)"
fi
