"""Run a training on tiny bases as sft.py does, in this process."""

from types import ModuleType
from typing import Any

import pytest

import sft
from pipeline import stage
from training.settings import FitSettings


def fit_settings(*flags: object, **changes: Any) -> FitSettings:
    """The settings that sft.py's flags give; --data and --base are there already."""
    given = vars(sft.parser().parse_args(["--data", "x", "--base", "y", *map(str, flags)]))
    return FitSettings(**{**given, **changes})


def exit_code(script: ModuleType, *flags: object) -> int:
    """The exit code of a script's command line, run in this process on one thread."""
    import torch

    torch.set_num_threads(1)
    with pytest.raises(SystemExit) as caught:
        stage.run_script(script.main, script.parser(), list(map(str, flags)))
    assert isinstance(caught.value.code, int)
    return caught.value.code
