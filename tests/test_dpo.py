"""Preference training on a real tiny base: accounting, resume, the frozen reference, and the chain of an adapter."""

import hashlib
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import dpo
from model.loading import adapter_hash
from pipeline.files import read_identity, read_trajectories, write_json, write_record
from tests.helpers import ROOT
from tests.helpers.preference import QUICK, recorded, start_adapter, write_sessions
from tests.helpers.tiny import base as build_base, scenario, trajectory
from tests.helpers.training import exit_code


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_base(tmp_path_factory.mktemp("dpo") / "base")


@pytest.fixture(scope="module")
def start(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return start_adapter(base, tmp_path_factory.mktemp("dpo") / "sft")


@pytest.fixture(scope="module")
def data(start: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sessions(tmp_path_factory.mktemp("dpo") / "pairs", start, scenarios=6)


def in_process(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    """The command line in this process: exit code, stdout, stderr."""
    capsys.readouterr()
    code = exit_code(dpo, *arguments)
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def summary(capsys: pytest.CaptureFixture[str], *arguments: Any) -> dict[str, Any]:
    code, out, err = in_process(capsys, *arguments)
    assert code == 0, err
    parsed: dict[str, Any] = json.loads(out)
    return parsed


def history(out: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (out / "log_history.jsonl").read_text().splitlines()]


def hashes(directory: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.iterdir())
        if path.is_file()
    }


@pytest.fixture(scope="module")
def trained(
    base: Path, start: Path, data: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    """An adapter trained on its command line, the reload check included; base and start adapter stay as they were."""
    out = tmp_path_factory.mktemp("dpo") / "trained"
    before = hashes(base), hashes(start)
    done = subprocess.run(
        [sys.executable, str(ROOT / "dpo.py"), "--adapter", start, "--data", data, "--base", base, "--out", out,
         "--epochs", "3", "--accum", "4", "--lr", "5e-3", "--dtype", "fp32"],
        capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (hashes(base), hashes(start)) == before
    return out, json.loads(done.stdout)


def test_training_prefers_the_chosen_sessions(trained: tuple[Path, dict[str, Any]]) -> None:
    out, result = trained
    first, *_, last = entries = history(out)
    assert first["loss"] == pytest.approx(math.log(2), abs=1e-6)  # policy and reference are one at the start
    assert (first["margin"], first["rewards_chosen"]) == pytest.approx((0, 0), abs=1e-5)
    assert last["loss"] < 0.6
    assert last["margin"] > 0.2
    assert last["accuracy"] == 1
    assert last["rewards_chosen"] > last["rewards_rejected"]
    assert result["pairs"] == 6 * 2
    assert result["steps"] == len(entries) == 3 * 3
    assert result["recorded_ids"] == result["used"] == 18
    assert result["logits_differ_by"] == 0
    assert list((out / "runs").glob("events*"))


def test_every_row_is_counted_once(trained: tuple[Path, dict[str, Any]]) -> None:
    _, result = trained
    assert result["read"] == 18 == result["used"] + sum(result["left_out"].values())


def test_the_identity_carries_the_whole_chain(
    trained: tuple[Path, dict[str, Any]], base: Path, start: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = trained
    about, behind = read_identity(out), read_identity(start)
    (run,) = about.earlier
    assert run.adapter_hash == adapter_hash(start)
    assert (run.flags, run.data_hash, run.git_commit) == (behind.flags, behind.data_hash, behind.git_commit)
    assert about.base_hash == behind.base_hash
    assert {row.trajectory_id for row in about.trained_on} == {f"u{at}-s0" for at in range(3)} | {
        f"p{at}-s{sample}" for at in range(6) for sample in range(3)
    }
    assert about.flags["adapter"] == adapter_hash(start)
    assert about.flags["lora_r"] == 4
    again = write_sessions(tmp_path / "again", out, scenarios=1)
    summary(capsys, "--adapter", out, "--data", again, "--base", base, "--out", tmp_path / "second", *QUICK)
    chain = read_identity(tmp_path / "second").earlier
    assert [one.adapter_hash for one in chain] == [adapter_hash(start), adapter_hash(out)]


def test_finished_run_returns_at_once_and_other_flags_are_refused(
    trained: tuple[Path, dict[str, Any]], base: Path, start: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, result = trained
    flags = ["--adapter", start, "--data", data, "--base", base, "--out", out, "--accum", 4, "--lr", "5e-3"]
    flags += ["--dtype", "fp32", "--epochs", 3]
    before = (out / "adapter_model.safetensors").read_bytes()
    assert summary(capsys, *flags)["steps"] == result["steps"]
    assert (out / "adapter_model.safetensors").read_bytes() == before
    code, _, err = in_process(capsys, *flags, "--beta", 0.2)
    assert (code, "--beta was 0.1, is 0.2" in err) == (2, True)


def command(*arguments: Any) -> list[str]:
    return [sys.executable, str(ROOT / "dpo.py"), "--no-reload", *map(str, arguments)]


@pytest.mark.parametrize("moment", ["reference", "training"])
def test_killed_run_resumes_to_the_same_adapter(
    moment: str, base: Path, start: Path, data: Path, tmp_path: Path
) -> None:
    flags = ["--adapter", start, "--data", data, "--base", base, "--epochs", 15, "--accum", 2, "--lr", "5e-3",
             "--dtype", "fp32"]  # fmt: skip
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    subprocess.run(command(*flags, "--out", whole), env=environment, check=True, capture_output=True)
    process = subprocess.Popen(
        command(*flags, "--out", cut), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    name = "reference.jsonl" if moment == "reference" else "log_history.jsonl"
    lines = len((whole / name).read_text().splitlines())
    last = random.randrange(1, max(2, lines // 3))  # enough is left for a kill that comes late
    print(f"killed after {last} of {lines} lines of {name}")
    deadline = time.monotonic() + 120
    while not (cut / name).exists() or (cut / name).read_text().count("\n") < last:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with (cut / "reference.jsonl").open("a") as stream:
        stream.write('{"id": "p0-s')  # half a line
    done = subprocess.run(command(*flags, "--out", cut), env=environment, check=True, capture_output=True, text=True)
    resumed = json.loads(done.stdout)["resumed_from"]
    if moment == "training" and last > lines // 10:  # a tenth of the steps lies between checkpoints
        assert resumed
    assert (cut / "adapter_model.safetensors").read_bytes() == (whole / "adapter_model.safetensors").read_bytes()
    assert history(cut) == history(whole)
    rows = [json.loads(line) for line in (cut / "reference.jsonl").read_text().splitlines()]
    assert sorted(rows, key=str) == sorted(
        map(json.loads, (whole / "reference.jsonl").read_text().splitlines()), key=str
    )


def test_overfit_reaches_zero_or_fails(
    base: Path, start: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--adapter", start, "--data", data, "--base", base, "--overfit", 2, "--dtype", "fp32", "--no-reload"]
    reached = summary(capsys, *flags, "--out", tmp_path / "good", "--lr", "1e-2")
    assert reached["loss_last"] < 0.05
    assert reached["pairs"] == 2
    assert reached["used"] + sum(reached["left_out"].values()) == reached["read"]
    code, _, err = in_process(capsys, *flags, "--out", tmp_path / "bad", "--lr", "1e-6", "--epochs", 2)
    assert code == 2
    assert "wanted under 0.05; raise --lr" in err.splitlines()[-1]


def test_a_run_that_loses_the_chosen_sessions_stops(
    base: Path, start: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--adapter", start, "--data", data, "--base", base, "--out", tmp_path / "out", "--dtype", "fp32"]
    flags += ["--terminal-loss", "all"]  # with the terminal in the loss, every rate from 0.05 on stops at step 3
    code, _, err = in_process(capsys, *flags, "--lr", "0.2", "--epochs", 20, "--accum", 1, "--no-reload")
    assert code == 2
    assert re.search("the chosen sessions' log-prob fell by|unlearns to end its sessions", err.splitlines()[-1])
    assert not (tmp_path / "out" / "adapter_model.safetensors").exists()


@pytest.mark.parametrize("flags", [["--dtype", "fp16"], ["--dtype", "bf16"], ["--load-4bit", "--dtype", "fp32"]])
def test_half_precision_and_4bit_train_on_cpu(
    flags: list[str], base: Path, start: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [
        "--adapter",
        start,
        "--data",
        data,
        "--base",
        base,
        "--out",
        tmp_path / "out",
        "--lr",
        "1e-3",
        "--no-reload",
    ]
    result = summary(  # all six pairs in each step, so that the losses of two steps can be compared
        capsys, *given, *flags, "--per-scenario", 1, "--epochs", 4, "--accum", 6, "--gradient-checkpointing"
    )
    assert result["loss_first"] == pytest.approx(math.log(2), abs=0.05)  # half precision rounds log-probs
    assert result["loss_last"] < result["loss_first"]
    assert result["left_out"]["beyond_cap"] == 6


def test_only_the_start_adapters_own_sessions_are_used(
    base: Path, start: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for row in read_trajectories(data):
        write_record(tmp_path, row)
    digest = adapter_hash(start)
    write_record(tmp_path, trajectory("p0-s9", steps=6))  # the reference operator's
    write_record(tmp_path, recorded(trajectory("p0-s8", steps=6), "0" * 64))  # another adapter's
    write_record(tmp_path, recorded(trajectory("p0-s7", steps=6), digest, token_ids=None, assistant_mask=None,
                                    log_probs=None))  # fmt: skip
    foreign = recorded(trajectory("p1-s7", steps=6), digest)
    write_record(tmp_path, foreign.model_copy(update={"token_ids": [id_ + 1 for id_ in foreign.token_ids or []]}))
    write_record(tmp_path, recorded(trajectory("p2-s9", steps=6, kept=False), digest, outcome="sandbox_failed"))
    write_record(tmp_path, recorded(trajectory("p3-s9", steps=40), digest))
    write_json(tmp_path / "manifest.json", {"finished": True})
    flags = ["--adapter", start, "--data", tmp_path, "--base", base, "--inspect", "--max-length-tokens", 1500]
    result = summary(capsys, *flags)
    assert {reason: count for reason, count in result["left_out"].items() if count} == {
        "other_operator": 2, "not_recorded": 2, "voided": 1, "over_length": 1,
    }  # fmt: skip
    assert result["read"] == 24 == result["used"] + 6


def test_inspect_shows_both_sides_and_needs_no_weights(
    base: Path, start: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "config.json"):
        write_bytes(tmp_path / "bare" / name, (base / name).read_bytes())
    flags = ["--adapter", start, "--data", data, "--base", tmp_path / "bare"]
    code, out, err = in_process(capsys, *flags, "--inspect", "--show", 1)
    result = json.loads(out)
    assert code == 0, err
    assert (result["pairs"], result["scenarios"], result["steps_estimate"]) == (12, 6, 2)
    assert "chosen, exit:" in err
    assert "rejected, exit:" in err
    assert "⟦exit<|end|>⟧" in err
    assert {one["level"] for one in result["findings"]} <= {"WARN"}
    plan = summary(capsys, *flags, "--plan", "--usd-per-hour", 2)
    assert (plan["stage"], plan["pairs"], plan["steps"], plan["runs_here"]) == ("dpo", 12, 2, True)
    assert plan["usd"] == pytest.approx(2 * plan["hours"], abs=1e-3)


def write_bytes(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("held", "message"),
    [
        (scenario("p1"), "--data holds 3 sessions whose scenario is held out here, p1-s0 first"),
        (scenario("u2"), "was trained on 1 sessions whose scenario is held out here, u2-s0 first"),
    ],
)
def test_held_out_data_is_refused_through_every_stage(
    held: Any, message: str, base: Path, start: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_record(tmp_path / "holdout", held)
    write_json(tmp_path / "holdout" / "manifest.json", {"finished": True, "flags": {"by": "scenario"}})
    flags = ["--adapter", start, "--data", data, "--base", base, "--holdout", tmp_path / "holdout"]
    code, _, err = in_process(capsys, *flags, "--out", tmp_path / "out")
    assert (code, message in err) == (2, True), err
    assert not (tmp_path / "out").exists()
    code, _, err = in_process(capsys, *flags, "--inspect")
    assert (code, "ERROR holdout_scenario" in err) == (2, True)


BAD_INPUT = {
    "no adapter": (["--adapter", "{tmp}/none"], "no adapter_model.safetensors"),
    "adapter of another base": (["--adapter", "{tmp}/other"], "trained on base 'another'"),
    "no pair": (["--data", "{tmp}/lost"], "no pair to train on ({{'other_operator': 1}})"),
    "beta": (["--beta", "0"], "--beta is 0.0"),
    "gamma": (["--gamma", "1"], "--gamma is 1.0"),
    "sft weight": (["--sft-weight", "-1"], "--sft-weight is -1.0"),
    "loss": (["--loss", "ipo"], "invalid choice"),
    "ablation": (["--loss", "dmpo", "--loss-on-environment"], "--loss-on-environment belongs to --loss sigmoid"),
    "cap": (["--per-scenario", "0"], "--per-scenario 0: must"),
    "price": (["--usd-per-hour", "-1"], "--usd-per-hour is -1.0"),
    "the start adapter": (["--out", "{start}", "--redo"], "is the start adapter"),
    "out of another stage": (["--out", "{tmp}/rolled"], "holds the output of stage 'rollout'; name another --out"),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_one_line_and_exit_2(
    name: str, base: Path, start: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_record(tmp_path / "lost", trajectory("a-s0"))
    write_json(tmp_path / "rolled" / "manifest.json", {"stage": "rollout", "finished": True, "flags": {"samples": 1}})
    write_bytes(tmp_path / "other" / "adapter_model.safetensors", b"")
    write_bytes(tmp_path / "other" / "render.json", (start / "render.json").read_bytes())
    flags = {**read_identity(start).flags}
    write_json(tmp_path / "other" / "sekft.json", {"base": "another", "base_hash": "0" * 64, "flags": flags})
    given, message = BAD_INPUT[name]
    usual = {"--adapter": "{start}", "--data": "{data}", "--base": "{base}", "--out": "{tmp}/o"}
    names = dict(zip(given[::2], given[1::2], strict=False))
    words = [word for flag, value in {**usual, **names}.items() for word in (flag, value)]
    words += [flag for flag in given if flag == "--loss-on-environment"]
    arguments = [word.format(tmp=tmp_path, start=start, data=data, base=base) for word in words if word]
    code, out, err = in_process(capsys, *arguments)
    assert code == 2
    assert message.format() in err.splitlines()[-1]
    assert out == ""
    assert not (tmp_path / "o").exists()
