"""Send scenarios of the offline author through Harbor tasks, and count those that come back equal.

    python -m bench.round_trip --n 2400 --out /tmp/tasks

Reads   nothing
Writes  <out>/<id>/ (Harbor task directories), and one JSON line on stdout
Needs   nothing

The scenarios are drawn over every archetype and are not gated: whether they can be solved does not matter here.
"""

import argparse
import shutil
import time
from pathlib import Path

from pipeline import stage
from authoring.templates import author
from formats.harbor import read_task, write_task
from generate import sample_combinations


def main(*, n: int, seed: int, out: Path) -> int:
    """Write and read every scenario; 1 where one came back otherwise."""
    shutil.rmtree(out, ignore_errors=True)
    began, equal, archetypes = time.monotonic(), 0, set()
    for number, combination in enumerate(sample_combinations(n, seed)):
        scenario = author(combination, seed=f"{seed}/{number}", id=f"{combination.task}-{number:04d}")
        write_task(out / scenario.id, scenario)
        equal += read_task(out / scenario.id) == scenario
        archetypes.add(scenario.task)
    seconds = round(time.monotonic() - began)
    stage.print_summary({"scenarios": n, "archetypes": len(archetypes), "equal": equal, "seconds": seconds})
    return stage.DONE if equal == n else stage.WORLD_FAILED


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--n", type=int, default=2400, help="scenarios (default 2400)")
    parser.add_argument("--seed", type=int, default=5, help="seed of the author (default 5)")
    parser.add_argument("--out", type=Path, required=True, help="directory for the tasks; emptied first")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
