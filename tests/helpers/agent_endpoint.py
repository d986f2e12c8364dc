"""Answer one episode's agent program with a policy, over chat completions on the loopback."""

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

    def answer(self, secret: str, body: dict[str, Any]) -> tuple[int, dict[str, Any], Callable[[], None]]:
        """Status, body, and what to do once the answer was sent."""
        if secret not in self._open:
            return 401, {"error": {"message": "unknown key", "type": "invalid_request_error"}}, lambda: None
        recorded, watch = self._open[secret]
        tools = [tool["function"] for tool in body.get("tools") or ()]
        request = recorded.prepare(
            [read_message(one) for one in body["messages"]],
            [ToolSpec(tool["name"], tool.get("description", ""), tool["parameters"]) for tool in tools],
        )
        if secret in self._over:
            recorded.discard(request)
            return 429, {"error": {"message": "the session is over", "type": "rate_limit_error"}}, lambda: None
        try:
            ids = self.answers.token_ids(request)
        except RuntimeError as error:
            recorded.discard(request)
            watch.failed("operator_failed", str(error))
            return 500, {"error": {"message": str(error), "type": "server_error"}}, lambda: None
        message = recorded.read(request, ids)

        def sent() -> None:
            self.sampled.append(ids)
            if watch(request, message, ids):
                self._over.add(secret)
            recorded.record(request, ids, [0.0] * len(ids), "stop")

        finish = "tool_calls" if message.tool_calls else "stop"
        choice = {"index": 0, "message": write_message(message), "finish_reason": finish}
        usage = {"prompt_tokens": 1, "completion_tokens": len(ids), "total_tokens": 1 + len(ids)}
        head = {"id": "chatcmpl-1", "object": "chat.completion", "created": int(time.time()), "model": "policy"}
        return 200, {**head, "choices": [choice], "usage": usage}, sent


@contextmanager
def serving(endpoint: PolicyEndpoint) -> Iterator[PolicyEndpoint]:
    """The endpoint on a free port of 127.0.0.1."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.background import BackgroundTask
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request as HttpRequest
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def completions(request: HttpRequest) -> JSONResponse:
        secret = request.headers.get("authorization", "").removeprefix("Bearer ")
        status, body, sent = await run_in_threadpool(endpoint.answer, secret, await request.json())
        return JSONResponse(body, status, background=BackgroundTask(sent))

    app = Starlette(routes=[Route("/v1/chat/completions", completions, methods=["POST"])])
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
