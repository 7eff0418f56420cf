#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# inspect lists every stage, and tells ports, options with their defaults, and backends.
. "$(dirname "$0")/lib.sh"

"$ekman" inspect >out.txt
for stage in load upload reduce anomaly svd download write; do
  expect_text "^$stage +[A-Za-z]" out.txt
  "$ekman" inspect "$stage" >one.txt
  expect_text "^$stage: " one.txt
  expect_text '^  inputs' one.txt
  expect_text '^  options' one.txt
  expect_text '^  backends +.*host' one.txt
done
"$ekman" inspect reduce >one.txt
for name in mean std var min max range sum count; do
  expect_text "$name" one.txt
done
"$ekman" inspect --all >all.txt
[[ $(grep -c '^  backends' all.txt) -ge 7 ]] || fail "$(cat all.txt)"
rm ./*.txt
expect_failure 2 "no stage 'filter'" 'load, upload' -- "$ekman" inspect filter
