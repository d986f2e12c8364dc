"""A plan states the run that its command makes; a base too large for the machine is refused before anything loads."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from safetensors import SafetensorError

import dpo
import sft
from model import hardware
from model.hardware import Machine, cannot_run
from model.loading import model_hash
from pipeline.files import read_identity, write_identity, write_json, write_record
from schema import BadInputError
from tests.helpers import ROOT
from tests.helpers.preference import start_adapter, write_sessions
from tests.helpers.tiny import base as build_base, trajectory
from tests.helpers.training import exit_code, fit_settings
from training.plan import command_of
from training.settings import FitSettings

GIB = 2**30
TRAINERS = [pytest.param(sft, id="sft"), pytest.param(dpo, id="dpo")]
# What a plan counts, and the name of it in the summary of the run.
SAME = {
    sft: {"rows": "used", "steps": "steps", "tokens": "tokens"},
    dpo: {"pairs": "pairs", "sessions": "used", "steps": "steps"},
}
CPU = Machine("cpu", "CPU, 2 cores", 8 * GIB, 1e11)
GPU = Machine("cuda", "Tesla V100", 32 * GIB, 125e12)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_base(tmp_path_factory.mktemp("plan") / "base")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("plan") / "data"
    for index in range(6):
        write_record(directory, trajectory(f"t{index}-s0", steps=2 + index))
    write_json(directory / "manifest.json", {"finished": True})
    return directory


@pytest.fixture(scope="module")
def start(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return start_adapter(base, tmp_path_factory.mktemp("plan") / "start")


@pytest.fixture(scope="module")
def pairs(start: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sessions(tmp_path_factory.mktemp("plan") / "pairs", start)


@pytest.fixture(scope="module")
def given(start: Path, pairs: Path, data: Path) -> dict[ModuleType, list[Any]]:
    """What each trainer reads but the base."""
    return {sft: ["--data", data], dpo: ["--data", pairs, "--adapter", start]}


@pytest.fixture(scope="module")
def huge(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base of 500 billion parameters, whose file of weights would raise an error if anybody read it."""
    directory = tmp_path_factory.mktemp("plan") / "huge"
    directory.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        (directory / name).write_bytes((base / name).read_bytes())
    config = json.loads((base / "config.json").read_text())
    config |= {"hidden_size": 20480, "intermediate_size": 61440, "num_hidden_layers": 100, "num_attention_heads": 160}
    write_json(directory / "config.json", {**config, "num_key_value_heads": 160, "head_dim": 128})
    (directory / "model.safetensors").write_bytes(b"no weights")
    return directory


@pytest.fixture(scope="module")
def given_huge(
    given: dict[ModuleType, list[Any]], huge: Path, start: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[ModuleType, list[Any]]:
    """The same for the huge base: the start adapter's identity names it, the adapter's weights do not fit it."""
    adapter = tmp_path_factory.mktemp("plan") / "start"
    shutil.copytree(start, adapter)
    write_identity(adapter, read_identity(start).model_copy(update={"base_hash": model_hash(huge)}))
    return {**given, dpo: [*given[dpo], "--adapter", adapter]}


def in_process(capsys: pytest.CaptureFixture[str], *arguments: Any, trainer: ModuleType = sft) -> tuple[int, str, str]:
    capsys.readouterr()
    code = exit_code(trainer, *arguments)
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.mark.parametrize("hidden", ["", "-1"])
def test_hidden_devices_are_no_gpu(hidden: str, base: Path, data: Path) -> None:
    done = subprocess.run(
        [sys.executable, "sft.py", "--data", data, "--base", base, "--plan"],
        cwd=ROOT, env={**os.environ, "CUDA_VISIBLE_DEVICES": hidden}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    machine = json.loads(done.stdout)["machine"]
    assert machine["kind"] == "cpu"
    assert machine["free_bytes"] > 0 < machine["flops"]


@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_plan_is_the_run_that_its_command_makes(
    trainer: ModuleType, base: Path, given: dict[ModuleType, list[Any]], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    flags = [*given[trainer], "--base", base, "--out", tmp_path / "out", "--epochs", 2, "--accum", 2]
    flags += ["--lora-r", 4] if trainer is sft else ["--beta", 0.2]
    bare = tmp_path / "base"  # without weights
    bare.mkdir()
    for path in base.iterdir():
        if path.suffix != ".safetensors":
            (bare / path.name).write_bytes(path.read_bytes())
    asked = ["--dtype", "fp32", "--plan", "--usd-per-hour", 3600, "--base", bare]
    code, out, err = in_process(capsys, *flags, *asked, trainer=trainer)
    plan = json.loads(out)
    assert code == 0, err
    assert not (tmp_path / "out").exists()
    assert plan["runs_here"] is True
    assert plan["usd"] == pytest.approx(3600 * plan["hours"], rel=0.05)
    assert plan["hours_elsewhere"]["V100"] > 0
    assert plan["command"] in err.splitlines()
    words = shlex.split(plan["command"].replace(str(bare), str(base)))
    assert words[:2] == ["python", f"{trainer.__name__}.py"]
    code, out, err = in_process(capsys, *words[2:], trainer=trainer)
    assert code == 0, err
    done = json.loads(out)
    same = SAME[trainer] | {"trainable_parameters": "trainable_parameters"}
    assert {name: plan[name] for name in same} == {name: done[other] for name, other in same.items()}
    no_price = json.loads(in_process(capsys, *flags, "--plan", trainer=trainer)[1])
    assert no_price["usd"] is None


def test_more_epochs_that_are_refused_leave_the_finished_run(
    base: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    flags = ["--data", data, "--base", base, "--out", out, "--dtype", "fp32", "--no-reload", "--epochs"]
    assert in_process(capsys, *flags, 1)[0] == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    monkeypatch.setattr(hardware, "free_bytes_here", lambda: 2**20)
    code, _, err = in_process(capsys, *flags, 2)
    assert (code, "weights and adapter" in err) == (2, True), err
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_the_command_has_every_flag_that_differs() -> None:
    given = [
        "--out", "a b", "--no-reload", "--no-gradient-checkpointing", "--partial", "--load-4bit", "--lr", 0.001,
        "--seed", 3, "--allow-slow",
    ]  # fmt: skip
    settings = fit_settings(*given)
    words = shlex.split(command_of("sft.py", settings))
    assert FitSettings(**vars(sft.parser().parse_args(words[2:]))) == settings
    for shown in (fit_settings("--plan", "--usd-per-hour", 4), fit_settings("--inspect", "--show", 2)):
        assert command_of("sft.py", shown) == "python sft.py --base y --data x --out OUT"


@pytest.mark.parametrize("flags", [["--plan", "--inspect"], ["--usd-per-hour", 4], ["--show", 2]])
def test_a_flag_that_nothing_would_read_is_refused(flags: list[Any]) -> None:
    with pytest.raises(BadInputError, match=r"pass one of them|belongs to --(plan|inspect)"):
        fit_settings(*flags)


@pytest.mark.parametrize("flags", [[], ["--plan"]])
@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_base_too_large_for_the_machine_is_refused(
    trainer: ModuleType, flags: list[str], huge: Path, given_huge: dict[ModuleType, list[Any]], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    run = [*given_huge[trainer], "--base", huge, "--out", tmp_path / "out", *flags]
    code, out, err = in_process(capsys, *run, trainer=trainer)
    assert code == 2
    assert "weights and adapter need" in err.splitlines()[-1]
    assert "take a smaller base or another machine, or pass --allow-slow" in err.splitlines()[-1]
    assert not (tmp_path / "out").exists()
    if flags:
        plan = json.loads(out)
        assert plan["runs_here"] is False
        assert "weights and adapter" in plan["why_not"]
        assert in_process(capsys, *run, "--allow-slow", trainer=trainer)[0] == 0
    else:
        with pytest.raises(SafetensorError, match="deserializing header"):  # now the weights are read
            exit_code(trainer, *run, "--allow-slow")


@pytest.mark.parametrize(
    ("machine", "weights", "hours", "allow_slow", "words"),
    [
        (CPU, 7 * GIB, 1.0, False, None),
        (CPU, 9 * GIB, 1.0, False, "weights and adapter need 10.0 GiB, CPU, 2 cores has 8.0 GiB free"),
        (CPU, 9 * GIB, 1.0, True, None),
        (CPU, GIB, 49.0, False, "estimated to take 49 hours on CPU, 2 cores"),
        (CPU, GIB, 49.0, True, None),
        (CPU, GIB, None, False, None),
        (GPU, 30 * GIB, 1000.0, False, None),
        (GPU, 32 * GIB, 1.0, False, "Tesla V100 has 32.0 GiB free"),
        (GPU, 32 * GIB, 1.0, True, "Tesla V100 has 32.0 GiB free"),  # a GPU does not swap
        (Machine("cpu", "CPU", None, 1e11), 99 * GIB, 1.0, False, None),  # the system does not tell
    ],
)
def test_what_a_machine_cannot_run(
    machine: Machine, weights: int, hours: float | None, allow_slow: bool, words: str | None
) -> None:
    need = {"weights": weights, "adapter": GIB, "activations": 99 * GIB, "logits": 0, "total": weights + 100 * GIB}
    line = cannot_run(machine, need, hours, allow_slow=allow_slow)
    assert (line is None) == (words is None)
    assert words is None or words in (line or "")
    assert machine.kind == "cuda" or ("--allow-slow" in (line or "--allow-slow"))


def test_a_gpu_is_probed_where_torch_sees_one(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(
        hardware, "gpu_here", lambda: hardware.GPU("Tesla V100-SXM2", (7, 0), ("sm_70",), "2.13.0", 5 * GIB)
    )
    assert hardware.machine_here() == Machine("cuda", "Tesla V100-SXM2", 5 * GIB, 125e12)
    monkeypatch.setattr(hardware, "gpu_here", lambda: hardware.GPU("Unknown", (9, 0), ("sm_90",), "2.13.0", GIB))
    assert hardware.machine_here().flops is None


def test_the_probe_of_a_cpu_keeps_the_number_of_threads() -> None:
    import torch

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        assert hardware.product_flops_here() > 1e8
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
