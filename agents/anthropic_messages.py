"""Speak Anthropic's Messages: POST /v1/messages, JSON and server-sent events."""

from collections.abc import Iterator
from typing import Any

from agents.canonical import ChatMessage, ToolCall, ToolSpec
from agents.exchange import (
    AgentCall,
    Answer,
    CallRefusedError,
    Cause,
    ContextOverflowError,
    dumps,
    field_of,
    limit_in,
    part_text,
    stops_in,
    temperature_in,
    text_in,
)
from agents.openai_chat import OWN_SAMPLING, asked_for, refuse

STOP_REASONS = {
    "stop": "end_turn", "stop_text": "stop_sequence", "length": "max_tokens",
    "context": "model_context_window_exceeded", "tool": "tool_use",
}  # fmt: skip
KINDS: dict[Cause, str] = {
    "invalid": "invalid_request_error", "context": "invalid_request_error", "secret": "authentication_error",
    "unknown": "not_found_error", "too_large": "request_too_large", "limit": "rate_limit_error",
    "busy": "rate_limit_error", "failed": "api_error",
}  # fmt: skip
TEXT = ("text",)
RAW = "_raw_arguments"  # the one argument of a call whose arguments are no JSON object


class AnthropicMessages:
    """The dialect of Anthropic Messages."""

    keepalive = b'event: ping\ndata: {"type": "ping"}\n\n'
    overflow_in_stream = False

    def read(self, body: dict[str, Any]) -> AgentCall:
        """The call in a body."""
        limit = limit_in(body, "max_tokens")
        if limit is None:
            raise CallRefusedError("invalid", "max_tokens: is missing", "max_tokens")
        return _read(body, limit)

    def read_to_count(self, body: dict[str, Any]) -> AgentCall:
        """The call in a body of count_tokens, which has no limit of new tokens."""
        return _read(body, None)

    def write(self, call: AgentCall, answer: Answer) -> dict[str, Any]:
        """The answer as a message."""
        return {
            **_head(answer.id, answer.model, answer.input_tokens), "content": _blocks(answer.message),
            "stop_reason": STOP_REASONS[answer.why], "stop_sequence": answer.stop_text,
            "usage": _usage(answer.input_tokens, answer.output_tokens),
        }  # fmt: skip

    def opening(self, call: AgentCall, answer_id: str, created: int, model: str, input_tokens: int) -> Iterator[bytes]:
        """The start of the message."""
        yield _event("message_start", message=_head(answer_id, model, input_tokens))

    def events(self, call: AgentCall, answer: Answer) -> Iterator[bytes]:
        """Each block with its start, its content and its stop; then why the message ended."""
        for index, block in enumerate(_blocks(answer.message)):
            yield from _block_events(index, block)
        yield _event(
            "message_delta",
            delta={"stop_reason": STOP_REASONS[answer.why], "stop_sequence": answer.stop_text},
            usage=_usage(answer.input_tokens, answer.output_tokens),
        )
        yield _event("message_stop")

    def error(self, refused: CallRefusedError) -> dict[str, Any]:
        """Anthropic's envelope of an error."""
        message = refused.message
        if isinstance(refused, ContextOverflowError):
            message = f"prompt is too long: {refused.tokens} tokens > {refused.limit - 1} maximum"
        return {"type": "error", "error": {"type": KINDS[refused.cause], "message": message}}

    def error_events(
        self, call: AgentCall, answer_id: str, created: int, model: str, refused: CallRefusedError
    ) -> Iterator[bytes]:
        """An event `error` with the envelope."""
        yield f"event: error\ndata: {dumps(self.error(refused))}\n\n".encode()


def _read(body: dict[str, Any], limit: int | None) -> AgentCall:
    system = text_in(body.get("system"), "system", TEXT)
    messages = [ChatMessage("system", system)] if system else []
    for at, given in enumerate(field_of(body, "messages", list, required=True)):
        messages += read_turn(given, f"messages[{at}]")
    choice = field_of(body, "tool_choice", dict) or {}
    refuse(("tool_choice",) if choice.get("type", "auto") not in ("auto", "none") else ())
    refuse(("output_config.format",) if (field_of(body, "output_config", dict) or {}).get("format") else ())
    return AgentCall(
        messages, [] if choice.get("type") == "none" else read_input_schemas(body),
        bool(field_of(body, "stream", bool)), limit, temperature_in(body), None,
        stops_in(body, "stop_sequences"), asked_for(body, OWN_SAMPLING),
        bool(field_of(choice, "disable_parallel_tool_use", bool, "tool_choice")),
    )  # fmt: skip


def read_turn(given: Any, where: str) -> list[ChatMessage]:
    """The messages in one turn: results of tools become messages of their own, in the order of the blocks."""
    role = field_of(given, "role", str, where, required=True)
    if role not in ("user", "assistant", "system"):
        raise CallRefusedError("invalid", f"{where}.role: {role!r} is none of user, assistant", where)
    content = given.get("content")
    if isinstance(content, str):
        return [ChatMessage(role, content)]
    if not isinstance(content, list):
        raise CallRefusedError("invalid", f"{where}.content: must be a string or a list of blocks", where)
    if role == "assistant":
        return [_read_reply(content, where)]
    messages: list[ChatMessage] = []
    texts: list[str] = []
    for block in content:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            if texts:
                messages.append(ChatMessage("user", "\n".join(texts)))
                texts = []
            messages.append(_read_result(block, where))
        else:
            texts.append(part_text(block, where, TEXT))
    if texts:
        messages.append(ChatMessage(role, "\n".join(texts)))
    return messages


def _read_result(block: dict[str, Any], where: str) -> ChatMessage:
    return ChatMessage(
        "tool",
        text_in(block.get("content"), f"{where}.tool_result", TEXT),
        tool_call_id=field_of(block, "tool_use_id", str, where, required=True),
        is_error=bool(field_of(block, "is_error", bool, where)),
    )


def _read_reply(content: list[Any], where: str) -> ChatMessage:
    """An assistant turn from its blocks. Redacted reasoning cannot be read and is left out."""
    texts, thoughts, calls = [], [], []
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "thinking":
            thoughts.append(field_of(block, "thinking", str, where) or "")
        elif kind == "tool_use":
            name = field_of(block, "name", str, where, required=True)
            calls.append(_read_call(str(block.get("id") or ""), name, field_of(block, "input", dict, where) or {}))
        elif kind != "redacted_thinking":
            texts.append(part_text(block, where, TEXT))
    return ChatMessage("assistant", "\n".join(texts), "\n".join(thoughts), tuple(calls))


def _read_call(call_id: str, name: str, given: dict[str, Any]) -> ToolCall:
    raw = given.get(RAW)
    if isinstance(raw, str) and len(given) == 1:
        return ToolCall(call_id, name, None, raw)
    return ToolCall(call_id, name, given)


def read_input_schemas(body: dict[str, Any]) -> list[ToolSpec]:
    """The tools of a body. Tools that Anthropic's own servers would run are refused."""
    tools = []
    for at, tool in enumerate(field_of(body, "tools", list) or ()):
        where = f"tools[{at}]"
        name = field_of(tool, "name", str, where, required=True)
        if tool.get("type", "custom") not in ("custom", None):
            raise CallRefusedError("invalid", f"{where}: {tool['type']!r} is not here; give tools with an input_schema")
        schema = field_of(tool, "input_schema", dict, where, required=True)
        tools.append(ToolSpec(name, field_of(tool, "description", str, where) or "", schema))
    return tools


def _blocks(message: ChatMessage) -> list[dict[str, Any]]:
    """Reasoning, text and calls as blocks; one empty text where there is nothing."""
    blocks: list[dict[str, Any]] = []
    if message.reasoning:
        blocks.append({"type": "thinking", "thinking": message.reasoning, "signature": ""})
    if message.content or not message.tool_calls:
        blocks.append({"type": "text", "text": message.content, "citations": None})
    for call in message.tool_calls:
        # Arguments that are no JSON object have no place in this protocol; the client sees them and can say so.
        given = {RAW: call.raw} if call.arguments is None else call.arguments
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": given})
    return blocks


def _block_events(index: int, block: dict[str, Any]) -> Iterator[bytes]:
    if block["type"] == "text":
        start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    elif block["type"] == "thinking":
        start, delta = {**block, "thinking": ""}, {"type": "thinking_delta", "thinking": block["thinking"]}
    else:
        start, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": dumps(block["input"])}
    yield _event("content_block_start", index=index, content_block=start)
    yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _head(answer_id: str, model: str, input_tokens: int) -> dict[str, Any]:
    return {
        "id": f"msg_{answer_id}", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": _usage(input_tokens, 0),
    }  # fmt: skip


def _usage(input_tokens: int, output_tokens: int) -> dict[str, int]:
    return {
        "input_tokens": input_tokens, "output_tokens": output_tokens, "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }  # fmt: skip


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {dumps({'type': kind, **fields})}\n\n".encode()
