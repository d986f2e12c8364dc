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

from pipeline.hidden import as_text
from schema import (
    SCHEMA_VERSION,
    AdapterIdentity,
    BadInputError,
    EvalReport,
    Manifest,
    OwnTaxonomy,
    OwnValue,
    Scenario,
    TrainedSession,
    Trajectory,
    sha256,
)

R = TypeVar("R", Scenario, Trajectory)
M = TypeVar("M", bound=BaseModel)
MAX_TAXONOMY_BYTES = 256 * 1024
# How a record of the other kind is known: a field that only it has, what it is, what was asked for.
OTHER_KIND: dict[type[BaseModel], tuple[str, str, str]] = {
    Scenario: ("steps", "a trajectory", "scenarios"),
    Trajectory: ("checker", "a scenario", "trajectories"),
}
LIVE = ".live.json"  # which episodes are under way (operators/under_way.py)
EPISODES = "episodes"  # the directory in rl.py's --out that holds its episodes; a view of it needs no trainer


def write_json(path: Path, value: Any, *, durable: bool = True, sort_keys: bool = True) -> None:
    """Write UTF-8, sorted keys, indent 2, to a temporary name and rename: a reader never sees half a file.

    A file that is not `durable` may be lost when the machine stops.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    text = json.dumps(value, sort_keys=sort_keys, ensure_ascii=False, indent=2) + "\n"
    try:
        with temporary.open("w", encoding="utf-8", errors="surrogatepass") as stream:
            stream.write(text)
            if durable:
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
        return json.loads(path.read_text(encoding="utf-8", errors="surrogatepass"))  # as write_json writes
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"{path}: cannot be read ({error}); check the path and its permissions") from error
    except (ValueError, RecursionError) as error:  # no JSON, a number of thousands of digits, too deeply nested
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
    mark, holds, remedy = OTHER_KIND[kind]
    if isinstance(value, dict) and mark in value and mark not in kind.model_fields:
        raise BadInputError(f"{path}: holds {holds}; name a directory of {remedy}")
    return checked(path, value, kind, "correct or delete the file")


def checked(path: Path, value: Any, kind: type[M], remedy: str) -> M:
    """`value`, which `path` holds, as a record. Raises BadInputError naming file, field and remedy."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "content"
        raise BadInputError(f"{path}: {field}: {first['msg']}; {remedy}") from error


def read_taxonomy(path: Path) -> OwnTaxonomy:
    """A taxonomy of a user's own, with the hash of its file. Raises BadInputError naming file, field and remedy."""
    if path.is_file() and path.stat().st_size > MAX_TAXONOMY_BYTES:
        raise BadInputError(f"{path}: is over {MAX_TAXONOMY_BYTES} bytes; name a taxonomy file")
    taxonomy = checked(path, read_json(path), OwnTaxonomy, "correct the file; docs/bring_your_own.md has an example")
    if not (taxonomy.archetypes or taxonomy.providers or taxonomy.announcements):
        raise BadInputError(f"{path}: archetypes: none, and no providers or announcements; add what is yours")
    return taxonomy.model_copy(update={"sha256": sha256(path.read_bytes())})


def read_manifest(directory: Path) -> Manifest | None:
    """A directory's manifest; None where there is none."""
    path = directory / "manifest.json"
    return checked(path, read_json(path), Manifest, "delete the directory, or name another") if path.exists() else None


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write a directory's manifest."""
    write_json(directory / "manifest.json", manifest.model_dump(mode="json"))


def read_identity(adapter: Path) -> AdapterIdentity:
    """An adapter's sekft.json. Raises BadInputError."""
    path = adapter / "sekft.json"
    return checked(path, read_json(path), AdapterIdentity, "name an adapter directory that sft.py wrote")


def write_identity(adapter: Path, identity: AdapterIdentity) -> None:
    """Write an adapter's sekft.json."""
    absent = {name for name in ("averaged", "converted", "earlier") if not getattr(identity, name)}
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
        print(as_text(f"{directory}: no manifest, taking every *.json in it"), file=sys.stderr)
    elif not manifest.finished and not partial:
        raise BadInputError(f"{directory}: manifest says finished: false; rerun that stage or pass --partial")
    paths = sorted(path for path in directory.glob("*.json") if path.name != "manifest.json" and path.name[0] != ".")
    if not paths:
        raise BadInputError(f"{directory}: holds no records; name the directory that the previous stage wrote")
    return paths


def read_records(directory: Path, kind: type[R], *, partial: bool = False) -> list[R]:
    """Every record of a directory, in order of file names; errors as `record_paths` and `read_record`."""
    records: dict[str, tuple[Path, R]] = {}
    own: dict[tuple[str, str], OwnValue] = {}
    for path in record_paths(directory, partial=partial):
        record = read_record(path, kind)
        refuse_two_meanings(path, record.taxonomy, own)
        if record.id in records:
            raise BadInputError(
                f"{path}: id: {record.id!r} is also the id in {records[record.id][0]}; delete one of the two files"
            )
        records[record.id] = path, record
    return [record for _, record in records.values()]


def refuse_two_meanings(path: Path, taxonomy: OwnTaxonomy | None, known: dict[tuple[str, str], OwnValue]) -> None:
    """Add the values of a record's taxonomy to `known`.

    Raises BadInputError where another record of the directory means something else by one of these names: a split or a
    rate per value would take two things for one.
    """
    for axis in ("archetypes", "providers", "announcements"):
        for value in getattr(taxonomy, axis, ()):
            if known.setdefault((axis, value.name), value) != value:
                raise BadInputError(
                    f"{path}: taxonomy.{axis}: {value.name!r} means something else in another record here; "
                    f"keep the records of the two taxonomies in different directories"
                )


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
