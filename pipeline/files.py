"""Read and write records and their directories.

    scenarios = read_scenarios(Path("scenarios"))
    write_record(Path("out"), scenarios[0])

A file is written to a temporary name and renamed, so that nobody reads half of it. A directory whose manifest says that
it is unfinished is refused unless the caller passes `partial`. A directory without a manifest is taken, with a note on
stderr.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from schema import (
    SCHEMA_VERSION,
    AdapterIdentity,
    BadInputError,
    EvalReport,
    Manifest,
    Scenario,
    TrainedSession,
    Trajectory,
)

R = TypeVar("R", Scenario, Trajectory)
M = TypeVar("M", bound=BaseModel)


def write_json(path: Path, value: Any) -> None:
    """Write UTF-8, sorted keys, indent 2, to a temporary name and rename: a reader never sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, indent=2) + "\n"
    try:
        with temporary.open("w", encoding="utf-8", errors="surrogatepass") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:  # a full disk says nothing of the file
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_record(directory: Path, record: Scenario | Trajectory) -> Path:
    """Write `<directory>/<id>.json` atomically and return its path."""
    path = directory / f"{record.id}.json"
    write_json(path, record.model_dump(mode="json", exclude_none=True))
    return path


def read_json(path: Path) -> Any:
    """The JSON value in `path`. Raises BadInputError naming the file when it is missing or not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"{path}: cannot be read ({error}); check the path and its permissions") from error
    except json.JSONDecodeError as error:
        raise BadInputError(f"{path}: not JSON ({error}); delete the file or restore it") from error


def read_record(path: Path, kind: type[R]) -> R:
    """One record. Raises BadInputError naming file, field and remedy."""
    value = read_json(path)
    version = value.get("schema_version", SCHEMA_VERSION) if isinstance(value, dict) else None
    if version != SCHEMA_VERSION:
        raise BadInputError(
            f"{path}: schema_version {version!r} is unknown, this version reads {SCHEMA_VERSION}; "
            f"regenerate the file or use the sekft that wrote it"
        )
    return checked(path, value, kind, "correct or delete the file")


def checked(path: Path, value: Any, kind: type[M], remedy: str) -> M:
    """`value`, which `path` holds, as a record. Raises BadInputError naming file, field and remedy."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "content"
        raise BadInputError(f"{path}: {field}: {first['msg']}; {remedy}") from error


def read_manifest(directory: Path) -> Manifest | None:
    """A directory's manifest; None where there is none."""
    path = directory / "manifest.json"
    return checked(path, read_json(path), Manifest, "rerun the stage with --redo") if path.exists() else None


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write a directory's manifest."""
    write_json(directory / "manifest.json", manifest.model_dump(mode="json"))


def read_identity(adapter: Path) -> AdapterIdentity:
    """An adapter's sekft.json. Raises BadInputError."""
    path = adapter / "sekft.json"
    return checked(path, read_json(path), AdapterIdentity, "name an adapter directory that sft.py wrote")


def write_identity(adapter: Path, identity: AdapterIdentity) -> None:
    """Write an adapter's sekft.json."""
    absent = {name for name in ("averaged", "converted") if getattr(identity, name) is None}
    write_json(adapter / "sekft.json", identity.model_dump(mode="json", exclude=absent))


def sessions_in_base(base: str | Path) -> list[TrainedSession]:
    """What a base was trained on, where it is a model that merge.py wrote."""
    return read_identity(Path(base)).trained_on if (Path(base) / "sekft.json").exists() else []


def read_report(run: Path) -> EvalReport:
    """The report.json of an eval's directory. Raises BadInputError."""
    path = run / "report.json"
    if not path.exists():
        raise BadInputError(f"{run}: no report.json; name a directory that eval.py finished")
    return checked(path, read_json(path), EvalReport, "rerun eval.py (its episodes are kept)")


def write_report(run: Path, report: EvalReport) -> None:
    """Write the report.json of an eval's directory."""
    absent = {"transcripts"} if report.transcripts is None else set()
    write_json(run / "report.json", report.model_dump(mode="json", exclude=absent))


def record_paths(directory: Path, *, partial: bool = False) -> list[Path]:
    """The record files of a stage's directory, sorted by name.

    Raises BadInputError when the directory is missing or empty, or when its manifest says it is unfinished and
    `partial` is not set. A directory without a manifest is taken, with a note on stderr.
    """
    if not directory.is_dir():
        raise BadInputError(f"{directory}: no such directory; name the directory that the previous stage wrote")
    manifest = read_manifest(directory)
    if manifest is None:
        print(f"{directory}: no manifest, taking every *.json in it", file=sys.stderr)
    elif not manifest.finished and not partial:
        raise BadInputError(f"{directory}: manifest says finished: false; rerun that stage or pass --partial")
    paths = sorted(path for path in directory.glob("*.json") if path.name != "manifest.json" and path.name[0] != ".")
    if not paths:
        raise BadInputError(f"{directory}: holds no records; name the directory that the previous stage wrote")
    return paths


def read_records(directory: Path, kind: type[R], *, partial: bool = False) -> list[R]:
    """Every record of a directory, in order of file names; errors as `record_paths` and `read_record`."""
    records: dict[str, tuple[Path, R]] = {}
    for path in record_paths(directory, partial=partial):
        record = read_record(path, kind)
        if record.id in records:
            raise BadInputError(
                f"{path}: id: {record.id!r} is also the id in {records[record.id][0]}; delete one of the two files"
            )
        records[record.id] = path, record
    return [record for _, record in records.values()]


def read_scenarios(directory: Path, *, partial: bool = False) -> list[Scenario]:
    """Every scenario of a directory, in id order."""
    return read_records(directory, Scenario, partial=partial)


def read_trajectories(directory: Path, *, partial: bool = False, scenarios: Path | None = None) -> list[Trajectory]:
    """Every trajectory of a directory, in id order; only those of the scenarios in `scenarios`, where it is named.

    Raises BadInputError where one of those scenarios has no trajectory, unless `partial`.
    """
    return split_trajectories(directory, scenarios, partial=partial)[0]


def split_trajectories(
    directory: Path, scenarios: Path | None, *, partial: bool = False
) -> tuple[list[Trajectory], list[Trajectory]]:
    """What read_trajectories returns, and the trajectories of other scenarios."""
    every = read_records(directory, Trajectory, partial=partial)
    if scenarios is None:
        return every, []
    wanted = {record.content_hash: record.id for record in read_scenarios(scenarios, partial=partial)}
    rows = [row for row in every if row.scenario_hash in wanted]
    missing = sorted(wanted[key] for key in wanted.keys() - {row.scenario_hash for row in rows})
    if missing and not partial:
        raise BadInputError(
            f"{directory}: no trajectory of {len(missing)} scenarios of {scenarios}, {missing[0]} first; roll them "
            f"out, or name the --data that has them"
        )
    return rows, [row for row in every if row.scenario_hash not in wanted]
