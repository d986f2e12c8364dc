"""Define the scenario and trajectory records and read and write their directories.

    python schema.py --out schemas      # export JSON Schemas of both records

Reads   <directory>/*.json
Writes  <out>/scenario.schema.json, <out>/trajectory.schema.json
Needs   nothing

Records are immutable pydantic models: an unknown field, a bad axis value or an unknown schema_version is an
error that names the file, the field and the remedy. A directory with an unfinished manifest is refused unless
asked for with --partial; one without any manifest is taken and said so.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from taxonomy import AXES, Combination, Terminal, legal

SCHEMA_VERSION: Literal[1] = 1
HOME = "/home/operator"  # the world: the only tree that fixtures may lie in and that a checker looks at
PROVIDER_DIRECTORY = "/usr/local/bin"
MAX_FIXTURES = 200
MAX_FIXTURE_BYTES = 256 * 1024
MAX_WORLD_BYTES = 2 * 1024 * 1024
MAX_TEXT_CHARS = 20_000

Outcome = Literal[
    "exit", "panic", "max_steps", "context_full", "operator_failed", "sandbox_failed", "checker_failed", "cancelled"
]
VOIDED: frozenset[str] = frozenset({"operator_failed", "sandbox_failed", "cancelled"})


class BadInputError(ValueError):
    """The user's mistake or bad data: one line that names the file, the field and the remedy; exit code 2."""


class Record(BaseModel):
    """What all records share: immutable, and no field that the schema does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Fixture(Record):
    """A file, directory or symlink of the world. Text or base64 for a file, target for a symlink."""

    path: str
    type: Literal["file", "dir", "symlink"] = "file"
    mode: int = Field(default=0o644, ge=0, le=0o777)  # a directory without a mode gets 0o755
    text: str | None = None
    base64: str | None = None
    target: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _directories_can_be_entered(cls, value: Any) -> Any:
        if isinstance(value, dict) and value.get("type") == "dir":
            return {"mode": 0o755} | value
        return value

    @field_validator("path")
    @classmethod
    def _path_stays_in_the_world(cls, path: str) -> str:
        pure = PurePosixPath(path)
        if str(pure) != path or ".." in pure.parts or "\0" in path or not path.startswith(HOME + "/"):
            raise ValueError(f"fixture path {path!r} must be a normalised path below {HOME}/")
        return path

    @model_validator(mode="after")
    def _content_fits_type(self) -> Self:
        given = {name for name in ("text", "base64", "target") if getattr(self, name) is not None}
        wanted: list[set[str]] = {"file": [{"text"}, {"base64"}], "dir": [set()], "symlink": [{"target"}]}[self.type]  # type: ignore[assignment]
        if given not in wanted:
            raise ValueError(f"fixture {self.path!r} of type {self.type} has {sorted(given)}, wants one of {wanted}")
        if self.base64 is not None:
            base64.b64decode(self.base64, validate=True)
        if len(self.content()) > MAX_FIXTURE_BYTES:
            raise ValueError(f"fixture {self.path!r} is over {MAX_FIXTURE_BYTES} bytes")
        return self

    def content(self) -> bytes:
        """The bytes of a file (empty for directories and symlinks)."""
        if self.text is not None:
            return self.text.encode()
        return base64.b64decode(self.base64) if self.base64 is not None else b""

    @classmethod
    def of(cls, path: str, content: bytes, mode: int = 0o644) -> "Fixture":
        """A file fixture from bytes: text where they are UTF-8 without NUL, base64 where not."""
        try:
            text = content.decode()
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            return cls(path=path, mode=mode, base64=base64.b64encode(content).decode())
        return cls(path=path, mode=mode, text=text)


class Provider(Record):
    """The program that documents itself and hands out the directives."""

    path: str = Field(pattern=rf"^{PROVIDER_DIRECTORY}/[A-Za-z0-9][A-Za-z0-9._-]*$")
    source: str = Field(max_length=MAX_TEXT_CHARS)
    help_commands: list[str] = Field(min_length=1)
    directive_commands: list[str] = Field(min_length=1)


class Announcement(Record):
    """The text that points at the provider. `place` is the variable's name (env) or the path (file, mail)."""

    channel: str
    text: str = Field(min_length=1, max_length=2000)
    place: str | None = None

    @model_validator(mode="after")
    def _place_fits_channel(self) -> Self:
        if self.channel not in AXES["announcement"]:
            raise ValueError(f"unknown announcement channel {self.channel!r}; known: {AXES['announcement']}")
        shown = self.channel in ("motd", "banner")
        if shown != (self.place is None):
            raise ValueError(f"channel {self.channel} {'takes no' if shown else 'needs a'} place")
        if self.channel == "env" and not re.fullmatch(r"[A-Z][A-Z0-9_]*", self.place or ""):
            raise ValueError(f"announcement.place {self.place!r} is not an upper-case variable name")
        return self


class Provenance(Record):
    """Who wrote it: `request_hash` is the hash of what the author was asked, `gates` the gate's findings."""

    author: Literal["teacher", "template", "hand"]
    model: str | None = None
    seed: int | None = None
    request_hash: str
    gates: dict[str, Any] = {}


class Scenario(Record):
    """One world to act in. `content_hash` covers everything but id, provenance and itself."""

    schema_version: Literal[1] = SCHEMA_VERSION
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,99}$")
    content_hash: str = ""
    task: str
    provider_kind: str
    announcement_channel: str
    doc_depth: str
    difficulty: str
    provider: Provider
    announcement: Announcement
    directives: list[Annotated[str, Field(min_length=1, max_length=2000)]] = Field(min_length=1, max_length=12)
    fixtures: list[Fixture] = Field(max_length=MAX_FIXTURES)
    checker: str = Field(min_length=1, max_length=MAX_TEXT_CHARS)
    reference_solution: list[Annotated[str, Field(min_length=1)]] = Field(min_length=1, max_length=30)
    terminal: Terminal
    blocked_outputs: list[str] = []  # what a faked success would leave; the gate plants these (blocked scenarios)
    shell: Literal["dash"] = "dash"
    network: Literal["none"] = "none"
    provenance: Provenance

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not legal(self.combination()):
            raise ValueError(f"the combination {self.axes()} is not legal; known values: {AXES}")
        if self.announcement.channel != self.announcement_channel:
            raise ValueError("announcement.channel differs from the announcement axis")
        paths = [fixture.path for fixture in self.world_fixtures()]
        if repeated := {path for path in paths if paths.count(path) > 1}:
            raise ValueError(f"fixtures name a path twice: {sorted(repeated)}")
        if sum(len(fixture.content()) for fixture in self.fixtures) > MAX_WORLD_BYTES:
            raise ValueError(f"fixtures together are over {MAX_WORLD_BYTES} bytes")
        expected = self.compute_hash()
        if self.content_hash and self.content_hash != expected:
            raise ValueError(
                f"content_hash {self.content_hash} is not that of the content ({expected}); drop the field"
            )
        if not self.content_hash:
            object.__setattr__(self, "content_hash", expected)
        return self

    def combination(self) -> Combination:
        """The five axis values."""
        return Combination(self.task, self.provider_kind, self.announcement_channel, self.doc_depth, self.difficulty)

    def axes(self) -> dict[str, str]:
        """The five axis values by axis name."""
        return dict(vars(self.combination()))

    def compute_hash(self) -> str:
        """SHA-256 over the sorted JSON of everything but id, content_hash and provenance."""
        return sha256(canonical(self.model_dump(mode="json", exclude={"id", "content_hash", "provenance"})))

    def world_fixtures(self) -> list[Fixture]:
        """The fixtures plus the announcement where its channel is a file or mail: what lies in HOME at login."""
        if self.announcement.channel in ("file", "mail"):
            assert self.announcement.place is not None
            return [*self.fixtures, Fixture(path=self.announcement.place, text=self.announcement.text + "\n")]
        return self.fixtures

    def environment(self) -> dict[str, str]:
        """Variables set at login: the announcement (env), or where the mail lies (mail)."""
        place = self.announcement.place
        if self.announcement.channel == "env" and place:
            return {place: self.announcement.text}
        return {"MAIL": place} if self.announcement.channel == "mail" and place else {}


class Message(Record):
    """One turn, ready to train on."""

    role: Literal["system", "user", "assistant"]
    content: str


class Step(Record):
    """A command and what came back. `output` is what the operator saw: cut head + tail, undecodable bytes replaced."""

    command: str
    output: str
    output_bytes: int  # before the cut
    exit_code: int
    cwd: str
    duration_seconds: float
    timed_out: bool = False
    oom: bool = False
    open_heredoc: bool = False
    state_stale: bool = False


class OperatorInfo(Record):
    """Who drove the shell, exactly enough to do it again."""

    kind: Literal["endpoint", "local", "reference", "stub"]
    model: str | None = None
    adapter_hash: str | None = None
    sampling: dict[str, Any] = {}
    seed: int | None = None


class Trajectory(Record):
    """The recorded session with its labels. Token fields are there where the operator is local."""

    schema_version: Literal[1] = SCHEMA_VERSION
    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$")
    scenario_id: str
    scenario_hash: str
    axes: dict[str, str]
    operator: OperatorInfo
    messages: list[Message]
    steps: list[Step]
    terminal: str | None = None  # the text of the terminal command, None where the session did not end itself
    verified: bool
    command_only: bool
    outcome: Outcome
    kept: bool
    reasons: list[str] = []
    error: str | None = None  # the world's fault in its own words (sandbox_failed, operator_failed, checker_failed)
    image_digest: str | None = None
    wrapper_hash: str | None = None
    transport: str | None = None
    token_ids: list[int] | None = None
    assistant_mask: list[int] | None = None
    log_probs: list[float | None] | None = None  # one per token; None where the operator did not sample it

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if set(self.axes) != set(AXES) or any(self.axes[axis] not in AXES[axis] for axis in AXES):
            raise ValueError(f"axes {self.axes} are not one known value per axis; known: {AXES}")
        if self.kept and self.reasons:
            raise ValueError(f"a kept trajectory has no reasons, this one has {self.reasons}")
        if self.token_ids is not None:
            lengths = {len(self.token_ids), len(self.assistant_mask or []), len(self.log_probs or [])}
            if len(lengths) != 1:
                raise ValueError("token_ids, assistant_mask and log_probs differ in length")
        return self


def canonical(value: Any) -> bytes:
    """Sorted, compact JSON bytes: the form that hashes are taken of."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def sha256(content: bytes) -> str:
    """The hex SHA-256 of `content`."""
    return hashlib.sha256(content).hexdigest()


R = TypeVar("R", Scenario, Trajectory)


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
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or kind.__name__
        raise BadInputError(f"{path}: {field}: {first['msg']}; correct or delete the file") from error


def record_paths(directory: Path, *, partial: bool = False) -> list[Path]:
    """The record files of a stage's directory, sorted by name.

    Raises BadInputError when the directory is missing or empty, or when its manifest says it is unfinished and
    `partial` is not set. A directory without a manifest is taken, with a note on stderr.
    """
    if not directory.is_dir():
        raise BadInputError(f"{directory}: no such directory; name the directory that the previous stage wrote")
    manifest = directory / "manifest.json"
    if not manifest.exists():
        print(f"{directory}: no manifest, taking every *.json in it", file=sys.stderr)
    elif not read_json(manifest).get("finished") and not partial:
        raise BadInputError(f"{directory}: manifest says finished: false; rerun that stage or pass --partial")
    paths = sorted(path for path in directory.glob("*.json") if path.name != "manifest.json" and path.name[0] != ".")
    if not paths:
        raise BadInputError(f"{directory}: holds no records; name the directory that the previous stage wrote")
    return paths


def read_records(directory: Path, kind: type[R], *, partial: bool = False) -> list[R]:
    """Every record of a directory in id order; errors as `record_paths` and `read_record`."""
    records = [read_record(path, kind) for path in record_paths(directory, partial=partial)]
    seen: dict[str, str] = {}
    for path, record in zip(record_paths_of(directory, records), records, strict=True):
        if record.id in seen:
            raise BadInputError(f"{path}: id {record.id!r} is also that of {seen[record.id]}; ids are unique")
        seen[record.id] = str(path)
    return records


def record_paths_of(directory: Path, records: list[R]) -> Iterator[Path]:
    """Where each record of `directory` lies by its id."""
    return (directory / f"{record.id}.json" for record in records)


def read_scenarios(directory: Path, *, partial: bool = False) -> list[Scenario]:
    """Every scenario of a directory, in id order."""
    return read_records(directory, Scenario, partial=partial)


def read_trajectories(directory: Path, *, partial: bool = False, scenarios: Path | None = None) -> list[Trajectory]:
    """Every trajectory of a directory, in id order; only those of the scenarios in `scenarios`, where it is named.

    Raises BadInputError where one of those scenarios has no trajectory, unless `partial`.
    """
    rows = read_records(directory, Trajectory, partial=partial)
    if scenarios is None:
        return rows
    wanted = {record.content_hash: record.id for record in read_scenarios(scenarios, partial=partial)}
    rows = [row for row in rows if row.scenario_hash in wanted]
    missing = sorted(wanted[key] for key in wanted.keys() - {row.scenario_hash for row in rows})
    if missing and not partial:
        raise BadInputError(
            f"{directory}: no trajectory of {len(missing)} scenarios of {scenarios}, {missing[0]} first; roll them "
            f"out, or name the --data that has them"
        )
    return rows


def main(*, out: Path) -> int:
    """Write both JSON Schemas to `out`."""
    for kind in (Scenario, Trajectory):
        write_json(out / f"{kind.__name__.lower()}.schema.json", kind.model_json_schema())
    print(json.dumps({"out": str(out), "schemas": ["scenario", "trajectory"], "schema_version": SCHEMA_VERSION}))
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--out", type=Path, required=True, help="directory for the exported JSON Schemas")
    return parser


if __name__ == "__main__":
    sys.exit(main(**vars(parser().parse_args())))
