#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# stages/REFERENCE.md is what the stages' own tables say. Arguments: the ekman command, source folder.
set -euo pipefail
if ! "$1" inspect --markdown | diff -u "$2/stages/REFERENCE.md" -; then
  echo "stages/REFERENCE.md is not up to date; write it anew: ekman inspect --markdown" >&2
  exit 1
fi
