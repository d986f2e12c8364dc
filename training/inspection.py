"""Check a dataset and its mask without any weights, and show what the loss falls on.

    from training.inspection import inspect, show, statistics_of

Reads   <base>/config.json, generation_config.json
Writes  nothing
Needs   a tokenizer (in the renderer); torch and transformers for what a run will cost

Each check answers a complaint that users file against trainers, and every one has been seen to fail on a planted
fault. An ERROR names rows that would train a model wrongly; its text tells where the first of them goes wrong.
"""

import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model import hardware, loading
from model.render import Renderer
from pipeline import stage
from pipeline.verdicts import is_terminal
from schema import BadInputError, Message, read_json
from training.dataset import Dataset, Example, commands_of, steps_of

LABELLED_SHARE = (0.01, 0.95)  # outside of these a mask is broken, whatever the data
LOW_LR = 0.25  # of the usual learning rate (5e-5 for Mistral-7B): that of full fine-tuning is a tenth of it
SHOWN_CHARACTERS = 40  # of a text that is quoted in a finding
# What a terminal could obey, as pictures: every control character but newline and tab.
PICTURES = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"}
PICTURES |= dict.fromkeys(range(0x7F, 0xA0), "\N{SYMBOL FOR DELETE}")

Check = Callable[[Example, Renderer], str]


@dataclass(frozen=True)
class Finding:
    """One check's result. An ERROR names rows that would train a model wrongly."""

    level: str  # OK, WARN or ERROR
    check: str
    text: str
    rows: list[str] = field(default_factory=list)

    def line(self) -> str:
        """One greppable line; the first rows by name, all of them are in the JSON line."""
        named = f": {', '.join(self.rows[:8])}{' … (all: stdout)' if len(self.rows) > 8 else ''}" if self.rows else ""
        return f"{self.level:5s} {self.check}: {self.text}{named}"


def report_inspection(
    dataset: Dataset, renderer: Renderer, held: dict[str, list[str]] | None, settings: dict[str, Any], show_rows: int
) -> int:
    """Findings and shown rows on stderr, the JSON line on stdout; 2 where a finding is an ERROR.

    `settings` are sft.py's flags, `held` what overlaps with a holdout (None: not asked).
    """
    costs = estimate(dataset, settings)
    findings = inspect(dataset, renderer, holdout=held)
    findings += [_eos(renderer, settings["base"]), _card(settings["base"], settings["dtype"])]
    if settings["lr"] < LOW_LR * (usual := hardware.usual_rate(settings["base"])):
        findings.append(Finding("WARN", "lr", f"{settings['lr']:g} is low for LoRA; {usual:g} is usual for this base"))
    need = costs["memory_bytes"]["total"] if costs else 0
    if line := hardware.too_small(need, hardware.free_bytes_here()):
        findings.append(Finding("WARN", "memory", line))
    wrong = {row for finding in findings if finding.level == "ERROR" for row in finding.rows}
    for example in sorted(dataset.examples, key=lambda example: example.id not in wrong)[:show_rows]:
        print(show(example, colour=sys.stderr.isatty()), file=sys.stderr)
    for finding in findings:
        print(finding.line(), file=sys.stderr)
    lengths, labels = dataset.sizes()
    stage.print_summary(
        {
            **dataset.counts(),
            **statistics_of(dataset, renderer),
            "labelled_share": round(sum(labels) / sum(lengths), 4) if lengths else None,
            "steps_estimate": steps_of(len(lengths), *(settings[name] for name in ("batch", "accum", "epochs"))),
            "steps_per_epoch": steps_of(len(lengths), settings["batch"], settings["accum"], 1),
            "padding_share": padding_share(lengths, settings["batch"], settings["accum"]),
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


def inspect(dataset: Dataset, renderer: Renderer, *, holdout: dict[str, list[str]] | None = None) -> list[Finding]:
    """Every check that needs no weights, in a fixed order."""
    examples = dataset.examples

    def over(check: str, text: str, where: Check, level: str = "ERROR") -> Finding:
        """The finding of one check over all rows; `where` says what is wrong with a row, or nothing."""
        wrong = [(example.id, fault) for example in examples if (fault := where(example, renderer))]
        if not wrong:
            return Finding("OK", check, text)
        return Finding(level, check, f"{wrong[0][1]} ({len(wrong)} rows; wanted: {text})", [id_ for id_, _ in wrong])

    same = _repeated(examples, str)
    known = set(same)
    alike = [id_ for id_ in _repeated(examples, _blurred) if id_ not in known]
    findings = [
        over("spans", "labelled text is the operator's turns with end marker, byte for byte", _spans_differ),
        over("straddling", "no token crosses a turn's edge", _straddles),
        over("prefix", "every turn's context is a prefix of the ids", _prefix_breaks),
        over("end", "every turn ends in the end marker, and holds none before it", _end_is_wrong),
        over("bos", "one BOS at most, at the start", _bos_is_wrong),
        over("decode", "labelled ids give each command and its end marker back, byte for byte", _decode_differs),
        over("forged", "no output spells a marker", _forges, level="WARN"),
        over("empty", "no operator turn is empty", _has_empty_turn, level="WARN"),
        over("terminal", "the last command is a terminal", _has_no_terminal, level="WARN"),
        _share(dataset),
        _malformed(dataset),
        _named("ERROR", "no_labels", "rows without any label", dataset.left_out["no_labels"]),
        _truncation(dataset),
        _named("WARN", "retokenised", "rows whose recorded ids are not this tokenizer's", dataset.retokenised),
        _named("WARN", "duplicates", "rows equal to an earlier one", same),
        _named("WARN", "near_duplicates", "rows equal to an earlier one but for numbers, case, white space", alike),
        _pad(renderer),
    ]
    for kind, ids in (holdout or {}).items():
        findings.append(_named("ERROR", f"holdout_{kind}", "rows that are held out", ids))
    return findings


def _named(level: str, check: str, text: str, rows: list[str]) -> Finding:
    return Finding(level if rows else "OK", check, f"{len(rows)} {text}", rows)


def _quoted(text: str) -> str:
    return repr(text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…")


def _labelled(example: Example) -> list[list[int]]:
    """Token positions of each labelled span."""
    encoded, spans = example.encoded, example.encoded.spans
    positions = [position for position, on in enumerate(encoded.mask) if on]
    return [[position for position in positions if start <= encoded.offsets[position][0] < end] for start, end in spans]


def _spans_differ(example: Example, renderer: Renderer) -> str:
    encoded = example.encoded
    turns = [command + renderer.end_text for command in commands_of(example.trajectory.messages)]
    texts = [encoded.text[start:end] for start, end in encoded.spans]
    if len(texts) != len(turns):
        return f"{len(texts)} labelled spans for {len(turns)} operator turns"
    if not example.recorded:
        for turn, (text, wanted) in enumerate(zip(texts, turns, strict=True)):
            if text != wanted:
                return f"turn {turn}: the span is {_quoted(text)}, the turn {_quoted(wanted)}"
    groups = _labelled(example)
    if sum(map(len, groups)) != sum(encoded.mask):
        return f"{sum(encoded.mask) - sum(map(len, groups))} labelled tokens lie outside the operator's turns"
    for turn, (group, (start, end)) in enumerate(zip(groups, encoded.spans, strict=True)):
        text = encoded.text[start:end]
        first, last = end - len(text.lstrip()), start + len(text.rstrip())  # offsets may leave space at the edges out
        covered = [encoded.offsets[position] for position in group]
        if not group or covered[0][0] > first or covered[-1][1] < last or _has_gap(group):
            return f"turn {turn}: not all of {_quoted(text)} is labelled"
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
                return f"message {index}: the token after its context is not labelled"
    return ""


def _read_differs(example: Example, renderer: Renderer) -> str:
    """What stands before each recorded turn, against the messages: the turns themselves are as they were sampled."""
    messages, ids = example.trajectory.messages, example.encoded.token_ids
    turns = [index for index, message in enumerate(messages) if message.role == "assistant"]
    read = cursor = 0
    for index, group in zip(turns, filter(None, _labelled(example)), strict=False):
        wanted = renderer.environment_ids(messages[read:index]) if read else renderer.context(messages[:index])
        if ids[cursor : group[0]] != wanted:
            return f"message {index}: the ids before it are not those of what it was shown"
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
    groups, commands = _labelled(example), commands_of(example.trajectory.messages)
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
            return f"message {index}: the world writes {_quoted(mark)}; it is read letter by letter, never as an edge"
    return ""


def _has_empty_turn(example: Example, renderer: Renderer) -> str:
    commands = commands_of(example.trajectory.messages)
    return next((f"turn {turn} is {command!r}" for turn, command in enumerate(commands) if not command.strip()), "")


def _has_no_terminal(example: Example, renderer: Renderer) -> str:
    last = commands_of(example.trajectory.messages)[-1]
    return "" if is_terminal(last) else f"{_quoted(last)} ends the session and is no terminal"


def _share(dataset: Dataset) -> Finding:
    counts = dataset.counts()
    if not counts["tokens"]:
        return Finding("ERROR", "labelled_share", "no row is left to train on")
    share = counts["labelled_tokens"] / counts["tokens"]
    low, high = LABELLED_SHARE
    rows = [
        example.id
        for example in dataset.examples
        if not low <= sum(example.encoded.mask) / len(example.encoded.token_ids) <= high
    ]
    level = "WARN" if rows else "OK"
    text = f"{share:.1%} of {counts['tokens']} tokens are labelled"
    return Finding(level if low <= share <= high else "ERROR", "labelled_share", text, rows)


def _malformed(dataset: Dataset) -> Finding:
    rows = dataset.left_out["malformed"]
    if not rows:
        return Finding("OK", "turns", "turns are in an order that a session has")
    return Finding("ERROR", "turns", f"{dataset.malformed[0]} ({len(rows)} rows)", rows)


def _truncation(dataset: Dataset) -> Finding:
    """What is over the limit, and what a trainer that cuts would have taken off the end."""
    if not dataset.long:
        return Finding("OK", "over_length", "0 rows over --max-length-tokens")
    masks = [example.encoded.mask for example in dataset.long]
    limit = dataset.max_length_tokens
    cut, labelled = sum(sum(mask[limit:]) for mask in masks), sum(map(sum, masks))
    text = (
        f"{len(masks)} rows over --max-length-tokens {limit}, left out whole; a cut would take {cut} of their "
        f"{labelled} labelled tokens and every terminal (longest {max(map(len, masks))} tokens)"
    )
    return Finding("WARN", "over_length", text, [example.id for example in dataset.long])


def _repeated(examples: Sequence[Example], form: Callable[[str], str]) -> list[str]:
    """Rows whose text in that form is an earlier row's."""
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
    """Whether what stops a generation elsewhere (generation_config.json, or the tokenizer) ends a turn here."""
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


def _card(base: str, dtype: str) -> Finding:
    """What sft.py would refuse on the card here, before it reads a weight."""
    try:
        loading.check_machine(base, dtype)
    except BadInputError as error:
        return Finding("ERROR", "card", str(error))
    if line := hardware.no_gpu_here():
        return Finding("WARN", "card", line)
    return Finding("OK", "card", "the card here, if any, can do this")


def padding_share(lengths: Sequence[int], batch: int, accum: int) -> float | None:
    """The share of padding in a pass that groups by length as the trainer does, for one random order."""
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
    """Quantiles of length, labels and labelled share per row (min, quartiles, max), and what rows have in common.

    `same_commands` are rows whose commands are all those of an earlier row; `recorded_as_text` are rows with recorded
    ids that tokenising their text again would give as well.
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
        "same_commands": len(examples) - len({tuple(commands_of(example.trajectory.messages)) for example in examples}),
        "recorded_as_text": sum(a.encoded.token_ids == ids for a, ids in zip(recorded, texts, strict=True)),
    }


def _quantiles(values: Sequence[float]) -> list[float] | None:
    if not values:
        return None
    middle = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    return [round(float(value), 4) for value in (min(values), *middle, max(values))]


def markers(renderer: Renderer) -> dict[str, dict[str, Any]]:
    """The ids around an operator's turn, and how many of them are special tokens: plain text has none."""
    between = renderer.environment_ids([Message(role="user", content="")])
    special = set(renderer.tokenizer.all_special_ids)
    return {
        name: {"ids": ids, "special": sum(id_ in special for id_ in ids)}
        for name, ids in (("before_a_turn", between), ("after_a_turn", renderer.operator_ids("")))
    }


def opening_text(renderer: Renderer) -> str:
    """What stands before the first command, with the names of the turns for contents: how a system turn is folded."""
    turns = [
        Message(role="system", content="SYSTEM"),
        *(Message(role="user", content=name) for name in ("LOGIN", "$ ")),
    ]
    return renderer.decode(renderer.context(turns))


def estimate(dataset: Dataset, settings: dict[str, Any]) -> dict[str, Any] | None:
    """Operations, memory and hours of the run; None, with a line, where the base has no config to tell its shape."""
    base = settings["base"]
    if Path(base).is_dir() and not (Path(base) / "config.json").exists():
        print(f"{base}: no config.json; no estimate of operations, memory and hours", file=sys.stderr)
        return None
    import torch

    found = hardware.costs_here(base, *dataset.sizes(), settings)
    if not torch.cuda.is_available():
        found["hours"]["this CPU"] = float(f"{hardware.hours_on(found['flops'], _cpu_flops()):.2g}")
    return found


def _cpu_flops(size: int = 768) -> float:
    """FLOP/s of an fp32 matrix product here, the best of three."""
    import torch

    matrix = torch.ones(size, size)
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        matrix @ matrix
        seconds.append(time.perf_counter() - began)
    return float(2 * size**3 / min(seconds))


def show(example: Example, *, colour: bool) -> str:
    """The rendered text with what the mask labels in green, or in ⟦brackets⟧ without colour."""
    opened, closed = ("\033[32m", "\033[0m") if colour else ("⟦", "⟧")
    encoded, parts, cursor, inside = example.encoded, [], 0, False
    for on, (start, _) in zip(encoded.mask, encoded.offsets, strict=True):
        if bool(on) != inside:
            parts += [encoded.text[cursor:start].translate(PICTURES), opened if on else closed]
            cursor, inside = start, bool(on)
    parts += [encoded.text[cursor:].translate(PICTURES), closed if inside else ""]
    share = sum(encoded.mask) / len(encoded.token_ids)
    return f"--- {example.id}: {len(encoded.token_ids)} tokens, {share:.1%} labelled\n{''.join(parts)}"
