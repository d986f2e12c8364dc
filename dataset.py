"""Turn trajectories into training examples, account for every row, and check them before anything is trained.

    from dataset import build, inspect, refuse_overlap

Reads   <data>/*.json (schema.Trajectory), <holdout>/*.json (schema.Scenario)
Writes  nothing
Needs   a tokenizer

Rows are never cut: a session over the limit is left out and named, since what is cut first is the terminal. Ids that
a local operator really sampled are trained on as they are where they belong to this tokenizer and render.
"""

import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from render import Encoded, Renderer
from schema import BadInputError, Message, Trajectory, canonical, read_json, read_scenarios, sha256

IGNORED = -100  # the label that torch's cross entropy leaves out
LEFT_OUT = ("not_kept", "beyond_limit", "over_length", "no_labels")
LABELLED_SHARE = (0.01, 0.95)  # outside of these a mask is broken, whatever the data


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
    examples: list[Example] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=lambda: {reason: [] for reason in LEFT_OUT})
    retokenised: list[str] = field(default_factory=list)  # had recorded ids that another tokenizer or render made
    long: dict[str, int] = field(default_factory=dict)  # length in tokens of what is over the limit

    def counts(self) -> dict[str, Any]:
        """Every row exactly once: read = used + the sum of left_out."""
        return {
            "read": self.read,
            "used": len(self.examples),
            "left_out": {reason: len(ids) for reason, ids in self.left_out.items()},
            "left_out_ids": {reason: self.left_out[reason] for reason in ("over_length", "no_labels")},
            "recorded_ids": sum(example.recorded for example in self.examples),
            "retokenised": len(self.retokenised),
            "tokens": sum(len(example.encoded.token_ids) for example in self.examples),
            "labelled_tokens": sum(sum(example.encoded.mask) for example in self.examples),
        }

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
    """The examples among `trajectories`, in their order. Raises BadInputError for turns that no session has."""
    dataset = Dataset(read=len(trajectories))
    for index, trajectory in enumerate(trajectories):
        if limit is not None and index >= limit:
            dataset.left_out["beyond_limit"].append(trajectory.id)
        elif not (trajectory.kept or include_not_kept):
            dataset.left_out["not_kept"].append(trajectory.id)
        else:
            example = _example(trajectory, renderer)
            if trajectory.token_ids is not None and not example.recorded:
                dataset.retokenised.append(trajectory.id)
            if not any(example.encoded.mask):
                dataset.left_out["no_labels"].append(trajectory.id)
            elif len(example.encoded.token_ids) > max_length_tokens:
                dataset.left_out["over_length"].append(trajectory.id)
                dataset.long[trajectory.id] = len(example.encoded.token_ids)
            else:
                dataset.examples.append(example)
    return dataset


def _example(trajectory: Trajectory, renderer: Renderer) -> Example:
    try:
        recorded = _recorded(trajectory)
        if recorded is not None:
            encoded = renderer.encode(trajectory.messages, recorded)
            ids = trajectory.token_ids or []
            common = min(len(ids), len(encoded.token_ids))
            said = [renderer.decode_turn(turn)[0] for turn in recorded]
            if encoded.token_ids[:common] == ids[:common] and said == _commands(trajectory.messages):
                return Example(trajectory, encoded, recorded=True)
        return Example(trajectory, renderer.encode(trajectory.messages), recorded=False)
    except ValueError as error:
        raise BadInputError(f"{trajectory.id}: messages: {error}; correct or delete the file") from error


def _commands(messages: Iterable[Message]) -> list[str]:
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
    return turns if len(turns) == len(_commands(trajectory.messages)) else None


def overlap(trajectories: Sequence[Trajectory], holdout: Path, *, partial: bool = False) -> dict[str, list[str]]:
    """Ids of trajectories that share a scenario (id or content hash) or a held-out archetype with `holdout`.

    The archetype counts where the held-out directory's manifest says that it was split by archetype; a directory that
    does not say how it was split is compared by scenario alone, with a note on stderr.
    """
    scenarios = read_scenarios(holdout, partial=partial)
    manifest = holdout / "manifest.json"
    by = read_json(manifest).get("flags", {}).get("by") if manifest.exists() else None
    if by not in ("archetype", "scenario"):
        print(f"{holdout}: does not say how it was split; comparing scenarios, not archetypes", file=sys.stderr)
    ids, hashes = {row.id for row in scenarios}, {row.content_hash for row in scenarios}
    tasks = {row.task for row in scenarios} if by == "archetype" else set()
    return {
        "scenario": [row.id for row in trajectories if row.scenario_id in ids or row.scenario_hash in hashes],
        "archetype": [row.id for row in trajectories if row.axes["task"] in tasks],
    }


def refuse_overlap(trajectories: Sequence[Trajectory], holdout: Path, *, partial: bool = False) -> None:
    """Raise BadInputError where anything of `holdout` would be trained on."""
    for kind, ids in overlap(trajectories, holdout, partial=partial).items():
        if ids:
            raise BadInputError(
                f"{holdout}: {kind} of {len(ids)} trajectories is held out, {ids[0]} first; train on the other side"
            )


@dataclass(frozen=True)
class Finding:
    """One check's result. An ERROR names rows that would train a model wrongly."""

    level: str  # OK, WARN or ERROR
    check: str
    text: str
    rows: list[str] = field(default_factory=list)

    def line(self) -> str:
        """One greppable line; the first rows by name."""
        named = f": {', '.join(self.rows[:8])}{' …' if len(self.rows) > 8 else ''}" if self.rows else ""
        return f"{self.level:5s} {self.check}: {self.text}{named}"


def inspect(dataset: Dataset, renderer: Renderer, *, holdout: dict[str, list[str]] | None = None) -> list[Finding]:
    """Every check that needs no weights, in a fixed order."""
    examples = dataset.examples
    findings = [
        _rows("spans", "labelled text is the operator's turns with end marker", examples, _spans_differ, renderer),
        _rows("straddling", "no token crosses a turn's edge", examples, _straddles, renderer),
        _rows("prefix", "every turn's context is a prefix of the ids", examples, _prefix_breaks, renderer),
        _rows("end", "every turn ends in the end marker, and holds none before it", examples, _end_is_wrong, renderer),
        _rows("bos", "one BOS at most, at the start", examples, _bos_is_wrong, renderer),
        _rows("decode", "ids give the commands back byte for byte", examples, _decode_differs, renderer, level="WARN"),
        _rows("unknown", "no unknown token in a command", examples, _has_unknown, renderer, level="WARN"),
        _share(dataset),
        _named("ERROR", "no_labels", "rows without any label", dataset.left_out["no_labels"]),
        _named("WARN", "over_length", "rows over --max-length-tokens, left out whole", dataset.left_out["over_length"]),
        _named("WARN", "retokenised", "rows whose recorded ids are not this tokenizer's", dataset.retokenised),
        _named("WARN", "duplicates", "rows equal to an earlier one", _duplicates(examples)),
        _pad(renderer),
    ]
    for kind, ids in (holdout or {}).items():
        findings.append(_named("ERROR", f"holdout_{kind}", "rows that are held out", ids))
    return findings


def _named(level: str, check: str, text: str, rows: list[str]) -> Finding:
    return Finding(level if rows else "OK", check, f"{len(rows)} {text}", rows)


def _rows(
    check: str, text: str, examples: Sequence[Example], wrong: Any, renderer: Renderer, level: str = "ERROR"
) -> Finding:
    rows = [example.id for example in examples if wrong(example, renderer)]
    return Finding(level if rows else "OK", check, text if not rows else f"not in {len(rows)} rows: {text}", rows)


def _labelled(example: Example) -> list[list[int]]:
    """Token positions of each labelled span."""
    encoded, spans = example.encoded, example.encoded.spans
    positions = [position for position, on in enumerate(encoded.mask) if on]
    return [[position for position in positions if start <= encoded.offsets[position][0] < end] for start, end in spans]


def _spans_differ(example: Example, renderer: Renderer) -> bool:
    encoded = example.encoded
    turns = [command + renderer.end_text for command in _commands(example.trajectory.messages)]
    if not example.recorded and [encoded.text[start:end] for start, end in encoded.spans] != turns:
        return True
    groups = _labelled(example)
    if sum(map(len, groups)) != sum(encoded.mask) or not all(groups) or len(groups) != len(turns):
        return True
    covered = [(encoded.offsets[group[0]][0], encoded.offsets[group[-1]][1]) for group in groups]
    stripped = [
        (end - len(encoded.text[start:end].lstrip()), start + len(encoded.text[start:end].rstrip()))
        for start, end in encoded.spans
    ]
    return any(start > first or end < last for (start, end), (first, last) in zip(covered, stripped, strict=True))


def _straddles(example: Example, renderer: Renderer) -> bool:
    edges = {edge for span in example.encoded.spans for edge in span}
    return any(
        start < edge < end for start, end in example.encoded.offsets for edge in range(start + 1, end) if edge in edges
    )


def _prefix_breaks(example: Example, renderer: Renderer) -> bool:
    if example.recorded:
        return False  # the ids are what was read and sampled
    messages = example.trajectory.messages
    for index, message in enumerate(messages):
        if message.role == "assistant":
            context = renderer.context(messages[:index])
            if example.encoded.token_ids[: len(context)] != context or not example.encoded.mask[len(context)]:
                return True
    return False


def _end_is_wrong(example: Example, renderer: Renderer) -> bool:
    texts = [example.encoded.text[start:end] for start, end in example.encoded.spans]
    return any(not text.endswith(renderer.end_text) or text.count(renderer.end_text) != 1 for text in texts)


def _bos_is_wrong(example: Example, renderer: Renderer) -> bool:
    ids, bos = example.encoded.token_ids, renderer.bos_id
    return bos is not None and (ids[:1] != [bos] or ids.count(bos) != 1)


def _decode_differs(example: Example, renderer: Renderer) -> bool:
    ids = example.encoded.token_ids
    said = [renderer.decode_turn([ids[position] for position in group])[0] for group in _labelled(example)]
    return said != _commands(example.trajectory.messages)


def _has_unknown(example: Example, renderer: Renderer) -> bool:
    unknown = renderer.tokenizer.unk_token_id
    encoded = example.encoded
    return unknown is not None and any(
        on and id_ == unknown for id_, on in zip(encoded.token_ids, encoded.mask, strict=True)
    )


def _share(dataset: Dataset) -> Finding:
    counts = dataset.counts()
    if not counts["tokens"]:
        return Finding("ERROR", "labelled_share", "no row is left to train on")
    share = counts["labelled_tokens"] / counts["tokens"]
    low, high = LABELLED_SHARE
    level = "OK" if low <= share <= high else "ERROR"
    return Finding(level, "labelled_share", f"{share:.1%} of {counts['tokens']} tokens are labelled")


def _duplicates(examples: Sequence[Example]) -> list[str]:
    seen: set[tuple[int, ...]] = set()
    repeated = []
    for example in examples:
        key = tuple(example.encoded.token_ids)
        if key in seen:
            repeated.append(example.id)
        seen.add(key)
    return repeated


def _pad(renderer: Renderer) -> Finding:
    pad, end = renderer.tokenizer.pad_token_id, renderer.operator_ids("")
    if pad in end:
        return Finding(
            "WARN", "pad", "the pad token is the end marker's; labels are built from positions, so it is trained"
        )
    return Finding("OK", "pad", "the pad token is not the end marker's")


def statistics_of(dataset: Dataset) -> dict[str, Any]:
    """Quantiles of length, labels and labelled share per row (min, quartiles, max), and rows per archetype."""
    lengths = [len(example.encoded.token_ids) for example in dataset.examples]
    labels = [sum(example.encoded.mask) for example in dataset.examples]
    shares = [label / length for label, length in zip(labels, lengths, strict=True)]
    return {
        "length_tokens": _quantiles(lengths),
        "labelled_tokens": _quantiles(labels),
        "labelled_share": _quantiles(shares),
        "archetypes": dict(sorted(Counter(example.trajectory.axes["task"] for example in dataset.examples).items())),
    }


def _quantiles(values: Sequence[float]) -> list[float] | None:
    if not values:
        return None
    middle = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    return [round(float(value), 4) for value in (min(values), *middle, max(values))]


def show(example: Example, *, colour: bool) -> str:
    """The rendered text with the labelled spans in green, or in ⟦brackets⟧ without colour."""
    opened, closed = ("\033[32m", "\033[0m") if colour else ("⟦", "⟧")
    encoded, parts, cursor = example.encoded, [], 0
    for start, end in encoded.spans:
        parts += [encoded.text[cursor:start], opened, encoded.text[start:end], closed]
        cursor = end
    share = sum(encoded.mask) / len(encoded.token_ids)
    return f"--- {example.id}: {len(encoded.token_ids)} tokens, {share:.1%} labelled\n{''.join(parts)}"
