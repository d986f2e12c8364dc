#!/usr/bin/env bash
# The main job on embedded defaults, stage by stage: no GPU, no key, no model hub. Every command can be copied alone
# (with .venv/bin first on PATH); every stage resumes, so a second run takes seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

# Stage A: worlds from the offline author, each admitted by the gate in a real container.
step python generate.py --author template --n 150 --seed 1 --workers 8 --out demo/scenarios

# Six archetypes are drawn by seed and held out before anything is trained.
step python split.py --scenarios demo/scenarios --by archetype --k 6 --seed 1 --out demo/split

# Stages B to D: the reference operator acts, code verifies, sessions are recorded.
step python rollout.py --operator reference --scenarios demo/split/train --samples 2 --workers 4 --out demo/trajectories

# What will be trained on: the mask and its ratio, no weights needed.
step python sft.py --data demo/trajectories --base base --holdout demo/split/holdout --out demo/adapter --inspect

# Train a LoRA adapter beside the frozen base.
step python sft.py --data demo/trajectories --base base --holdout demo/split/holdout --out demo/adapter \
  --lora-targets all-linear --lora-r 16 --lora-alpha 32 --lr 1e-3 --epochs 4 --batch 1 --accum 1

# Base and adapter, on the same held-out scenarios, with no scaffold.
step python eval.py --base base --adapter demo/adapter --scenarios demo/split/holdout --compare-base \
  --n 16 --seed 1 --max-steps 20 --max-new-tokens 80 --out demo/eval
