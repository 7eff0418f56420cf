#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The EOF pipeline from file to file under valgrind memcheck: no invalid access, no leak.
#   valgrind_test.sh EKMAN DATA
set -euo pipefail
ekman=$1 data=$2
command -v valgrind >/dev/null || { echo "skipped: valgrind is not installed"; exit 77; }
if ldd "$ekman" | grep -qE 'lib(asan|tsan|ubsan)'; then
  echo "skipped: built with a sanitizer"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in coads_3months.cdf cru_absolute_climatology.nc; do
  OPENBLAS_NUM_THREADS=1 valgrind --quiet --leak-check=full --show-leak-kinds=definite \
    --errors-for-leak-kinds=definite --error-exitcode=99 \
    --suppressions="$(dirname "$0")/support/valgrind.supp" \
    "$ekman" eof "$data/$file" --modes 2 -o "$work/out.nc" --backend host --quiet
done
echo "valgrind memcheck: clean"
