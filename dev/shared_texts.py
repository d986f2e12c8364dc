"""Count held-out scenarios of which no text occurs in a training scenario.

    python -m dev.shared_texts runs/out/proof/draw-*

Each argument is the directory of one split seed as `grams/proof.sh` makes it. Texts are directives, announcement and
the provider's messages, compared as contamination.py does: names masked, 13-grams. The base's corpus does not count
here.
"""

import sys
from pathlib import Path

from contamination import Grams, grams_of, union_of
from pipeline.files import read_scenarios


def main(directories: list[Path]) -> None:
    """Print one line for each split seed."""
    known: dict[str, Grams] = {}

    def texts_of(directory: Path) -> list[set[tuple[str, ...]]]:
        records = read_scenarios(directory)
        parts = [known.setdefault(record.id, grams_of(record)) for record in records]
        return [texts(one) for one in parts]

    for directory in directories:
        trained: set[tuple[str, ...]] = set().union(*texts_of(directory / "scenarios" / "train"))
        heldout = texts_of(directory / "archetypes" / "holdout")
        print(f"{directory.name}: {sum(not one & trained for one in heldout)} of {len(heldout)} share no text")


def texts(grams: Grams) -> set[tuple[str, ...]]:
    """The 13-grams of a scenario's texts, without those of its commands."""
    return set().union(*(those for part, those in union_of([grams]).items() if part != "commands"))


if __name__ == "__main__":
    main([Path(one) for one in sys.argv[1:]])
