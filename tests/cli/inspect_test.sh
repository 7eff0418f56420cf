#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# inspect lists every stage, and tells ports, options with their defaults, and backends.
. "$(dirname "$0")/lib.sh"

"$ekman" inspect >out.txt
for stage in load upload combine reduce anomaly svd download write; do
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
expect_text "mean +result.*without a link, 'reduce' of 'in'" all.txt
expect_text '^  graphs +not captured' all.txt
expect_text "^  graphs +each chunk's work.*; the end eagerly" all.txt
rm ./*.txt

"$ekman" inspect --json load write >out.json
for line in '"word": true' '"pattern": true' '"required": true' '"max": 9' '"unit": "time steps"' \
            '"default": "float64"' '"capture": "not captured'; do
  expect_text "$line" out.json
done
if command -v python3 >/dev/null; then
  "$ekman" inspect --json >all.json
  python3 - <<'END' || fail "python does not agree: $(cat all.json)"
import json
stages = {s["name"]: s for s in json.load(open("all.json"))}
assert list(stages) == ["load", "upload", "combine", "reduce", "anomaly", "svd", "download", "write"]
assert [p["name"] for p in stages["anomaly"]["inputs"]] == ["in", "mean"]
assert stages["anomaly"]["inputs"][1]["implied"] == "reduce"
assert set(stages["reduce"]["options"][0]["choices"]) >= {"mean", "std", "count"}
END
fi
rm ./*.json

expect_failure 2 "no stage 'filter'" 'load, upload' -- "$ekman" inspect filter
expect_failure 2 "did you mean 'anomaly'" -- "$ekman" inspect anomoly
expect_failure 2 '--markdown stands alone' -- "$ekman" inspect --markdown svd
