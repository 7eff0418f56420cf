#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No script gives shellcheck anything to say. Argument: source folder.
set -euo pipefail
cd "$1"
command -v shellcheck >/dev/null || { echo "skipped: shellcheck is not installed"; exit 77; }
scripts=()
while IFS= read -r -d '' file; do
  read -r first <"$file" || true
  if [[ $file == *.sh || $first == '#!'*sh ]]; then
    scripts+=("$file")
  fi
done < <(find .ci tools tests -type f \( -name '*.sh' -o ! -name '*.*' \) -print0)
shellcheck -x -P SCRIPTDIR "${scripts[@]}"
echo "${#scripts[@]} scripts"
