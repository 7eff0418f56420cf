#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SIGINT ends a run and a sample with status 1 and leaves no file.
. "$(dirname "$0")/lib.sh"

# interrupt COMMAND...: runs it and signals until it ends, so that no signal is too early.
interrupt() {
  local code=0 pid
  "$@" >out.txt 2>err.txt &
  pid=$!
  sleep 0.1
  while kill -INT "$pid" 2>/dev/null; do
    sleep 0.1
  done
  wait "$pid" || code=$?
  [[ $code -eq 1 ]] || fail "$*: status $code: $(cat err.txt)"
  expect_text 'stopped on request|interrupt' err.txt
  rm out.txt err.txt
}

"$ekman" sample --years 1990-1992 --type int16 --deflate 1 -o in >/dev/null
mkdir out
cd out
interrupt "$ekman" stats ../in/*.nc --chunk 1 -o out.nc --json out.json
interrupt "$ekman" eof ../in/*.nc --chunk 1 -o out.nc --map
interrupt "$ekman" sample --years 1990-2190 -o years
rm -f years/air.sig995.????.nc
rmdir years || fail "left over: $(ls years)"
expect_no_files
