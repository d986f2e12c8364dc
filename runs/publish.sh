#!/usr/bin/env bash
# Prepare folders that `hf upload` takes as they are: the scenarios and sessions of a run, and its adapter.
#
#     PATH="$PWD/.venv/bin:$PATH" runs/publish.sh RUN OUT      # for example: runs/publish.sh demo published
#
# Reads   RUN/scenarios, RUN/trajectories, RUN/adapter, RUN/eval, as runs/demo.sh writes them
# Writes  OUT/data and OUT/adapter, each with a card (README.md)
# Needs   .venv/bin first on PATH (make env); nothing is uploaded
#
# BASE_MODEL=NAME    the base's name on the hub (default HuggingFaceTB/SmolLM2-135M-Instruct, what get_base.py makes)
set -euo pipefail
run=$1 out=$2
here=$(cd "$(dirname "$0")/.." && pwd)

python "$here/publish.py" --scenarios "$run/scenarios" --data "$run/trajectories" --out "$out/data"
python "$here/publish.py" --adapter "$run/adapter" --runs "$run/eval" --out "$out/adapter" \
  --base-model "${BASE_MODEL:-HuggingFaceTB/SmolLM2-135M-Instruct}"
cat >&2 <<TEXT
Read both cards, then:
  hf upload NAME/DATA "$out/data" --repo-type dataset
  hf upload NAME/ADAPTER "$out/adapter"
TEXT
