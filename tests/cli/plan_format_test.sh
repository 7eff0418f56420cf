#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A plan as JSON follows its schema and holds the right figures; as DOT it is a drawing for graphviz;
# as Mermaid it keeps to the grammar. Further arguments: schema_check, the source folder.
. "$(dirname "$0")/lib.sh"
schema_check=$(realpath "$3")
source_dir=$(realpath "$4")
schema=$source_dir/graphs/plan.schema.json

sample --years 1990-1991
text='load air.*.nc chunk=15 ! upload ! reduce;
      upload. ! anomaly mean=reduce. ! svd modes=3 ! download ! write eof.nc'
"$ekman" plan --format json run "$text" --backend host -q >plan.json
"$schema_check" "$schema" plan.json || fail "the plan does not follow its schema"
for command in 'stats air.1990.nc' 'eof air.1990.nc --launch serial'; do
  read -ra words <<<"${command//air./air.sig995.}"
  "$ekman" plan "${words[@]}" --format=json -q >other.json
  "$schema_check" "$schema" other.json || fail "$command: not by the schema"
done
# The check itself notices what is missing, superfluous, or of another type.
for edit in 's/"pipeline"/"pipelines"/' 's/"slots": 3/"slots": "3"/' 's/"serial"/"cereal"/'; do
  sed "$edit" other.json >broken.json
  if "$schema_check" "$schema" broken.json 2>/dev/null; then
    fail "the check does not notice $edit"
  fi
done

python3 - "$schema" <<'END' || fail "not the plan that was asked for: $(cat plan.json)"
import json, sys
plan = json.load(open("plan.json"))
try:
    import jsonschema
    jsonschema.validate(plan, json.load(open(sys.argv[1])))
except ImportError:
    pass
assert [n["stage"] for n in plan["nodes"]] == \
    ["load", "upload", "reduce", "anomaly", "svd", "download", "write"]
# Two files of 40 steps of 120 cells of 4 bytes, 15 steps a chunk: 15, 15, 10 and again.
assert plan["sources"][0]["time"]["steps"] == 80 and plan["sources"][0]["cells"] == 120
assert plan["chunks"]["count"] == 6 and plan["chunks"]["rows"] == 15
assert plan["chunks"]["bytes"] == (15 * 120 * 4 + 255) // 256 * 256
assert [g["files"] for g in plan["sources"][0]["decoding"]] == \
    [["air.sig995.1990.nc", "air.sig995.1991.nc"]], plan["sources"][0]["decoding"]
link = {(l["from"], l["to"]): l for l in plan["links"]}
assert len(link) == 7
up = link["load", "upload"]
assert (up["kind"], up["space"], up["packed"]) == ("stream", "pinned", True)
assert up["arrays"] == [{"name": "air", "dtype": "float32", "axes": ["time", "cell"],
                         "shape": [80, 120], "units": "degK"}]
eof = link["svd", "download"]
assert (eof["kind"], eof["space"]) == ("result", "device")
assert {a["name"]: a["shape"] for a in eof["arrays"]}["eof"] == [3, 120]
first, second = plan["passes"]
assert first["region"]["nodes"] == ["reduce"] and not first["replay"] and first["why"] == []
assert second["region"]["nodes"] == ["anomaly", "svd"] and second["replay"]
assert second["why"] == [{"node": "anomaly", "needs": "reduce", "sweep": 1}]
assert first["region"]["launches_per_chunk"] == 1 and second["read_bytes_per_chunk"] == 0
for space in "device", "pinned":
    rows = sum(r["bytes"] for r in plan["memory"]["table"] if r["space"] == space)
    assert rows == plan["memory"][space + "_bytes"], (space, rows)
assert {"ekman", "netCDF", "HDF5", "libuv", "libdeflate"} <= set(plan["versions"])
END

# Files that are read differently are told apart.
if command -v nccopy >/dev/null; then
  nccopy -k classic air.sig995.1991.nc classic.nc
  "$ekman" plan --format json stats air.sig995.1990.nc classic.nc -q >mixed.json
  [[ $(grep -c '"decoder": "[a-z]* (' mixed.json) -eq 2 ]] || fail "decoders: $(cat mixed.json)"
fi

"$ekman" plan --format mermaid run "$text" -q >plan.mmd
awk -f "$source_dir/tests/support/mermaid.awk" plan.mmd >counts.txt || fail "$(cat counts.txt plan.mmd)"
[[ $(cat counts.txt) == '7 nodes, 7 links' ]] || fail "$(cat counts.txt)"
sed 's/  end//' plan.mmd | awk -f "$source_dir/tests/support/mermaid.awk" >counts.txt &&
  fail "the grammar takes a box without an end"

expect_failure 2 "--format takes text, json, dot or mermaid, not 'xml'" -- \
  "$ekman" plan --format xml eof air.sig995.1990.nc

"$ekman" plan --format dot run "$text" -q >plan.dot
expect_text '^digraph "run" \{$' plan.dot
expect_text 'subgraph cluster_region2 \{' plan.dot
if ! command -v dot >/dev/null; then
  echo "notice: graphviz is not installed, so the DOT text is not drawn"
  exit 0
fi
dot -Tsvg plan.dot >plan.svg 2>err.txt || fail "$(cat err.txt)"
[[ ! -s err.txt ]] || fail "graphviz says: $(cat err.txt)"
[[ $(grep -c 'class="node"' plan.svg) -eq 7 && $(grep -c 'class="edge"' plan.svg) -eq 7 &&
   $(grep -c 'class="cluster"' plan.svg) -eq 2 ]] || fail "not what the plan holds: $(cat plan.dot)"
