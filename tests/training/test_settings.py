"""The flags of a training: defaults, values that depend on each other, and what the manifest records of them."""

import dataclasses
import re
from pathlib import Path

import pytest

import rl
from model import hardware
from model.hardware import Workload
from schema import BadInputError
from tests.helpers.training import fit_settings
from training.rl_settings import RlSettings
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
    with pytest.raises(BadInputError, match=f"{flag} 0: must be at least 1"):
        fit_settings(flag, 0)


def rl_settings(*flags: object) -> RlSettings:
    """The settings that rl.py's flags give; --adapter, --scenarios and --base are there already."""
    named = ["--adapter", "x", "--scenarios", "y", "--base", "z"]
    return RlSettings(**vars(rl.parser().parse_args([*named, *map(str, flags)])))


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        *(
            ([flag, 0], f"{flag} 0: must be at least 1")
            for flag in (
                "--updates", "--groups", "--epochs", "--skip-after", "--revisit-after", "--max-steps",
                "--max-new-tokens", "--workers", "--save-every", "--assumed-tokens",
            )
        ),
        (["--episodes", 1], "--episodes is 1; a baseline takes at least 2 episodes"),
        (["--seed", -1], "--seed is -1; it must be at least 0"),
        (["--temperature", 0], "--temperature is 0.0; it must lie between 0 and 10"),
        (["--clip-low", 1], "--clip-low is 1.0; it must lie between 0 and 1"),
        *(
            (["--clip-high", value], f"--clip-high is {float(value)}; it must lie between 0 and 100")
            for value in ("0", "100", "nan")
        ),
        *(
            (["--timeout-seconds", value], f"--timeout-seconds is {float(value)}; it must lie between 0 and 1e+09")
            for value in ("0", "inf", "nan")
        ),
        (["--kl", "-1"], "--kl is -1.0; it must be at least 0 and below 100"),
        *(
            ([flag, value], f"{flag} is {float(value)}; it must be at least 0 and below 1")
            for flag in ("--terminate-share", "--discover-share", "--directive-share")
            for value in ("-0.1", "1", "nan")
        ),
        (["--discover-share", 0.5, "--directive-share", 0.5], "together they must stay below 1"),
        (["--terminate-share", 0.5, "--directive-share", 0.5], "together they must stay below 1"),
        (["--ray", "local", "--replay", "w"], "--ray: nothing is played with --replay; drop one of them"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)  # fmt: skip
def test_numbers_of_rl_out_of_range_are_refused(flags: list[object], words: str) -> None:
    with pytest.raises(BadInputError, match=re.escape(words)):
        rl_settings(*flags)


def test_the_least_numbers_of_rl_are_taken() -> None:
    one = ["--updates", 1, "--groups", 1, "--epochs", 1, "--skip-after", 1, "--revisit-after", 1, "--max-steps", 1]
    assert rl_settings(*one, "--episodes", 2, "--seed", 0, "--kl", 0, "--discover-share", 0.9).groups == 1


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
