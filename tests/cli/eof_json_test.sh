#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Under --json - standard output is one JSON object and nothing else, with every documented field.
. "$(dirname "$0")/lib.sh"

sample --years 1990-1991
"$ekman" eof air.*.nc --modes 3 --map --json - --backend host >out.json 2>err.txt
[[ $(head -n 1 out.json) == '{' && $(tail -n 1 out.json) == '}' ]] || fail "$(cat out.json)"
for field in variable n_time n_cells n_cells_used total_variance singular_values \
             variance_fractions solver backend launch seconds device_seconds chunks launches \
             graph_launches graph_nodes upload_bytes download_bytes files units version; do
  expect_text "^  \"$field\": " out.json
done
expect_text '"n_time": 80,' out.json
expect_text '"n_cells": 120,' out.json
expect_text '"backend": "host"' out.json
expect_text '"units": "degK"' out.json
[[ $(grep -c 'air.sig995.199[01].nc",\?$' out.json) -eq 2 ]] || fail "the files: $(cat out.json)"
# 17 significant digits: enough that another program reads the same float64.
grep -A1 '"singular_values"' out.json | grep -qE '[0-9.]{17,}' || fail "digits: $(cat out.json)"
if command -v python3 >/dev/null; then
  python3 - <<'END' || fail "python does not agree: $(cat out.json)"
import json
report = json.load(open("out.json"))
s, f = report["singular_values"], report["variance_fractions"]
assert len(s) == len(f) == 3 and s == sorted(s, reverse=True), s
for value, fraction in zip(s, f):
    expected = value**2 / (report["n_time"] - 1) / report["total_variance"]
    assert abs(fraction - expected) < 1e-12, (fraction, expected)
END
fi

# To a file: the table stays on standard output.
"$ekman" eof air.*.nc --modes 3 --json report.json >out.txt
expect_text 'singular value' out.txt
expect_text '"n_time": 80,' report.json
