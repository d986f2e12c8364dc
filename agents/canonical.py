"""Hold the messages that agents exchange with a model, and say when two of them are the same.

    same_message(ChatMessage("assistant", "Done. "), ChatMessage("assistant", "Done."))     # True

Clients change what they replay: they reorder the arguments of a call, leave out reasoning, trim white space, write 1
for 1.0 and call ids of their own. None of that makes another message. `ids_by_place` gives calls and results ids that
depend only on where they stand, so that the client's ids never decide anything.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pipeline.hidden import replace_surrogates
from schema import BadInputError, canonical, sha256

Role = Literal["system", "user", "assistant", "tool"]
EXACT_INTEGERS = 2**53  # JavaScript rounds integers beyond this
LARGEST = 2**1023  # and this is less than its largest number
NESTING = 100
CALL_ID_LENGTH = 9  # Mistral's templates accept ids of nine letters and digits, and no others


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool. `arguments` is None where the model wrote no JSON object; `raw` then has its text."""

    id: str
    name: str
    arguments: dict[str, Any] | None
    raw: str = ""


@dataclass(frozen=True)
class ChatMessage:
    """One message of a conversation. A `tool` message is the result of the call that `tool_call_id` names."""

    role: Role
    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    is_error: bool = False


@dataclass(frozen=True)
class ToolSpec:
    """A tool that the client offers; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: dict[str, Any]


def same_message(a: ChatMessage, b: ChatMessage) -> bool:
    """True where a client that replays `a` as `b` changed nothing that counts.

    The order of arguments, white space at the end (of an assistant turn also at its start), call ids and what
    JavaScript does to a number do not count.
    Reasoning may be missing in either; where both have some, it must be the same.
    """
    return key(replace(a, tool_call_id=None)) == key(replace(b, tool_call_id=None)) and same_reasoning(a, b)


def same_reasoning(a: ChatMessage, b: ChatMessage) -> bool:
    """True where one of the messages has no reasoning, or both have the same."""
    return not a.reasoning.strip() or not b.reasoning.strip() or a.reasoning.strip() == b.reasoning.strip()


def key(message: ChatMessage) -> str:
    """A SHA-256 that is equal for messages that are the same; of ids only `tool_call_id` counts."""
    content = message.content.strip() if message.role == "assistant" else message.content.rstrip()
    calls = [
        [call.name, call.raw.strip() if call.arguments is None else _with_plain_numbers(call.arguments)]
        for call in message.tool_calls
    ]
    return sha256(canonical([message.role, content, calls, message.tool_call_id, message.is_error]))


def _with_plain_numbers(value: Any) -> Any:
    """The value with its numbers as a JavaScript client writes them: 1 for 1.0, large integers rounded."""
    if isinstance(value, dict):
        return {name: _with_plain_numbers(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_with_plain_numbers(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool) and EXACT_INTEGERS < abs(value) < LARGEST:
        return int(float(value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def well_formed(value: Any, depth: int = 0) -> Any:
    """The value with U+FFFD for each half of a character in its texts, which no tokenizer takes.

    JavaScript clients cut texts in the middle of a character, and JSON can carry the half that is left. Raises
    BadInputError where values are nested more than NESTING deep.
    """
    if depth > NESTING:
        raise BadInputError(f"messages: a value is nested more than {NESTING} deep; send a flatter one")
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, dict):
        return {well_formed(name): well_formed(one, depth + 1) for name, one in value.items()}
    return [well_formed(one, depth + 1) for one in value] if isinstance(value, list) else value


def well_formed_message(message: ChatMessage) -> ChatMessage:
    """The message with well-formed texts."""
    if not message.tool_calls and message.content.isascii() and message.reasoning.isascii():
        return message
    calls = tuple(
        ToolCall(*map(well_formed, (call.id, call.name, call.arguments, call.raw))) for call in message.tool_calls
    )
    content, reasoning = well_formed(message.content), well_formed(message.reasoning)
    return replace(message, content=content, reasoning=reasoning, tool_calls=calls)


def well_formed_tool(tool: ToolSpec) -> ToolSpec:
    """The tool with well-formed texts."""
    return ToolSpec(*map(well_formed, (tool.name, tool.description, tool.parameters)))


def tools_key(tools: Iterable[ToolSpec]) -> str:
    """A SHA-256 over the offered tools in their order."""
    return sha256(canonical([[tool.name, tool.description, tool.parameters] for tool in tools]))


def call_id(*parts: object) -> str:
    """Nine letters and digits that depend on `parts` alone."""
    return hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()[:CALL_ID_LENGTH]


def ids_by_place(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The messages with ids by place: of a call, by message and position; of a result, the id of its call.

    A result belongs to the call of its id in the last assistant message. Where none has that id, it belongs to the
    first call that has no result yet.
    """
    found: list[ChatMessage] = []
    waiting: dict[str, list[str]] = {}
    for index, message in enumerate(messages):
        if message.role == "assistant":
            waiting = {}
            placed = [replace(call, id=call_id(index, position)) for position, call in enumerate(message.tool_calls)]
            for call, named in zip(message.tool_calls, placed, strict=True):
                waiting.setdefault(call.id, []).append(named.id)
            message = replace(message, tool_calls=tuple(placed)) if placed else message
        elif message.role == "tool":
            message = replace(message, tool_call_id=_taken(waiting, message.tool_call_id))
        found.append(message)
    return found


def _taken(waiting: dict[str, list[str]], given: str | None) -> str | None:
    """The id by place of a result's call, taken out of those that wait; None where no call waits."""
    known = given if given is not None and waiting.get(given) else next((one for one in waiting if waiting[one]), None)
    return waiting[known].pop(0) if known is not None else None
