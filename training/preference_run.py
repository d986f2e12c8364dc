"""Train an adapter on preference pairs, from where another adapter ended.

    losses, figures = train_pairs(data, settings, out)

The trainable adapter is the start adapter itself. Its log-probs are computed before its first step, and are the
reference from then on, so that neither a second base nor a second adapter is held.
"""

import time
from pathlib import Path
from typing import Any

from pipeline import stage
from model.loading import load_model
from training import reload
from training.dataset import steps_of
from training.loop import head_is_plain, make_trainer, unpack_4bit
from training.preference import (
    REFERENCE,
    DpoSettings,
    PreferenceData,
    pair_rows,
    preference_objective,
    reference_log_probs,
)
from training.run import last_checkpoint, save_adapter

LAST = ("margin", "accuracy", "chosen_log_prob", "chosen_log_ratio", "chosen_ending_log_ratio")  # in the summary


def train_pairs(data: PreferenceData, settings: DpoSettings, out: Path) -> tuple[list[float], dict[str, Any]]:
    """Train and save the adapter; returns the loss of every step since the start, and figures for the summary."""
    from transformers import set_seed

    from model.layers import fast_layers  # needs torch

    set_seed(settings.seed)
    model, _ = load_model(settings.base, settings.adapter, dtype=settings.dtype, load_4bit=settings.load_4bit)
    unpack_4bit(model)
    unfreeze(model)
    checkpoint = last_checkpoint(out / "checkpoints", data.hash())
    total = steps_of(len(data.pairs), settings.batch, settings.accum, settings.epochs)
    with fast_layers(model):
        compact = head_is_plain(model, data.dataset.examples[0].row())
        reference = reference_log_probs(model, data, settings, out / REFERENCE, compact=compact)
        with stage.Progress(total, "train") as progress:
            trainer, log = make_trainer(
                model, pair_rows(data, settings, reference), out, settings, data_hash=data.hash(), progress=progress,
                compact=True, logdir=settings.logdir, objective=preference_objective(settings, compact=compact),
            )  # fmt: skip
            started = time.monotonic()
            trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
            seconds = time.monotonic() - started
    save_adapter(trainer, out)
    trained = trainer.accelerator.unwrap_model(trainer.model, keep_fp32_wrapper=False)
    reload.write_probe(trained, [example.encoded.token_ids for example in data.dataset.examples], out)
    last = log.entries[-1]
    return [entry["loss"] for entry in log.entries], {
        "steps": trainer.state.global_step,
        "resumed_from": int(checkpoint.name.split("-")[1]) if checkpoint else None,
        "train_seconds": round(seconds, 1),
        "trainable_parameters": sum(p.numel() for p in model.parameters() if p.requires_grad),
        "dtype": str(model.dtype).removeprefix("torch."),
        **{f"{name}_last": last[name] for name in LAST},
        **({"overfit_reached": log.reached} if settings.overfit else {}),
    }


def unfreeze(model: Any) -> None:
    """Make the adapter's weights trainable, which are fp32, and nothing else."""
    import torch

    for name, parameter in model.named_parameters():
        if "lora_" in name:
            assert parameter.dtype == torch.float32
            parameter.requires_grad_(True)
