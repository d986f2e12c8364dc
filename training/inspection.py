"""Check a dataset and its mask without any weights, and show which tokens carry loss.

    from training.inspection import inspect, show

    for finding in inspect(dataset, renderer):
        print(finding.line())

Each check answers a complaint that users have about trainers, and each has been seen to fail on a planted fault. An
ERROR names rows that would train a model wrongly; its text shows the first fault.
"""

import re
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline import stage
from model import hardware, loading
from model.render import Renderer
from pipeline.files import read_json
from pipeline.hidden import as_text
from pipeline.verdicts import is_terminal
from schema import BadInputError, Message
from training.dataset import Dataset, Example, steps_of
from training.settings import FitSettings

TRAINED_SHARE = (0.01, 0.95)  # outside this range a mask is broken, for any data
LOW_LR = 0.25  # share of the usual rate (5e-5 for Mistral-7B); full fine-tuning uses a tenth of the usual rate
SHOWN_CHARACTERS = 40  # longest text that a finding quotes

RowFault = Callable[[Example, Renderer], str]


@dataclass(frozen=True)
class Finding:
    """One check's result. An ERROR names rows that would train a model wrongly."""

    level: str  # OK, WARN or ERROR
    check: str
    text: str
    rows: list[str] = field(default_factory=list)

    def line(self) -> str:
        """One greppable line with the first rows; the JSON line has all of them."""
        named = f": {', '.join(self.rows[:8])}{' … (all: stdout)' if len(self.rows) > 8 else ''}" if self.rows else ""
        return f"{self.level:5s} {self.check}: {self.text}{named}"


def print_inspection(
    dataset: Dataset,
    renderer: Renderer,
    settings: FitSettings,
    held_out: dict[str, list[str]] | None,
    costs: dict[str, Any] | None,
) -> int:
    """Print findings and example rows to stderr and the JSON line to stdout; returns 2 where a finding is an ERROR.

    `held_out` names the rows that overlap with a holdout (None: no --holdout); `costs` is the `estimate`.
    """
    findings = [*inspect(dataset, renderer, held_out=held_out), *inspect_run(renderer, settings, costs)]
    wrong = {row for finding in findings if finding.level == "ERROR" for row in finding.rows}
    for example in sorted(dataset.examples, key=lambda example: example.id not in wrong)[: settings.show_rows]:
        print(show(example, colour=sys.stderr.isatty()), file=sys.stderr)
    for finding in findings:
        print(finding.line(), file=sys.stderr)
    lengths, trained = dataset.sizes()
    stage.print_summary(
        {
            **dataset.counts(),
            **statistics_of(dataset, renderer),
            "labelled_share": round(sum(trained) / sum(lengths), 4) if lengths else None,
            "steps_estimate": steps_of(len(lengths), settings.batch, settings.accum, settings.epochs),
            "steps_per_epoch": steps_of(len(lengths), settings.batch, settings.accum, 1),
            "padding_share": padding_share(lengths, settings.batch, settings.accum),
            "estimate": costs,
            "data_sha256": dataset.hash(),
            "render": renderer.describe(),
            "markers": markers(renderer),
            "opening": opening_text(renderer),
            "findings": [vars(finding) for finding in findings if finding.level != "OK"],
            "checks": len(findings),
        }
    )
    return stage.BAD_INPUT if any(finding.level == "ERROR" for finding in findings) else stage.DONE


def inspect_run(renderer: Renderer, settings: FitSettings, costs: dict[str, Any] | None) -> list[Finding]:
    """The checks of the run itself: end token, GPU, learning rate, memory."""
    base, rate = settings.base, settings.lr
    findings = [_eos(renderer, base), _gpu(base, settings.dtype)]
    if rate is not None and rate < LOW_LR * (usual := hardware.usual_learning_rate(base)):
        findings.append(Finding("WARN", "lr", f"{rate:g} is low for LoRA; {usual:g} is usual for this base"))
    need = costs["memory_bytes"]["total"] if costs else 0
    if line := hardware.too_small(need, hardware.free_bytes_here()):
        findings.append(Finding("WARN", "memory", line))
    return findings


def inspect(dataset: Dataset, renderer: Renderer, *, held_out: dict[str, list[str]] | None = None) -> list[Finding]:
    """Every check that needs no weights, in a fixed order."""
    examples = dataset.examples

    def over(check: str, text: str, where: RowFault, level: str = "ERROR") -> Finding:
        """The finding of one check over all rows; `where` returns the fault of a row, or an empty text."""
        wrong = [(example.id, fault) for example in examples if (fault := where(example, renderer))]
        if not wrong:
            return Finding("OK", check, text)
        return Finding(level, check, f"{wrong[0][1]} ({len(wrong)} rows; wanted: {text})", [id_ for id_, _ in wrong])

    same = _repeated(examples, str)
    known = set(same)
    alike = [id_ for id_ in _repeated(examples, _blurred) if id_ not in known]
    findings = [
        over("spans", "trained text is the operator's turns with end marker, byte for byte", _spans_differ),
        over("straddling", "no token crosses a turn's edge", _straddles),
        over("prefix", "every turn's context is a prefix of the ids", _prefix_breaks),
        over("end", "every turn ends in the end marker, and holds none before it", _end_is_wrong),
        over("bos", "one BOS at most, at the start", _bos_is_wrong),
        over("decode", "trained ids give each command and its end marker back, byte for byte", _decode_differs),
        over("forged", "no output spells a marker", _forges, level="WARN"),
        over("empty", "no operator turn is empty", _has_empty_turn, level="WARN"),
        over("terminal", "the last command is a terminal", _has_no_terminal, level="WARN"),
        _share(dataset),
        _malformed(dataset),
        _named(
            "WARN",
            "end_in_command",
            "rows with a command that spells the end marker, left out",
            dataset.left_out["end_in_command"],
        ),
        _named("ERROR", "no_labels", "rows without any label", dataset.left_out["no_labels"]),
        _truncation(dataset),
        _named("WARN", "retokenised", "rows whose recorded ids are not this tokenizer's", dataset.retokenised),
        _named("WARN", "duplicates", "rows equal to an earlier one", same),
        _named("WARN", "near_duplicates", "rows equal to an earlier one but for numbers, case, white space", alike),
        _pad(renderer),
    ]
    for kind, ids in (held_out or {}).items():
        findings.append(_named("ERROR", f"holdout_{kind}", "rows that are held out", ids))
    return findings


def _named(level: str, check: str, text: str, rows: list[str]) -> Finding:
    return Finding(level if rows else "OK", check, f"{len(rows)} {text}", rows)


def _quoted(text: str) -> str:
    return repr(text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…")


def _trained_positions(example: Example) -> list[list[int]]:
    """The trained token positions of each operator turn."""
    encoded, spans = example.encoded, example.encoded.spans
    positions = [position for position, on in enumerate(encoded.mask) if on]
    return [[position for position in positions if start <= encoded.offsets[position][0] < end] for start, end in spans]


def _spans_differ(example: Example, renderer: Renderer) -> str:
    encoded = example.encoded
    turns = [command + renderer.end_text for command in example.trajectory.commands]
    texts = [encoded.text[start:end] for start, end in encoded.spans]
    if len(texts) != len(turns):
        return f"{len(texts)} trained spans for {len(turns)} operator turns"
    if not example.recorded:
        for turn, (text, wanted) in enumerate(zip(texts, turns, strict=True)):
            if text != wanted:
                return f"turn {turn}: the span is {_quoted(text)}, the turn {_quoted(wanted)}"
    groups = _trained_positions(example)
    if sum(map(len, groups)) != sum(encoded.mask):
        return f"{sum(encoded.mask) - sum(map(len, groups))} trained tokens lie outside the operator's turns"
    for turn, (group, (start, end)) in enumerate(zip(groups, encoded.spans, strict=True)):
        text = encoded.text[start:end]
        first, last = end - len(text.lstrip()), start + len(text.rstrip())  # offsets may leave space at the edges out
        covered = [encoded.offsets[position] for position in group]
        if not group or covered[0][0] > first or covered[-1][1] < last or _has_gap(group):
            return f"turn {turn}: not all of {_quoted(text)} is trained"
    return ""


def _has_gap(positions: Sequence[int]) -> bool:
    return positions[-1] - positions[0] + 1 != len(positions)


def _straddles(example: Example, renderer: Renderer) -> str:
    edges = sorted({edge for span in example.encoded.spans for edge in span})
    for start, end in example.encoded.offsets:
        if any(start < edge < end for edge in edges):
            return f"token {_quoted(example.encoded.text[start:end])} at character {start} crosses an edge"
    return ""


def _prefix_breaks(example: Example, renderer: Renderer) -> str:
    if example.recorded:
        return _read_differs(example, renderer)
    messages, ids = example.trajectory.messages, example.encoded.token_ids
    for index, message in enumerate(messages):
        if message.role == "assistant":
            context = renderer.context(messages[:index])
            for position, (wanted, found) in enumerate(zip(context, ids, strict=False)):
                if wanted != found:
                    return f"message {index}: token {position} is {found} in training, {wanted} in the context"
            if len(context) >= len(ids) or not example.encoded.mask[len(context)]:
                return f"message {index}: the token after its context is not trained"
    return ""


def _read_differs(example: Example, renderer: Renderer) -> str:
    """Compare the ids before each recorded turn with the messages; the turns themselves are as sampled."""
    messages, ids = example.trajectory.messages, example.encoded.token_ids
    turns = [index for index, message in enumerate(messages) if message.role == "assistant"]
    read = cursor = 0
    for index, group in zip(turns, filter(None, _trained_positions(example)), strict=False):
        wanted = renderer.environment_ids(messages[read:index]) if read else renderer.context(messages[:index])
        if ids[cursor : group[0]] != wanted:
            return f"message {index}: the ids before it are not those of the messages before it"
        read, cursor = index + 1, group[-1] + 1
    return ""


def _end_is_wrong(example: Example, renderer: Renderer) -> str:
    for turn, (start, end) in enumerate(example.encoded.spans):
        text = example.encoded.text[start:end]
        if not text.endswith(renderer.end_text) or text.count(renderer.end_text) != 1:
            return f"turn {turn}: {_quoted(text)} has the end marker {text.count(renderer.end_text)} times"
    return ""


def _bos_is_wrong(example: Example, renderer: Renderer) -> str:
    ids, bos = example.encoded.token_ids, renderer.bos_id
    if bos is None or (ids[:1] == [bos] and ids.count(bos) == 1):
        return ""
    return f"BOS stands at {[position for position, id_ in enumerate(ids) if id_ == bos][:4]}"


def _decode_differs(example: Example, renderer: Renderer) -> str:
    groups, commands = _trained_positions(example), example.trajectory.commands
    for turn, (group, command) in enumerate(zip(groups, commands, strict=False)):
        ids = [example.encoded.token_ids[position] for position in group]
        found, ended = renderer.decode_turn(ids)
        if found != command or not ended:
            return (
                f"turn {turn}: {_quoted(command)} comes back as {_quoted(found)}{'' if ended else ', without its end'}"
            )
        if not example.recorded and ids != renderer.operator_ids(command):
            return f"turn {turn}: the ids of {_quoted(command)} are not those it is generated with"
    return ""


def _forges(example: Example, renderer: Renderer) -> str:
    for index, message in enumerate(example.trajectory.messages):
        if message.role != "assistant" and (mark := renderer.forged(message.content)):
            return f"message {index}: an output has {_quoted(mark)}; it is read letter by letter, never as an edge"
    return ""


def _has_empty_turn(example: Example, renderer: Renderer) -> str:
    commands = example.trajectory.commands
    return next((f"turn {turn} is {command!r}" for turn, command in enumerate(commands) if not command.strip()), "")


def _has_no_terminal(example: Example, renderer: Renderer) -> str:
    last = example.trajectory.commands[-1]
    return "" if is_terminal(last) else f"{_quoted(last)} ends the session and is no terminal"


def _share(dataset: Dataset) -> Finding:
    counts = dataset.counts()
    if not counts["tokens"]:
        return Finding("ERROR", "labelled_share", "no row is left to train on")
    share = counts["labelled_tokens"] / counts["tokens"]
    low, high = TRAINED_SHARE
    rows = [
        example.id
        for example in dataset.examples
        if not low <= sum(example.encoded.mask) / len(example.encoded.token_ids) <= high
    ]
    level = "WARN" if rows else "OK"
    text = f"{share:.1%} of {counts['tokens']} tokens are trained"
    return Finding(level if low <= share <= high else "ERROR", "labelled_share", text, rows)


def _malformed(dataset: Dataset) -> Finding:
    rows = dataset.left_out["malformed"]
    if not rows:
        return Finding("OK", "turns", "turns are in an order that a session has")
    return Finding("ERROR", "turns", f"{dataset.malformed[0]} ({len(rows)} rows)", rows)


def _truncation(dataset: Dataset) -> Finding:
    """The rows over the limit, and the tokens that a trainer would lose by cutting them."""
    if not dataset.long:
        return Finding("OK", "over_length", "0 rows over --max-length-tokens")
    masks = [example.encoded.mask for example in dataset.long]
    limit = dataset.max_length_tokens
    cut, trained = sum(sum(mask[limit:]) for mask in masks), sum(map(sum, masks))
    text = (
        f"{len(masks)} rows over --max-length-tokens {limit}, left out whole; a cut would take {cut} of their "
        f"{trained} trained tokens and every terminal (longest {max(map(len, masks))} tokens)"
    )
    return Finding("WARN", "over_length", text, [example.id for example in dataset.long])


def _repeated(examples: Sequence[Example], form: Callable[[str], str]) -> list[str]:
    """Rows whose text, put into `form`, equals that of an earlier row."""
    seen: set[str] = set()
    repeated = []
    for example in examples:
        text = form(example.encoded.text)
        if text in seen:
            repeated.append(example.id)
        seen.add(text)
    return repeated


def _blurred(text: str) -> str:
    return re.sub(r"\d+", "0", re.sub(r"\s+", " ", text.lower()))


def _pad(renderer: Renderer) -> Finding:
    pad, end = renderer.tokenizer.pad_token_id, renderer.operator_ids("")
    if pad in end:
        return Finding(
            "WARN", "pad", "the pad token is the end marker's; labels are built from positions, so it is trained"
        )
    return Finding("OK", "pad", "the pad token is not the end marker's")


def _eos(renderer: Renderer, base: str) -> Finding:
    """Compare the end token of other programs (generation_config.json, or the tokenizer) with the end marker."""
    path = Path(base) / "generation_config.json"
    eos = read_json(path).get("eos_token_id") if path.exists() else renderer.tokenizer.eos_token_id
    if set(eos if isinstance(eos, list) else [eos]) & set(renderer.operator_ids("")):
        return Finding("OK", "eos", "the base's eos ends an operator's turn")
    if renderer.wire == "markers":
        return Finding("OK", "eos", f"{renderer.end_text} is text, no eos; a server must be given it as a stop string")
    text = (
        f"the base's eos is {eos}, an operator's turn ends in {renderer.end_text!r}; give servers that as a stop string"
    )
    return Finding("WARN", "eos", text)


def _gpu(base: str, dtype: str) -> Finding:
    """The error with which sft.py would refuse this base on the GPU here."""
    try:
        loading.check_machine(base, dtype)
    except BadInputError as error:
        return Finding("ERROR", "gpu", str(error))
    if line := hardware.no_gpu_here():
        return Finding("WARN", "gpu", line)
    return Finding("OK", "gpu", "this machine can run this base")


def padding_share(lengths: Sequence[int], batch: int, accum: int) -> float | None:
    """The share of padding in one pass, grouped by length as in the trainer, for one random order."""
    import torch
    from transformers.trainer_pt_utils import get_length_grouped_indices

    if not lengths:
        return None
    if batch == 1:
        return 0.0
    order = get_length_grouped_indices(lengths, batch * accum, generator=torch.Generator().manual_seed(0))
    batches: list[list[int]] = [
        [lengths[at] for at in order[start : start + batch]] for start in range(0, len(order), batch)
    ]
    padded = sum(max(one) * len(one) for one in batches)
    return round(1 - sum(lengths) / padded, 4)


def statistics_of(dataset: Dataset, renderer: Renderer) -> dict[str, Any]:
    """Quantiles (min, quartiles, max) of length, trained tokens and their share per row, and counts of alike rows.

    `same_commands` counts rows with the same commands as an earlier row. `recorded_as_text` counts rows whose recorded
    ids equal their text tokenised again.
    """
    examples = dataset.examples
    lengths, labels = dataset.sizes()
    shares = [label / length for label, length in zip(labels, lengths, strict=True)]
    recorded = [example for example in examples if example.recorded]
    texts = [renderer.encode(example.trajectory.messages).token_ids for example in recorded]
    return {
        "per_row": {
            "length_tokens": _quantiles(lengths),
            "labelled_tokens": _quantiles(labels),
            "labelled_share": _quantiles(shares),
        },
        "archetypes": dict(sorted(Counter(example.trajectory.axes["task"] for example in examples).items())),
        "same_commands": len(examples) - len({tuple(example.trajectory.commands) for example in examples}),
        "recorded_as_text": sum(a.encoded.token_ids == ids for a, ids in zip(recorded, texts, strict=True)),
    }


def _quantiles(values: Sequence[float]) -> list[float] | None:
    if not values:
        return None
    middle = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    return [round(float(value), 4) for value in (min(values), *middle, max(values))]


def markers(renderer: Renderer) -> dict[str, dict[str, Any]]:
    """The ids before and after an operator turn, and how many of them are special tokens."""
    between = renderer.environment_ids([Message(role="user", content="")])
    special = set(renderer.tokenizer.all_special_ids)
    return {
        name: {"ids": ids, "special": sum(id_ in special for id_ in ids)}
        for name, ids in (("before_a_turn", between), ("after_a_turn", renderer.operator_ids("")))
    }


def opening_text(renderer: Renderer) -> str:
    """The text before the first command, with names in place of contents; shows how a system turn is folded."""
    turns = [
        Message(role="system", content="SYSTEM"),
        *(Message(role="user", content=name) for name in ("LOGIN", "$ ")),
    ]
    return renderer.decode(renderer.context(turns))


def estimate(dataset: Dataset, settings: FitSettings) -> dict[str, Any] | None:
    """Operations, memory and hours of the run; None, with a line on stderr, where the base has no config."""
    base = settings.base
    if Path(base).is_dir() and not (Path(base) / "config.json").exists():
        print(f"{base}: no config.json; no estimate of operations, memory and hours", file=sys.stderr)
        return None
    import torch

    found = hardware.costs(hardware.shape_of(base), settings.workload(*dataset.sizes()))
    if not torch.cuda.is_available():
        found["hours"]["this CPU"] = float(f"{hardware.hours_on(found['flops'], hardware.product_flops_here()):.2g}")
    return found


def show(example: Example, *, colour: bool) -> str:
    """The rendered text with trained tokens in green, or in ⟦brackets⟧ without colour."""
    opened, closed = ("\033[32m", "\033[0m") if colour else ("⟦", "⟧")
    encoded, parts, cursor, inside = example.encoded, [], 0, False
    for on, (start, _) in zip(encoded.mask, encoded.offsets, strict=True):
        if bool(on) != inside:
            parts += [as_text(encoded.text[cursor:start]), opened if on else closed]
            cursor, inside = start, bool(on)
    parts += [as_text(encoded.text[cursor:]), closed if inside else ""]
    share = sum(encoded.mask) / len(encoded.token_ids)
    return f"--- {example.id}: {len(encoded.token_ids)} tokens, {share:.1%} trained\n{''.join(parts)}"
