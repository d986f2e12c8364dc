"""Run Harbor's own oracle and nop agents on exported scenarios, on real Docker, and print their rewards.

    python3.12 -m venv /tmp/harbor && /tmp/harbor/bin/pip install harbor==0.26.0
    python -m bench.harbor --scenarios scenarios --n 14 --harbor /tmp/harbor/bin/harbor --out /tmp/harbor-run

Reads   <scenarios>/*.json (schema.Scenario)
Writes  <out>/tasks, <out>/jobs (Harbor's own), and one JSON line on stdout
Needs   a Docker engine with the image sekft-dash and `docker compose`; Harbor on Python 3.12

The oracle runs the reference solution: each reward must be 1. The nop agent does nothing: each must be 0. Of the
scenarios every blocked one is taken first, up to half of --n, then others.
"""

import argparse
import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from pipeline import stage
from formats.harbor import write_task
from pipeline.files import read_scenarios
from schema import BadInputError, Scenario

EXPECTED = {"oracle": 1.0, "nop": 0.0}


def main(*, scenarios: Path, n: int, harbor: Path, out: Path, workers: int) -> int:
    """Export, run both agents, print what they got; 1 where a reward is not the expected one."""
    if not harbor.exists():
        raise BadInputError(f"--harbor: {harbor} is not there; install Harbor as `--help` says")
    chosen = pick_tasks(read_scenarios(scenarios), n)
    shutil.rmtree(out, ignore_errors=True)
    for scenario in chosen:
        write_task(out / "tasks" / scenario.id, scenario)
    found = {agent: run_agent(harbor, agent, out, workers) for agent in EXPECTED}
    right = {agent: sum(reward == EXPECTED[agent] for reward in rewards.values()) for agent, rewards in found.items()}
    versions = {"harbor": _first_line(str(harbor), "--version"), "compose": _first_line("docker", "compose", "version")}
    stage.print_summary({
        "tasks": len(chosen),
        "blocked": sum(scenario.terminal == "panic" for scenario in chosen),
        "rewards": {agent: dict(Counter(map(str, rewards.values()))) for agent, rewards in found.items()},
        "as_expected": right,
        **versions,
    })  # fmt: skip
    return stage.DONE if set(right.values()) == {len(chosen)} else stage.WORLD_FAILED


def pick_tasks(records: list[Scenario], n: int) -> list[Scenario]:
    """Up to n // 2 blocked scenarios, then others, in id order."""
    blocked = [record for record in records if record.terminal == "panic"][: n // 2]
    others = [record for record in records if record.terminal != "panic"]
    return [*blocked, *others[: n - len(blocked)]]


def run_agent(harbor: Path, agent: str, out: Path, workers: int) -> dict[str, float | None]:
    """Trial -> reward; None where Harbor found none."""
    command = [str(harbor), "run", "-p", str(out / "tasks"), "-a", agent, "-o", str(out / "jobs"),
               "--job-name", agent, "-n", str(workers), "-y", "-q"]  # fmt: skip
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    results = [json.loads(path.read_text()) for path in sorted((out / "jobs" / agent).glob("*/result.json"))]
    return {one["task_name"]: _reward(one) for one in results}


def _reward(result: dict[str, Any]) -> float | None:
    rewards = (result.get("verifier_result") or {}).get("rewards") or {}
    return float(rewards["reward"]) if "reward" in rewards else None


def _first_line(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).partition("\n")[0]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--scenarios", type=Path, required=True, help="directory of scenarios (generate.py --out)")
    parser.add_argument("--n", type=int, default=14, help="scenarios to run (default 14)")
    parser.add_argument("--harbor", type=Path, required=True, help="the program `harbor`")
    parser.add_argument("--out", type=Path, required=True, help="directory for tasks and jobs; emptied first")
    parser.add_argument("--workers", type=int, default=1, help="trials at a time (default 1)")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
