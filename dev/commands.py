"""Print which archetypes of the offline author use each shell command, and in what share of the solutions.

    python -m dev.commands --n 20

Reads   nothing
Writes  nothing
Needs   nothing
"""

import argparse
import random
import re
from collections import defaultdict

from authoring.templates import SHAPES
from authoring.templates.world import Names

# The commands that each stand in the solutions of at least three archetypes.
CORE = [
    "awk",
    "basename",
    "cat",
    "chmod",
    "cp",
    "cut",
    "diff",
    "dirname",
    "echo",
    "find",
    "grep",
    "gunzip",
    "gzip",
    "head",
    "ln",
    "ls",
    "md5sum",
    "mkdir",
    "mv",
    "paste",
    "printf",
    "rm",
    "sed",
    "seq",
    "sha256sum",
    "sort",
    "tail",
    "tar",
    "tee",
    "touch",
    "tr",
    "uniq",
    "wc",
    "xargs",
    "zcat",
]
_START = re.compile(r"(?:^|[|;&(]|\bdo\b|\bxargs(?: -n 1)?|-exec)(?=\s*([a-z0-9]+))")


def commands_of(solution: list[str]) -> set[str]:
    """The names of the programs that a solution runs, quoted text left out."""
    return {name for command in solution for name in _START.findall(re.sub(r"'[^']*'", "", command))}


def mix(n: int) -> dict[str, dict[str, float]]:
    """For each command the archetypes that use it, each with its share of `n` solutions of every shape."""
    shares: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for archetype, shapes in SHAPES.items():
        for shape in shapes:
            for seed in range(n):
                unit = shape(Names(random.Random(f"{shape.__name__}/{seed}")))
                for name in commands_of(unit.solution):
                    shares[name][archetype] += 1 / (n * len(shapes))
    return shares


def main(*, n: int) -> None:
    """Print a line per command: how many archetypes use it, and their shares in percent."""
    for name, row in sorted(mix(n).items(), key=lambda item: (-len(item[1]), item[0])):
        cells = ", ".join(f"{archetype} {share:.0%}" for archetype, share in sorted(row.items()))
        if name in CORE:
            print(f"{name:10} {len(row):3}  {cells}")


def parser() -> argparse.ArgumentParser:
    """The command line: how many worlds to author."""
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    made.add_argument("--n", type=int, default=20, help="worlds of each shape (default 20)")
    return made


if __name__ == "__main__":
    main(**vars(parser().parse_args()))
