#!/usr/bin/env bash
# Make of base/smollm2 what one evening on two cores allows: an operator for eight kinds of work.
#
#     PATH="$PWD/.venv/bin:$PATH" runs/evening.sh        # about two hours on 2 cores; every stage resumes
#
# Reads   base/smollm2 (get_base.py downloads it if it is missing)
# Writes  runs/out/evening/: trained-kinds and other-kinds, scenarios (both), archetypes and scenarios-split (two
#         splits), trajectories, plan-sft.json, adapter, eval-scenarios, eval-archetypes, rates.md, curve.svg
# Needs   .venv/bin first on PATH (make env), a Docker engine with the sandbox image (make image)
#
# Of as many sessions, few kinds of work are learned better than many: 90 scenarios of each here, of one or two
# directives. eval-scenarios plays new scenarios of the eight kinds, eval-archetypes six kinds that were not trained on,
# drawn by lot from the other 37.
#
# USD_PER_HOUR    the example price of this machine, for the plan (default 0.1)
# OUT KINDS N OTHERS EPOCHS EPISODES STEPS    another directory, other kinds (generate.py --help), other sizes; for a trial:
#     OUT=/tmp/evening N=32 OTHERS=6 EPOCHS=1 EPISODES=4 STEPS=4 runs/evening.sh
set -euo pipefail
cd "$(dirname "$0")/.."
export TOKENIZERS_PARALLELISM=false
OUT=${OUT:-runs/out/evening}
KINDS=${KINDS:-broken_archive,change_case,compare_files,filter_rows,join_tables,merge_lists,sort_unique,unreachable_host}
others=absent_program,checksum_files,drop_repeats,find_content,reshape_columns,split_file
played=(--seed 1 --max-steps "${STEPS:-24}" --max-new-tokens 80 --workers 32)

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

step python get_base.py
export HF_HUB_OFFLINE=1

# Stage A: the offline author writes scenarios; the gate tries each in a real container.
author=(--author template --difficulties "easy,medium" --workers 8)
step python generate.py "${author[@]}" --tasks "$KINDS" --n "${N:-720}" --seed 61 --out "$OUT/trained-kinds"
step python generate.py "${author[@]}" --tasks "$others" --n "${OTHERS:-60}" --seed 62 --out "$OUT/other-kinds"

# Hold out the six other kinds, and a share of the scenarios of the eight, before anything is trained.
mkdir -p "$OUT/scenarios"
cp "$OUT"/trained-kinds/*-*.json "$OUT"/other-kinds/*-*.json "$OUT/scenarios"
step python split.py --scenarios "$OUT/scenarios" --by archetype --archetypes "$others" --out "$OUT/archetypes"
step python split.py --scenarios "$OUT/archetypes/train" --by scenario --fraction 0.15 --seed 1 --out "$OUT/scenarios-split"

# Stages B to D: the reference operator acts, the checker decides, the sessions are recorded.
step python rollout.py --operator reference --scenarios "$OUT/scenarios-split/train" --workers 4 --out "$OUT/trajectories"

# Train a LoRA adapter beside the frozen base. Only one held-out set can be named here; eval.py refuses an adapter that
# was trained on a scenario of the other.
sft=(--data "$OUT/trajectories" --holdout "$OUT/archetypes/holdout" --out "$OUT/adapter" --epochs "${EPOCHS:-2}"
  --batch 2 --accum 1)
step python sft.py "${sft[@]}" --plan --usd-per-hour "${USD_PER_HOUR:-0.1}" >"$OUT/plan-sft.json"
step python sft.py "${sft[@]}"

# Play both held-out sets, without a scaffold. The bare base, which never ends a session, plays eight scenarios.
step python eval.py --adapter "$OUT/adapter" --scenarios "$OUT/scenarios-split/holdout" --compare-base --base-n 8 \
  --n "${EPISODES:-100}" "${played[@]}" --out "$OUT/eval-scenarios"
step python eval.py --adapter "$OUT/adapter" --scenarios "$OUT/archetypes/holdout" \
  --n "$((${EPISODES:-100} * 3 / 5))" "${played[@]}" --out "$OUT/eval-archetypes"

step python report.py --runs "$OUT/eval-scenarios" "$OUT/eval-archetypes" --table "$OUT/rates.md" \
  --picture "$OUT/curve.svg"
