# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the tests of the command share. A test is called with the path of the ekman command and of
# tests/data, sources this, and works in a folder of its own that is removed at the end.
set -euo pipefail
ekman=$(realpath "$1")
data=$(realpath "$2")
export data
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

skip() {
  echo "skipped: $*"
  exit 77
}

# sample [ARG...]: a small synthetic year or more, 40 steps of 10 x 12, into the current folder.
sample() {
  "$ekman" sample --steps 40 --nlat 10 --nlon 12 "$@" >/dev/null
}

# expect_failure STATUS PATTERN... -- COMMAND...: the command ends with the status, prints nothing on
# standard output, and every pattern (grep -E) is found on standard error.
expect_failure() {
  local status=$1 patterns=() code=0
  shift
  while [[ $1 != -- ]]; do
    patterns+=("$1")
    shift
  done
  shift
  "$@" >out.txt 2>err.txt || code=$?
  [[ $code -eq $status ]] || fail "$*: exit status $code, not $status: $(cat err.txt)"
  [[ ! -s out.txt ]] || fail "$*: printed on standard output: $(head -3 out.txt)"
  local pattern
  for pattern in "${patterns[@]}"; do
    grep -qE -- "$pattern" err.txt || fail "$*: no '$pattern' in: $(cat err.txt)"
  done
  rm -f out.txt err.txt
}

# expect_text PATTERN FILE: the file has a line that matches.
expect_text() {
  grep -qE -- "$1" "$2" || fail "no '$1' in: $(cat "$2")"
}

# expect_only FILE...: the current folder holds these files and nothing else.
expect_only() {
  local found wanted
  found=$(find . -type f -printf '%P\n' | sort | tr '\n' ' ')
  wanted=$(printf '%s\n' "$@" | sort | tr '\n' ' ')
  [[ $found == "$wanted" ]] || fail "files left: $found; expected: $wanted"
}

expect_no_files() {
  [[ -z $(find . -type f) ]] || fail "files left: $(find . -type f)"
}

# from_cdl FILE.nc: a netCDF file from CDL text on standard input.
from_cdl() {
  command -v ncgen >/dev/null || skip "ncgen is not installed"
  ncgen -4 -o "$1" -
}
