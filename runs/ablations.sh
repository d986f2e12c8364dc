#!/usr/bin/env bash
# Change one setting of the trainer at a time and evaluate each adapter, on a third of the proof's training scenarios.
#
#     runs/ablations.sh [NAME...]        # default all; days on 2 cores; every stage resumes
#
# Reads   base/smollm2; runs/out/proof as `runs/proof.sh 1` made it: the sessions, a third of the scenarios of split
#         seed 1, its held-out set, and the adapter at 1e-3 on that third. That adapter is the row `one`; every other
#         row changes one setting of it.
# Writes  runs/out/ablations/<name>/ with adapter and eval; runs/out/ablations/rates.md with one row each
# Needs   .venv/bin first on PATH; a Docker engine with the sandbox image
#
# rank-N          alpha changes with the rank, so that the scale stays the same
# own-*           trains on sessions that the adapter `one` played at temperature 0.7: the kept ones, all, or as many of
#                 all as are kept. (The reference operator's sessions are all kept.)
# defaults-RATE   epochs and accumulation of `sft.py`; its default rate for base/smollm2 is 1.4e-3
# chat            the chat template of the base instead of the markers
set -euo pipefail
cd "$(dirname "$0")/.."
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
PROOF=${PROOF:-runs/out/proof/draw-1}
OUT=${OUT:-runs/out/ablations}

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

declare -A changed=(
  [one]=""
  [rank-4]="--lora-r 4 --lora-alpha 8"
  [rank-64]="--lora-r 64 --lora-alpha 128"
  [lr-3e-4]="--lr 3e-4"
  [lr-3e-3]="--lr 3e-3"
  [attention]="--lora-targets q_proj,k_proj,v_proj,o_proj"
  [accum-8]="--accum 8"
  [epochs-4]="--epochs 4"
  [defaults-2e-4]="--epochs 3 --accum 8 --lr 2e-4"
  [defaults-1e-3]="--epochs 3 --accum 8 --lr 1e-3"
  [defaults-1.4e-3]="--epochs 3 --accum 8 --lr 1.4e-3"
  [defaults-2.5e-3]="--epochs 3 --accum 8 --lr 2.5e-3"
  [defaults-3.2e-3]="--epochs 3 --accum 8 --lr 3.2e-3"
  [defaults-5e-3]="--epochs 3 --accum 8 --lr 5e-3"
  [defaults-1e-2]="--epochs 3 --accum 8 --lr 1e-2"
  [chat]="--render chat"
  [own-kept]=""
  [own-all]="--include-not-kept"
  [own-equal]="--include-not-kept"
)
[ $# -gt 0 ] || set -- one rank-4 rank-64 lr-3e-4 lr-3e-3 attention accum-8 epochs-4 chat own-kept own-all own-equal \
  defaults-2e-4 defaults-1e-3 defaults-1.4e-3 defaults-2.5e-3 defaults-3.2e-3 defaults-5e-3 defaults-1e-2
runs=()
for name in "$@"; do
  here=$OUT/$name adapter=$OUT/$name/adapter data=$PROOF/../trajectories scenarios=$PROOF/part-33/holdout
  [[ $name != one ]] || adapter=$PROOF/adapter-33-1e-3
  if [[ $name == own-* ]]; then
    data=$OUT/own
    kept_rate=$(step python rollout.py --operator local --adapter "$PROOF/adapter-33-1e-3" \
      --temperature 0.7 --samples 1 --scenarios "$scenarios" --max-steps 24 --max-new-tokens 80 --workers 8 \
      --out "$data" | python -c 'import json, sys; print(json.load(sys.stdin)["kept_rate"])')
  fi
  if [[ $name == own-equal ]]; then
    step python split.py --scenarios "$scenarios" --by scenario --fraction "$kept_rate" --seed 1 --out "$here/split"
    scenarios=$here/split/holdout
  fi
  # A flag that is given twice counts as it was given last.
  # shellcheck disable=SC2086 # the changed flags are several words
  step python sft.py --data "$data" --scenarios "$scenarios" --holdout "$PROOF/archetypes/holdout" \
    --out "$adapter" --lora-targets all-linear --lora-r 16 --lora-alpha 32 --lr 1e-3 --epochs 2 --batch 1 \
    --accum 1 --seed 1 ${changed[$name]}
  step python eval.py --adapter "$adapter" --scenarios "$PROOF/unread/holdout" --seed 1 \
    --n "${EPISODES:-100}" --max-steps 24 --max-new-tokens 80 --out "$here/eval"
  runs+=("$here/eval")
done
step python report.py --runs "${runs[@]}" --table "$OUT/rates.md"
