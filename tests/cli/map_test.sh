#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --map draws EOF 1 with north up, whatever the order in the file, in ASCII when it is no terminal.
. "$(dirname "$0")/lib.sh"

sample -o in.nc
"$ekman" eof in.nc --modes 2 --map >out.txt
expect_text '^EOF 1' out.txt
expect_text '^ +90\.0 [-%=.+*# ]+$' out.txt
expect_text '^ +-90\.0 [-%=.+*# ]+$' out.txt
expect_text 'Fraction of variance' out.txt
if LC_ALL=C grep -q $'\033' out.txt; then
  fail "colours although it is no terminal"
fi
[[ $(grep -n '^ *90\.0' out.txt | cut -d: -f1) -lt $(grep -n '^ *-90\.0' out.txt | cut -d: -f1) ]] ||
  fail "south is up: $(cat out.txt)"
