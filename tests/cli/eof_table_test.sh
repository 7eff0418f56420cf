#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# eof prints a header and one line per mode, with fractions that add up, and writes the file.
. "$(dirname "$0")/lib.sh"

sample -o in.nc
"$ekman" eof in.nc --modes 5 -o eof.nc --backend host >out.txt
expect_text '^variable  air, .*\[degK\]$' out.txt
expect_text '^grid      lat 10 x lon 12 = 120 cells$' out.txt
expect_text '^period    40 steps, 1990-01-01' out.txt
expect_text '^backend   host' out.txt
expect_text '^solver ' out.txt
rows=$(grep -cE '^ +[0-9]+ +[0-9.e+-]+ +[0-9.]+ +[0-9.]+$' out.txt)
[[ $rows -eq 5 ]] || fail "$rows rows in the table: $(cat out.txt)"
# Singular values descend; the last column is the running sum of the one before.
awk '/^ +[0-9]+ +[0-9.e+-]+ +[0-9.]+ +[0-9.]+$/ {
       sum += $3; if (NR > 1 && seen && $2 > last) exit 1; last = $2; seen = 1
       if (sum - $4 > 0.01 || $4 - sum > 0.01) exit 1 }' out.txt || fail "the columns do not fit"
expect_text '^written to eof\.nc$' out.txt
rm out.txt
expect_only in.nc eof.nc
