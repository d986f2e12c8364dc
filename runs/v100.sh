#!/usr/bin/env bash
# Mistral-7B on one V100 (32 GB): the recipe. NOT MEASURED YET: no figure in the README comes from it.
#
# A V100 (sm_70) needs PyTorch's CUDA 12.6 build of 2.13.0; the default build has no kernels for it. Install that one
# first (PIP_FLAGS="--index-url ..." make env, with the cu126 index that pytorch.org names); sft.py and eval.py refuse
# another, and bf16, in one line before a weight is read. fp16 throughout; 4-bit works (NF4), 8-bit does not.
#
# BASE      directory of mistralai/Mistral-7B-Instruct-v0.2 in HF format
# SEKFT_MODEL, SEKFT_URL, SEKFT_KEY   the teacher: Ollama or a litellm proxy, say
set -euo pipefail
cd "$(dirname "$0")/.."
: "${BASE:?directory of the base model}" "${SEKFT_MODEL:?name of the teacher}"
out=${OUT:-runs/out/v100}

cat "$BASE"/model-*.safetensors > /dev/null  # warm the page cache: the link to the card is slow enough

python generate.py --n 150 --out "$out/scenarios"
python split.py --scenarios "$out/scenarios" --by archetype --k 6 --seed 1 --out "$out/split"
SEKFT_OP_MODEL=${SEKFT_OP_MODEL:-$SEKFT_MODEL} \
  python rollout.py --scenarios "$out/split/train" --out "$out/trajectories" --samples 3

# What the loss will fall on, what is held out, and what the run will take, before any weight is read.
python sft.py --data "$out/trajectories" --base "$BASE" --inspect --show 1 --holdout "$out/split/holdout" \
  --dtype fp16 --gradient-checkpointing > "$out/inspection.json"

# Overfit first: if eight rows do not go to zero, nothing that follows means anything.
python sft.py --data "$out/trajectories" --base "$BASE" --out "$out/ckpt-overfit" --overfit 8 --dtype fp16
python sft.py --data "$out/trajectories" --base "$BASE" --out "$out/ckpt-run1" --holdout "$out/split/holdout" \
  --dtype fp16 --gradient-checkpointing --lora-r 16 --lr 2e-4 --epochs 3 --batch 1 --accum 8
python eval.py --base "$BASE" --adapter "$out/ckpt-run1" --scenarios "$out/split/holdout" --n 20 --compare-base \
  --dtype fp16
