#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --report writes what a run did, by its schema and with the right figures, and harms no other file.
# Further arguments: schema_check, the source folder.
. "$(dirname "$0")/lib.sh"
schema_check=$(realpath "$3")
schema=$(realpath "$4")/graphs/report.schema.json

sample --years 1990-1991
text='load air.*.nc chunk=15 ! upload ! reduce; upload. ! anomaly mean=reduce. ! svd ! download'
"$ekman" run "$text ! write eof.nc" --backend host -q --report graph.json >out.txt
"$ekman" run "$text" --launch serial --backend host -q --report single.json >out.txt
"$ekman" eof air.*.nc --modes 1 -o modes.nc -q --report eof.json >out.txt
"$ekman" stats air.sig995.1990.nc --chunk 40 --slots 1 -q --report stats.json >out.txt
for report in graph single eof stats; do
  "$schema_check" "$schema" $report.json || fail "$report.json does not follow the schema"
done
[[ $(find . -name '*.part*') == '' ]] || fail "left over: $(find . -name '*.part*')"

python3 - "$schema" <<'END' || fail "not what the run did: $(cat graph.json)"
import json, sys
graph, single, stats = (json.load(open(n + ".json")) for n in ("graph", "single", "stats"))
try:
    import jsonschema
    jsonschema.validate(graph, json.load(open(sys.argv[1])))
except ImportError:
    pass
BYTES = 80 * 120 * 4
first, second = graph["passes"]
# 15, 15 and 10 of 40 steps in each of two files; read once, then from device memory.
assert first["counts"]["chunks"] == second["counts"]["chunks"] == 6
assert first["read_bytes"] == first["counts"]["upload_bytes"] == BYTES
assert second["replay"] and second["read_bytes"] == second["counts"]["upload_bytes"] == 0
for p, nodes in (first, 1), (second, 2):
    assert p["counts"]["graph_launches"] == 6 and p["counts"]["graphs"] == 3
    assert p["counts"]["graph_nodes"] == 3 * nodes or graph["backend"]["name"] == "cuda"
    assert all(len(a) == 6 for a in p["chunks"].values())
    for part, spread in p["chunk_seconds"].items():
        values = p["chunks"][part]
        assert spread["n"] == 6 and spread["min"] == min(values) and spread["max"] == max(values)
        assert abs(spread["mean"] - sum(values) / 6) <= 1e-6 * spread["max"]
        middle = sorted(values)[2]
        assert abs(spread["p50"] - middle) <= 0.02 * middle + 1e-7, (part, spread, values)
    assert all(s["seconds"] is None for s in p["stages"])
totals = ("launches", "graph_launches", "graph_nodes", "upload_bytes", "download_bytes")
for report in graph, single, stats:
    for key in totals:
        assert report["counts"][key] == sum(p["counts"][key] for p in report["passes"]), key
    memory = report["memory_bytes"]
    assert memory["device_taken"] == memory["device_planned"]
    assert memory["pinned_taken"] == memory["pinned_planned"]
    assert memory["process_peak"] > memory["pinned_taken"]
    for slot in report["slots"]:
        time = sum(v for k, v in slot.items() if k != "slot")
        assert 0 < time <= report["seconds"] + 1e-6, slot
    busy = report["bound"]["busy_seconds"]
    assert max(busy.values()) == busy[report["bound"]["by"]]
    assert report["machine"]["processors"] >= 1 and report["command"].startswith("ekman ")
# Launched singly, each stage's time is known, and they add up to at most the region's.
for p in single["passes"]:
    assert p["counts"]["graph_launches"] == p["counts"]["graphs"] == 0
    stages = {s["node"]: s["seconds"] for s in p["stages"] if s["seconds"] is not None}
    assert set(stages) == ({"reduce"} if p["pass"] == 1 else {"anomaly", "svd"})
    region = p["chunk_seconds"]["compute"]
    assert 0 < sum(stages.values()) <= region["mean"] * region["n"] * (1 + 1e-6)
assert {s["node"]: s["closing_operations"] for s in second["stages"]}["download"] == 9
assert len(stats["slots"]) == 1 and stats["passes"][0]["counts"]["chunks"] == 1
assert stats["output"] is None and json.load(open("eof.json"))["output"] == "modes.nc"
END

# Nothing is overwritten, and a failed run leaves no report.
expect_failure 2 "--report would overwrite the input 'air.sig995.1990.nc'" -- \
  "$ekman" stats air.sig995.1990.nc --report air.sig995.1990.nc
expect_failure 2 "--report and --output both name 'x.nc'" -- \
  "$ekman" stats air.sig995.1990.nc -o x.nc --report x.nc
expect_failure 2 "--json and --report both name 'x.json'" -- \
  "$ekman" stats air.sig995.1990.nc --json x.json --report x.json
expect_failure 1 'absent' -- "$ekman" stats absent.nc --report absent.json
[[ ! -e absent.json && ! -e x.json ]] || fail "a report of nothing: $(ls)"
expect_failure 1 "cannot write 'no/where.json'" -- \
  bash -c "'$ekman' stats air.sig995.1990.nc -q --report no/where.json >/dev/null"
