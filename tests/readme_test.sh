#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The program in README.md compiles without a warning and runs.
# Arguments: source folder, build folder (which has libekman), C compiler.
set -euo pipefail
source_dir=$(realpath "$1")
build_dir=$(realpath "$2")
compiler=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# shellcheck disable=SC2016
sed -n '/^```c$/,/^```$/p' "$source_dir/README.md" | sed '/^```/d' >program.c
[[ -s program.c ]] || { echo "README.md has no \`\`\`c block" >&2; exit 1; }
"$compiler" -std=c17 -Wall -Wextra -Werror -I"$source_dir" -I"$source_dir/pipelines" program.c \
  -o program -L"$build_dir" -lekman -Wl,-rpath,"$build_dir"
"$build_dir/tools/ekman" sample --years 1990-1991 --steps 40 --nlat 10 --nlon 12 >/dev/null
./program air.sig995.199?.nc
[[ -s eof.nc ]]
if ./program missing.nc 2>err.txt; then
  echo "the program took a file that is not there" >&2
  exit 1
fi
grep -q missing.nc err.txt
