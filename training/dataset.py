"""Turn trajectories into training examples and account for every row.

    from training.dataset import build, refuse_overlap

Reads   <data>/*.json (schema.Trajectory), <holdout>/*.json (schema.Scenario)
Writes  nothing
Needs   a tokenizer

Rows are never cut: a session over the limit is left out and named, since what is cut first is the terminal. Ids that
a local operator really sampled are trained on as they are where they belong to this tokenizer and render.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from model.render import Encoded, Renderer
from schema import Message, Trajectory, canonical, sha256

IGNORED = -100  # the label that torch's cross entropy leaves out
LEFT_OUT = ("not_kept", "beyond_limit", "malformed", "over_length", "no_labels")


@dataclass(frozen=True)
class Example:
    """One session to train on. `encoded` has one mask entry per token: 1 where the loss falls."""

    trajectory: Trajectory
    encoded: Encoded
    recorded: bool  # the operator's own ids, not its text tokenised again

    @property
    def id(self) -> str:
        """The trajectory's id."""
        return self.trajectory.id

    def row(self) -> dict[str, list[int]]:
        """What a trainer takes: ids and labels, IGNORED where the mask is 0."""
        ids = self.encoded.token_ids
        return {
            "input_ids": ids,
            "labels": [id_ if on else IGNORED for id_, on in zip(ids, self.encoded.mask, strict=True)],
        }


@dataclass
class Dataset:
    """The examples of a run, and what became of every row of the input."""

    read: int
    max_length_tokens: int = 0
    examples: list[Example] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=lambda: {reason: [] for reason in LEFT_OUT})
    retokenised: list[str] = field(default_factory=list)  # had recorded ids that another tokenizer or render made
    long: list[Example] = field(default_factory=list)  # what is over the limit
    malformed: list[str] = field(default_factory=list)  # what is wrong with each row whose turns no session has

    def counts(self) -> dict[str, Any]:
        """Every row exactly once: read = used + the sum of left_out."""
        return {
            "read": self.read,
            "used": len(self.examples),
            "left_out": {reason: len(ids) for reason, ids in self.left_out.items()},
            "left_out_ids": {reason: self.left_out[reason] for reason in ("malformed", "over_length", "no_labels")},
            "recorded_ids": sum(example.recorded for example in self.examples),
            "retokenised": len(self.retokenised),
            "tokens": sum(len(example.encoded.token_ids) for example in self.examples),
            "labelled_tokens": sum(sum(example.encoded.mask) for example in self.examples),
        }

    def sizes(self) -> tuple[list[int], list[int]]:
        """Tokens and labelled tokens of every example."""
        return (
            [len(example.encoded.token_ids) for example in self.examples],
            [sum(example.encoded.mask) for example in self.examples],
        )

    def keep_first(self, count: int) -> None:
        """Train on the first `count` examples only; the others are beyond the limit."""
        self.left_out["beyond_limit"] += [example.id for example in self.examples[count:]]
        self.examples = self.examples[:count]

    def hash(self) -> str:
        """SHA-256 over the ids and masks in order: what a checkpoint was trained on."""
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
    """The examples among `trajectories`, in their order; rows with turns that no session has are `malformed`."""
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
            if trajectory.token_ids is not None and not example.recorded:
                dataset.retokenised.append(trajectory.id)
            if not any(example.encoded.mask):
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
        if encoded.token_ids[:common] == ids[:common] and said == commands_of(trajectory.messages):
            return Example(trajectory, encoded, recorded=True)
    return Example(trajectory, renderer.encode(trajectory.messages), recorded=False)


def commands_of(messages: Iterable[Message]) -> list[str]:
    """What the operator typed, turn by turn."""
    return [message.content for message in messages if message.role == "assistant"]


def _recorded(trajectory: Trajectory) -> list[list[int]] | None:
    """The sampled ids of each assistant turn, None where there are none or they do not pair up with the turns."""
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
    return turns if len(turns) == len(commands_of(trajectory.messages)) else None


def steps_of(rows: int, batch: int, accum: int, epochs: int) -> int:
    """Optimizer steps of a run."""
    return math.ceil(math.ceil(rows / batch) / accum) * epochs
