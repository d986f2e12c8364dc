"""What an agent program's session counts and keeps, also where several of its requests are under way at once."""

from collections.abc import Iterator
from typing import Any

import pytest

from agents.app import EndpointServer
from agents.canonical import ChatMessage, ToolCall
from agents.endpoint_session import SessionLimits
from agents.known import PLAIN
from agents.program_episode import ProgramLimits, ProgramWatch, turns_in
from agents.templates import ChatTemplate
from tests.agents.test_app import asked_by, post, post_at_once
from tests.helpers.scripted_backend import ScriptedBackend
from tests.helpers.tiny import tokenizer


def typing(command: str) -> ChatMessage:
    return ChatMessage("assistant", tool_calls=(ToolCall("", PLAIN.shell_tool, {"command": command}),))


@pytest.fixture
def server() -> Iterator[tuple[EndpointServer, ScriptedBackend]]:
    backend = ScriptedBackend(ChatTemplate.of(tokenizer("byte_level")), [])
    with EndpointServer(backend.template, backend) as running:
        yield running, backend


def commands_of(watch: ProgramWatch) -> list[str]:
    return [command for command, _, _ in turns_in(PLAIN, watch)]


def test_nothing_is_typed_after_the_terminal(server: tuple[EndpointServer, ScriptedBackend]) -> None:
    """The endpoint has no limits here, so every request that is under way when the session ends is answered."""
    endpoint, backend = server
    backend.script[:] = [typing("exit")] * 4
    watch = ProgramWatch(PLAIN, ProgramLimits())
    endpoint.open_session("one", watch=watch)
    assert post_at_once(endpoint, backend, [asked_by(number) for number in range(4)]) == [200] * 4
    endpoint.close_session("one")
    assert (watch.over, commands_of(watch)) == ("exit", ["exit"])
    assert watch.sampled_tokens == 4 * len(backend.template.write(typing("exit")))


def test_nothing_is_typed_after_the_last_step(server: tuple[EndpointServer, ScriptedBackend]) -> None:
    endpoint, backend = server
    backend.script[:] = [typing("echo b")]
    watch = ProgramWatch(PLAIN, ProgramLimits(max_steps=2))
    endpoint.open_session("one", watch=watch)
    assert post_at_once(endpoint, backend, [asked_by(number) for number in range(4)]) == [200] * 4
    endpoint.close_session("one")
    assert (watch.over, commands_of(watch)) == ("max_steps", ["echo b"] * 2)


def test_a_title_with_tools_is_no_turn(server: tuple[EndpointServer, ScriptedBackend]) -> None:
    endpoint, backend = server
    backend.script[:] = [ChatMessage("assistant", "exit"), typing("echo a")]
    watch = ProgramWatch(PLAIN, ProgramLimits())
    session = endpoint.open_session("one", SessionLimits(), watch)
    system = {"role": "system", "content": "You are a title generator."}
    body: dict[str, Any] = asked_by(1)
    title = {**body, "messages": [system, *body["messages"]]}
    assert post(endpoint, "/v1/chat/completions", title).status_code == 200
    assert post(endpoint, "/v1/chat/completions", body).status_code == 200
    endpoint.close_session("one")
    assert (watch.over, commands_of(watch), watch.side_calls) == (None, ["echo a"], 1)
    assert session.counts()["side_call_calls"] == 1
