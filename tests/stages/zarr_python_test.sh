#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Zarr stores made just now by zarr-python and xarray are read right. EK_PYTHON names the Pythons to
# try, separated by blanks: one with zarr 2 and one with zarr 3 make all stores.
# Arguments: zarr_test, zarr_make.py.
set -euo pipefail
test_program=$1
make=$2

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
made=0
for python in ${EK_PYTHON:-python3}; do
  if ! "$python" -c 'import netCDF4, numcodecs, numpy, xarray, zarr' 2>/dev/null; then
    echo "$python lacks zarr, xarray or netCDF4"
    continue
  fi
  "$python" -W ignore "$make" "$dir"
  made=$((made + 1))
done
if [[ $made -eq 0 ]]; then
  echo "skipped: no Python with zarr, xarray and netCDF4; name one in EK_PYTHON"
  exit 77
fi
"$test_program" "$dir"
