"""Pick the scenarios of each step: those that still teach something, and now and then the others.

    curriculum = Curriculum(ids, settings)
    picked = curriculum.pick(step)          # the same for the same seed and the same results so far
    curriculum.enter("sum_column-0001", step, rewards)

A group whose scored episodes all have one reward has no gradient. A scenario whose last --skip-after visits were of
that kind is skipped, and is due again --revisit-after steps after its last visit. At most a quarter of a step are such
revisits while there are others to play. A step has fewer groups where too few are left, and where none is left and none
is due it plays those that it has not played for longest.
"""

import dataclasses
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from training.rl_settings import RlSettings

REVISITED = 4  # at most one in so many scenarios of a step


@dataclass
class Visits:
    """What the visits to one scenario came to."""

    count: int = 0
    last_step: int = 0
    without_signal: int = 0  # in a row, up to now
    solved: bool = False  # of the last one without signal: all its episodes were solved, not failed


@dataclass(frozen=True)
class Pick:
    """The scenarios of a step, and how many were left out for what reason."""

    ids: list[str]
    revisited: int
    skipped_solved: int
    skipped_failed: int


class Curriculum:
    """The visits to every scenario of a run."""

    def __init__(self, ids: Sequence[str], settings: RlSettings, visits: Mapping[str, dict[str, Any]] | None = None):
        self.settings = settings
        self.visits = {id_: Visits(**(visits or {}).get(id_, {})) for id_ in sorted(ids)}

    def pick(self, step: int) -> Pick:
        """The scenarios of a step: the least visited ones first, in an order that the seed decides."""

        def longest_unseen(ids: Sequence[str]) -> list[str]:
            return sorted(ids, key=lambda id_: (self.visits[id_].last_step, self._order(id_)))

        usual = [id_ for id_ in self.visits if not self._is_skipped(id_)]
        skipped = [id_ for id_ in self.visits if self._is_skipped(id_)]
        due = [id_ for id_ in skipped if step - self.visits[id_].last_step >= self.settings.revisit_after]
        count = min(self.settings.groups, len(self.visits))
        revisits = longest_unseen(due)[: count // REVISITED]
        ids = revisits + sorted(usual, key=lambda id_: (self.visits[id_].count, self._order(id_)))
        ids += longest_unseen(due if ids or due else skipped)
        ids = list(dict.fromkeys(ids))[:count]
        rest = [id_ for id_ in skipped if id_ not in ids]
        solved = sum(self.visits[id_].solved for id_ in rest)
        return Pick(ids, len([id_ for id_ in ids if id_ in skipped]), solved, len(rest) - solved)

    def _is_skipped(self, id_: str) -> bool:
        return self.visits[id_].without_signal >= self.settings.skip_after

    def _order(self, id_: str) -> float:
        """A number that differs from visit to visit, so that scenarios do not meet in the same steps again."""
        return random.Random(f"rl/{self.settings.seed}/{id_}/{self.visits[id_].count}").random()

    def enter(self, id_: str, step: int, rewards: Sequence[float]) -> None:
        """Enter a visit with the rewards of its scored episodes; a visit without any counts as visited alone."""
        visits = self.visits[id_]
        visits.count, visits.last_step = visits.count + 1, step
        if len(set(rewards)) > 1:
            visits.without_signal = 0
        elif rewards:
            visits.without_signal += 1
            visits.solved = rewards[0] == 1

    def as_json(self) -> dict[str, dict[str, Any]]:
        """The visits, to go on from."""
        return {id_: dataclasses.asdict(one) for id_, one in self.visits.items() if one.count}
