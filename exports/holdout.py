"""Know what is held out, and which rows belong to it: by id, by content hash and, where it was the split, by archetype.

    held = read_holdout(Path("split/holdout"))      # scenarios
    held = read_holdout(Path("clean-eval-ids.json")) # ids or hashes, or an archive whose tasks are held out
    held.reason(row)                                # "instance django-1 is held out", or None

A file that names nothing, or anything but non-empty strings or whole rows, is refused.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from exports.rows import Row, foreign_row, opening_length, read_values
from pipeline.files import read_scenarios
from pipeline.stage import split_kind
from schema import BadInputError


class Task(Protocol):
    """What a row says of its task; so do the lines of a sidecar."""

    @property
    def instance(self) -> str: ...  # noqa: D102

    @property
    def content_hash(self) -> str: ...  # noqa: D102

    @property
    def archetype(self) -> str | None: ...  # noqa: D102


@dataclass
class Holdout:
    """Ids, content hashes and archetypes that are held out."""

    ids: set[str] = field(default_factory=set)
    hashes: set[str] = field(default_factory=set)
    archetypes: set[str] = field(default_factory=set)
    from_split: bool = False  # split.py wrote it: that no session of it is in the archive is as it should be

    def reason(self, task: Task) -> str | None:
        """Why a row is held out, or None."""
        if task.instance in self.ids:
            return f"instance {task.instance} is held out"
        if task.content_hash in self.hashes:
            return f"its task's content {task.content_hash[:12]} is held out"
        if task.archetype in self.archetypes:
            return f"archetype {task.archetype} is held out"
        return None

    def hold_content(self, row: Row) -> None:
        """Hold out what a row's task says, so that the task is held out under any id.

        A foreign row without a user turn before its first assistant turn says nothing of its task.
        """
        opening = row.messages[: opening_length(row.messages)]
        if row.trajectory is not None or any(message["role"] == "user" for message in opening):
            self.hashes.add(row.content_hash)

    def notes(self, tasks: Iterable[str]) -> list[str]:
        """A warning of ids that are neither an instance nor a content hash in the archive; often they are misspelt."""
        found = set(tasks)
        absent = sorted(self.ids - found)
        if not absent or self.from_split:
            return []
        folded = {one.casefold(): one for one in found}
        close = next((f"; {one!r} differs from {folded[one.casefold()]!r} in case" for one in absent if one.casefold() in folded), "")  # fmt: skip  # noqa: E501
        return [f"holdout: {len(absent)} of {len(self.ids)} ids are not in the archive, {absent[0]!r} first{close}"]


def read_holdout(holdout: Path | None, *, partial: bool = False) -> Holdout:
    """What `holdout` names; nothing for None. Raises BadInputError."""
    if holdout is None:
        return Holdout()
    if holdout.is_dir():
        records = read_scenarios(holdout, partial=partial)
        kind = split_kind(holdout)
        return Holdout(
            {one.id for one in records},
            {one.content_hash for one in records},
            {one.task for one in records} if kind == "archetype" else set(),
            from_split=kind is not None,
        )
    held = Holdout()
    kinds = set()
    for number, value in enumerate(read_values(holdout), 1):
        kinds.add(type(value).__name__)
        if isinstance(value, str) and value and value == value.strip():
            held.ids.add(value)
            held.hashes.add(value)
        elif isinstance(value, dict):
            row = foreign_row(holdout, number, value)
            held.ids.add(row.instance)
            held.hold_content(row)
        else:
            hint = "an id without blanks around it, or a row of an archive"
            raise BadInputError(f"{holdout}: element {number}: {str(value)[:40]!r} is not {hint}; correct the file")
    if len(kinds) != 1:
        raise BadInputError(f"{holdout}: {'mixes ids and rows' if kinds else 'names nothing'}; correct the file")
    return held
