"""Teach a tiny base to solve half of its episodes in real sandboxes, so that RL on it has something to choose from.

worlds = write_worlds(tmp_path / "scenarios")
adapter = undecided_adapter(base, tmp_path / "sft", worlds)
"""

from collections.abc import Sequence
from pathlib import Path

import sft
from model.render import session_messages
from pipeline.files import write_json, write_record
from schema import Scenario
from tests.helpers import tiny
from tests.helpers.rollouts import write_scenarios
from tests.helpers.training import exit_code

NEVER = "w2"  # the scenario whose checker always fails
FLAGS = ["--groups", "3", "--episodes", "4", "--max-steps", "3", "--max-new-tokens", "16", "--lr", "3e-3",
         "--dtype", "fp32", "--skip-after", "1", "--save-every", "1", "--workers", "4"]  # fmt: skip


def write_worlds(directory: Path) -> list[Scenario]:
    """Two scenarios that want the file copy.txt, and one that nothing solves."""
    worlds = [tiny.scenario(f"w{index}") for index in range(3)]
    worlds[2] = Scenario.model_validate({**worlds[2].model_dump(exclude={"content_hash"}), "checker": "false"})
    write_scenarios(directory, worlds)
    return worlds


def undecided_adapter(base: Path, out: Path, worlds: Sequence[Scenario]) -> Path:
    """An adapter that makes copy.txt and leaves, or leaves at once."""
    data = out.with_name(out.name + "-data")
    for world in worlds:
        made: list[tuple[str, str | None]] = [("touch copy.txt", ""), ("exit", None)]
        for sample, turns in enumerate([made, made[1:], made]):
            row = tiny.trajectory(f"{world.id}-s{sample}")
            row = row.model_copy(
                update={"messages": session_messages(world, turns), "scenario_hash": world.content_hash}
            )
            write_record(data, row)
    write_json(data / "manifest.json", {"finished": True})
    code = exit_code(
        sft, "--data", data, "--base", base, "--out", out, "--epochs", 6, "--lora-r", 8, "--lr", "1e-2", "--accum", 1,
        "--dtype", "fp32", "--no-reload",
    )  # fmt: skip
    assert code == 0
    return out
