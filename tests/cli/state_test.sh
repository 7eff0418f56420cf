#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# States: statistics go on from a finished state without the earlier files, states of several machines
# join, and what does not fit is refused with what differs.
. "$(dirname "$0")/lib.sh"
command -v ncdump >/dev/null || skip "ncdump is not installed"

values() {
  ncdump -p 9,17 "$1" | grep -v -e '^netcdf' -e ':history' -e ':source'
}
same() {
  cmp <(values "$1") <(values "$2") || fail "$1 and $2 differ"
}

for type in int16 float32; do
  sample --years 1990-1992 --type "$type" -o in
  "$ekman" stats in/*.nc --statistics mean,var,max -o whole.nc >/dev/null 2>&1
  mkdir gone
  "$ekman" stats in/*1990.nc --statistics mean,var,max --state s90 >/dev/null 2>&1
  mv in/*1990.nc gone
  "$ekman" stats in/*1991.nc --from-state s90 --state s91 -o part.nc >out.txt 2>&1
  expect_text '^period +80 steps, 1990-01-01 00:00 to 1991' out.txt
  mv in/*1991.nc gone
  "$ekman" stats in/*1992.nc --from-state s91 --state s92 -o after.nc >/dev/null 2>&1
  same whole.nc after.nc # the bits of one run
  mv in/*1992.nc gone
  "$ekman" stats --from-state s92 -o ended.nc >/dev/null 2>&1
  same whole.nc ended.nc
  "$ekman" stats gone/*199[12].nc --statistics mean,var,max --state other >/dev/null 2>&1
  "$ekman" state merge s90 other -o both
  "$ekman" stats --from-state both -o merged.nc >/dev/null 2>&1
  [[ $type == float32 ]] || same whole.nc merged.nc # integers are added exactly
  "$ekman" state show both >out.txt
  expect_text '^finished state of the pipeline .stats.' out.txt
  expect_text '^period +120 steps, 1990-01-01' out.txt

  expect_failure 1 'op=mean,var,max at .reduce., this plan has op=min' -- \
    "$ekman" stats gone/*1991.nc --from-state s90 --statistics min
  expect_failure 1 'the periods overlap or are not in order' -- \
    "$ekman" stats gone/*1990.nc --from-state s91
  expect_failure 1 'not in order' -- "$ekman" state merge other s90 -o bad
  expect_failure 1 'gone/air.*1990.nc would be overwritten by a state file' -- \
    "$ekman" stats gone/*1991.nc --state gone/air.sig995.1990.nc
  expect_failure 1 'is no state file' -- "$ekman" state show whole.nc
  head -c 3000 both >short
  expect_failure 1 'state file short: it' -- "$ekman" state show short
  rm -r in gone ./*.nc s9? other both short
done
expect_failure 1 'no_such: it cannot be opened' -- "$ekman" state show no_such
expect_failure 2 'two states or more' -- "$ekman" state merge s90 -o x
expect_failure 2 'show or merge' -- "$ekman" state
expect_failure 2 'need --checkpoint' -- "$ekman" stats x.nc --resume

# An interrupt leaves a checkpoint and says so; another plan does not take it.
sample --years 1990 --steps 1460 -o in
code=0
for _ in 1 2 3 4 5; do
  "$ekman" eof in/*.nc --chunk 1 --checkpoint point --checkpoint-every 0.001 -o out.nc \
    >/dev/null 2>err.txt &
  pid=$!
  until [[ -e point ]] || ! kill -0 "$pid" 2>/dev/null; do :; done
  kill -INT "$pid" 2>/dev/null || true
  wait "$pid" || code=$?
  [[ $code -eq 0 ]] || break
  rm -f out.nc
done
[[ $code -eq 1 ]] || skip "no signal came while it ran"
expect_text 'stopped on request.*to go on, resume from point' err.txt
rm err.txt
expect_failure 1 'modes=10 at .svd., this plan has modes=3' -- \
  "$ekman" eof in/*.nc --chunk 1 --checkpoint point --resume --modes 3
expect_failure 1 'point is of another run, and would be overwritten' -- \
  "$ekman" stats in/*.nc --checkpoint point
touch in/*.nc
expect_failure 1 'in/air.*nc has changed since it was made' -- \
  "$ekman" eof in/*.nc --chunk 1 --checkpoint point --resume
expect_only point in/air.sig995.1990.nc
