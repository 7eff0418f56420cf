#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# graph, stream and serial give the same bytes; so do any number of slots and any chunk size (packed
# data: their sums are exact).
. "$(dirname "$0")/lib.sh"

sample --years 1990-1991 --type int16
# Everything in the file but the line of history, which holds the command and the time.
content() {
  if command -v ncdump >/dev/null; then
    ncdump -p 9,17 "$1" | grep -v -e ':history' -e '^netcdf'
  fi
}
run() { # run NAME ARG...
  "$ekman" "$job" air.*.nc --backend host -o "$1.nc" --json "$1.json" "${@:2}" >/dev/null
  content "$1.nc" >"$1.cdl"
  sed -n '/"singular_values"/,$p; /"statistics"/,$p' "$1.json" >"$1.values"
}
for job in eof stats; do
  run graph --launch graph --chunk 16
  run stream --launch stream --chunk 16
  run serial --launch serial --chunk 16
  run slots --launch graph --chunk 16 --slots 5
  for name in stream serial slots; do
    cmp graph.cdl "$name.cdl" || fail "$job: graph and $name: files differ"
    cmp graph.values "$name.values" || fail "$job: graph and $name: reports differ"
  done
done
run chunks --launch graph --chunk 7
cmp graph.cdl chunks.cdl || fail "stats: chunk sizes differ"
expect_text '"launch": "serial"' serial.json
expect_text '"graph_launches": 0,' stream.json
