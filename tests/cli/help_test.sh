#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --help and --version go to standard output with status 0; a wrong command is a usage error.
. "$(dirname "$0")/lib.sh"

"$ekman" --version >out.txt
expect_text '^ekman [0-9]+\.[0-9]+\.[0-9]+$' out.txt
"$ekman" --help >out.txt
for name in eof stats run plan inspect lab probe sample; do
  expect_text "^  $name " out.txt
  "$ekman" help "$name" >help.txt
  "$ekman" "$name" --help >option.txt
  cmp help.txt option.txt || fail "help $name and $name --help differ"
  expect_text "Usage: ekman $name" help.txt
done
rm ./*.txt
expect_failure 2 "no command 'eoff'" "eof, stats" -- "$ekman" eoff
expect_failure 2 'Usage: ekman COMMAND' -- "$ekman"
expect_failure 2 "no command 'x'" -- "$ekman" help x
