#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is installed can be used from elsewhere: the folder pipelines/standalone is copied out of the
# tree and built against a moved installation, with find_package and with pkg-config, and run.
# Arguments: source folder, build folder, C compiler.
set -euo pipefail
source_dir=$(realpath "$1")
build_dir=$(realpath "$2")
compiler=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cmake --install "$build_dir" --prefix "$work/first" >install.log
mv first prefix # an installed tree can be moved
cp -r "$source_dir/pipelines/standalone" program
"prefix/bin/ekman" --version

"prefix/bin/ekman" sample --steps 20 --nlat 9 --nlon 16 -o in.nc >/dev/null
expected='^greatest mean of air: [0-9.]+ degK at lat\[[0-9]+\] lon\[[0-9]+\]$'

cmake -S program -B by-cmake -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER="$compiler" \
  >cmake.log
cmake --build by-cmake >>cmake.log || { cat cmake.log; exit 1; }
by-cmake/warmest in.nc | tee by-cmake.txt
grep -qE "$expected" by-cmake.txt

pc=$(find prefix -name ekman.pc)
make -C program CC="$compiler" PKG_CONFIG_PATH="$work/$(dirname "$pc")" >make.log ||
  { cat make.log; exit 1; }
program/warmest in.nc | tee by-make.txt
cmp by-cmake.txt by-make.txt

code=0
program/warmest absent.nc 2>error.txt || code=$?
[[ $code -eq 1 ]] && grep -q 'absent.nc' error.txt
