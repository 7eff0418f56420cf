#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a terminal one line says how far the job is, how fast it goes and what it waits for.
. "$(dirname "$0")/lib.sh"
command -v script >/dev/null || skip "no script(1), which makes a terminal"

"$ekman" sample --years 1990-1993 -o in >/dev/null
script -qec "$ekman stats in/*.nc --chunk 4 --slots 2 --decoder library" typescript >/dev/null
tr '\r' '\n' <typescript >lines.txt
expect_text 'pass 1 of 1  chunk [0-9]+ of [0-9]+  [0-9]+ steps/s  [0-9.]+ MB/s  [0-9]+ s left  reading' \
  lines.txt
expect_text 'chunk ([0-9]+) of \1  finishing, [0-9]+ s so far' lines.txt
