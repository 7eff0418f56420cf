#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SIGINT ends a run and a sample with status 1 and leaves no file.
. "$(dirname "$0")/lib.sh"

# signal PID: SIGINT, and again each time the process has gone on for 1.5 s.
signal() {
  while kill -INT "$1" 2>/dev/null; do
    for _ in {1..15}; do
      sleep 0.1
      kill -0 "$1" 2>/dev/null || return 0
    done
  done
}

# interrupt COMMAND...: runs it and signals. That may be too late (status 0), or hit the program where it
# no longer listens (130), so other moments are tried then.
interrupt() {
  local code pid delay
  for delay in 0.1 0.2 0.4 0.8 1.6 3.2 0.15 0.3 0.6; do
    code=0
    "$@" >out.txt 2>err.txt &
    pid=$!
    sleep "$delay"
    signal "$pid"
    wait "$pid" || code=$?
    case $code in
      1)
        expect_text 'stopped on request|interrupt' err.txt
        rm out.txt err.txt
        return
        ;;
      0) rm -rf -- * ;;
      130)
        rm out.txt err.txt
        [[ -d years ]] || expect_no_files
        ;;
      *) fail "$*: status $code: $(cat err.txt)" ;;
    esac
  done
  fail "$*: no signal came while it ran"
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
