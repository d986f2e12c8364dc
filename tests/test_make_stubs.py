"""make_stubs.py writes at least twelve different sessions of both terminals, and every turn is a command."""

import json
import subprocess
import sys
from pathlib import Path

from make_stubs import read_stubs, trajectory, turns_of
from pipeline.files import read_trajectories
from pipeline.verdicts import is_command
from tests.helpers import ROOT


def test_stubs_are_distinct_and_cover_channels_depths_and_terminals() -> None:
    records = [trajectory(stub, 0) for stub in read_stubs()]
    assert len({record.scenario_hash for record in records}) == len(records) >= 12
    assert {record.outcome for record in records} == {"exit", "panic"}
    assert {record.axes["announcement"] for record in records} == {"motd", "banner", "env", "file", "mail"}
    assert {record.axes["doc_depth"] for record in records} == {"usage", "help", "subhelp"}
    assert all(record.operator.kind == "stub" and record.id.startswith("stub-") for record in records)


def test_messages_hold_every_command_in_order() -> None:
    for record in (trajectory(stub, 0) for stub in read_stubs()):
        assert record.commands == [*(step.command for step in record.steps), record.terminal]
        assert all(is_command(command) for command in record.commands)


def test_transcripts_are_parsed() -> None:
    assert turns_of("$ a\nx\ny\n$ b\n$ exit") == [("a", "x\ny\n"), ("b", ""), ("exit", "")]


def test_rerun_writes_the_same_copies(tmp_path: Path) -> None:
    command = [sys.executable, "make_stubs.py", "--out", str(tmp_path / "stubs"), "--copies", "4"]
    outputs = []
    for _ in range(2):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert json.loads(outputs[0])["trajectories"] == 4 * len(read_stubs())
    assert len(read_trajectories(tmp_path / "stubs")) == 4 * len(read_stubs())


def test_zero_copies_are_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "make_stubs.py", "--out", str(tmp_path / "s"), "--copies", "0"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--copies" in done.stderr
