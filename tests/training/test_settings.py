"""The flags of a training: defaults, values that depend on each other, and what the manifest records of them."""

import dataclasses
from pathlib import Path

import pytest

from model import hardware
from model.hardware import Workload
from schema import BadInputError
from tests.helpers.training import fit_settings
from training.run import flags_of
from training.settings import EPOCHS, OVERFIT_EPOCHS, FitSettings, TrainingSettings


def test_flags_and_record_have_the_same_defaults() -> None:
    assert fit_settings() == FitSettings(data=Path("x"), base="y")


def test_overfit_sets_epochs_and_accumulation() -> None:
    assert (fit_settings().epochs, fit_settings().accum) == (EPOCHS, 8)
    overfit = fit_settings("--overfit", 2)
    assert (overfit.epochs, overfit.accum) == (OVERFIT_EPOCHS, 1)
    assert fit_settings("--overfit", 2, "--epochs", 7).epochs == 7


@pytest.mark.parametrize("flag", ["--lora-r", "--lora-alpha", "--epochs", "--batch", "--accum", "--limit", "--overfit"])
def test_numbers_below_one_are_refused(flag: str) -> None:
    with pytest.raises(BadInputError, match=f"{flag} is 0; it must be at least 1"):
        fit_settings(flag, 0)


def test_manifest_records_the_flags_that_decide_the_weights(tmp_path: Path) -> None:
    flags = flags_of(fit_settings(base=str(tmp_path)))
    fields = {field.name for field in dataclasses.fields(TrainingSettings)}
    assert set(flags) == fields | {"base", "base_hash", "scenarios"}
    assert {"data", "out", "logdir", "redo"}.isdisjoint(flags)


@pytest.mark.parametrize(
    ("dtype", "speedup", "half"),
    [("auto", 1.0, False), ("auto", 2.0, True), ("fp32", 2.0, False), ("fp16", 1.0, True), ("bf16", 1.0, True)],
)
def test_workload_on_a_cpu(dtype: str, speedup: float, half: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(hardware, "bf16_speedup_here", lambda: speedup)
    found = fit_settings("--dtype", dtype, "--batch", 2).workload([5, 9], [1, 2])
    rows = min(torch.get_num_threads(), 2 * 8)  # of a step, one core each
    assert found == Workload(
        [5, 9], [1, 2], 16, "all-linear", EPOCHS, rows, load_4bit=False, checkpointing=False, half=half
    )
