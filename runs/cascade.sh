#!/usr/bin/env bash
# From an archive of sessions to what a solved task costs: export, plan, SFT, DPO, selection, cascade.
#
#     PATH="$PWD/.venv/bin:$PATH" runs/cascade.sh        # a night on 2 cores; every stage resumes
#
# Reads   what runs/evening.sh and `runs/practice.sh dpo` write; it calls both, which takes seconds where they are done
# Writes  runs/out/cascade/: export, selected, prices.json, play-base, play-adapter (SFT), play-dpo,
#         comparison-adapter.txt, comparison-dpo.txt
# Needs   .venv/bin first on PATH (make env), a Docker engine with the sandbox image (make image)
#
# The archive is the evening's sessions and the practice's. Three sets of scenarios, no two of which overlap: those that
# an adapter learns from; the selection's, which choose the adapter (new ones that nobody practised in or reports on);
# and the evening's held-out scenarios, on which the costs are reported. The frontier operator is the reference solution
# at a stated price; FRONTIER=endpoint asks the model that SEKFT_FRONTIER_MODEL names.
#
# SFT and DPO read the recorded sessions themselves. The export is for a trainer elsewhere, so what its reward-hack
# monitor drops is still trained on here; look at "reward_hack" in export/export-report.json. Held-out sessions are
# refused in both ways. plan-sft.json and plan-dpo.json, made before each training, lie in the others' directories.
#
# A cheap operator that has not ended after 16 commands is escalated.
#
# ADAPTER         the SFT adapter (default: the evening's), as in practice.sh
# USD_PER_HOUR    the example price of this machine, for the plans and the costs (default 0.1)
# EVENING PRACTICE OUT EPISODES FRONTIER    other directories and sizes, and the sizes of both others, for a trial run:
#     export EVENING=/tmp/evening PRACTICE=/tmp/practice N=32 OTHERS=6 EPOCHS=1 NEW=48 EPISODES=4 STEPS=4
#     OUT=/tmp/cascade runs/cascade.sh
set -euo pipefail
cd "$(dirname "$0")/.."
export TOKENIZERS_PARALLELISM=false
EVENING=${EVENING:-runs/out/evening}
PRACTICE=${PRACTICE:-runs/out/practice}
OUT=${OUT:-runs/out/cascade}
USD_PER_HOUR=${USD_PER_HOUR:-0.1}
sft=${ADAPTER:-$EVENING/adapter}
limits=(--max-steps "${STEPS:-16}" --max-new-tokens 80 --workers 32)

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

OUT=$EVENING step runs/evening.sh
export HF_HUB_OFFLINE=1

ADAPTER=$sft EVENING=$EVENING OUT=$PRACTICE step runs/practice.sh dpo
candidates=("$sft")
[ ! -d "$PRACTICE/dpo" ] || candidates+=("$PRACTICE/dpo") # without a pair there is none

# Guarded, portable files of the archive, for a trainer elsewhere.
step python export.py --archive "$EVENING/trajectories" "$PRACTICE/pairs" --holdout "$PRACTICE/reported" \
  --to openai trl --base base/smollm2 --out "$OUT/export"

# The base competes with its adapters on scenarios that were neither trained on nor are reported on here.
step python select_adapter.py --scenarios "$PRACTICE/unread/holdout" --holdout "$PRACTICE/reported" \
  --candidates "${candidates[@]}" --n "${EPISODES:-96}" "${limits[@]}" --out "$OUT/selected"

# What a solved task costs in held-out scenarios, with the base and each of its adapters as the cheap operator. Prices in
# USD per hour of this machine, and per million tokens of the frontier.
cat >"$OUT/prices.json" <<JSON
{"cheap": {"per_hour": $USD_PER_HOUR}, "frontier": {"input": 3, "cached_input": 0.3, "output": 15}}
JSON
play=(--scenarios "$EVENING/scenarios-split/holdout" --frontier "${FRONTIER:-reference}" --prices "$OUT/prices.json"
  --n "${EPISODES:-100}" --seed 1 "${limits[@]}")
step python cascade.py play "${play[@]}" --out "$OUT/play-base"
for candidate in "${candidates[@]}"; do
  name=$(basename "$candidate")
  step python cascade.py play "${play[@]}" --adapter "$candidate" --out "$OUT/play-$name"
  step python cascade.py compare --before "$OUT/play-base" --after "$OUT/play-$name" 2>&1 | tee "$OUT/comparison-$name.txt"
done
