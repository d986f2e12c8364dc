"""Serve a model over completions that take and return token ids, as vLLM does with `return_token_ids`."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from agents.backend import DecoderBackend, Sampling


class IdsServer:
    """A server on the loopback around a backend. `change` may spoil an answer; `cancelled` counts clients that left."""

    def __init__(self, backend: DecoderBackend) -> None:
        self.backend = backend
        self.url = ""
        self.bodies: list[dict[str, Any]] = []
        self.change: dict[str, Any] = {}
        self.status = 200
        self.wait_for_disconnect = False
        self.cancelled = threading.Event()

    async def models(self, request: Any) -> Any:
        from starlette.responses import JSONResponse

        entry = {"id": "tiny", "object": "model", "created": 1, "owned_by": "vllm", "max_model_len": 512}
        return JSONResponse({"object": "list", "data": [entry]})

    async def completions(self, request: Any) -> Any:
        from starlette.responses import JSONResponse

        body = json.loads(await request.body())
        self.bodies.append(body)
        while self.wait_for_disconnect:
            if await request.is_disconnected():
                self.cancelled.set()
                return JSONResponse({})
            await asyncio.sleep(0.01)
        if self.status != 200:
            return JSONResponse({"error": {"message": "broken", "type": "server_error"}}, self.status)
        sampling = Sampling(body["temperature"], body["max_tokens"], body["seed"])
        sampled = await self.backend.sample(body["prompt"], sampling, threading.Event())
        choice = {
            "index": 0, "text": self.backend.decode(sampled.token_ids), "finish_reason": sampled.finish,
            "stop_reason": None, "logprobs": {"token_logprobs": sampled.log_probs, "tokens": [], "top_logprobs": None,
                                              "text_offset": []},
            "token_ids": sampled.token_ids, "prompt_token_ids": body["prompt"], **self.change,
        }  # fmt: skip
        return JSONResponse(
            {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "tiny", "choices": [choice]}
        )


@contextmanager
def running(backend: DecoderBackend) -> Iterator[IdsServer]:
    """The server on a free port."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.routing import Route

    server = IdsServer(backend)
    routes = [Route("/v1/models", server.models), Route("/v1/completions", server.completions, methods=["POST"])]
    listening = socket.create_server(("127.0.0.1", 0))
    server.url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    running = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="error", lifespan="off"))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.005)
    try:
        yield server
    finally:
        running.should_exit = True
        with suppress(RuntimeError):
            thread.join(10)
