"""Serve the OpenAI protocol (chat and text completions) on loopback, with the failures that a script names.

    with ChatServer([fail(429, retry_after=0), say("exit")]) as server:
        OpenAI(base_url=server.url, api_key="x").chat.completions.create(...)
        server.requests[0].body["messages"]

A script is a list of behaviours, one per request in order of arrival (the last one repeats), or a function from a
request to a behaviour, for concurrent clients without a fixed order. The server keeps every request.
"""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Request:
    """A client's request; `body` is the parsed JSON and `index` counts from 0 in order of arrival."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    index: int

    @property
    def last_user_text(self) -> str:
        """The content of the last user message."""
        return str([turn["content"] for turn in self.body["messages"] if turn["role"] == "user"][-1])


@dataclass(frozen=True)
class Behaviour:
    """The answer to one request. The functions below make it."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay_seconds: float = 0.0
    sent_bytes: int | None = None  # cut the connection after so many bytes of the body
    hang_up: bool = False  # close the connection without any answer
    unless_format: "Behaviour | None" = None  # answer to requests that carry no response_format


Script = Sequence[Behaviour] | Callable[[Request], Behaviour]


def say(text: str | None, *, finish_reason: str = "stop", tokens: tuple[int, int] | None = (100, 50)) -> Behaviour:
    """A well-formed completion; `tokens` are prompt and completion tokens, None leaves `usage` out."""
    answer: dict[str, Any] = {
        "id": "chatcmpl-test",
        "object": "chat.completion",
        "created": 0,
        "model": "test",
        "choices": [
            {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": text}},
        ],
    }
    if tokens is not None:
        answer["usage"] = {
            "prompt_tokens": tokens[0],
            "completion_tokens": tokens[1],
            "total_tokens": sum(tokens),
        }
    return wrong_schema(answer)


def go_on(text: str, *, finish_reason: str = "stop", tokens: tuple[int, int] | None = (100, 50)) -> Behaviour:
    """A well-formed text completion; `tokens` as in `say`."""
    answer: dict[str, Any] = {
        "id": "cmpl-test", "object": "text_completion", "created": 0, "model": "test",
        "choices": [{"index": 0, "finish_reason": finish_reason, "text": text, "logprobs": None}],
    }  # fmt: skip
    if tokens is not None:
        answer["usage"] = dict(
            zip(("prompt_tokens", "completion_tokens", "total_tokens"), (*tokens, sum(tokens)), strict=True)
        )
    return wrong_schema(answer)


def wrong_schema(value: Any) -> Behaviour:
    """Status 200 with any JSON value as the body."""
    return Behaviour(body=json.dumps(value).encode(), headers={"Content-Type": "application/json"})


def not_json() -> Behaviour:
    """Status 200 with half a JSON body, whose length header fits: as if a proxy had cut it off."""
    return Behaviour(body=b'{"id": "chatcmpl-test", "choi', headers={"Content-Type": "application/json"})


def fail(status: int, *, retry_after: float | None = None, message: str = "as the script says") -> Behaviour:
    """An HTTP error in OpenAI's form, with Retry-After where given (seconds)."""
    headers = {"Content-Type": "application/json"}
    if retry_after is not None:
        headers["Retry-After"] = str(retry_after)
    body = {"error": {"message": message, "type": "scripted", "code": str(status)}}
    return Behaviour(status=status, body=json.dumps(body).encode(), headers=headers)


def slow(seconds: float, then: Behaviour) -> Behaviour:
    """`then`, after `seconds`."""
    return Behaviour(**{**vars(then), "delay_seconds": seconds})


def cut(then: Behaviour, sent_bytes: int = 40) -> Behaviour:
    """`then`, with the connection closed after `sent_bytes` bytes of the promised body."""
    return Behaviour(**{**vars(then), "sent_bytes": sent_bytes})


def hang_up() -> Behaviour:
    """Close the connection without a single byte."""
    return Behaviour(hang_up=True)


def refuse_format(otherwise: Behaviour) -> Behaviour:
    """400 to a request that carries response_format, `otherwise` to one that does not."""
    refusal = fail(400, message="response_format is not supported by this server")
    return Behaviour(**{**vars(refusal), "unless_format": otherwise})


class ChatServer:
    """A threaded HTTP server on a free loopback port; `url` is what a client takes as base_url."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[Request] = []
        self.most_at_once = 0  # the largest number of requests that were served at the same time
        self.connections: list[socket.socket] = []
        self._at_once = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The base URL, `http://127.0.0.1:<port>/v1`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.die()

    def die(self) -> None:
        """Close every connection and refuse new ones. A second call does nothing."""
        if self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()
            self._thread = None
            for connection in self.connections:  # kept-alive connections would be served further
                _shut(connection)

    def answer(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Behaviour:
        """Keep the request and return its behaviour."""
        with self._lock:
            request = Request(path=path, headers=headers, body=body, index=len(self.requests))
            self.requests.append(request)
            if callable(self.script):
                return self.script(request)
            return self.script[min(request.index, len(self.script) - 1)]

    def count(self, change: int) -> None:
        """Count how many requests are being served at once."""
        with self._lock:
            self._at_once += change
            self.most_at_once = max(self.most_at_once, self._at_once)


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the client closed it first
        connection.shutdown(socket.SHUT_RDWR)


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(wrong_schema({"object": "list", "data": [{"id": "test", "object": "model"}]}))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path not in ("/v1/chat/completions", "/v1/completions"):
                self._send(fail(404, message=f"no such path {self.path}"))
                return
            server.count(1)
            try:
                behaviour = server.answer(self.path, dict(self.headers), body)
                if behaviour.unless_format is not None and "response_format" not in body:
                    behaviour = behaviour.unless_format
                self._send(behaviour)
            finally:
                server.count(-1)

        def _send(self, behaviour: Behaviour) -> None:
            time.sleep(behaviour.delay_seconds)
            if behaviour.hang_up:
                self._close()
                return
            try:
                self.send_response(behaviour.status)
                for name, value in behaviour.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(behaviour.body)))
                self.end_headers()
                self.wfile.write(behaviour.body[: behaviour.sent_bytes])
                self.wfile.flush()
            except (BrokenPipeError, ConnectionResetError):
                self._close()  # the client gave up waiting
            if behaviour.sent_bytes is not None:
                self._close()

        def _close(self) -> None:
            self.close_connection = True
            _shut(self.connection)

        def setup(self) -> None:
            super().setup()
            server.connections.append(self.connection)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class named it)
            """Keep the test output clean."""

    return Handler
