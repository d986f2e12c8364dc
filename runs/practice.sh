#!/usr/bin/env bash
# Let the evening's adapter practise in new scenarios of its kinds of work, by DPO and by RL: is it better than where it
# began?
#
#     runs/practice.sh [ARM...]     # default: dpo rl-0 on-0; hours on 2 cores; every stage resumes
#
# Reads   runs/out/evening (runs/evening.sh): trained-kinds, trajectories, both held-out sets, adapter
# Writes  runs/out/practice/: scenarios, new, split, unread, reported, more, fresh, practised, all-held-out (scenarios),
#         pairs (the evening's adapter's episodes), inspect.txt, plan-ARM.json, an adapter for each arm, evals, rates.md,
#         rates.html
# Needs   .venv/bin first on PATH, a Docker engine with the sandbox image
#
# The author goes on where the evening's ended: 980 new scenarios. No solution is shown there: the checker's verdict is
# all that the arms learn from. In 144 the start adapter plays six episodes each, which dpo and rl learn from; on-policy
# practice has 444 more. Reported on are 200 (96 and the evening's held-out ones), 200 further ones (fresh), and the
# evening's held-out archetypes. The last 96 are left to select_adapter.py (runs/cascade.sh). Episodes are sampled at
# temperature 0.7: at 1 rare tokens spoil many sessions that greedy decoding solves (docs/rl.md).
#
# dpo               pairs of the evening's adapter's own episodes
# dpo-environment   the same with the environment's tokens in the loss (--loss-on-environment): the ablation
# dpo-dmpo          the same with the loss of the DMPO paper (--loss dmpo)
# rl-SEED           the same episodes, replayed: an advantage for each command, the evening's sessions beside them at
#                   weight 1, and at last the mean with the start adapter (rl-SEED-whole is the adapter before that)
# on-SEED           from rl-SEED on, 12 on-policy steps of 8 scenarios with 6 episodes each, at half the rate
#
# ADAPTER         where to begin (default: the evening's; examples/adapter is that of one such run, rounded to fp16)
# USD_PER_HOUR    the example price of this machine, for the plans (default 0.1)
# TEMPERATURE     of the arms' episodes (default 0.7)
# EVENING OUT NEW FRESH FURTHER SAMPLES UPDATES EPISODES STEPS    other directories and sizes, for a trial run after one
# of evening.sh:
#     EVENING=/tmp/evening OUT=/tmp/practice NEW=48 FRESH=4 FURTHER=4 SAMPLES=4 UPDATES=2 EPISODES=4 runs/practice.sh
set -euo pipefail
cd "$(dirname "$0")/.."
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
EVENING=${EVENING:-runs/out/evening}
OUT=${OUT:-runs/out/practice}
[ $# -gt 0 ] || set -- dpo rl-0 on-0
limits=(--max-steps "${STEPS:-24}" --max-new-tokens 80 --workers 32)
temperature=${TEMPERATURE:-0.7}
sft=${ADAPTER:-$EVENING/adapter}

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

mkdir -p "$OUT"/{new,reported,fresh,practised,all-held-out}
[ -d "$OUT/scenarios" ] || cp -r "$EVENING/trained-kinds" "$OUT/scenarios"
old=("$EVENING"/trained-kinds/*-*.json)
kinds=$(basename -a "${old[@]}" | sed 's/-.*//' | sort -u | paste -sd,)
author=(--author template --difficulties "easy,medium" --workers 8 --tasks "$kinds" --seed 61)
first_fresh=$((${#old[@]} + ${NEW:-336})) # the numbers in the author's ids, from 0
first_further=$((first_fresh + ${FRESH:-200}))
step python generate.py "${author[@]}" --n $first_fresh --out "$OUT/scenarios"
for scenario in "$OUT"/scenarios/*-*.json; do
  [ -e "$EVENING/trained-kinds/$(basename "$scenario")" ] || cp "$scenario" "$OUT/new"
done
step python split.py --scenarios "$OUT/new" --by scenario --fraction 0.57 --seed 1 --out "$OUT/split"
step python split.py --scenarios "$OUT/split/holdout" --by scenario --fraction 0.5 --seed 1 --out "$OUT/unread"
cp "$EVENING"/scenarios-split/holdout/*-*.json "$OUT"/unread/train/*-*.json "$OUT/reported"
practised=$OUT/split/train
[ -d "$OUT/more" ] || cp -r "$OUT/scenarios" "$OUT/more"
step python generate.py "${author[@]}" --n $((first_further + ${FURTHER:-444})) --out "$OUT/more"
for scenario in "$OUT"/more/*-*.json; do
  number=$((10#$(basename "${scenario##*-}" .json)))
  if [ $number -ge $first_further ]; then
    cp "$scenario" "$OUT/practised"
  elif [ $number -ge $first_fresh ]; then
    cp "$scenario" "$OUT/fresh"
  fi
done
cp "$practised"/*-*.json "$OUT/practised"
held=$OUT/all-held-out
cp "$OUT"/{reported,fresh,unread/holdout}/*-*.json "$held"

# evaluate NAME ADAPTER: play the three held-out sets that are reported on.
evaluate() {
  step python eval.py --adapter "$2" --scenarios "$OUT/reported" --n "${EPISODES:-200}" --seed 1 "${limits[@]}" \
    --out "$OUT/eval-$1"
  step python eval.py --adapter "$2" --scenarios "$OUT/fresh" --n "${EPISODES:-200}" --seed 1 "${limits[@]}" \
    --out "$OUT/eval-fresh-$1"
  step python eval.py --adapter "$2" --scenarios "$EVENING/archetypes/holdout" \
    --n "${EPISODES:-60}" --seed 1 "${limits[@]}" --out "$OUT/eval-archetypes-$1"
  runs+=("$OUT/eval-$1" "$OUT/eval-fresh-$1" "$OUT/eval-archetypes-$1")
}

refuse() {
  echo "practice.sh: no arm $1; name dpo, dpo-environment, dpo-dmpo, rl-SEED or on-SEED, as in practice.sh dpo rl-0" >&2
  exit 2
}

# The episodes of the start adapter, for dpo and rl.
record() {
  step python rollout.py --operator local --adapter "$sft" --scenarios "$practised" --samples "${SAMPLES:-6}" \
    --temperature "$temperature" --seed 1 "${limits[@]}" --out "$OUT/pairs"
}

# Each command has its own advantage, and what the evening taught is not unlearned.
rl=(--credit command --loss-type dapo --groups 8 --episodes "${SAMPLES:-6}" --sft-data "$EVENING/trajectories"
  --holdout "$held")

runs=()
evaluate sft "$sft"

for arm; do
  case $arm in
  dpo*)
    record
    dpo=(--adapter "$sft" --data "$OUT/pairs" --holdout "$held")
    case $arm in
    dpo) ;;
    dpo-environment) dpo+=(--loss-on-environment) ;;
    dpo-dmpo) dpo+=(--loss dmpo) ;;
    *) refuse "$arm" ;;
    esac
    inspected=0
    step python dpo.py "${dpo[@]}" --inspect --show 1 2>"$OUT/inspect.txt" || inspected=$?
    if [ "$inspected" != 0 ]; then
      cat "$OUT/inspect.txt" >&2
      # An adapter that never succeeds, or always, gives no pair: then this arm is left out.
      grep -q "no pair to train on" "$OUT/inspect.txt" && continue
      exit "$inspected" # an ERROR of --inspect, a held-out session say
    fi
    step python dpo.py "${dpo[@]}" --plan --usd-per-hour "${USD_PER_HOUR:-0.1}" >"$OUT/plan-$arm.json"
    step python dpo.py "${dpo[@]}" --out "$OUT/$arm"
    ;;
  rl-*)
    record
    step python rl.py --adapter "$sft" --scenarios "$practised" --replay "$OUT/pairs" --seed "${arm#rl-}" \
      "${rl[@]}" --lr 2e-4 --warmup-steps 4 --out "$OUT/$arm-whole"
    # Without a group that has a signal the weights are the start's, and there is nothing to average.
    ! cmp -s "$sft/adapter_model.safetensors" "$OUT/$arm-whole/adapter_model.safetensors" || continue
    step python average.py --adapters "$sft" "$OUT/$arm-whole" --out "$OUT/$arm"
    ;;
  on-*)
    [ -d "$OUT/rl-${arm#on-}" ] || continue # no group had a signal, or that arm was not named before
    step python rl.py --adapter "$OUT/rl-${arm#on-}" --scenarios "$OUT/practised" --seed "${arm#on-}" \
      --temperature "$temperature" --workers 48 --max-steps "${STEPS:-16}" --max-new-tokens 80 --skip-after 1 \
      "${rl[@]}" --lr 1e-4 --warmup-steps 3 --updates "${UPDATES:-12}" --save-every 6 --out "$OUT/$arm"
    ;;
  *) refuse "$arm" ;;
  esac
  evaluate "$arm" "$OUT/$arm"
done

step python report.py --runs "${runs[@]}" --table "$OUT/rates.md" --html "$OUT/rates.html"
