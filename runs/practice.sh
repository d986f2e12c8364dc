#!/usr/bin/env bash
# Let the evening's adapter practise in new scenarios of its kinds of work, by DPO and by RL at equal episodes: is it
# better than where it began?
#
#     runs/practice.sh [ARM...]     # default: dpo rl-0; hours on 2 cores; every stage resumes
#
# Reads   runs/out/evening (runs/evening.sh): trained-kinds, both held-out sets, adapter
# Writes  runs/out/practice/: scenarios, new, split, unread, reported (scenarios), pairs (the evening's adapter's
#         episodes), inspect.txt, plan-ARM.json, an adapter for each arm, evals, rates.md, rates.html
# Needs   .venv/bin first on PATH, a Docker engine with the sandbox image
#
# The author goes on where the evening's ended: 336 new scenarios. In 144 of them the arms practise. No solution is shown
# there: the checker's verdict is all that they learn from. 96 others and the evening's held-out scenarios are reported
# on, and so are the evening's held-out archetypes. The last 96 are left to select_adapter.py (runs/cascade.sh). They
# practise at temperature 0.7: at 1 rare tokens spoil many sessions that greedy decoding solves (docs/rl.md).
#
# dpo               pairs of the evening's adapter's own episodes, eight of each scenario
# dpo-environment   the same with the environment's tokens in the loss (--loss-on-environment): the ablation
# dpo-dmpo          the same with the loss of the DMPO paper (--loss dmpo)
# rl-SEED           as many episodes, four of a scenario at a visit, each step's played by the adapter as it is then; at
#                   three times the default rate, reached over six steps; a fifth of the reward is for ending the session,
#                   and every token weighs the same (docs/results.md has runs without the one and the other)
#
# ADAPTER         where to begin (default: the evening's; examples/adapter is that of one such run, rounded to fp16)
# USD_PER_HOUR    the example price of this machine, for the plans (default 0.1)
# TEMPERATURE     of the arms' episodes (default 0.7)
# EVENING OUT NEW SAMPLES UPDATES EVERY EPISODES STEPS    other directories and sizes, for a trial run after one of
# evening.sh:
#     EVENING=/tmp/evening OUT=/tmp/practice NEW=16 SAMPLES=4 UPDATES=2 EVERY=1 EPISODES=4 runs/practice.sh
set -euo pipefail
cd "$(dirname "$0")/.."
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
EVENING=${EVENING:-runs/out/evening}
OUT=${OUT:-runs/out/practice}
[ $# -gt 0 ] || set -- dpo rl-0
limits=(--max-steps "${STEPS:-24}" --max-new-tokens 80 --workers 32)
temperature=${TEMPERATURE:-0.7}
sft=${ADAPTER:-$EVENING/adapter}

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

mkdir -p "$OUT/new" "$OUT/reported"
[ -d "$OUT/scenarios" ] || cp -r "$EVENING/trained-kinds" "$OUT/scenarios"
old=("$EVENING"/trained-kinds/*-*.json)
kinds=$(basename -a "${old[@]}" | sed 's/-.*//' | sort -u | paste -sd,)
step python generate.py --author template --difficulties easy,medium --workers 8 --tasks "$kinds" \
  --n $((${#old[@]} + ${NEW:-336})) --seed 61 --out "$OUT/scenarios"
for scenario in "$OUT"/scenarios/*-*.json; do
  [ -e "$EVENING/trained-kinds/$(basename "$scenario")" ] || cp "$scenario" "$OUT/new"
done
step python split.py --scenarios "$OUT/new" --by scenario --fraction 0.57 --seed 1 --out "$OUT/split"
step python split.py --scenarios "$OUT/split/holdout" --by scenario --fraction 0.5 --seed 1 --out "$OUT/unread"
cp "$EVENING"/scenarios-split/holdout/*-*.json "$OUT"/unread/train/*-*.json "$OUT/reported"
practised=$OUT/split/train

# evaluate NAME ADAPTER, evaluate_archetypes NAME ADAPTER: play one of the two held-out sets.
evaluate() {
  step python eval.py --adapter "$2" --scenarios "$OUT/reported" --n "${EPISODES:-200}" --seed 1 "${limits[@]}" \
    --out "$OUT/eval-$1"
  runs+=("$OUT/eval-$1")
}
evaluate_archetypes() {
  step python eval.py --adapter "$2" --scenarios "$EVENING/archetypes/holdout" \
    --n "${EPISODES:-60}" --seed 1 "${limits[@]}" --out "$OUT/eval-archetypes-$1"
  runs+=("$OUT/eval-archetypes-$1")
}

refuse() {
  echo "practice.sh: no arm $1; name dpo, dpo-environment, dpo-dmpo or rl-SEED, as in runs/practice.sh dpo rl-0" >&2
  exit 2
}

runs=()
evaluate sft "$sft"
evaluate_archetypes sft "$sft"

for arm; do
  case $arm in
  dpo*)
    step python rollout.py --operator local --adapter "$sft" --scenarios "$practised" --samples "${SAMPLES:-8}" \
      --temperature "$temperature" --seed 1 "${limits[@]}" --out "$OUT/pairs"
    dpo=(--adapter "$sft" --data "$OUT/pairs" --holdout "$OUT/reported")
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
    step python rl.py --adapter "$sft" --scenarios "$practised" --holdout "$OUT/reported" --seed "${arm#rl-}" \
      --temperature "$temperature" "${limits[@]}" --lr 2e-4 --warmup-steps 6 --skip-after 1 \
      --terminate-share 0.2 --loss-type dapo --updates "${UPDATES:-36}" --save-every "${EVERY:-12}" --out "$OUT/$arm"
    for saved in "$OUT/$arm"/steps/*; do
      ! cmp -s "$saved/adapter_model.safetensors" "$OUT/$arm/adapter_model.safetensors" || continue # played below
      evaluate "$arm-$(basename "$saved")" "$saved"
    done
    ;;
  *) refuse "$arm" ;;
  esac
  evaluate "$arm" "$OUT/$arm"
  evaluate_archetypes "$arm" "$OUT/$arm"
done

step python report.py --runs "${runs[@]}" --table "$OUT/rates.md" --html "$OUT/rates.html"
