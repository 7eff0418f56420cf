#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-format 14 would change no C, header or CUDA file. Argument: source folder.
set -euo pipefail
exec "$1/tools/check-format"
