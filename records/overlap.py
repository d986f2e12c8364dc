"""Hold what contamination.py writes to overlap.json: which held-out texts the training data also has."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, Field

from records.base import canonical, sha256

Count = Annotated[int, Field(strict=True, ge=0)]


class GramCounts(BaseModel):
    """The 13-grams of a part of the held-out texts: all, and those that were read before."""

    runs: Count
    shared: Count


class CommandCounts(BaseModel):
    """Commands of the solutions, and those that a session holds, each as a whole."""

    distinct: Count
    distinct_read: Count
    solutions: Count
    solutions_all_read: Count


class CountedSessions(BaseModel):
    """The sessions that the counts are of: how many, and a hash that the same sessions give in any order."""

    count: Count
    sha256: str

    @classmethod
    def of(cls, sessions: Iterable[tuple[str, str]]) -> "CountedSessions":
        """Of the ids of trajectories, each with its scenario's content hash."""
        pairs = sorted(set(sessions))
        return cls(count=len(pairs), sha256=sha256(canonical(pairs)))


class Overlap(BaseModel):
    """An overlap.json: reader -> part of a scenario -> counts; scenarios that were left out; whole commands."""

    holdout: str = "missing"
    sessions: CountedSessions | None = None
    shared: dict[str, dict[str, GramCounts]]
    left_out: list[str] = []
    whole_commands: CommandCounts | None = None
