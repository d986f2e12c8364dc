"""Print the figures of practice: what the pairs are made of, rewards of RL's steps, and differences over several sets.

    python -m dev.practice --proof runs/out/proof/draw-21 --out runs/out/practice

Reads   what runs/practice.sh has played so far: <out>/pairs, <out>/rl-0, <out>/eval-*; <proof>/eval-scenarios and
        <proof>/eval-archetypes, and the scenarios of both
Writes  nothing
Needs   nothing

report.py --html has the differences of one set; this takes the sets of new scenarios together too.
"""

import argparse
from collections import defaultdict
from pathlib import Path

from pipeline.files import read_record, read_scenarios
from pipeline.rates import RATES, paired
from pipeline.tables import format_difference
from schema import Scenario, Trajectory
from training.history import read_history

Episodes = dict[str, Trajectory]  # by the scenario's hash


def main(proof: Path, out: Path) -> None:
    """Print everything that is there."""
    kept: dict[str, list[bool]] = defaultdict(list)
    for path in sorted((out / "pairs").glob("*-s*.json")):
        episode = read_record(path, Trajectory)
        kept[episode.scenario_id].append(episode.kept)
    every, none = sum(all(one) for one in kept.values()), sum(not any(one) for one in kept.values())
    print(f"pairs: {sum(map(len, kept.values()))} episodes, {sum(map(sum, kept.values()))} kept; "
          f"{len(kept)} scenarios: all in {every}, none in {none}, some in {len(kept) - every - none}")  # fmt: skip
    rewards = [
        (row["reward"], mean([mean(kept[one]) for one in row["scenarios"]])) for row in read_history(out / "rl-0")
    ]
    for first in range(0, len(rewards), 6):
        part = rewards[first : first + 6]
        print(f"rl-0, steps {first + 1} to {first + len(part)}: reward {mean([one for one, _ in part]):.3f}, "
              f"of the start adapter in the same scenarios {mean([one for _, one in part]):.3f}")  # fmt: skip
    places = (out / "reported", out / "others", proof / "unread" / "holdout")
    known = {one.content_hash: one for place in places for one in read_scenarios(place, partial=True)}
    start = {
        "scenarios": episodes_of(proof / "eval-scenarios"),
        "more": episodes_of(out / "eval-more-sft"),
        "archetypes": episodes_of(proof / "eval-archetypes"),
    }
    for arm in ("dpo", "rl-0"):
        played = {name: episodes_of(out / f"eval-{name}-{arm}") for name in start}
        for name, episodes in played.items():
            compare(f"{arm}, {name}", start[name], episodes, known)
        if played["more"]:
            both = start["scenarios"] | start["more"], played["scenarios"] | played["more"]
            compare(f"{arm}, scenarios and more", *both, known)


def mean(values: list[float] | list[bool]) -> float:
    """Of a list that is not empty."""
    return sum(values) / len(values)


def episodes_of(run: Path) -> Episodes:
    """The adapter's episodes of an eval; none where it was not played."""
    found = [read_record(path, Trajectory) for path in sorted((run / "adapter").glob("*-s0.json"))]
    return {one.scenario_hash: one for one in found}


def compare(name: str, before: Episodes, after: Episodes, known: dict[str, Scenario]) -> None:
    """One line: counts before and after, and paired differences in points with 95 % intervals."""
    keys = [key for key in before if key in after]
    if not keys:
        return
    old, new = [before[key] for key in keys], [after[key] for key in keys]
    scenarios = {before[key].scenario_id: known[key] for key in keys}
    found = paired({key: before[key] for key in keys}, {key: after[key] for key in keys}, scenarios, seed=0)
    mended = sum(b.kept and not a.kept for a, b in zip(old, new, strict=True))
    spoilt = sum(a.kept and not b.kept for a, b in zip(old, new, strict=True))
    same = sum(a.commands == b.commands for a, b in zip(old, new, strict=True))
    hard = sum(one.axes["difficulty"] == "hard" for one in old)
    told = [f"{rate.removesuffix('_rate')} {format_difference(getattr(found, rate))}" for rate in RATES]
    print(f"{name}: {len(keys)} scenarios, {hard} hard; clean {sum(one.kept for one in old)} to "
          f"{sum(one.kept for one in new)}, {mended} mended, {spoilt} spoilt, {same} with the same commands; "
          f"{', '.join(told)}")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--proof", type=Path, default=Path("runs/out/proof/draw-21"), help="directory of runs/proof.sh")
    parser.add_argument("--out", type=Path, default=Path("runs/out/practice"), help="directory of runs/practice.sh")
    main(**vars(parser.parse_args()))
