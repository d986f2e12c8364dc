#!/usr/bin/env bash
# From an SFT adapter to one that learned from its own verified episodes: is it better, also than DPO?
#
#     PATH="$PWD/.venv/bin:$PATH" runs/rl.sh        # some 30 hours on 2 idle cores (estimated); every stage resumes
#
# Reads   base/smollm2 (get_base.py downloads it if it is missing)
# Writes  runs/out/rl/: scenarios, archetypes and held (two splits), trajectories, the adapters sft, rl-0, rl-1, dpo-0
#         and dpo-1, same-0 and pairs-0 (what DPO plays, and its episodes), plans, inspect-dpo-0.txt, evals; rates.md,
#         rates.html, curve-0.md, curve-0.html
# Needs   .venv/bin first on PATH (make env), a Docker engine with the sandbox image (make image)
#
# Held out are archetypes, and scenarios of the trained archetypes. SFT, RL and DPO use the same scenarios. All evals of
# a held-out set play the same scenarios, so that rates.html has each adapter's difference from SFT, paired by scenario,
# with intervals. curve-0 has the same for the adapters in rl-0/steps, in held-out scenarios.
#
# DPO at equal episodes: the SFT adapter plays the scenarios that rl-0 played, as many episodes in all (at the default
# sizes both play each scenario four times). An adapter that never succeeds, or always, gives no pair, and dpo.py stops
# where the policy loses the chosen sessions: then the tables have no DPO of that seed, and the script goes on.
#
# OUT N UPDATES EVERY EPISODES EPOCHS SEEDS    another directory and other sizes, for a trial run (N at least 48):
#     OUT=/tmp/rl N=48 UPDATES=2 EVERY=1 EPISODES=4 EPOCHS=1 SEEDS=0 runs/rl.sh
#
# Not run at its default sizes. The trial sizes were run with a tiny base of random weights and sessions of 2 steps, up to
# the last eval; they gave no pair, so DPO has not trained in here.
set -euo pipefail
cd "$(dirname "$0")/.."
export TOKENIZERS_PARALLELISM=false
OUT=${OUT:-runs/out/rl}
steps=(--max-steps 24 --max-new-tokens 80)

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

step python get_base.py
export HF_HUB_OFFLINE=1

# Scenarios of one or two directives, two kinds of held-out ones, and the reference operator's sessions to begin with.
step python generate.py --author template --n "${N:-1200}" --difficulties easy,medium --seed 51 --workers 8 \
  --out "$OUT/scenarios"
step python split.py --scenarios "$OUT/scenarios" --by archetype --k 4 --seed 51 --out "$OUT/archetypes"
step python split.py --scenarios "$OUT/archetypes/train" --by scenario --fraction 0.2 --seed 51 --out "$OUT/held"
step python rollout.py --operator reference --scenarios "$OUT/held/train" --workers 4 --out "$OUT/trajectories"
step python sft.py --data "$OUT/trajectories" --holdout "$OUT/archetypes/holdout" --out "$OUT/sft" \
  --lr 1e-3 --epochs "${EPOCHS:-2}" --batch 2 --accum 1

# evaluate HELD ADAPTER NAME: play a held-out set.
evaluate() {
  step python eval.py --adapter "$2" --scenarios "$OUT/$1/holdout" --n "${EPISODES:-100}" --seed 1 "${steps[@]}" \
    --out "$OUT/eval-$1-$3"
}

# prefer SEED: DPO from the SFT adapter, on as many episodes as rl-SEED has played, in the same scenarios.
prefer() {
  local same=$OUT/same-$1 pairs=$OUT/pairs-$1 out=$OUT/dpo-$1 found=$OUT/inspect-dpo-$1.txt name code=0
  local episodes=("$OUT/rl-$1"/episodes/*-s*.json)
  mkdir -p "$same"
  for episode in "${episodes[@]}"; do
    name=$(basename "$episode")
    cp "$OUT/held/train/${name%-s*}.json" "$same"
  done
  local scenarios=("$same"/*.json)
  local samples=$(((${#episodes[@]} + ${#scenarios[@]} - 1) / ${#scenarios[@]}))
  step python rollout.py --operator local --adapter "$OUT/sft" --scenarios "$same" --samples "$samples" \
    --temperature 1 --seed "$1" "${steps[@]}" --workers 8 --out "$pairs"
  local dpo=(--adapter "$OUT/sft" --data "$pairs" --holdout "$OUT/held/holdout" --seed "$1" --out "$out")
  step python dpo.py "${dpo[@]}" --inspect 2>"$found" || code=$?
  cat "$found" >&2
  if [ "$code" != 0 ]; then
    grep -q "no pair to train on" "$found" || exit "$code" # an ERROR of --inspect, a held-out session say
    return 0
  fi
  step python dpo.py "${dpo[@]}" --plan >"$OUT/plan-dpo-$1.json"
  step python dpo.py "${dpo[@]}" || code=$?
  case $code in
  0) adapters+=("$out") ;;
  2) ;; # it has stopped, and says why
  *) exit "$code" ;;
  esac
}

# RL, and its curve in held-out scenarios: from the SFT adapter over those that the run has kept on its way.
evaluate held "$OUT/sft" sft
adapters=("$OUT/sft")
for seed in ${SEEDS:-0 1}; do
  rl=(--adapter "$OUT/sft" --scenarios "$OUT/held/train" --holdout "$OUT/held/holdout" --seed "$seed" "${steps[@]}"
    --updates "${UPDATES:-100}" --save-every "${EVERY:-20}")
  step python rl.py "${rl[@]}" --plan >"$OUT/plan-rl-$seed.json"
  step python rl.py "${rl[@]}" --out "$OUT/rl-$seed"
  adapters+=("$OUT/rl-$seed")
  curve=("$OUT/eval-held-sft")
  for saved in "$OUT/rl-$seed"/steps/*; do
    name=rl-$seed-$(basename "$saved")
    evaluate held "$saved" "$name"
    curve+=("$OUT/eval-held-$name")
  done
  step python report.py --runs "${curve[@]}" --table "$OUT/curve-$seed.md" --html "$OUT/curve-$seed.html"
done

for seed in ${SEEDS:-0 1}; do
  prefer "$seed"
done

# Before and after, in scenarios and in archetypes that no stage has seen.
runs=()
for held in held archetypes; do
  for adapter in "${adapters[@]}"; do
    evaluate "$held" "$adapter" "$(basename "$adapter")"
    runs+=("$OUT/eval-$held-$(basename "$adapter")")
  done
done
step python report.py --runs "${runs[@]}" --table "$OUT/rates.md" --html "$OUT/rates.html"
