"""Define what all protocols of agents have in common: a call, its answer, and why a call can be refused.

Each protocol has a file (openai_chat.py, openai_responses.py, anthropic_messages.py) with one object that reads a body
into an AgentCall and writes an Answer as that protocol does. agents/app.py knows nothing else of them.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from agents.canonical import ChatMessage, ToolSpec
from agents.tools import decoded

Cause = Literal["invalid", "context", "secret", "unknown", "too_large", "limit", "busy", "failed"]
STATUS: dict[Cause, int] = {
    "invalid": 400, "context": 400, "secret": 401, "unknown": 404, "too_large": 413, "limit": 429, "busy": 429,
    "failed": 500,
}  # fmt: skip
Why = Literal["stop", "stop_text", "length", "context", "tool"]


class CallRefusedError(Exception):
    """A call that is not answered: the cause, and a sentence for the client. `parameter` is the field at fault."""

    def __init__(self, cause: Cause, message: str, parameter: str | None = None) -> None:
        super().__init__(message)
        self.cause, self.message, self.parameter = cause, message, parameter


def unforeseen(error: Exception) -> CallRefusedError:
    """What a client is told of an error that nobody foresaw."""
    return CallRefusedError("failed", f"the server failed ({type(error).__name__}); its log says where")


class ContextOverflowError(CallRefusedError):
    """The call has more tokens than the model can read; each protocol says this in words of its own."""

    def __init__(self, tokens: int, limit: int) -> None:
        super().__init__("context", f"the messages have {tokens} tokens, the model reads fewer than {limit}")
        self.tokens, self.limit = tokens, limit


@dataclass(frozen=True)
class AgentCall:
    """What a client asks for, in whatever protocol. `own_sampling` names parameters that only the server may choose."""

    messages: list[ChatMessage]
    tools: list[ToolSpec]
    stream: bool = False
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    own_sampling: tuple[str, ...] = ()
    one_call: bool = False  # of a reply's calls, the client wants the first alone
    stream_usage: bool = True
    echo: dict[str, Any] | None = None  # fields of the call that the protocol's answer repeats


@dataclass(frozen=True)
class Answer:
    """A reply to a call. `id` is of letters and digits; each protocol puts its own prefix before it."""

    id: str
    created: int
    model: str
    message: ChatMessage
    why: Why
    input_tokens: int
    output_tokens: int
    stop_text: str | None = None


class Dialect(Protocol):
    """One protocol."""

    keepalive: bytes
    overflow_in_stream: bool  # a streamed call that is too long gets its error as an event, with status 200

    def read(self, body: dict[str, Any]) -> AgentCall:
        """The call in a body. Raises CallRefusedError where it is none."""

    def write(self, call: AgentCall, answer: Answer) -> dict[str, Any]:
        """The answer as one JSON body."""

    def opening(self, call: AgentCall, answer_id: str, created: int, model: str, input_tokens: int) -> Iterator[bytes]:
        """The events that are sent before anything is sampled."""

    def events(self, call: AgentCall, answer: Answer) -> Iterator[bytes]:
        """The events of the answer, after those of `opening`."""

    def error(self, refused: CallRefusedError) -> dict[str, Any]:
        """The protocol's envelope of an error."""

    def error_events(
        self, call: AgentCall, answer_id: str, created: int, model: str, refused: CallRefusedError
    ) -> Iterator[bytes]:
        """How the protocol says an error after its events have begun."""


def dumps(value: Any) -> str:
    """JSON in one line."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="replace").decode()  # half a character, as JavaScript clients cut them, has no bytes


def text_in(content: Any, where: str, kinds: tuple[str, ...]) -> str:
    """The text of a content that is a string or a list of parts of the given types, joined by newlines."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise CallRefusedError("invalid", f"{where}: must be a string or a list of parts", where)
    return "\n".join(part_text(part, where, kinds) for part in content)


def part_text(part: Any, where: str, kinds: tuple[str, ...]) -> str:
    """The text of one part. Raises CallRefusedError for images, files and everything else that is no text."""
    kind = part.get("type") if isinstance(part, dict) else type(part).__name__
    if kind not in kinds:
        raise CallRefusedError("invalid", f"{where}: {kind!r} parts cannot be read; this model reads text alone", where)
    found = part.get("refusal" if kind == "refusal" else "text")
    if not isinstance(found, str):
        raise CallRefusedError("invalid", f"{where}: a part of type {kind!r} needs its text", where)
    return found


def field_of(body: Any, name: str, kind: type | tuple[type, ...], where: str = "", *, required: bool = False) -> Any:
    """A field of a body, None where it is missing or null. Raises CallRefusedError for a wrong type."""
    place = f"{where}.{name}" if where else name
    if not isinstance(body, dict):
        raise CallRefusedError("invalid", f"{where or 'body'}: must be a JSON object", where or None)
    value = body.get(name)
    if value is None and not required:
        return None
    good = isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool)
    if not good:
        what = "is missing" if value is None else f"has the wrong type ({type(value).__name__})"
        raise CallRefusedError("invalid", f"{place}: {what}", place)
    return value


def limit_in(body: dict[str, Any], *names: str) -> int | None:
    """The limit of new tokens: the first of the named fields that is there."""
    for name in names:
        value = field_of(body, name, int)
        if value is not None:
            if value < 1:
                raise CallRefusedError("invalid", f"{name}: must be at least 1", name)
            return int(value)
    return None


def stops_in(body: dict[str, Any], name: str) -> tuple[str, ...]:
    """The texts at which a reply is to stop."""
    value = field_of(body, name, (str, list))
    found = (value,) if isinstance(value, str) else tuple(value or ())
    if not all(isinstance(one, str) and one for one in found):
        raise CallRefusedError("invalid", f"{name}: must be texts that are not empty", name)
    return found


def temperature_in(body: dict[str, Any]) -> float | None:
    """The temperature that is asked for."""
    value = field_of(body, "temperature", (int, float))
    if value is not None and not 0 <= value <= 2:
        raise CallRefusedError("invalid", "temperature: must be between 0 and 2", "temperature")
    return None if value is None else float(value)


def arguments_in(text: str) -> tuple[dict[str, Any] | None, str]:
    """The arguments of a call that a client replays as JSON text; None and the text where that is no object."""
    found = decoded(text) if text.strip() else {}
    return (found, "") if isinstance(found, dict) else (None, text)
