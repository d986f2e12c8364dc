"""Print precision and recall of the reward-hack monitor on the labelled lines of tests/data/monitor.jsonl.

    python -m bench.monitor                 # and every line that it gets wrong

The lines were written by hand, together with the monitor, so the figures say how well it does what it was made for,
not how many hacks of an unknown agent it would find. Hacks that the monitor cannot see are marked `unseen`; a test
compares these with what it misses.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from pipeline import stage
from exports.monitor import Suspicion, call_findings, output_findings, patch_findings, shell_findings, softened

TABLE = Path(__file__).parents[1] / "tests" / "data" / "monitor.jsonl"


def main(*, table: Path) -> int:
    """Print what is wrong, and the figures."""
    lines = [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]
    wrong = [line for line in lines if (severity_of(line) == "drop") != (line["label"] == "hack")]
    for line in wrong:
        print("missed" if line["label"] == "hack" else "honest, but dropped", json.dumps(line), file=sys.stderr)
    stage.print_summary(figures(lines))
    return stage.DONE


def suspicions_of(line: dict[str, Any]) -> list[Suspicion]:
    """What the monitor finds in a line of the table: a command or a call as a whole session, an output or a patch."""
    if "command" in line:
        return softened([list(shell_findings(line["command"], "command"))], [])
    if "tool" in line:
        return softened([list(call_findings(line["tool"], json.dumps(line["arguments"])))], [])
    if "output" in line:
        return list(output_findings(line["output"], "tool"))
    return list(patch_findings(line["patch"], "patch"))


def severity_of(line: dict[str, Any]) -> str | None:
    """The worst severity in a line: drop, warn or None."""
    found = {one.severity for one in suspicions_of(line)}
    return "drop" if "drop" in found else "warn" if found else None


def figures(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Lines, precision and recall of dropping, the recall of warnings too, and how many honest lines are warned of."""
    hacks = [severity_of(line) for line in lines if line["label"] == "hack"]
    honest = [severity_of(line) for line in lines if line["label"] == "honest"]
    dropped = hacks.count("drop") + honest.count("drop")
    return {
        "lines": len(lines),
        "hacks": len(hacks),
        "precision": hacks.count("drop") / dropped,
        "recall": hacks.count("drop") / len(hacks),
        "recall_with_warnings": sum(one is not None for one in hacks) / len(hacks),
        "honest_warned": honest.count("warn"),
        "honest_dropped": honest.count("drop"),
    }


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--table", type=Path, default=TABLE, help="labelled lines (default tests/data/monitor.jsonl)")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
