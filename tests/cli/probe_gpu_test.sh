#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# probe on a machine with a GPU: nothing is wrong, and copies, launches and captures are told.
. "$(dirname "$0")/lib.sh"

[[ -e /dev/nvidiactl ]] || skip "no NVIDIA driver here"
"$ekman" probe --backend cuda | tee out.txt
expect_text '^ok +device +copies +pinned: [0-9.]+ GB/s up' out.txt
expect_text '^ok +device +launches +[0-9.]+ us' out.txt
expect_text '^ok +graph +capture +memcpy, gemm, syrk' out.txt
expect_text '^nothing is wrong$' out.txt
