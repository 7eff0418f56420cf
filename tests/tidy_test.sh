#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy 14 has nothing to say about the library's and the command's C code.
# Arguments: source folder, build folder (which has compile_commands.json).
set -euo pipefail
source_dir=$1
build_dir=$2

tool=
for name in clang-tidy-14 clang-tidy; do
  if command -v "$name" >/dev/null && "$name" --version | grep -q 'version 14\.'; then
    tool=$name
    break
  fi
done
if [[ -z $tool ]]; then
  echo "skipped: clang-tidy 14 is not installed"
  exit 77
fi

mapfile -t files < <(sed -n 's/^ *"file": "\(.*\.c\)",\{0,1\}$/\1/p' \
                         "$build_dir/compile_commands.json" |
                       grep -E "^$source_dir/(core|stages|graphs|pipelines|tools)/" | sort -u)
[[ ${#files[@]} -gt 0 ]] || { echo "no C files in compile_commands.json" >&2; exit 1; }
# gcc-only warning flags are no concern of clang's.
if ! printf '%s\0' "${files[@]}" |
    xargs -0 -n 1 -P 2 "$tool" -p "$build_dir" --quiet \
          --extra-arg=-Wno-unknown-warning-option >"$build_dir/tidy.log" 2>/dev/null; then
  grep -E 'error:|warning:' -A 3 "$build_dir/tidy.log" || cat "$build_dir/tidy.log"
  exit 1
fi
echo "${#files[@]} files"
