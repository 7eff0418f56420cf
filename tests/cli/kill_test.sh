#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run with checkpoints that is killed (SIGKILL) at a random moment and resumed gives the same bits as
# an unbroken one. A third argument is the number of rounds, 10 without; a fourth the backend.
. "$(dirname "$0")/lib.sh"
rounds=${3:-10}
backend=${4:-host}
command -v ncdump >/dev/null || skip "ncdump is not installed"

# values FILE: all of it but the name and the history, every float64 to the bit.
values() {
  ncdump -p 9,17 "$1" | grep -v -e '^netcdf' -e ':history'
}

now_ms() {
  echo $(($(date +%s%N) / 1000000))
}

sleep_ms() {
  sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"
}

# job OUT ARG...: becomes one run with a checkpoint every millisecond.
job() {
  local out=$1
  shift
  exec "$ekman" "${what[@]}" in/*.nc --backend "$backend" --chunk 1 --checkpoint point \
    --checkpoint-every 0.001 -o "$out" "$@" >/dev/null 2>err.txt
}

# one_round: run, kill, resume (half of the time to be killed again), compare.
one_round() {
  local pid code arguments=()
  rm -f point point.part out.nc
  while :; do
    job out.nc "${arguments[@]}" &
    pid=$!
    sleep_ms $((RANDOM % whole_ms))
    kill -KILL "$pid" 2>/dev/null || true
    code=0
    { wait "$pid" || code=$?; } 2>/dev/null
    starts=$((starts + 1))
    if grep -q 'resumed from' err.txt; then resumed=$((resumed + 1)); fi
    [[ $code -ne 0 ]] || break
    [[ $code -eq 137 ]] || fail "${what[*]}: status $code: $(cat err.txt)"
    killed=$((killed + 1))
    arguments=(--resume)
    if ((RANDOM % 2)); then
      (job out.nc --resume) || fail "${what[*]} --resume: $(cat err.txt)"
      if grep -q 'resumed from' err.txt; then resumed=$((resumed + 1)); fi
      break
    fi
  done
  [[ ! -e point && ! -e point.part ]] || fail "a checkpoint is left after a run that went well"
  cmp whole.txt <(values out.nc) || fail "${what[*]}: other values after $killed kills"
}

sample --years 1990 --steps 2000 -o in
for words in 'stats --statistics mean,std,min,max,count' 'eof --modes 4'; do
  read -ra what <<<"$words"
  begin=$(now_ms)
  (job whole.nc)
  whole_ms=$(($(now_ms) - begin + 20))
  values whole.nc >whole.txt
  killed=0 resumed=0 starts=0
  for ((round = 0; round < rounds; round++)); do
    one_round
  done
  echo "$words: $rounds rounds, $starts starts ($whole_ms ms whole), $killed killed, $resumed resumed"
  [[ $rounds -lt 10 || $killed -gt 0 ]] || fail "$words: no kill came while it ran"
done
