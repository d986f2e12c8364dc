#!/usr/bin/env bash
# Measure what an adapter adds to base/smollm2 in archetypes that it was not trained on. NOT RUN YET on this base.
#
#     runs/proof.sh [SPLIT_SEED...]        # default 1 2 3 4; days on 2 cores; every stage resumes
#
# Reads   base/smollm2 (get_base.py)
# Writes  runs/out/proof/: scenarios, trajectories; per split seed (directory draw-SEED) two splits, adapter, two evals
#         with their contamination counts; dev/proof/rates.md and curve.svg. This command makes the last two again:
#             python report.py --runs runs/out/proof/draw-*/eval-* --table dev/proof/rates.md \
#                 --picture dev/proof/curve.svg --axes task provider announcement doc_depth difficulty
#         dev/proof/draw-SEED/eval-*: the reports, overlap files and hashes (runs/evidence.sh), to be committed. The
#         table can be made from them alone: the same command with --runs dev/proof/draw-*/eval-* and no --picture.
# Needs   .venv/bin first on PATH, a Docker engine with the sandbox image
#
# 1. Split seed N holds out six archetypes, at least one of them blocked. Of each other archetype a tenth of the
#    scenarios is held out too. Nothing is trained before that.
# 2. The rest trains three adapters at three learning rates. Their mean is evaluated.
# 3. contamination.py counts which held-out texts occur in the adapter's training data. A scenario of a held-out
#    archetype is left out if a 13-gram of its directives, announcement, provider texts or commands occurs there.
# 4. eval.py plays both held-out sets with the adapter, the bare base, and the base with its output cleaned up.
# For split seed 1, a tenth and a third of the scenarios train three adapters each: the points of the learning curve.
#
# OUT FIGURES N EPISODES SAMPLES EPOCHS    other directories and sizes, for a trial run (N at least 96):
#     OUT=/tmp/proof FIGURES=/tmp/proof/figures N=96 EPISODES=3 SAMPLES=1 EPOCHS=1 runs/proof.sh 1
set -euo pipefail
cd "$(dirname "$0")/.."
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
OUT=${OUT:-runs/out/proof}
FIGURES=${FIGURES:-dev/proof}

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

# train ADAPTER SCENARIOS: train at three learning rates on the sessions of SCENARIOS; ADAPTER is the mean of the three.
train() {
  for rate in 1e-3 8e-4 6e-4; do
    step python sft.py --data "$OUT/trajectories" --scenarios "$2" \
      --holdout "$here/archetypes/holdout" --out "$1-$rate" \
      --lora-targets all-linear --lora-r 16 --lora-alpha 32 --lr "$rate" --epochs "${EPOCHS:-2}" --batch 1 --accum 1 \
      --seed "$split_seed"
  done
  step python average.py --adapters "$1-1e-3" "$1-8e-4" "$1-6e-4" --out "$1"
}

# count_contamination SPLIT OUT [FLAG...]: count which texts of the held-out set of SPLIT occur in training data.
count_contamination() {
  local side=$1 out=$2
  shift 2
  step python contamination.py --holdout "$here/$side/holdout" --data "$OUT/trajectories" \
    --scenarios "$here/scenarios/train" --out "$out" "$@"
}

# evaluate ADAPTER SCENARIOS RUN [FLAG...]: play the adapter in these scenarios; RUN is the eval's directory.
evaluate() {
  local adapter=$1 scenarios=$2 run=$3
  shift 3
  step python eval.py --adapter "$adapter" --scenarios "$scenarios" --n "${EPISODES:-100}" \
    --seed "$split_seed" --max-steps 24 --max-new-tokens 80 --out "$run" "$@"
  runs+=("$run")
  adapters+=("$adapter")
}

step python generate.py --author template --n "${N:-3200}" --seed 2 --workers 8 --out "$OUT/scenarios"
step python rollout.py --operator reference --scenarios "$OUT/scenarios" --samples "${SAMPLES:-1}" --panic-samples 3 \
  --workers 4 --out "$OUT/trajectories"

[ $# -gt 0 ] || set -- 1 2 3 4
runs=() adapters=()
for split_seed in "$@"; do
  here=$OUT/draw-$split_seed
  step python split.py --scenarios "$OUT/scenarios" --by archetype --k 6 --seed "$split_seed" --out "$here/archetypes"
  step python split.py --scenarios "$here/archetypes/train" --by scenario --fraction 0.1 --seed "$split_seed" \
    --out "$here/scenarios"
  train "$here/adapter" "$here/scenarios/train"
  [ "$here/unread/overlap.json" -nt "$here/adapter/adapter_model.safetensors" ] ||
    count_contamination archetypes "$here/unread/overlap.json" --unread "$here/unread/holdout"
  evaluate "$here/adapter" "$here/unread/holdout" "$here/eval-archetypes" --compare-base --clean-up
  cp "$here/unread/overlap.json" "$here/eval-archetypes"
  evaluate "$here/adapter" "$here/scenarios/holdout" "$here/eval-scenarios" --compare-base --clean-up
  [ "$here/eval-scenarios/overlap.json" -nt "$here/adapter/adapter_model.safetensors" ] ||
    count_contamination scenarios "$here/eval-scenarios/overlap.json"
  [ "$split_seed" = 1 ] || continue
  for percent in 10 33; do # percent of the scenarios of each archetype
    part=$here/part-$percent
    step python split.py --scenarios "$here/scenarios/train" --by scenario --fraction "0.$percent" \
      --seed "$split_seed" --out "$part"
    train "$here/adapter-$percent" "$part/holdout"
    evaluate "$here/adapter-$percent" "$here/unread/holdout" "$here/eval-$percent"
  done
done
for at in "${!runs[@]}"; do
  step runs/evidence.sh "${runs[at]}" "${adapters[at]}" "$FIGURES/${runs[at]#"$OUT"/}"
done
step python report.py --runs "${runs[@]}" --table "$FIGURES/rates.md" --picture "$FIGURES/curve.svg" \
  --axes task provider announcement doc_depth difficulty
