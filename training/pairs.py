"""Pair recorded sessions for preference training: one operator, one scenario, one kept session and one not kept.

    from training.pairs import candidate_of, pair_up

    paired = pair_up([candidate_of(row) for row in trajectories], per_scenario=4)
    for chosen, rejected in paired.pairs:  # ids
        ...

Both sides were written by the same policy (operator kind, model and adapter), from the same opening (the messages
before the first command). A session that the sandbox or the checker broke is no evidence for either side. Every row
counts once: it is in a pair, or it is left out for one reason. The result does not depend on the order of the rows.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from schema import VOIDED, Message, Trajectory, canonical, sha256

PER_SCENARIO = 4  # pairs of one operator in one scenario, by default
LEFT_OUT = (
    "voided",  # the sandbox or the operator's endpoint broke
    "checker_failed",  # nobody knows whether the work was done
    "no_turn",  # no command at all
    "duplicate",  # the same messages as an earlier row of its side
    "both_sides",  # the same messages are kept and not kept
    "one_sided",  # the scenario has no row of the other side
    "off_policy",  # the other side is another operator's
    "other_opening",  # the other side began with other messages
    "beyond_cap",  # the scenario has its pairs
)


@dataclass(frozen=True)
class Candidate:
    """A session that may be one side of a pair. Equal texts in a field mean the same thing of two sessions."""

    id: str
    scenario: str
    operator: str
    opening: str  # the messages before the first command
    content: str  # all messages
    success: bool  # chosen, else rejected
    excluded: str | None = None  # why the session is no evidence: a reason in LEFT_OUT, or the caller's own


@dataclass
class Paired:
    """The pairs as (chosen id, rejected id), and the reason for every other row."""

    read: int
    pairs: list[tuple[str, str]] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=lambda: {reason: [] for reason in LEFT_OUT})

    def counts(self) -> dict[str, Any]:
        """Counts of rows and pairs: read = paired + the sum of left_out."""
        return {
            "read": self.read,
            "pairs": len(self.pairs),
            "paired": len({id_ for pair in self.pairs for id_ in pair}),
            "left_out": {reason: len(ids) for reason, ids in self.left_out.items()},
        }


def candidate_of(trajectory: Trajectory) -> Candidate:
    """The candidate of a trajectory: chosen where it was kept, rejected where it was not."""
    who = trajectory.operator
    excluded = None
    if trajectory.outcome in VOIDED:
        excluded = "voided"
    elif trajectory.outcome == "checker_failed":
        excluded = "checker_failed"
    elif not trajectory.commands:
        excluded = "no_turn"
    return Candidate(
        id=trajectory.id,
        scenario=f"{trajectory.scenario_id} {trajectory.scenario_hash}",
        operator=f"{who.kind} {who.model} {who.adapter_hash}",
        opening=hash_of(takewhile(lambda message: message.role != "assistant", trajectory.messages)),
        content=hash_of(trajectory.messages),
        success=trajectory.kept,
        excluded=excluded,
    )


def hash_of(messages: Iterable[Message]) -> str:
    """SHA-256 of messages."""
    return sha256(canonical([[message.role, message.content] for message in messages]))


def pair_up(candidates: Sequence[Candidate], *, per_scenario: int = PER_SCENARIO) -> Paired:
    """Pair each chosen session with a rejected one; ids must be unique.

    An operator's sessions of a scenario are taken in id order, the shorter side again from its start. So no pair comes
    twice, and without the cap every session is in one.

    Args:
        candidates: the sessions, in any order.
        per_scenario: pairs at most of one operator, scenario and opening.
    """
    paired = Paired(read=len(candidates))
    groups: dict[tuple[str, ...], list[Candidate]] = defaultdict(list)
    for one in _usable(candidates, paired):
        groups[one.scenario, one.operator, one.opening].append(one)
    sides = Counter(
        (key[:depth], success)
        for key, group in groups.items()
        for depth in (1, 2)
        for success in {one.success for one in group}
    )
    for key, group in sorted(groups.items()):
        chosen = [one.id for one in group if one.success]
        rejected = [one.id for one in group if not one.success]
        if not chosen or not rejected:
            lacks = not chosen
            reason = (
                "other_opening" if sides[key[:2], lacks] else "off_policy" if sides[key[:1], lacks] else "one_sided"
            )
            paired.left_out[reason] += [one.id for one in group]
            continue
        count = min(per_scenario, max(len(chosen), len(rejected)))
        pairs = [(chosen[at % len(chosen)], rejected[at % len(rejected)]) for at in range(count)]
        used = {id_ for pair in pairs for id_ in pair}
        paired.pairs += pairs
        paired.left_out["beyond_cap"] += [one.id for one in group if one.id not in used]
    paired.left_out = {reason: sorted(ids) for reason, ids in paired.left_out.items()}
    return paired


def _usable(candidates: Sequence[Candidate], paired: Paired) -> list[Candidate]:
    """The candidates that are evidence, in id order, each content once; the others are entered in `paired`."""
    rows = sorted(candidates, key=lambda one: one.id)
    verdicts: dict[tuple[str, ...], set[bool]] = defaultdict(set)
    for one in rows:
        if not one.excluded:
            verdicts[one.scenario, one.operator, one.content].add(one.success)
    seen: set[tuple[str, ...]] = set()
    usable = []
    for one in rows:
        key = (one.scenario, one.operator, one.content)
        if one.excluded:
            paired.left_out.setdefault(one.excluded, []).append(one.id)
        elif len(verdicts[key]) == 2:
            paired.left_out["both_sides"].append(one.id)
        elif key in seen:
            paired.left_out["duplicate"].append(one.id)
        else:
            seen.add(key)
            usable.append(one)
    return usable
