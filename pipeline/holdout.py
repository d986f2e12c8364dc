"""Refuse held-out scenarios where something is trained on them, or was.

A scenario counts by its id and by its content, always. Where the held-out set was split by archetype, its archetypes
count too. Trainers and evals ask here, and nowhere else.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path, PosixPath

from pipeline.files import read_identity, read_manifest, sessions_in_base
from pipeline.stage import split_kind
from schema import BadInputError, Scenario, TrainedSession, Trajectory


class SelectedPath(PosixPath):
    """The directory of an adapter that a selected.json names, with the scenarios that decided the selection."""

    selected_on: Sequence[TrainedSession] = ()


def session_in(scenario: Scenario) -> TrainedSession:
    """A session that may be played in a scenario, as sekft.json would name it."""
    return TrainedSession(
        scenario_id=scenario.id, content_hash=scenario.content_hash, archetype=scenario.task, trajectory_id=scenario.id
    )


def session_of(trajectory: Trajectory) -> TrainedSession:
    """What an adapter remembers of a trajectory that it is trained on."""
    return TrainedSession(
        scenario_id=trajectory.scenario_id,
        content_hash=trajectory.scenario_hash,
        archetype=trajectory.axes["task"],
        trajectory_id=trajectory.id,
    )


def each_once(sessions: Iterable[TrainedSession]) -> list[TrainedSession]:
    """The sessions in their order, each once. Two of one id whose scenarios differ are two."""
    return list({row.model_dump_json(): row for row in sessions}.values())


def overlap(sessions: Iterable[TrainedSession], holdout: Path, scenarios: Sequence[Scenario]) -> dict[str, list[str]]:
    """Ids of the trajectories that share a `scenario`, or an `archetype`, with the held-out scenarios.

    Args:
        sessions: what is trained on, or was.
        holdout: the directory of the scenarios. Its manifest says how it was split; where it does not, archetypes do
            not count.
        scenarios: the held-out scenarios in it.
    """
    sessions, by = list(sessions), split_kind(holdout)
    ids, hashes = {one.id for one in scenarios}, {one.content_hash for one in scenarios}
    archetypes = {one.task for one in scenarios} if by == "archetype" else set()
    return {
        "scenario": [row.trajectory_id for row in sessions if row.scenario_id in ids or row.content_hash in hashes],
        "archetype": [row.trajectory_id for row in sessions if row.archetype in archetypes],
    }


def print_unknown_split(holdout: Path) -> None:
    """Say on stderr where a directory does not tell how it was split."""
    if split_kind(holdout) not in ("archetype", "scenario"):
        print(f"{holdout}: does not say how it was split; comparing scenarios, not archetypes", file=sys.stderr)


def refuse_overlap(
    sessions: Iterable[TrainedSession], holdout: Path, scenarios: Sequence[Scenario], *, trained: str, remedy: str
) -> None:
    """Raise BadInputError where a session's scenario or archetype is held out.

    Args:
        sessions: what is trained on, or was.
        holdout: the directory of the scenarios.
        scenarios: the held-out scenarios in it.
        trained: subject and verb of the message, such as "the adapter ckpt-run1 was trained on".
        remedy: the end of the message.
    """
    manifest = read_manifest(holdout)
    training_side = manifest is not None and manifest.flags.get("side") == "train"
    where = "lies in this training side of a split" if training_side else "is held out here"
    for kind, ids in overlap(sessions, holdout, scenarios).items():
        if ids:
            told = f"{trained} {len(ids)} sessions whose {kind} {where}, {ids[0]} first"
            raise BadInputError(f"{holdout}: {told}; {remedy}")


def refuse_trained_on(
    base: str, adapters: Iterable[Path], holdout: Path, scenarios: Sequence[Scenario], *, remedy: str
) -> None:
    """Raise BadInputError where the base or an adapter was trained, or selected, on a held-out scenario or archetype.

    Args:
        base: a base; one that merge.py wrote names what it was trained on.
        adapters: adapter directories; of a SelectedPath the scenarios of the selection count too.
        holdout: the directory of the scenarios.
        scenarios: the held-out scenarios in it.
        remedy: the end of the message.
    """
    refuse_overlap(sessions_in_base(base), holdout, scenarios, trained=f"{base} was trained on", remedy=remedy)
    for one in adapters:
        read = read_identity(one).trained_on
        refuse_overlap(read, holdout, scenarios, trained=f"{one} was trained on", remedy=remedy)
        if isinstance(one, SelectedPath):
            refuse_overlap(one.selected_on, holdout, scenarios, trained=f"{one} was selected on", remedy=remedy)
