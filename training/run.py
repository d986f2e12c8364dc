"""Train an adapter from its data to its directory: check, tokenise, train, save, reload, record.

    from training.run import fit
    from training.settings import FitSettings

    exit_code = fit(FitSettings(data=Path("trajectories"), base="base/smollm2", out=Path("ckpt-run1")))

This is sft.py without its command line. A resident process passes the base that it holds as `held`.
"""

import ctypes
import dataclasses
import gc
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline import stage
from model import hardware, loading
from model.loading import HeldBase, check_model, fetch, load_model, model_hash
from model.render import Renderer
from pipeline.files import (
    read_json,
    read_manifest,
    read_scenarios,
    sessions_in_base,
    split_trajectories,
    write_identity,
    write_json,
)
from pipeline.holdout import overlap, print_unknown_split, refuse_overlap, session_of
from schema import AdapterIdentity, BadInputError, Manifest, TrainedSession, Trajectory
from training import reload
from training.dataset import NAMED, Dataset, build, steps_of
from training.inspection import estimate, print_inspection
from training.loop import OVERFIT_LOSS, add_lora, head_is_plain, make_trainer, unpack_4bit
from training.plan import Plan, plan_of, print_plan
from training.settings import CommonSettings, FitSettings, TrainingSettings


def fit(settings: FitSettings, held: HeldBase | None = None) -> int:
    """Train an adapter, or inspect its data, and print the summary line; returns the exit code.

    Raises BadInputError for data, a base or settings that cannot be used.
    """
    refuse_several_processes("sft.py")
    trajectories, others = split_trajectories(settings.data, settings.scenarios, partial=settings.partial)
    given, settings = settings, settings.within_context()
    if settings.inspect_only:
        return inspect_data(given, settings, trajectories, others)
    if settings.plan_only:
        return plan_data(given, settings, trajectories, others)
    out, base = out_of(settings), settings.base
    before = None if settings.redo else read_manifest(out)
    finished = is_finished(before, settings)
    if before is not None and settings.render is None:  # a rerun: the tokenizer need not be read to know it
        settings = dataclasses.replace(settings, render=before.flags.get("render"))
    settings = check_run(settings, trajectories, finished=finished)
    prepared = None if finished else prepare(settings, trajectories, others, held)  # may refuse, before --out is begun
    manifest = stage.begin(out, stage="sft", flags=flags_of(settings), inputs=[settings.data], redo=settings.redo)
    if manifest.finished:
        return print_finished(out, base, manifest)
    before_files = files_of(base, held)
    renderer, dataset = prepared or prepare(settings, trajectories, others, held)
    settings.print_changes(given)  # after all that may be refused in one line
    print_adapter(settings)
    print_left_out(dataset)
    losses, figures = train(dataset, settings, out, held)
    if settings.overfit and not figures["overfit_reached"]:
        raise BadInputError(
            f"{settings.data}: --overfit {len(dataset.examples)}: loss {losses[-1]:.3f} after {len(losses)} steps, "
            f"wanted under {OVERFIT_LOSS}; raise --lr or --lora-r, and look at --inspect --show 1 if that does not help"
        )
    if model_hash(base) != manifest.flags["base_hash"] or files_of(base, held) != before_files:
        raise RuntimeError(f"{base}: its files changed during the training")
    write_json(out / "render.json", renderer.describe())
    write_identity(out, identity_of(base, dataset, manifest))
    if settings.reload_after or (settings.reload_after is None and held is None):
        free_memory()
        figures["logits_differ_by"] = reload.in_fresh_process(base, out)
    counts = {**dataset.counts(), **figures, "loss_first": losses[0], "loss_last": losses[-1]}
    stage.finish(out, manifest, ids=[example.id for example in dataset.examples], counts=counts)
    stage.print_summary({"out": str(out), "base": base, **counts})
    return stage.DONE


def refuse_several_processes(script: str) -> None:
    """Raise BadInputError where a launcher started several processes."""
    if (processes := os.environ.get("WORLD_SIZE", "1")) != "1":
        raise BadInputError(
            f"WORLD_SIZE is {processes}: {script} is one process on one device; start it with plain python"
        )


def is_finished(before: Manifest | None, settings: CommonSettings) -> bool:
    """True where a run has finished with the epochs, updates and limit of the settings; with larger ones it goes on."""
    if before is None or not before.finished:
        return False
    may_grow = [(name, value) for name, value in before.flags.items() if name in stage.MAY_GROW]
    return all(getattr(settings, name, value) == value for name, value in may_grow)


def prepare(
    settings: FitSettings, trajectories: Sequence[Trajectory], others: Sequence[Trajectory], held: HeldBase | None
) -> tuple[Renderer, Dataset]:
    """The renderer and the examples. Raises BadInputError for a template, rows or a size that cannot be trained on."""
    renderer = Renderer.for_base(load_tokenizer(settings.base), settings.render)
    dataset = dataset_of(settings, trajectories, others, renderer)
    if held is None:
        training_plan(settings, dataset).refuse()
    return renderer, dataset


def out_of(settings: CommonSettings) -> Path:
    """The adapter directory to write. Raises BadInputError where none is named."""
    if settings.out is None:
        raise BadInputError("--out is missing; name the adapter directory to write (or pass --inspect or --plan)")
    return settings.out


def plan_data(
    given: FitSettings, settings: FitSettings, trajectories: Sequence[Trajectory], others: Sequence[Trajectory]
) -> int:
    """Print the plan of --plan; returns its exit code. Reads no weights."""
    check_tokenizer(settings.base)
    renderer = Renderer.for_base(load_tokenizer(settings.base), settings.render)
    settings = settings.with_learning_rate()
    dataset = dataset_of(settings, trajectories, others, renderer)
    plan = training_plan(settings, dataset)
    settings.print_changes(given)
    print_left_out(dataset)
    return print_plan(plan)


def training_plan(settings: FitSettings, dataset: Dataset) -> Plan:
    """What the run would do and cost."""
    costs = hardware.costs(hardware.shape_of(settings.base), settings.workload(*dataset.sizes()))
    rows = len(dataset.examples)
    return plan_of(
        "sft", settings, costs, rows=rows, tokens=sum(dataset.sizes()[0]),
        steps=steps_of(rows, settings.batch, settings.accum, settings.epochs),
        trainable_parameters=costs["trainable_parameters"],
    )  # fmt: skip


def inspect_data(
    given: FitSettings, settings: FitSettings, trajectories: Sequence[Trajectory], others: Sequence[Trajectory]
) -> int:
    """Print the findings of --inspect; returns its exit code. Reads no weights."""
    check_tokenizer(settings.base)
    renderer = Renderer.for_base(load_tokenizer(settings.base), settings.render)
    dataset = built(settings, trajectories, others, renderer)
    settings = settings.with_learning_rate()
    held_out = None
    if settings.holdout:
        scenarios = read_scenarios(settings.holdout, partial=settings.partial)
        held_out = overlap(sessions_of(dataset), settings.holdout, scenarios)
    costs = estimate(dataset, settings)  # refuses targets that the base does not have
    if settings.holdout:
        print_unknown_split(settings.holdout)
    settings.print_changes(given)
    print_left_out(dataset)
    return print_inspection(dataset, renderer, settings, held_out, costs)


def check_run(settings: FitSettings, trajectories: Sequence[Trajectory], *, finished: bool) -> FitSettings:
    """Check machine, base, held-out data and targets before any weight is read; returns settings with rate and render.

    The machine and the targets of a `finished` run were checked before.
    """
    base = settings.base
    if not finished:
        loading.check_machine(base, settings.dtype)  # before the weights of a hub's base are fetched
    fetch(base)
    settings = settings.with_learning_rate()
    if settings.render is None:
        settings = dataclasses.replace(settings, render=Renderer.for_base(load_tokenizer(base)).wire)
    if settings.holdout:
        rows = trajectories[: settings.limit]
        sessions = [session_of(row) for row in rows if row.kept or settings.include_not_kept]
        scenarios = read_scenarios(settings.holdout, partial=settings.partial)
        refuse_overlap(sessions, settings.holdout, scenarios, trained="--data holds", remedy="train on the other side")
    if not finished:
        hardware.shape_of(base).trainable(settings.lora_r, settings.lora_targets)
    return settings


def print_adapter(settings: FitSettings) -> None:
    """Say what is trained, and what it is not compared with."""
    if settings.holdout:
        print_unknown_split(settings.holdout)
    count = hardware.shape_of(settings.base).trainable(settings.lora_r, settings.lora_targets)
    told = f"rank {settings.lora_r} on {settings.lora_targets}, {count:,} parameters, render {settings.render}"
    print(f"adapter: {told}", file=sys.stderr)


def flags_of(settings: FitSettings) -> dict[str, Any]:
    """The flags in the manifest: everything that decides the adapter, with the base and scenarios by their hash."""
    return {
        **settings.deciding_flags(),
        "base": Path(settings.base).name,
        "base_hash": model_hash(settings.base),
        "scenarios": stage.hash_directory(settings.scenarios) if settings.scenarios else None,
    }


def built(
    settings: TrainingSettings, trajectories: Sequence[Trajectory], others: Sequence[Trajectory], renderer: Renderer
) -> Dataset:
    """The dataset of these settings; `others` are the rows that --scenarios leaves out."""
    dataset = build(
        trajectories,
        renderer,
        max_length_tokens=settings.max_length_tokens,
        limit=settings.limit,
        include_not_kept=settings.include_not_kept,
    )
    if others:
        dataset.read += len(others)
        dataset.left_out["other_scenario"] = [row.id for row in others]
    if settings.overfit:
        dataset.keep_first(settings.overfit)
    return dataset


def dataset_of(
    settings: FitSettings, trajectories: Sequence[Trajectory], others: Sequence[Trajectory], renderer: Renderer
) -> Dataset:
    """The dataset to train on. Raises BadInputError where a row is malformed or no row is left."""
    dataset = built(settings, trajectories, others, renderer)
    if dataset.malformed:
        raise BadInputError(dataset.malformed[0])
    if not dataset.examples:
        left_out = dataset.counts()["left_out"]
        raise BadInputError(f"{settings.data}: no row is left to train on ({left_out}); see --inspect")
    return dataset


def print_left_out(dataset: Dataset) -> None:
    """Print one line per reason to stderr; the rows of the reasons in NAMED are named."""
    for reason, ids in dataset.left_out.items():
        if ids:
            named = f": {', '.join(ids)}" if reason in NAMED else ""
            print(f"left out, {reason}: {len(ids)} of {dataset.read} rows{named}", file=sys.stderr)
    print(f"training on {len(dataset.examples)} of {dataset.read} rows", file=sys.stderr)


def sessions_of(dataset: Dataset) -> list[TrainedSession]:
    """The sessions that a run trains on."""
    return [session_of(example.trajectory) for example in dataset.examples]


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


def train(
    dataset: Dataset, settings: FitSettings, out: Path, held: HeldBase | None = None
) -> tuple[list[float], dict[str, Any]]:
    """Train and save the adapter; returns the loss of every step since the start, and figures for the summary."""
    from transformers import set_seed

    from model.layers import fast_layers  # needs torch

    set_seed(settings.seed)
    warn_of_memory(dataset, settings, held)
    model, _ = load_model(settings.base, dtype=settings.dtype, load_4bit=settings.load_4bit, held=held)
    unpack_4bit(model)
    model = add_lora(model, settings)
    checkpoint = last_checkpoint(out / "checkpoints", dataset.hash())
    rows = [example.row() for example in dataset.examples]
    total = steps_of(len(rows), settings.batch, settings.accum, settings.epochs)
    with fast_layers(model):
        compact = head_is_plain(model, rows[0])
        with stage.Progress(total, "train") as progress:
            trainer, log = make_trainer(
                model, rows, out, settings, data_hash=dataset.hash(), progress=progress, compact=compact,
                logdir=settings.logdir,
            )  # fmt: skip
            started = time.monotonic()
            trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
            seconds = time.monotonic() - started
    save_adapter(trainer, out)
    trained = trainer.accelerator.unwrap_model(trainer.model, keep_fp32_wrapper=False)
    reload.write_probe(trained, [row["input_ids"] for row in rows], out)
    first = int(checkpoint.name.split("-")[1]) if checkpoint else 0
    tokens = sum(len(row["input_ids"]) for row in rows) * settings.epochs
    done = trainer.state.global_step - first
    operations = hardware.costs(hardware.shape_of(settings.base), settings.workload(*dataset.sizes()))["flops"]
    per_second = operations * done / total / seconds
    return [entry["loss"] for entry in log.entries], {
        "steps": trainer.state.global_step,
        "resumed_from": first or None,
        "train_seconds": round(seconds, 1),
        "tokens_per_second": round(tokens * done / total / seconds) if done else None,
        "share_of_matrix_product": (
            float(f"{per_second / hardware.product_flops_here(model.dtype, model.device):.2g}") if done else None
        ),
        "trainable_parameters": sum(p.numel() for p in model.parameters() if p.requires_grad),
        "loss_on_labelled_positions_only": compact,
        "dtype": str(model.dtype).removeprefix("torch."),
        **({"skipped_steps": log.skipped} if trainer.accelerator.scaler is not None else {}),
        **({"overfit_reached": log.reached} if settings.overfit else {}),
    }


def warn_of_memory(dataset: Dataset, settings: FitSettings, held: HeldBase | None) -> None:
    """Print a line to stderr where the run is likely to need more memory than is free."""
    work = settings.workload(*dataset.sizes())
    need = hardware.costs(hardware.shape_of(settings.base), work)["memory_bytes"]
    total = need["total"] - (need["weights"] if held is not None else 0)
    if line := hardware.too_small(total, hardware.free_bytes_here()):
        print(line, file=sys.stderr)


def last_checkpoint(directory: Path, data_hash: str) -> Path | None:
    """The newest complete checkpoint of the same rows; every other checkpoint is removed."""
    usable: list[tuple[int, Path]] = []
    for path in directory.glob("checkpoint-*"):
        mark = path / "complete.json"
        if mark.exists() and read_json(mark)["data"] == data_hash:
            usable.append((int(path.name.split("-")[1]), path))
        else:
            print(f"{path}: incomplete, or of other rows; removed", file=sys.stderr)
            shutil.rmtree(path)
    return max(usable)[1] if usable else None


def save_adapter(trainer: Any, out: Path) -> None:
    """Write the adapter's two files, each renamed into place, and keep the newest checkpoint for more epochs."""
    staging = out / ".saving"
    trainer.model.save_pretrained(staging)
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        (staging / name).replace(out / name)
    shutil.rmtree(staging)
    checkpoints = sorted((out / "checkpoints").glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))
    for path in checkpoints[:-1]:
        shutil.rmtree(path)


def files_of(base: str, held: HeldBase | None = None) -> dict[str, tuple[int, int, str]]:
    """Size, time of the last write and SHA-256 of each file of a base.

    Where the base is held in memory the hash is left out, so that a second training reads nothing of the base.
    """
    directory = loading.directory_of(base)
    paths = sorted(path for path in directory.iterdir() if path.is_file()) if directory else []
    hashes = {path: "" if held is not None else stage.hash_file(path) for path in paths}
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns, hashes[path]) for path in paths}


def free_memory() -> None:
    """Give what was freed back to the system and to the GPU, where other processes can use it.

    glibc keeps freed memory, in a heap for each of several threads. A process that trains in new threads again and
    again would come to hold what a training takes many times over.
    """
    import torch

    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # glibc alone has it
        trim(0)
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def identity_of(base: str, dataset: Dataset, manifest: Manifest) -> AdapterIdentity:
    """The identity of the trained adapter: its base and what it was trained on."""
    return AdapterIdentity(
        base=base,
        base_hash=manifest.flags["base_hash"],
        flags=manifest.flags,
        git_commit=manifest.git_commit,
        data_hash=dataset.hash(),
        trained_on=[*sessions_in_base(base), *sessions_of(dataset)],
    )


def print_finished(out: Path, base: str, manifest: Manifest) -> int:
    """Print the summary of a finished run again; returns the exit code."""
    print(f"{out}: finished before, nothing to do", file=sys.stderr)
    stage.print_summary({"out": str(out), "base": base, **manifest.counts})
    return stage.DONE
