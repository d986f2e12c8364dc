"""A fault of the server, or of the model behind it, reaches the client as its protocol says, and voids the episode."""

from typing import Any

import httpx2
import pytest

from agents.app import EndpointServer
from agents.backend import Sampling
from agents.canonical import ChatMessage
from agents.templates import ChatTemplate
from tests.helpers.scripted_backend import ScriptedBackend
from tests.helpers.tiny import tokenizer

USER: list[Any] = [{"role": "user", "content": "Go."}]


class Watch:
    """A watch that ends nothing and keeps what failed."""

    def __init__(self) -> None:
        self.failures: list[tuple[str, str]] = []

    def __call__(self, request: Any, message: ChatMessage, token_ids: Any) -> bool:
        return False

    def failed(self, outcome: Any, error: str) -> None:
        self.failures.append((outcome, error))


@pytest.fixture
def template() -> ChatTemplate:
    return ChatTemplate.of(tokenizer("byte_level"))


def post(server: EndpointServer, path: str, body: Any) -> Any:
    return httpx2.post(server.url + path, json=body, headers={"authorization": "Bearer one"}, timeout=120)


@pytest.mark.parametrize("where", ["encode", "sample", "parse", "count"])
def test_an_error_that_nobody_foresaw_is_the_protocols_own_and_voids_the_session(
    where: str, template: ChatTemplate, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a planted fault")

    watch, backend = Watch(), ScriptedBackend(template, [ChatMessage("assistant", "Done.")])
    with EndpointServer(template, backend, sampling=Sampling(max_new_tokens=512)) as server:
        session = server.open_session("one", watch=watch)
        if where == "sample":
            backend.template = None  # type: ignore[assignment]
        elif where == "count":
            monkeypatch.setattr(template, "opening_ids", fails)
        else:
            monkeypatch.setattr(session, "prepare" if where == "encode" else "read", fails)
        if where == "count":
            reply = post(server, "/v1/messages/count_tokens", {"messages": USER, "model": "any"})
            assert (reply.status_code, reply.json()["error"]["type"]) == (500, "api_error")
        else:
            reply = post(server, "/v1/messages", {"messages": USER, "model": "any", "max_tokens": 9})
            assert (reply.status_code, reply.json()["error"]["type"]) == (500, "api_error"), reply.text
            reply = post(server, "/v1/responses", {"input": "Go.", "model": "any", "stream": True})
            assert "server_error" in reply.text, reply.text
            server.close_session("one")
            assert [kind for kind, _ in watch.failures] == ["operator_failed"] * 2
    assert "a planted fault" in capfd.readouterr().err or where == "sample"


def test_a_model_that_fails_is_an_error_of_the_server(template: ChatTemplate) -> None:
    import anthropic

    watch = Watch()
    with EndpointServer(template, ScriptedBackend(template, ["out of memory"])) as server:
        session = server.open_session("one", watch=watch)
        reply = post(server, "/v1/chat/completions", {"messages": USER})
        assert (reply.status_code, reply.json()["error"]["type"]) == (500, "server_error")
        client = anthropic.Anthropic(base_url=server.url, api_key="one", max_retries=0)
        events = client.messages.create(model="any", max_tokens=9, messages=USER, stream=True)
        with pytest.raises(anthropic.APIStatusError, match="out of memory"):
            list(events)
    assert watch.failures == [("operator_failed", "out of memory")] * 2
    assert session.counts()["discarded"] == 2
