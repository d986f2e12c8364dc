"""Read sessions one at a time, from trajectory directories or from foreign archives, in one common shape.

    for row in read_rows([Path("trajectories"), Path("archive.jsonl")]):
        row.messages        # OpenAI chat messages

A directory holds trajectories of this project. A file is a foreign archive: one JSON array of rows, or JSON Lines.
Memory holds one row at a time. Bad data raises BadInputError with file, row and field.
"""

import dataclasses
import json
import pickle
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, Self

import ijson
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
    model_validator,
)

from pipeline.files import read_record, record_paths
from pipeline.hidden import replace_surrogates
from schema import VOIDED, BadInputError, Trajectory, canonical, sha256

ChatTurn = dict[str, Any]  # of an OpenAI chat: role, content, tool_calls, tool_call_id, name
SHELL_BLOCK = re.compile(r"^```(?:\w*sh\w*|console)?[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)  # typed commands
MAX_NESTING = 100  # of objects and arrays in one another: what is far deeper, Python can neither read nor write


def plain_json(value: Any) -> Any:
    """A value that JSON text of at most MAX_NESTING levels can hold, well formed. Raises ValueError otherwise."""
    if nesting(value) > MAX_NESTING:
        raise ValueError(f"nested deeper than {MAX_NESTING} levels")
    return json.loads(replace_surrogates(json.dumps(value, ensure_ascii=False, allow_nan=False)))


Text = Annotated[StrictStr, AfterValidator(replace_surrogates)]


class ForeignToolFunction(BaseModel):
    """The function of a tool's schema. Other fields are kept."""

    model_config = ConfigDict(extra="allow")

    name: Annotated[StrictStr, Field(min_length=1)]
    description: StrictStr | None = None
    parameters: dict[str, Any] | None = None


class ForeignTool(BaseModel):
    """A tool's schema as OpenAI writes it; one with `name` and `input_schema`, as Anthropic does, is turned into it."""

    model_config = ConfigDict(extra="allow")

    type: Literal["function"]
    function: ForeignToolFunction

    @model_validator(mode="before")
    @classmethod
    def _as_openai(cls, value: Any) -> Any:
        value = plain_json(value)
        if not isinstance(value, dict) or "function" in value or "input_schema" not in value:
            return value
        function = {key: value[key] for key in ("name", "description") if key in value}
        return {"type": "function", "function": {**function, "parameters": value["input_schema"]}}


class ForeignFunction(BaseModel):
    """The function of a call."""

    name: Annotated[StrictStr, Field(min_length=1)]
    arguments: StrictStr | dict[str, Any]

    def arguments_text(self) -> str:
        """The arguments as JSON text: as recorded, where that is text and well formed."""
        given = self.arguments
        try:
            value = json.loads(given) if isinstance(given, str) else given
            text = json.dumps(value, ensure_ascii=False)  # which also shows a lone surrogate that was escaped
        except (ValueError, RecursionError):
            return replace_surrogates(given) if isinstance(given, str) else "cannot be written as JSON text"
        mended = replace_surrogates(text)
        return given if isinstance(given, str) and mended == text else mended


class ForeignCall(BaseModel):
    """A tool call."""

    id: Text
    type: Literal["function"] = "function"
    function: ForeignFunction

    def message_part(self) -> dict[str, Any]:
        """The call with its arguments as JSON text."""
        function = {"name": self.function.name, "arguments": self.function.arguments_text()}
        return {"id": self.id, "type": self.type, "function": function}


class ForeignMessage(BaseModel):
    """A turn."""

    role: Literal["system", "user", "assistant", "tool"]
    content: Text | None = None
    tool_calls: list[ForeignCall] | None = None
    tool_call_id: Text | None = None
    name: Text | None = None

    @model_validator(mode="after")
    def _role_fits(self) -> Self:
        if self.tool_calls and self.role != "assistant":
            raise ValueError(f"a {self.role} turn has tool_calls; only an assistant turn may")
        return self

    def as_message(self) -> ChatTurn:
        """The turn without its absent fields."""
        message: ChatTurn = {"role": self.role, "content": self.content}
        message |= {"tool_calls": [call.message_part() for call in self.tool_calls]} if self.tool_calls else {}
        message |= {"tool_call_id": self.tool_call_id} if self.tool_call_id is not None else {}
        return message | ({"name": self.name} if self.name is not None else {})


class ForeignRow(BaseModel):
    """One run of a foreign agent. Fields that are not named here are left out."""

    model_config = ConfigDict(extra="ignore")

    instance_id: Annotated[StrictStr, Field(min_length=1)]
    model: Annotated[StrictStr, Field(min_length=1)]
    tier: Literal["cheap", "frontier"]
    resolved: StrictBool
    messages: list[ForeignMessage]
    tools: list[ForeignTool] | None = None
    model_patch: Text | None = None
    sample: StrictInt = 0


@dataclass(frozen=True)
class Row:
    """One recorded session.

    Attributes:
        name: names the row and no other: `trajectories/<id>`, or `archive.json:12` (rows count from 1).
        instance: id of the task: the scenario, or the foreign instance_id.
        content_hash: of the scenario; for a foreign row, of what precedes its first assistant turn.
        archetype: of the scenario; None for a foreign row.
        resolved: kept, or resolved.
        policy: who acted, where preference pairs may be made of it: equal policies are on-policy to one another.
        unusable: why nothing can be trained on it, or None.
        patch: what a foreign run submitted.
        trajectory: of a row that is ours.
        tokens: its length, once that was counted.
        warnings: what the monitor only warns of.
    """

    name: str
    instance: str
    content_hash: str
    archetype: str | None
    model: str
    tier: str
    resolved: bool
    messages: list[ChatTurn]
    policy: tuple[str, ...] | None = None
    tools: list[dict[str, Any]] | None = None
    patch: str | None = None
    unusable: str | None = None
    trajectory: Trajectory | None = None
    tokens: int | None = None
    truncated: bool = False
    warnings: tuple[str, ...] = ()

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the messages."""
        return sha256(canonical(self.messages))

    def spooled(self) -> bytes:
        """The row as bytes, without its trajectory."""
        return pickle.dumps(self.replaced(trajectory=None))

    @staticmethod
    def from_spool(content: bytes) -> "Row":
        """The row that `spooled` gave: only for what this process has written itself."""
        row = pickle.loads(content)
        assert isinstance(row, Row)
        return row

    def replaced(self, **changes: Any) -> "Row":
        """The row with other values for some fields."""
        return dataclasses.replace(self, **changes)


def opening_length(messages: list[ChatTurn]) -> int:
    """How many messages precede the first assistant turn."""
    return next((at for at, message in enumerate(messages) if message["role"] == "assistant"), len(messages))


def opening_hash(messages: list[ChatTurn]) -> str:
    """SHA-256 of the messages before the first assistant turn: what the task was."""
    return sha256(canonical(messages[: opening_length(messages)]))


def read_rows(archives: Iterable[Path], *, partial: bool = False) -> Iterator[Row]:
    """Every row of every archive, in order. Raises BadInputError."""
    for archive in archives:
        if archive.is_dir():
            files: dict[str, Path] = {}
            for path in record_paths(archive, partial=partial):
                trajectory = read_record(path, Trajectory)
                if (first := files.setdefault(trajectory.id, path)) != path:
                    raise BadInputError(f"{path}: id {trajectory.id!r} is that of {first.name}; drop one")
                yield own_row(archive, trajectory)
        else:
            for number, value in enumerate(read_values(archive), 1):
                yield foreign_row(archive, number, value)


def own_row(archive: Path, trajectory: Trajectory) -> Row:
    """A trajectory of a directory as a row."""
    operator = trajectory.operator
    policy = (operator.kind, operator.model or "", operator.adapter_hash or "")
    unusable = None
    if trajectory.outcome in VOIDED:
        unusable = f"voided: {trajectory.outcome}"
    elif trajectory.outcome == "checker_failed":
        unusable = "checker_failed: nobody knows whether the work was done"
    elif not trajectory.commands:
        unusable = "no assistant turn"
    return Row(
        name=f"{archive}/{trajectory.id}",
        instance=trajectory.scenario_id,
        content_hash=trajectory.scenario_hash,
        archetype=trajectory.axes["task"],
        model=operator.model or operator.kind,
        tier=operator.kind,
        resolved=trajectory.kept,
        messages=[message.model_dump() for message in trajectory.messages],
        policy=policy if operator.kind in ("local", "endpoint") else None,
        unusable=unusable,
        trajectory=trajectory,
    )


def foreign_row(archive: Path, number: int, value: Any) -> Row:
    """Row `number` of a foreign archive. Raises BadInputError with row and field."""
    try:
        found = ForeignRow.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "row"
        raise BadInputError(f"{archive}: row {number}: {field}: {first['msg']}; correct the row") from error
    messages = [message.as_message() for message in found.messages]
    return Row(
        name=f"{archive}:{number}",
        instance=found.instance_id,
        content_hash=opening_hash(messages),
        archetype=None,
        model=found.model,
        tier=found.tier,
        resolved=found.resolved,
        messages=messages,
        policy=(found.model,) if found.tier == "cheap" else None,
        tools=None if found.tools is None else [tool.model_dump(exclude_unset=True) for tool in found.tools],
        patch=found.model_patch,
        unusable=fault_of(messages),
    )


def fault_of(messages: list[ChatTurn]) -> str | None:
    """Why nothing can be trained on these messages; None where something can.

    Each call has exactly one result, before the next turn. Only the calls of a session's last message may have none:
    many agents end with a call such as `submit`.
    """
    if not any(message["role"] == "assistant" for message in messages):
        return "no assistant turn"
    waiting: set[str] = set()  # calls without a result
    answered: set[str] = set()  # calls of the same turn that have one
    for at, message in enumerate(messages, 1):
        if message["role"] == "tool":
            id_ = message.get("tool_call_id")
            if id_ in answered:
                return f"message {at}: a second result of one call"
            if id_ not in waiting:
                return f"message {at}: a tool result without its call"
            waiting.remove(id_)
            answered.add(id_)
        elif waiting:
            return f"message {at}: a call before it has no result"
        elif message["role"] == "assistant":
            calls = message.get("tool_calls", ())
            if fault := _turn_fault(message, calls):
                return f"message {at}: {fault}"
            waiting, answered = {call["id"] for call in calls}, set()
    return f"message {len(messages)}: a call before it has no result" if waiting and answered else None


def _turn_fault(message: ChatTurn, calls: Sequence[dict[str, Any]]) -> str | None:
    """What is wrong with an assistant turn by itself."""
    if not (message["content"] or "").strip() and not calls:
        return "an assistant turn without text and calls"
    if len({call["id"] for call in calls}) < len(calls):
        return "two calls have one id"
    broken = (call["function"]["name"] for call in calls if not is_json_object(call["function"]["arguments"]))
    return next((f"arguments of {name} are no JSON object" for name in broken), None)


def is_json_object(text: str) -> bool:
    """True for the JSON text of an object of finite numbers that is nested at most MAX_NESTING levels deep."""
    try:
        value = json.loads(text)
        plain_json(value)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


def nesting(value: Any) -> int:
    """How many objects and arrays lie in one another at most."""
    depth, level = 0, [value]
    while level := [one for one in level if isinstance(one, dict | list)]:
        depth += 1
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return depth


def read_values(archive: Path) -> Iterator[Any]:
    """The elements of a JSON array, or the values of JSON Lines, one at a time. Raises BadInputError."""
    try:
        with archive.open("rb") as stream:
            first = stream.read(1)
            while first.isspace():
                first = stream.read(1)
            stream.seek(0)
            if first == b"[":
                yield from _array(archive, stream)
            elif first == b"{":
                yield from _lines(archive, stream)
            else:
                holds = f"starts with {first!r}" if first else "is empty"
                raise BadInputError(f"{archive}: {holds}; name a JSON array or JSON Lines")
    except OSError as error:
        raise BadInputError(f"{archive}: cannot be read ({error.strerror}); check the path") from error


def _elements(stream: BinaryIO) -> Iterator[Any]:
    """The elements of a JSON array, one in memory at a time.

    `ijson.items` holds the path of every open level, which takes memory in the square of the depth.
    """
    builder, depth = ijson.ObjectBuilder(), 0
    for event, value in ijson.basic_parse(stream, use_float=True):
        depth += event.startswith("start") - event.startswith("end")
        if depth == 0 or (depth == 1 and event == "start_array"):  # the array itself
            continue
        builder.event(event, value)
        if depth == 1:
            yield builder.value
            builder = ijson.ObjectBuilder()


def _array(archive: Path, stream: BinaryIO) -> Iterator[Any]:
    number = 0
    try:
        for value in _elements(stream):
            number += 1
            yield value
    except (ijson.JSONError, UnicodeDecodeError) as error:
        words = str(error).splitlines()[0]
        raise BadInputError(f"{archive}: row {number + 1}: not JSON ({words}); restore the file") from error


def _lines(archive: Path, stream: BinaryIO) -> Iterator[Any]:
    for number, line in enumerate((line for line in stream if line.strip()), 1):
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            hint = "one JSON object a line, or one array around all"
            raise BadInputError(f"{archive}: row {number}: not JSON ({error}); write {hint}") from error
