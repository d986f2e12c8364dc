"""Turn trajectories into training examples and account for every row.

    from training.dataset import build

    dataset = build(trajectories, renderer, max_length_tokens=4096)

No row is cut: a session over the limit is left out and named, because a cut would remove the terminal first. So is a
session with a command that spells the end marker: a model that types it ends its turn there. Ids that a local operator
sampled are trained on unchanged where they fit this tokenizer and render format.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from model.render import Encoded, Renderer
from schema import Trajectory, canonical, sha256

IGNORED = -100  # the label that torch's cross entropy leaves out
NAMED = ("malformed", "end_in_command", "over_length", "no_labels")  # rows that a user may not expect to lose
LEFT_OUT = ("not_kept", "beyond_limit", *NAMED)


@dataclass(frozen=True)
class Example:
    """One session to train on. `encoded` has one mask entry per token: 1 where the token carries loss."""

    trajectory: Trajectory
    encoded: Encoded
    recorded: bool  # holds the ids that the operator sampled, not its text tokenised again

    @property
    def id(self) -> str:
        """The trajectory's id."""
        return self.trajectory.id

    def row(self) -> dict[str, list[int]]:
        """The ids and labels for a trainer; a label is IGNORED where the mask is 0."""
        ids = self.encoded.token_ids
        return {
            "input_ids": ids,
            "labels": [id_ if on else IGNORED for id_, on in zip(ids, self.encoded.mask, strict=True)],
        }


@dataclass
class Dataset:
    """The examples of a run, and the result for every row of the input."""

    read: int
    max_length_tokens: int = 0
    examples: list[Example] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=lambda: {reason: [] for reason in LEFT_OUT})
    retokenised: list[str] = field(default_factory=list)  # have recorded ids of another tokenizer or render format
    long: list[Example] = field(default_factory=list)  # over the limit
    malformed: list[str] = field(default_factory=list)  # the error of each row with turns in an impossible order

    def counts(self) -> dict[str, Any]:
        """Counts of rows and tokens; every row counts once: read = used + the sum of left_out."""
        return {
            "read": self.read,
            "used": len(self.examples),
            "left_out": {reason: len(ids) for reason, ids in self.left_out.items()},
            "left_out_ids": {reason: self.left_out[reason] for reason in NAMED},
            "recorded_ids": sum(example.recorded for example in self.examples),
            "retokenised": len(self.retokenised),
            "tokens": sum(len(example.encoded.token_ids) for example in self.examples),
            "labelled_tokens": sum(sum(example.encoded.mask) for example in self.examples),
        }

    def sizes(self) -> tuple[list[int], list[int]]:
        """Tokens and trained tokens of every example."""
        return (
            [len(example.encoded.token_ids) for example in self.examples],
            [sum(example.encoded.mask) for example in self.examples],
        )

    def keep_first(self, count: int) -> None:
        """Train on the first `count` examples only; the others are beyond the limit."""
        self.left_out["beyond_limit"] += [example.id for example in self.examples[count:]]
        self.examples = self.examples[:count]

    def hash(self) -> str:
        """SHA-256 over ids and masks in order; identifies the rows that a checkpoint was trained on."""
        return sha256(
            canonical([[example.id, example.encoded.token_ids, example.encoded.mask] for example in self.examples])
        )


def build(
    trajectories: Sequence[Trajectory],
    renderer: Renderer,
    *,
    max_length_tokens: int,
    limit: int | None = None,
    include_not_kept: bool = False,
) -> Dataset:
    """The examples among `trajectories`, in their order; rows with turns in an impossible order are `malformed`."""
    dataset = Dataset(read=len(trajectories), max_length_tokens=max_length_tokens)
    for index, trajectory in enumerate(trajectories):
        if limit is not None and index >= limit:
            dataset.left_out["beyond_limit"].append(trajectory.id)
        elif not (trajectory.kept or include_not_kept):
            dataset.left_out["not_kept"].append(trajectory.id)
        else:
            try:
                example = _example(trajectory, renderer)
            except ValueError as error:
                dataset.left_out["malformed"].append(trajectory.id)
                dataset.malformed.append(f"{trajectory.id}: messages: {error}; correct or delete the file")
                continue
            if (trajectory.token_ids or trajectory.segments) and not example.recorded:
                dataset.retokenised.append(trajectory.id)
            if any(map(renderer.ends_early, trajectory.commands)):
                dataset.left_out["end_in_command"].append(trajectory.id)
            elif not any(example.encoded.mask):
                dataset.left_out["no_labels"].append(trajectory.id)
            elif len(example.encoded.token_ids) > max_length_tokens:
                dataset.left_out["over_length"].append(trajectory.id)
                dataset.long.append(example)
            else:
                dataset.examples.append(example)
    return dataset


def _example(trajectory: Trajectory, renderer: Renderer) -> Example:
    recorded = _recorded(trajectory)
    if recorded is not None:
        encoded = renderer.encode(trajectory.messages, recorded)
        ids = trajectory.token_ids or []
        common = min(len(ids), len(encoded.token_ids))
        said = [renderer.decode_turn(turn)[0] for turn in recorded]
        if encoded.token_ids[:common] == ids[:common] and said == trajectory.commands:
            return Example(trajectory, encoded, recorded=True)
    return Example(trajectory, renderer.encode(trajectory.messages), recorded=False)


def _recorded(trajectory: Trajectory) -> list[list[int]] | None:
    """The sampled ids of each assistant turn; None where there are none or their number differs from the turns."""
    if trajectory.token_ids is None or trajectory.assistant_mask is None:
        return None
    turns: list[list[int]] = []
    before = 0
    for id_, on in zip(trajectory.token_ids, trajectory.assistant_mask, strict=True):
        if on and not before:
            turns.append([])
        if on:
            turns[-1].append(id_)
        before = on
    return turns if len(turns) == len(trajectory.commands) else None


def last_turn(mask: Sequence[int]) -> tuple[int, int]:
    """Where the operator's last turn begins and ends (exclusive) in a mask that is not all 0."""
    end = max(at for at, on in enumerate(mask) if on) + 1
    return next((at + 1 for at in range(end - 1, -1, -1) if not mask[at]), 0), end


def steps_of(rows: int, batch: int, accum: int, epochs: int) -> int:
    """Optimizer steps of a run."""
    return math.ceil(math.ceil(rows / batch) / accum) * epochs
