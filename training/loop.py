"""Hold the training loop: a fresh adapter, the loss on labelled positions alone, what is logged, when a run is lost.

    from training.loop import add_lora, make_trainer

Reads   nothing
Writes  <out>/checkpoints, <out>/log_history.jsonl, TensorBoard's files
Needs   torch, transformers, peft

Trained weights are fp32 whatever the base's dtype, since a gradient scaler unscales nothing else. fp16 runs under one
on CPU as on CUDA: each line of the log has its scale and the steps it skipped, NaN losses are logged like any other,
and a run whose loss is not finite or whose scale has collapsed stops there.
"""

import json
import math
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from model.loading import pick_dtype
from pipeline import stage
from schema import BadInputError, write_json
from training.dataset import IGNORED, steps_of

OVERFIT_LOSS = 0.05  # nats per labelled token, over every batch of an epoch
WARMUP = 0.05  # of all steps
HEAD_TOLERANCE = 1e-2  # nats per token between the compact and the stock loss; fp16 and bf16 need the room
MIN_SCALE = 1.0  # of the gradient scaler: it starts at 65,536 and halves with every step that overflows


def add_lora(model: Any, settings: dict[str, Any]) -> Any:
    """The model with a fresh adapter in fp32 and everything else frozen; `Shape.trainable` knows the targets."""
    import torch
    from peft import LoraConfig, get_peft_model

    targets: Any = settings["lora_targets"]
    if targets != "all-linear":
        targets = targets.split(",")
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


def labelled_loss(model: Any, batch: dict[str, Any]) -> Any:
    """Summed cross entropy of the labelled positions, with the head applied to those alone.

    Equal to the stock loss times the number of labels; the logits of the other positions (most of them) are never made.
    """
    import torch.nn.functional as functional

    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    states = inner.get_decoder()(input_ids=batch["input_ids"], use_cache=False).last_hidden_state  # (B, T, H)
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


def collate(rows: Sequence[dict[str, list[int]]]) -> dict[str, Any]:
    """Right-padded tensors (B, T) without a mask: causal attention never looks right, and padding has no label.

    So any id pads (a tokenizer's own may lie beyond the embedding), and SDPA keeps its causal kernels.
    """
    import torch

    longest = max(len(row["input_ids"]) for row in rows)
    return {
        name: torch.tensor([row[name] + [fill] * (longest - len(row[name])) for row in rows])
        for name, fill in (("input_ids", 0), ("labels", IGNORED))
    }


def training_arguments(settings: dict[str, Any], total: int, out: Path, *, on_cpu: bool) -> dict[str, Any]:
    """What transformers' TrainingArguments are made of; `settings` are sft.py's flags, `total` the steps of the run."""
    import torch

    compute = pick_dtype(settings["dtype"], "cpu" if on_cpu else "cuda")
    checkpointing = settings["gradient_checkpointing"]
    checkpointing = not on_cpu if checkpointing is None else checkpointing
    return {
        "output_dir": str(out / "checkpoints"),
        "per_device_train_batch_size": settings["batch"],
        "gradient_accumulation_steps": settings["accum"],
        "num_train_epochs": settings["epochs"],
        "learning_rate": settings["lr"],
        "lr_scheduler_type": "constant_with_warmup" if settings["overfit"] else "linear",
        "warmup_steps": WARMUP if total * WARMUP >= 1 else 0,  # the first step of a warm-up changes nothing
        "max_grad_norm": 1.0,
        "optim": "adamw_torch",
        "weight_decay": 0.0,
        "logging_steps": 1,
        "logging_nan_inf_filter": False,
        "save_strategy": "no" if settings["overfit"] else "steps",
        "save_steps": max(1, min(100, total // 10)),
        "save_total_limit": 2,
        "train_sampling_strategy": "group_by_length" if settings["batch"] > 1 else "random",
        "gradient_checkpointing": checkpointing,
        "gradient_checkpointing_kwargs": {"use_reentrant": False} if checkpointing else None,
        "fp16": compute == torch.float16,
        "bf16": compute == torch.bfloat16,
        "use_cpu": on_cpu,
        "dataloader_pin_memory": not on_cpu,
        "remove_unused_columns": False,
        "disable_tqdm": True,
        "report_to": ["tensorboard"],
        "seed": settings["seed"],
    }


def make_trainer(
    model: Any,
    rows: Sequence[dict[str, list[int]]],
    out: Path,
    settings: dict[str, Any],
    *,
    data_hash: str,
    progress: stage.Progress,
    compact: bool,
) -> tuple[Any, Any]:
    """A transformers Trainer with our loss and collation, and the callback that logs.

    `compact` scores labelled positions alone (where `head_is_plain`); `data_hash` marks what a checkpoint belongs to.
    """
    import torch
    from transformers import Trainer, TrainerCallback, TrainingArguments
    from transformers.trainer_callback import PrinterCallback

    total = steps_of(len(rows), settings["batch"], settings["accum"], settings["epochs"])

    class Log(TrainerCallback):  # type: ignore[misc]
        """Write log_history.jsonl, show progress, mark checkpoints that are whole, stop a run that is lost or won."""

        def __init__(self) -> None:
            self.entries: list[dict[str, Any]] = []
            self.reached = False
            self.skipped = 0
            self.path = out / "log_history.jsonl"

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            """Repeat what the checkpoint knows, so that no step is lost or there twice."""
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
                state.log_history[-1] |= logs  # what a checkpoint repeats
            entry = log_entry(logs, state.global_step)
            assert entry is not None
            self.entries.append(entry)
            with self.path.open("a") as stream:
                stream.write(json.dumps(entry) + "\n")
            progress.record(f"step-{entry['step']}", f"loss {entry['loss']:.4f} grad_norm {entry['grad_norm']:.3f}")
            if lost := why_lost(entry):
                raise BadInputError(lost)
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

    on_cpu = model.device.type == "cpu"
    arguments = TrainingArguments(**training_arguments(settings, total, out, on_cpu=on_cpu))
    # Trainer would spread over every GPU it sees, and --batch would be one GPU's share.
    arguments._n_gpu = min(arguments.n_gpu, 1)
    log = Log()
    trainer = LabelledTrainer(
        model=model,
        args=arguments,
        train_dataset=rows,
        data_collator=collate,
        callbacks=[log],
    )
    trainer.model_accepts_loss_kwargs = True
    trainer.remove_callback(PrinterCallback)
    if on_cpu and arguments.fp16:  # accelerate has autocast and scaler on accelerators only; the rules are the same
        trainer.accelerator.native_amp = True
        trainer.accelerator.scaler = torch.amp.GradScaler("cpu")
    return trainer, log


def why_lost(entry: dict[str, Any]) -> str | None:
    """Why a run cannot go on after this step, and what to do; None while it can."""
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

    `scale` and `skipped_steps` (since the start) are those of the gradient scaler, there in fp16 alone.
    """
    if "loss" not in logs:
        return None
    return {
        "step": step,
        "epoch": logs.get("epoch"),
        "loss": logs["loss"],
        "lr": logs["learning_rate"],
        "grad_norm": logs["grad_norm"],
        **{name: logs[name] for name in ("scale", "skipped_steps") if name in logs},
    }
