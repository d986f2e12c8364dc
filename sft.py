"""Train a LoRA adapter on kept trajectories beside a frozen base, with the loss on the operator's turns alone.

    python sft.py --data trajectories --base base --out ckpt-run1 --holdout split/holdout
    python sft.py --data trajectories --base base --inspect --show 2     # mask and counts: tokenizer only
    python sft.py --data trajectories --base base --out ckpt-overfit --overfit 8

Reads   <data>/*.json (schema.Trajectory), the base, <holdout>/*.json and <scenarios>/*.json (schema.Scenario)
Writes  <out>/adapter_model.safetensors, adapter_config.json, render.json, sekft.json, log_history.jsonl, manifest.json,
        probe.safetensors, <out>/runs (TensorBoard), <out>/checkpoints
Needs   torch, transformers, peft; a CUDA device for anything but a tiny base

A killed run goes on from its last checkpoint when the same command is given again; a finished one returns at once;
more --epochs go on from where it ended, on the longer schedule. Sessions over --max-length-tokens are left out and
named, never cut. --inspect exits 2 on an ERROR line, --overfit when the loss of its rows cannot be driven to about
zero. What cannot work on the card is refused before any weight is read. At the end a fresh process loads the adapter
and must give the same logits (training/reload.py). One process trains on the first visible CUDA device.
On CPU, --dtype auto computes in fp32, with bf16 products where there are matrix units (AMX); fp32 without them.
"""

import argparse
import gc
import hashlib
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from model import hardware, loading
from model.loading import DTYPES, check_model, fetch, load_model, model_hash
from model.render import Renderer, Wire
from pipeline import stage
from pipeline.holdout import overlap, refuse_overlap, session_of
from schema import (
    AdapterIdentity,
    BadInputError,
    Manifest,
    Trajectory,
    read_json,
    read_manifest,
    read_scenarios,
    read_trajectories,
    write_identity,
    write_json,
)
from training import reload
from training.dataset import Dataset, build, steps_of
from training.inspection import report_inspection
from training.loop import OVERFIT_LOSS, add_lora, head_is_plain, make_trainer, unpack_4bit

EPOCHS, OVERFIT_EPOCHS = 3, 100


def main(
    *,
    data: Path,
    scenarios: Path | None,
    base: str,
    out: Path | None,
    holdout: Path | None,
    render: Wire,
    lora_r: int,
    lora_alpha: int,
    lora_targets: str,
    lr: float | None,
    epochs: int | None,
    batch: int,
    accum: int,
    max_length_tokens: int,
    load_4bit: bool,
    dtype: str,
    gradient_checkpointing: bool | None,
    logdir: Path | None,
    seed: int,
    overfit: int | None,
    include_not_kept: bool,
    limit: int | None,
    inspect_only: bool,
    show_rows: int,
    partial: bool,
    redo: bool,
    reload_after: bool | None,
) -> int:
    """Check, tokenise, train or inspect, write the adapter directory."""
    if epochs is None:
        epochs = OVERFIT_EPOCHS if overfit else EPOCHS
    check_flags(locals())
    trajectories = read_trajectories(data, partial=partial, scenarios=scenarios)
    max_length_tokens = within_context(base, max_length_tokens)
    rows: dict[str, Any] = {"max_length_tokens": max_length_tokens, "limit": limit}
    rows["include_not_kept"] = include_not_kept
    settings = {
        "render": render, "lora_r": lora_r, "lora_alpha": lora_alpha, "lora_targets": lora_targets, "lr": lr,
        "epochs": epochs, "batch": batch, "accum": 1 if overfit else accum, "load_4bit": load_4bit, "dtype": dtype,
        "gradient_checkpointing": gradient_checkpointing, "seed": seed, "overfit": overfit, **rows,
    }  # fmt: skip
    if inspect_only:
        check_tokenizer(base)
        renderer = Renderer.for_base(load_tokenizer(base), render)
        dataset = build(trajectories, renderer, **rows)
        if overfit:
            dataset.keep_first(overfit)
        settle_rate(settings, base)
        held = (
            overlap(map(session_of, trained_rows(dataset)), holdout, read_scenarios(holdout, partial=partial))
            if holdout
            else None
        )
        say_left_out(dataset)
        return report_inspection(dataset, renderer, held, {**settings, "base": base}, show_rows)
    if out is None:
        raise BadInputError("--out is missing; name the adapter directory to write (or pass --inspect)")
    before = None if redo else read_manifest(out)
    fresh = before is None or not before.finished
    if fresh:
        loading.check_machine(base, dtype)  # before a hub's weights are fetched
    fetch(base)
    settle_rate(settings, base)
    if holdout:
        wanted = [session_of(row) for row in trajectories[:limit] if row.kept or include_not_kept]
        held_out = read_scenarios(holdout, partial=partial)
        refuse_overlap(wanted, holdout, held_out, trained="--data holds", remedy="train on the other side")
    settings |= {"base": Path(base).name, "base_hash": model_hash(base)}
    settings["scenarios"] = stage.hash_directory(scenarios) if scenarios else None
    if fresh:
        hardware.shape_of(base).trainable(lora_r, lora_targets)
    manifest = stage.begin(out, stage="sft", flags=settings, inputs=[data], redo=redo)
    if manifest.finished:
        return report_finished(out, base, manifest)
    before_files = files_of(base)
    renderer = Renderer.for_base(load_tokenizer(base), render)
    dataset = build(trajectories, renderer, **rows)
    if overfit:
        dataset.keep_first(overfit)
    if dataset.malformed:
        raise BadInputError(dataset.malformed[0])
    say_left_out(dataset)
    if not dataset.examples:
        raise BadInputError(f"{data}: no row is left to train on ({dataset.counts()['left_out']}); see --inspect")
    losses, figures = train(dataset, base, out, settings, logdir or out / "runs")
    if overfit and not figures["overfit_reached"]:
        raise BadInputError(
            f"{data}: --overfit {len(dataset.examples)}: loss {losses[-1]:.3f} after {len(losses)} steps, wanted under "
            f"{OVERFIT_LOSS}; raise --lr or --lora-r, and look at --inspect --show 1 if that does not help"
        )
    if model_hash(base) != settings["base_hash"] or files_of(base) != before_files:
        raise RuntimeError(f"{base}: its files changed while it was trained beside")
    write_json(out / "render.json", renderer.describe())
    write_identity(out, identity_of(base, dataset, manifest))
    if reload_after or (reload_after is None and not loading.holds_base()):
        free_memory()
        figures["logits_differ_by"] = reload.in_fresh_process(base, out)
    counts = {**dataset.counts(), **figures, "loss_first": losses[0], "loss_last": losses[-1]}
    stage.finish(out, manifest, ids=[example.id for example in dataset.examples], counts=counts)
    stage.print_summary({"out": str(out), "base": base, **counts})
    return stage.DONE


def files_of(base: str) -> dict[str, tuple[int, int, str]]:
    """Size, time of the last write and SHA-256 of each file of a base, which is read whole.

    Beside a base that is held in memory the hash is left out: a second fit there is to read nothing of it again.
    """
    directory = loading.directory_of(base)
    paths = sorted(path for path in directory.iterdir() if path.is_file()) if directory else []
    hashes = {path: "" if loading.holds_base() else sha256_of_file(path) for path in paths}
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns, hashes[path]) for path in paths}


def sha256_of_file(path: Path) -> str:
    """SHA-256 of a file, read piece by piece."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def free_memory() -> None:
    """Give back what the trained model took, so that another process can load it on the same card."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def report_finished(out: Path, base: str, manifest: Manifest) -> int:
    """Repeat the summary of a finished run."""
    print(f"{out}: finished before, nothing to do", file=sys.stderr)
    stage.print_summary({"out": str(out), "base": base, **manifest.counts})
    return stage.DONE


def within_context(base: str, max_length_tokens: int) -> int:
    """`max_length_tokens`, or the context of the base where that is shorter."""
    config = Path(base) / "config.json"
    context = read_json(config).get("max_position_embeddings") if config.exists() else None
    if isinstance(context, int) and context < max_length_tokens:
        print(f"{base}: its context is {context} tokens; longer rows are left out", file=sys.stderr)
        return context
    return max_length_tokens


def check_flags(flags: dict[str, Any]) -> None:
    """Raise BadInputError for numbers that cannot be meant and for a base or data that is not there."""
    if (processes := os.environ.get("WORLD_SIZE", "1")) != "1":
        raise BadInputError(
            f"WORLD_SIZE is {processes}: sft.py is one process on one device; start it with plain python"
        )
    for name in ("lora_r", "lora_alpha", "epochs", "batch", "accum", "max_length_tokens", "limit", "overfit"):
        if flags[name] is not None and flags[name] < 1:
            raise BadInputError(f"--{name.replace('_', '-')} is {flags[name]}; it must be at least 1")
    if flags["show_rows"] < 0:
        raise BadInputError(f"--show is {flags['show_rows']}; it must be at least 0")
    if flags["lr"] is not None and not 0 < flags["lr"] < 1:
        raise BadInputError(f"--lr is {flags['lr']}; it must lie between 0 and 1, or be left out")


def settle_rate(settings: dict[str, Any], base: str) -> None:
    """Put in the usual learning rate where none was given, and say so."""
    if settings["lr"] is None:
        settings["lr"] = hardware.usual_rate(base)
        print(f"learning rate {settings['lr']:g}, by the width of {base}; --lr sets another", file=sys.stderr)


def check_tokenizer(base: str) -> None:
    """Raise BadInputError where `base` is a directory without a tokenizer, or neither a directory nor a hub name."""
    directory = Path(base)
    if not directory.is_dir():
        check_model(base)
    elif not any((directory / name).exists() for name in ("tokenizer.json", "tokenizer.model")):
        raise BadInputError(f"{directory}: no tokenizer.json in the base directory; copy the base's tokenizer there")


def load_tokenizer(base: str) -> Any:
    """The base's tokenizer. Raises BadInputError where it cannot be loaded."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(base)
    except (OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0]
        raise BadInputError(
            f"{base}: its tokenizer cannot be loaded ({first}); check the directory or the hub"
        ) from error


def trained_rows(dataset: Dataset) -> list[Trajectory]:
    """The trajectories that a run would train on."""
    return [example.trajectory for example in dataset.examples]


def say_left_out(dataset: Dataset) -> None:
    """One line per reason on stderr; rows that a user may not expect to lose are named."""
    for reason, ids in dataset.left_out.items():
        if ids:
            named = f": {', '.join(ids)}" if reason in ("malformed", "over_length", "no_labels") else ""
            print(f"left out, {reason}: {len(ids)} of {dataset.read} rows{named}", file=sys.stderr)
    print(f"training on {len(dataset.examples)} of {dataset.read} rows", file=sys.stderr)


def train(
    dataset: Dataset, base: str, out: Path, settings: dict[str, Any], logdir: Path
) -> tuple[list[float], dict[str, Any]]:
    """Train and save the adapter; the loss of every step since the start, and figures for the summary."""
    import torch
    from transformers import set_seed
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    set_seed(settings["seed"])
    examples = dataset.examples
    warn_of_memory(dataset, base, settings)
    model, _ = load_model(base, dtype=settings["dtype"], load_4bit=settings["load_4bit"])
    unpack_4bit(model)
    model = add_lora(model, settings)
    total = steps_of(len(examples), settings["batch"], settings["accum"], settings["epochs"])
    checkpoint = last_checkpoint(out / "checkpoints", dataset.hash())
    on_cpu = model.device.type == "cpu"
    rows = [example.row() for example in examples]
    precision = torch.get_float32_matmul_precision()
    try:
        if on_cpu and settings["dtype"] == "auto":
            torch.set_float32_matmul_precision(loading.matmul_precision())
        os.environ["TENSORBOARD_LOGGING_DIR"] = str(logdir)
        compact = head_is_plain(model, rows[0])
        with stage.Progress(total, "train") as progress:
            trainer, log = make_trainer(
                model, rows, out, settings, data_hash=dataset.hash(), progress=progress,
                compact=compact,
            )  # fmt: skip
            started = time.monotonic()
            trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
            seconds = time.monotonic() - started
    finally:
        torch.set_float32_matmul_precision(precision)
        os.environ.pop("TENSORBOARD_LOGGING_DIR", None)
    save_adapter(trainer, out)
    trained = trainer.accelerator.unwrap_model(trainer.model, keep_fp32_wrapper=False)
    reload.write_probe(trained, [row["input_ids"] for row in rows], out)
    first = int(checkpoint.name.split("-")[1]) if checkpoint else 0
    tokens = sum(len(row["input_ids"]) for row in rows) * settings["epochs"]
    done = trainer.state.global_step - first
    losses = [entry["loss"] for entry in log.entries]
    return losses, {
        "steps": trainer.state.global_step,
        "resumed_from": first or None,
        "train_seconds": round(seconds, 1),
        "tokens_per_second": round(tokens * done / total / seconds) if done else None,
        "trainable_parameters": sum(p.numel() for p in model.parameters() if p.requires_grad),
        "loss_on_labelled_positions_only": compact,
        **({"skipped_steps": log.skipped} if trainer.accelerator.scaler is not None else {}),
        **({"overfit_reached": log.reached} if settings["overfit"] else {}),
    }


def warn_of_memory(dataset: Dataset, base: str, settings: dict[str, Any]) -> None:
    """A line on stderr where the run is likely to need more memory than there is."""
    need = hardware.costs_here(base, *dataset.sizes(), settings)["memory_bytes"]
    total = need["total"] - (need["weights"] if loading.holds_base() else 0)
    if line := hardware.too_small(total, hardware.free_bytes_here()):
        print(line, file=sys.stderr)


def last_checkpoint(directory: Path, data_hash: str) -> Path | None:
    """The newest checkpoint that was written whole and trained on the same rows; the others are removed."""
    usable: list[tuple[int, Path]] = []
    for path in directory.glob("checkpoint-*"):
        mark = path / "complete.json"
        if mark.exists() and read_json(mark)["data"] == data_hash:
            usable.append((int(path.name.split("-")[1]), path))
        else:
            print(f"{path}: cut off while it was written, or of other rows; removed", file=sys.stderr)
            shutil.rmtree(path)
    return max(usable)[1] if usable else None


def save_adapter(trainer: Any, out: Path) -> None:
    """The adapter's two files, each renamed into place, and only the newest checkpoint (more epochs start from it)."""
    staging = out / ".saving"
    trainer.model.save_pretrained(staging)
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        (staging / name).replace(out / name)
    shutil.rmtree(staging)
    checkpoints = sorted((out / "checkpoints").glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))
    for path in checkpoints[:-1]:
        shutil.rmtree(path)


def identity_of(base: str, dataset: Dataset, manifest: Manifest) -> AdapterIdentity:
    """What the adapter belongs to and has seen."""
    return AdapterIdentity(
        base=base,
        base_hash=manifest.flags["base_hash"],
        flags=manifest.flags,
        git_commit=manifest.git_commit,
        data_hash=dataset.hash(),
        trained_on=[session_of(row) for row in trained_rows(dataset)],
    )


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    add = parser.add_argument
    add("--data", type=Path, required=True, help="directory of trajectories (rollout.py --out)")
    add("--scenarios", type=Path, default=None, help="train on the sessions of these scenarios alone (default all)")
    add("--base", required=True, help="base model: a directory, or a hub name where a hub is reachable")
    add("--out", type=Path, default=None, help="adapter directory to write; name one per run")
    add("--holdout", type=Path, default=None, help="held-out scenarios (split.py): refuse data that overlaps")
    add("--render", choices=("markers", "chat"), default="markers", help="wire format (default markers)")
    add("--lora-r", type=int, default=16, help="adapter rank (default 16)")
    add("--lora-alpha", type=int, default=32, help="adapter scale times rank (default 32)")
    add("--lora-targets", default="all-linear", help="comma-separated linear layers (default all-linear)")
    add(
        "--lr",
        type=float,
        default=None,
        help="peak learning rate, decays linearly (default 2e-4 * 4096 / width of the base)",
    )
    add("--epochs", type=int, default=None, help=f"passes (default {EPOCHS}; --overfit: at most {OVERFIT_EPOCHS})")
    add("--batch", type=int, default=1, help="rows per micro-batch (default 1, which never pads)")
    add("--accum", type=int, default=8, help="micro-batches per optimizer step (default 8; --overfit: 1)")
    add("--max-length-tokens", type=int, default=4096, help="longer rows are left out and named (default 4096)")
    add("--load-4bit", action="store_true", help="load the base in 4-bit NF4")
    add("--dtype", choices=DTYPES, default="auto", help="dtype of the weights (default auto)")
    add(
        "--gradient-checkpointing",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="recompute activations to save memory (default: on for CUDA)",
    )
    add("--logdir", type=Path, default=None, help="TensorBoard directory (default <out>/runs)")
    add("--seed", type=int, default=0, help="seed of initialisation and order (default 0)")
    add("--overfit", type=int, default=None, metavar="N", help="sanity run: drive the loss of N rows to about 0")
    add("--include-not-kept", action="store_true", help="train on trajectories that are not kept, too")
    add("--limit", type=int, default=None, help="first rows of --data only")
    add("--inspect", dest="inspect_only", action="store_true", help="check mask and data, train nothing")
    add("--show", dest="show_rows", type=int, default=0, metavar="N", help="rows that --inspect prints with their mask")
    add("--partial", action="store_true", help="take an unfinished data directory")
    add("--redo", action="store_true", help="start over instead of resuming")
    add(
        "--reload",
        dest="reload_after",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="compare the saved adapter's logits in a fresh process (default: on, but in a resident process)",
    )
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
