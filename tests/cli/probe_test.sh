#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# probe: what it says without a driver, and of drivers that are broken or too old; its exit status.
# Further arguments: libraries that stand in for NVML and for the CUDA driver, 1 in a build with CUDA.
. "$(dirname "$0")/lib.sh"
nvml=$3
cuda=$4
with_cuda=$5

"$ekman" probe --backend host >out.txt
expect_text '^ok +host +HDF5 filters +.*deflate' out.txt
expect_text '^nothing is wrong$' out.txt
if grep -q 'driver' out.txt; then fail "host: $(cat out.txt)"; fi

"$ekman" probe --backend host --json - >out.json
python3 - <<'END'
import json
report = json.load(open("out.json"))
assert report["usable"] is True and report["version"]
assert {line["what"] for line in report["lines"]} >= {"netCDF", "HDF5", "libuv", "processors"}
assert all(set(line) <= {"verdict", "group", "what", "text", "advice"} for line in report["lines"])
END
expect_failure 2 "auto, host or cuda, not 'gpu'" -- "$ekman" probe --backend gpu
expect_failure 2 "no arguments" -- "$ekman" probe air.nc

# probes PATTERN... -- [NAME=VALUE...]: probe with the stand-ins that are in lib/ ends with status 1,
# and every pattern is found.
probes() {
  local patterns=() code=0 pattern
  while [[ $1 != -- ]]; do
    patterns+=("$1")
    shift
  done
  shift
  # The thread sanitizer's list of suppressions does not bear LD_LIBRARY_PATH.
  env "$@" TSAN_OPTIONS= LD_LIBRARY_PATH="$PWD/lib" "$ekman" probe --backend cuda >out.txt || code=$?
  [[ $code -eq 1 ]] || fail "exit status $code: $(cat out.txt)"
  for pattern in "${patterns[@]}"; do
    expect_text "$pattern" out.txt
  done
  expect_text '^ok +host +netCDF' out.txt
  expect_text 'mend the first line that is WRONG' out.txt
}

mkdir lib
if [[ ! -e /dev/nvidiactl ]]; then
  probes '^WRONG +driver ' '-> install NVIDIA' --
fi
cp "$nvml" lib/libnvidia-ml.so.1
probes '^WRONG +driver .*Driver/library version mismatch' '-> .*nvidia-smi' -- FAKE_NVML=broken
probes '^WRONG +driver .*525.60.13 sees no GPU' -- FAKE_NVML=none
cp "$cuda" lib/libcuda.so.1
probes '^ok +driver .*525.60.13, 1 GPU: Imaginary GPU' '^WRONG .*cuInit fails' -- FAKE_CUDA=forbidden
if [[ $with_cuda == 1 ]]; then
  probes '^ok .*supports CUDA 11.4' '^WRONG +cuda +runtime .*up to 11.4' '-> install a newer driver' --
else
  probes '^ok .*supports CUDA 11.4' '^WRONG +cuda +build .*without CUDA' --
fi
