#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lab on a GPU: every trial gives the same answer; what crosses, and how often something is launched.
. "$(dirname "$0")/lib.sh"

[[ -e /dev/nvidiactl ]] || skip "no NVIDIA driver here"
sample -o air.nc
"$ekman" lab air.nc --backend cuda --rounds 2 --json lab.json
python3 - <<'END'
import json
ways = {t["way"]: t for t in json.load(open("lab.json"))["trials"]}
assert len(ways) == 10, ways
assert ways["naive"]["middle_bytes"] == 40 * 120 * 8
assert all(t["middle_bytes"] == 0 for w, t in ways.items() if w != "naive")
assert ways["gpu loop"]["launches"] >= 4 * 120 > ways["gpu loop, graph"]["launches"]
assert ways["gpu loop, graph"]["graph_launches"] == 1
END
"$ekman" lab "$data/coads_3months.cdf" --backend cuda --rounds 1 >out.txt
expect_text '^gpu loop, graph +[0-9.]+ ms' out.txt
