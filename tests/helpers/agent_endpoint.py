"""Answer one episode's agent program with a policy, over chat completions or Anthropic Messages on the loopback."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agents.canonical import ChatMessage, ToolCall, ToolSpec
from agents.policy import PolicyAnswers
from agents.program_episode import Watch
from agents.provenance import AgentSession
from agents.relay import Address


def read_message(given: dict[str, Any]) -> ChatMessage:
    """A chat completions message in the project's form."""
    calls = tuple(
        ToolCall(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in given.get("tool_calls") or ()
    )
    content = given.get("content") or ""
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    return ChatMessage(given["role"], content, tool_calls=calls, tool_call_id=given.get("tool_call_id"))


def write_message(message: ChatMessage) -> dict[str, Any]:
    """The project's form as a chat completions message."""
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.arguments)}}
        for call in message.tool_calls
    ]
    return {"role": "assistant", "content": message.content or None, **({"tool_calls": calls} if calls else {})}


def read_anthropic(body: dict[str, Any]) -> list[ChatMessage]:
    """The messages of an Anthropic request in the project's form."""
    messages = [ChatMessage("system", text_of(body["system"]))] if body.get("system") else []
    for given in body["messages"]:
        blocks = (
            given["content"] if isinstance(given["content"], list) else [{"type": "text", "text": given["content"]}]
        )
        for block in blocks:
            if block["type"] == "tool_result":
                result = ChatMessage("tool", text_of(block.get("content") or ""), tool_call_id=block["tool_use_id"])
                messages.append(result)
        calls = tuple(
            ToolCall(block["id"], block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"
        )
        text = text_of([block for block in blocks if block["type"] == "text"])
        if text or calls:
            messages.append(ChatMessage(given["role"], text, tool_calls=calls))
    return messages


def text_of(content: str | list[dict[str, Any]]) -> str:
    """The text of a content that is a string or blocks."""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def anthropic_events(message: ChatMessage) -> str:
    """A reply as the events of Anthropic Messages."""
    blocks: list[tuple[dict[str, Any], dict[str, Any]]] = []
    if message.content or not message.tool_calls:
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": message.content}))
    for call in message.tool_calls:
        start = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        blocks.append((start, {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}))
    usage = {"input_tokens": 1, "output_tokens": 1}
    head = {
        "id": f"msg_{time.monotonic_ns()}",
        "type": "message", "role": "assistant", "model": "policy", "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    events: list[tuple[str, dict[str, Any]]] = [("message_start", {"message": head})]
    for index, (start, delta) in enumerate(blocks):
        events += [
            ("content_block_start", {"index": index, "content_block": start}),
            ("content_block_delta", {"index": index, "delta": delta}),
            ("content_block_stop", {"index": index}),
        ]
    stop = {"stop_reason": "tool_use" if message.tool_calls else "end_turn", "stop_sequence": None}
    events += [("message_delta", {"delta": stop, "usage": usage}), ("message_stop", {})]
    return "".join(f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n" for kind, data in events)


class PolicyEndpoint:
    """What agents.program_episode asks of an endpoint. Keeps the ids that it sampled, of one session."""

    def __init__(self, answers: PolicyAnswers) -> None:
        self.answers = answers
        self.address: Address = ("127.0.0.1", 0)
        self.sampled: list[list[int]] = []
        self._open: dict[str, tuple[AgentSession, Watch]] = {}
        self._over: set[str] = set()

    def open_session(self, secret: str, watch: Watch) -> AgentSession:
        recorded = AgentSession(self.answers.template)
        self._open[secret] = (recorded, watch)
        return recorded

    def close_session(self, secret: str) -> None:
        self._open.pop(secret, None)

    def answer(self, secret: str, body: dict[str, Any]) -> tuple[int, ChatMessage | str, Callable[[], None]]:
        """Status, the reply or the error, and what to do once it was sent."""
        if secret not in self._open:
            return 401, "unknown key", lambda: None
        recorded, watch = self._open[secret]
        anthropic = "max_tokens" in body and "system" in body
        messages = read_anthropic(body) if anthropic else [read_message(one) for one in body["messages"]]
        tools = [tool.get("function", tool) for tool in body.get("tools") or ()]
        request = recorded.prepare(
            messages,
            [
                ToolSpec(tool["name"], tool.get("description", ""), tool.get("parameters") or tool["input_schema"])
                for tool in tools
            ],
        )
        if secret in self._over:
            recorded.discard(request)
            return 429, "the session is over", lambda: None
        try:
            ids = self.answers.token_ids(request)
        except RuntimeError as error:
            recorded.discard(request)
            watch.failed("operator_failed", str(error))
            return 500, str(error), lambda: None

        def sent() -> None:
            self.sampled.append(ids)
            if watch(request, message, ids):
                self._over.add(secret)
            recorded.record(request, ids, [0.0] * len(ids), "stop")

        message = recorded.read(request, ids)
        return 200, message, sent


def chat_completion(message: ChatMessage) -> dict[str, Any]:
    """A reply as the body of a chat completion."""
    finish = "tool_calls" if message.tool_calls else "stop"
    choice = {"index": 0, "message": write_message(message), "finish_reason": finish}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": int(time.time()), "model": "policy"}
    return {**head, "choices": [choice], "usage": usage}


@contextmanager
def serving(endpoint: PolicyEndpoint) -> Iterator[PolicyEndpoint]:
    """The endpoint on a free port of 127.0.0.1."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.background import BackgroundTask
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request as HttpRequest
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    async def completions(request: HttpRequest) -> Response:
        secret = request.headers.get("authorization", "").removeprefix("Bearer ")
        status, reply, sent = await run_in_threadpool(endpoint.answer, secret, await request.json())
        after = BackgroundTask(sent)
        if isinstance(reply, str):
            return JSONResponse(
                {"error": {"message": reply, "type": "invalid_request_error"}}, status, background=after
            )
        if request.url.path == "/v1/messages":
            return Response(anthropic_events(reply), media_type="text/event-stream", background=after)
        return JSONResponse(chat_completion(reply), status, background=after)

    places = ("/v1/chat/completions", "/v1/messages")
    app = Starlette(routes=[Route(place, completions, methods=["POST"]) for place in places])
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    endpoint.address = server.servers[0].sockets[0].getsockname()
    try:
        yield endpoint
    finally:
        server.should_exit = True
        thread.join()
