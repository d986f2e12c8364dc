"""Count what eval's episodes were: rates with intervals, paired differences, a table and a picture of several runs.

    python report.py --runs eval/seed-1 eval/seed-2 --table rates.md --picture curve.svg

Reads   <run>/report.json and manifest.json (eval.py), <run>/overlap.json (contamination.py) where there is one, and
        for a picture <adapter>/log_history.jsonl and sekft.json
Writes  --table as markdown, --picture as PNG or SVG
Needs   matplotlib for a picture

operate    at least one command before the terminal and no turn that is prose
terminate  ended with `exit` or `panic`
verified   the checker passed on the final state
clean      correct terminal AND verified AND command-only

loop             cut off by a limit with the last five commands among at most two texts: the same line over and over
open_heredoc     a command opened a heredoc that it never closed
panic_precision  of the episodes that ended with `panic`, those of a scenario that is blocked
panic_recall     of the episodes of blocked scenarios, those that ended with `panic`

Rates come with n and a 95 % Wilson interval, over the episodes that were not voided; the first four also with voided
ones counted as failures. Differences are paired by scenario, with a bootstrap over scenarios. Runs and adapters are
labelled by the shortest ends of their paths that tell them apart.
"""

import argparse
import itertools
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, Field, ValidationError

from pipeline import stage
from pipeline.rates import BEHAVIOUR, RATES, Subject
from schema import BadInputError, read_json

PICTURES = (".png", ".svg")


def main(*, runs: list[Path], table: Path | None, picture: Path | None, axes: list[str]) -> int:
    """Read the runs, write what is asked for."""
    if table is None and picture is None:
        raise BadInputError("nothing to write; pass --table FILE, --picture FILE or both")
    if picture is not None and picture.suffix not in PICTURES:
        raise BadInputError(f"--picture: {picture.name!r} is of no known kind; end it in {' or '.join(PICTURES)}")
    reports = {label: read_run(run) for label, run in labelled(runs).items()}
    known = set.intersection(*(set(one["per_axis"]) for one in rows_of(reports).values()))
    if unknown := [axis for axis in axes if axis not in known]:
        raise BadInputError(f"--axes: {unknown[0]!r} is no axis of these runs; known: {', '.join(sorted(known))}")
    written = {"table": table, "picture": picture}
    for name, path in written.items():
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(markdown(reports, axes)) if name == "table" else draw_picture(reports, path)
        except OSError as error:
            raise BadInputError(f"--{name}: {path}: cannot be written ({error.strerror}); name another file") from error
    stage.report({"runs": len(runs), **{name: str(path) for name, path in written.items() if path}})
    return stage.DONE


def labelled(paths: Sequence[Path]) -> dict[str, Path]:
    """The paths by the shortest ends that tell all of them apart. Raises BadInputError where one is named twice."""
    parts = {path.absolute().parts: path for path in paths}
    if len(parts) < len(paths):
        raise BadInputError("--runs: a directory is named twice; name each once")
    depth = next(depth for depth in itertools.count(1) if len({one[-depth:] for one in parts}) == len(parts))
    return {"/".join(one[-depth:]): path for one, path in parts.items()}


# --- showing -------------------------------------------------------------------------------------------------------


def print_table(result: dict[str, Any]) -> None:
    """The rates as two tables on stderr."""
    width = max(len(name) for name in [*result["subjects"], *result["paired"]]) + 2
    for group, names in (("rates", RATES), ("behaviour", BEHAVIOUR)):
        last = "   voided" if group == "rates" else ""
        print(f"\n{'':{width}s}" + "".join(f"{name:>24s}" for name in names) + last, file=sys.stderr)
        for subject, entry in result["subjects"].items():
            cells = "".join(f"{format_rate(entry[group][name]):>24s}" for name in names)
            print(f"{subject:{width}s}{cells}" + (f"   {entry['voided']}" if last else ""), file=sys.stderr)
        for pair, entry in result["paired"].items() if group == "rates" else ():
            cells = "".join(f"{format_difference(entry[name]):>24s}" for name in names)
            print(f"{pair:{width}s}{cells}", file=sys.stderr)
    print(f"(successes/n, rate, 95 % interval; split by {result['split_by']}, seed {result['seed']})", file=sys.stderr)


def format_rate(entry: dict[str, Any]) -> str:
    """`9/16 56% [33-77]`, or `-` where there is no rate."""
    if entry["rate"] is None:
        return "-"
    low, high = entry["interval"]
    return f"{entry['successes']}/{entry['n']} {entry['rate']:.0%} [{100 * low:.0f}-{100 * high:.0f}]"


def format_difference(entry: dict[str, Any] | None) -> str:
    """`+56 [31,75]` in percentage points, or `-`."""
    if entry is None:
        return "-"
    low, high = entry["interval"]
    return f"{100 * entry['difference']:+.0f} [{100 * low:+.0f},{100 * high:+.0f}]"


class Rate(BaseModel):
    """What `rate` made."""

    successes: int
    n: int
    rate: float | None
    interval: tuple[float, float] | None


class Rates(BaseModel):
    """One of each of RATES."""

    operate: Rate
    terminate: Rate
    verified: Rate
    clean: Rate


class Behaviour(BaseModel):
    """One of each of BEHAVIOUR."""

    loop: Rate
    open_heredoc: Rate
    panic_precision: Rate
    panic_recall: Rate


class Entry(BaseModel):
    """One subject of a report."""

    rates: Rates
    behaviour: Behaviour
    per_axis: dict[str, dict[str, Rates]]
    voided: int


class Shared(BaseModel):
    """Of a part of the held-out texts: runs of words, those that were read before."""

    runs: int
    shared: int


class Overlap(BaseModel):
    """What is read of an overlap.json: by reader, by part; ids of the scenarios that were left out."""

    shared: dict[str, dict[str, Shared]]
    left_out: list[str] = []


class Report(BaseModel):
    """What is read of a report.json."""

    subjects: dict[Subject, Entry] = Field(min_length=1)
    paired: dict[str, dict[str, Any]]
    split_by: str | None
    adapter: str | None


def read_run(run: Path) -> dict[str, Any]:
    """The report of an eval directory, with its overlap where that was counted. Raises BadInputError."""
    path = run / "report.json"
    if not path.exists():
        raise BadInputError(f"{run}: no report.json; name a directory that eval.py finished")
    if not (run / "manifest.json").exists():
        print(f"{run}: no manifest, so nothing says whether this run was finished", file=sys.stderr)
    elif not read_json(run / "manifest.json").get("finished"):
        raise BadInputError(f"{run / 'manifest.json'}: finished: false; rerun that eval, its episodes are kept")
    report = checked(path, Report, "eval.py (its episodes are kept)")
    seen = run / "overlap.json"
    overlap = checked(seen, Overlap, "contamination.py") if seen.exists() else {"shared": {}}
    return {**report, "overlap": overlap["shared"], "left_out": overlap.get("left_out", [])}


def checked(path: Path, kind: type[BaseModel], by: str) -> dict[str, Any]:
    """The JSON object in `path`. Raises BadInputError where it is none of this kind; `by` writes it anew."""
    value: dict[str, Any] = read_json(path)
    try:
        kind.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "content"
        raise BadInputError(f"{path}: {field}: {first['msg']}; rerun {by}") from error
    return value


def rows_of(reports: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """Every (run, subject) of the reports, the bare base before what is compared with it."""
    return {
        (run, name): report["subjects"][name]
        for run, report in reports.items()
        for name in get_args(Subject)
        if name in report["subjects"]
    }


def markdown(reports: dict[str, Any], axes: Sequence[str]) -> str:
    """The rates of all runs, the paired differences in percentage points, and the rates by value of `axes`."""
    rows = rows_of(reports)
    head = ["run", "split by", "row", *RATES]
    parts = [
        _grid([*head, "voided"], [
            [run, str(reports[run]["split_by"]), name, *(format_rate(entry["rates"][one]) for one in RATES),
             str(entry["voided"])] for (run, name), entry in rows.items()
        ]),
        _grid(["run", "row", *BEHAVIOUR], [
            [run, name, *(format_rate(entry["behaviour"][one]) for one in BEHAVIOUR)]
            for (run, name), entry in rows.items()
        ]),
    ]  # fmt: skip
    pairs = [(run, pair, entry) for run, report in reports.items() for pair, entry in report["paired"].items()]
    parts[1:1] = shared_texts(reports)
    if pairs:
        cells = [
            [run, pair, str(entry["n"]), *(format_difference(entry[one]) for one in RATES)]
            for run, pair, entry in pairs
        ]
        parts.append(_grid(["run", "difference, points", "n", *RATES], cells))
    for axis in axes:
        parts.append(
            _grid(["run", "row", axis, *RATES], [
                [run, name, value, *(format_rate(table[one]) for one in RATES)]
                for (run, name), entry in rows.items() for value, table in entry["per_axis"][axis].items()
            ])
        )  # fmt: skip
    return "\n".join(parts) + "\nEach cell: successes/n, rate, 95 % interval.\n"


def shared_texts(reports: dict[str, Any]) -> list[str]:
    """What of the held-out scenarios' texts stands in what base (corpus) and adapter (data) have read."""
    rows = [(run, by, parts) for run, report in reports.items() for by, parts in report["overlap"].items()]
    if not rows:
        return []
    columns = list(rows[0][2])
    cells = [[run, by, *(f"{parts[one]['shared']}/{parts[one]['runs']}" for one in columns)] for run, by, parts in rows]
    notes = [
        f"{run}: {of['shared']} of {of['runs']} masked directives also stand in the training data. These scenarios are "
        "of archetypes that were trained on: the sentences are the same, names and files are new.\n"
        for run, by, parts in rows
        if by == "data" and reports[run]["split_by"] == "scenario" and (of := parts["directives"])["shared"]
    ]
    notes += [
        f"{run}: {len(report['left_out'])} held-out scenarios of which something was read are left out.\n"
        for run, report in reports.items()
        if report["left_out"]
    ]
    said = "Held-out texts that were read before: runs of 13 words (or a shorter text) under masked names.\n"
    return ["\n".join([*notes, said, _grid(["run", "read as", *columns], cells)])]


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def draw_picture(reports: dict[str, Any], path: Path) -> None:
    """Left the training loss over steps, right the adapters' rates over what they were trained on."""
    try:
        import matplotlib
    except ImportError as error:
        raise BadInputError("--picture needs matplotlib: pip install -r requirements.txt") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    runs = {run: trained(report) for run, report in reports.items() if "adapter" in report["subjects"]}
    if not runs:
        raise BadInputError("--picture: none of these runs has an adapter; name runs of eval.py --adapter")
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(13, 4), layout="constrained")
    logs = {Path(reports[run]["adapter"]): log for run, (_, log) in runs.items()}
    for label, adapter in labelled(list(logs)).items():
        log = logs[adapter]
        blocks = hundredths(log)  # single sessions scatter over two orders of magnitude
        losses = [sum(row["loss"] for row in block) / len(block) for block in blocks]
        left.plot([block[-1]["step"] for block in blocks], losses, lw=1, label=label)
    left.set(xlabel="optimizer steps", ylabel="loss per operator token, nats", yscale="log")
    left.set_title("training loss, means over a hundredth of the run")
    left.legend(fontsize="small")
    by_data = len(set(gathered(amount for amount, _ in runs.values()).values())) > 1
    found = {run: amount if by_data else log[-1]["step"] for run, (amount, log) in runs.items()}
    places = gathered(found.values())
    width = max(places.values()) or 1
    splits = sorted({str(report["split_by"]) for report in reports.values()})
    for split, line, marker in zip(splits, ("-", "--", ":"), "os^", strict=False):
        members = [run for run in runs if str(reports[run]["split_by"]) == split]
        for shift, name in enumerate(("terminate", "verified", "clean")):
            points: dict[float, list[float]] = {}  # several runs may lie at one place: the line joins their means
            for run in members:
                entry = reports[run]["subjects"]["adapter"]["rates"][name]
                if entry["rate"] is not None:
                    x = places[found[run]] + (shift - 1 + 0.4 * splits.index(split)) * 0.012 * width  # side by side
                    points.setdefault(x, []).append(entry["rate"])
                    low, high = entry["interval"]
                    right.plot([x, x], [low, high], color=f"C{shift}", lw=0.8)
                    right.plot(x, entry["rate"], marker, color=f"C{shift}", ms=4)
            xs = sorted(points)
            label = f"{name}, held out by {split}"
            means = [sum(points[x]) / len(points[x]) for x in xs]
            right.plot(xs, means, line, marker=marker, mfc="none", ms=5, color=f"C{shift}", lw=1, label=label)
    right.set(xlabel="sessions trained on" if by_data else "optimizer steps", ylabel="rate", ylim=(-0.02, 1.02))
    right.set_title("held-out episodes, 95 % intervals")
    figure.legend(*right.get_legend_handles_labels(), loc="outside right center", fontsize="small")
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def hundredths(rows: Sequence[Any]) -> list[Sequence[Any]]:
    """`rows` in up to 100 runs of equal length, give or take one: none is a rest of a few."""
    count = min(100, len(rows))
    return [rows[len(rows) * at // count : len(rows) * (at + 1) // count] for at in range(count)]


def gathered(amounts: Iterable[int]) -> dict[int, float]:
    """Each amount and where it is drawn: amounts within a tenth of one another in one place, at their mean."""
    groups: list[list[int]] = []
    for amount in sorted(amounts):
        if groups and amount <= 1.1 * groups[-1][0]:
            groups[-1].append(amount)
        else:
            groups.append([amount])
    return {amount: sum(group) / len(group) for group in groups for amount in group}


def trained(report: dict[str, Any]) -> tuple[int, list[dict[str, Any]]]:
    """How many sessions the adapter of a report was trained on, and its log's rows that hold a loss."""
    adapter = Path(report["adapter"])
    log = adapter / "log_history.jsonl"
    if not log.exists():
        raise BadInputError(f"{log}: not there; run from the directory that eval.py ran in, or leave --picture out")
    try:
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        rows = [{"step": row["step"], "loss": row["loss"]} for row in lines if "loss" in row]
    except (json.JSONDecodeError, TypeError, KeyError) as error:
        raise BadInputError(
            f"{log}: a line is no logged step ({error}); rerun sft.py or leave --picture out"
        ) from error
    if not rows:
        raise BadInputError(f"{log}: holds no loss; rerun sft.py or leave --picture out")
    return len(read_json(adapter / "sekft.json")["trained_on"]), rows


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--runs", type=Path, nargs="+", required=True, help="eval.py's --out directories")
    parser.add_argument("--table", type=Path, default=None, help="markdown file to write (default none)")
    parser.add_argument("--picture", type=Path, default=None, help="PNG or SVG file to write (default none)")
    parser.add_argument(
        "--axes", nargs="*", default=[], help="axes whose values get rows of their own: task provider …"
    )
    return parser


if __name__ == "__main__":
    stage.run(main, parser())
