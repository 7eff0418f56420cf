#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# stats prints and reports each statistic asked for; its numbers agree with each other.
. "$(dirname "$0")/lib.sh"

sample -o in.nc
"$ekman" stats in.nc >out.txt
for name in mean std range var; do
  expect_text "^$name  " out.txt
done
"$ekman" stats in.nc --statistics mean,min,max,range,count --json - --backend host >out.json
for name in mean min max range count; do
  expect_text "^    \"$name\": \{" out.json
done
if grep -q '"std"' out.json; then
  fail "a statistic that was not asked for: $(cat out.json)"
fi
# number STATISTIC FIELD
number() {
  sed -n "/^    \"$1\": {/,/}/s/.*\"$2\": \([-0-9.e+]*\),\{0,1\}$/\1/p" out.json
}
[[ $(number count min) =~ ^40(\.0)?$ ]] || fail "count: $(number count min)"
awk -v lo="$(number min min)" -v mean="$(number mean mean)" -v hi="$(number max max)" \
    -v range="$(number range max)" \
    'BEGIN { exit !(lo < mean && mean < hi && range > 0 && range <= hi - lo) }' ||
  fail "the numbers do not fit: $(cat out.json)"

# ddof 0 divides by N: the variance is smaller by 39/40.
for ddof in 0 1; do
  "$ekman" stats in.nc --statistics var --ddof "$ddof" --json - >out.json
  printf '%s\n' "$(number var mean)"
done >var.txt
awk 'NR == 1 { v0 = $1 } NR == 2 { r = v0 / $1; exit !(r > 0.97499 && r < 0.97501) }' var.txt ||
  fail "ddof: $(cat var.txt)"
