"""Hold the messages that agents exchange with a model, and say when two of them are the same.

    same_message(ChatMessage("assistant", "Done. "), ChatMessage("assistant", "Done."))     # True

Clients change what they replay: they reorder the arguments of a call, leave out reasoning, trim white space and write
call ids of their own. None of that makes another message. `ids_by_place` gives calls and results ids that depend only
on where they stand, so that the client's ids never decide anything.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from records.base import canonical, sha256

Role = Literal["system", "user", "assistant", "tool"]
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

    The order of arguments, white space at the end (of an assistant turn also at its start) and call ids do not count.
    Reasoning may be missing in either; where both have some, it must be the same.
    """
    return key(replace(a, tool_call_id=None)) == key(replace(b, tool_call_id=None)) and same_reasoning(a, b)


def same_reasoning(a: ChatMessage, b: ChatMessage) -> bool:
    """True where one of the messages has no reasoning, or both have the same."""
    return not a.reasoning.strip() or not b.reasoning.strip() or a.reasoning.strip() == b.reasoning.strip()


def key(message: ChatMessage) -> str:
    """A SHA-256 that is equal for messages that are the same; of ids only `tool_call_id` counts."""
    content = message.content.strip() if message.role == "assistant" else message.content.rstrip()
    calls = [[call.name, call.raw.strip() if call.arguments is None else call.arguments] for call in message.tool_calls]
    return sha256(canonical([message.role, content, calls, message.tool_call_id, message.is_error]))


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
