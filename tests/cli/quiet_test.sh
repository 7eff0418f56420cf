#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Notes go to standard error and never to standard output; --quiet silences them.
. "$(dirname "$0")/lib.sh"

sample -o in.nc
"$ekman" eof in.nc --modes 500 >out.txt 2>err.txt
expect_text '^ekman: note: ' err.txt
if grep -q 'ekman: note' out.txt; then
  fail "a note on standard output"
fi
if grep -q $'\r' err.txt; then
  fail "a progress line although it is no terminal"
fi
"$ekman" eof in.nc --modes 500 --quiet >/dev/null 2>err.txt
[[ ! -s err.txt ]] || fail "not quiet: $(cat err.txt)"
