"""Merge an adapter into its base and write an ordinary model directory, checked after conversion.

    python merge.py --adapter ckpt-run1 --out merged

Reads   the base, the adapter directory; with --scenarios its *.json (schema.Scenario)
Writes  <out>: config, weights (safetensors), tokenizer, chat template, README.md, licence files and the base's card,
        render.json, sekft.json (base, adapter and every session behind it), manifest.json
Needs   torch, transformers, peft; memory for the base in fp32, twice

peft's own merge_and_unload does the merging, in fp32. The directory is then loaded again, and its logits are compared
with those of base and adapter in fp32, where the operator's tokens are picked in 16 sessions that the adapter has not
read. The allowed difference is a share of the largest logit: 1e-4 for fp32, 1e-2 for fp16, 8e-2 for bf16. Where one is
larger, or the mean difference is more than a quarter of the bare base's, the exit code is 1 and no model is left in
--out. The base is never written. An adapter that was trained with --load-4bit is merged into the full weights. A run
that is interrupted keeps nothing: a rerun begins anew.
"""

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline import stage
from model.loading import load_model, pick_dtype
from model.render import Renderer
from schema import Message
from serving.conversion import ConversionRequest, add_conversion_flags, run_conversion
from serving.held_out import LogitDifference, bare_mean, compare_probes, probes, torch_logits


def main(*, base: str, adapter: Path, scenarios: Path | None, out: Path, dtype: str, redo: bool) -> int:
    """Merge, reload, compare; the merged model comes to --out only if it passes."""

    def make(work: Path, sessions: Sequence[Sequence[Message]]) -> LogitDifference:
        model, tokenizer = load_model(base, adapter, dtype="fp32", device="cpu")
        expected = probes(Renderer.for_adapter(adapter, tokenizer), sessions, torch_logits(model))
        bare = bare_mean(expected, model)
        write_merged(model, tokenizer, work, dtype)
        del model
        merged, _ = load_model(work, dtype=dtype, device="cpu")
        return dataclasses.replace(compare_probes(expected, torch_logits(merged)), bare_mean=bare)

    request = ConversionRequest("merge", base, adapter, scenarios, out, dtype, redo)
    return run_conversion(request, make, what="merged into its base")


def write_merged(model: Any, tokenizer: Any, out: Path, dtype: str) -> None:
    """Merge a peft model's adapter into its base and save it as an ordinary model directory."""
    merged = model.merge_and_unload()
    merged.to(pick_dtype(dtype, "cpu")).save_pretrained(out)
    tokenizer.save_pretrained(out)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    return add_conversion_flags(stage.command_line(__doc__))


if __name__ == "__main__":
    stage.run_script(main, parser())
