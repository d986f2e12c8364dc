#!/usr/bin/env bash
# Train and evaluate Mistral-7B on one V100 (32 GB). NOT RUN YET: no figure of this project comes from it.
#
#     BASE=DIRECTORY SEKFT_MODEL=qwen2.5:32b SEKFT_URL=http://localhost:11434/v1 runs/v100.sh
#
# Reads   $BASE: mistralai/Mistral-7B-Instruct-v0.2 as a Hugging Face directory
# Writes  $OUT (default runs/out/v100): scenarios, split, trajectories, inspection.json, two adapters; eval/ckpt-run1
# Needs   .venv/bin first on PATH, a Docker engine with the sandbox image, a V100, a teacher: SEKFT_MODEL, SEKFT_URL and
#         SEKFT_KEY name an OpenAI-compatible endpoint (Ollama or a litellm proxy)
#
# A V100 (sm_70) needs PyTorch 2.13.0 built for CUDA 12.6; the default build has no kernels for it. Install it with
# PIP_FLAGS="--index-url ..." make env, with the cu126 index that pytorch.org names. sft.py and eval.py refuse another
# build, and bf16, in one line before they read a weight. Everything runs in fp16. 4-bit (NF4) works, 8-bit does not.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${BASE:?directory of the base model}" "${SEKFT_MODEL:?name of the teacher}"
out=${OUT:-runs/out/v100}

cat "$BASE"/model-*.safetensors > /dev/null # warm the page cache: reading the disk again would slow the load

python generate.py --n 150 --out "$out/scenarios"
python split.py --scenarios "$out/scenarios" --by archetype --k 6 --seed 1 --out "$out/split"
SEKFT_OP_MODEL=${SEKFT_OP_MODEL:-$SEKFT_MODEL} \
  python rollout.py --scenarios "$out/split/train" --out "$out/trajectories" --samples 3

# The attention projections: 13,631,488 parameters on Mistral-7B at rank 16, a file of 54 MB. The default of sft.py,
# all-linear, would train 41,943,040.
targets=q_proj,k_proj,v_proj,o_proj

# Check mask, data and hardware, and estimate hours and memory. No weight is read.
python sft.py --data "$out/trajectories" --base "$BASE" --inspect --show 1 --holdout "$out/split/holdout" \
  --lora-targets "$targets" --dtype fp16 --gradient-checkpointing > "$out/inspection.json"

# Overfit eight rows. If their loss does not go to zero, mask, rate or data are broken, and this script ends here.
python sft.py --data "$out/trajectories" --base "$BASE" --out "$out/ckpt-overfit" --overfit 8 --lora-targets "$targets" \
  --dtype fp16
python sft.py --data "$out/trajectories" --base "$BASE" --out "$out/ckpt-run1" --holdout "$out/split/holdout" \
  --lora-targets "$targets" --dtype fp16 --gradient-checkpointing --lora-r 16 --lr 2e-4 --epochs 3 --batch 1 --accum 8
python eval.py --base "$BASE" --adapter "$out/ckpt-run1" --scenarios "$out/split/holdout" --n 20 --compare-base \
  --dtype fp16
