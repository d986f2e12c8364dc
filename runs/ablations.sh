#!/usr/bin/env bash
# Change one setting of the trainer at a time and evaluate each adapter, on a third of the proof's training scenarios.
#
#     runs/ablations.sh [NAME...]        # default all; a day on 2 cores; every stage resumes
#
# Reads   base/smollm2; runs/out/proof as `runs/proof.sh 1` makes it: sessions and the two splits of split seed 1
# Writes  runs/out/ablations/: share (the third), <name>/ with adapter and eval, rates.md with one row each
# Needs   .venv/bin first on PATH; a Docker engine with the sandbox image
#
# one             the settings of the proof; every other row changes one of them
# rank-N          alpha changes with the rank, so that the scale stays the same
# own-*           trains on sessions that the adapter `one` plays at temperature 0.7: the kept ones, all, or as many of
#                 all as are kept. (The reference operator's sessions are all kept.) Needs `one`
# markers         plain markers instead of the base's chat template
#
# PROOF OUT EPISODES    other directories, and fewer episodes, for a trial run:
#     PROOF=/tmp/proof/draw-1 OUT=/tmp/ablations EPISODES=2 runs/ablations.sh one markers
set -euo pipefail
cd "$(dirname "$0")/.."
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
PROOF=${PROOF:-runs/out/proof/draw-1}
OUT=${OUT:-runs/out/ablations}
limits=(--max-steps 24 --max-new-tokens 80)

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

declare -A changed=(
  [one]=""
  [rank-4]="--lora-r 4 --lora-alpha 8"
  [rank-64]="--lora-r 64 --lora-alpha 128"
  [lr-1e-3]="--lr 1e-3"
  [lr-4e-3]="--lr 4e-3"
  [attention]="--lora-targets q_proj,k_proj,v_proj,o_proj"
  [accum-4]="--accum 4"
  [epochs-2]="--epochs 2"
  [markers]="--render markers"
  [own-kept]=""
  [own-all]="--include-not-kept"
  [own-equal]="--include-not-kept"
)
[ $# -gt 0 ] || set -- one rank-4 rank-64 lr-1e-3 lr-4e-3 attention accum-4 epochs-2 markers own-kept own-all own-equal
step python split.py --scenarios "$PROOF/scenarios/train" --by scenario --fraction 0.33 --seed 1 --out "$OUT/share"
runs=()
for name in "$@"; do
  here=$OUT/$name data=$PROOF/../trajectories scenarios=$OUT/share/holdout
  if [[ $name == own-* ]]; then
    data=$OUT/own
    kept_rate=$(step python rollout.py --operator local --adapter "$OUT/one/adapter" --temperature 0.7 --samples 1 \
      --scenarios "$scenarios" "${limits[@]}" --workers 8 --out "$data" |
      python -c 'import json, sys; print(json.load(sys.stdin)["kept_rate"])')
  fi
  if [[ $name == own-equal ]]; then
    step python split.py --scenarios "$scenarios" --by scenario --fraction "$kept_rate" --seed 1 --out "$here/split"
    scenarios=$here/split/holdout
  fi
  # A flag that is given twice counts as it was given last.
  # shellcheck disable=SC2086 # the changed flags are several words
  step python sft.py --data "$data" --scenarios "$scenarios" --holdout "$PROOF/archetypes/holdout" \
    --out "$here/adapter" --lora-targets all-linear --lora-r 16 --lora-alpha 32 --lr 2e-3 --epochs 1 \
    --batch 2 --accum 1 --seed 1 ${changed[$name]}
  step python eval.py --adapter "$here/adapter" --scenarios "$PROOF/scenarios/holdout" --seed 1 \
    --n "${EPISODES:-100}" "${limits[@]}" --out "$here/eval"
  runs+=("$here/eval")
done
step python report.py --runs "${runs[@]}" --table "$OUT/rates.md"
