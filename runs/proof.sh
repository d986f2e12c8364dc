#!/usr/bin/env bash
# What the adapter adds, measured on archetypes that it never saw: four draws of held-out archetypes, on the tiny base.
#
#     runs/proof.sh [DRAW...]        # 1 2 3 4 unless named; hours on 2 cores, every stage resumes
#
# Reads   base/, dev/proof/scenarios.tar.xz: 3,200 scenarios that generate.py has written and gated with the flags below,
#         so that nobody waits an hour for them; with N they are written and gated here
# Writes  runs/out/proof/: scenarios, trajectories; for each draw two splits, adapter, two evals with their overlap;
#         dev/proof/rates.md, dev/proof/curve.svg. These two come from the run directories alone, with one command:
#             python report.py --runs runs/out/proof/draw-*/eval-* --table dev/proof/rates.md \
#                 --picture dev/proof/curve.svg --axes task provider announcement doc_depth difficulty
# Needs   .venv/bin first on PATH, a Docker engine with the sandbox image
#
# Draw N holds six archetypes out by seed N, at least one of them blocked, before anything is trained; of what is left
# a tenth of the scenarios of each archetype is held out too. The rest trains three adapters; their mean is played in
# both held-out sets, beside the bare base and the base with its output tidied. contamination.py says what of the held-out
# texts stands in all that the base and the adapter have read; a scenario of a held-out archetype of which anything does
# (a directive, the announcement, what its provider says, a command in a session) is not played. Of the first draw, a
# tenth and a third of the scenarios train three adapters each, for the curve.
#
# OUT FIGURES N EPISODES SAMPLES EPOCHS    other directories and sizes, for a try (N from 96, to split):
#     OUT=/tmp/proof FIGURES=/tmp/proof N=96 EPISODES=3 SAMPLES=1 EPOCHS=1 runs/proof.sh 1
set -euo pipefail
cd "$(dirname "$0")/.."
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
OUT=${OUT:-runs/out/proof}
FIGURES=${FIGURES:-dev/proof}

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

# Train three adapters on the sessions of the scenarios of $2, at three rates; $1 is their mean.
train() {
  for rate in 1e-3 8e-4 6e-4; do
    step python sft.py --data "$OUT/trajectories" --scenarios "$2" --base base --holdout "$here/archetypes/holdout" \
      --out "$1-$rate" --lora-targets all-linear --lora-r 16 --lora-alpha 32 --lr "$rate" --epochs "${EPOCHS:-2}" \
      --batch 1 --accum 1 --seed "$draw"
  done
  step python average.py --base base --adapters "$1-1e-3" "$1-8e-4" "$1-6e-4" --out "$1"
}

# Write to $2 what of the held-out set $1 stands in what base and adapter have read, with what else is said.
read_before() {
  local side=$1 out=$2
  shift 2
  step python contamination.py --holdout "$here/$side/holdout" --data "$OUT/trajectories" \
    --scenarios "$here/scenarios/train" --base base --out "$out" "$@"
}

# Play the adapter $1 in the scenarios of $2, with what else is said.
evaluate() {
  local adapter=$1 scenarios=$2 run=$3
  shift 3
  step python eval.py --base base --adapter "$adapter" --scenarios "$scenarios" --n "${EPISODES:-100}" --seed "$draw" \
    --max-steps 24 --max-new-tokens 80 --out "$run" "$@"
  runs+=("$run")
}

if [ -n "${N-}" ]; then
  step python generate.py --author template --n "$N" --seed 2 --workers 8 --out "$OUT/scenarios"
elif ! [ -e "$OUT/scenarios" ]; then
  step python -m tarfile --filter data -e dev/proof/scenarios.tar.xz "$OUT"
fi
step python rollout.py --operator reference --scenarios "$OUT/scenarios" --samples "${SAMPLES:-1}" --panic-samples 3 \
  --workers 4 --out "$OUT/trajectories"

[ $# -gt 0 ] || set -- 1 2 3 4
runs=()
for draw in "$@"; do
  here=$OUT/draw-$draw
  step python split.py --scenarios "$OUT/scenarios" --by archetype --k 6 --seed "$draw" --out "$here/archetypes"
  step python split.py --scenarios "$here/archetypes/train" --by scenario --fraction 0.1 --seed "$draw" \
    --out "$here/scenarios"
  train "$here/adapter" "$here/scenarios/train"
  [ "$here/unread/overlap.json" -nt "$here/adapter/adapter_model.safetensors" ] ||
    read_before archetypes "$here/unread/overlap.json" --unread "$here/unread/holdout"
  evaluate "$here/adapter" "$here/unread/holdout" "$here/eval-archetypes" --compare-base --clean-up
  cp "$here/unread/overlap.json" "$here/eval-archetypes"
  evaluate "$here/adapter" "$here/scenarios/holdout" "$here/eval-scenarios" --compare-base --clean-up
  [ "$here/eval-scenarios/overlap.json" -nt "$here/adapter/adapter_model.safetensors" ] ||
    read_before scenarios "$here/eval-scenarios/overlap.json"
  [ "$draw" = 1 ] || continue
  for percent in 10 33; do  # this many of the scenarios, drawn from each archetype alike
    part=$here/part-$percent
    step python split.py --scenarios "$here/scenarios/train" --by scenario --fraction "0.$percent" --seed "$draw" \
      --out "$part"
    train "$here/adapter-$percent" "$part/holdout"
    evaluate "$here/adapter-$percent" "$here/unread/holdout" "$here/eval-$percent"
  done
done
step python report.py --runs "${runs[@]}" --table "$FIGURES/rates.md" --picture "$FIGURES/curve.svg" \
  --axes task provider announcement doc_depth difficulty
