"""Define every record that is written to disk.

    python schema.py --out schemas      # export a JSON Schema of each record

Reads   nothing
Writes  <out>/<record>.schema.json
Needs   nothing

Records are immutable pydantic models. An unknown field or a bad axis value is an error that names the field;
pipeline/files.py reads and writes records, and names the file too. docs/records.md has every field.
"""

import argparse
import base64
import hashlib
import json
import re
import sys
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from taxonomy import AXES, Combination, Terminal, legal

SCHEMA_VERSION: Literal[1] = 1
HOME = "/home/operator"  # the world: the only tree that fixtures may lie in and that a checker looks at
PROVIDER_DIRECTORY = "/usr/local/bin"
MAX_FIXTURES = 200
MAX_FIXTURE_BYTES = 256 * 1024
MAX_WORLD_BYTES = 2 * 1024 * 1024
MAX_TEXT_CHARS = 20_000

Outcome = Literal[
    "exit", "panic", "max_steps", "context_full", "locked_out", "operator_failed", "sandbox_failed", "checker_failed",
    "cancelled",
]  # fmt: skip
Subject = Literal["base", "clean_up", "adapter"]  # of an eval
VOIDED: frozenset[str] = frozenset({"operator_failed", "sandbox_failed", "cancelled"})


class BadInputError(ValueError):
    """The user's mistake or bad data: one line that names the file, the field and the remedy; exit code 2."""


class WorldError(RuntimeError):
    """Something outside this project failed, e.g. Docker: one line; exit code 1; a rerun may succeed."""


class Record(BaseModel):
    """What all records share: immutable, and no field that the schema does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Fixture(Record):
    """A file, directory or symlink that exists before login."""

    path: str = Field(description="absolute, normalised, below /home/operator")
    type: Literal["file", "dir", "symlink"] = "file"
    mode: int = Field(default=0o644, ge=0, le=0o777, description="permission bits; a directory defaults to 0o755")
    text: str | None = Field(default=None, description="content of a file, as UTF-8")
    base64: str | None = Field(default=None, description="content of a file that is not UTF-8 text")
    target: str | None = Field(default=None, description="what a symlink points at")

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

    path: str = Field(pattern=rf"^{PROVIDER_DIRECTORY}/[A-Za-z0-9][A-Za-z0-9._-]*$", description="below /usr/local/bin")
    source: str = Field(max_length=MAX_TEXT_CHARS, description="the program itself, a shell script")
    help_commands: list[str] = Field(min_length=1, description="commands that print its help")
    directive_commands: list[str] = Field(min_length=1, description="commands that together print every directive")


class Announcement(Record):
    """The text that points at the provider and never says what the task is."""

    channel: str = Field(description="value of the announcement axis: motd, banner, env, file or mail")
    text: str = Field(min_length=1, max_length=2000)
    place: str | None = Field(default=None, description="name of the variable (env) or path (file, mail)")

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
    """Who wrote a scenario, and what the gate found."""

    author: Literal["teacher", "template", "hand"]
    model: str | None = Field(default=None, description="the teacher's model")
    seed: int | None = None
    request_hash: str = Field(description="SHA-256 of what the author was asked")
    gates: dict[str, Any] = Field(default={}, description="what each gate checked, and the rounds of repair")


class Scenario(Record):
    """One world to act in."""

    schema_version: Literal[1] = SCHEMA_VERSION
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,99}$", description="name of the file without .json")
    content_hash: str = Field(
        default="", description="SHA-256 of everything but id, provenance, blocked_attempt and this field"
    )
    task: str = Field(description="value of the task axis: the archetype")
    provider_kind: str = Field(description="value of the provider axis: how the provider is called")
    announcement_channel: str = Field(description="value of the announcement axis")
    doc_depth: str = Field(description="value of the doc_depth axis: where the provider explains itself")
    difficulty: str = Field(description="value of the difficulty axis")
    provider: Provider
    announcement: Announcement
    directives: list[Annotated[str, Field(min_length=1, max_length=2000)]] = Field(
        min_length=1, max_length=12, description="the instructions that the provider prints"
    )
    fixtures: list[Fixture] = Field(max_length=MAX_FIXTURES, description="what exists before login")
    checker: str = Field(
        min_length=1, max_length=MAX_TEXT_CHARS, description="POSIX sh; exit code 0 = the effect is there"
    )
    reference_solution: list[Annotated[str, Field(min_length=1)]] = Field(
        min_length=1, max_length=30, description="commands that make the checker pass"
    )
    terminal: Terminal = Field(description="the command that ends the session correctly: exit or panic")
    blocked_outputs: list[str] = Field(
        default=[], description="blocked scenarios: files that a faked success would leave; the gate tries them"
    )
    blocked_attempt: list[Annotated[str, Field(min_length=1)]] | None = Field(
        default=None, description="blocked scenarios: commands that would do the blocked work; all fail in the gate"
    )
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
        """SHA-256 over the sorted JSON of everything that an operator meets or is judged by."""
        apart = {"id", "content_hash", "provenance", "blocked_attempt"}
        return sha256(canonical(self.model_dump(mode="json", exclude=apart)))

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
    """A command and what came back."""

    command: str = Field(description="what the operator typed, verbatim")
    output: str = Field(description="what the operator saw: cut head + tail, undecodable bytes replaced")
    output_bytes: int = Field(description="bytes that were printed, before the cut")
    exit_code: int = Field(description="124 for a command that was killed at the time limit")
    cwd: str = Field(description="working directory afterwards")
    duration_seconds: float
    timed_out: bool = Field(default=False, description="killed at the time limit")
    oom: bool = Field(default=False, description="the kernel killed a process for memory")
    open_heredoc: bool = Field(default=False, description="a heredoc was never closed")
    state_stale: bool = Field(default=False, description="the shell state was not saved: the one before is kept")


class OperatorInfo(Record):
    """Who drove the shell, exactly enough to do it again."""

    kind: Literal["endpoint", "local", "reference", "stub"]
    model: str | None = Field(default=None, description="name at the endpoint, or the base that was loaded")
    adapter_hash: str | None = Field(default=None, description="SHA-256 of the adapter's weights")
    sampling: dict[str, Any] = Field(default={}, description="temperature, max_new_tokens and so on")
    seed: int | None = None


class Trajectory(Record):
    """A recorded episode with its labels."""

    schema_version: Literal[1] = SCHEMA_VERSION
    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$", description="<scenario_id>-s<sample>")
    scenario_id: str
    scenario_hash: str = Field(description="the scenario's content_hash")
    axes: dict[str, str] = Field(description="the scenario's value on each of the five axes")
    operator: OperatorInfo
    messages: list[Message] = Field(description="orientation, login, then prompt, command and output in turn")
    steps: list[Step] = Field(description="the commands that ran; the terminal does not run")
    terminal: str | None = Field(default=None, description="text of the terminal; null where there is none")
    verified: bool = Field(description="the checker passed on the final state")
    command_only: bool = Field(description="no turn is prose")
    outcome: Outcome = Field(description="how the episode ended")
    attempt: int = Field(
        default=1, ge=1, le=3, description="1, or more where the sandbox broke: a rerun plays it again"
    )
    kept: bool = Field(description="correct terminal AND verified AND command_only")
    reasons: list[str] = Field(default=[], description="why it is not kept")
    error: str | None = Field(default=None, description="message of the sandbox, operator or checker that failed")
    image_digest: str | None = Field(default=None, description="id of the sandbox's image")
    wrapper_hash: str | None = Field(default=None, description="SHA-256 of the step wrapper")
    transport: str | None = Field(default=None, description="how commands reached the shell")
    token_ids: list[int] | None = Field(default=None, description="local operators: the context, as read and sampled")
    assistant_mask: list[int] | None = Field(default=None, description="1 for each sampled token, 0 for the rest")
    log_probs: list[float | None] | None = Field(default=None, description="log-probability of each sampled token")

    @property
    def commands(self) -> list[str]:
        """What the operator typed, turn by turn, the terminal included."""
        return [message.content for message in self.messages if message.role == "assistant"]

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


class Manifest(Record):
    """How a directory was made. Written first with `finished: false`, last with `finished: true`."""

    model_config = ConfigDict(extra="ignore")  # every manifest since the first is read

    stage: str | None = Field(default=None, description="the script that writes the directory")
    schema_version: Literal[1] = SCHEMA_VERSION
    finished: bool = Field(default=False, description="everything that was asked for is there")
    flags: dict[str, Any] = Field(default={}, description="the flags that decide the records")
    inputs: dict[str, str] = Field(default={}, description="name and SHA-256 of each input")
    image_digest: str | None = Field(default=None, description="id of the sandbox's image")
    git_commit: str | None = Field(default=None, description="commit of the code, with + where the tree had changes")
    ids: list[str] = Field(default=[], description="ids of the records, sorted")
    counts: dict[str, Any] = Field(default={}, description="the stage's summary: every input row once")


class TrainedSession(Record):
    """A session that an adapter was trained on."""

    scenario_id: str
    content_hash: str = Field(description="of the scenario")
    archetype: str
    trajectory_id: str


class AdapterIdentity(Record):
    """What an adapter belongs to and has seen: `sekft.json` in its directory."""

    model_config = ConfigDict(extra="ignore")  # every adapter since the first is read

    base: str = Field(description="--base of the training")
    base_hash: str | None = Field(default=None, description="fingerprint of the base")
    flags: dict[str, Any] = Field(default={}, description="flags of the training; a list where averaged ones differ")
    git_commit: str | None = None
    data_hash: str | list[str] | None = Field(default=None, description="SHA-256 of the training examples")
    averaged: list[str] | None = Field(default=None, description="hashes of the adapters that this is the mean of")
    converted: str | None = Field(default=None, description="hash of the adapter that merge.py or gguf_adapter.py took")
    trained_on: list[TrainedSession] = []


class Rate(Record):
    """A share of episodes. Undefined is not zero: `rate` is null where n is 0."""

    model_config = ConfigDict(extra="ignore")

    successes: int
    n: int
    rate: float | None
    interval: tuple[float, float] | None = Field(description="95 % Wilson score interval")
    rate_voided_as_failures: float | None = Field(default=None, description="the rate with voided episodes as failures")


class Rated(Record):
    """What holds the rates. Reports that name them without `_rate` are read too."""

    @model_validator(mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        old = ("operate", "terminate", "verified", "clean")
        if not isinstance(value, dict):
            return value
        return {f"{key}_rate" if key in old else key: one for key, one in value.items()}


class EventRates(Rated):
    """The rates of an eval."""

    operate_rate: Rate = Field(description="at least one command before the terminal, and no turn that is prose")
    discover_rate: Rate | None = Field(
        default=None, description="every directive was shown to the operator; null in reports from before this rate"
    )
    terminate_rate: Rate = Field(description="ended with exit or panic")
    verified_rate: Rate = Field(description="the checker passed on the final state")
    clean_rate: Rate = Field(description="correct terminal AND verified AND command-only")


class BehaviourRates(Record):
    """What else episodes show."""

    loop: Rate = Field(description="cut off by a limit while repeating at most two commands")
    open_heredoc: Rate = Field(description="a command opened a heredoc that it never closed")
    panic_precision: Rate = Field(description="of the episodes that ended with panic, those of blocked scenarios")
    panic_recall: Rate = Field(description="of the episodes of blocked scenarios, those that ended with panic")


class SubjectReport(Record):
    """The rates of one subject: base, clean_up or adapter."""

    model_config = ConfigDict(extra="ignore")

    rates: EventRates
    behaviour: BehaviourRates
    per_axis: dict[str, dict[str, EventRates]] = Field(description="axis -> value -> rates")
    outcomes: dict[str, int] = Field(default={}, description="outcome -> episodes")
    voided: int = Field(description="episodes that the sandbox or the operator's endpoint broke; no rate counts them")
    checker_failed: int = 0
    reasons: dict[str, int] = Field(default={}, description="why episodes were not kept -> episodes")


class Difference(Record):
    """A paired difference of a rate, after minus before, on the same scenarios."""

    difference: float
    interval: tuple[float, float] = Field(description="95 % percentile bootstrap over scenarios")
    only_after: int = Field(description="scenarios with the event after and not before")
    only_before: int


class PairedDifferences(Rated):
    """The differences of two subjects; null where no scenario has both."""

    n: int
    operate_rate: Difference | None
    discover_rate: Difference | None = None
    terminate_rate: Difference | None
    verified_rate: Difference | None
    clean_rate: Difference | None


class EvalReport(Record):
    """What an eval found: `report.json` in its directory."""

    model_config = ConfigDict(extra="ignore")  # every report since the first is read

    stage: Literal["eval"] = "eval"
    base: str | None = None
    adapter: str | None
    scenarios: str | None = Field(default=None, description="the directory of held-out scenarios")
    split_by: str | None = Field(description="archetype, scenario, or null for a directory that split.py did not write")
    seed: int | None = None
    n: int | None = Field(default=None, description="scenarios that were evaluated")
    subjects: dict[Subject, SubjectReport] = Field(min_length=1)
    paired: dict[str, PairedDifferences] = Field(description="`adapter - base` and so on")
    transcripts: dict[str, dict[str, int | float]] | None = Field(default=None, description="--against: what differs")


def canonical(value: Any) -> bytes:
    """Sorted, compact JSON bytes: the form that hashes are taken of."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def sha256(content: bytes) -> str:
    """The hex SHA-256 of `content`."""
    return hashlib.sha256(content).hexdigest()


RECORDS: tuple[type[Record], ...] = (Scenario, Trajectory, Manifest, AdapterIdentity, EvalReport)


def main(*, out: Path) -> int:
    """Write the JSON Schemas to `out`."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for kind in RECORDS:
            text = json.dumps(kind.model_json_schema(), sort_keys=True, ensure_ascii=False, indent=2)
            (out / f"{kind.__name__.lower()}.schema.json").write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        parser().error(f"{error.filename}: cannot be written ({error.strerror}); name another --out")
    print(json.dumps({"out": str(out), "schemas": len(RECORDS), "schema_version": SCHEMA_VERSION}))
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
        usage=argparse.SUPPRESS,  # a mistake is one line
    )  # fmt: skip
    parser.add_argument("--out", type=Path, required=True, help="directory for the exported JSON Schemas")
    return parser


if __name__ == "__main__":
    sys.exit(main(**vars(parser().parse_args())))
