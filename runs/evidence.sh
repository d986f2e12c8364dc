#!/usr/bin/env bash
# Copy what the tables of an eval are made from into a small directory that can be committed.
#
#     runs/evidence.sh RUN ADAPTER OUT
#
# Reads   RUN/report.json, manifest.json and, where there is one, overlap.json; RUN's episodes; ADAPTER
# Writes  OUT/report.json, manifest.json, overlap.json; OUT/sha256: the hash of each episode and of the adapter's files
# Needs   sha256sum
#
# report.py --table reads OUT as it reads RUN. From the directory that this ran in, `sha256sum -c OUT/sha256` says
# whether episodes and adapter are still those that the report counted.
set -euo pipefail
run=$1 adapter=$2 out=$3

mkdir -p "$out"
cp "$run/report.json" "$run/manifest.json" "$out"
[ ! -e "$run/overlap.json" ] || cp "$run/overlap.json" "$out"
sha256sum "$run"/*/*.json "$adapter"/{adapter_model.safetensors,render.json,sekft.json} > "$out/sha256"
