#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Real files run from end to end, also several pieces of one variable's options.
. "$(dirname "$0")/lib.sh"

file=$data/ncep_uwnd_bering_monthly.nc
[[ -f $file ]] || skip "no $file"
"$ekman" eof "$file" --modes 5 -o eof.nc --precision float32 --deflate 4 --json report.json >out.txt
expect_text '^variable  uwnd' out.txt
expect_text '"variable": "uwnd"' report.json
"$ekman" stats "$file" -o stats.nc >out.txt
rm out.txt report.json
expect_only eof.nc stats.nc
if command -v ncdump >/dev/null; then
  ncdump -h eof.nc >header.txt
  expect_text 'float eof\(mode, ' header.txt
  expect_text ':history = ".*ekman eof .*--precision float32' header.txt
fi
