#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A stage in a user's own program: the folder pipelines/user_stage is copied out of the tree, built
# against a moved installation with find_package and with pkg-config, run, and checked against a plain
# loop. Arguments: source folder, build folder, C compiler, nvcc (empty: none), and `cuda` for the
# part that needs a device: there the kernel must be in the captured region, with the same answers.
set -euo pipefail
source_dir=$(realpath "$1")
build_dir=$(realpath "$2")
compiler=$3
nvcc=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

if [[ ${5:-} == cuda ]]; then
  "$build_dir/tools/ekman" probe --backend cuda >/dev/null 2>&1 ||
    { echo "skipped: no usable CUDA device"; exit 77; }
  command -v "${nvcc:-nvcc}" >/dev/null || { echo "skipped: no nvcc"; exit 77; }
fi

cmake --install "$build_dir" --prefix "$work/first" >install.log
mv first prefix
cp -r "$source_dir/pipelines/user_stage" program
cmake -S program -B by-cmake -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER="$compiler" \
  -DCMAKE_C_FLAGS='-Wall -Wextra -Werror' ${nvcc:+-DCMAKE_CUDA_COMPILER="$nvcc"} >cmake.log ||
  { cat cmake.log; exit 1; }
cmake --build by-cmake >>cmake.log || { cat cmake.log; exit 1; }

# Two files, so that spells go on from one to the next and chunks end in between.
for part in 1990 1991; do
  prefix/bin/ekman sample --years $part --steps 1460 --nlat 7 --nlon 12 -o . >/dev/null
done
by-cmake/hotspells host 283.05 out.nc air.sig995.1990.nc air.sig995.1991.nc | tee said.txt

# Every chunk's region is one operation: the stage's kernel, captured.
region_is_the_kernel() {
  sed -nE 's/^[a-z]+: ([0-9]+) chunks, ([0-9]+) graphs of ([0-9]+) operations.*, ([0-9]+) graph.*/\1 \2 \3 \4/p' \
    "$1" | { read -r chunks graphs operations launches
             [[ $graphs -gt 0 && $operations -eq $graphs && $launches -eq $chunks ]]; }
}
region_is_the_kernel said.txt || fail "$(cat said.txt)"

values() { # values NAME FILE...: a variable's values, one a line
  local name=$1 file
  shift
  for file in "$@"; do
    ncdump -v "$name" -p 9,17 "$file" | awk -v start="^ $name =" '
      $0 ~ start { on = 1; sub(start, "") }
      on { gsub(/[;}]/, ""); n = split($0, v, /[ ,]+/); for (i = 1; i <= n; i++) if (v[i] != "") print v[i] }'
  done
}
if ! command -v ncdump >/dev/null; then
  echo "notice: ncdump is not installed, so the values are not checked"
else
  values air air.sig995.1990.nc air.sig995.1991.nc | awk -v cells=84 '
    { c = (NR - 1) % cells
      if ($1 != "_" && $1 > 283.05) { count[c]++; open[c]++ } else open[c] = 0
      if (open[c] > longest[c]) longest[c] = open[c] }
    END { for (c = 0; c < cells; c++) print count[c] + 0 > "count.txt"
          for (c = 0; c < cells; c++) print longest[c] + 0 > "longest.txt" }'
  values exceedance_count out.nc >got.txt
  cmp got.txt count.txt || fail "counts differ from a plain loop: $(paste got.txt count.txt)"
  values longest_spell out.nc >got.txt
  cmp got.txt longest.txt || fail "spells differ from a plain loop: $(paste got.txt longest.txt)"
  [[ $(sort -un longest.txt | wc -l) -gt 5 ]] || fail "the data try nothing: $(cat longest.txt)"
fi

code=0
by-cmake/hotspells host warm out.nc air.sig995.1990.nc 2>error.txt || code=$?
[[ $code -eq 1 ]] || fail "a threshold that is no number: exit status $code"
grep -q "spells: the option threshold takes a number, not 'warm'" error.txt ||
  fail "$(cat error.txt)"

pc=$(find prefix -name ekman.pc)
make -C program CC="$compiler" NVCC="$nvcc" PKG_CONFIG_PATH="$work/$(dirname "$pc")" >make.log ||
  { cat make.log; exit 1; }
program/hotspells host 283.05 made.nc air.sig995.1990.nc air.sig995.1991.nc >/dev/null
same() { # the two files hold the same values
  diff <(ncdump -v exceedance_count,longest_spell "$1" | sed '1d;/history/d') \
    <(ncdump -v exceedance_count,longest_spell "$2" | sed '1d;/history/d')
}
same out.nc made.nc || fail "built by make it answers otherwise"

if [[ ${5:-} == cuda ]]; then
  by-cmake/hotspells cuda 283.05 device.nc air.sig995.1990.nc air.sig995.1991.nc | tee said.txt
  grep -q '^cuda:' said.txt || fail "$(cat said.txt)"
  region_is_the_kernel said.txt || fail "$(cat said.txt)"
  diff <(values exceedance_count out.nc) <(values exceedance_count device.nc) || fail "counts differ"
  diff <(values longest_spell out.nc) <(values longest_spell device.nc) || fail "spells differ"
fi
