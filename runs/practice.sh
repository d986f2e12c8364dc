#!/usr/bin/env bash
# Let the adapter of a proof practise in new scenarios of the kinds that it was trained on, by DPO and by RL at equal
# episodes: is it better than where it began?
#
#     runs/practice.sh [SEED...]       # default 0: of RL; about four hours on 2 idle cores; every stage resumes
#
# Reads   runs/out/proof/draw-21 (runs/proof.sh 21): the SFT adapter, its held-out sets, and the proof's eval of both
# Writes  runs/out/practice/: reported, others, split (scenarios), pairs (the SFT adapter's episodes), inspect.txt, the
#         adapters dpo and rl-SEED, evals, rates.md, rates.html, curve-SEED.md
# Needs   .venv/bin first on PATH, a Docker engine with the sandbox image
#
# The proof held out scenarios of the trained archetypes and played 100 of them. Those are reported on here too, so that
# the proof's eval is the SFT row; eval-more-* has 100 further ones. In a share of the others, which nothing has read,
# every arm practises. No solution is shown there: the checker's verdict is all that it learns from. eval-archetypes-*
# plays the proof's held-out archetypes. rates.html has the differences, paired by scenario, with intervals; `python -m
# dev.practice` has them for both sets of new scenarios together.
#
# dpo       pairs of the SFT adapter's own episodes, four of each scenario at temperature 1
# rl-SEED   as many episodes, four of each scenario, each step's played by the adapter as it is then
#
# PROOF OUT SHARE UPDATES EVERY EPISODES DPO    other directories and sizes, and more flags of dpo.py (DPO="--loss
# dmpo", or --loss-on-environment, the ablation), for another --out or a trial run:
#     OUT=/tmp/practice SHARE=0.03 UPDATES=2 EVERY=1 EPISODES=4 runs/practice.sh
set -euo pipefail
cd "$(dirname "$0")/.."
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
PROOF=${PROOF:-runs/out/proof/draw-21}
OUT=${OUT:-runs/out/practice}
limits=(--max-steps 24 --max-new-tokens 80 --workers 32)
read -ra more <<<"${DPO:-}"

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

# evaluate SET SCENARIOS NAME ADAPTER: play one of the three sets.
evaluate() {
  step python eval.py --adapter "$4" --scenarios "$2" --n "${EPISODES:-100}" --seed 21 "${limits[@]}" --out "$OUT/eval-$1-$3"
  runs+=("$OUT/eval-$1-$3")
}

runs=("$PROOF/eval-scenarios" "$PROOF/eval-archetypes")
evaluate more "$OUT/split/train" sft "$PROOF/adapter"

step python rollout.py --operator local --adapter "$PROOF/adapter" --scenarios "$practised" --samples 4 --temperature 1 \
  --seed 1 "${limits[@]}" --out "$OUT/pairs"
dpo=(--adapter "$PROOF/adapter" --data "$OUT/pairs" --holdout "$OUT/reported" "${more[@]}")
step python dpo.py "${dpo[@]}" --inspect --show 1 2>"$OUT/inspect.txt"
step python dpo.py "${dpo[@]}" --out "$OUT/dpo"
evaluate scenarios "$OUT/reported" dpo "$OUT/dpo"
evaluate more "$OUT/split/train" dpo "$OUT/dpo"
evaluate archetypes "$PROOF/unread/holdout" dpo "$OUT/dpo"

for seed in "${@:-0}"; do
  rl=$OUT/rl-$seed
  step python rl.py --adapter "$PROOF/adapter" --scenarios "$practised" --holdout "$OUT/reported" --seed "$seed" \
    "${limits[@]}" --updates "${UPDATES:-12}" --save-every "${EVERY:-6}" --out "$rl"
  curve=("$PROOF/eval-scenarios")
  for saved in "$rl"/steps/*; do
    ! cmp -s "$saved/adapter_model.safetensors" "$rl/adapter_model.safetensors" || continue # the end is played below
    evaluate scenarios "$OUT/reported" "rl-$seed-$(basename "$saved")" "$saved"
    curve+=("${runs[-1]}")
  done
  evaluate scenarios "$OUT/reported" "rl-$seed" "$rl"
  step python report.py --runs "${curve[@]}" "${runs[-1]}" --table "$OUT/curve-$seed.md"
  evaluate more "$OUT/split/train" "rl-$seed" "$rl"
  evaluate archetypes "$PROOF/unread/holdout" "rl-$seed" "$rl"
done

step python report.py --runs "${runs[@]}" --table "$OUT/rates.md" --html "$OUT/rates.html"
