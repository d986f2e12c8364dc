"""Measure sft.py's training loop side by side with TRL's SFTTrainer and transformers' Trainer.

    python bench/train.py                          # everything, about 25 minutes on one core
    python bench/train.py --only compare           # the claims alone, five rounds: about 12 minutes
    python bench/train.py --only compare --rounds 1

Reads   nothing
Writes  the figures as JSON where --out says (default bench/train.json), a picture beside it, a table to stderr
Needs   an otherwise idle machine; matplotlib (in requirements.txt) for the picture, left out without it

Each run is a process of its own on the same random base, rows, seed and order; the trainers are taken in turn, so that
what slows the machine down slows them all. Tokens are real ones, never padding; memory is the peak above what the
process held before training; a figure is the median over the rounds. Losses and gradient norms of all trainers must
agree, else there is nothing to compare. On a CUDA device the base has Mistral-7B's shape, in fp16 and in 4-bit, and
the share of the card's peak is given: MFU counts what a LoRA pass needs (forward and the gradient of the inputs; no
gradient of frozen weights), HFU what is done, checkpointing's second forward included.
"""

import argparse
import gc
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import preflight
import stage
import training
from dataset import steps_of
from models import load_model
from schema import write_json

ROOT = Path(__file__).parent.parent
TRAINERS = ("sekft", "trl", "trainer")
NAMES = {"sekft": "sekft", "trl": "TRL SFTTrainer", "trainer": "transformers Trainer"}
SHARE = 0.15  # of the tokens of a session that are the operator's
LENGTHS, SHARES = (256, 1024, 2048), (0.05, 0.3, 1.0)
SPAN = 24  # tokens of one operator turn
AGREE = 1e-4  # relative, between losses and between gradient norms; in half precision only shown
SMALL = {"hidden_size": 576, "intermediate_size": 1536, "num_attention_heads": 9, "num_key_value_heads": 3}
SMALL |= {"vocab_size": 49152, "tie_word_embeddings": True}  # SmolLM2-135M but for its depth

Table = dict[str, Any]


def main(*, only: str | None, rounds: int, sweep_rounds: int, layers: int, out: Path, worker: str | None) -> int:
    """Run the parts that are asked for and write the figures; with `worker`, be one run of one trainer."""
    if worker:
        print(json.dumps(work(json.loads(worker))), flush=True)
        return stage.DONE
    import torch

    on_gpu = torch.cuda.is_available()
    figures: Table = {"date": time.strftime("%Y-%m-%d"), "rounds": rounds, "sweep_rounds": sweep_rounds}
    figures["device"] = torch.cuda.get_device_name() if on_gpu else f"CPU, {os.environ.get('OMP_NUM_THREADS', 1)} core"
    with tempfile.TemporaryDirectory() as directory:
        base = random_base(Path(directory) / "base", None if on_gpu else {**SMALL, "num_hidden_layers": layers})
        common = {"base": str(base), "share": SHARE, "epochs": 1, **cases(on_gpu)[0][1]}
        if only in (None, "compare"):
            for name, changes in cases(on_gpu):
                figures[name] = compare(name, {**common, **changes}, rounds)
        for what, values in (("length", LENGTHS), ("share", SHARES)):
            if only in (None, what):
                figures[f"by {what}"] = sweep(what, values, common, sweep_rounds)
    write_json(out, figures)
    picture(figures, out.with_suffix(".png"))
    stage.report(figures)
    return stage.DONE


def cases(on_gpu: bool) -> list[tuple[str, Table]]:
    """What is compared: name and specification."""
    ragged = random.Random(0)
    if not on_gpu:
        lengths = [ragged.randint(120, 400) for _ in range(8)]
        plain = {"lengths": lengths, "dtype": "fp32", "load_4bit": False, "gradient_checkpointing": False}
        return [
            ("batch 2, accumulation 2", {**plain, "batch": 2, "accum": 2}),
            ("batch 1, accumulation 4", {**plain, "batch": 1, "accum": 4}),
        ]
    lengths = [ragged.randint(1024, 4096) for _ in range(24)]
    half = {"lengths": lengths, "dtype": "fp16", "batch": 1, "accum": 4, "gradient_checkpointing": True}
    return [
        ("Mistral-7B shape, fp16 LoRA", {**half, "load_4bit": False}),
        ("Mistral-7B shape, 4-bit NF4 LoRA", {**half, "load_4bit": True}),
    ]


def random_base(directory: Path, shape: Table | None) -> Path:
    """A base of this shape (None: Mistral-7B's, made on the GPU) with random weights and the tiny base's tokenizer."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM

    torch.manual_seed(0)
    if shape is None:
        torch.set_default_dtype(torch.float16)
        with torch.device("cuda"):
            model: Any = MistralForCausalLM(MistralConfig())
        torch.set_default_dtype(torch.float32)
    else:
        model = LlamaForCausalLM(LlamaConfig(**shape))
    model.save_pretrained(directory)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(ROOT / "base" / name, directory)
    del model
    gc.collect()
    torch.cuda.empty_cache()
    return directory


# --- rounds --------------------------------------------------------------------------------------------------------


def run(trainer: str, spec: Table) -> Table:
    """One run in a process of its own; {"failed": …} where it ended badly."""
    command = [sys.executable, __file__, "--worker", json.dumps({**spec, "trainer": trainer})]
    environment = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **os.environ}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no word"])[-1][:200]}
    found: Table = json.loads(done.stdout.splitlines()[-1])
    return found


def compare(name: str, spec: Table, rounds: int) -> Table:
    """Medians of each trainer, and ours over the others'. Raises RuntimeError where they train something else."""
    runs: dict[str, list[Table]] = {trainer: [] for trainer in TRAINERS}
    for _ in range(rounds):
        for trainer in TRAINERS:
            runs[trainer].append(run(trainer, spec))
    table: Table = {}
    for trainer, found in runs.items():
        if failed := [one["failed"] for one in found if "failed" in one]:
            table[trainer] = {"failed": failed[0]}
            continue
        table[trainer] = {
            key: statistics.median(one[key] for one in found) for key in found[0] if key not in ("losses", "norms")
        }
        ours = runs["sekft"][0]
        apart = max(
            abs(a - b) / max(1.0, abs(b))
            for key in ("losses", "norms")
            for one in found
            for a, b in zip(one[key], ours.get(key, []), strict=False)
        )
        table[trainer]["largest_difference_of_loss_or_norm"] = round(apart, 7)
        if spec["dtype"] == "fp32" and apart > AGREE:
            raise RuntimeError(f"{name}: {trainer} trains something else, losses or norms differ by {apart}")
    for trainer in TRAINERS[1:]:
        if "failed" not in table[trainer] and "failed" not in table["sekft"]:
            pairs = list(zip(runs["sekft"], runs[trainer], strict=True))
            table[f"sekft over {trainer}"] = {
                "tokens_per_second": ratio(a["tokens_per_second"] / b["tokens_per_second"] for a, b in pairs),
                "cpu_seconds": ratio(a["cpu_seconds"] / b["cpu_seconds"] for a, b in pairs),
                "peak_bytes_above_weights": ratio(
                    a["peak_bytes_above_weights"] / b["peak_bytes_above_weights"] for a, b in pairs
                ),
            }
    for row, values in table.items():
        print(f"{name:26} {row:18} {values}", file=sys.stderr, flush=True)
    return table


def ratio(values: Any) -> float:
    """The median of the rounds' ratios."""
    return float(round(statistics.median(values), 3))


def sweep(what: str, values: Sequence[float], spec: Table, rounds: int) -> Table:
    """The comparison over sequence length (at the usual label share) or label share (at 512 tokens), batch 1."""
    table: Table = {}
    for value in values:
        lengths = [value] * max(1, 1024 // int(value)) if what == "length" else [512] * 2
        changes = {"lengths": lengths, "share": spec["share"] if what == "length" else value}
        table[str(value)] = compare(f"{what} {value}", {**spec, **changes, "batch": 1, "accum": 4}, rounds)
    return table


def picture(figures: Table, path: Path) -> None:
    """CPU seconds (on a GPU: seconds) and peak memory against length and label share; nothing without matplotlib."""
    parts = [part for part in ("by length", "by share") if part in figures]
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("matplotlib is not installed: no picture", file=sys.stderr)
        return
    if not parts:
        return
    figure = Figure(figsize=(9, 3.2 * len(parts)), layout="constrained")
    axes = figure.subplots(len(parts), 2, squeeze=False)
    for row, part in zip(axes, parts, strict=True):
        for axis, (key, label, scale) in zip(
            row,
            [
                (
                    "seconds_per_1000_tokens",
                    ("CPU " if "CPU" in figures["device"] else "") + "seconds per 1,000 tokens",
                    1,
                ),
                ("peak_bytes_above_weights", "peak GiB above weights", 2**30),
            ],
            strict=True,
        ):
            for trainer in TRAINERS:
                points = [(float(x), y[trainer][key] / scale) for x, y in figures[part].items() if key in y[trainer]]
                axis.plot(*zip(*points, strict=True), marker="o", label=NAMES[trainer])
            axis.set(xlabel="tokens per session" if part == "by length" else "labelled share", ylabel=label, ylim=0)
    axes[0][0].legend()
    figure.suptitle(
        f"Training, {figures['device']}; 12 x 576, vocabulary 49,152"
        if "CPU" in figures["device"]
        else f"Training, {figures['device']}, Mistral-7B shape"
    )
    figure.savefig(path, dpi=110)


# --- one run -------------------------------------------------------------------------------------------------------


def rows_of(lengths: Sequence[int], share: float, vocabulary: int, seed: int = 0) -> list[dict[str, list[int]]]:
    """Rows of random ids with operator turns spread evenly, so many that `share` of the tokens are labelled."""
    draw = random.Random(seed)
    rows = []
    for length in lengths:
        ids = [draw.randrange(vocabulary) for _ in range(length)]
        every = SPAN / share
        labels = [id_ if at % every >= every - SPAN else -100 for at, id_ in enumerate(ids)]
        rows.append({"input_ids": ids, "labels": labels})
    return rows


def work(spec: Table) -> Table:
    """Train once and say what it took."""
    import torch
    from transformers import set_seed

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    flags = {
        "lora_r": 16,
        "lora_alpha": 32,
        "lora_targets": "all-linear",
        "lr": 2e-4,
        "seed": 0,
        "overfit": None,
        **spec,
    }
    set_seed(0)
    model, tokenizer = load_model(spec["base"], dtype=spec["dtype"], load_4bit=spec["load_4bit"])
    training.unpack_4bit(model)
    shape = preflight.shape_of(spec["base"])
    rows = rows_of(spec["lengths"], spec["share"], min(shape.vocabulary, 32000))
    with tempfile.TemporaryDirectory() as directory:
        model = training.add_lora(model, flags)
        trainer = trainer_of(spec["trainer"], model, tokenizer, rows, Path(directory), flags)
        trainer.args.train_sampling_strategy = "sequential"  # the trainers draw random numbers at different times
        held = Memory(model.device.type)
        began, cpu = time.perf_counter(), time.process_time()
        trainer.train()
        if model.device.type == "cuda":
            torch.cuda.synchronize()
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        peak = held.peak_above()
    labels = [sum(label != -100 for label in row["labels"]) for row in rows]
    tokens = sum(spec["lengths"]) * spec["epochs"]
    needed, done = (
        spec["epochs"]
        * preflight.flops(
            shape, spec["lengths"], labels, shape.trainable(16, "all-linear"), checkpointing=again
        )
        for again in (False, bool(spec["gradient_checkpointing"]))
    )  # fmt: skip
    peak_flops = next((value for name, value in preflight.PEAK_FLOPS.items() if name in device_name(model)), None)
    log = [entry for entry in trainer.state.log_history if "loss" in entry]
    return {
        "tokens_per_second": round(tokens / seconds, 2),
        "seconds_per_1000_tokens": round((seconds if peak_flops else cpu) / tokens * 1000, 4),
        "cpu_seconds": round(cpu, 2),
        "peak_bytes_above_weights": peak,
        "flops_per_second": float(f"{done / seconds:.3g}"),
        **utilisation(needed / seconds, done / seconds, peak_flops),
        "losses": [entry["loss"] for entry in log],
        "norms": [entry["grad_norm"] for entry in log],
    }


def utilisation(needed: float, done: float, peak: float | None) -> Table:
    """Shares of a card's peak: of what the pass needs (MFU), and of what is done, recomputation included (HFU)."""
    return {"mfu": round(needed / peak, 4), "hfu": round(done / peak, 4)} if peak else {}


def device_name(model: Any) -> str:
    """The GPU's name, or `CPU`."""
    import torch

    return str(torch.cuda.get_device_name()) if model.device.type == "cuda" else "CPU"


def trainer_of(kind: str, model: Any, tokenizer: Any, rows: list[dict[str, list[int]]], out: Path, flags: Table) -> Any:
    """One of the three trainers, with the same arguments."""
    from transformers import DataCollatorForSeq2Seq, Trainer, TrainingArguments

    if kind == "sekft":
        progress = stage.progress(None, "train")
        trainer, _ = training.make_trainer(model, rows, out, flags, data_hash="", progress=progress, compact=True)
        trainer.args.save_strategy = "no"
        return trainer
    total = steps_of(len(rows), flags["batch"], flags["accum"], flags["epochs"])
    arguments = training.training_arguments(flags, total, out, on_cpu=model.device.type == "cpu")
    arguments |= {"save_strategy": "no", "report_to": []}
    if arguments["gradient_checkpointing"]:
        model.enable_input_require_grads()
    if kind == "trainer":
        return Trainer(
            model=model,
            args=TrainingArguments(**arguments),
            train_dataset=rows,
            data_collator=DataCollatorForSeq2Seq(tokenizer),
        )
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    return SFTTrainer(
        model=model,
        args=SFTConfig(**arguments, max_length=None),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )


class Memory:
    """Peak memory above what was held when this was made: the allocator's on CUDA, else the process's resident set."""

    def __init__(self, device: str) -> None:
        import torch

        gc.collect()
        self.cuda = device == "cuda"
        if self.cuda:
            torch.cuda.reset_peak_memory_stats()
            self.before = torch.cuda.memory_allocated()
        else:
            Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts anew
            self.before = self.resident("VmRSS")

    def peak_above(self) -> int:
        """Bytes."""
        import torch

        return int(torch.cuda.max_memory_allocated() if self.cuda else self.resident("VmHWM")) - self.before

    @staticmethod
    def resident(row: str) -> int:
        """Bytes of one row of the process's status."""
        status = Path("/proc/self/status").read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith(row))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--only", choices=["compare", "length", "share"], help="one part (default all)")
    parser.add_argument("--rounds", type=int, default=5, help="of the comparison (default %(default)s)")
    parser.add_argument(
        "--sweep-rounds",
        type=int,
        default=3,
        help="of each point in the picture, which shows a shape and claims nothing (default %(default)s)",
    )
    parser.add_argument("--layers", type=int, default=12, help="of the base on CPU (default %(default)s)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "train.json", help="(default %(default)s)")
    parser.add_argument("--worker", default=None, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    stage.run(main, parser())
