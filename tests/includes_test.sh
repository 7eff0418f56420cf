#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Includes point one way: tools -> pipelines -> graphs -> stages -> core. Argument: source root.
set -euo pipefail
cd "$1"

failed=0
# refuse ROOM PATTERN: no file of ROOM may include from a folder that PATTERN names.
refuse() {
    local found
    found=$(grep -rnE --include='*.[ch]' --include='*.cu' "#include \"($2)/" "$1" || true)
    if [ -n "$found" ]; then
        printf '%s may not include from %s:\n%s\n' "$1" "$2" "$found"
        failed=1
    fi
}
refuse core 'stages|graphs|pipelines|tools|tests'
refuse stages 'graphs|pipelines|tools|tests'
refuse graphs 'pipelines|tools|tests'
refuse pipelines 'tools|tests'
refuse tools 'tests'

# CUDA's own headers are for the files named after it.
cuda=$(grep -rlE --include='*.[ch]' '#include <(cuda|cublas|cusolver)' core stages graphs pipelines tools |
    grep -v '_cuda\.[ch]$' || true)
if [ -n "$cuda" ]; then
    printf 'CUDA headers are included outside *_cuda files:\n%s\n' "$cuda"
    failed=1
fi
exit $failed
