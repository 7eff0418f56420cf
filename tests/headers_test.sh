#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every header compiles alone, as C17 and, where there is a C++ compiler, as C++17.
# Arguments: source root, C compiler, CUDA include folder (empty: headers that need it are left out).
set -euo pipefail
root=$1
cc=$2
cuda=${3:-}
cxx=$(command -v g++ || command -v c++ || true)
flags=(-D_GNU_SOURCE -I"$root" -Wall -Wextra -Werror -fsyntax-only)
if [ -n "$cuda" ]; then
    flags+=(-isystem "$cuda")
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

failed=0
count=0
cd "$root"
for header in core/*.h stages/*.h stages/*/*.h graphs/*.h pipelines/*.h; do
    [ -e "$header" ] || continue
    if [ -z "$cuda" ] && grep -qE '#include [<"](core/backend_cuda|cu)' "$header"; then
        continue
    fi
    if [ -z "$cuda" ] && [ "$header" = core/backend_cuda.h ]; then
        continue
    fi
    printf '#include "%s"\n#include "%s"\n' "$header" "$header" >"$work/one.c"
    cp "$work/one.c" "$work/one.cpp"
    if ! "$cc" -std=c17 "${flags[@]}" "$work/one.c"; then
        echo "$header does not compile alone as C17"
        failed=1
    fi
    if [ -n "$cxx" ] && ! "$cxx" -std=c++17 "${flags[@]}" "$work/one.cpp"; then
        echo "$header does not compile alone as C++17"
        failed=1
    fi
    count=$((count + 1))
done
echo "$count headers"
exit $failed
