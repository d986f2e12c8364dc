"""Split scenarios into a training and a held-out set.

    python split.py --scenarios scenarios --out data --by archetype --k 6 --seed 1
    python split.py --scenarios scenarios --out data --by archetype --archetypes join_tables,broken_archive
    python split.py --scenarios scenarios --out data --by scenario --fraction 0.2

Reads   <scenarios>/*.json (schema.Scenario)
Writes  <out>/train/*.json, <out>/holdout/*.json, a manifest.json in each
Needs   nothing

With --by archetype all scenarios of an archetype go to one side, and at least one held-out archetype is blocked if the
input has one. With --by scenario the fraction is taken within each archetype. The split depends on the seed and the
input alone. Split before anything is trained, and do not pick a split by its results. The manifest of the held-out set
says how it was split; sft.py and eval.py refuse scenarios on the wrong side.
"""

import argparse
import math
import random
from pathlib import Path
from typing import Literal

from pipeline import stage
from pipeline.files import read_scenarios, write_record
from schema import BadInputError, Scenario

By = Literal["archetype", "scenario"]


def main(
    *,
    scenarios: Path,
    out: Path,
    by: By,
    archetypes: str | None,
    k: int | None,
    fraction: float | None,
    seed: int,
    partial: bool,
    redo: bool,
) -> int:
    """Split, write both directories, print the summary."""
    check_split_flags(by, archetypes, k, fraction)
    records = read_scenarios(scenarios, partial=partial)
    if by == "archetype":
        held = choose_archetypes(records, archetypes, k, seed)
        holdout = {record.id for record in records if record.task in held}
    else:
        assert fraction is not None
        holdout = choose_scenarios(records, fraction, seed)
        held = []
    if not 0 < len(holdout) < len(records):
        raise BadInputError(
            f"{scenarios}: this split leaves {len(holdout)} of {len(records)} scenarios held out and one side empty; "
            f"change --k, --archetypes or --fraction"
        )
    flags = {"by": by, "archetypes": archetypes, "k": k, "fraction": fraction, "seed": seed}
    manifests = {  # both sides are begun before one is written: a side of another split is refused
        side: stage.begin(out / side, stage="split", flags={**flags, "side": side}, inputs=[scenarios], redo=redo)
        for side in ("train", "holdout")
    }
    for side, manifest in manifests.items():
        chosen = [record for record in records if (record.id in holdout) == (side == "holdout")]
        for record in chosen:
            write_record(out / side, record)
        tasks = sorted({record.task for record in chosen})
        stage.finish(
            out / side, manifest, ids=[r.id for r in chosen], counts={"scenarios": len(chosen), "archetypes": tasks}
        )
    stage.print_summary(
        {
            "by": by,
            "out": str(out),
            "read": len(records),
            "train": len(records) - len(holdout),
            "holdout": len(holdout),
            "held_out_archetypes": held,
        }
    )
    return stage.DONE


def check_split_flags(by: By, archetypes: str | None, k: int | None, fraction: float | None) -> None:
    """Raise BadInputError unless exactly the flags that --by needs are given."""
    if by == "archetype":
        if (archetypes is None) == (k is None) or fraction is not None:
            raise BadInputError("--by archetype takes exactly one of --archetypes and --k, and no --fraction")
        if k is not None and k < 1:
            raise BadInputError(f"--k is {k}; hold out at least 1 archetype")
    elif fraction is None or not 0 < fraction < 1 or archetypes is not None or k is not None:
        raise BadInputError("--by scenario takes --fraction between 0 and 1, and neither --archetypes nor --k")


def choose_archetypes(records: list[Scenario], archetypes: str | None, k: int | None, seed: int) -> list[str]:
    """The held-out archetypes: the named ones, or `k` chosen by seed, at least one of them blocked if there is one."""
    present = sorted({record.task for record in records})
    if archetypes is not None:
        named = sorted(set(archetypes.split(",")))
        if unknown := [name for name in named if name not in present]:
            raise BadInputError(f"--archetypes: {unknown} not among the scenarios; they hold {present}")
        return named
    assert k is not None
    if k >= len(present):
        raise BadInputError(
            f"--k is {k} but the scenarios hold {len(present)} archetypes; leave at least one to train on"
        )
    blocked = sorted({record.task for record in records if record.terminal == "panic"})
    rng = random.Random(f"split/archetype/{seed}")
    first = [rng.choice(blocked)] if blocked else []
    rest = [name for name in present if name not in first]
    return sorted([*first, *rng.sample(rest, k - len(first))])


def choose_scenarios(records: list[Scenario], fraction: float, seed: int) -> set[str]:
    """Ids of a fraction of each archetype's scenarios: at least one where it has two or more, never all of them."""
    held: set[str] = set()
    for task in sorted({record.task for record in records}):
        ids = sorted(record.id for record in records if record.task == task)
        count = min(max(1, math.floor(len(ids) * fraction + 0.5)), len(ids) - 1)
        held.update(random.Random(f"split/scenario/{seed}/{task}").sample(ids, count))
    return held


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--scenarios", type=Path, required=True, help="directory of scenarios (generate.py --out)")
    parser.add_argument("--out", type=Path, required=True, help="directory that gets train/ and holdout/")
    parser.add_argument(
        "--by",
        choices=("archetype", "scenario"),
        required=True,
        help="hold out whole archetypes, or scenarios of every archetype",
    )
    parser.add_argument("--archetypes", default=None, help="comma-separated archetypes to hold out")
    parser.add_argument("--k", type=int, default=None, help="number of archetypes to hold out, chosen by --seed")
    parser.add_argument("--fraction", type=float, default=None, help="fraction of each archetype to hold out (0..1)")
    parser.add_argument("--seed", type=int, default=0, help="split seed (default 0)")
    parser.add_argument("--partial", action="store_true", help="take an unfinished input directory")
    parser.add_argument("--redo", action="store_true", help="start over instead of comparing with the earlier run")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
