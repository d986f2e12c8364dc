"""Write records for other trainers, guarded, and in the formats of other tools, and read those back.

    python export.py --archive trajectories --holdout split/holdout --out exported --to trl openai
    python export.py --archive runs.jsonl --holdout clean-eval-ids.json --out exported --truncate
    python export.py --verify exported/sft.trl.jsonl --holdout clean-eval-ids.json
    python export.py --archive scenarios --out tasks --to harbor
    python export.py --archive tasks --out scenarios-again --from harbor

Reads   <archive>/*.json (schema.Trajectory), or a foreign archive: a JSON array or JSON Lines of rows with instance_id,
        model, tier, resolved and messages; <holdout>/*.json (schema.Scenario), or a JSON array of ids or rows
Writes  <out>/sft.<form>.jsonl, pairs.<form>.jsonl, sft.sidecar.jsonl, pairs.sidecar.jsonl (schema.SidecarLine),
        rows.jsonl (schema.ExportedRow), export-report.json (schema.ExportReport), manifest.json
        harbor: <out>/<id>/; atif: <out>/<id>.json; inspect: <out>/<time>_<archive>_<operator>.json; manifest.json
        --from: <out>/<id>.json (schema.Scenario for harbor, schema.Trajectory for atif and inspect), manifest.json
Needs   transformers with --base; a Docker engine with --to harbor where scenarios need an image of your own

Guards in this order: held out, reward hack, over length, unusable, duplicate. Every row is counted under one heading,
and rows.jsonl says why. SFT lines are the verified successes of any operator; pairs are of one policy in one task.
Tasks and logs (harbor, atif, inspect) are whole records for other tools and pass no guard. docs/formats.md says what
each holds, and by which rules a record is refused.
--verify compares files that were exported earlier with a holdout, by their sidecars, and exits 2 where one overlaps.
"""

import argparse
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pipeline import stage
from exports.forms import FORMS
from exports.guards import Export, Guards, first_look
from exports.holdout import Holdout, read_holdout
from exports.length import counter
from exports.rows import read_rows
from exports.verify import verify_file
from formats.convert import TARGETS, export_to, import_from
from pipeline.files import checked, read_json, write_json
from pipeline.hidden import as_text
from pipeline.holdout import print_unknown_split
from schema import BadInputError, ExportReport, Manifest
from taxonomy import ARCHETYPES
from training.pairs import PER_SCENARIO

REPORT = "export-report.json"


@dataclass(frozen=True)
class ExportSettings:
    """The flags."""

    archive: list[Path] | None
    out: Path | None
    holdout: Path | None
    to: list[str]
    base: str | None
    max_length_tokens: int
    truncate: bool
    per_scenario: int
    verify: list[Path] | None
    from_: str | None
    archetype: str | None
    partial: bool
    redo: bool


def main(settings: ExportSettings) -> int:
    """Check everything, then pass every row through the guards."""
    refuse_unread_flags(settings)
    if settings.verify is not None:
        return verify_files(settings.verify, settings)
    if settings.from_ is not None or set(settings.to) & set(TARGETS):
        return write_or_read_format(settings)
    archives, out = check_export_settings(settings)
    holdout = holdout_of(settings)
    count = counter(settings.base)
    rows, tasks, contradicted = first_look(read_rows(archives, partial=settings.partial), holdout)
    notes = holdout.notes(tasks) if settings.holdout else ["nothing is held out: no --holdout"]
    manifest = stage.begin(
        out, stage="export", flags=flags_of_export(settings), redo=settings.redo,
        inputs=[*archives, *([settings.holdout] if settings.holdout else [])],
    )  # fmt: skip
    for note in notes:
        print(as_text(note), file=sys.stderr)
    if manifest.finished:
        report = checked(out / REPORT, read_json(out / REPORT), ExportReport, "rerun with --redo")
        return print_export(out, report, rows)
    guards = Guards(holdout, count, settings.max_length_tokens, settings.truncate, contradicted)
    export = Export(out, guards, {name: FORMS[name] for name in settings.to}, per_scenario=settings.per_scenario)
    with stage.Progress(rows, "export") as bar:
        for row in read_rows(archives, partial=settings.partial):
            bar.record(row.name, export.take(row))
    export.finish()
    return print_export(out, finished(settings, manifest, export, notes), rows)


def refuse_unread_flags(settings: ExportSettings) -> None:
    """Raise BadInputError for a flag that was set and that nothing would read beside the others."""
    if settings.verify is not None:
        what, read = "--verify", {"verify", "holdout", "partial"}
    elif settings.from_ is not None:
        what, read = f"--from {settings.from_}", {"from_", "archive", "out", "redo"}
        read |= {"archetype"} if settings.from_ == "harbor" else set()
    elif formats := [form for form in settings.to if form in TARGETS]:
        what, read = f"--to {formats[0]}", {"to", "archive", "out", "partial", "redo"}
    else:
        what, read = f"--to {settings.to[0]}", {one.name for one in fields(settings)} - {"archetype"}
    stage.refuse_unread(settings, parser(), read, what)


def check_export_settings(settings: ExportSettings) -> tuple[list[Path], Path]:
    """The archives and --out. Raises BadInputError for flags that are missing or cannot work."""
    if not settings.archive:
        raise BadInputError("--archive: missing; name trajectory directories or archive files")
    if settings.out is None:
        raise BadInputError("--out: missing; name the directory to write")
    if repeated := [one for one in settings.archive if settings.archive.count(one) > 1]:
        raise BadInputError(f"--archive: {repeated[0]} is named twice; name it once")
    if absent := [one for one in settings.archive if not one.exists()]:
        raise BadInputError(f"--archive: {absent[0]}: no such directory or file; check the path")
    if settings.archetype is not None:
        known = ARCHETYPES.get(settings.archetype)
        if known is None or known.terminal != "exit":
            remedy = "name a shipped one that can be done (python taxonomy.py)"
            raise BadInputError(f"--archetype: {settings.archetype!r} is unknown or a blocked one; {remedy}")
    stage.require_at_least_one(max_length_tokens=settings.max_length_tokens, per_scenario=settings.per_scenario)
    return settings.archive, settings.out


def flags_of_export(settings: ExportSettings) -> dict[str, Any]:
    """The flags that decide what is written."""
    names = ("base", "max_length_tokens", "truncate", "per_scenario", "to")
    return {name: getattr(settings, name) for name in names}


def finished(settings: ExportSettings, manifest: Manifest, export: Export, notes: list[str]) -> ExportReport:
    """Write the report and the manifest."""
    assert settings.out is not None
    assert settings.archive is not None
    files = sorted(path for path in settings.out.glob("*.jsonl"))
    report = ExportReport(
        archives=[str(path) for path in settings.archive],
        holdout=str(settings.holdout) if settings.holdout else None,
        base=settings.base,
        max_length_tokens=settings.max_length_tokens,
        read=sum(export.headings.values()),
        headings=dict(export.headings),
        findings=dict(sorted(export.findings.items())),
        files={path.name: stage.hash_file(path) for path in files},
        notes=notes,
        **export.totals,
    )
    write_json(settings.out / REPORT, report.model_dump(mode="json"))
    stage.finish(settings.out, manifest, ids=[path.name for path in files], counts=report.headings)
    return report


def print_export(out: Path, report: ExportReport, rows: int) -> int:
    """Print the summary line."""
    assert sum(report.headings.values()) == report.read == rows, (report.headings, report.read, rows)
    counts = {"sft": report.sft, "pairs": report.pairs, "truncated": report.truncated, "warned": report.warned}
    stage.print_summary({"out": str(out), "read": report.read, **report.headings, **counts})
    return stage.DONE


def write_or_read_format(settings: ExportSettings) -> int:
    """Write the records of one directory in another tool's format, or read such a directory."""
    form = settings.from_ or settings.to[0]
    if settings.from_ is None and len(settings.to) > 1:
        raise BadInputError(f"--to: {', '.join(TARGETS)} are written one at a time, each to an --out of its own")
    archives, out = check_export_settings(settings)
    if len(archives) > 1:
        raise BadInputError("--archive: this format takes one directory; convert them one after the other")
    if settings.from_ is None:
        return export_to(form, archives[0], out, partial=settings.partial, redo=settings.redo)
    return import_from(form, archives[0], out, archetype=settings.archetype, redo=settings.redo)


def holdout_of(settings: ExportSettings) -> Holdout:
    """What --holdout names; of a directory that does not tell its split, stderr says that archetypes do not count."""
    holdout = read_holdout(settings.holdout, partial=settings.partial)
    if settings.holdout is not None and settings.holdout.is_dir():
        print_unknown_split(settings.holdout)
    return holdout


def verify_files(files: list[Path], settings: ExportSettings) -> int:
    """Compare exported files with the holdout. Raises BadInputError where one overlaps."""
    if settings.holdout is None:
        raise BadInputError("--verify: needs --holdout, which the files are compared with")
    holdout = holdout_of(settings)
    lines = sum(verify_file(path, holdout) for path in files)
    stage.print_summary({"verified": [str(path) for path in files], "lines": lines, "held_out": 0})
    return stage.DONE


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    add = parser.add_argument
    add("--archive", type=Path, nargs="+", default=None, help="trajectory directories, or foreign archive files")
    add("--out", type=Path, default=None, help="directory to write")
    add("--holdout", type=Path, default=None, help="held-out scenarios (split.py), or a JSON file of ids or rows")
    add("--to", nargs="+", choices=(*FORMS, *TARGETS), default=["openai"], help="forms to write (default openai)")
    add("--from", dest="from_", choices=TARGETS, default=None, help="format to read back, instead of --to")
    add("--archetype", default=None, help="--from harbor: archetype of the tasks that were not written here")
    add("--base", default=None, help="whose tokenizer counts tokens (default: characters / 4)")
    add("--max-length-tokens", type=int, default=4096, help="longer rows are left out and named (default 4096)")
    add("--truncate", action="store_true", help="cut long rows: leave out their oldest round trips")
    add(
        "--per-scenario", type=int, default=PER_SCENARIO,
        help=f"pairs at most of one policy in one scenario (default {PER_SCENARIO})",
    )  # fmt: skip
    add("--verify", type=Path, nargs="+", default=None, help="exported files to compare with --holdout; writes nothing")
    add("--partial", action="store_true", help="take an unfinished directory")
    add("--redo", action="store_true", help="start over instead of comparing with the earlier run")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
