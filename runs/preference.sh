#!/usr/bin/env bash
# Measure what preference training adds to an SFT adapter. NOT RUN YET.
#
#     runs/preference.sh                     # about a day on 2 idle cores; every stage resumes
#
# Reads   runs/out/proof/draw-1 (runs/proof.sh 1): the SFT adapter, its training scenarios and both held-out sets
# Writes  runs/out/preference/: share, pairs, plan.json, adapters dpo, dpo-dmpo and dpo-environment, evals, rates.md,
#         curve.svg
# Needs   .venv/bin first on PATH, a Docker engine with the sandbox image
#
# 1. The SFT adapter plays a share of the training scenarios of each archetype eight times, at temperature 1.
# 2. dpo.py trains on pairs of these sessions: on the operator's tokens; with the DMPO weights; and, as the ablation, on
#    the environment's tokens too.
# 3. SFT and each of the three play the same held-out scenarios: of held-out archetypes, and new ones of trained
#    archetypes.
#
# PROOF OUT SHARE SAMPLES EPISODES EPOCHS DPO    other directories and sizes, and more flags of dpo.py, for a trial run:
#     PROOF=/tmp/proof/draw-1 OUT=/tmp/preference SHARE=0.01 SAMPLES=2 EPISODES=2 runs/preference.sh
set -euo pipefail
cd "$(dirname "$0")/.."
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
PROOF=${PROOF:-runs/out/proof/draw-1}
OUT=${OUT:-runs/out/preference}
read -ra more <<<"${DPO:-}"

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

step python split.py --scenarios "$PROOF/scenarios/train" --by scenario --fraction "${SHARE:-0.15}" --seed 1 \
  --out "$OUT/share"
step python rollout.py --operator local --adapter "$PROOF/adapter" --scenarios "$OUT/share/holdout" \
  --samples "${SAMPLES:-8}" --temperature 1 --max-steps 24 --max-new-tokens 80 --workers 8 \
  --out "$OUT/pairs"

# prefer NAME [FLAG...]: train an adapter on the pairs.
prefer() {
  local name=$1
  shift
  step python dpo.py --adapter "$PROOF/adapter" --data "$OUT/pairs" --holdout "$PROOF/archetypes/holdout" \
    --epochs "${EPOCHS:-1}" --out "$OUT/$name" "${more[@]}" "$@"
}

# evaluate NAME ADAPTER: play both held-out sets.
evaluate() {
  step python eval.py --adapter "$2" --scenarios "$PROOF/unread/holdout" --n "${EPISODES:-100}" --seed 1 \
    --max-steps 24 --max-new-tokens 80 --out "$OUT/eval-archetypes-$1"
  step python eval.py --adapter "$2" --scenarios "$PROOF/scenarios/holdout" --n "${EPISODES:-100}" --seed 1 \
    --max-steps 24 --max-new-tokens 80 --out "$OUT/eval-scenarios-$1"
}

step python dpo.py --adapter "$PROOF/adapter" --data "$OUT/pairs" --inspect --holdout "$PROOF/archetypes/holdout"
step python dpo.py --adapter "$PROOF/adapter" --data "$OUT/pairs" --plan "${more[@]}" | tee "$OUT/plan.json"
prefer dpo
prefer dpo-dmpo --loss dmpo
prefer dpo-environment --loss-on-environment
evaluate sft "$PROOF/adapter"
for name in dpo dpo-dmpo dpo-environment; do
  evaluate "$name" "$OUT/$name"
done
step python report.py --runs "$OUT"/eval-* --table "$OUT/rates.md" --picture "$OUT/curve.svg"
