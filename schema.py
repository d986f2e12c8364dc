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
import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from records.base import (
    VOIDED as VOIDED,
    BadInputError as BadInputError,
    OperatorInfo as OperatorInfo,
    Outcome as Outcome,
    Record as Record,
    Subject as Subject,
    TrainedSession as TrainedSession,
    Usage as Usage,
    WorldError as WorldError,
    canonical as canonical,
    sha256 as sha256,
)
from records.outcomes import (
    AdapterCandidate as AdapterCandidate,
    BehaviourRates as BehaviourRates,
    CascadeOutcome as CascadeOutcome,
    CascadeReport as CascadeReport,
    CascadeSummary as CascadeSummary,
    Difference as Difference,
    EvalReport as EvalReport,
    EventRates as EventRates,
    ExportedRow as ExportedRow,
    ExportReport as ExportReport,
    LiveEpisode as LiveEpisode,
    LiveRun as LiveRun,
    PairedDifferences as PairedDifferences,
    Rate as Rate,
    Rated as Rated,
    SelectedAdapter as SelectedAdapter,
    SidecarLine as SidecarLine,
    SubjectReport as SubjectReport,
)
from taxonomy import AXES, SHIPPED, Archetype, Combination, Taxonomy, Terminal, balance, legal

SCHEMA_VERSION: Literal[1] = 1
HOME = "/home/operator"  # the world: the only tree that fixtures may lie in and that a checker looks at
PROVIDER_DIRECTORY = "/usr/local/bin"
MAX_FIXTURES = 200
MAX_FIXTURE_BYTES = 256 * 1024
MAX_WORLD_BYTES = 2 * 1024 * 1024
MAX_TEXT_CHARS = 20_000

OWN_NAME = r"^[a-z][a-z0-9_]{0,39}$"  # of a value that a taxonomy adds: it becomes part of ids and file names

ShippedChannel = Literal["motd", "banner", "env", "file", "mail"]


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

    channel: str = Field(description="value of the announcement axis: motd, banner, env, file, mail or one of your own")
    like: ShippedChannel | None = Field(default=None, description="a channel of your own: how the text is shown")
    text: str = Field(min_length=1, max_length=2000)
    place: str | None = Field(default=None, description="name of the variable (env) or path (file, mail)")

    @property
    def shown_as(self) -> str:
        """The shipped channel by whose way the text reaches the operator."""
        return self.like or self.channel

    @model_validator(mode="after")
    def _place_fits_channel(self) -> Self:
        if self.like is not None and self.channel in AXES["announcement"]:
            raise ValueError(f"channel {self.channel} is shipped and takes no like")
        if self.shown_as not in AXES["announcement"]:
            raise ValueError(f"unknown announcement channel {self.channel!r}; known: {AXES['announcement']}")
        shown = self.shown_as in ("motd", "banner")
        if shown != (self.place is None):
            raise ValueError(f"channel {self.channel} {'takes no' if shown else 'needs a'} place")
        if self.shown_as == "env" and not re.fullmatch(r"[A-Z][A-Z0-9_]*", self.place or ""):
            raise ValueError(f"announcement.place {self.place!r} is not an upper-case variable name")
        return self


class OwnValue(Record):
    """What every value of a taxonomy of your own has."""

    name: str = Field(pattern=OWN_NAME, description="the value: small letters, digits, underscores; no shipped one")
    summary: str = Field(min_length=1, max_length=400, description="one line; the teacher is told it word for word")

    @field_validator("summary")
    @classmethod
    def _is_one_plain_line(cls, summary: str) -> str:
        if not summary.isprintable():
            raise ValueError("holds a line break or a character that cannot be printed")
        return summary


class OwnArchetype(OwnValue):
    """A kind of operator work."""

    family: str = Field(pattern=OWN_NAME, description="groups archetypes; a shipped family may be named")
    terminal: Terminal = Field(default="exit", description="exit, or panic where the work cannot be done")


class OwnProvider(OwnValue):
    """A kind of provider. The summary says how the program is called, with P for its name."""

    doc_depths: list[Literal["usage", "help", "subhelp"]] = Field(min_length=1, max_length=3)
    like: Literal["subcommand", "flags", "numbered", "bulletin", "topics", "keyvalue", "piped"] | None = Field(
        default=None, description="the shipped kind whose form of call the gate asks for; null: any call of the program"
    )


class OwnChannel(OwnValue):
    """A channel of announcements."""

    like: ShippedChannel = Field(description="the shipped channel by whose way the text reaches the operator")


class OwnTaxonomy(Record):
    """Values that a user adds to the shipped axes.

    The file of `generate.py --taxonomy` holds all of them. Each scenario and trajectory holds those that it uses.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$", description="what the taxonomy is called")
    sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$", description="of the file; it is left out of the file")
    archetypes: list[OwnArchetype] = Field(default=[], max_length=500)
    providers: list[OwnProvider] = Field(default=[], max_length=50)
    announcements: list[OwnChannel] = Field(default=[], max_length=50)

    @model_validator(mode="after")
    def _names_are_new(self) -> Self:
        for axis, field in (("task", "archetypes"), ("provider", "providers"), ("announcement", "announcements")):
            names = [value.name for value in getattr(self, field)]
            for name in names:
                if name in AXES[axis]:
                    raise ValueError(f"{field}: {name!r} is a shipped value; choose another name")
                if names.count(name) > 1:
                    raise ValueError(f"{field}: {name!r} occurs twice; choose another name")
        return self

    def joined(self) -> Taxonomy:
        """The shipped values and these."""
        archetypes = {one.name: Archetype(**one.model_dump()) for one in self.archetypes}
        providers = {one.name: tuple(one.doc_depths) for one in self.providers}
        return Taxonomy(
            {**SHIPPED.archetypes, **archetypes}, {**SHIPPED.providers, **providers},
            (*SHIPPED.announcements, *(one.name for one in self.announcements)),
        )  # fmt: skip

    def used_by(self, combination: Combination) -> "OwnTaxonomy":
        """The part of it that a scenario of `combination` uses."""
        return self.model_copy(update={
            "archetypes": [one for one in self.archetypes if one.name == combination.task],
            "providers": [one for one in self.providers if one.name == combination.provider],
            "announcements": [one for one in self.announcements if one.name == combination.announcement],
        })  # fmt: skip

    def provider(self, name: str) -> OwnProvider | None:
        """A provider kind by its name; None for one that is not added here."""
        return next((one for one in self.providers if one.name == name), None)

    def channel(self, name: str) -> OwnChannel | None:
        """An announcement channel by its name; None for one that is not added here."""
        return next((one for one in self.announcements if one.name == name), None)


def known_values(own: OwnTaxonomy | None) -> Taxonomy:
    """The shipped values, and those of `own` where there is one."""
    return own.joined() if own else SHIPPED


class Provenance(Record):
    """Who wrote a scenario, and what the gate found."""

    author: Literal["teacher", "template", "hand"]
    model: str | None = Field(default=None, description="the teacher's model")
    seed: int | None = None
    request_hash: str = Field(default="", description="SHA-256 of what the author was asked")
    gates: dict[str, Any] = Field(default={}, description="what each gate checked, and the rounds of repair")


class Scenario(Record):
    """One world to act in."""

    schema_version: Literal[1] = SCHEMA_VERSION
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,99}$", description="name of the file without .json")
    content_hash: str = Field(
        default="", description="SHA-256 of all but id, provenance, blocked_attempt, taxonomy and this field"
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
    taxonomy: OwnTaxonomy | None = Field(
        default=None, description="the taxonomy of your own that it is of, with the values it uses; absent: the shipped"
    )
    provenance: Provenance

    @model_validator(mode="after")
    def _whole(self) -> Self:
        known = known_values(self.taxonomy)
        if not legal(self.combination(), known):
            raise ValueError(f"the combination {self.axes()} is not legal; known values: {known.axes()}")
        if self.announcement.channel != self.announcement_channel:
            raise ValueError("announcement.channel differs from the announcement axis")
        own = self.taxonomy.channel(self.announcement_channel) if self.taxonomy else None
        if own is not None and own.like != self.announcement.like:
            raise ValueError(f"announcement.like must be {own.like!r}, as its taxonomy says of channel {own.name!r}")
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
        apart = {"id", "content_hash", "provenance", "blocked_attempt", "taxonomy"}
        content = self.model_dump(mode="json", exclude=apart)
        if self.announcement.like is None:  # a shipped channel; the hash is older than the field
            del content["announcement"]["like"]
        return sha256(canonical(content))

    def world_fixtures(self) -> list[Fixture]:
        """The fixtures plus the announcement where its channel is a file or mail: what lies in HOME at login."""
        if self.announcement.shown_as in ("file", "mail"):
            assert self.announcement.place is not None
            return [*self.fixtures, Fixture(path=self.announcement.place, text=self.announcement.text + "\n")]
        return self.fixtures

    def environment(self) -> dict[str, str]:
        """Variables set at login: the announcement (env), or where the mail lies (mail)."""
        place = self.announcement.place
        if self.announcement.shown_as == "env" and place:
            return {place: self.announcement.text}
        return {"MAIL": place} if self.announcement.shown_as == "mail" and place else {}


class Message(Record):
    """One turn, ready to train on."""

    role: Literal["system", "user", "assistant"]
    content: str


class Step(Record):
    """A command and what came back."""

    command: str = Field(description="what the operator typed, verbatim")
    output: str = Field(description="what the operator saw: cut head + tail, undecodable bytes replaced")
    output_bytes: int = Field(description="bytes that were printed, before the cut")
    exit_code: int | None = Field(
        default=None,
        description="124 for a command that was killed at the time limit; null where an agent program does not tell it",
    )
    cwd: str = Field(description="working directory afterwards; empty where an agent program ran the command")
    duration_seconds: float = Field(description="0 where an agent program ran the command: not measured")
    timed_out: bool = Field(default=False, description="killed at the time limit")
    oom: bool = Field(default=False, description="the kernel killed a process for memory")
    open_heredoc: bool = Field(default=False, description="a heredoc was never closed")
    state_stale: bool = Field(default=False, description="the shell state was not saved: the one before is kept")


class Change(Record):
    """An entry below the home that an episode created or changed."""

    path: str = Field(description="absolute")
    type: Literal["file", "dir", "symlink", "other"]
    mode: int = Field(description="permission bits")
    size_bytes: int | None = Field(default=None, description="of a file")
    target: str | None = Field(default=None, description="what a symlink points at")


class Changes(Record):
    """How the home differs at the end of an episode from the fixtures; each list is sorted by path."""

    created: list[Change] = Field(default=[])
    changed: list[Change] = Field(default=[], description="other type, mode, content or target")
    removed: list[str] = Field(default=[])
    more: int = Field(default=0, description="entries beyond the limit of 200, which are not listed")


def axis_values(scenarios: Iterable[Scenario]) -> dict[str, set[str]]:
    """The values of each axis that scenarios can have: the shipped ones, and those of their own taxonomies."""
    known = {axis: set(values) for axis, values in SHIPPED.axes().items()}
    for own in {canonical(one.taxonomy.model_dump()): one.taxonomy for one in scenarios if one.taxonomy}.values():
        for axis, values in known_values(own).axes().items():
            known[axis].update(values)
    return known


def axis_balance(scenarios: Sequence[Scenario]) -> dict[str, float | None]:
    """The balance of each axis over `axis_values`; None where there is no scenario."""
    return {
        axis: balance((one.axes()[axis] for one in scenarios), len(values))
        for axis, values in axis_values(scenarios).items()
    }


class Segment(Record):
    """A run of tokens of one session. Each trained token was sampled after exactly the tokens before it here."""

    token_ids: list[int] = Field(description="what the model read and sampled")
    assistant_mask: list[int] = Field(description="1 for each sampled token that is trained here, 0 for the rest")
    log_probs: list[float | None] = Field(description="log-probability of each trained token; null for the rest")

    @model_validator(mode="after")
    def _lists_align(self) -> Self:
        if len({len(self.token_ids), len(self.assistant_mask), len(self.log_probs)}) != 1:
            raise ValueError("token_ids, assistant_mask and log_probs differ in length")
        return self


class AgentRun(Record):
    """What became of an agent program and its calls of the model."""

    exit_code: int | None = Field(default=None, description="of the program; null where it was stopped")
    seconds: float = Field(description="from its start to its end, or until it was stopped")
    output: str = Field(description="what it printed: cut head + tail")
    output_bytes: int
    counts: dict[str, int] = Field(description="calls, tokens and forks, as the endpoint counted them")


class Trajectory(Record):
    """A recorded episode with its labels."""

    schema_version: Literal[1] = SCHEMA_VERSION
    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$", description="<scenario_id>-s<sample>")
    scenario_id: str
    scenario_hash: str = Field(description="the scenario's content_hash")
    axes: dict[str, str] = Field(description="the scenario's value on each of the five axes")
    taxonomy: OwnTaxonomy | None = Field(default=None, description="the scenario's, where it has one")
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
    unusable_answer: bool = Field(
        default=False, description="the endpoint answered, with nothing that can be used; a replay has the next number"
    )
    kept: bool = Field(description="correct terminal AND verified AND command_only")
    reasons: list[str] = Field(default=[], description="why it is not kept")
    error: str | None = Field(default=None, description="message of the sandbox, operator or checker that failed")
    changes: Changes | None = Field(default=None, description="what the episode created, changed and removed")
    usage: Usage | None = Field(default=None, description="what the operator's calls took; null where it is not told")
    image_digest: str | None = Field(default=None, description="id of the sandbox's image")
    wrapper_hash: str | None = Field(default=None, description="SHA-256 of the step wrapper")
    transport: str | None = Field(default=None, description="how commands reached the shell")
    token_ids: list[int] | None = Field(default=None, description="local operators: the context, as read and sampled")
    assistant_mask: list[int] | None = Field(default=None, description="1 for each sampled token, 0 for the rest")
    log_probs: list[float | None] | None = Field(default=None, description="log-probability of each sampled token")
    segments: list[Segment] | None = Field(default=None, description="agent programs: all that was read and sampled")

    agent_run: AgentRun | None = Field(default=None, description="what became of an agent program")

    @property
    def commands(self) -> list[str]:
        """What the operator typed, turn by turn, the terminal included."""
        return [message.content for message in self.messages if message.role == "assistant"]

    def commands_without_step(self) -> list[str]:
        """What the operator typed of which `steps` does not tell: the terminal, and what no output was shown of."""
        left = self.commands
        for step in self.steps:
            if step.command in left:
                left.remove(step.command)
        return left

    @model_validator(mode="after")
    def _whole(self) -> Self:
        known = known_values(self.taxonomy).axes()
        if set(self.axes) != set(known) or any(self.axes[axis] not in known[axis] for axis in known):
            raise ValueError(f"axes {self.axes} are not one known value per axis; known: {known}")
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


class EarlierRun(Record):
    """A training run whose adapter another run began with."""

    adapter_hash: str = Field(description="SHA-256 of the weights that it ended with")
    flags: dict[str, Any] = Field(default={})
    git_commit: str | None = None
    data_hash: str | list[str] | None = None


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
    earlier: list[EarlierRun] = Field(default=[], description="the runs behind the start adapter, the first first")
    trained_on: list[TrainedSession] = Field(default=[], description="in this run and in every earlier one")


RECORDS: tuple[type[Record], ...] = (
    Scenario,
    Trajectory,
    Manifest,
    AdapterIdentity,
    EvalReport,
    ExportReport,
    SidecarLine,
    LiveRun,
    CascadeReport,
    SelectedAdapter,
)


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
