"""Serve one model to agent programs over HTTP, and keep what it samples for them.

    with EndpointServer(template, backend, sampling=Sampling(temperature=1.0)) as server:
        session = server.open_session(secret, SessionLimits(max_turns=30))
        ...                                     # the program calls server.url with its secret as the API key
        server.close_session(secret)
        rows = session.segments()

POST /v1/chat/completions, /v1/responses, /v1/messages, /v1/messages/count_tokens; GET /v1/models, /v1/models/NAME,
/health. Without `recording` there are no sessions: a client may choose temperature, seed and stop texts, and nothing is
kept.
"""

import asyncio
import contextlib
import hashlib
import json
import secrets
import socket
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from agents.anthropic_messages import AnthropicMessages
from agents.backend import Backend, Sampling
from agents.endpoint_session import (
    KEPT_ANSWERS,
    CallUnderWay,
    EndpointSession,
    SessionLimits,
    SessionWatch,
    Threads,
)
from agents.exchange import (
    STATUS,
    AgentCall,
    CallRefusedError,
    Cause,
    ContextOverflowError,
    Dialect,
    dumps,
    unforeseen,
)
from agents.openai_chat import OpenAIChat
from agents.openai_responses import OpenAIResponses
from agents.templates import ChatTemplate
from schema import BadInputError, WorldError, sha256

BODY_BYTES = 4 << 20  # read as JSON it takes up to 25 times as much memory
KEEPALIVE_SECONDS = 3.0
CLOSING_SECONDS = 5.0  # for requests under way when the server ends
CHAT, MESSAGES = OpenAIChat(), AnthropicMessages()
DIALECTS: dict[str, Dialect] = {
    "/v1/chat/completions": CHAT, "/v1/messages": MESSAGES, "/v1/responses": OpenAIResponses(),
}  # fmt: skip
NO_LIMITS, DEFAULT_SAMPLING = SessionLimits(), Sampling()
JSON_TYPE = (b"content-type", b"application/json")
# A cap does not go away, so the SDKs are told not to try again; what is set aside for others comes back.
REFUSAL_HEADERS: dict[Cause, dict[str, str]] = {
    "limit": {"x-should-retry": "false"}, "busy": {"retry-after": "1"}, "secret": {"www-authenticate": "Bearer"},
}  # fmt: skip


class ModelService:
    """What the routes share: the model, the open sessions, the threads."""

    def __init__(
        self, template: ChatTemplate, backend: Backend, *, sampling: Sampling, recording: bool, key: str | None,
        keepalive_seconds: float,
    ) -> None:  # fmt: skip
        self.template, self.backend, self.sampling = template, backend, sampling
        self.recording, self.key, self.keepalive_seconds = recording, key, keepalive_seconds
        self.sessions: dict[str, EndpointSession] = {}
        self.threads = Threads()
        self.created = int(time.time())

    def session_of(self, headers: Any) -> EndpointSession:
        """The session of a request's secret; without recording a new one for this request. Raises CallRefusedError."""
        found = headers.get("authorization", "")
        secret = found[7:].strip() if found[:7].lower() == "bearer " else headers.get("x-api-key", "")
        if self.recording:
            session = self.sessions.get(secret)
            if session is None:
                raise CallRefusedError("secret", "no open session has this API key")
            return session
        if self.key is not None and not secrets.compare_digest(secret.encode(), self.key.encode()):
            raise CallRefusedError("secret", "this is not the server's API key")
        sampling = replace(self.sampling, seed=secrets.randbits(62))
        return EndpointSession(self.template, self.backend, sampling, pinned=False)

    def under_way(self, session: EndpointSession, digest: str, headers: Any, read: AgentCall) -> CallUnderWay:
        """The call of a request: a new one, or that of the request which this one repeats."""
        earlier = session.under_way.get(digest)
        if earlier and not session.closed:
            retried = headers.get("x-stainless-retry-count", "0") not in ("", "0")
            got = earlier.answered.done() and not earlier.answered.cancelled() and not earlier.answered.exception()
            if (got and retried and not earlier.discarded) or not (earlier.ended or earlier.cancelled.is_set()):
                return earlier
        call = CallUnderWay(session, read, self.threads)
        session.under_way.pop(digest, None)
        session.under_way[digest] = call
        for old in list(session.under_way)[:-KEPT_ANSWERS]:
            if session.under_way[old].ended:
                del session.under_way[old]
        return call


class CallResponse:
    """Answers one HTTP request: waits for the call, keeps the line alive, sends, and says whether it all arrived."""

    def __init__(self, service: ModelService, dialect: Dialect, call: AgentCall, work: CallUnderWay) -> None:
        self.service, self.dialect, self.call, self.work = service, dialect, call, work
        self.work.waiting += 1

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve the request. The call is recorded after the last byte was sent."""
        gone = asyncio.create_task(until_disconnected(receive))
        delivered = False
        try:
            delivered = await self._deliver(send, gone)
        except CallRefusedError as refused:
            await send_json(send, STATUS[refused.cause], self.dialect.error(refused), refused)
        finally:
            gone.cancel()
            await asyncio.shield(asyncio.create_task(self.work.leave(delivered=delivered)))

    async def _deliver(self, send: Any, gone: "asyncio.Task[None]") -> bool:
        """True where the client got the whole answer; False where it left, or an error came after the first event."""
        work, call, dialect = self.work, self.call, self.dialect
        if not await finished(work.prepared, gone):
            return False
        refused = work.prepared.exception()
        if isinstance(refused, ContextOverflowError) and call.stream and dialect.overflow_in_stream:
            await self._send_opening(send, 0)
            await self._send_failure(send, refused)
            return False
        prepared = work.prepared.result()
        if not call.stream:
            if not await finished(work.answered, gone):
                return False
            await send_json(send, 200, dialect.write(call, work.answered.result()))
            return not gone.done()
        await self._send_opening(send, len(prepared.request.context_ids))
        while not await finished(work.answered, gone, self.service.keepalive_seconds):
            if gone.done():
                return False
            await send_part(send, dialect.keepalive)
        try:
            events = b"".join(dialect.events(call, work.answered.result()))
        except CallRefusedError as failure:
            await self._send_failure(send, failure)
            return False
        await send_part(send, events, last=True)
        return not gone.done()

    async def _send_opening(self, send: Any, input_tokens: int) -> None:
        """Begin a streamed answer."""
        headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        work = self.work
        opening = self.dialect.opening(self.call, work.id, work.created, work.session.backend.name, input_tokens)
        await send_part(send, b"".join(opening))

    async def _send_failure(self, send: Any, refused: CallRefusedError) -> None:
        """End a streamed answer with an error."""
        work = self.work
        events = self.dialect.error_events(self.call, work.id, work.created, work.session.backend.name, refused)
        await send_part(send, b"".join(events), last=True)


async def until_disconnected(receive: Any) -> None:
    """Return when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def finished(task: "asyncio.Task[Any]", gone: "asyncio.Task[None]", seconds: float | None = None) -> bool:
    """Wait for a task, until the client leaves or the time is up; True where the task is done."""
    await asyncio.wait({task, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    return task.done()


async def send_part(send: Any, part: bytes, *, last: bool = False) -> None:
    """Send a part of a body."""
    await send({"type": "http.response.body", "body": part, "more_body": not last})


async def send_json(send: Any, status: int, body: dict[str, Any], refused: CallRefusedError | None = None) -> None:
    """Send a whole JSON response."""
    headers = [JSON_TYPE]
    for name, value in REFUSAL_HEADERS.get(refused.cause, {}).items() if refused else ():
        headers.append((name.encode(), value.encode()))
    content = dumps(body).encode()
    headers.append((b"content-length", str(len(content)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send_part(send, content, last=True)


def make_app(service: ModelService) -> Any:
    """The ASGI application."""
    from starlette.applications import Starlette
    from starlette.requests import Request as HttpRequest
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    def guarded(answer: Callable[[HttpRequest, Dialect], Awaitable[Any]]) -> Any:
        async def route(request: HttpRequest) -> Any:
            dialect = dialect_of(request.url.path, request.headers)
            try:
                return await answer(request, dialect)
            except CallRefusedError as refused:
                return JSONResponse(dialect.error(refused), STATUS[refused.cause], REFUSAL_HEADERS.get(refused.cause))

        return route

    async def call(request: HttpRequest, dialect: Dialect) -> Any:
        session = service.session_of(request.headers)
        body = await whole_body(request)
        digest, read = await service.threads.work(read_call, request.url.path, body, dialect.read)
        return CallResponse(service, dialect, read, service.under_way(session, digest, request.headers, read))

    async def count_tokens(request: HttpRequest, dialect: Dialect) -> Any:
        service.session_of(request.headers)
        body = await whole_body(request)
        _, read = await service.threads.work(read_call, request.url.path, body, MESSAGES.read_to_count)
        try:
            ids = await service.threads.work(service.template.opening_ids, read.messages, read.tools)
        except BadInputError as error:
            raise CallRefusedError("invalid", str(error), "messages") from error
        return JSONResponse({"input_tokens": len(ids)})

    async def models(request: HttpRequest, dialect: Dialect) -> Any:
        service.session_of(request.headers)
        listed = model_entry(service, anthropic=dialect is MESSAGES)
        if "name" not in request.path_params:
            ends = {"has_more": False, "first_id": listed["id"], "last_id": listed["id"]}
            return JSONResponse({"object": "list", "data": [listed], **(ends if dialect is MESSAGES else {})})
        if request.path_params["name"] != listed["id"]:
            raise CallRefusedError("unknown", f"the model {request.path_params['name']!r} is not here", "model")
        return JSONResponse(listed)

    async def health(request: HttpRequest, dialect: Dialect) -> Any:
        return JSONResponse({"status": "ok", **service.backend.state()})

    async def not_found(request: HttpRequest, error: Any) -> Any:
        refused = CallRefusedError("unknown", f"{request.method} {request.url.path}: there is no such route")
        return JSONResponse(dialect_of(request.url.path, request.headers).error(refused), error.status_code)

    async def failed(request: HttpRequest, error: Exception) -> Any:
        dialect = dialect_of(request.url.path, request.headers)
        return JSONResponse(dialect.error(unforeseen(error)), STATUS["failed"])

    routes = [Route(path, guarded(call), methods=["POST"]) for path in DIALECTS]
    routes += [
        Route("/v1/messages/count_tokens", guarded(count_tokens), methods=["POST"]),
        Route("/v1/models", guarded(models)), Route("/v1/models/{name:path}", guarded(models)),
        Route("/health", guarded(health)), Route("/", guarded(health)),
    ]  # fmt: skip
    return Starlette(routes=routes, exception_handlers={404: not_found, 405: not_found, Exception: failed})


def dialect_of(path: str, headers: Any) -> Dialect:
    """The dialect in which a path is answered; of /v1/models, Anthropic's where the client names its version."""
    if path.startswith("/v1/messages") or (path not in DIALECTS and "anthropic-version" in headers):
        return MESSAGES
    return DIALECTS.get(path, CHAT)


async def whole_body(request: Any) -> bytes:
    """The body of a request, up to BODY_BYTES."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > BODY_BYTES:
            raise CallRefusedError("too_large", f"the request has more than {BODY_BYTES} bytes")
        parts.append(part)
    return b"".join(parts)


def read_call(path: str, body: bytes, read: Callable[[dict[str, Any]], Any]) -> tuple[str, Any]:
    """A digest of the request, and the call in it."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise CallRefusedError("invalid", f"the body is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise CallRefusedError("invalid", "the body must be a JSON object")
    return hashlib.sha256(path.encode() + b"\0" + body).hexdigest(), read(found)


def model_entry(service: ModelService, *, anthropic: bool) -> dict[str, Any]:
    """The one model in a list of models."""
    name, limit = service.backend.name, service.backend.context_tokens
    if anthropic:
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(service.created))
        return {"type": "model", "id": name, "display_name": name, "created_at": created, "max_input_tokens": limit - 1,
                "max_tokens": service.sampling.max_new_tokens}  # fmt: skip
    return {"id": name, "object": "model", "created": service.created, "owned_by": "sekft", "max_model_len": limit}


class EndpointServer:
    """Runs the app with uvicorn in a thread, on 127.0.0.1 or a Unix socket, while its `with` block lasts.

    Args:
        template: of the model's tokenizer.
        backend: samples for all sessions that have none of their own.
        sampling: temperature, most new tokens and the seed from which the sessions' seeds are made.
        recording: only those with the secret of an open session are answered, and sampling is the server's.
        key: the API key that clients must show; without `recording`.
        port: 0 for any free one.
        uds: the path of a Unix socket to listen on instead.
        keepalive_seconds: between two signs of life while a streamed answer is being sampled.
    """

    def __init__(
        self, template: ChatTemplate, backend: Backend, *, sampling: Sampling = DEFAULT_SAMPLING,
        recording: bool = True, key: str | None = None, port: int = 0, uds: Path | None = None,
        keepalive_seconds: float = KEEPALIVE_SECONDS,
    ) -> None:  # fmt: skip
        self.service = ModelService(
            template, backend, sampling=sampling, recording=recording, key=key, keepalive_seconds=keepalive_seconds
        )
        self.port, self.uds = port, uds
        self.address: tuple[str, int] | str = ("127.0.0.1", port) if uds is None else str(uds)
        self._server: Any = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address for clients, without /v1."""
        return f"http://127.0.0.1:{self.port}" if self.uds is None else f"http+unix://{self.uds}"

    def __enter__(self) -> "EndpointServer":
        """Listen. Raises BadInputError where the address is taken, WorldError where the server does not start."""
        listening = new_socket(self.uds)
        with contextlib.ExitStack() as interrupted:  # from before the address is taken
            interrupted.callback(give_up, listening)
            bind(listening, self.port, self.uds)
            interrupted.callback(self.__exit__)
            self._start(listening)
            interrupted.pop_all()
        return self

    def _start(self, listening: socket.socket) -> None:
        """Run the server's thread, and return once it answers. Raises WorldError where it ends before that."""
        import uvicorn

        if self.uds is None:
            self.port = int(listening.getsockname()[1])
            self.address = ("127.0.0.1", self.port)
        config = uvicorn.Config(
            make_app(self.service), log_level="error", lifespan="off", access_log=False, http="h11", ws="none",
            timeout_graceful_shutdown=int(CLOSING_SECONDS),
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listening]}, name="endpoint", daemon=True
        )
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.005)
        if not self._server.started:
            raise WorldError(f"{self.url}: the server has ended before it answered")

    def wait(self) -> NoReturn:
        """Wait while the server runs. Raises WorldError when it has ended by itself."""
        assert self._thread
        while self._thread.is_alive():
            # No join: an interrupt in it marks the thread as ended. A signal is seen between two sleeps.
            time.sleep(1.0)
        raise WorldError(f"{self.url}: the server has ended by itself")

    def __exit__(self, *_: object) -> None:
        """Close all sessions, stop what is sampled, and end the server's thread."""
        for secret in list(self.service.sessions):
            self.close_session(secret)
        if self._thread is not None and self._thread.ident is not None:
            self._server.should_exit = True
            self._thread.join()
        self.service.threads.close()
        if self.uds is not None:
            self.uds.unlink(missing_ok=True)

    def open_session(
        self, secret: str, limits: SessionLimits = NO_LIMITS, watch: SessionWatch | None = None,
        backend: Backend | None = None, *, seed: int | None = None,
    ) -> EndpointSession:  # fmt: skip
        """A session for whoever shows `secret`.

        Args:
            secret: the API key of the client; a second session with it is refused with ValueError.
            limits: the session's caps.
            watch: is told of each reply before it is recorded, and of each failure.
            backend: samples for this session alone.
            seed: of the session's samples (default: made of the server's seed and the secret).
        """
        if not self.service.recording:
            raise ValueError("this endpoint does not record, so it has no sessions")
        if not secret or secret in self.service.sessions:
            raise ValueError("a session needs a secret that no other open session has")
        own = int(sha256(f"{self.service.sampling.seed}/{secret}".encode())[:15], 16) if seed is None else seed
        session = EndpointSession(
            self.service.template, backend or self.service.backend, replace(self.service.sampling, seed=own),
            limits=limits, watch=watch,
        )  # fmt: skip
        self.service.sessions[secret] = session
        return session

    def close_session(self, secret: str) -> None:
        """Refuse the secret from now on, stop what is being sampled for it, and wait for replies to be recorded.

        Closing twice does no harm. Not to be called from the session's watch.
        """
        session = self.service.sessions.pop(secret, None)
        if session is not None:
            session.close()


def new_socket(uds: Path | None) -> socket.socket:
    """A socket of the kind that is asked for, without an address."""
    return socket.socket(socket.AF_INET if uds is None else socket.AF_UNIX, socket.SOCK_STREAM)


def give_up(listening: socket.socket) -> None:
    """Close a socket, and remove the file that it is bound to, if it is."""
    with contextlib.suppress(OSError):  # it is closed already
        if listening.family == socket.AF_UNIX and (name := listening.getsockname()):
            Path(name).unlink(missing_ok=True)
    listening.close()


def bind(listening: socket.socket, port: int, uds: Path | None) -> None:
    """Bind to a port of 127.0.0.1 (0: any free one), or to a Unix socket. Raises BadInputError."""
    try:
        if uds is None:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(("127.0.0.1", port))
        else:
            listening.bind(str(uds))
            uds.chmod(0o600)
    except (OSError, OverflowError) as error:  # the latter: no port has such a number
        where = f"--port {port}" if uds is None else str(uds)
        told = getattr(error, "strerror", None) or error
        raise BadInputError(f"{where}: cannot listen there ({told}); name another") from error
