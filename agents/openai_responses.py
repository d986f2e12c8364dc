"""Speak OpenAI's Responses: POST /v1/responses, JSON and server-sent events.

Nothing is stored: `previous_response_id`, `conversation` and `background` are refused, a client sends its whole input.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agents.canonical import ChatMessage, ToolCall
from agents.exchange import (
    AgentCall,
    Answer,
    CallRefusedError,
    arguments_in,
    dumps,
    field_of,
    limit_in,
    temperature_in,
    text_in,
)
from agents.openai_chat import OWN_SAMPLING, ROLES, arguments_text, asked_for, openai_error, read_functions, refuse

STATEFUL = {"previous_response_id": (), "conversation": (), "background": (False,)}
UNFOLLOWED = {"tool_choice": ("auto", "none"), "top_logprobs": (0,)}
ECHOED = ("instructions", "metadata", "tool_choice", "tools", "parallel_tool_calls", "temperature", "top_p", "text")
IN, OUT = ("input_text", "text"), ("output_text", "text", "refusal")


class OpenAIResponses:
    """The dialect of Responses. A full context is an event of a streamed answer, as with OpenAI."""

    keepalive = b": keepalive\n\n"
    overflow_in_stream = True

    def read(self, body: dict[str, Any]) -> AgentCall:
        """The call in a body."""
        refuse(asked_for(body, STATEFUL | UNFOLLOWED))
        wanted = field_of(field_of(body, "text", dict) or {}, "format", dict, "text") or {}
        refuse(("text.format",) if wanted.get("type", "text") != "text" else ())
        instructions = field_of(body, "instructions", str)
        messages = [ChatMessage("system", instructions)] if instructions else []
        given = body.get("input")
        messages += [ChatMessage("user", given)] if isinstance(given, str) else read_items(given)
        return AgentCall(
            messages, [] if body.get("tool_choice") == "none" else read_functions(body),
            bool(field_of(body, "stream", bool)), limit_in(body, "max_output_tokens"), temperature_in(body), None, (),
            asked_for(body, OWN_SAMPLING | {"truncation": ("disabled",)}),
            field_of(body, "parallel_tool_calls", bool) is False,
            echo={name: body[name] for name in ECHOED if body.get(name) is not None},
        )  # fmt: skip

    def write(self, call: AgentCall, answer: Answer) -> dict[str, Any]:
        """The answer as a response."""
        cut = answer.why in ("length", "context")
        response = _response(call, answer.id, answer.created, answer.model, "incomplete" if cut else "completed")
        return {
            **response, "output": _items(answer, "incomplete" if cut else "completed"), "usage": _usage(answer),
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        }  # fmt: skip

    def opening(self, call: AgentCall, answer_id: str, created: int, model: str, input_tokens: int) -> Iterator[bytes]:
        """The response is there and in progress."""
        response = _response(call, answer_id, created, model, "in_progress")
        yield _event(0, "response.created", response=response)
        yield _event(1, "response.in_progress", response=response)

    def events(self, call: AgentCall, answer: Answer) -> Iterator[bytes]:
        """Each item from its start to its end, then the whole response."""
        whole = self.write(call, answer)
        events = [one for at, item in enumerate(whole["output"]) for one in _item_events(at, item)]
        events.append((f"response.{whole['status']}", {"response": whole}))
        for number, (kind, fields) in enumerate(events, start=2):
            yield _event(number, kind, **fields)

    def error(self, refused: CallRefusedError) -> dict[str, Any]:
        """OpenAI's envelope of an error."""
        return openai_error(refused)

    def error_events(
        self, call: AgentCall, answer_id: str, created: int, model: str, refused: CallRefusedError
    ) -> Iterator[bytes]:
        """The failed response."""
        error = openai_error(refused)["error"]
        said = {"code": error["code"] or error["type"], "message": error["message"]}
        response = {**_response(call, answer_id, created, model, "failed"), "error": said}
        yield _event(2, "response.failed", response=response)


def read_items(given: Any) -> list[ChatMessage]:
    """The messages in a list of items. Reasoning, text and calls in a row are one assistant turn."""
    if not isinstance(given, list):
        raise CallRefusedError("invalid", "input: must be a string or a list of items", "input")
    messages: list[ChatMessage] = []
    for at, item in enumerate(given):
        message = _read_item(item, f"input[{at}]")
        if message.role == "assistant" and messages and messages[-1].role == "assistant":
            messages[-1] = _joined(messages[-1], message)
        else:
            messages.append(message)
    return messages


def _read_item(item: Any, where: str) -> ChatMessage:
    kind = field_of(item, "type", str, where) or "message"
    if kind == "message":
        role = ROLES.get(field_of(item, "role", str, where, required=True))
        if role is None or role == "tool":
            raise CallRefusedError("invalid", f"{where}.role: {item['role']!r} is none of {', '.join(ROLES)}", where)
        content = text_in(item.get("content"), f"{where}.content", OUT if role == "assistant" else IN)
        return ChatMessage(role, content)  # type: ignore[arg-type]
    if kind == "function_call":
        arguments, raw = arguments_in(field_of(item, "arguments", str, where) or "")
        name = field_of(item, "name", str, where, required=True)
        call = ToolCall(field_of(item, "call_id", str, where, required=True), name, arguments, raw)
        return ChatMessage("assistant", tool_calls=(call,))
    if kind == "function_call_output":
        output = text_in(item.get("output"), f"{where}.output", IN)
        return ChatMessage("tool", output, tool_call_id=field_of(item, "call_id", str, where, required=True))
    if kind == "reasoning":
        content = text_in(field_of(item, "content", list, where) or [], f"{where}.content", ("reasoning_text",))
        return ChatMessage("assistant", reasoning=content)
    raise CallRefusedError("invalid", f"{where}.type: {kind!r} items are not known here", where)


def _joined(a: ChatMessage, b: ChatMessage) -> ChatMessage:
    """Two items of one assistant turn as one message."""
    return replace(
        a,
        content="\n".join(one for one in (a.content, b.content) if one),
        reasoning="\n".join(one for one in (a.reasoning, b.reasoning) if one),
        tool_calls=a.tool_calls + b.tool_calls,
    )


def _response(call: AgentCall, answer_id: str, created: int, model: str, status: str) -> dict[str, Any]:
    defaults: dict[str, Any] = {
        "instructions": None, "metadata": {}, "parallel_tool_calls": True, "temperature": None, "tool_choice": "auto",
        "tools": [], "top_p": None, "text": {"format": {"type": "text"}},
    }  # fmt: skip
    return {
        **defaults, **(call.echo or {}), "id": f"resp_{answer_id}", "object": "response", "created_at": created,
        "model": model, "status": status, "error": None, "incomplete_details": None, "output": [], "usage": None,
        "previous_response_id": None, "store": False, "max_output_tokens": call.max_tokens,
    }  # fmt: skip


def _items(answer: Answer, status: str) -> list[dict[str, Any]]:
    message, items = answer.message, list[dict[str, Any]]()
    if message.reasoning:
        content = [{"type": "reasoning_text", "text": message.reasoning}]
        items.append({"type": "reasoning", "id": f"rs_{answer.id}", "summary": [], "content": content})
    if message.content or not message.tool_calls:
        part = {"type": "output_text", "text": message.content, "annotations": [], "logprobs": []}
        items.append(
            {"type": "message", "id": f"msg_{answer.id}", "role": "assistant", "status": status, "content": [part]}
        )
    for at, call in enumerate(message.tool_calls):
        items.append(
            {"type": "function_call", "id": f"fc_{answer.id}{at}", "call_id": call.id, "name": call.name,
             "arguments": arguments_text(call), "status": "completed"}
        )  # fmt: skip
    return items


def _item_events(index: int, item: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The events of one item, from its start to its end."""
    place = {"output_index": index, "item_id": item["id"]}
    start = {**item, "status": "in_progress"} if "status" in item else dict(item)
    middle: list[tuple[str, dict[str, Any]]] = []
    if item["type"] == "function_call":
        start["arguments"] = ""
        middle = [
            ("response.function_call_arguments.delta", {**place, "delta": item["arguments"]}),
            ("response.function_call_arguments.done", {**place, "arguments": item["arguments"], "name": item["name"]}),
        ]
    else:
        start["content"] = []
        kind = "output_text" if item["type"] == "message" else "reasoning_text"
        [part], at = item["content"], {**place, "content_index": 0}
        extra: dict[str, Any] = {"logprobs": []} if kind == "output_text" else {}
        middle = [
            ("response.content_part.added", {**at, "part": {**part, "text": ""}}),
            (f"response.{kind}.delta", {**at, "delta": part["text"], **extra}),
            (f"response.{kind}.done", {**at, "text": part["text"], **extra}),
            ("response.content_part.done", {**at, "part": part}),
        ]
    return [
        ("response.output_item.added", {"output_index": index, "item": start}),
        *middle,
        ("response.output_item.done", {"output_index": index, "item": item}),
    ]


def _usage(answer: Answer) -> dict[str, Any]:
    return {
        "input_tokens": answer.input_tokens, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": answer.output_tokens, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": answer.input_tokens + answer.output_tokens,
    }  # fmt: skip


def _event(number: int, kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {dumps({'type': kind, 'sequence_number': number, **fields})}\n\n".encode()
