"""Pass rows through the guards in their order, and account for every row under exactly one heading.

    guards = Guards(holdout, count, max_length_tokens=4096, truncate=False, contradicted=set())
    export = Export(out, guards, {"trl": FORMS["trl"]}, per_scenario=4)
    for row in rows:
        export.take(row)
    export.finish()

The order: held out, reward hack, over length, unusable, duplicate. What is left is exported: a resolved row as an SFT
line, and rows of one policy on one task as preference pairs. A row that is left and serves for neither is `unused`.
Memory holds an index of the rows; rows that pairs may be made of are kept in a file meanwhile.
"""

import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from exports.forms import ExportForm, Pair
from exports.holdout import Holdout
from exports.length import TokenCounter, cut
from exports.monitor import Suspicion, findings
from exports.rows import Row, opening_hash
from schema import ExportedRow, SidecarLine, sha256
from training.pairs import Candidate, pair_up

HEADINGS = ("held_out", "reward_hack", "over_length", "unusable", "duplicate", "exported", "unused")
KINDS = ("sft", "pairs")


@dataclass
class Guards:
    """The guards' settings, and what a first look at all rows found."""

    holdout: Holdout
    count: TokenCounter
    max_length_tokens: int
    truncate: bool
    contradicted: set[str]  # hashes of messages that are resolved in one row and not in another

    def apply(self, row: Row, seen: dict[str, str], found: list[Suspicion]) -> tuple[Row, str, str | None]:
        """The row as exported, its heading and the reason; `found` is what the monitor found in it."""
        if reason := self.holdout.reason(row):
            return row, "held_out", reason
        if drop := next((one for one in found if one.severity == "drop"), None):
            return row, "reward_hack", str(drop)
        whole = row.hash  # what the first look saw, before a cut
        row = row.replaced(tokens=self.count(row), warnings=tuple(map(str, found)))
        assert row.tokens is not None
        if row.tokens > self.max_length_tokens:
            long = f"{row.tokens} tokens, over {self.max_length_tokens}"
            shorter = cut(row, budget_tokens=self.max_length_tokens, count=self.count) if self.truncate else None
            if shorter is None:
                return row, "over_length", long + (", its last round trip with work too" if self.truncate else "")
            row = shorter
        if row.unusable:
            return row, "unusable", row.unusable
        if whole in self.contradicted:
            return row, "unusable", "the same messages are resolved in one row and not in another"
        if row.hash in seen:
            return row, "duplicate", f"the messages of {seen[row.hash]}"
        return row, "exported", None


class Export:
    """One run of an export into the directory `out`."""

    def __init__(self, out: Path, guards: Guards, forms: dict[str, type[ExportForm]], *, per_scenario: int) -> None:
        self.guards, self.per_scenario = guards, per_scenario
        self.forms = {name: form(out) for name, form in forms.items()}
        self.headings: Counter[str] = Counter(dict.fromkeys(HEADINGS, 0))
        self.findings: Counter[str] = Counter()
        self.totals: Counter[str] = Counter(dict.fromkeys(("sft", "pairs", "truncated", "warned"), 0))
        self._seen: dict[str, str] = {}  # hash of the messages -> name of the first row that has them
        self._candidates: list[Candidate] = []
        self._places: dict[str, tuple[int, int]] = {}  # name of a candidate -> where it lies in the spool
        self._waiting: dict[str, ExportedRow] = {}  # unresolved rows: whether they are of use, the pairs decide
        self._spool = tempfile.TemporaryFile(dir=out)  # noqa: SIM115 - closed in finish
        self._rows = (out / "rows.jsonl").open("w", encoding="utf-8")
        self._sidecars = {kind: (out / f"{kind}.sidecar.jsonl").open("w", encoding="utf-8") for kind in KINDS}

    def take(self, row: Row) -> str:
        """Put a row through the guards, and write it where it passes; returns the heading and the reason."""
        found = findings(row)
        self.findings.update({f"{one.what} ({one.severity})" for one in found})
        row, heading, reason = self.guards.apply(row, self._seen, found)
        record = record_of(row, heading, reason)
        if heading == "exported":
            if row.resolved or not row.truncated:  # else it serves for nothing, and an equal row may
                self._seen[row.hash] = row.name
            self._export(row, record)
        if heading == "exported" and not row.resolved:
            self._waiting[row.name] = record
        else:
            self._account(record)
        return heading if reason is None else f"{heading}: {reason}"

    def _export(self, row: Row, record: ExportedRow) -> None:
        lines = {name: line for name, form in self.forms.items() if (line := form.add(row)) is not None}
        if row.resolved:
            self.totals["sft"] += 1
            self._note("sft", [record], lines)
        if row.policy is None or row.truncated:
            return
        start = self._spool.seek(0, 2)
        self._spool.write(row.spooled())
        self._places[row.name] = start, self._spool.tell() - start
        self._candidates.append(
            Candidate(
                id=row.name,
                scenario=f"{row.instance} {row.content_hash}",
                operator=" ".join(row.policy),
                opening=opening_hash(row.messages),
                content=row.hash,
                success=row.resolved,
            )
        )

    def finish(self) -> None:
        """Make the pairs, account for the rows that waited for them, and close every file."""
        paired = pair_up(self._candidates, per_scenario=self.per_scenario)
        for chosen, rejected in paired.pairs:
            pair = Pair(self._spooled(chosen), self._spooled(rejected))
            lines = {name: line for name, form in self.forms.items() if (line := form.add_pair(pair)) is not None}
            self.totals["pairs"] += 1
            self._note("pairs", [record_of(one, "exported", None) for one in (pair.chosen, pair.rejected)], lines)
        used = {id_ for pair in paired.pairs for id_ in pair}
        why = {id_: reason for reason, ids in paired.left_out.items() for id_ in ids}
        for name, record in self._waiting.items():
            reason = f"not resolved, and in no pair: {why.get(name, 'not on-policy, or cut')}"
            unused = {"heading": "unused", "reason": reason}
            self._account(record if name in used else record.model_copy(update=unused))
        for form in self.forms.values():
            form.close()
        for stream in (self._rows, *self._sidecars.values()):
            stream.close()
        self._spool.close()

    def _spooled(self, name: str) -> Row:
        start, size = self._places[name]
        self._spool.seek(start)
        return Row.from_spool(self._spool.read(size))

    def _note(self, kind: str, rows: list[ExportedRow], lines: dict[str, str]) -> None:
        """Write the sidecar's line of an exported line."""
        hashes = {name: sha256(line.encode()) for name, line in lines.items()}
        _write(self._sidecars[kind], SidecarLine(rows=rows, lines=hashes))

    def _account(self, record: ExportedRow) -> None:
        """Count a row and say what became of it."""
        self.headings[record.heading] += 1
        self.totals["truncated"] += record.truncated and record.heading == "exported"
        self.totals["warned"] += bool(record.warnings) and record.heading == "exported"
        _write(self._rows, record)


def record_of(row: Row, heading: str, reason: str | None) -> ExportedRow:
    """What became of a row."""
    return ExportedRow(
        name=row.name,
        instance=row.instance,
        content_hash=row.content_hash,
        archetype=row.archetype,
        hash=row.hash,
        model=row.model,
        tier=row.tier,
        resolved=row.resolved,
        tokens=row.tokens,
        truncated=row.truncated,
        heading=heading,
        reason=reason,
        warnings=list(row.warnings),
    )


def first_look(rows: Iterable[Row], holdout: Holdout | None = None) -> tuple[int, set[str], set[str]]:
    """Read every row once, so that a bad one stops the run before anything is written.

    Returns the number of rows, their instances and content hashes, and the hashes of messages that are resolved and
    also not. The content of a row whose id is held out is added to the holdout: its task may come under another id too.
    """
    verdicts: dict[str, int] = {}
    tasks: set[str] = set()
    number = 0
    for number, row in enumerate(rows, 1):  # noqa: B007 - how many there were
        tasks |= {row.instance, row.content_hash}
        if holdout is not None and row.instance in holdout.ids:
            holdout.hold_content(row)
        if row.unusable is None:  # else it is no evidence
            verdicts[row.hash] = verdicts.get(row.hash, 0) | (1 if row.resolved else 2)
    return number, tasks, {key for key, seen in verdicts.items() if seen == 3}


def _write(stream: TextIO, record: ExportedRow | SidecarLine) -> None:
    stream.write(record.model_dump_json(exclude_none=True) + "\n")
