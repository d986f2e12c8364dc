#!/usr/bin/env bash
# What each setting of the trainer is worth: one variable at a time, against the proof's adapter on a third of the data.
#
#     runs/ablations.sh [NAME...]        # all unless named; two hours and more on 2 cores, every stage resumes
#
# Reads   base/, runs/out/proof (runs/proof.sh 1): the sessions; of draw-1 the third of its scenarios, its held-out set,
#         and what was trained on that third, which is what each variable is changed from
# Writes  runs/out/ablations/<name>/ with adapter and eval, and rates.md with the row of each beside the proof's own
# Needs   .venv/bin first on PATH, a Docker engine with the sandbox image
#
# `own-kept` and `own-all` train on sessions that the adapter on a third played itself at temperature 0.7, on the kept
# ones alone or on all: the reference operator's are all kept. Rank goes with alpha, so that the scale stays.
# `defaults-RATE` is `sft.py` with its own epochs and accumulation; the rate that it takes for base/ is 3.2e-3.
# Markers against chat is not here: the chat template of base/ writes the markers, and both give the same ids.
set -euo pipefail
cd "$(dirname "$0")/.."
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
PROOF=${PROOF:-runs/out/proof/draw-1}
OUT=${OUT:-runs/out/ablations}

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

declare -A changed=(
  [rank-4]="--lora-r 4 --lora-alpha 8"
  [rank-64]="--lora-r 64 --lora-alpha 128"
  [lr-3e-4]="--lr 3e-4"
  [lr-3e-3]="--lr 3e-3"
  [attention]="--lora-targets q_proj,k_proj,v_proj,o_proj"
  [accum-8]="--accum 8"
  [epochs-4]="--epochs 4"
  [defaults-2e-4]="--epochs 3 --accum 8 --lr 2e-4"
  [defaults-1e-3]="--epochs 3 --accum 8 --lr 1e-3"
  [defaults-3.2e-3]="--epochs 3 --accum 8 --lr 3.2e-3"
  [defaults-1e-2]="--epochs 3 --accum 8 --lr 1e-2"
  [own-kept]=""
  [own-all]="--include-not-kept"
)
[ $# -gt 0 ] || set -- rank-4 rank-64 lr-3e-4 lr-3e-3 attention accum-8 epochs-4 own-kept own-all \
  defaults-2e-4 defaults-1e-3 defaults-3.2e-3 defaults-1e-2
runs=("$PROOF/eval-33")
for name in "$@"; do
  here=$OUT/$name data=$PROOF/../trajectories
  if [[ $name == own-* ]]; then
    data=$OUT/own
    step python rollout.py --operator local --base base --adapter "$PROOF/adapter-33" --temperature 0.7 --samples 1 \
      --scenarios "$PROOF/part-33/holdout" --max-steps 24 --max-new-tokens 80 --workers 8 --out "$data"
  fi
  # A flag that is given twice counts as it was given last.
  step python sft.py --data "$data" --scenarios "$PROOF/part-33/holdout" --base base \
    --holdout "$PROOF/archetypes/holdout" --out "$here/adapter" --lora-targets all-linear --lora-r 16 --lora-alpha 32 \
    --lr 1e-3 --epochs 2 --batch 1 --accum 1 --seed 1 ${changed[$name]}
  step python eval.py --base base --adapter "$here/adapter" --scenarios "$PROOF/unread/holdout" --seed 1 \
    --n "${EPISODES:-100}" --max-steps 24 --max-new-tokens 80 --out "$here/eval"
  runs+=("$here/eval")
done
step python report.py --runs "${runs[@]}" --table "$OUT/rates.md"
