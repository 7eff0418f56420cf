#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lab: the CPU's trials everywhere, with one answer; JSON; mistakes.
. "$(dirname "$0")/lib.sh"

sample -o air.nc
"$ekman" lab air.nc --backend host --rounds 1 --json lab.json >out.txt
expect_text '^air \[degK\]: 40 steps of 120 cells' out.txt
expect_text '^cpu +[0-9.]+ ms' out.txt
expect_text '^cpu loop +[0-9.]+ ms' out.txt
expect_text '^vectorised cpu: ' out.txt
python3 - <<'END'
import json
lab = json.load(open("lab.json"))
ways = {trial["way"]: trial for trial in lab["trials"]}
assert set(ways) == {"cpu", "cpu loop", "vectorised cpu"}
assert lab["n_time"] == 40 and lab["n_cells"] == 120
assert abs(ways["cpu loop"]["answer"] / ways["vectorised cpu"]["answer"] - 1) < 1e-12
assert all(trial["wall_s"] > 0 for trial in lab["trials"])
END
"$ekman" eof air.nc --backend host --modes 1 --quiet --json eof.json >eof.txt
python3 - <<'END'
import json
answer = next(t["answer"] for t in json.load(open("lab.json"))["trials"] if t["way"] == "cpu")
assert abs(answer / json.load(open("eof.json"))["variance_fractions"][0] - 1) < 1e-6
END
"$ekman" lab air.nc --backend host --rounds 1 --json - >only.json
python3 -c 'import json; json.load(open("only.json"))'
# Ships' observations, missing here and there: statistics are of the values that are there.
"$ekman" lab "$data/coads_3months.cdf" --backend host --rounds 1 >out.txt
expect_text '^vectorised cpu +[0-9.]+ ms' out.txt
rm ./*
expect_failure 2 'give a file' -- "$ekman" lab
expect_failure 1 'none.nc' -- "$ekman" lab none.nc
