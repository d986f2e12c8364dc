#!/usr/bin/env bash
# Make of base/smollm2 what one evening on two cores allows: more scenarios than the demo, and two held-out sets.
#
#     PATH="$PWD/.venv/bin:$PATH" runs/evening.sh        # about three hours on 2 cores; every stage resumes
#
# Reads   base/smollm2 (get_base.py downloads it if it is missing)
# Writes  runs/out/evening/: scenarios, archetypes and scenarios-split (two splits), trajectories, adapter,
#         eval-archetypes, eval-scenarios, rates.md, curve.svg
# Needs   .venv/bin first on PATH (make env), a Docker engine with the sandbox image (make image)
#
# eval-archetypes plays six archetypes that were not trained on, eval-scenarios new scenarios of the trained ones.
#
# OUT N SAMPLES EPOCHS EPISODES STEPS    another directory and other sizes, for a trial run (N at least 96):
#     OUT=/tmp/evening N=96 SAMPLES=1 EPOCHS=1 EPISODES=2 STEPS=4 runs/evening.sh
set -euo pipefail
cd "$(dirname "$0")/.."
export TOKENIZERS_PARALLELISM=false
OUT=${OUT:-runs/out/evening}

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

step python get_base.py
export HF_HUB_OFFLINE=1

# Stage A: the offline author writes scenarios; the gate tries each in a real container.
step python generate.py --author template --n "${N:-1200}" --seed 21 --workers 8 --out "$OUT/scenarios"

# Hold out six archetypes, and a tenth of the scenarios of every other archetype, before anything is trained. No setting
# was chosen on split seed 31.
step python split.py --scenarios "$OUT/scenarios" --by archetype --k 6 --seed 31 --out "$OUT/archetypes"
step python split.py --scenarios "$OUT/archetypes/train" --by scenario --fraction 0.1 --seed 31 \
  --out "$OUT/scenarios-split"

# Stages B to D: the reference operator acts, the checker decides, the sessions are recorded.
step python rollout.py --operator reference --scenarios "$OUT/scenarios-split/train" --samples "${SAMPLES:-2}" \
  --workers 4 --out "$OUT/trajectories"

# Train a LoRA adapter beside the frozen base. Only one held-out set can be named here; eval.py refuses an adapter that
# was trained on a scenario of the other.
step python sft.py --data "$OUT/trajectories" --holdout "$OUT/archetypes/holdout" --out "$OUT/adapter" \
  --lora-targets all-linear --lora-r 16 --lora-alpha 32 --lr 1e-3 --epochs "${EPOCHS:-2}" --batch 2 --accum 1

# Play both held-out sets with base and adapter, without a scaffold.
step python eval.py --adapter "$OUT/adapter" --scenarios "$OUT/archetypes/holdout" --compare-base \
  --n "${EPISODES:-60}" --seed 1 --max-steps "${STEPS:-24}" --max-new-tokens 80 --out "$OUT/eval-archetypes"
step python eval.py --adapter "$OUT/adapter" --scenarios "$OUT/scenarios-split/holdout" --compare-base \
  --n "${EPISODES:-60}" --seed 1 --max-steps "${STEPS:-24}" --max-new-tokens 80 --out "$OUT/eval-scenarios"

step python report.py --runs "$OUT/eval-archetypes" "$OUT/eval-scenarios" --table "$OUT/rates.md" \
  --picture "$OUT/curve.svg"
