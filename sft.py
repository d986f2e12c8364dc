"""Train a LoRA adapter on kept trajectories beside a frozen base, with the loss on the operator's turns alone.

    python sft.py --data trajectories --out ckpt-run1 --holdout split/holdout
    python sft.py --data trajectories --inspect --show 2     # checks mask and data, reads no weights
    python sft.py --data trajectories --plan                 # steps, hours, memory, dollars; reads no weights
    python sft.py --data trajectories --out ckpt-overfit --overfit 8

Reads   <data>/*.json (schema.Trajectory), the base, <holdout>/*.json and <scenarios>/*.json (schema.Scenario)
Writes  <out>/adapter_model.safetensors, adapter_config.json, render.json, sekft.json, log_history.jsonl, manifest.json,
        probe.safetensors, <out>/runs (TensorBoard), <out>/checkpoints
Needs   torch, transformers, peft; a CUDA device, except for a small base

The same command continues a killed run from its last checkpoint, and returns at once for a finished run. With a larger
--epochs it continues a finished run on the longer schedule. Sessions over --max-length-tokens are left out and named,
never cut. --inspect exits 2 where it prints an ERROR, --overfit where the loss of its rows does not reach about zero.
Settings that cannot work on the GPU are refused before any weight is read, and so is a base too large for the machine,
where --plan exits 2 (--allow-slow overrides that on a CPU). At the end a fresh process loads the adapter and must get
the same logits (training/reload.py). One process trains on the first visible CUDA device. On a CPU --dtype auto means
bf16 where it multiplies faster than fp32 (AMX, AVX512-BF16), and the rows of an optimizer step (--batch times --accum)
are worked on side by side.
"""

import argparse

from pipeline import stage
from training.run import fit
from training.settings import FitSettings, add_training_flags


def main(settings: FitSettings) -> int:
    """Train or inspect; returns the exit code."""
    return fit(settings)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    return add_training_flags(stage.command_line(__doc__))


if __name__ == "__main__":
    stage.run_script(main, parser())
