#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# plan tells the passes and the backend, runs nothing and writes nothing.
. "$(dirname "$0")/lib.sh"

sample -o in.nc
"$ekman" plan eof in.nc -o eof.nc --backend host >out.txt
expect_text '[Pp]ass(es)?' out.txt
expect_text 'host' out.txt
for stage in load upload svd download write; do
  expect_text "$stage" out.txt
done
"$ekman" plan stats in.nc >out.txt
expect_text 'reduce' out.txt
expect_failure 1 'memory|budget|bytes|MiB' -- "$ekman" plan eof in.nc --memory 1K
rm -f out.txt
expect_only in.nc
