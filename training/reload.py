"""Reload a saved adapter in a fresh process and compare its logits with those at the end of its training.

    python -m training.reload --adapter ckpt-run1        # sft.py does this after every run

Reads   the base, <adapter>/adapter_model.safetensors, probe.safetensors, sekft.json
Writes  nothing
Needs   torch, transformers, peft; bitsandbytes for an adapter that was trained in 4-bit

Loads base and adapter with the dtype of the training. Checks that the file has the adapter's keys and values, that no
lora_B is still zero, and that the logits are close to the recorded ones; exits 2 where one of these fails. Run it after
an adapter was copied to another machine, or after a library was updated.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline import stage
from model.loading import adapter_argument, load_model
from pipeline.files import read_identity
from schema import BadInputError

PROBE = "probe.safetensors"
PROBE_TOKENS, PROBE_POSITIONS = 512, 4
# Share of the largest logit. On one machine the difference is 0; other machines round half precision differently.
TOLERANCE = {"float32": 1e-4, "float16": 2e-3, "bfloat16": 2e-2}
SAME_MACHINE = 1e-4  # for every dtype; another preparation of the base changes logits by more


def main(*, base: str, adapter: Path | None, tolerance: float | None = None) -> int:
    """Load the adapter, compare, print the result."""
    if adapter is None:
        raise BadInputError("--adapter: none is selected, so there is nothing to load; name a directory")
    if not (adapter / PROBE).exists():
        raise BadInputError(f"{adapter}: no {PROBE}; name a directory that sft.py finished")
    flags = read_identity(adapter).flags
    model, _ = load_model(base, adapter, dtype=flags["dtype"], load_4bit=flags["load_4bit"])
    faults = key_faults(model, adapter) + dead_layers(model)
    difference, allowed = compare_logits(model, adapter, tolerance)
    if not difference <= allowed:  # NaN too
        faults.append(f"logits differ by {difference:.3g} from those at the end of training, {allowed:.2g} is allowed")
    if faults:
        raise BadInputError(
            f"{adapter}: {'; '.join(faults)}; load it with the base, torch, transformers and peft it was trained with"
        )
    stage.print_summary({"adapter": str(adapter), "base": base, "logits_differ_by": difference})
    return stage.DONE


def in_fresh_process(base: str, adapter: Path) -> float:
    """Run this file on `adapter`; returns the difference of the logits. Raises RuntimeError with its error line."""
    flags = ["--base", base, "--adapter", str(adapter), "--tolerance", str(SAME_MACHINE)]
    path = os.pathsep.join(filter(None, [str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-m", "training.reload", *flags],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != stage.DONE:
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise RuntimeError(f"{adapter}: the saved adapter is not the trained one, reload said: {said}")
    return float(json.loads(done.stdout)["logits_differ_by"])


def write_probe(model: Any, rows: Sequence[Sequence[int]], out: Path) -> None:
    """Write ids and logits of the trained model for the start of two rows, to compare with in another process."""
    from safetensors.torch import save_file

    tensors: dict[str, Any] = {}
    for index, row in enumerate(rows[:2]):
        tensors[f"token_ids_{index}"], tensors[f"logits_{index}"] = _logits(model, row[:PROBE_TOKENS])
    save_file(tensors, out / PROBE)


def _logits(model: Any, ids: Sequence[int]) -> tuple[Any, Any]:
    """(token ids, fp32 logits at evenly spaced positions, the last one among them)."""
    import torch

    row = torch.tensor(ids)
    positions = torch.linspace(0, len(ids) - 1, PROBE_POSITIONS).long()
    training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(row[None].to(model.device), use_cache=False).logits[0, positions.to(model.device)]
    model.train(training)
    return row, logits.float().cpu().contiguous()


def compare_logits(model: Any, adapter: Path, tolerance: float | None = None) -> tuple[float, float]:
    """The largest difference between the recorded and the present logits, and the largest allowed one."""
    from safetensors.torch import load_file

    probe = load_file(adapter / PROBE)
    differences, largest = [], 1.0
    for name, ids in probe.items():
        if name.startswith("token_ids"):
            recorded = probe[name.replace("token_ids", "logits")]
            _, present = _logits(model, ids.tolist())
            differences.append(float((present - recorded).abs().max()))
            largest = max(largest, float(recorded.abs().max()))
    if tolerance is None:
        tolerance = TOLERANCE[str(model.dtype).removeprefix("torch.")]
    return max(differences), tolerance * largest


def key_faults(model: Any, adapter: Path) -> list[str]:
    """Up to three faults: keys that the file lacks, keys that the adapter in the model lacks, values that differ."""
    from peft import get_peft_model_state_dict
    from safetensors.torch import load_file

    saved, loaded = load_file(adapter / "adapter_model.safetensors"), get_peft_model_state_dict(model)
    faults = [f"key {name} is missing" for name in sorted(set(loaded) - set(saved))]
    faults += [f"key {name} is unexpected" for name in sorted(set(saved) - set(loaded))]
    common = sorted(set(saved) & set(loaded))
    faults += [f"{name} is not what was saved" for name in common if not saved[name].equal(loaded[name].cpu())]
    return faults[:3]


def dead_layers(model: Any) -> list[str]:
    """A fault where adapted layers have a lora_B that is still zero: they got no gradient."""
    zero = [name for name, weight in model.named_parameters() if "lora_B" in name and not weight.any()]
    return [f"{len(zero)} lora_B are zero, {zero[0]} first"] if zero else []


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--base", required=True, help="the base that the adapter was trained on")
    parser.add_argument(
        "--adapter", type=adapter_argument, required=True, help="adapter directory of sft.py, or selected.json"
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        default=None,
        help="share of the largest logit (default 1e-4 in fp32, 2e-3 in fp16, 2e-2 in bf16)",
    )
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
