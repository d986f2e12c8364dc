"""A session's turns, tokens, seeds and commands, also where several of its requests are under way at once."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from agents.app import EndpointServer
from agents.backend import Sampling
from agents.canonical import ChatMessage, ToolCall
from agents.endpoint_session import SessionLimits
from agents.known import PLAIN
from agents.program_episode import ProgramLimits, ProgramWatch, turns_in
from agents.templates import ChatTemplate
from tests.helpers.scripted_backend import ScriptedBackend
from tests.helpers.tiny import tokenizer

FUNCTION = {"type": "function", "function": {"name": "shell", "parameters": {"type": "object", "properties": {}}}}
BEARER = {"authorization": "Bearer one"}
USER = [{"role": "user", "content": "Go."}]
DONE, LONG = ChatMessage("assistant", "Done."), ChatMessage("assistant", "word " * 50)


@pytest.fixture
def backend() -> ScriptedBackend:
    return ScriptedBackend(ChatTemplate.of(tokenizer("byte_level")), [DONE])


@pytest.fixture
def server(backend: ScriptedBackend) -> Iterator[EndpointServer]:
    with EndpointServer(backend.template, backend, sampling=Sampling(max_new_tokens=512)) as running:
        yield running


def post(server: EndpointServer, path: str, body: Any) -> Any:
    return httpx2.post(server.url + path, json=body, headers=BEARER, timeout=120)


def until(true: Any) -> None:
    """Wait for something that other threads do."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def typing(command: str) -> ChatMessage:
    return ChatMessage("assistant", tool_calls=(ToolCall("", PLAIN.shell_tool, {"command": command}),))


def post_at_once(server: EndpointServer, backend: ScriptedBackend, bodies: list[Any]) -> list[int]:
    """The statuses of requests that are all sent before the first is answered, in order."""
    backend.held.set()
    statuses: list[int] = []
    threads = [
        threading.Thread(target=lambda body=body: statuses.append(
            post(server, "/v1/chat/completions", body).status_code))
        for body in bodies
    ]  # fmt: skip
    for thread in threads:
        thread.start()
    until(lambda: backend.under_way + len(statuses) == len(bodies))
    backend.held.clear()
    for thread in threads:
        thread.join(60)
    return sorted(statuses)


def asked_by(number: int, **more: Any) -> dict[str, Any]:
    """The first request of one of several sub-agents."""
    return {"messages": [{"role": "user", "content": f"You are number {number}."}], "tools": [FUNCTION], **more}


def test_requests_at_once_share_the_turns_of_their_session(server: EndpointServer, backend: ScriptedBackend) -> None:
    session = server.open_session("one", SessionLimits(max_turns=2))
    assert post_at_once(server, backend, [asked_by(number) for number in range(4)]) == [200, 200, 429, 429]
    server.close_session("one")
    assert session.counts()["calls"] == 2


def test_requests_at_once_share_the_tokens_of_their_session(server: EndpointServer, backend: ScriptedBackend) -> None:
    backend.script[:] = [LONG]
    session = server.open_session("one", SessionLimits(max_sampled_tokens=50))
    bodies = [asked_by(number, max_tokens=20) for number in range(4)]
    assert post_at_once(server, backend, bodies) == [200, 200, 200, 429]
    assert [sampling.max_new_tokens for _, sampling in backend.asked] == [20, 20, 10]
    server.close_session("one")
    assert session.counts()["sampled_tokens"] == 50


def test_a_call_gives_back_the_tokens_that_it_did_not_use(server: EndpointServer, backend: ScriptedBackend) -> None:
    backend.script[:] = [DONE]
    used = len(backend.template.write(DONE))
    server.open_session("one", SessionLimits(max_sampled_tokens=50))
    bodies = [asked_by(number, max_tokens=25) for number in range(3)]
    assert post_at_once(server, backend, bodies) == [200, 200, 429]
    assert post(server, "/v1/chat/completions", asked_by(9)).status_code == 200
    assert backend.asked[-1][1].max_new_tokens == 50 - 2 * used
    backend.script[:] = ["the model is gone"]
    assert post(server, "/v1/chat/completions", asked_by(10)).status_code == 500
    assert post(server, "/v1/chat/completions", asked_by(11)).status_code == 500
    assert backend.asked[-1][1].max_new_tokens == 50 - 3 * used


def test_side_calls_are_turns_only_where_the_limits_say_so(server: EndpointServer, backend: ScriptedBackend) -> None:
    backend.script[:] = [DONE]
    server.open_session("one", SessionLimits(max_turns=1, side_calls_are_turns=False))
    title = {"messages": [{"role": "system", "content": "You are a title generator."}, *USER], "tools": [FUNCTION]}
    bodies = [{"messages": USER}, title, asked_by(1), asked_by(2)]
    found = [post(server, "/v1/chat/completions", body).status_code for body in bodies]
    assert found == [200, 200, 200, 429]


def commands_of(watch: ProgramWatch) -> list[str]:
    return [command for command, _, _ in turns_in(PLAIN, watch)]


def test_nothing_is_typed_after_the_terminal(server: EndpointServer, backend: ScriptedBackend) -> None:
    """The endpoint has no limits here, so every request that is under way when the session ends is answered."""
    backend.script[:] = [typing("exit")] * 4
    watch = ProgramWatch(PLAIN, ProgramLimits())
    server.open_session("one", watch=watch)
    assert post_at_once(server, backend, [asked_by(number) for number in range(4)]) == [200] * 4
    server.close_session("one")
    assert (watch.over, commands_of(watch)) == ("exit", ["exit"])
    assert watch.sampled_tokens == 4 * len(backend.template.write(typing("exit")))


def test_nothing_is_typed_after_the_last_step(server: EndpointServer, backend: ScriptedBackend) -> None:
    backend.script[:] = [typing("echo b")]
    watch = ProgramWatch(PLAIN, ProgramLimits(max_steps=2))
    server.open_session("one", watch=watch)
    assert post_at_once(server, backend, [asked_by(number) for number in range(4)]) == [200] * 4
    server.close_session("one")
    assert (watch.over, commands_of(watch)) == ("max_steps", ["echo b"] * 2)


def test_a_title_with_tools_is_no_turn(server: EndpointServer, backend: ScriptedBackend) -> None:
    backend.script[:] = [ChatMessage("assistant", "exit"), typing("echo a")]
    watch = ProgramWatch(PLAIN, ProgramLimits())
    session = server.open_session("one", SessionLimits(), watch)
    system = {"role": "system", "content": "You are a title generator."}
    body: dict[str, Any] = asked_by(1)
    title = {**body, "messages": [system, *body["messages"]]}
    assert post(server, "/v1/chat/completions", title).status_code == 200
    assert post(server, "/v1/chat/completions", body).status_code == 200
    server.close_session("one")
    assert (watch.over, commands_of(watch), watch.side_calls) == (None, ["echo a"], 1)
    assert session.counts()["side_call_calls"] == 1


def two_calls(first: str, second: str) -> ChatMessage:
    return ChatMessage("assistant", tool_calls=typing(first).tool_calls + typing(second).tool_calls)


def continued(body: dict[str, Any], reply: Any, *outputs: str) -> dict[str, Any]:
    """The request after a reply; the results of its calls come in the reverse order."""
    message = reply.json()["choices"][0]["message"]
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": output}
        for call, output in zip(message["tool_calls"], outputs, strict=True)
    ]
    return {**body, "messages": [*body["messages"], message, *reversed(results)]}


def test_each_command_has_its_own_output(server: EndpointServer, backend: ScriptedBackend) -> None:
    """Two sub-agents get the same first reply, and the second is the first to go on."""
    backend.script[:] = [two_calls("a", "b"), two_calls("a", "b"), DONE]
    watch = ProgramWatch(PLAIN, ProgramLimits())
    server.open_session("one", watch=watch)
    path, bodies = "/v1/chat/completions", [asked_by(1), asked_by(2)]
    replies = [post(server, path, body) for body in bodies]
    for number in (1, 0):
        outputs = [f"{name} of {number}" for name in ("a", "b")]
        assert post(server, path, continued(bodies[number], replies[number], *outputs)).status_code == 200
    server.close_session("one")
    assert turns_in(PLAIN, watch) == [
        ("a", "a of 0", None), ("b", "b of 0", None), ("a", "a of 1", None), ("b", "b of 1", None),
        ("Done.", None, None), ("Done.", None, None),
    ]  # fmt: skip


def test_a_call_that_finds_all_tokens_set_aside_is_answered_when_it_is_tried_again(
    server: EndpointServer, backend: ScriptedBackend
) -> None:
    from openai import OpenAI

    server.open_session("one", SessionLimits(max_sampled_tokens=50))
    backend.held.set()
    first = threading.Thread(target=post, args=(server, "/v1/chat/completions", asked_by(1)))
    first.start()
    until(lambda: backend.under_way == 1)
    refused = post(server, "/v1/chat/completions", asked_by(2))
    assert (refused.status_code, refused.headers.get("retry-after")) == (429, "1")
    assert "x-should-retry" not in refused.headers
    release = threading.Timer(0.3, backend.held.clear)
    release.start()
    client = OpenAI(base_url=f"{server.url}/v1", api_key="one", max_retries=2)
    assert client.chat.completions.create(model="any", **asked_by(2)).choices[0].message.content == "Done."
    release.join()
    first.join(60)


def test_seeds_do_not_depend_on_the_order_of_arrival(server: EndpointServer, backend: ScriptedBackend) -> None:
    for secret, numbers in (("one", (1, 2, 1)), ("two", (2, 1, 1))):
        server.open_session(secret, seed=8)
        for number in numbers:
            headers = {"authorization": f"Bearer {secret}"}
            reply = httpx2.post(f"{server.url}/v1/chat/completions", json=asked_by(number), headers=headers)
            assert reply.status_code == 200
        server.close_session(secret)
    first, second, again, *other = [sampling.seed for _, sampling in backend.asked]
    assert other == [second, first, again]
    assert len({first, second, again}) == 3


def test_tokens_that_nobody_got_use_up_the_budget(server: EndpointServer, backend: ScriptedBackend) -> None:
    backend.script[:], backend.deaf = [LONG], True
    watch = ProgramWatch(PLAIN, ProgramLimits())
    watch.session = session = server.open_session("one", SessionLimits(max_sampled_tokens=10), watch)
    backend.held.set()
    with pytest.raises(httpx2.TimeoutException):
        httpx2.post(f"{server.url}/v1/chat/completions", json=asked_by(1), headers=BEARER, timeout=1.0)
    until(lambda: any(one.cancelled.is_set() for one in session.under_way.values()))
    backend.held.clear()
    until(lambda: session.counts().get("discarded") == 1)
    watch.see_tokens()
    assert (watch.over, watch.error) == (None, None)  # nothing was refused
    assert post(server, "/v1/chat/completions", asked_by(2)).status_code == 429
    watch.see_tokens()
    assert (watch.over, watch.sampled_tokens) == ("max_tokens", 0)


def too_long(number: int, **more: Any) -> dict[str, Any]:
    return {**asked_by(number), "messages": [{"role": "user", "content": "word " * 5000}], **more}


def test_a_context_that_is_too_long_ends_a_session_that_does_not_go_on(
    server: EndpointServer, backend: ScriptedBackend
) -> None:
    backend.script[:] = [typing("ls")]
    watch = ProgramWatch(PLAIN, ProgramLimits())
    server.open_session("one", watch=watch)
    path = "/v1/chat/completions"
    title = too_long(1, tools=[])
    statuses = [post(server, path, body).status_code for body in (title, title, too_long(1), asked_by(1))]
    until(lambda: bool(watch.replies))
    assert (statuses, watch.over, watch.overflow) == ([400, 400, 400, 200], None, None)
    assert post(server, path, too_long(2)).status_code == 400
    assert (watch.over, watch.overflow is None) == (None, False)
    assert post(server, path, too_long(2)).status_code == 400
    assert watch.over == "context_full"
