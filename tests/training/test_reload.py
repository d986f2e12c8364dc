"""The saved adapter is the trained one: a fresh process gets the same logits, in every dtype and in 4-bit."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sft
from pipeline import stage
from authoring import templates
from model import hardware
from model.loading import load_model, model_hash
from pipeline.files import read_identity, read_json, read_trajectories, write_json, write_record
from schema import BadInputError
from taxonomy import Combination
from tests.helpers import ROOT, tiny
from tests.helpers.training import exit_code, fit_settings
from training import reload, run

Weights = dict[str, Any]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny base and four sessions."""
    place = tmp_path_factory.mktemp("reload")
    tiny.base(place / "base")
    for index in range(4):
        write_record(place / "data", tiny.trajectory(f"t{index}-s0", steps=2 + index % 3))
    return place


def fit(place: Path, out: str, capsys: pytest.CaptureFixture[str], *flags: str) -> dict[str, Any]:
    """Train in this process; sft.py's summary."""
    given = ["--data", place / "data", "--base", place / "base", "--out", place / out, "--epochs", 4, "--accum", 1]
    given += ["--lr", "5e-3", "--lora-targets", "all-linear"]
    capsys.readouterr()
    code = exit_code(sft, *given, *flags)
    shown = capsys.readouterr()
    assert code == 0, shown.err
    summary: dict[str, Any] = json.loads(shown.out)
    return summary


@pytest.fixture
def trained(place: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    if not (place / "adapter").exists():
        before = {path: hashlib.sha256(path.read_bytes()).digest() for path in (place / "base").iterdir()}
        summary = fit(place, "adapter", capsys, "--dtype", "fp32")
        assert summary["logits_differ_by"] == 0
        assert {path: hashlib.sha256(path.read_bytes()).digest() for path in (place / "base").iterdir()} == before
    return place / "adapter"


def test_adapter_is_reloaded_after_training(trained: Path) -> None:
    assert read_json(trained / "manifest.json")["counts"]["logits_differ_by"] == 0


def test_importing_loader_and_peft_prints_nothing() -> None:
    """On a CPU with avx512_bf16 bitsandbytes asks for a kernel that nothing here needs; the logger is asked on any."""
    check = "import logging, model.loading, peft; logging.getLogger('bitsandbytes.backends.cpu.ops').warning('seen')"
    done = subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""


def test_one_changed_byte_of_the_base_is_noticed(place: Path, tmp_path: Path) -> None:
    base, out = shutil.copytree(place / "base", tmp_path / "base"), tmp_path / "adapter"
    weights, known = base / "model.safetensors", model_hash(base)
    command = [sys.executable, str(ROOT / "sft.py"), "--no-reload", "--data", str(place / "data"), "--base", str(base)]
    process = subprocess.Popen(
        [*command, "--out", str(out), "--epochs", "60"], env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not (out / "log_history.jsonl").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGSTOP)
    whole, times = weights.read_bytes(), weights.stat()
    for at in range(len(whole) - 1, 0, -1):  # a byte that model_hash does not read
        with weights.open("r+b") as stream:
            stream.seek(at)
            stream.write(bytes([whole[at] ^ 1]))
        if model_hash(base) == known:
            break
        weights.write_bytes(whole)
    os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))
    process.send_signal(signal.SIGCONT)
    assert "its files changed during the training" in process.communicate()[1]
    assert process.returncode == 1
    assert not read_json(out / "manifest.json")["finished"]


def drop(weights: Weights) -> None:
    del weights[min(weights)]


def add(weights: Weights) -> None:
    weights["base_model.model.model.layers.9.mlp.up_proj.lora_A.weight"] = weights[min(weights)].clone()


def change(weights: Weights) -> None:
    weights[min(weights)][0, 0] += 0.5


def kill(weights: Weights) -> None:
    weights[min(name for name in weights if "lora_B" in name)].zero_()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (drop, "lora_A.weight is missing"),
        (add, "layers.9.mlp.up_proj.lora_A.weight is unexpected"),
        (change, "logits differ by"),
        (kill, "1 lora_B are zero"),
    ],
)
def test_changed_adapter_file_is_refused(
    trained: Path, tmp_path: Path, fault: Callable[[Weights], None], words: str
) -> None:
    from safetensors.torch import load_file, save_file

    copy = tmp_path / "copy"
    shutil.copytree(trained, copy, ignore=shutil.ignore_patterns("checkpoints", "runs"))
    base = str(trained.parent / "base")
    assert reload.main(base=base, adapter=copy) == stage.DONE
    weights = load_file(copy / "adapter_model.safetensors")
    fault(weights)
    save_file(weights, copy / "adapter_model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BadInputError, match=words):
        reload.main(base=base, adapter=copy)
    if fault is kill:
        with pytest.raises(RuntimeError, match=f"reload said: .*{words}"):
            reload.in_fresh_process(base, copy)


def test_fresh_process_finds_packages_on_the_users_path(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"open({str(tmp_path / 'was read')!r}, 'w')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    reload.in_fresh_process(str(trained.parent / "base"), trained)
    assert (tmp_path / "was read").exists()


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
def test_differently_prepared_base_is_noticed(
    place: Path, dtype: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Norms and head in fp32 on one side alone, as peft's preparation for 4-bit would leave them."""
    import torch

    if not (place / dtype).exists():
        fit(place, dtype, capsys, "--dtype", dtype, "--no-reload", "--gradient-checkpointing")
    given: dict[str, Any] = {"base": str(place / "base"), "adapter": place / dtype, "tolerance": reload.SAME_MACHINE}
    assert reload.main(**given) == stage.DONE
    real = load_model

    def prepared(*arguments: Any, **options: Any) -> Any:
        model, tokenizer = real(*arguments, **options)
        for name, module in model.named_modules():
            if "norm" in name or "lm_head" in name:
                module.float()
        return model, tokenizer

    monkeypatch.setattr(reload, "load_model", prepared)
    with (
        torch.autocast("cpu", dtype=torch.float16 if dtype == "fp16" else torch.bfloat16),
        pytest.raises(BadInputError, match="logits differ by"),
    ):
        reload.main(**given)


def test_tolerance_is_smaller_on_the_same_machine(place: Path, tmp_path: Path, trained: Path) -> None:
    from safetensors.torch import load_file, save_file

    copy = tmp_path / "copy"
    shutil.copytree(trained, copy, ignore=shutil.ignore_patterns("checkpoints", "runs"))
    flags = read_json(copy / "sekft.json")
    write_json(copy / "sekft.json", {**flags, "flags": {**flags["flags"], "dtype": "bf16"}})
    assert reload.main(base=str(place / "base"), adapter=copy, tolerance=0.2) == stage.DONE
    probe = load_file(copy / "probe.safetensors")
    model, _ = load_model(place / "base", copy, dtype="bf16")
    for name in [name for name in probe if name.startswith("token_ids")]:
        _, logits = reload._logits(model, probe[name].tolist())
        probe[name.replace("token_ids", "logits")] = logits + 0.005 * logits.abs().max()
    save_file(probe, copy / "probe.safetensors")
    assert reload.main(base=str(place / "base"), adapter=copy) == stage.DONE
    with pytest.raises(RuntimeError, match="logits differ by"):
        reload.in_fresh_process(str(place / "base"), copy)


def test_other_dtype_than_in_training_is_warned_of(
    place: Path, trained: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    base = place / "base"
    monkeypatch.setattr(hardware, "bf16_speedup_here", lambda: 1.0)
    for dtype in ("fp32", "auto"):  # the same on this CPU
        load_model(base, trained, dtype=dtype)
        assert "trained with" not in capsys.readouterr().err
    load_model(base, trained, dtype="bf16")
    assert "trained with --dtype fp32, loaded with --dtype bf16" in capsys.readouterr().err
    load_model(base, trained, dtype="fp32", load_4bit=True)
    assert "loaded with --dtype fp32 --load-4bit; its logits" in capsys.readouterr().err


def test_old_form_of_sekft_json_is_read(trained: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy, ignore=shutil.ignore_patterns("checkpoints", "runs"))
    base = trained.parent / "base"
    row = {"archetype": "copy_files", "content_hash": "0" * 64, "scenario_id": "t0", "trajectory_id": "t0-s0"}
    old = {"base": "base", "base_hash": model_hash(base), "flags": {"dtype": "fp32", "load_4bit": False}}
    write_json(copy / "sekft.json", {**old, "git_commit": None, "data_hash": "0" * 64, "trained_on": [row]})
    assert reload.main(base=str(base), adapter=copy) == stage.DONE
    assert [one.scenario_id for one in read_identity(copy).trained_on] == ["t0"]
    write_json(copy / "sekft.json", {"flags": {}})
    with pytest.raises(BadInputError, match=r"sekft\.json: base: "):
        reload.main(base=str(base), adapter=copy)


def test_missing_probe_and_other_base_are_refused(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no probe"):
        reload.main(base=str(trained.parent / "base"), adapter=tmp_path)
    other = tiny.base(tmp_path / "other", seed=1)
    with pytest.raises(BadInputError, match="is another"):
        reload.main(base=str(other), adapter=trained)


def test_write_to_the_base_during_training_is_noticed(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    torch.set_num_threads(1)
    base = shutil.copytree(place / "base", tmp_path / "base")
    real = run.train

    def and_write(*arguments: Any) -> Any:
        done = real(*arguments)
        with (base / "tokenizer_config.json").open("a") as stream:  # model_hash does not read this file
            stream.write(" ")
        return done

    monkeypatch.setattr(run, "train", and_write)
    settings = fit_settings("--data", place / "data", "--base", base, "--out", tmp_path / "out", "--epochs", 1)
    with pytest.raises(RuntimeError, match="its files changed"):
        run.fit(settings)


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
def test_half_precision_reloads_to_the_same_logits(place: Path, dtype: str, capsys: pytest.CaptureFixture[str]) -> None:
    summary = fit(place, dtype, capsys, "--dtype", dtype, "--no-reload", "--gradient-checkpointing")
    assert ("skipped_steps" in summary) is (dtype == "fp16")
    assert reload.main(base=str(place / "base"), adapter=place / dtype) == stage.DONE
    assert json.loads(capsys.readouterr().out)["logits_differ_by"] == 0


@pytest.mark.docker
def test_4_bit_trains_reloads_and_is_evaluated(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = fit(place, "nf4", capsys, "--dtype", "fp32", "--load-4bit")
    assert summary["loss_last"] < summary["loss_first"]
    assert summary["logits_differ_by"] == 0
    held = templates.author(Combination("copy_files", "flags", "motd", "help", "medium"), seed="held", id="held-1")
    write_record(place / "held", held)
    write_json(place / "held" / "manifest.json", {"finished": True, "flags": {"by": "scenario"}})
    command = [sys.executable, str(ROOT / "eval.py"), "--base", "base", "--adapter", "nf4", "--scenarios", "held"]
    command += ["--load-4bit", "--dtype", "fp32", "--max-steps", "2", "--max-new-tokens", "8"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    (episode,) = read_trajectories(place / "eval" / "nf4" / "adapter")
    assert episode.operator.adapter_hash
    assert episode.token_ids
