#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Output that cannot be written: status 1, a message that names it, and nothing left over.
. "$(dirname "$0")/lib.sh"

sample -o in.nc
mkdir folder.nc
expect_failure 1 'nowhere' -- "$ekman" eof in.nc -o nowhere/out.nc
expect_failure 1 'folder\.nc' -- "$ekman" eof in.nc -o folder.nc
expect_failure 1 'nowhere' -- "$ekman" stats in.nc -o nowhere/out.nc
expect_failure 1 'nowhere' -- "$ekman" sample --steps 4 -o nowhere/deep
expect_failure 1 'nowhere' -- "$ekman" sample --steps 4 -o nowhere/out.nc
expect_only in.nc

code=0
"$ekman" stats in.nc --json nowhere/out.json >out.txt 2>err.txt || code=$?
[[ $code -eq 1 ]] || fail "status $code"
expect_text 'nowhere' err.txt
if [[ -w /dev/full ]]; then
  code=0
  "$ekman" stats in.nc >/dev/full 2>err.txt || code=$?
  [[ $code -eq 1 ]] || fail "a full disk went unnoticed"
  expect_text 'standard output' err.txt
fi

# An input is never overwritten.
before=$(cksum <in.nc)
expect_failure 1 'in\.nc' -- "$ekman" eof in.nc -o in.nc
[[ $(cksum <in.nc) == "$before" ]] || fail "the input was changed"
