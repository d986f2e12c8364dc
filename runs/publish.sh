#!/usr/bin/env bash
# Prepare folders that `hf upload` takes as they are: the scenarios and sessions of a run, and its adapter.
#
#     PATH="$PWD/.venv/bin:$PATH" runs/publish.sh RUN OUT      # for example: runs/publish.sh demo published
#
# Reads   RUN/trajectories, RUN/adapter; scenarios, split/holdout and eval, as runs/demo.sh writes them; or trained-kinds,
#         other-kinds, archetypes/holdout and eval-archetypes, scenarios-split/holdout and eval-scenarios, as
#         runs/evening.sh does
# Writes  OUT/data and OUT/adapter, each with a card (README.md); OUT/overlap-*.json, the counts of contamination.py
# Needs   .venv/bin first on PATH (make env); nothing is uploaded
#
# BASE_MODEL=NAME    the base's name on the hub; default: HuggingFaceTB/SmolLM2-135M-Instruct if the adapter's base is
#                    base/smollm2, which get_base.py makes, else none
# LICENCE=NAME       of data and adapter (default apache-2.0); needed where a teacher wrote the scenarios
set -euo pipefail
if [ $# -ne 2 ] || [ ! -f "$1/adapter/sekft.json" ]; then
  echo "publish.sh: name a finished run and a directory to write, for example: make demo && runs/publish.sh demo published" >&2
  exit 2
fi
run=$1 out=$2
here=$(cd "$(dirname "$0")/.." && pwd)

data=() adapter=()
if [ -n "${LICENCE:-}" ]; then data+=(--licence "$LICENCE") adapter+=(--licence "$LICENCE"); fi
base=$(python -c 'import json, sys; print(json.load(open(sys.argv[1]))["base"])' "$run/adapter/sekft.json")
case $base in base/smollm2 | */base/smollm2) base_model=${BASE_MODEL:-HuggingFaceTB/SmolLM2-135M-Instruct} ;;
*) base_model=${BASE_MODEL:-} ;; esac
if [ -n "$base_model" ]; then adapter+=(--base-model "$base_model"); fi
for pair in split:eval archetypes:eval-archetypes scenarios-split:eval-scenarios; do
  holdout=$run/${pair%:*}/holdout eval=${pair#*:}
  if [ -d "$holdout" ]; then
    python "$here/contamination.py" --holdout "$holdout" --data "$run/trajectories" --out "$out/overlap-$eval.json"
    data+=(--holdout "$holdout" --overlap "$out/overlap-$eval.json")
    adapter+=(--overlap "$out/overlap-$eval.json")
  fi
done
evals=()
for eval in eval eval-archetypes eval-scenarios; do
  if [ -d "$run/$eval" ]; then evals+=("$run/$eval"); fi
done
if [ ${#evals[@]} -gt 0 ]; then adapter+=(--runs "${evals[@]}"); fi

scenarios=(--scenarios "$run/scenarios")
if [ -d "$run/trained-kinds" ]; then # these two have the gate's yields
  scenarios=(--scenarios "$run/trained-kinds" --scenarios "$run/other-kinds")
fi
python "$here/publish.py" "${scenarios[@]}" --data "$run/trajectories" --out "$out/data" "${data[@]}"
python "$here/publish.py" --adapter "$run/adapter" --out "$out/adapter" "${adapter[@]}"
cat >&2 <<TEXT
Read both cards, then:
  hf upload NAME/DATA "$out/data" --repo-type dataset
  hf upload NAME/ADAPTER "$out/adapter"
TEXT
