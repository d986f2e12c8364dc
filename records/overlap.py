"""Hold what contamination.py writes to overlap.json: which held-out texts the training data also has."""

from typing import Annotated

from pydantic import BaseModel, Field

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


class Overlap(BaseModel):
    """An overlap.json: reader -> part of a scenario -> counts; scenarios that were left out; whole commands."""

    holdout: str = "missing"
    shared: dict[str, dict[str, GramCounts]]
    left_out: list[str] = []
    whole_commands: CommandCounts | None = None
