"""The training loop: a fresh adapter, the loss on the operator's turns, the log, and when a run stops.

    from training.loop import add_lora, make_trainer

    model = add_lora(model, settings)
    trainer, log = make_trainer(model, rows, out, settings, data_hash="", progress=bar, compact=True)
    trainer.train()

Writes <out>/checkpoints, <out>/log_history.jsonl and TensorBoard's files. Trained weights are fp32 under every dtype,
because a gradient scaler unscales only fp32 gradients. fp16 runs under a scaler on CPU as on CUDA: each line of the log
has its scale and the number of skipped steps. NaN losses are logged like any other. A run stops where its loss is not
finite or its scale has collapsed.
"""

import json
import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from pipeline import stage
from model.loading import pick_dtype
from pipeline.files import write_json
from schema import BadInputError
from training.dataset import IGNORED, steps_of
from training.settings import LoopSettings, TrainingSettings

OVERFIT_LOSS = 0.05  # nats per trained token, over every batch of an epoch
WARMUP = 0.05  # of all steps
HEAD_TOLERANCE = 1e-2  # nats per token between the compact and the stock loss; fp16 and bf16 need the room
FORWARD_SHARE = 0.45  # of the time of a forward and a backward pass on a CPU
MIN_SCALE = 1.0  # of the gradient scaler: it starts at 65,536 and halves with every step that overflows


def add_lora(model: Any, settings: TrainingSettings) -> Any:
    """The model with a fresh adapter in fp32 and everything else frozen; `ModelShape.trainable` checks the targets."""
    import torch
    from peft import LoraConfig, get_peft_model

    targets: Any = settings.lora_targets
    if targets != "all-linear":
        targets = targets.split(",")
    config = LoraConfig(
        r=settings.lora_r, lora_alpha=settings.lora_alpha, target_modules=targets, task_type="CAUSAL_LM"
    )
    model = get_peft_model(model, config)
    for parameter in model.parameters():
        # GradScaler cannot unscale half-precision gradients, and CUDA has no kernel for bf16 ones.
        assert not parameter.requires_grad or parameter.dtype == torch.float32
    return model


def unpack_4bit(model: Any) -> None:
    """Restore the form of 4-bit weights that gradients pass through.

    On CPU bitsandbytes 0.50 repacks them permanently in the first forward pass of eval(). The kernel for that form has
    no backward pass, so later training would silently lose the gradients that pass through the frozen weights.
    """
    for module in model.modules():
        state = getattr(getattr(module, "weight", None), "quant_state", None)
        if getattr(state, "packing_format_for_cpu", False):
            from bitsandbytes.functional import _convert_weight_packed_for_cpu_inverse

            module.weight.data, module.weight.quant_state = _convert_weight_packed_for_cpu_inverse(
                module.weight.data, state
            )


def without_adapter(model: Any) -> Any:
    """The model below an adapter; a model without one is its own."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def compact_loss(model: Any, batch: dict[str, Any]) -> Any:
    """Summed cross entropy of the trained positions, with the head applied to those only.

    Equal to the stock loss times the number of labels. The logits of all other positions, which are most of them, are
    not computed.
    """
    import torch.nn.functional as functional

    inner = without_adapter(model)
    states = inner.get_decoder()(input_ids=batch["input_ids"], use_cache=False).last_hidden_state  # (B, T, H)
    targets = batch["labels"][:, 1:]
    trained = targets != IGNORED  # (B, T - 1)
    logits = inner.get_output_embeddings()(states[:, :-1][trained]).float()  # (labels, V)
    return functional.cross_entropy(logits, targets[trained], reduction="sum")


def head_is_plain(model: Any, row: dict[str, list[int]]) -> bool:
    """True where `compact_loss` equals the model's own loss: logits are not scaled or soft-capped after the head."""
    import torch

    batch = {name: torch.tensor([values], device=model.device) for name, values in row.items()}
    labels = int((batch["labels"][:, 1:] != IGNORED).sum())
    half = model.dtype in (torch.float16, torch.bfloat16)
    found: list[float] = []
    losses: list[Callable[[], Any]] = [
        lambda: compact_loss(model, batch) / labels,
        lambda: model(**batch, use_cache=False).loss,
    ]
    model.train()  # never eval(), which on CPU repacks 4-bit weights so that no gradient passes
    with torch.no_grad(), torch.autocast(model.device.type, dtype=model.dtype) if half else nullcontext():
        for loss in losses:
            with torch.random.fork_rng():  # the same dropout in both
                found.append(float(loss()))
    compact, stock = found
    if math.isfinite(stock) and abs(compact - stock) > HEAD_TOLERANCE * max(1.0, abs(stock)):
        print(
            f"this base changes its logits after the head; every position gets logits ({stock:.4f})",
            file=sys.stderr,
        )
        return False
    return True


def collate(rows: Sequence[dict[str, list[int]]]) -> dict[str, Any]:
    """Right-padded tensors (B, T) without a mask: causal attention never looks right, and padding has no label.

    So any id can pad (a tokenizer's pad id may lie outside the embedding), and SDPA keeps its causal kernels.
    """
    import torch

    longest = max(len(row["input_ids"]) for row in rows)
    return {
        name: torch.tensor([row[name] + [fill] * (longest - len(row[name])) for row in rows])
        for name, fill in (("input_ids", 0), ("labels", IGNORED))
    }


def single_rows(batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of a padded batch, each (1, T) up to its last label: causal attention never looks right."""
    for ids, labels in zip(batch["input_ids"], batch["labels"], strict=True):
        trained = (labels != IGNORED).nonzero()
        end = int(trained[-1]) + 1 if len(trained) else len(ids)
        yield {"input_ids": ids[None, :end], "labels": labels[None, :end]}


@dataclass(frozen=True)
class Objective:
    """What a run minimises, and what it logs beside the loss."""

    collate: Callable[[Sequence[Any]], dict[str, Any]]  # rows into a batch
    pieces: Callable[[dict[str, Any]], Iterator[dict[str, Any]]]  # the parts of a batch that one core works on
    loss: Callable[[Any, dict[str, Any]], Any]  # model, batch or piece: the sum of its losses
    count: Callable[[dict[str, Any]], int] | None = None  # what the sum is divided by; None: the labels
    figures: Callable[[], dict[str, float]] = dict  # of the step that just ended
    why_failed: Callable[[Sequence[dict[str, Any]]], str | None] = lambda entries: None  # of the log so far


SUPERVISED = Objective(collate, single_rows, compact_loss)


@contextmanager
def late_cores(model: Any, share: float, cores: int) -> Iterator[None]:
    """Inside the block this thread has all `cores` once it has done `share` of a forward and a backward pass.

    A layer marks the place, not the clock: every run computes the same sums.
    """
    import torch

    layers = getattr(without_adapter(model).get_decoder(), "layers", ())
    if in_forward := share < FORWARD_SHARE:
        place = math.ceil(share / FORWARD_SHARE * len(layers))
    else:
        place = int((1 - share) / (1 - FORWARD_SHARE) * len(layers))
    thread = threading.get_ident()

    def take_cores(*_: Any) -> None:
        torch.set_num_threads(cores)

    def before_layer(_: Any, inputs: tuple[Any, ...]) -> None:
        if threading.get_ident() == thread:
            if in_forward:
                take_cores()
            elif inputs and inputs[0].requires_grad:
                inputs[0].register_hook(take_cores)  # called when the backward pass has left this layer

    with layers[min(place, len(layers) - 1)].register_forward_pre_hook(before_layer) if layers else nullcontext():
        yield


def add_gradients(
    model: Any, batch: dict[str, Any], count: int, autocast: Callable[[], Any], objective: Objective = SUPERVISED
) -> Any:
    """Add the gradients of the summed loss over `count` on a CPU; returns the loss.

    The pieces of the batch are worked on side by side, with an equal share of the cores each: the products of a small
    base are too short to be divided well. Where each has a thread of its own, the longest has all cores once the others
    are done, by their lengths. The sum does not depend on which piece is done first.
    """
    import torch

    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    rows = sorted(objective.pieces(batch), key=lambda row: -row["input_ids"].shape[1])
    cores = torch.get_num_threads()
    workers = min(cores, len(rows))

    def work(row: dict[str, Any]) -> tuple[Any, Any]:
        torch.set_num_threads(cores // workers)  # of this thread
        with autocast():
            loss = objective.loss(model, row) / count
        return loss.detach(), torch.autograd.grad(loss, parameters)

    # The longest row stays in this thread: in a new one all cores would be a new team of OpenMP threads in every step.
    here, others = (rows[:1], rows[1:]) if workers == len(rows) else ([], rows)
    done = others[0]["input_ids"].shape[1] / rows[0]["input_ids"].shape[1] if here and others else 1.0
    total = torch.zeros(())
    pool = ThreadPoolExecutor(max(1, workers - len(here)))
    try:
        with late_cores(model, done, cores):
            found = pool.map(work, others)
            for loss, gradients in chain(map(work, here), found):
                total += loss
                for parameter, gradient in zip(parameters, gradients, strict=True):
                    parameter.grad = gradient if parameter.grad is None else parameter.grad.add_(gradient)
    finally:
        pool.shutdown()
        torch.set_num_threads(cores)
    return total


def training_arguments(
    settings: LoopSettings, total: int, out: Path, *, on_cpu: bool, side_by_side: bool = False
) -> dict[str, Any]:
    """The arguments of transformers' TrainingArguments; `total` is the number of steps of the run.

    With `side_by_side` a batch holds every row of an optimizer step, for `add_gradients`.
    """
    import torch

    compute = pick_dtype(settings.dtype, "cpu" if on_cpu else "cuda")
    checkpointing = settings.gradient_checkpointing
    checkpointing = not on_cpu if checkpointing is None else checkpointing
    return {
        "output_dir": str(out / "checkpoints"),
        "per_device_train_batch_size": settings.batch * (settings.accum if side_by_side else 1),
        "gradient_accumulation_steps": 1 if side_by_side else settings.accum,
        "num_train_epochs": settings.epochs,
        "learning_rate": settings.lr,
        "lr_scheduler_type": "constant_with_warmup" if settings.overfit else "linear",
        "warmup_steps": WARMUP if total * WARMUP >= 1 else 0,  # the first step of a warm-up changes nothing
        "max_grad_norm": 1.0,
        "optim": "adamw_torch",
        "weight_decay": 0.0,
        "logging_steps": 1,
        "logging_nan_inf_filter": False,
        "save_strategy": "no" if settings.overfit else "steps",
        "save_steps": max(1, min(100, total // 10)),
        "save_total_limit": 2,
        "train_sampling_strategy": "group_by_length" if settings.batch > 1 and not side_by_side else "random",
        "gradient_checkpointing": checkpointing,
        "gradient_checkpointing_kwargs": {"use_reentrant": False} if checkpointing else None,
        "fp16": compute == torch.float16,
        "bf16": compute == torch.bfloat16,
        "use_cpu": on_cpu,
        "dataloader_pin_memory": not on_cpu,
        "remove_unused_columns": False,
        "disable_tqdm": True,
        "report_to": [],
        "seed": settings.seed,
    }


def make_trainer(
    model: Any,
    rows: Sequence[Any],
    out: Path,
    settings: LoopSettings,
    *,
    data_hash: str,
    progress: stage.Progress,
    compact: bool,
    logdir: Path | None = None,
    objective: Objective = SUPERVISED,
) -> tuple[Any, Any]:
    """A transformers Trainer with our loss and collation, and its callback with the log (`entries`).

    With `compact` the loss is that of `objective` (`compact_loss` is right where `head_is_plain`), without it the
    model's own. `data_hash` marks the rows that a checkpoint belongs to. TensorBoard's files go to `logdir` (default
    <out>/runs).
    """
    import torch
    from transformers import Trainer, TrainerCallback, TrainingArguments
    from transformers.integrations import TensorBoardCallback
    from transformers.trainer_callback import PrinterCallback

    total = steps_of(len(rows), settings.batch, settings.accum, settings.epochs)

    class Log(TrainerCallback):  # type: ignore[misc]
        """Write log_history.jsonl, show progress, mark complete checkpoints, stop runs that failed or are done."""

        def __init__(self) -> None:
            self.entries: list[dict[str, Any]] = []
            self.reached = False
            self.skipped = 0
            self.path = out / "log_history.jsonl"

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            """Write the steps of the checkpoint again, so that no step is missing or doubled."""
            self.entries = [entry for logs in state.log_history if (entry := log_entry(logs, logs["step"]))]
            self.skipped = max((entry.get("skipped_steps", 0) for entry in self.entries), default=0)
            self.path.write_text("".join(json.dumps(entry) + "\n" for entry in self.entries))
            for entry in self.entries:
                progress.record(f"step-{entry['step']}", "from the checkpoint")

        def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any], **_: Any) -> None:
            """Append one step."""
            if "loss" not in logs:
                return
            scaler = trainer.accelerator.scaler
            if scaler is not None:
                self.skipped += int(trainer.accelerator.optimizer_step_was_skipped)
                logs = {**logs, "scale": scaler.get_scale(), "skipped_steps": self.skipped}
                state.log_history[-1] |= logs  # stored in checkpoints, for on_train_begin
            entry = log_entry(logs, state.global_step)
            assert entry is not None
            self.entries.append(entry)
            with self.path.open("a") as stream:
                stream.write(json.dumps(entry) + "\n")
            progress.record(f"step-{entry['step']}", f"loss {entry['loss']:.4f} grad_norm {entry['grad_norm']:.3f}")
            if failure := why_failed(entry) or objective.why_failed(self.entries):
                raise BadInputError(failure)
            window = [entry["loss"] for entry in self.entries[-(total // settings.epochs) :]]
            self.reached = state.epoch is not None and state.epoch >= 1 and max(window) < OVERFIT_LOSS
            if settings.overfit and self.reached:
                control.should_training_stop = True

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            """Mark the checkpoint as complete; one that was interrupted while it was written has no mark."""
            checkpoint = Path(args.output_dir) / f"checkpoint-{state.global_step}"
            write_json(checkpoint / "complete.json", {"data": data_hash, "step": state.global_step})

    class CompactTrainer(Trainer):  # type: ignore[misc]
        """Trainer whose loss is the objective's, with logits for trained positions only."""

        def compute_loss(
            self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            """Summed loss over the number of labels (or what else counts) in the whole optimizer step."""
            if not compact:
                return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
            # The objective calls the decoder directly, without the autocast that accelerate wraps around model.forward.
            with self.accelerator.autocast():
                return objective.loss(self.accelerator.unwrap_model(model), inputs) / num_items_in_batch

        def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
            """Log a step with the figures of the objective."""
            super().log({**logs, **(objective.figures() if "loss" in logs else {})}, start_time)

        def _get_num_items_in_batch(self, batch_samples: list[Any], device: Any) -> Any:
            """What the loss of an optimizer step is divided by."""
            if objective.count is None:
                return super()._get_num_items_in_batch(batch_samples, device)
            return sum(map(objective.count, batch_samples))

        def training_step(self, model: Any, inputs: dict[str, Any], num_items_in_batch: Any = None) -> Any:
            """Loss and gradients of one batch."""
            if not side_by_side:
                return super().training_step(model, inputs, num_items_in_batch)
            model.train()
            return add_gradients(
                self.accelerator.unwrap_model(model), inputs, num_items_in_batch, self.accelerator.autocast, objective
            )

    on_cpu = model.device.type == "cpu"
    # A gradient scaler wants the loss of the whole batch.
    side_by_side = on_cpu and compact and pick_dtype(settings.dtype, "cpu") != torch.float16
    given = training_arguments(settings, total, out, on_cpu=on_cpu, side_by_side=side_by_side)
    if objective is not SUPERVISED:  # whose rows have one length
        given["train_sampling_strategy"] = "random"
    arguments = TrainingArguments(**given)
    # Trainer would use every visible GPU, and --batch would be the batch of each.
    arguments._n_gpu = min(arguments.n_gpu, 1)
    log, tensorboard = Log(), TensorBoardCallback()
    tensorboard.logging_dir = str((logdir or out / "runs").expanduser())
    trainer = CompactTrainer(
        model=model,
        args=arguments,
        train_dataset=rows,
        data_collator=objective.collate,
        callbacks=[tensorboard, log],
    )
    trainer.model_accepts_loss_kwargs = True
    trainer.remove_callback(PrinterCallback)
    if on_cpu and arguments.fp16:  # accelerate sets these up on accelerators only
        trainer.accelerator.native_amp = True
        trainer.accelerator.scaler = torch.amp.GradScaler("cpu")
    return trainer, log


def why_failed(entry: dict[str, Any]) -> str | None:
    """The reason why a run cannot continue after this step, with a remedy; None while it can."""
    if not math.isfinite(entry["loss"]):
        return f"loss is {entry['loss']} at step {entry['step']}; lower --lr, or compute in --dtype fp32"
    if entry.get("scale", MIN_SCALE) < MIN_SCALE:
        return (
            f"fp16 overflows: {entry['skipped_steps']} steps were skipped up to step {entry['step']}, and the gradient "
            f"scale fell to {entry['scale']:g}; lower --lr, or compute in --dtype fp32 (bf16 from sm_80 on)"
        )
    return None


def log_entry(logs: dict[str, Any], step: int) -> dict[str, Any] | None:
    """The line of log_history.jsonl for one of Trainer's logs; None for its closing summary.

    `scale` and `skipped_steps` (since the start) belong to the gradient scaler and exist only in fp16. The figures of
    an objective follow under their own names.
    """
    if "loss" not in logs:
        return None
    named = {"step", "epoch", "loss", "learning_rate", "grad_norm"}
    return {
        "step": step,
        "epoch": logs.get("epoch"),
        "loss": logs["loss"],
        "lr": logs["learning_rate"],
        "grad_norm": logs["grad_norm"],
        **{name: value for name, value in logs.items() if name not in named},
    }
