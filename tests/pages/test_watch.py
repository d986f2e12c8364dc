"""The live view follows a run to its end from its files alone, and writes nothing."""

import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import locks
from operators.under_way import UnderWay
from pages.watch import Watcher, duration, line_of
from pipeline.files import write_json, write_record
from tests.helpers import ROOT, run_directories as made
from tests.helpers.rollouts import clean_environment, command_line, made as templates, write_scenarios

DEADLINE_SECONDS = 300.0


def begun(out: Path, stage: str = "rollout", **fields: object) -> Path:
    write_json(out / "manifest.json", {"stage": stage, "finished": False, **fields})
    return out


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def watching(out: Path, **streams: object) -> "subprocess.Popen[str]":
    command = [sys.executable, str(ROOT / "report.py"), "--watch", str(out)]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, env=clean_environment(TERM="xterm"), **streams)  # type: ignore[call-overload,no-any-return]


def state_of(directory: Path) -> dict[str, int]:
    """Every path with the time of its last change, the directory's own included."""
    return {str(path): path.stat().st_mtime_ns for path in [directory, *directory.glob("**/*")]}


@pytest.mark.docker
def test_a_running_rollout_is_followed_to_its_end(tmp_path: Path) -> None:
    out = tmp_path / "out"
    few = write_scenarios(tmp_path / "scenarios", templates(3))
    rollout = subprocess.Popen(
        command_line(few, out, "--operator", "reference", "--samples", "2"), cwd=ROOT, env=clean_environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until(lambda: (out / ".live.json").exists() or rollout.poll() is not None, "no episode is under way")
    watcher = watching(out, stderr=subprocess.PIPE)
    told, lines = watcher.communicate(timeout=DEADLINE_SECONDS)
    assert rollout.wait(DEADLINE_SECONDS) == 0
    assert watcher.returncode == 0, lines
    assert json.loads(told) == {"out": str(out), "records": 6, "state": "finished"}
    counts = [int(line.split("| ")[1].split("/")[0]) for line in lines.splitlines()]
    assert counts == sorted(counts)
    first, *_, last = lines.splitlines()
    assert re.match(r"rollout running \| \d/6 \|.* left", first), first
    assert last.startswith("rollout finished | 6/6 | out: kept 6/6 100%")
    assert re.search(r"-s\d step \d+: ", lines), lines


def test_a_terminal_shows_rates_episodes_and_the_end(tmp_path: Path) -> None:
    """The terminal is a real one, a pty; the hostile command reaches it as text."""
    out = begun(tmp_path / "out")
    locks.hold(out)
    records = made.scenarios(4)
    terminal, end = pty.openpty()
    watcher = watching(out, stderr=end)
    os.close(end)
    shown = bytearray()

    def sees(text: str) -> bool:
        os.set_blocking(terminal, False)
        try:
            while chunk := os.read(terminal, 65536):
                shown.extend(chunk)
        except OSError:
            pass
        return text in shown.decode(errors="replace")

    try:
        with UnderWay(out, total=4) as under_way, under_way.episode("copy_files-0-s0") as told:
            told("printf '\x1b]0;title\x07\x9b31m \u202e'\nls")
            until(lambda: sees("copy_files-0-s0"), "no episode")
            until(lambda: sees("printf '«ESC»]0;title«BEL»"), "no command")
            write_record(out, made.session(records[0], "words\n"))
            until(lambda: sees("1/1 100%") and sees("verified"), "no rate")
            until(lambda: sees("records/min"), "no speed")
        write_json(out / "manifest.json", {"stage": "rollout", "finished": True})
        assert watcher.wait(DEADLINE_SECONDS) == 0
        sees("")
    finally:
        locks.release(out)
        watcher.kill()
        assert watcher.stdout is not None
        watcher.stdout.close()
        os.close(terminal)
    raw = bytes(shown)
    assert b"\x1b]0" not in raw
    assert b"\x07" not in raw
    assert "\u202e".encode() not in raw
    assert "\x9b".encode() not in raw
    assert b"finished" in raw


def test_a_killed_stage_ends_the_view(tmp_path: Path) -> None:
    out = begun(tmp_path / "out")
    dead = subprocess.Popen(["true"])
    dead.wait()
    (out / locks.LOCK).write_text(f"rollout.py (process {dead.pid} on {os.uname().nodename}, since now)\n")
    UnderWay(out, total=4).__enter__()
    watcher = watching(out, stderr=subprocess.PIPE)
    told, lines = watcher.communicate(timeout=DEADLINE_SECONDS)
    assert (watcher.returncode, json.loads(told)["state"]) == (0, "stopped")
    assert "stopped" in lines


def test_nothing_is_written_into_the_directory(tmp_path: Path) -> None:
    directory = made.write_rollout(tmp_path / "out", [made.session(one, "words\n") for one in made.scenarios(3)])
    before = state_of(directory)
    watcher = watching(directory, stderr=subprocess.PIPE)
    watcher.communicate(timeout=DEADLINE_SECONDS)
    assert watcher.returncode == 0
    assert state_of(directory) == before


def test_a_training_shows_steps_and_the_time_left(tmp_path: Path) -> None:
    out = begun(tmp_path / "out", "sft", flags={"epochs": 2})
    log = out / "log_history.jsonl"
    row = {"step": 5, "epoch": 0.5, "loss": 2.0, "reward": 0.25}
    log.write_text(json.dumps(row) + "\n" + '{"step": 6, "lo')
    locks.hold(out)
    try:
        watcher = Watcher(out)
        first = watcher.look()
        assert "step 5/20, loss 2.0000 over 1 steps, epoch 0.5, reward 0.25" in line_of(first)
        assert first.seconds_left() is None
        log.write_text("".join(json.dumps({**row, "step": step, "epoch": step / 10}) + "\n" for step in (5, 6, 10)))
        second = watcher.look()
        speed = second.steps_per_second
        assert speed is not None
        assert second.seconds_left() == pytest.approx(10 / speed)
    finally:
        locks.release(out)


def test_an_eval_counts_every_subject(tmp_path: Path) -> None:
    out = begun(
        tmp_path / "out", "eval", flags={"compare_base": True, "n": 4}, inputs={"adapter_model.safetensors": "x"}
    )
    for one in made.scenarios(4):
        write_record(out / "base", made.session(one, "words\n", outcome="max_steps"))
    locks.hold(out)
    try:
        with UnderWay(out / "adapter", total=4):
            write_record(out / "adapter", made.session(made.scenarios(1)[0], "words\n"))
            found = Watcher(out).look()
        assert (found.done(), found.total) == (5, 8)
        assert "base: kept 0/4 0% [0-49] | adapter: kept 1/1 100%" in line_of(found)
        assert found.seconds_left() is not None
    finally:
        locks.release(out)


def test_durations_read_as_clocks() -> None:
    assert [duration(one) for one in (None, 0, 61.4, 3723)] == ["-", "0:00", "1:01", "1:02:03"]
