"""The endpoint speaks each protocol as its own SDK reads it, and records what was handed out."""

from collections.abc import Iterator
from typing import Any

import pytest

from agents.app import EndpointServer
from agents.backend import Sampling
from agents.canonical import ChatMessage, ToolCall
from agents.templates import ChatTemplate
from tests.helpers.scripted_backend import ScriptedBackend
from tests.helpers.tiny import tokenizer

TWO_CALLS = ChatMessage(
    "assistant",
    "Two at once.",
    tool_calls=(ToolCall("", "shell", {"command": "ls -la"}), ToolCall("", "shell", {"command": "pwd"})),
)
DONE = ChatMessage("assistant", "Done.")
PARAMETERS = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
FUNCTION = {"type": "function", "function": {"name": "shell", "description": "Run.", "parameters": PARAMETERS}}
TOOL = {"name": "shell", "description": "Run.", "input_schema": PARAMETERS}


@pytest.fixture
def template() -> ChatTemplate:
    return ChatTemplate.of(tokenizer("byte_level"))


@pytest.fixture
def backend(template: ChatTemplate) -> ScriptedBackend:
    return ScriptedBackend(template, [TWO_CALLS, DONE])


@pytest.fixture
def server(template: ChatTemplate, backend: ScriptedBackend) -> Iterator[EndpointServer]:
    with EndpointServer(template, backend, sampling=Sampling(max_new_tokens=512), keepalive_seconds=0.05) as running:
        yield running


def openai_client(server: EndpointServer, secret: str = "one") -> Any:
    from openai import OpenAI

    return OpenAI(base_url=f"{server.url}/v1", api_key=secret, max_retries=0)


def anthropic_client(server: EndpointServer, secret: str = "one") -> Any:
    from anthropic import Anthropic

    return Anthropic(base_url=server.url, api_key=secret, max_retries=0)


@pytest.mark.parametrize("stream", [False, True])
def test_the_openai_sdk_plays_a_loop_of_parallel_tool_calls(
    server: EndpointServer, backend: ScriptedBackend, stream: bool
) -> None:
    session = server.open_session("one")
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Act."}, {"role": "user", "content": "Go."}]
    client = openai_client(server)
    if stream:
        with client.chat.completions.stream(model="any", messages=messages, tools=[FUNCTION]) as events:
            for _ in events:
                pass
            reply = events.get_final_completion().choices[0]
    else:
        reply = client.chat.completions.create(model="any", messages=messages, tools=[FUNCTION]).choices[0]
    assert reply.finish_reason == "tool_calls"
    assert reply.message.content == "Two at once."
    calls = reply.message.tool_calls
    assert [call.function.arguments for call in calls] == ['{"command":"ls -la"}', '{"command":"pwd"}']
    messages.append(reply.message.model_dump(exclude_none=True))
    messages += [{"role": "tool", "tool_call_id": call.id, "content": "out"} for call in calls]
    last = client.chat.completions.create(model="any", messages=messages, tools=[FUNCTION])
    assert last.choices[0].message.content == "Done."
    server.close_session("one")
    [segment] = session.segments()
    assert sum(segment.assistant_mask) == sum(len(backend.template.write(one)) for one in (TWO_CALLS, DONE))
    assert last.usage.prompt_tokens == len(backend.asked[1][0])


@pytest.mark.parametrize("stream", [False, True])
def test_the_anthropic_sdk_plays_a_loop_of_parallel_tool_calls(
    server: EndpointServer, backend: ScriptedBackend, stream: bool
) -> None:
    session = server.open_session("one")
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
    client = anthropic_client(server)
    asked = {"model": "any", "max_tokens": 400, "system": "Act.", "tools": [TOOL]}
    if stream:
        with client.messages.stream(**asked, messages=messages) as events:
            reply = events.get_final_message()
    else:
        reply = client.messages.create(**asked, messages=messages)
    assert reply.stop_reason == "tool_use"
    calls = [block for block in reply.content if block.type == "tool_use"]
    assert [call.input for call in calls] == [{"command": "ls -la"}, {"command": "pwd"}]
    messages.append({"role": "assistant", "content": [one.model_dump(exclude_none=True) for one in reply.content]})
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": "out"} for call in calls]
    messages.append({"role": "user", "content": results})
    last = client.messages.create(**asked, messages=messages)
    assert [block.text for block in last.content] == ["Done."]
    assert last.stop_reason == "end_turn"
    server.close_session("one")
    [segment] = session.segments()
    assert sum(segment.assistant_mask) == sum(len(backend.template.write(one)) for one in (TWO_CALLS, DONE))
