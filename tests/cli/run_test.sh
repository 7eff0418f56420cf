#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run does what eof and stats do, with the same numbers, and several results in one sweep; a text may
# come from a file or standard input, and --set changes it.
. "$(dirname "$0")/lib.sh"

sample --years 1990-1991
eof='load air.*.nc variable=air ! upload ! anomaly ! svd modes=3 ! download ! write eof.nc'
"$ekman" run "$eof" --backend host >out.txt 2>err.txt
expect_text '^backend +host' out.txt
expect_text '^svd: 3 modes' out.txt
expect_text '^singular_value ' out.txt
expect_text "^'write' written to eof.nc" out.txt
expect_text 'note: decoder: ' err.txt
[[ -s eof.nc ]] || fail "no eof.nc"

command -v python3 >/dev/null || skip "python3 is not installed"

# The same pipeline as eof's and as stats', on made-up and on real data.
real=$data/era5_siconc_bering_1979-2022.nc
for input in 'air.*.nc' "$real"; do
  # shellcheck disable=SC2086
  "$ekman" eof $input --modes 3 --json eof.json -q >/dev/null
  # shellcheck disable=SC2086
  "$ekman" stats $input --statistics mean,std,range,count --json stats.json -q >/dev/null
  cat >both.txt <<END
# Statistics and modes of one variable, in two passes.
load $input ! up: upload
  ! all: reduce op=mean,std,range,count ! download;
up. ! anomaly mean=all. ! svd modes=7 ! download ! write modes.nc;   # shares the mean
up. ! anomaly ! fewer: svd modes=1 ! download
END
  "$ekman" run -f both.txt --set svd.modes=3 --json run.json -q >out.txt
  "$ekman" run - --set svd.modes=3 --json - -q <both.txt >again.json
  python3 - <<'END' || fail "the numbers differ: $(cat run.json)"
import json
run, eof, stats, again = (json.load(open(f + ".json")) for f in ("run", "eof", "stats", "again"))
results = {r["node"]: r for r in run["results"]}
assert list(results) == ["all", "svd", "fewer"], list(results)
assert run["passes"] == 2 and run["outputs"] == {"write": "modes.nc"}
assert run["files"] == eof["files"] == again["files"]
assert results["svd"]["n_modes"] == 3 and results["fewer"]["n_modes"] == 1
arrays = results["svd"]["arrays"]
def same(a, b): # eof takes the mean inside svd
    return len(a) == len(b) and all(abs(x - y) <= 1e-12 * abs(y) for x, y in zip(a, b))
assert same(arrays["singular_value"]["values"], eof["singular_values"])
assert same(arrays["variance_fraction"]["values"], eof["variance_fractions"])
assert same(arrays["total_variance"]["values"], [eof["total_variance"]])
assert results["svd"]["attributes"]["solver"] == eof["solver"]
assert results["fewer"]["arrays"]["total_variance"] == arrays["total_variance"]
for name, one in stats["statistics"].items():
    other = results["all"]["arrays"][name]
    assert all(other[key] == one[key] for key in one), name
assert again["results"] == run["results"]
END
  # The printed pipeline is one that run takes, with the same results.
  python3 -c 'import json; print(json.load(open("run.json"))["pipeline"])' >printed.txt
  "$ekman" run -f printed.txt --json printed.json -q >/dev/null
  python3 - <<'END' || fail "the printed pipeline differs: $(cat printed.txt)"
import json
run, printed = (json.load(open(f + ".json")) for f in ("run", "printed"))
assert run["results"] == printed["results"] and run["pipeline"] == printed["pipeline"]
END
done

# A stream is written as it is; every backend option is taken; plan says what would be done.
"$ekman" run 'load air.*.nc ! upload ! anomaly ! download ! write anomalies.nc' --slots 2 \
  --threads 2 --launch serial --memory 1G -q >out.txt
expect_text "^'write' written to anomalies.nc" out.txt
rm eof.nc
"$ekman" plan run "$eof" -q >out.txt
expect_text "'anomaly' needs the finished result of 'anomaly_mean'" out.txt
[[ ! -e eof.nc ]] || fail "plan wrote eof.nc"
