"""Make scripted operators and scenarios of every kind, and run rollout.py as a user would."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from authoring.templates import author
from operators.episode import Episode, EpisodeLimits, run_episode
from operators.protocol import Move, Operator, Tokens
from pipeline.files import read_trajectories, write_json, write_record
from schema import Message, OperatorInfo, Scenario, Trajectory
from taxonomy import Combination
from tests.helpers import ROOT

COMBINATIONS = [  # every channel, provider kind and depth, every kind of blocked work
    Combination("copy_files", "subcommand", "motd", "usage", "easy"),
    Combination("sort_unique", "flags", "banner", "help", "easy"),
    Combination("count_things", "numbered", "env", "usage", "medium"),
    Combination("set_config", "bulletin", "file", "help", "easy"),
    Combination("make_links", "topics", "mail", "subhelp", "easy"),
    Combination("rename_prefix", "keyvalue", "env", "help", "hard"),
    Combination("missing_source", "piped", "file", "subhelp", "medium"),
    Combination("forbidden_place", "subcommand", "mail", "subhelp", "medium"),
    Combination("absent_program", "bulletin", "motd", "usage", "medium"),
    Combination("unreachable_host", "topics", "banner", "help", "medium"),
    Combination("broken_archive", "numbered", "env", "help", "medium"),
]


class Scripted:
    """An operator that is a list of commands; one that is an exception is raised, a function is called."""

    def __init__(self, *commands: str | Exception | Callable[[], str]) -> None:
        self.commands, self.seen = iter(commands), list[list[Message]]()

    def begin(self, scenario: Scenario, seed: int) -> None: ...

    def command(self, messages: Sequence[Message]) -> Move:
        self.seen.append(list(messages))
        command = next(self.commands)
        if isinstance(command, Exception):
            raise command
        return Move(command if isinstance(command, str) else command())

    def info(self) -> OperatorInfo:
        return OperatorInfo(kind="stub")

    def tokens(self) -> Tokens | None:
        return None


def play(
    operator: Operator,
    scenario: Scenario,
    *,
    sample: int = 0,
    seed: int = 0,
    max_steps: int = 20,
    timeout_seconds: float = 10,
    cancelled: threading.Event | None = None,
) -> Trajectory:
    """An operator's episode in a scenario."""
    limits = EpisodeLimits(max_steps, timeout_seconds)
    return run_episode(operator, Episode(scenario, sample), seed=seed, limits=limits, cancelled=cancelled)


def episode(scenario: Scenario, *commands: str | Exception | Callable[[], str], max_steps: int = 20) -> Trajectory:
    return play(Scripted(*commands), scenario, max_steps=max_steps)


def made(count: int | None = None) -> list[Scenario]:
    return [
        author(one, seed=f"rollout/{number}", id=f"{one.task.replace('_', '-')}-{number:04d}")
        for number, one in enumerate(COMBINATIONS[:count])
    ]


def write_scenarios(directory: Path, scenarios: Sequence[Scenario]) -> Path:
    for scenario in scenarios:
        write_record(directory, scenario)
    write_json(directory / "manifest.json", {"stage": "generate", "finished": True, "flags": {}})
    return directory


def command_line(scenarios: Path, out: Path, *flags: str) -> list[str]:
    return [sys.executable, "rollout.py", "--scenarios", str(scenarios), "--out", str(out), *flags]


def clean_environment(**extra: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("SEKFT_")} | extra


def script(scenarios: Path, out: Path, *flags: str, **environment: str) -> tuple[int, dict[str, Any], str]:
    done = subprocess.run(
        command_line(scenarios, out, *flags), cwd=ROOT, env=clean_environment(**environment),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert len(lines) <= 1, done.stdout
    return done.returncode, json.loads(lines[0]) if lines else {}, done.stderr


def comparable(out: Path) -> dict[str, Any]:
    """The records of a directory by id, without durations and without the times that `ls -l` prints."""
    records: dict[str, Any] = {
        one.id: json.loads(re.sub(r"[A-Z][a-z]{2} +\d+ \d\d:\d\d", "TIME", one.model_dump_json()))
        for one in read_trajectories(out)
    }
    for record in records.values():
        del record["usage"]["seconds"]
        for step in record["steps"]:
            del step["duration_seconds"]
    return records
