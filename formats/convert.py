"""Convert a directory of records to another tool's format, and back.

    export_to("harbor", Path("scenarios"), Path("tasks"))
    import_from("harbor", Path("tasks"), Path("scenarios-again"))

Both are stages: they write a manifest, resume and refuse as every stage does. Each record is converted or refused by a
named rule (unfit.py); one that is refused stops no other. stderr has the first reasons, the manifest has all.
"""

import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from pipeline import stage
from formats.atif import from_atif, to_atif
from formats.foreign import foreign_task
from formats.harbor import is_ours, read_task, task_directories, task_image, write_task
from formats.inspect_log import from_log, operator_of, to_log
from formats.unfit import UnfitError
from pipeline.files import read_json, read_records, read_scenarios, record_paths, write_json, write_record
from pipeline.hidden import as_text
from sandbox.containers import IMAGE, SandboxError, image_tools, require_image
from schema import BadInputError, Scenario, Trajectory, sha256

TARGETS = ("harbor", "atif", "inspect")
REASONS = 5  # that are printed
MANIFEST = "manifest"  # as an id: the record would lie where the manifest lies
Records = Iterator[Scenario | Trajectory]


def export_to(form: str, archive: Path, out: Path, *, partial: bool = False, redo: bool = False) -> int:
    """Write the scenarios (harbor) or trajectories (atif, inspect) of `archive` to `out`; print the summary."""
    if form == "harbor":
        scenarios = read_scenarios(archive, partial=partial)
        return _write_each(form, archive, out, scenarios, _task_writer(out), redo=redo)
    trajectories = read_records(archive, Trajectory, partial=partial)
    if form == "atif":
        write = lambda record: write_json(out / f"{record.id}.json", to_atif(record))  # noqa: E731
        return _write_each(form, archive, out, trajectories, write, redo=redo)
    newest = max(path.stat().st_mtime for path in record_paths(archive, partial=partial))
    created = datetime.fromtimestamp(int(newest), UTC).isoformat()
    flags = _flags(archive, to=form)
    manifest = stage.begin(out, stage="export", flags=flags, inputs=[archive], redo=redo)
    if not manifest.finished:
        for model in sorted({operator_of(record) for record in trajectories}):
            rows = [record for record in trajectories if operator_of(record) == model]
            log = to_log(rows, task=archive.resolve().name, created=created)
            name = _log_name(created, archive.resolve().name, model)
            write_json(out / name, log, sort_keys=False)  # Inspect reads the head of a log only where it comes first
        ids = [record.id for record in trajectories]
        stage.finish(out, manifest, ids=ids, counts=_counts(len(ids), {}))
    return _summarise(out, {"to": form}, _counts(len(trajectories), {}))


def _log_name(created: str, task: str, model: str) -> str:
    """A name that Inspect lists: it begins with a time."""
    return f"{created.replace(':', '-')}_{task.replace('_', '-')}_{sha256(model.encode())[:12]}.json"


def _task_writer(out: Path) -> Callable[[Scenario], None]:
    """What writes one scenario as a task below `out`; a task that a killed run left half written is replaced."""

    def write(scenario: Scenario) -> None:
        tools = _tools_of(task_image(scenario))
        shutil.rmtree(out / scenario.id, ignore_errors=True)
        write_task(out / scenario.id, scenario, tools)

    return write


@cache
def _tools_of(image: str) -> tuple[str, ...]:
    """The commands that an image of your own has, as its label says. Raises UnfitError where it is not in Docker."""
    if image == IMAGE:
        return ()
    try:
        require_image(image)
        return image_tools(image)
    except (BadInputError, SandboxError) as error:
        raise UnfitError("image", f"{error}; then export with --redo") from error


def _write_each(
    form: str, archive: Path, out: Path, records: list[Any], write: Callable[[Any], None], *, redo: bool
) -> int:
    """Write each record with `write`; one that does not fit is counted by its rule."""
    manifest = stage.begin(out, stage="export", flags=_flags(archive, to=form), inputs=[archive], redo=redo)
    if manifest.finished:
        return _summarise(out, {"to": form}, manifest.counts)
    written, refused = [], {}
    with stage.Progress(len(records), "export") as bar:
        for record in records:
            try:
                fault = _fault_of_id(record.id)
                if fault is None:
                    write(record)
            except UnfitError as error:
                fault = str(error)
            if fault is None:
                written.append(record.id)
            else:
                refused[record.id] = fault
            bar.record(record.id, _result([fault] if fault else []))
    counts = _counts(len(written), refused)
    stage.finish(out, manifest, ids=written, counts=counts)
    return _summarise(out, {"to": form}, counts)


def import_from(form: str, archive: Path, out: Path, *, archetype: str | None = None, redo: bool = False) -> int:
    """Write the records that `archive` holds in another tool's format to `out`; print the summary.

    Raises BadInputError where nothing in it can be read.
    """
    if not archive.exists():
        raise BadInputError(f"{archive}: no such directory or file; check the path")
    sources = list(_sources(form, archive))
    if not sources:
        raise BadInputError(f"{archive}: nothing in it has the format {form}; check --from and the path")
    inputs = [archive] if archive.is_file() else [path for path in sources if path.is_file()]
    flags = _flags(archive, archetype=archetype, **{"from": form})
    if form == "harbor":
        flags["tasks"] = sha256("".join(map(_task_hash, sources)).encode())
        inputs = []
    manifest = stage.begin(out, stage="export", flags=flags, inputs=inputs, redo=redo)
    if manifest.finished:
        return _summarise(out, {"from": form}, manifest.counts)
    written: list[str] = []
    refused: dict[str, str] = {}
    with stage.Progress(len(sources), "import") as bar:
        for source in sources:
            faults = {}
            try:
                for number, record in enumerate(_read_source(form, source, archetype), 1):
                    if fault := _fault_of_id(record.id, written):  # a log has other records too
                        faults[f"{source.name}:{number}" if form == "inspect" else source.name] = fault
                        continue
                    write_record(out, record)
                    written.append(record.id)
            except (UnfitError, BadInputError) as error:
                faults[source.name] = str(error) if isinstance(error, UnfitError) else f"record: {error}"
            refused |= faults
            bar.record(source.name, _result(faults.values()))
    if not written:
        raise BadInputError(f"{archive}: nothing fits; {next(iter(refused))}: {next(iter(refused.values()))}")
    counts = _counts(len(written), refused)
    stage.finish(out, manifest, ids=written, counts=counts)
    return _summarise(out, {"from": form}, counts)


def _fault_of_id(id_: str, taken: Sequence[str] = ()) -> str | None:
    """Why a record cannot have this id, by the rule `id`: it is taken, or its file would be the manifest. Or None."""
    if id_ in taken or id_ == MANIFEST:
        return f"id: {id_!r} is {'taken' if id_ in taken else 'the name of the manifest'}; give the record another"
    return None


def _sources(form: str, archive: Path) -> Iterable[Path]:
    """The tasks, documents or logs of a directory; `archive` itself where it is one."""
    if archive.is_file():
        return [archive] if form != "harbor" else []
    if form == "harbor":
        return task_directories(archive)
    names = archive.glob("*.json")
    return sorted(path for path in names if path.name != "manifest.json" and not path.name.startswith("."))


def _task_hash(directory: Path) -> str:
    """SHA-256 over the names, modes and contents of the files of a task."""
    files = sorted(path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())
    rows = [f"{path.relative_to(directory)} {path.stat().st_mode} {sha256(path.read_bytes())}" for path in files]
    return sha256("\n".join(rows).encode())


def _read_source(form: str, source: Path, archetype: str | None) -> Records:
    """The records of one task, document or log. Raises UnfitError, or BadInputError for what is not JSON."""
    if form == "harbor":
        yield read_task(source) if is_ours(source) else foreign_task(source, archetype=archetype)
    elif form == "atif":
        yield from_atif(read_json(source))
    else:
        yield from from_log(read_json(source))


def _flags(archive: Path, **flags: str | None) -> dict[str, Any]:
    """The flags that decide the records. How the records were split (split.py) goes on with them."""
    by = stage.split_kind(archive) if archive.is_dir() else None
    return {**flags, **({"by": by} if by else {})}


def _rule(fault: str) -> str:
    """The rule that refused a record."""
    return fault.partition(":")[0]


def _result(faults: Iterable[str]) -> str:
    """What became of a source in a word: written, or refused by which rules."""
    rules = ", ".join(sorted(set(map(_rule, faults))))
    return f"refused by {rules}" if rules else "written"


def _counts(written: int, refused: dict[str, str]) -> dict[str, Any]:
    """Every record once: written, or refused by its rule; `why` has the records that were refused."""
    rules = Counter(map(_rule, refused.values()))
    return {"read": written + len(refused), "written": written, "refused": dict(sorted(rules.items())), "why": refused}


def _summarise(out: Path, told: dict[str, str], counts: dict[str, Any]) -> int:
    """Print the summary line; on stderr the first reasons, and how many records were refused by which rule."""
    reasons = [f"{name}: {fault}".replace("\n", " ") for name, fault in counts["why"].items()]
    for reason in reasons[:REASONS]:
        print(as_text(reason), file=sys.stderr)
    if len(reasons) > REASONS:
        print(f"and {len(reasons) - REASONS} more", file=sys.stderr)
    if reasons:
        print(f"{out}: refused {counts['refused']}; its manifest.json has every reason", file=sys.stderr)
    stage.print_summary({"out": str(out), **told, **{name: counts[name] for name in ("read", "written", "refused")}})
    return stage.DONE
