"""Speak OpenAI's chat completions: POST /v1/chat/completions, JSON and server-sent events."""

from collections.abc import Iterator
from typing import Any

from agents.canonical import ChatMessage, ToolCall, ToolSpec
from agents.exchange import (
    AgentCall,
    Answer,
    CallRefusedError,
    Cause,
    ContextOverflowError,
    arguments_in,
    dumps,
    field_of,
    limit_in,
    stops_in,
    temperature_in,
    text_in,
)

ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
FINISH = {"stop": "stop", "stop_text": "stop", "length": "length", "context": "length", "tool": "tool_calls"}
# Parameters that this server cannot follow, and those of sampling that are the client's only without recording. Each
# with the values that ask for nothing.
UNFOLLOWED: dict[str, tuple[Any, ...]] = {
    "n": (1,), "logprobs": (False,), "response_format": ({"type": "text"},), "tool_choice": ("auto", "none"),
    "functions": (), "function_call": (),
}  # fmt: skip
OWN_SAMPLING: dict[str, tuple[Any, ...]] = {
    "top_p": (1,), "top_k": (0, -1), "min_p": (0,), "frequency_penalty": (0,), "presence_penalty": (0,),
    "repetition_penalty": (1,), "logit_bias": ({},),
}  # fmt: skip
TEXT_PARTS = ("text", "refusal")
# type and code of each cause, as OpenAI's API has them
KINDS: dict[Cause, tuple[str, str | None]] = {
    "invalid": ("invalid_request_error", None),
    "context": ("invalid_request_error", "context_length_exceeded"),
    "secret": ("invalid_request_error", "invalid_api_key"),
    "unknown": ("invalid_request_error", "not_found"),
    "too_large": ("invalid_request_error", "request_too_large"),
    "limit": ("rate_limit_error", "rate_limit_exceeded"),
    "busy": ("rate_limit_error", "rate_limit_exceeded"),
    "failed": ("server_error", None),
}


class OpenAIChat:
    """The dialect of chat completions."""

    keepalive = b": keepalive\n\n"
    overflow_in_stream = False

    def read(self, body: dict[str, Any]) -> AgentCall:
        """The call in a body."""
        refuse(asked_for(body, UNFOLLOWED))
        messages = [
            read_chat_message(one, f"messages[{at}]")
            for at, one in enumerate(field_of(body, "messages", list, required=True))
        ]
        tools = [] if body.get("tool_choice") == "none" else read_functions(body)
        options = field_of(body, "stream_options", dict) or {}
        return AgentCall(
            messages, tools, bool(field_of(body, "stream", bool)),
            limit_in(body, "max_completion_tokens", "max_tokens"), temperature_in(body), field_of(body, "seed", int),
            stops_in(body, "stop"), asked_for(body, OWN_SAMPLING),
            field_of(body, "parallel_tool_calls", bool) is False, bool(options.get("include_usage")),
        )  # fmt: skip

    def write(self, call: AgentCall, answer: Answer) -> dict[str, Any]:
        """The answer as a chat completion."""
        message = {"role": "assistant", "content": _content(answer), "refusal": None, **_extras(answer.message)}
        choice = {"index": 0, "message": message, "finish_reason": FINISH[answer.why], "logprobs": None}
        return {**_head(answer, "chat.completion"), "choices": [choice], "usage": tokens_used(answer)}

    def opening(self, call: AgentCall, answer_id: str, created: int, model: str, input_tokens: int) -> Iterator[bytes]:
        """The chunk with the role."""
        head = {"id": f"chatcmpl-{answer_id}", "object": "chat.completion.chunk", "created": created, "model": model}
        yield _chunk(head, {"role": "assistant", "content": ""}, None)

    def events(self, call: AgentCall, answer: Answer) -> Iterator[bytes]:
        """Reasoning, text, one chunk for each call, the end, the usage where it was asked for."""
        head = _head(answer, "chat.completion.chunk")
        if answer.message.reasoning:
            yield _chunk(head, {"reasoning_content": answer.message.reasoning}, None)
        if answer.message.content:
            yield _chunk(head, {"content": answer.message.content}, None)
        for at, one in enumerate(_extras(answer.message).get("tool_calls", ())):
            yield _chunk(head, {"tool_calls": [{"index": at, **one}]}, None)
        yield _chunk(head, {}, FINISH[answer.why])
        if call.stream_usage:
            yield f"data: {dumps({**head, 'choices': [], 'usage': tokens_used(answer)})}\n\n".encode()
        yield b"data: [DONE]\n\n"

    def error(self, refused: CallRefusedError) -> dict[str, Any]:
        """OpenAI's envelope of an error."""
        return openai_error(refused)

    def error_events(
        self, call: AgentCall, answer_id: str, created: int, model: str, refused: CallRefusedError
    ) -> Iterator[bytes]:
        """The envelope as data; the SDKs raise it."""
        yield f"data: {dumps(openai_error(refused))}\n\n".encode()


def openai_error(refused: CallRefusedError) -> dict[str, Any]:
    """OpenAI's envelope of an error; also that of Responses."""
    kind, code = KINDS[refused.cause]
    message = refused.message
    if isinstance(refused, ContextOverflowError):
        message = (
            f"This model's maximum context length is {refused.limit} tokens. However, your messages resulted in "
            f"{refused.tokens} tokens. Please reduce the length of the messages."
        )
    return {"error": {"message": message, "type": kind, "param": refused.parameter, "code": code}}


def read_chat_message(given: Any, where: str) -> ChatMessage:
    """One message of chat completions."""
    role = ROLES.get(field_of(given, "role", str, where, required=True))
    if role is None:
        raise CallRefusedError("invalid", f"{where}.role: {given['role']!r} is none of {', '.join(ROLES)}", where)
    calls = []
    for at, one in enumerate(field_of(given, "tool_calls", list, where) or ()):
        place = f"{where}.tool_calls[{at}]"
        function = field_of(one, "function", dict, place, required=True)
        arguments, raw = arguments_in(field_of(function, "arguments", str, place) or "")
        calls.append(ToolCall(str(one.get("id") or ""), field_of(function, "name", str, place, required=True),
                              arguments, raw))  # fmt: skip
    return ChatMessage(
        role,  # type: ignore[arg-type]
        text_in(given.get("content"), f"{where}.content", TEXT_PARTS),
        (field_of(given, "reasoning_content", str, where) or "") if role == "assistant" else "",
        tuple(calls),
        field_of(given, "tool_call_id", str, where, required=True) if role == "tool" else None,
    )


def read_functions(body: dict[str, Any]) -> list[ToolSpec]:
    """The tools of a body, which must be functions."""
    tools = []
    for at, tool in enumerate(field_of(body, "tools", list) or ()):
        where = f"tools[{at}]"
        if not isinstance(tool, dict) or tool.get("type", "function") != "function":
            raise CallRefusedError("invalid", f"{where}: only tools of type 'function' can be called", where)
        function = tool.get("function", tool)
        tools.append(
            ToolSpec(
                field_of(function, "name", str, where, required=True),
                field_of(function, "description", str, where) or "",
                field_of(function, "parameters", dict, where) or {"type": "object", "properties": {}},
            )
        )
    return tools


def asked_for(body: dict[str, Any], neutral: dict[str, tuple[Any, ...]]) -> tuple[str, ...]:
    """The parameters of a body that are in `neutral` with other values than the ones there, which ask for nothing."""
    return tuple(name for name, values in neutral.items() if body.get(name) is not None and body[name] not in values)


def refuse(names: tuple[str, ...]) -> None:
    """Raise CallRefusedError for the first of these parameters."""
    if names:
        raise CallRefusedError("invalid", f"{names[0]}: this server cannot follow it; leave it out", names[0])


def tokens_used(answer: Answer) -> dict[str, Any]:
    """The tokens that were read and sampled."""
    return {
        "prompt_tokens": answer.input_tokens, "completion_tokens": answer.output_tokens,
        "total_tokens": answer.input_tokens + answer.output_tokens,
    }  # fmt: skip


def _content(answer: Answer) -> str | None:
    return answer.message.content or (None if answer.message.tool_calls else "")


def _extras(message: ChatMessage) -> dict[str, Any]:
    """The reasoning and the calls of a message, where it has any."""
    extras: dict[str, Any] = {"reasoning_content": message.reasoning} if message.reasoning else {}
    if message.tool_calls:
        extras["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments_text(call)}}
            for call in message.tool_calls
        ]
    return extras


def arguments_text(call: ToolCall) -> str:
    """The arguments of a call as JSON text; as the model wrote them where they are no object."""
    return call.raw if call.arguments is None else dumps(call.arguments)


def _head(answer: Answer, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{answer.id}", "object": kind, "created": answer.created, "model": answer.model}


def _chunk(head: dict[str, Any], delta: dict[str, Any], finish: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {dumps({**head, 'choices': [choice]})}\n\n".encode()
