#!/usr/bin/env bash
# Let the adapter of a proof practise in new scenarios of the kinds that it was trained on: DPO against RL, both
# against where they began, at equal episodes.
#
#     runs/practice.sh [SEED...]     # default 0 1: of RL; about six hours on 2 idle cores (estimated); every stage resumes
#
# Reads   runs/out/proof/draw-21 (runs/proof.sh 21): the SFT adapter, what it was evaluated on, and its held-out sets
# Writes  runs/out/practice/: reported, others, split (scenarios), pairs (the SFT adapter's episodes), inspect.txt, the
#         adapters dpo, dpo-environment and rl-SEED, evals, rates.md, rates.html, curve-SEED.md
# Needs   .venv/bin first on PATH, a Docker engine with the sandbox image
#
# The proof held out scenarios of the trained archetypes and played 100 of them. Those are reported on here too, so that
# the proof's eval is the SFT row. Of the others, which nothing has read, a share is what every arm practises in: no
# solution is shown, only the checker's verdict counts. The same adapters then play the proof's held-out archetypes.
#
# dpo              pairs of the SFT adapter's own episodes, four of each scenario at temperature 1
# dpo-environment  the ablation: the loss counts the environment's tokens too
# rl-SEED          as many episodes, four of each scenario, played by the adapter as it is at each step
#
# PROOF OUT SHARE UPDATES EVERY EPISODES    other directories and sizes, for a trial run:
#     OUT=/tmp/practice SHARE=0.03 UPDATES=2 EVERY=1 EPISODES=4 runs/practice.sh 0
set -euo pipefail
cd "$(dirname "$0")/.."
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
PROOF=${PROOF:-runs/out/proof/draw-21}
OUT=${OUT:-runs/out/practice}
limits=(--max-steps 24 --max-new-tokens 80)

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

# Which scenarios are reported on is what the proof's eval has played.
mkdir -p "$OUT/reported" "$OUT/others"
for scenario in "$PROOF"/scenarios/holdout/*-*.json; do
  side=others
  [ ! -e "$PROOF/eval-scenarios/adapter/$(basename "$scenario" .json)-s0.json" ] || side=reported
  cp "$scenario" "$OUT/$side"
done
step python split.py --scenarios "$OUT/others" --by scenario --fraction "${SHARE:-0.292}" --seed 1 --out "$OUT/split"
practised=$OUT/split/holdout

# evaluate NAME ADAPTER: play what is reported on, and held-out archetypes.
evaluate() {
  local common=(--adapter "$2" --n "${EPISODES:-100}" --seed 21 "${limits[@]}")
  step python eval.py "${common[@]}" --scenarios "$OUT/reported" --out "$OUT/eval-scenarios-$1"
  step python eval.py "${common[@]}" --scenarios "$PROOF/unread/holdout" --out "$OUT/eval-archetypes-$1"
  new+=("$OUT/eval-scenarios-$1")
  held+=("$OUT/eval-archetypes-$1")
}

new=("$PROOF/eval-scenarios") held=("$PROOF/eval-archetypes")

step python rollout.py --operator local --adapter "$PROOF/adapter" --scenarios "$practised" --samples 4 --temperature 1 \
  --seed 1 "${limits[@]}" --workers 16 --out "$OUT/pairs"
dpo=(--adapter "$PROOF/adapter" --data "$OUT/pairs" --holdout "$OUT/reported")
step python dpo.py "${dpo[@]}" --inspect --show 1 2>"$OUT/inspect.txt"
step python dpo.py "${dpo[@]}" --out "$OUT/dpo"
evaluate dpo "$OUT/dpo"
step python dpo.py "${dpo[@]}" --out "$OUT/dpo-environment" --loss-on-environment
evaluate dpo-environment "$OUT/dpo-environment"

[ $# -gt 0 ] || set -- 0 1
for seed in "$@"; do
  step python rl.py --adapter "$PROOF/adapter" --scenarios "$practised" --holdout "$OUT/reported" --seed "$seed" \
    "${limits[@]}" --updates "${UPDATES:-12}" --save-every "${EVERY:-6}" --workers 16 --out "$OUT/rl-$seed"
  curve=("$PROOF/eval-scenarios")
  for saved in "$OUT/rl-$seed"/steps/*; do
    name=rl-$seed-$(basename "$saved")
    step python eval.py --adapter "$saved" --scenarios "$OUT/reported" --n "${EPISODES:-100}" --seed 21 "${limits[@]}" \
      --out "$OUT/eval-scenarios-$name"
    curve+=("$OUT/eval-scenarios-$name")
  done
  step python report.py --runs "${curve[@]}" --table "$OUT/curve-$seed.md"
  evaluate "rl-$seed" "$OUT/rl-$seed"
done

step python report.py --runs "${new[@]}" "${held[@]}" --table "$OUT/rates.md" --html "$OUT/rates.html"
