#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What run refuses: wrong texts with status 2 and a caret, the rest with status 1; nothing is written.
. "$(dirname "$0")/lib.sh"

from_stdin() {
  "$ekman" run - <text.txt
}

expect_failure 2 "no stage 'uplod'; did you mean 'upload'" '^  load a.nc ! uplod$' \
  '^              \^$' -- "$ekman" run 'load a.nc ! uplod'
expect_failure 2 "no option or input 'mode'; did you mean 'modes'" -- \
  "$ekman" plan run 'load a.nc ! upload ! svd mode=3'
expect_failure 2 "no node 'sdv'; did you mean 'svd'" '^  in --set$' -- \
  "$ekman" run 'load a.nc ! upload ! svd ! download' --set sdv.modes=1
printf 'load a.nc\n ! uplod' >text.txt
expect_failure 2 '^  in line 2 of text.txt$' '^     \^$' -- "$ekman" run -f text.txt
expect_failure 2 'in line 2 of standard input$' -- from_stdin
rm -f text.txt
expect_failure 1 "cannot open 'absent.txt'" -- "$ekman" run -f absent.txt
expect_failure 1 "'/dev/zero' is no pipeline's text" -- "$ekman" run -f /dev/zero
expect_failure 1 "no file matches 'absent" '^       \^$' -- "$ekman" run 'load absent.*.nc ! upload'
expect_failure 1 'absent.nc' -- "$ekman" run 'load absent.nc ! upload ! reduce ! download'

sample -o in.nc
sum='load in.nc ! up: upload ! reduce ! download ! write out.nc'
expect_failure 1 "put 'upload' between" -- "$ekman" run 'load in.nc ! reduce ! download'
expect_failure 1 "'write' and 'write2' both write './out.nc'" -- \
  "$ekman" run "$sum; up. ! svd ! download ! write ./out.nc" -q
expect_failure 1 "json would overwrite the input 'in.nc'" -- "$ekman" run "$sum" --json in.nc -q
expect_failure 1 "report and the node 'write' both name 'out.nc'" -- \
  "$ekman" run "$sum" --report out.nc -q
expect_failure 1 'budget|memory' -- "$ekman" run "$sum" --memory 1K -q
expect_only in.nc
