#!/usr/bin/env bash
# From an SFT adapter to one that learned from its own verified episodes, and whether it is better. NOT RUN YET.
#
#     PATH="$PWD/.venv/bin:$PATH" runs/rl.sh        # about two nights on 2 cores; every stage resumes
#
# Reads   base/smollm2 (get_base.py downloads it if it is missing)
# Writes  runs/out/rl/: scenarios, archetypes and held (two splits), trajectories, the adapters sft, rl-0, rl-1,
#         evals
# Needs   .venv/bin first on PATH (make env), a Docker engine with the sandbox image (make image)
#
# Held out are archetypes, and scenarios of the trained archetypes. SFT and RL use the same scenarios. All evals of a
# held-out set play the same scenarios, so that report.py compares them pair by pair.
#
# OUT N UPDATES EPISODES EPOCHS SEEDS    another directory and other sizes, for a trial run (N at least 48):
#     OUT=/tmp/rl N=48 UPDATES=2 EPISODES=4 EPOCHS=1 SEEDS=0 runs/rl.sh
set -euo pipefail
cd "$(dirname "$0")/.."
export TOKENIZERS_PARALLELISM=false
OUT=${OUT:-runs/out/rl}
steps=(--max-steps 24 --max-new-tokens 80)

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

step python get_base.py
export HF_HUB_OFFLINE=1

# Scenarios of one or two directives, two kinds of held-out ones, and the reference operator's sessions to begin with.
step python generate.py --author template --n "${N:-1200}" --difficulties easy,medium --seed 51 --workers 8 \
  --out "$OUT/scenarios"
step python split.py --scenarios "$OUT/scenarios" --by archetype --k 4 --seed 51 --out "$OUT/archetypes"
step python split.py --scenarios "$OUT/archetypes/train" --by scenario --fraction 0.2 --seed 51 --out "$OUT/held"
step python rollout.py --operator reference --scenarios "$OUT/held/train" --workers 4 --out "$OUT/trajectories"
step python sft.py --data "$OUT/trajectories" --holdout "$OUT/archetypes/holdout" --out "$OUT/sft" \
  --lr 1e-3 --epochs "${EPOCHS:-2}" --batch 2 --accum 1

adapters=("$OUT/sft")
for seed in ${SEEDS:-0 1}; do
  rl=(--adapter "$OUT/sft" --scenarios "$OUT/held/train" --holdout "$OUT/held/holdout" --seed "$seed" "${steps[@]}"
    --updates "${UPDATES:-100}")
  step python rl.py "${rl[@]}" --plan >"$OUT/plan-rl-$seed.json"
  step python rl.py "${rl[@]}" --out "$OUT/rl-$seed"
  adapters+=("$OUT/rl-$seed")
done

# Before and after, in scenarios and in archetypes that neither stage has seen.
for held in held archetypes; do
  for adapter in "${adapters[@]}"; do
    step python eval.py --adapter "$adapter" --scenarios "$OUT/$held/holdout" --n "${EPISODES:-100}" --seed 1 \
      "${steps[@]}" --out "$OUT/eval-$held-$(basename "$adapter")"
  done
done
step python report.py --runs "$OUT"/eval-* --table "$OUT/rates.md"
