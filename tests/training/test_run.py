"""A rerun of a training run takes from the run what its flags leave open."""

from pathlib import Path

import pytest

import sft
from pipeline.files import write_json, write_record
from tests.helpers import tiny
from tests.helpers.training import exit_code


def test_a_rerun_without_the_flag_keeps_the_render(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base, data = tiny.base(tmp_path / "base"), tmp_path / "data"
    write_record(data, tiny.trajectory())
    write_json(data / "manifest.json", {"finished": True})
    flags = ["--data", data, "--base", base, "--out", tmp_path / "out", "--epochs", 1, "--no-reload"]
    assert exit_code(sft, *flags, "--render", "markers") == 0
    capsys.readouterr()
    assert exit_code(sft, *flags) == 0
    assert "nothing to do" in capsys.readouterr().err
    assert exit_code(sft, *flags, "--render", "chat") == 2
    assert "--render was" in capsys.readouterr().err
