"""Print the figures of practice: what the pairs are made of, rewards of RL's steps, what was mended and what spoilt.

    python -m dev.practice --evening runs/out/evening --out runs/out/practice

Reads   what runs/practice.sh has played so far: <out>/split, <out>/reported, <out>/pairs, <out>/rl-*, <out>/on-*,
        <out>/eval-*; the evening's archetypes/holdout. Where they are: <out>/practised, further scenarios to practise
        in; <out>/fresh, further ones to report on, with evals (eval-fresh-*); and evals in the scenarios of
        <out>/unread/holdout (eval-unread-*), on which settings may be chosen
Writes  nothing
Needs   nothing
"""

import argparse
from collections import Counter, defaultdict
from pathlib import Path

from pipeline.files import read_json, read_manifest, read_record, read_scenarios
from pipeline.rates import RATES, paired
from pipeline.tables import format_difference
from schema import Scenario, Trajectory
from training.history import read_history
from training.policy_gradient import (
    Group,
    advantages,
    is_solved,
    reward_of,
    segments_of,
    turn_advantages,
    typed_turns,
)
from training.rl_settings import RlSettings

LOG_RATIOS = ("chosen_log_ratio", "chosen_ending_log_ratio")
Episodes = dict[str, Trajectory]  # by the scenario's hash


def main(evening: Path, out: Path) -> None:
    """Print everything that is there."""
    kept: dict[str, list[bool]] = defaultdict(list)
    by_scenario: dict[str, list[Trajectory]] = defaultdict(list)
    failed: Counter[str] = Counter()
    for path in sorted((out / "pairs").glob("*-s*.json")):
        episode = read_record(path, Trajectory)
        kept[episode.scenario_id].append(episode.kept)
        by_scenario[episode.scenario_id].append(episode)
        failed[episode.outcome] += not episode.kept
    if kept:
        every, none = sum(all(one) for one in kept.values()), sum(not any(one) for one in kept.values())
        print(f"pairs: {sum(map(len, kept.values()))} episodes, {sum(map(sum, kept.values()))} kept; "
              f"{len(kept)} scenarios: all in {every}, none in {none}, some in {len(kept) - every - none}; "
              f"not kept: {', '.join(f'{count} {outcome}' for outcome, count in sorted(failed.items()))}")  # fmt: skip
        print(credited([Group(id_, group, [float(one.kept) for one in group]) for id_, group in by_scenario.items()]))
    for directory in sorted(one for one in out.glob("dpo*") if one.is_dir()):
        rows = read_history(directory)[-10:]
        if not rows:
            continue
        ratios = [f"{name} {mean([row[name] for row in rows]):.3f}" for name in LOG_RATIOS]
        print(f"{directory.name}, last {len(rows)} steps: {', '.join(ratios)}")
    practised = {one.id: one for place in (out / "split" / "train", out / "practised") if place.exists()
                 for one in read_scenarios(place, partial=True)}  # fmt: skip
    for directory in sorted([*out.glob("rl-*"), *out.glob("on-*")]):
        manifest = read_manifest(directory)
        if manifest is None or manifest.stage != "rl":  # the mean of a run and its start
            continue
        rows = read_history(directory)
        for first in range(0, len(rows), 9):
            part = rows[first : first + 9]
            told = f"{directory.name}, steps {first + 1} to {first + len(part)}: " + ", ".join(
                f"{name} {mean([row[name] for row in part]):.3f}" for name in ("reward", "signal_share", "entropy")
            )
            ended = sum(row["outcomes"].get(one, 0) for row in part for one in ("exit", "panic"))
            told += f", {sum(row['episodes'] for row in part) - ended} episodes did not end"
            if before := [mean(kept[one]) for row in part for one in row["scenarios"] if kept[one]]:
                told += f", reward of the start adapter in the same scenarios {mean(before):.3f}"
            print(told)
        print(f"{directory.name}: {push_on_terminals(directory, practised)}")
    places = {
        "": out / "reported", "fresh-": out / "fresh", "archetypes-": evening / "archetypes" / "holdout",
        "unread-": out / "unread" / "holdout",
    }  # fmt: skip
    known = {one.content_hash: one for place in places.values() if place.exists()
             for one in read_scenarios(place, partial=True)}  # fmt: skip
    for directory in sorted(out.glob("eval-*")):
        played = next((place for place in places if place and directory.name.startswith(f"eval-{place}")), "")
        start, end = episodes_of(out / f"eval-{played}sft"), episodes_of(directory)
        compare(directory.name, start, end, known)
        further = out / directory.name.replace("eval-", "eval-fresh-")
        if not played and further.exists():
            start |= episodes_of(out / "eval-fresh-sft")
            compare(f"{directory.name} and {further.name}", start, end | episodes_of(further), known)


def credited(groups: list[Group]) -> str:
    """How many commands have an advantage with --credit command, in the groups with a signal."""
    episodes = with_one = commands = taught = 0
    for group in groups:
        if group.has_signal:
            found = turn_advantages(group)
            for one in group.episodes:
                parts = zip(segments_of(one), found[one.id], strict=True)
                credit = [by_place[places[0]] for part, by_place in parts for places, _, _ in typed_turns(part)]
                episodes, with_one = episodes + 1, with_one + any(credit)
                commands, taught = commands + len(credit), taught + sum(map(bool, credit))
    return (
        f"credit by command: of {episodes} episodes in groups with a signal {with_one} have a turn with an advantage; "
        f"{taught} of {commands} turns have one"
    )


def push_on_terminals(directory: Path, scenarios: dict[str, Scenario]) -> str:
    """How either --loss-type pushes the tokens of terminals: the sum of A / T over the sessions that end."""
    flags = read_json(directory / "manifest.json")["flags"]
    shares = {name: flags.get(name, 0.0) for name in ("terminate_share", "discover_share", "directive_share")}
    settings = RlSettings(base="", adapter=Path(), scenarios=Path(), **shares)
    groups: dict[tuple[str, int], list[Trajectory]] = defaultdict(list)
    for path in sorted((directory / "episodes").glob("*-s*.json")):
        episode = read_record(path, Trajectory)
        groups[episode.scenario_id, int(episode.id.rpartition("-s")[2]) // flags["episodes"]].append(episode)
    lengths = {one.id: sum(one.assistant_mask or []) for group in groups.values() for one in group}
    usual = sum(lengths.values()) / max(1, len(lengths))
    by_type = {"grpo": 0.0, "dapo": 0.0}
    ended: dict[bool, list[float]] = {True: [], False: []}  # their lengths, by whether they reached the goal
    for (id_, _), group in groups.items():
        found = advantages([reward_of(one, scenarios[id_], settings) for one in group])
        for one, advantage in zip(group, found, strict=True):
            if one.terminal is not None and advantage:
                ended[is_solved(one, scenarios[id_])].append(lengths[one.id])
                by_type["grpo"] += advantage / lengths[one.id]
                by_type["dapo"] += advantage / usual
    if not ended[True] or not ended[False]:
        return "no push on terminals: no group has both a solved session and one that failed and ended"
    told = ", ".join(f"{name} {push:+.3f}" for name, push in by_type.items())
    return (
        f"push on a token of terminals: {told} (T of dapo: the mean over the run); sampled tokens where a group has a "
        f"signal: solved {mean(ended[True]):.0f}, failed and ended {mean(ended[False]):.0f}"
    )


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
    panics = [[one.outcome == "panic" for one in side if known[one.scenario_hash].terminal == "panic"]
              for side in (old, new)]  # fmt: skip
    told = [f"{rate.removesuffix('_rate')} {format_difference(getattr(found, rate))}" for rate in RATES]
    print(f"{name}: {len(keys)} scenarios, {hard} hard; clean {sum(one.kept for one in old)} to "
          f"{sum(one.kept for one in new)}, {mended} mended, {spoilt} spoilt, {same} with the same commands; "
          f"panics {sum(panics[0])} to {sum(panics[1])} of {len(panics[0])}; {', '.join(told)}")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evening", type=Path, default=Path("runs/out/evening"), help="directory of runs/evening.sh")
    parser.add_argument("--out", type=Path, default=Path("runs/out/practice"), help="directory of runs/practice.sh")
    main(**vars(parser.parse_args()))
