"""Show runs: evals in one table and one picture, any runs on one page, a run while it goes on, one session.

    python report.py --runs eval/seed-1 eval/seed-2 --table rates.md --picture curve.svg
    python report.py --runs scenarios trajectories ckpt-run1 eval/ckpt-run1 --html out/report.html
    python report.py --watch trajectories
    python report.py --show filter_rows-0001-s0 trajectories --mask

Reads   <run>/report.json and manifest.json (eval.py), <run>/overlap.json (contamination.py) where there is one, and
        for a picture <adapter>/log_history.jsonl and sekft.json; --html, --watch and --show also read directories of
        scenarios, trajectories and trainings
Writes  --table as markdown, --picture as PNG or SVG, --html as one file that needs nothing else
Needs   matplotlib for a picture; the tokenizer of --base for --mask

operate_rate    at least one command before the terminal and no turn that is prose
discover_rate   every directive was shown to the operator before its terminal, as a whole and in one output
terminate_rate  ended with `exit` or `panic`
verified_rate   the checker passed on the final state
clean_rate      correct terminal AND verified AND command-only

loop             cut off by a limit, and the last five commands are at most two different ones
open_heredoc     a command opened a heredoc that it never closed
panic_precision  of the episodes that ended with `panic`, those of blocked scenarios
panic_recall     of the episodes of blocked scenarios, those that ended with `panic`

Each rate comes with n and a 95 % Wilson interval, over the episodes that were not voided; the rate with voided episodes
as failures follows in brackets where it is another. Differences are paired by scenario; their intervals come from a
bootstrap over scenarios. A dash stands for a rate that the
report does not have. A run is labelled with the shortest end of its path that tells it apart from the others.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from pipeline import stage
from model.render import Wire
from pages.document import write_page
from pages.gather import page_contents
from pages.picture import draw_picture, labels_of
from pages.show import find_sessions, print_session, with_mask
from pages.watch import watch
from pipeline.files import checked, read_json, read_manifest, read_report
from pipeline.hidden import as_text
from pipeline.rates import BEHAVIOUR, RATES
from pipeline.tables import CELL, format_difference, format_rate, outcomes_of
from records.overlap import Overlap
from schema import BadInputError, BehaviourRates, EvalReport, EventRates, Subject, SubjectReport

PICTURES = (".png", ".svg")


@dataclass(frozen=True)
class ReportSettings:
    """The flags."""

    runs: list[Path]
    table: Path | None
    picture: Path | None
    html: Path | None
    axes: list[str]
    partial: bool
    watch: Path | None
    show: list[str] | None
    mask: bool
    base: str
    render: Wire | None

    def files(self) -> dict[str, Path]:
        """What is written, by flag."""
        return {name: path for name in ("table", "picture", "html") if (path := getattr(self, name)) is not None}


def main(settings: ReportSettings) -> int:
    """Read the runs and write what is asked for, or show one run or one session."""
    check_report_settings(settings)
    if settings.watch is not None:
        found = watch(settings.watch)
        state = "finished" if found.manifest.finished else "stopped"
        stage.print_summary({"out": str(settings.watch), "state": state, "records": found.done()})
        return stage.DONE
    if settings.show is not None:
        return print_sessions(settings.show[0], Path(settings.show[1]), settings)
    directories = labels_of(settings.runs)
    if settings.table or settings.picture:
        runs = {label: read_run(run) for label, run in directories.items()}
        known = set.intersection(*(set(one.per_axis) for one in rows_of(runs).values()))
        if unknown := [axis for axis in settings.axes if axis not in known]:
            raise BadInputError(f"--axes: {unknown[0]!r} is no axis of these runs; known: {', '.join(sorted(known))}")
    for name, path in settings.files().items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if name == "table":
                path.write_text(markdown(runs, settings.axes))
            elif name == "picture":
                draw_picture({label: run.report for label, run in runs.items()}, path)
            else:
                write_page(path, page_contents(directories, partial=settings.partial))
        except OSError as error:
            raise BadInputError(f"--{name}: {path}: cannot be written ({error.strerror}); name another file") from error
    written = {name: str(path) for name, path in settings.files().items()}
    stage.print_summary({"runs": len(settings.runs), **written})
    return stage.DONE


def check_report_settings(settings: ReportSettings) -> None:
    """Raise BadInputError for flags that do not belong together."""
    picture = settings.picture
    alone = [f"--{name}" for name in ("watch", "show") if getattr(settings, name) is not None]
    if alone and (len(alone) > 1 or settings.runs or settings.files()):
        raise BadInputError(f"{alone[0]} shows something alone; run report.py again for the rest")
    if settings.mask and settings.show is None:
        raise BadInputError("--mask belongs to --show; name a session with --show ID DIR")
    if settings.render is not None and not settings.mask:
        raise BadInputError("--render belongs to --mask; pass both, or neither")
    if alone:
        return
    if not settings.runs:
        raise BadInputError("--runs: missing; name directories of runs, or pass --watch DIR or --show ID DIR")
    if not settings.files():
        raise BadInputError("nothing to write; pass --table FILE, --picture FILE, --html FILE or several")
    if picture is not None and picture.suffix not in PICTURES:
        raise BadInputError(f"--picture: {picture.name!r} is of no known kind; end it in {' or '.join(PICTURES)}")
    if settings.axes and settings.table is None:
        raise BadInputError("--axes belongs to --table; drop it, the page has the rates of every axis")
    written = {name: path.resolve() for name, path in settings.files().items()}
    if len(set(written.values())) < len(written):
        raise BadInputError(f"--{', --'.join(written)}: two of them name one file; name different ones")
    for name, path in written.items():
        if run := next((one for one in settings.runs if path.is_relative_to(one.resolve())), None):
            raise BadInputError(f"--{name}: {settings.files()[name]}: lies in the run {run}; name a file elsewhere")


def print_sessions(id_: str, directory: Path, settings: ReportSettings) -> int:
    """Print the sessions of this id on stderr, with --mask as a trainer reads them."""
    from rich.console import Console

    sessions = find_sessions(id_, directory)
    outcomes = [session.outcome for session in sessions.values()]
    if settings.mask:
        colour = sys.stderr.isatty()
        for subject, session in sessions.items():
            text = with_mask(session, settings.base, settings.render, colour=colour)
            print((f"--- {as_text(f'{subject}: {session.id}')}\n" if subject else "") + text, file=sys.stderr)
    else:
        console = Console(stderr=True)
        for subject, session in sessions.items():
            print_session(session, console, subject)
    stage.print_summary({"id": id_, "sessions": len(sessions), "outcomes": outcomes})
    return stage.DONE


@dataclass(frozen=True)
class EvalRun:
    """One eval: its report, and its overlap with what was read before."""

    report: EvalReport
    overlap: Overlap


Runs = dict[str, EvalRun]  # by label


def read_run(directory: Path) -> EvalRun:
    """The report of an eval's directory, with its overlap.json where there is one. Raises BadInputError."""
    report = read_report(directory)
    manifest = read_manifest(directory)
    if manifest is None:
        note = f"{directory}: no manifest, so nothing says whether this run was finished"
        print(as_text(note), file=sys.stderr)
    elif not manifest.finished:
        raise BadInputError(f"{directory / 'manifest.json'}: finished: false; rerun that eval, its episodes are kept")
    path = directory / "overlap.json"
    overlap = checked(path, read_json(path), Overlap, "rerun contamination.py") if path.exists() else Overlap(shared={})
    return EvalRun(report, overlap)


def rows_of(runs: Runs) -> dict[tuple[str, Subject], SubjectReport]:
    """Every (run, subject), the bare base before what is compared with it."""
    return {
        (label, name): run.report.subjects[name]
        for label, run in runs.items()
        for name in get_args(Subject)
        if name in run.report.subjects
    }


def markdown(runs: Runs, axes: Sequence[str]) -> str:
    """The rates of all runs, the paired differences in percentage points, and the rates by value of `axes`."""
    rows = rows_of(runs)
    parts = [
        _grid(["run", "split by", "row", *RATES, "voided"], [
            [run, runs[run].report.split_by or "-", name, *_cells(entry.rates), str(entry.voided)]
            for (run, name), entry in rows.items()
        ]),
        *shared_texts(runs),
        _grid(["run", "row", *BEHAVIOUR], [
            [run, name, *_cells(entry.behaviour)] for (run, name), entry in rows.items()
        ]),
    ]  # fmt: skip
    outcomes = outcomes_of(rows.values())
    cells = [[run, name, *(str(entry.outcomes.get(one, 0)) for one in outcomes)] for (run, name), entry in rows.items()]
    parts += [_grid(["run", "row", *outcomes], cells)] if outcomes else []
    pairs = [(label, pair, found) for label, run in runs.items() for pair, found in run.report.paired.items()]
    if pairs:
        cells = [
            [run, pair, str(found.n), *(format_difference(getattr(found, one)) for one in RATES)]
            for run, pair, found in pairs
        ]
        parts.append(_grid(["run", "difference, points", "n", *RATES], cells))
    for axis in axes:
        parts.append(
            _grid(["run", "row", axis, *RATES], [
                [run, name, value, *_cells(rates)]
                for (run, name), entry in rows.items() for value, rates in entry.per_axis[axis].items()
            ])
        )  # fmt: skip
    return "\n".join(parts) + f"\nEach cell: {CELL}.\n"


def _cells(rates: EventRates | BehaviourRates) -> list[str]:
    """One cell per rate."""
    return [format_rate(rate) for _, rate in rates]


def shared_texts(runs: Runs) -> list[str]:
    """How much of the held-out scenarios' texts the adapter has read (data)."""
    rows = [(label, by, parts) for label, run in runs.items() for by, parts in run.overlap.shared.items()]
    if not rows:
        return []
    columns = list(rows[0][2])
    cells = [[run, by, *(f"{parts[one].shared}/{parts[one].runs}" for one in columns)] for run, by, parts in rows]
    notes = [
        f"{run}: {of.shared} of {of.runs} masked directives also stand in the training data. These scenarios are "
        "of archetypes that were trained on: the sentences are the same, names and files are new.\n"
        for run, by, parts in rows
        if by == "data" and runs[run].report.split_by == "scenario" and (of := parts["directives"]).shared
    ]
    notes += [
        f"{label}: {len(run.overlap.left_out)} held-out scenarios of which something was read are left out.\n"
        for label, run in runs.items()
        if run.overlap.left_out
    ]
    notes += [
        f"{label}: sessions hold {found.distinct_read} of {found.distinct} distinct commands of the solutions, each as "
        f"a whole and of any length, and every command of {found.solutions_all_read} of {found.solutions} solutions.\n"
        for label, run in runs.items()
        if (found := run.overlap.whole_commands)
    ]
    said = "Held-out texts that were read before: 13-grams (or a shorter text) under masked names.\n"
    return ["\n".join([*notes, said, _grid(["run", "read as", *columns], cells)])]


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    add = parser.add_argument
    add("--runs", type=Path, nargs="+", default=[], help="eval.py's --out directories; --html: any stage's")
    add("--table", type=Path, default=None, help="markdown file to write (default none)")
    add("--picture", type=Path, default=None, help="PNG or SVG file to write (default none)")
    add("--html", type=Path, default=None, help="page to write (default none)")
    add("--axes", nargs="*", default=[], help="add rows per value of these axes: task provider announcement …")
    add("--partial", action="store_true", help="--html: take unfinished directories")
    add("--watch", type=Path, default=None, metavar="DIR", help="show the run in DIR until it ends (default none)")
    add("--show", nargs=2, default=None, metavar=("ID", "DIR"), help="print a session of DIR (default none)")
    add("--mask", action="store_true", help="--show: as a trainer reads it, trained tokens in colour")
    stage.add_render_flag(parser, "--mask: ")
    stage.add_base_flag(parser, "--mask: base whose tokenizer renders the session")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
