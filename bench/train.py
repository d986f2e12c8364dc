"""Measure sft.py's training loop side by side with TRL's SFTTrainer and transformers' Trainer.

    python -m bench.train                          # on CPU everything, five rounds: half an hour on one core
    python -m bench.train --only compare           # the claims alone: about 12 minutes
    python -m bench.train --only fp16              # on a GPU, part by part into one file; then --only 4bit
    python -m bench.train --only length share      # then the picture
    python -m bench.train --shape smollm2 --data demo/trajectories --out bench/train_smollm2.json

Reads   the figures of earlier commands, where --out has some; with --shape smollm2 base/smollm2 and --data
Writes  the figures as JSON to --out (default bench/train.json) after every part, a picture beside it, a table to
        stderr
Needs   an otherwise idle machine; matplotlib (in requirements.txt) for the picture, which is left out without it

All trainers have the same base, rows, seed and order. Base and rows are random, except with --shape smollm2: that
trains base/smollm2 on sessions of --data, two rows a step, on all cores. The trainers run in turn, so that a slow phase
of the machine affects all of them. Tokens exclude padding. Memory is the peak above the memory before training, which
includes the weights. Each figure is the median over the rounds. In fp32 losses and gradient norms of all trainers must
agree, else nothing is compared; in other dtypes their difference is shown. Where a run fails, its reason is recorded,
the rest is measured, and the exit code is 1.

On CPU each run is a process of its own. On a CUDA device the base has Mistral-7B's shape, in fp16 and in 4-bit; there
one process does all runs of a part on a base that it loads once, after one run that is not counted. So the whole bench
makes the base once and loads it four times (--keep-base: made once for several commands). Shares of the GPU's peak are
given: MFU counts the operations that a LoRA pass needs (forward and the gradient of the inputs; no gradient of frozen
weights), HFU also counts checkpointing's second forward pass. On a GPU the picture is measured in fp16.
"""

import argparse
import gc
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, redirect_stdout, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pipeline import stage
from bench.figures import add, device_name, failures, open_figures, resident, utilisation
from model import hardware, loading
from model.loading import HeldBase
from model.render import Renderer
from pipeline.files import read_trajectories
from schema import BadInputError
from training import loop
from training.dataset import build, steps_of
from training.settings import TrainingSettings

ROOT = Path(__file__).parent.parent
BASE = ROOT / "base" / "smollm2"  # get_base.py; its tokenizer
TRAINERS = ("sekft", "trl", "trainer")
NAMES = {"sekft": "sekft", "trl": "TRL SFTTrainer", "trainer": "transformers Trainer"}
SHARE = 0.15  # share of a session's tokens that the operator wrote
SHARES = (0.05, 0.3, 1.0)
SPAN = 24  # tokens of one operator turn
AGREE = 1e-4  # relative difference of losses and gradient norms; in half precision it is only shown
SMALL = {"hidden_size": 576, "intermediate_size": 1536, "num_attention_heads": 9, "num_key_value_heads": 3}
SMALL |= {"vocab_size": 49152, "tie_word_embeddings": True}  # SmolLM2-135M but for its depth
MISTRAL = {"max_position_embeddings": 32768, "sliding_window": None}  # 7B Instruct v0.2; the rest are the defaults
# For the picture, by base: lengths, least tokens of a run over lengths, and the sessions of a run over shares.
SWEEPS: dict[str, tuple[Sequence[int], int, Sequence[int]]] = {
    "small": ((256, 768, 1536), 768, [512]),
    "7b": ((512, 2048, 4096), 8192, [2048] * 4),
}
TRAINED_WITH = ("epochs", "batch", "accum", "dtype", "load_4bit", "gradient_checkpointing")  # of a specification
COMPARED = ("tokens_per_second", "cpu_seconds", "peak_bytes_above_weights")
PARTS = ("compare", "batch2", "batch1", "fp16", "4bit", "bf16", "fp32", "length", "share")
SESSIONS = 12  # that --shape smollm2 trains on

REAL = "smollm2"  # the shape that is base/smollm2 itself

Table = dict[str, Any]


def main(
    *,
    only: list[str] | None,
    shape: str | None,
    rounds: int,
    sweep_rounds: int,
    layers: int,
    one_process: bool | None,
    keep_base: Path | None,
    data: Path | None,
    out: Path,
    worker: bool,
) -> int:
    """Run the chosen parts and write the figures; as `worker`, do the runs given on stdin."""
    if worker:
        for found in serve(json.load(sys.stdin)):
            print(json.dumps(found), flush=True)
        return stage.DONE
    device = device_name()
    shape = shape or ("small" if device == "CPU" else "7b")
    one_process = shape == "7b" if one_process is None else one_process
    wanted = measurements_of(shape, only or (["compare"] if shape == REAL else ["compare", "length", "share"]))
    if shape == REAL:
        loading.check_model(BASE)
        rows = {"rows": session_rows(data), "threads": os.cpu_count()}
        wanted = {name: {label: {**spec, **rows} for label, spec in specs.items()} for name, specs in wanted.items()}
    about = {
        "device": f"CPU, {os.environ.get('OMP_NUM_THREADS', 1)} core" if device == "CPU" else device,
        "base": f"{layers} x {SMALL['hidden_size']}, vocabulary {SMALL['vocab_size']:,}",
        "torch": version("torch"),
    }
    if shape == "7b":
        about["base"] = "Mistral-7B's shape"
    if shape == REAL:
        about |= {"device": f"{device}, {os.cpu_count()} cores", "base": "SmolLM2-135M-Instruct"}
    figures = open_figures(out, about)
    failed = []
    with tempfile.TemporaryDirectory() as directory:
        base = BASE if shape == REAL else random_base(
            keep_base or Path(directory) / "base", None if shape == "7b" else {**SMALL, "num_hidden_layers": layers}
        )  # fmt: skip
        for name, specs in wanted.items():
            count = sweep_rounds if name.startswith("by ") else rounds
            table = measure({label: {**spec, "base": str(base)} for label, spec in specs.items()}, count, one_process)
            add(out, figures, name, table if name.startswith("by ") else table[name], count)
            failed += failures(table)
            picture(figures, out.with_suffix(".png"))
    stage.print_summary(figures)
    return stage.WORLD_FAILED if failed else stage.DONE


def cases(shape: str) -> dict[str, tuple[str, Table]]:
    """The cases on a base of this shape, by their name for --only: title and specification."""
    ragged = random.Random(0)
    if shape == "small":
        lengths = [ragged.randint(120, 400) for _ in range(8)]
        plain = {"lengths": lengths, "dtype": "fp32", "load_4bit": False, "gradient_checkpointing": False}
        return {
            "batch2": ("batch 2, accumulation 2", {**plain, "batch": 2, "accum": 2}),
            "batch1": ("batch 1, accumulation 4", {**plain, "batch": 1, "accum": 4}),
        }
    if shape == REAL:
        real = {"load_4bit": False, "gradient_checkpointing": False, "batch": 2, "accum": 1}
        return {name: (f"sessions of the demo, {name}", {**real, "dtype": name}) for name in ("bf16", "fp32")}
    lengths = [ragged.randint(1024, 4096) for _ in range(24)]
    half = {"lengths": lengths, "dtype": "fp16", "batch": 1, "accum": 4, "gradient_checkpointing": True}
    return {
        "fp16": ("Mistral-7B shape, fp16 LoRA", {**half, "load_4bit": False}),
        "4bit": ("Mistral-7B shape, 4-bit NF4 LoRA", {**half, "load_4bit": True}),
    }


def measurements_of(shape: str, only: Sequence[str]) -> dict[str, dict[str, Table]]:
    """The chosen parts: title, and the specification of each measurement by its label.

    Raises BadInputError for a case of another shape.
    """
    known = cases(shape)
    sweeps = {"length", "share"} if shape in SWEEPS else set()
    if other := sorted(set(only) - {*known, "compare", *sweeps}):
        raise BadInputError(f"--only {' '.join(other)}: the cases of --shape {shape} are {' and '.join(known)}")
    common = {"share": SHARE, "epochs": 1}
    wanted = {
        title: {title: {**common, **spec}} for key, (title, spec) in known.items() if {key, "compare"} & set(only)
    }
    if shape not in SWEEPS:
        return wanted
    lengths, least, sessions = SWEEPS[shape]
    point = {**common, **next(iter(known.values()))[1], "batch": 1, "accum": 4}
    if "length" in only:
        wanted["by length"] = {
            str(length): {**point, "lengths": [length] * max(1, least // length)} for length in lengths
        }
    if "share" in only:
        wanted["by share"] = {str(share): {**point, "share": share, "lengths": sessions} for share in SHARES}
    return wanted


def session_rows(data: Path | None) -> list[dict[str, list[int]]]:
    """The first sessions of a directory as rows of ids and labels. Raises BadInputError where there are none."""
    from transformers import AutoTokenizer

    if data is None:
        raise BadInputError(f"--data: missing; --shape {REAL} trains on sessions, for example demo/trajectories")
    renderer = Renderer.for_base(AutoTokenizer.from_pretrained(BASE), "chat")
    rows = [example.row() for example in build(read_trajectories(data), renderer, max_length_tokens=4096).examples]
    if len(rows) < SESSIONS:
        raise BadInputError(f"--data: {data}: holds {len(rows)} kept sessions, {SESSIONS} are needed; roll out more")
    return rows[:: len(rows) // SESSIONS][:SESSIONS]


def random_base(directory: Path, shape: Table | None) -> Path:
    """Write a base of this shape (None: Mistral-7B's, in fp16) with random weights and base/smollm2's tokenizer.

    A base in `directory` is used as it is. Raises BadInputError where it has another shape.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM

    config = MistralConfig(**MISTRAL) if shape is None else LlamaConfig(**shape)
    if directory.exists() and any(directory.iterdir()):
        loading.check_model(directory)
        there = type(config).from_pretrained(directory)
        for name in (*SMALL, "num_hidden_layers"):
            if getattr(there, name) != getattr(config, name):
                raise BadInputError(f"{directory}: a base of another shape ({name}); name another --keep-base")
        return directory
    torch.manual_seed(0)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float16 if shape is None else torch.float32)
    try:
        with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
            model: Any = MistralForCausalLM(config) if shape is None else LlamaForCausalLM(config)
    finally:
        torch.set_default_dtype(before)
    half = directory.with_name(f"{directory.name}.part")  # renamed once it is complete
    shutil.rmtree(half, ignore_errors=True)
    model.save_pretrained(half)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(BASE / name, half)
    half.rename(directory)
    del model
    gc.collect()
    torch.cuda.empty_cache()
    return directory


# --- rounds --------------------------------------------------------------------------------------------------------


def measure(specs: dict[str, Table], rounds: int, one_process: bool) -> dict[str, Table]:
    """A table for each specification, by label; the trainers run in turn."""
    tables: dict[str, Table] = {}
    order = [trainer for _ in range(rounds) for trainer in TRAINERS]
    jobs = {label: [{**spec, "trainer": trainer} for trainer in order] for label, spec in specs.items()}
    results = iter(run_jobs([job for some in jobs.values() for job in some])) if one_process else None
    for label, spec in specs.items():
        runs: dict[str, list[Table]] = {trainer: [] for trainer in TRAINERS}
        for job in jobs[label]:
            runs[job["trainer"]].append(next(results) if results else run_jobs([job])[0])
        tables[label] = compare_trainers(runs, exact=spec["dtype"] == "fp32")
        for row, values in tables[label].items():
            print(f"{label:26} {row:18} {values}", file=sys.stderr, flush=True)
    return tables


def run_jobs(jobs: Sequence[Table]) -> list[Table]:
    """Run all jobs in one new process; returns their results, {"failed": …} for a job without one."""
    command = [sys.executable, "-m", "bench.train", "--worker"]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **os.environ, "PYTHONPATH": path}
    if "threads" in jobs[0]:
        environment["OMP_NUM_THREADS"] = str(jobs[0]["threads"])
    found: list[Table] = []
    with tempfile.TemporaryFile("w+") as words:
        child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=words, text=True, env=environment
        )
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            with suppress(BrokenPipeError):  # of a child that has failed: its stderr says why
                child.stdin.write(json.dumps(jobs))
                child.stdin.close()
            for line in child.stdout:
                found.append(json.loads(line))
                who, told = jobs[len(found) - 1]["trainer"], found[-1].get("tokens_per_second", "no")
                print(f"{len(found)}/{len(jobs)} {who} {told} tokens/s", file=sys.stderr, flush=True)
        finally:
            child.kill()
            child.wait()
        words.seek(0)
        reason = (words.read().strip().splitlines() or ["no message"])[-1][:200]
    return found + [{"failed": reason}] * (len(jobs) - len(found))


def compare_trainers(runs: dict[str, list[Table]], *, exact: bool) -> Table:
    """Medians of each trainer, and ratios of ours to the others; {"failed": …} for a trainer that failed.

    With `exact`, no ratios are given where losses or gradient norms differ.
    """
    table: Table = {}
    sound = {trainer: found for trainer, found in runs.items() if not any("failed" in one for one in found)}
    first = next((found[0] for found in sound.values()), {})
    for trainer, found in runs.items():
        if trainer not in sound:
            table[trainer] = {"failed": next(one["failed"] for one in found if "failed" in one)}
            continue
        table[trainer] = {
            key: statistics.median(one[key] for one in found) for key in found[0] if key not in ("losses", "norms")
        }
        distance = max((apart(one, first) for one in found), default=0.0)
        table[trainer]["largest_difference_of_loss_or_norm"] = None if math.isinf(distance) else round(distance, 7)
        if exact and distance > AGREE:
            table["failed"] = f"{trainer} trains something else: losses or norms differ by {distance}"
    if "failed" in table or "sekft" not in sound:
        return table
    for trainer in TRAINERS[1:]:
        if trainer in sound:
            pairs = list(zip(runs["sekft"], runs[trainer], strict=True))
            table[f"sekft over {trainer}"] = {
                key: round(statistics.median(ours[key] / other[key] for ours, other in pairs), 3)
                for key in COMPARED
                if all(other[key] for _, other in pairs)
            }
    return table


def apart(one: Table, other: Table) -> float:
    """The largest relative difference of losses and gradient norms; infinite where number or finiteness differ."""
    distance = 0.0
    for key in ("losses", "norms"):
        if len(one[key]) != len(other[key]):
            return math.inf
        for a, b in zip(one[key], other[key], strict=True):
            if math.isfinite(a) and math.isfinite(b):
                distance = max(distance, abs(a - b) / max(1.0, abs(b)))
            elif math.isfinite(a) or math.isfinite(b):  # both overflow where a gradient scaler starts too high
                return math.inf
    return distance


def picture(figures: Table, path: Path) -> None:
    """Draw the measured sweeps into a file; does nothing without matplotlib."""
    if not {"by length", "by share"} & set(figures):
        return
    try:
        drawn(figures).savefig(path, dpi=110)
    except ImportError:
        print("matplotlib is not installed: no picture", file=sys.stderr)


def drawn(figures: Table) -> Any:
    """A matplotlib figure: CPU seconds (on a GPU: seconds) and peak memory by length and trained share."""
    from matplotlib.figure import Figure

    on_cpu = figures["device"].startswith("CPU")
    time_key, time_label = ("cpu_seconds_per_1000_tokens", "CPU seconds") if on_cpu else (
        "seconds_per_1000_tokens", "seconds"
    )  # fmt: skip
    kinds = [
        (time_key, f"{time_label} per 1,000 tokens", 1),
        ("peak_bytes_above_weights", "peak GiB above weights", 2**30),
    ]
    sweeps = [part for part in ("by length", "by share") if part in figures]
    figure = Figure(figsize=(9, 3.2 * len(sweeps)), layout="constrained")
    axes = figure.subplots(len(sweeps), 2, squeeze=False)
    for row, part in zip(axes, sweeps, strict=True):
        for axis, (key, label, scale) in zip(row, kinds, strict=True):
            for trainer in TRAINERS:
                points = sorted(
                    (float(x), table[trainer][key] / scale)
                    for x, table in figures[part].items()
                    if key in table[trainer]
                )
                axis.plot([x for x, _ in points], [y for _, y in points], marker="o", label=NAMES[trainer])
            axis.set(xlabel="tokens per session" if part == "by length" else "trained share", ylabel=label, ylim=0)
    axes[0][0].legend()
    figure.suptitle(f"Training, {figures['device']}; {figures['base']}")
    return figure


# --- one run -------------------------------------------------------------------------------------------------------


def serve(jobs: Sequence[Table]) -> Iterator[Table]:
    """The result of each job in turn. Several jobs must have the same base, which is loaded once.

    Several jobs are preceded by a run on the longest row that is not counted, because a device's first run is slower.
    """
    import torch

    several, held = len(jobs) > 1, None
    with redirect_stdout(sys.stderr):  # stdout is for results, and trainers print to it
        if several:
            held = HeldBase(jobs[0]["base"], dtype=jobs[0]["dtype"], load_4bit=jobs[0]["load_4bit"])
    for number, job in enumerate([warm_up(jobs[0]), *jobs] if several else jobs):
        with redirect_stdout(sys.stderr):
            try:
                found = train_once(job, held)
            except (torch.OutOfMemoryError, BadInputError) as error:
                found = {"failed": str(error).strip().splitlines()[0][:200]}
            if held is not None:
                held.release()
            gc.collect()
            torch.cuda.empty_cache()
        if number or not several:
            yield found


def warm_up(job: Table) -> Table:
    """The job on its longest row alone."""
    if "rows" in job:
        return {**job, "rows": [max(job["rows"], key=lambda row: len(row["input_ids"]))]}
    return {**job, "lengths": [max(job["lengths"])]}


def random_rows(lengths: Sequence[int], share: float, vocabulary: int, seed: int = 0) -> list[dict[str, list[int]]]:
    """Rows of random ids with evenly spread operator turns, in which `share` of the tokens carry loss."""
    generator = random.Random(seed)
    rows = []
    for length in lengths:
        ids = [generator.randrange(vocabulary) for _ in range(length)]
        every = SPAN / share
        labels = [id_ if at % every >= every - SPAN else -100 for at, id_ in enumerate(ids)]
        rows.append({"input_ids": ids, "labels": labels})
    return rows


def train_once(spec: Table, held: HeldBase | None = None) -> Table:
    """Train once; returns the costs, losses and gradient norms."""
    import torch
    from transformers import set_seed

    from model.layers import fast_layers  # needs torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    settings = TrainingSettings(lr=2e-4, **{name: spec[name] for name in TRAINED_WITH})
    model, tokenizer = loading.load_model(spec["base"], dtype=spec["dtype"], load_4bit=spec["load_4bit"], held=held)
    loop.unpack_4bit(model)
    shape = hardware.shape_of(spec["base"])
    rows = spec.get("rows") or random_rows(spec["lengths"], spec["share"], min(shape.vocabulary, 32000))
    lengths = [len(row["input_ids"]) for row in rows]
    set_seed(0)  # after the load, which uses random numbers and does not happen on a held base
    with tempfile.TemporaryDirectory() as directory:
        model = loop.add_lora(model, settings)
        trainer = trainer_of(spec["trainer"], model, tokenizer, rows, Path(directory), settings)
        trainer.args.train_sampling_strategy = "sequential"  # the trainers use random numbers at different times
        memory = Memory(model)
        began, cpu = time.perf_counter(), time.process_time()
        with fast_layers(model) if spec["trainer"] == "sekft" else nullcontext():
            trainer.train()
        if memory.cuda:
            torch.cuda.synchronize()
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        peak = memory.peak_above()
    labels = [sum(label != -100 for label in row["labels"]) for row in rows]
    tokens = sum(lengths) * spec["epochs"]
    needed, done = (
        spec["epochs"]
        * hardware.flops(
            shape, lengths, labels, shape.trainable(16, "all-linear"), checkpointing=again
        )
        for again in (False, bool(spec["gradient_checkpointing"]))
    )  # fmt: skip
    log = [entry for entry in trainer.state.log_history if "loss" in entry]
    return {
        "tokens_per_second": round(tokens / seconds, 2),
        "seconds_per_1000_tokens": round(seconds / tokens * 1000, 4),
        "cpu_seconds_per_1000_tokens": round(cpu / tokens * 1000, 4),
        "cpu_seconds": round(cpu, 2),
        "held_bytes": memory.before,
        "peak_bytes_above_weights": peak,
        "flops_per_second": float(f"{done / seconds:.3g}"),
        **utilisation(needed, done, seconds, device_name()),
        "losses": [entry["loss"] for entry in log],
        "norms": [entry["grad_norm"] for entry in log],
    }


def trainer_of(
    kind: str, model: Any, tokenizer: Any, rows: list[dict[str, list[int]]], out: Path, settings: TrainingSettings
) -> Any:
    """One of the three trainers, with the same arguments."""
    from transformers import DataCollatorForSeq2Seq, Trainer, TrainingArguments

    if kind == "sekft":
        progress = stage.Progress(None, "train")
        trainer, _ = loop.make_trainer(model, rows, out, settings, data_hash="", progress=progress, compact=True)
        trainer.args.save_strategy = "no"
        return trainer
    total = steps_of(len(rows), settings.batch, settings.accum, settings.epochs)
    arguments = loop.training_arguments(settings, total, out, on_cpu=model.device.type == "cpu")
    arguments |= {"save_strategy": "no", "report_to": []}
    if arguments["gradient_checkpointing"]:
        model.enable_input_require_grads()
    if kind == "trainer":
        plain = TrainingArguments(**arguments)
        plain._n_gpu = min(plain.n_gpu, 1)
        collate = DataCollatorForSeq2Seq(tokenizer)
        return Trainer(model=model, args=plain, train_dataset=rows, data_collator=collate)
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    config = SFTConfig(**arguments, max_length=None)
    config._n_gpu = min(config.n_gpu, 1)
    # Beside a 4-bit base TRL rounds the adapter to bf16, which the gradient scaler of fp16 cannot unscale.
    exact = [(parameter, parameter.data) for parameter in model.parameters() if parameter.requires_grad]
    trainer = SFTTrainer(
        model=model, args=config, train_dataset=Dataset.from_list(rows), processing_class=tokenizer
    )  # fmt: skip
    for parameter, data in exact:
        parameter.data = data
    return trainer


class Memory:
    """Peak memory above that at creation: by the allocator on CUDA, else the resident set of the process."""

    def __init__(self, model: Any) -> None:
        import torch

        gc.collect()
        gc.freeze()  # train() begins with a full collection, which would visit every imported object
        self.cuda = model.device.type == "cuda"
        if self.cuda:
            torch.cuda.reset_peak_memory_stats()
            self.before = torch.cuda.memory_allocated()
            return
        for parameter in model.parameters():
            parameter.detach().sum()  # the file is mapped: a weight takes memory only after it was read
        Path("/proc/self/clear_refs").write_text("5")  # resets the high-water mark
        self.before = resident("VmRSS")

    def peak_above(self) -> int:
        """The bytes of the peak above the memory at creation."""
        import torch

        gc.unfreeze()
        return int(torch.cuda.max_memory_allocated() if self.cuda else resident("VmHWM")) - self.before


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=PARTS,
        help="parts to run: compare (all its cases), one case (batch2 and batch1 on CPU, fp16 and 4bit on CUDA, bf16 "
        "and fp32 of smollm2), length and share (the picture); default all that the shape has",
    )
    parser.add_argument(
        "--shape", choices=[*sorted(SWEEPS), REAL], help="the base: random, or smollm2 (default 7b on CUDA, else small)"
    )
    parser.add_argument("--data", type=Path, default=None, help="sessions that --shape smollm2 trains on (rollout.py)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the comparison (default %(default)s)")
    parser.add_argument("--sweep-rounds", type=int, default=5, help="rounds of each point in the picture (default 5)")
    parser.add_argument("--layers", type=int, default=12, help="layers of the small base (default %(default)s)")
    parser.add_argument(
        "--one-process",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="do all runs of a part in one process (default for the shape 7b, else one process each)",
    )
    parser.add_argument(
        "--keep-base", type=Path, default=None, help="keep the random base here for the next command (default no)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(__file__).parent / "train.json",
        help="file of figures (default bench/train.json)",
    )
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
