#!/usr/bin/env bash
# Measure what an adapter adds to base/smollm2, in archetypes that it was not trained on and in new scenarios of others.
#
#     runs/proof.sh [SPLIT_SEED...]        # default 1 21 22; every stage resumes
#
# Reads   base/smollm2 (get_base.py)
# Writes  runs/out/proof/: scenarios, trajectories; per split seed (directory draw-SEED) two splits, adapter, two evals
#         with their contamination counts; dev/proof/draw-SEED/eval-*: what the tables are made from (runs/evidence.sh)
#         dev/proof/rates.md, from dev/proof/draw-*/eval-* alone. This command makes it again:
#             python report.py --runs dev/proof/draw-*/eval-* --table dev/proof/rates.md \
#                 --axes task provider announcement doc_depth difficulty
# Needs   .venv/bin first on PATH, a Docker engine with the sandbox image
#
# 1. Split seed N holds out six archetypes, at least one of them blocked. Of each other archetype the share FRACTION of
#    the scenarios is held out too. Nothing is trained before that. Settings are chosen on split seed 1 alone.
# 2. The rest trains one adapter: 5 minutes on an H200, beside two others; about 9 hours on 2 cores (estimated).
# 3. contamination.py counts which held-out texts occur in the adapter's training data. A scenario of a held-out
#    archetype is left out if a 13-gram of its directives, announcement, provider texts or commands occurs there.
# 4. eval.py plays both held-out sets with the adapter and, on the first BASE_EPISODES scenarios of each, with the bare
#    base and with the base with its output cleaned up.
#
# OUT FIGURES N SAMPLES FRACTION EPOCHS EPISODES BASE_EPISODES    other directories and sizes (N at least 96):
#     OUT=/tmp/proof FIGURES=/tmp/proof/figures N=96 SAMPLES=1 EPOCHS=1 EPISODES=3 BASE_EPISODES=1 runs/proof.sh 1
set -euo pipefail
cd "$(dirname "$0")/.."
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
OUT=${OUT:-runs/out/proof}
FIGURES=${FIGURES:-dev/proof}

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

# count_contamination SPLIT OUT [FLAG...]: count which texts of the held-out set of SPLIT occur in training data.
count_contamination() {
  local side=$1 out=$2
  shift 2
  [ "$out" -nt "$here/adapter/adapter_model.safetensors" ] ||
    step python contamination.py --holdout "$here/$side/holdout" --data "$OUT/trajectories" \
      --scenarios "$here/scenarios/train" --out "$out" "$@"
}

# evaluate SCENARIOS RUN: play these scenarios; RUN is the eval's directory.
evaluate() {
  step python eval.py --adapter "$here/adapter" --scenarios "$1" --compare-base --clean-up --n "${EPISODES:-100}" \
    --base-n "${BASE_EPISODES:-50}" --seed "$split_seed" --max-steps 24 --max-new-tokens 80 --out "$2"
}

step python generate.py --author template --n "${N:-3200}" --seed 2 --workers 8 --out "$OUT/scenarios"
step python rollout.py --operator reference --scenarios "$OUT/scenarios" --samples "${SAMPLES:-1}" --workers 4 \
  --out "$OUT/trajectories"

[ $# -gt 0 ] || set -- 1 21 22
for split_seed in "$@"; do
  here=$OUT/draw-$split_seed
  step python split.py --scenarios "$OUT/scenarios" --by archetype --k 6 --seed "$split_seed" --out "$here/archetypes"
  step python split.py --scenarios "$here/archetypes/train" --by scenario --fraction "${FRACTION:-0.15}" \
    --seed "$split_seed" --out "$here/scenarios"
  step python sft.py --data "$OUT/trajectories" --scenarios "$here/scenarios/train" \
    --holdout "$here/archetypes/holdout" --out "$here/adapter" --epochs "${EPOCHS:-3}" --batch 8 --accum 1 \
    --seed "$split_seed"
  count_contamination archetypes "$here/unread/overlap.json" --unread "$here/unread/holdout"
  evaluate "$here/unread/holdout" "$here/eval-archetypes"
  cp "$here/unread/overlap.json" "$here/eval-archetypes"
  evaluate "$here/scenarios/holdout" "$here/eval-scenarios"
  count_contamination scenarios "$here/eval-scenarios/overlap.json"
  for run in eval-archetypes eval-scenarios; do
    step runs/evidence.sh "$here/$run" "$here/adapter" "$FIGURES/draw-$split_seed/$run"
  done
done
step python report.py --runs "$FIGURES"/draw-*/eval-* --table "$FIGURES/rates.md" \
  --axes task provider announcement doc_depth difficulty
