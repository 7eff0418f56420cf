#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Addresses are read by the netCDF library, where it was built for that: DAP, and byte ranges.
# Arguments: ekman, tests/data, the server.
. "$(dirname "$0")/lib.sh"
serve=$(realpath "$3")
command -v python3 >/dev/null || skip "no python3 to serve files"
command -v nc-config >/dev/null || skip "no nc-config, which tells what the netCDF library can do"

sample --years 1990
file=$(basename ./*.nc)
python3 "$serve" >port 2>/dev/null &
trap 'kill %1 2>/dev/null; rm -rf "$work"' EXIT
for ((i = 0; i < 100; i++)); do
  [[ -s port ]] && break
  read -rt 0.1 <> <(:) || true
done
[[ -s port ]] || skip "the server did not start"
url=http://127.0.0.1:$(<port)

expect_failure 1 'none\.nc#mode=bytes: the netCDF library cannot open this address' 'nc-config' \
  -- "$ekman" stats "$url/none.nc#mode=bytes" -o out.nc

# The server's t is 0, 1, 2 ... over 4 steps of 2 x 3 cells.
if [[ $(nc-config --has-dap) == yes ]]; then
  "$ekman" stats "$url/dap" --statistics mean -o dap.nc >out.txt 2>err.txt || fail "$(cat err.txt)"
  expect_text 'decoder: library \(remote\)' err.txt
  expect_text '^mean +9 +11\.5 +14 +6$' out.txt
  expect_failure 1 'library \(remote\)|\(remote\)' -- "$ekman" stats "$url/dap" --decoder chunk
else
  echo "the netCDF library has no DAP"
fi

if "$ekman" stats "$url/$file#mode=bytes" --statistics mean >there.txt 2>err.txt; then
  expect_text 'decoder: library \(remote\)' err.txt
  "$ekman" stats "$file" --statistics mean >here.txt 2>err.txt
  diff <(grep '^mean ' here.txt) <(grep '^mean ' there.txt) || fail "byte ranges give other values"
else
  expect_text 'built with DAP, or with byte ranges' err.txt
  echo "the netCDF library reads no byte ranges"
fi
