"""One session is printed as it went, or as a trainer reads it, and hostile output stays text."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pages.show import find_sessions, verdict
from pipeline.files import write_record
from schema import BadInputError
from tests.helpers import ROOT, run_directories as made, tiny


def run_show(*arguments: str | Path) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, str(ROOT / "report.py"), "--show", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False)


def test_a_session_is_printed_as_text(tmp_path: Path) -> None:
    record = made.scenarios(1)[0]
    hostile = "\x1b[31mred\x1b]0;title\x07 \u202egnp \x9b31m [bold]x[/bold]\n"
    one = made.session(record, hostile, "last\n", outcome="max_steps", error="it \x1b broke")
    directory = made.write_rollout(tmp_path / "out", [one])
    done = run_show(one.id, directory)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"id": one.id, "outcomes": ["max_steps"], "sessions": 1}
    for byte in (b"\x1b", b"\x07", "\x9b".encode(), "\u202e".encode()):
        assert byte not in done.stderr
    text = done.stderr.decode()
    parts = [
        f"--- {one.id}: not kept, outcome max_steps, checker did not pass",
        "not kept: not terminated", "it «ESC» broke",
        "shell login: operator", "$ cat part-1",
        "«ESC»[31mred«ESC»]0;title«BEL» «U+202E»gnp «U+009B»31m [bold]x[/bold]",
        "[exit 0, 0.25 s, /home/operator]", "$ cat part-2", "last",
    ]  # fmt: skip
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_a_command_without_a_step_is_shown_after_the_steps(tmp_path: Path) -> None:
    one = tiny.trajectory(steps=3)
    gap = one.model_copy(update={"steps": [one.steps[0], one.steps[2]]})  # as of an agent that shortens its history
    assert gap.commands_without_step() == [one.steps[1].command, "exit"]
    assert one.commands_without_step() == ["exit"]


def test_an_eval_has_a_session_of_each_subject(tmp_path: Path) -> None:
    records = made.scenarios(2)
    run = made.write_eval(tmp_path / "eval", records, made.write_training(tmp_path / "adapter"), tmp_path / "none")
    id_ = f"{records[1].id}-s0"
    found = find_sessions(id_, run)
    assert {subject: one.outcome for subject, one in found.items()} == {"adapter": "exit", "base": "max_steps"}
    heads = [line for line in run_show(id_, run).stderr.decode().splitlines() if line.startswith("--- ")]
    assert [head.split(", ")[0] for head in heads] == [f"--- adapter: {id_}: kept", f"--- base: {id_}: not kept"]


def test_the_mask_is_that_of_the_trainer(tmp_path: Path) -> None:
    base = tiny.base(tmp_path / "base")
    one = tiny.trajectory()
    write_record(tmp_path / "out", one)
    done = run_show(one.id, tmp_path / "out", "--mask", "--base", base)
    assert done.returncode == 0, done.stderr
    text = done.stderr.decode()
    for command in one.commands:
        assert f"⟦{command}" in text
    assert text.count("⟦") == text.count("⟧") == len(one.commands)
    assert "<|im_start|>user" in text
    markers = run_show(one.id, tmp_path / "out", "--mask", "--base", base, "--render", "markers")
    assert markers.returncode == 0, markers.stderr
    assert "<|user|>" in markers.stderr.decode()
    assert markers.stderr.decode().count("⟦") == len(one.commands)


def test_a_voided_session_was_not_checked() -> None:
    record = made.scenarios(1)[0]
    voided = made.session(record, "x\n", outcome="sandbox_failed")
    assert verdict(voided) == "not checked"
    assert verdict(voided.model_copy(update={"outcome": "checker_failed"})) == "checker failed"
    assert verdict(made.session(record, "x\n", outcome="max_steps")) == "checker did not pass"


def test_an_unknown_session_names_some_that_are_there(tmp_path: Path) -> None:
    write_record(tmp_path, tiny.trajectory())
    with pytest.raises(BadInputError, match=r"no session 'x«ESC»'; there are 1, such as tiny-1-s0"):
        find_sessions("x\x1b", tmp_path)
