#!/usr/bin/env bash
# From an archive of sessions to what a solved task costs: export, plan, SFT, DPO, selection, cascade.
#
#     PATH="$PWD/.venv/bin:$PATH" runs/cascade.sh        # a night on 2 cores; every stage resumes
#
# Reads   base/smollm2 (get_base.py downloads it if it is missing)
# Writes  runs/out/cascade/: scenarios, archetypes and selection (two splits), trajectories, export, plans, the adapters
#         sft and sft-dpo, pairs, inspect-dpo.txt, selected, prices.json, play-base, play-selected, comparison.json
# Needs   .venv/bin first on PATH (make env), a Docker engine with the sandbox image (make image)
#
# Three sets of scenarios, no two of which overlap: the archive's, which are trained on; the selection's, which choose
# the adapter; and held-out archetypes, on which the costs are reported. The frontier operator is the reference solution
# at a stated price; FRONTIER=endpoint asks the model that SEKFT_FRONTIER_MODEL names.
#
# The export is for a trainer elsewhere. SFT and DPO read the recorded sessions themselves, so what the export's
# reward-hack monitor drops is still trained on here; look at "reward_hack" in export/export-report.json. Held-out
# sessions are refused in both ways. The sessions that DPO pairs are not exported.
#
# USD_PER_HOUR    the example price of this machine, for the plans and the costs (default 0.1)
# OUT N SAMPLES EPISODES EPOCHS FRONTIER    another directory and other sizes, for a trial run (N at least 96):
#     OUT=/tmp/cascade N=96 SAMPLES=2 EPISODES=4 EPOCHS=1 runs/cascade.sh
#
# Not run at its default sizes. The trial sizes were run to the start of SFT, the rest with a tiny base of random weights
# and sessions of 2 steps, which gave no pair.
set -euo pipefail
cd "$(dirname "$0")/.."
export TOKENIZERS_PARALLELISM=false
OUT=${OUT:-runs/out/cascade}
USD_PER_HOUR=${USD_PER_HOUR:-0.1}
steps=(--max-steps 24 --max-new-tokens 80)

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

step python get_base.py
export HF_HUB_OFFLINE=1

# The archive: scenarios, and the sessions of an operator in them.
step python generate.py --author template --n "${N:-1200}" --seed 41 --workers 8 --out "$OUT/scenarios"
step python split.py --scenarios "$OUT/scenarios" --by archetype --k 6 --seed 41 --out "$OUT/archetypes"
step python split.py --scenarios "$OUT/archetypes/train" --by scenario --fraction 0.2 --seed 41 --out "$OUT/selection"
step python rollout.py --operator reference --scenarios "$OUT/selection/train" --workers 4 --out "$OUT/trajectories"

# Guarded, portable files of it, for a trainer elsewhere; and a check of what was written.
step python export.py --archive "$OUT/trajectories" --holdout "$OUT/archetypes/holdout" --to openai trl \
  --base base/smollm2 --out "$OUT/export"

# SFT on the archive.
sft=(--data "$OUT/trajectories" --holdout "$OUT/archetypes/holdout" --out "$OUT/sft" --lr 1e-3
  --epochs "${EPOCHS:-2}" --batch 2 --accum 1)
step python sft.py "${sft[@]}" --plan --usd-per-hour "$USD_PER_HOUR" >"$OUT/plan-sft.json"
step python sft.py "${sft[@]}"

# DPO on the adapter's own attempts. An adapter that never succeeds, or always, gives no pair: then SFT stands alone.
step python rollout.py --operator local --adapter "$OUT/sft" --scenarios "$OUT/selection/train" \
  --samples "${SAMPLES:-8}" --temperature 1 "${steps[@]}" --workers 8 --out "$OUT/pairs"
dpo=(--adapter "$OUT/sft" --data "$OUT/pairs" --holdout "$OUT/archetypes/holdout" --out "$OUT/sft-dpo")
candidates=("$OUT/sft")
inspected=0
step python dpo.py "${dpo[@]}" --inspect 2>"$OUT/inspect-dpo.txt" || inspected=$?
cat "$OUT/inspect-dpo.txt" >&2
if [ "$inspected" = 0 ]; then
  step python dpo.py "${dpo[@]}" --plan --usd-per-hour "$USD_PER_HOUR" >"$OUT/plan-dpo.json"
  step python dpo.py "${dpo[@]}"
  candidates+=("$OUT/sft-dpo")
elif ! grep -q "no pair to train on" "$OUT/inspect-dpo.txt"; then
  exit "$inspected" # an ERROR of --inspect, a held-out session say
fi

# The base competes with its adapters on scenarios that were neither trained on nor are reported on.
step python select_adapter.py --scenarios "$OUT/selection/holdout" --holdout "$OUT/archetypes/holdout" \
  --candidates "${candidates[@]}" --n "${EPISODES:-100}" "${steps[@]}" --out "$OUT/selected"

# What a solved task costs in held-out archetypes: the base first, then what was selected. Prices in USD per hour of
# this machine, and per million tokens of the frontier.
cat >"$OUT/prices.json" <<JSON
{"cheap": {"per_hour": $USD_PER_HOUR}, "frontier": {"input": 3, "cached_input": 0.3, "output": 15}}
JSON
play=(--scenarios "$OUT/archetypes/holdout" --frontier "${FRONTIER:-reference}" --prices "$OUT/prices.json"
  --n "${EPISODES:-100}" --seed 1 "${steps[@]}")
step python cascade.py play "${play[@]}" --out "$OUT/play-base"
step python cascade.py play "${play[@]}" --adapter "$OUT/selected/selected.json" --out "$OUT/play-selected"
step python cascade.py compare --before "$OUT/play-base" --after "$OUT/play-selected" | tee "$OUT/comparison.json"
