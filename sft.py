"""Train a LoRA adapter on kept trajectories beside a frozen base, with the loss on the operator's turns alone.

    python sft.py --data trajectories --base base --out ckpt-run1 --holdout split/holdout
    python sft.py --data trajectories --base base --inspect --show 2     # mask and counts: tokenizer only
    python sft.py --data trajectories --base base --out ckpt-overfit --overfit 8

Reads   <data>/*.json (schema.Trajectory), the base, <holdout>/*.json (schema.Scenario)
Writes  <out>/adapter_model.safetensors, adapter_config.json, render.json, sekft.json, log_history.jsonl, manifest.json,
        <out>/runs (TensorBoard), <out>/checkpoints
Needs   torch, transformers, peft; a CUDA device for anything but a tiny base

A killed run goes on from its last checkpoint when the same command is given again; a finished one returns at once;
more --epochs go on from where it ended, on the longer schedule. Sessions over --max-length-tokens are left out and
named, never cut. --inspect exits 2 on an ERROR line, --overfit when the loss of its rows cannot be driven to about
zero. On CPU, --dtype auto computes in fp32 with the matrix units' bf16 products where there are any; fp32 does not.
"""

import argparse
import json
import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import stage
from dataset import IGNORED, Dataset, Finding, build, inspect, overlap, refuse_overlap, show, statistics_of
from models import DTYPES, check_model, load_model, model_hash, pick_dtype
from render import Renderer, Wire
from schema import BadInputError, Trajectory, read_json, read_trajectories, write_json

ATTENTION = "q_proj,k_proj,v_proj,o_proj"
EPOCHS, OVERFIT_EPOCHS = 3, 100
OVERFIT_LOSS = 0.05  # nats per labelled token, over every batch of an epoch
WARMUP = 0.05  # of all steps
LOW_LR = 5e-5  # LoRA wants about ten times the rate of full fine-tuning (Thinking Machines, LoRA Without Regret, 2025)
HEAD_TOLERANCE = 1e-2  # nats per token between the compact and the stock loss; fp16 and bf16 need the room


def main(
    *,
    data: Path,
    base: str,
    out: Path | None,
    holdout: Path | None,
    render: Wire,
    lora_r: int,
    lora_alpha: int,
    lora_targets: str,
    lr: float,
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
) -> int:
    """Check, tokenise, train or inspect, write the adapter directory."""
    if epochs is None:
        epochs = OVERFIT_EPOCHS if overfit else EPOCHS
    check_flags(locals())
    trajectories = read_trajectories(data, partial=partial)
    max_length_tokens = within_context(base, max_length_tokens)
    rows: dict[str, Any] = {"max_length_tokens": max_length_tokens, "limit": limit}
    rows["include_not_kept"] = include_not_kept
    if inspect_only:
        check_tokenizer(base)
        renderer = Renderer.for_base(load_tokenizer(base), render)
        dataset = build(trajectories, renderer, **rows)
        held = overlap(trained_rows(dataset), holdout, partial=partial) if holdout else None
        plan = {"epochs": epochs, "batch": batch, "accum": accum, "lr": lr}
        return report_inspection(dataset, renderer, held, plan, show_rows)
    if out is None:
        raise BadInputError("--out is missing; name the adapter directory to write (or pass --inspect)")
    check_model(base)
    if holdout:
        wanted = [row for row in trajectories[:limit] if row.kept or include_not_kept]
        refuse_overlap(wanted, holdout, partial=partial)
    settings = {
        "base": Path(base).name, "base_hash": model_hash(base), "render": render, "lora_r": lora_r,
        "lora_alpha": lora_alpha, "lora_targets": lora_targets, "lr": lr, "epochs": epochs, "batch": batch,
        "accum": 1 if overfit else accum, "load_4bit": load_4bit, "dtype": dtype,
        "gradient_checkpointing": gradient_checkpointing, "seed": seed, "overfit": overfit, **rows,
    }  # fmt: skip
    before = read_json(out / "manifest.json") if (out / "manifest.json").exists() and not redo else {}
    manifest = stage.begin(out, stage="sft", flags=settings, inputs=[data], redo=redo)
    if before.get("finished") and before["flags"] == manifest["flags"]:
        return report_finished(out, base, before)
    renderer = Renderer.for_base(load_tokenizer(base), render)
    dataset = build(trajectories, renderer, **rows)
    if overfit:
        dataset.keep_first(overfit)
    say_left_out(dataset)
    if not dataset.examples:
        raise BadInputError(f"{data}: no row is left to train on ({dataset.counts()['left_out']}); see --inspect")
    losses, figures = train(dataset, base, out, settings, logdir or out / "runs")
    if overfit and not figures["overfit_reached"]:
        raise BadInputError(
            f"{data}: --overfit {len(dataset.examples)}: loss {losses[-1]:.3f} after {len(losses)} steps, wanted under "
            f"{OVERFIT_LOSS}; raise --lr or --lora-r, and look at --inspect --show 1 if that does not help"
        )
    if model_hash(base) != settings["base_hash"]:
        raise RuntimeError(f"{base}: its files changed while it was trained beside")
    write_identity(out, base, dataset, renderer, manifest)
    counts = {**dataset.counts(), **figures, "loss_first": losses[0], "loss_last": losses[-1]}
    stage.finish(out, manifest, ids=[example.id for example in dataset.examples], counts=counts)
    stage.report({"out": str(out), "base": base, **counts})
    return stage.DONE


def report_finished(out: Path, base: str, manifest: dict[str, Any]) -> int:
    """Put the finished run's manifest back as it was, and repeat its summary."""
    write_json(out / "manifest.json", manifest)
    print(f"{out}: finished before, nothing to do", file=sys.stderr)
    stage.report({"out": str(out), "base": base, **manifest["counts"]})
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
    for name in ("lora_r", "lora_alpha", "epochs", "batch", "accum", "max_length_tokens", "limit", "overfit"):
        if flags[name] is not None and flags[name] < 1:
            raise BadInputError(f"--{name.replace('_', '-')} is {flags[name]}; it must be at least 1")
    if not 0 < flags["lr"] < 1:
        raise BadInputError(f"--lr is {flags['lr']}; it must lie between 0 and 1 (2e-4 is usual for LoRA)")


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
            named = f": {', '.join(ids)}" if reason in ("over_length", "no_labels") else ""
            print(f"left out, {reason}: {len(ids)} of {dataset.read} rows{named}", file=sys.stderr)
    print(f"training on {len(dataset.examples)} of {dataset.read} rows", file=sys.stderr)


def report_inspection(
    dataset: Dataset, renderer: Renderer, held: dict[str, list[str]] | None, plan: dict[str, Any], show_rows: int
) -> int:
    """Findings and shown rows on stderr, the JSON line on stdout; 2 where a finding is an ERROR."""
    say_left_out(dataset)
    findings = inspect(dataset, renderer, holdout=held)
    if plan["lr"] < LOW_LR:
        findings.append(Finding("WARN", "lr", f"{plan['lr']:g} is low for LoRA; 2e-4 is usual"))
    for example in dataset.examples[:show_rows]:
        print(show(example, colour=sys.stderr.isatty()), file=sys.stderr)
    for finding in findings:
        print(finding.line(), file=sys.stderr)
    lengths = sorted(len(example.encoded.token_ids) for example in dataset.examples)
    batches = [lengths[start : start + plan["batch"]] for start in range(0, len(lengths), plan["batch"])]
    padded = sum(max(lengths_) * len(lengths_) for lengths_ in batches)
    stage.report(
        {
            **dataset.counts(),
            **statistics_of(dataset),
            "steps_estimate": steps_of(len(lengths), plan["batch"], plan["accum"], plan["epochs"]),
            "padding_share": round(1 - sum(lengths) / padded, 4) if padded else None,
            "render": renderer.describe(),
            "findings": [vars(finding) for finding in findings if finding.level != "OK"],
            "checks": len(findings),
        }
    )
    return stage.BAD_INPUT if any(finding.level == "ERROR" for finding in findings) else stage.DONE


def steps_of(rows: int, batch: int, accum: int, epochs: int) -> int:
    """Optimizer steps of a run."""
    return math.ceil(math.ceil(rows / batch) / accum) * epochs


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
    model, tokenizer = load_model(base, dtype=settings["dtype"], load_4bit=settings["load_4bit"])
    unpack_4bit(model)
    model = add_lora(model, settings)
    total = steps_of(len(dataset.examples), settings["batch"], settings["accum"], settings["epochs"])
    checkpoint = last_checkpoint(out / "checkpoints", dataset.hash())
    on_cpu = model.device.type == "cpu"
    precision = torch.get_float32_matmul_precision()
    if on_cpu and settings["dtype"] == "auto":
        torch.set_float32_matmul_precision("medium")
    compact = head_is_plain(model, dataset.examples[0].row())
    os.environ["TENSORBOARD_LOGGING_DIR"] = str(logdir)
    with stage.progress(total, "train") as progress:
        trainer, log = make_trainer(model, tokenizer, dataset, out, settings, total, progress, compact)
        started = time.monotonic()
        try:
            trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        finally:
            torch.set_float32_matmul_precision(precision)
            os.environ.pop("TENSORBOARD_LOGGING_DIR")
    seconds = time.monotonic() - started
    save_adapter(trainer, out)
    first = int(checkpoint.name.split("-")[1]) if checkpoint else 0
    tokens = sum(len(example.encoded.token_ids) for example in dataset.examples) * settings["epochs"]
    done = trainer.state.global_step - first
    losses = [entry["loss"] for entry in log.entries]
    return losses, {
        "steps": trainer.state.global_step,
        "resumed_from": first or None,
        "train_seconds": round(seconds, 1),
        "tokens_per_second": round(tokens * done / total / seconds) if done else None,
        "trainable_parameters": sum(p.numel() for p in model.parameters() if p.requires_grad),
        "loss_on_labelled_positions_only": compact,
        **({"overfit_reached": log.reached} if settings["overfit"] else {}),
    }


def add_lora(model: Any, settings: dict[str, Any]) -> Any:
    """The model with a fresh adapter in fp32 and everything else frozen. Raises BadInputError for unknown targets."""
    import torch
    from peft import LoraConfig, get_peft_model

    targets: Any = settings["lora_targets"]
    if targets != "all-linear":
        targets = targets.split(",")
        linear = {name.rpartition(".")[2] for name, module in model.named_modules() if hasattr(module, "in_features")}
        if unknown := sorted(set(targets) - linear):
            raise BadInputError(f"--lora-targets: {unknown} not in this base; it has {sorted(linear)}, or all-linear")
    config = LoraConfig(
        r=settings["lora_r"], lora_alpha=settings["lora_alpha"], target_modules=targets, task_type="CAUSAL_LM"
    )
    model = get_peft_model(model, config)
    for parameter in model.parameters():
        # GradScaler cannot unscale half-precision gradients, and CUDA has no kernel for bf16 ones.
        assert not parameter.requires_grad or parameter.dtype == torch.float32
    return model


def unpack_4bit(model: Any) -> None:
    """Give 4-bit weights back the form that gradients pass through.

    On CPU bitsandbytes 0.50 repacks them in the first forward of eval(), for good; the kernel for that form has no
    backward, so that a later training would silently leave out what flows through the frozen weights.
    """
    for module in model.modules():
        state = getattr(getattr(module, "weight", None), "quant_state", None)
        if getattr(state, "packing_format_for_cpu", False):
            from bitsandbytes.functional import _convert_weight_packed_for_cpu_inverse

            module.weight.data, module.weight.quant_state = _convert_weight_packed_for_cpu_inverse(
                module.weight.data, state
            )


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


def labelled_loss(model: Any, batch: dict[str, Any]) -> Any:
    """Summed cross entropy of the labelled positions, with the head applied to those alone.

    Equal to the stock loss times the number of labels; the logits of the other positions (most of them) are never made.
    """
    import torch.nn.functional as functional

    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    states = inner.get_decoder()(
        input_ids=batch["input_ids"], attention_mask=batch.get("attention_mask"), use_cache=False
    ).last_hidden_state  # (B, T, H)
    targets = batch["labels"][:, 1:]
    scored = targets != IGNORED  # (B, T - 1)
    logits = inner.get_output_embeddings()(states[:, :-1][scored]).float()  # (labels, V)
    return functional.cross_entropy(logits, targets[scored], reduction="sum")


def head_is_plain(model: Any, row: dict[str, list[int]]) -> bool:
    """True where `labelled_loss` is the model's own loss: no scaling or soft-capping of logits behind the head."""
    import torch

    batch = {name: torch.tensor([values], device=model.device) for name, values in row.items()}
    labels = int((batch["labels"][:, 1:] != IGNORED).sum())
    half = model.dtype in (torch.float16, torch.bfloat16)
    scored: list[float] = []
    losses: list[Callable[[], Any]] = [
        lambda: labelled_loss(model, batch) / labels,
        lambda: model(**batch, use_cache=False).loss,
    ]
    model.train()  # never eval(): on CPU that repacks 4-bit weights into a form that no gradient passes
    with torch.no_grad(), torch.autocast(model.device.type, dtype=model.dtype) if half else nullcontext():
        for loss in losses:
            with torch.random.fork_rng():  # the same dropout in both
                scored.append(float(loss()))
    compact, stock = scored
    if math.isfinite(stock) and abs(compact - stock) > HEAD_TOLERANCE * max(1.0, abs(stock)):
        print(f"this base changes its logits behind the head; scoring every position ({stock:.4f})", file=sys.stderr)
        return False
    return True


def collate(rows: Sequence[dict[str, list[int]]], pad_id: int) -> dict[str, Any]:
    """Right-padded tensors (B, T). Rows of one length come without a mask: attention is then plainly causal."""
    import torch

    longest = max(len(row["input_ids"]) for row in rows)
    batch = {
        name: torch.tensor([row[name] + [fill] * (longest - len(row[name])) for row in rows])
        for name, fill in (("input_ids", pad_id), ("labels", IGNORED))
    }
    if any(len(row["input_ids"]) < longest for row in rows):
        lengths = torch.tensor([len(row["input_ids"]) for row in rows])
        batch["attention_mask"] = (torch.arange(longest) < lengths[:, None]).long()
    return batch


def make_trainer(
    model: Any,
    tokenizer: Any,
    dataset: Dataset,
    out: Path,
    settings: dict[str, Any],
    total: int,
    progress: stage.Progress,
    compact: bool,
) -> tuple[Any, Any]:
    """A transformers Trainer with our loss and collation, and the callback that logs."""
    import torch
    from transformers import Trainer, TrainerCallback, TrainingArguments
    from transformers.trainer_callback import PrinterCallback

    class Log(TrainerCallback):  # type: ignore[misc]
        """Write log_history.jsonl, show progress, mark checkpoints that are whole, stop a run that is lost or won."""

        def __init__(self) -> None:
            self.entries: list[dict[str, Any]] = []
            self.reached = False
            self.path = out / "log_history.jsonl"

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            """Repeat what the checkpoint knows, so that no step is lost or there twice."""
            self.entries = [entry for logs in state.log_history if (entry := log_entry(logs, logs["step"]))]
            self.path.write_text("".join(json.dumps(entry) + "\n" for entry in self.entries))
            for entry in self.entries:
                progress.record(f"step-{entry['step']}", "from the checkpoint")

        def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any], **_: Any) -> None:
            """Append one step."""
            entry = log_entry(logs, state.global_step)
            if entry is None:
                return
            self.entries.append(entry)
            with self.path.open("a") as stream:
                stream.write(json.dumps(entry) + "\n")
            progress.record(f"step-{entry['step']}", f"loss {entry['loss']:.4f} grad_norm {entry['grad_norm']:.3f}")
            if not math.isfinite(entry["loss"]):
                raise BadInputError(
                    f"loss is {entry['loss']} at step {entry['step']}; lower --lr, or compute in --dtype fp32"
                )
            window = [entry["loss"] for entry in self.entries[-(total // settings["epochs"]) :]]
            self.reached = state.epoch is not None and state.epoch >= 1 and max(window) < OVERFIT_LOSS
            if settings["overfit"] and self.reached:
                control.should_training_stop = True

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            """Mark the checkpoint; one that was cut off while it was written stays without the mark."""
            checkpoint = Path(args.output_dir) / f"checkpoint-{state.global_step}"
            write_json(checkpoint / "complete.json", {"data": data_hash, "step": state.global_step})

    class LabelledTrainer(Trainer):  # type: ignore[misc]
        """Trainer whose loss makes logits for labelled positions only."""

        def compute_loss(
            self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            """Summed loss over the number of labels in the whole optimizer step."""
            if not compact:
                return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
            # The autocast that accelerate wraps around model.forward is not on the way to the decoder.
            with self.accelerator.autocast():
                return labelled_loss(self.accelerator.unwrap_model(model), inputs) / num_items_in_batch

    data_hash = dataset.hash()
    on_cpu = model.device.type == "cpu"
    compute = pick_dtype(settings["dtype"], model.device.type)
    checkpointing = settings["gradient_checkpointing"]
    checkpointing = not on_cpu if checkpointing is None else checkpointing
    if checkpointing:
        model.enable_input_require_grads()
    arguments = TrainingArguments(
        output_dir=str(out / "checkpoints"),
        per_device_train_batch_size=settings["batch"],
        gradient_accumulation_steps=settings["accum"],
        num_train_epochs=settings["epochs"],
        learning_rate=settings["lr"],
        lr_scheduler_type="constant_with_warmup" if settings["overfit"] else "linear",
        warmup_steps=WARMUP,
        max_grad_norm=1.0,
        optim="adamw_torch",
        weight_decay=0.0,
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_strategy="no" if settings["overfit"] else "steps",
        save_steps=max(1, min(100, total // 10)),
        save_total_limit=2,
        train_sampling_strategy="group_by_length" if settings["batch"] > 1 else "random",
        gradient_checkpointing=checkpointing,
        gradient_checkpointing_kwargs={"use_reentrant": False} if checkpointing else None,
        fp16=compute == torch.float16,
        bf16=compute == torch.bfloat16,
        use_cpu=on_cpu,
        dataloader_pin_memory=not on_cpu,
        remove_unused_columns=False,
        disable_tqdm=True,
        report_to=["tensorboard"],
        seed=settings["seed"],
    )
    pad_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0  # padding is masked, any id will do
    log = Log()
    trainer = LabelledTrainer(
        model=model,
        args=arguments,
        train_dataset=[example.row() for example in dataset.examples],
        data_collator=lambda rows: collate(rows, pad_id),
        callbacks=[log],
    )
    trainer.model_accepts_loss_kwargs = True
    trainer.remove_callback(PrinterCallback)
    return trainer, log


def log_entry(logs: dict[str, Any], step: int) -> dict[str, Any] | None:
    """The line of log_history.jsonl for one of Trainer's logs; None for its closing summary."""
    if "loss" not in logs:
        return None
    return {
        "step": step,
        "epoch": logs.get("epoch"),
        "loss": logs["loss"],
        "lr": logs["learning_rate"],
        "grad_norm": logs["grad_norm"],
    }


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


def write_identity(out: Path, base: str, dataset: Dataset, renderer: Renderer, manifest: dict[str, Any]) -> None:
    """render.json and sekft.json: how to talk to the adapter, what it belongs to and what it has seen."""
    write_json(out / "render.json", renderer.describe())
    write_json(
        out / "sekft.json",
        {
            "base": base,
            "base_hash": manifest["flags"]["base_hash"],
            "flags": manifest["flags"],
            "git_commit": manifest["git_commit"],
            "data_hash": dataset.hash(),
            "trained_on": [
                {
                    "scenario_id": row.scenario_id,
                    "content_hash": row.scenario_hash,
                    "archetype": row.axes["task"],
                    "trajectory_id": row.id,
                }
                for row in trained_rows(dataset)
            ],
        },
    )


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    add = parser.add_argument
    add("--data", type=Path, required=True, help="directory of trajectories (rollout.py --out)")
    add("--base", required=True, help="base model: a directory, or a hub name where a hub is reachable")
    add("--out", type=Path, default=None, help="adapter directory to write; name one per run")
    add("--holdout", type=Path, default=None, help="held-out scenarios (split.py): refuse data that overlaps")
    add("--render", choices=("markers", "chat"), default="markers", help="wire format (default markers)")
    add("--lora-r", type=int, default=16, help="adapter rank (default 16)")
    add("--lora-alpha", type=int, default=32, help="adapter scale times rank (default 32)")
    add("--lora-targets", default=ATTENTION, help=f"comma-separated linear layers, or all-linear (default {ATTENTION})")
    add("--lr", type=float, default=2e-4, help="peak learning rate, linear decay after a warm-up (default 2e-4)")
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
    return parser


if __name__ == "__main__":
    stage.run(main, parser())
