"""A client's parameters are followed or refused; of sampling, where the server records, they are passed over."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from agents.app import EndpointServer
from agents.backend import Sampling
from agents.canonical import ChatMessage, ToolCall
from agents.templates import ChatTemplate
from tests.helpers.scripted_backend import ScriptedBackend
from tests.helpers.tiny import tokenizer

CALLS = tuple(ToolCall("", "shell", {"command": command}) for command in ("ls", "pwd"))
TWO_CALLS, DONE = ChatMessage("assistant", "Two.", tool_calls=CALLS), ChatMessage("assistant", "Done.")
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
FUNCTION = {"type": "function", "function": {"name": "shell", "parameters": SCHEMA}}
USER: list[Any] = [{"role": "user", "content": "Go."}]
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": USER},
    "/v1/responses": {"input": "Go."},
    "/v1/messages": {"messages": USER, "max_tokens": 90},
}


@pytest.fixture
def backend() -> ScriptedBackend:
    return ScriptedBackend(ChatTemplate.of(tokenizer("byte_level")), [TWO_CALLS, DONE])


@pytest.fixture
def server(backend: ScriptedBackend) -> Iterator[EndpointServer]:
    with EndpointServer(backend.template, backend, sampling=Sampling(max_new_tokens=512)) as running:
        running.open_session("one")
        yield running


def post(server: EndpointServer, path: str, body: Any) -> Any:
    return httpx2.post(server.url + path, json=body, headers={"authorization": "Bearer one"}, timeout=120)


@pytest.mark.parametrize("path", BODIES)
def test_a_parameter_of_sampling_is_refused_where_a_client_may_choose(
    path: str, backend: ScriptedBackend, server: EndpointServer
) -> None:
    asked = {
        "top_p": 0.5, "top_k": 40, "min_p": 0.1, "repetition_penalty": 1.2, "presence_penalty": 1,
        "frequency_penalty": 1, "logit_bias": {"5": 1},
    }  # fmt: skip
    nothing = {"top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0}
    with EndpointServer(backend.template, backend, recording=False) as free:
        for name, value in asked.items():
            reply = post(free, path, {**BODIES[path], name: value})
            assert (reply.status_code, reply.json()["error"]["type"]) == (400, "invalid_request_error")
            assert f"{name}: this server cannot follow it" in reply.json()["error"]["message"]
        assert post(free, path, {**BODIES[path], **nothing}).status_code == 200
    assert post(server, path, {**BODIES[path], **asked}).status_code == 200  # where it records, it says how to sample


def first_call_of_chat(url: str) -> tuple[list[Any], str]:
    from openai import OpenAI

    client, messages = OpenAI(base_url=f"{url}/v1", api_key="one", max_retries=0), [*USER]
    asked: dict[str, Any] = {"model": "any", "tools": [FUNCTION], "parallel_tool_calls": False}
    with client.chat.completions.stream(messages=messages, **asked) as events:
        message = events.get_final_completion().choices[0].message
    calls = message.tool_calls or []
    messages.append(message.model_dump(exclude_none=True))
    messages += [{"role": "tool", "tool_call_id": call.id, "content": "out"} for call in calls]
    last = client.chat.completions.create(messages=messages, **asked).choices[0].message
    return [call.function.arguments for call in calls], str(last.content)


def first_call_of_responses(url: str) -> tuple[list[Any], str]:
    from openai import OpenAI

    client, items = OpenAI(base_url=f"{url}/v1", api_key="one", max_retries=0), [*USER]
    function = {"type": "function", "name": "shell", "parameters": SCHEMA, "strict": False}
    asked: dict[str, Any] = {"model": "any", "tools": [function], "parallel_tool_calls": False}
    with client.responses.stream(input=items, **asked) as events:
        reply = events.get_final_response()
    calls = [one for one in reply.output if one.type == "function_call"]
    items += [one.model_dump(exclude_none=True) for one in reply.output]
    items += [{"type": "function_call_output", "call_id": call.call_id, "output": "out"} for call in calls]
    return [call.arguments for call in calls], client.responses.create(input=items, **asked).output_text


def first_call_of_messages(url: str) -> tuple[list[Any], str]:
    from anthropic import Anthropic

    client, messages = Anthropic(base_url=url, api_key="one", max_retries=0), [*USER]
    tool = {"name": "shell", "input_schema": SCHEMA}
    choice = {"type": "auto", "disable_parallel_tool_use": True}
    asked: dict[str, Any] = {"model": "any", "max_tokens": 400, "tools": [tool], "tool_choice": choice}
    with client.messages.stream(messages=messages, **asked) as events:
        reply = events.get_final_message()
    calls = [one for one in reply.content if one.type == "tool_use"]
    messages.append({"role": "assistant", "content": [one.model_dump(exclude_none=True) for one in reply.content]})
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": "out"} for call in calls]
    messages.append({"role": "user", "content": results})
    last = client.messages.create(messages=messages, **asked).content[0]
    return [json.dumps(call.input, separators=(",", ":")) for call in calls], str(getattr(last, "text", ""))


@pytest.mark.parametrize("play", [first_call_of_chat, first_call_of_responses, first_call_of_messages])
def test_a_client_that_wants_one_call_gets_the_first_and_goes_on(
    play: Any, server: EndpointServer, backend: ScriptedBackend
) -> None:
    session = server.service.sessions["one"]
    assert play(server.url) == (['{"command":"ls"}'], "Done.")
    server.close_session("one")
    assert session.counts()["forks"] == 0
    (row,) = session.segments()
    assert sum(row.assistant_mask) == sum(len(backend.template.write(one)) for one in (TWO_CALLS, DONE))


def test_a_call_of_a_tool_that_was_not_offered_is_passed_on(server: EndpointServer, backend: ScriptedBackend) -> None:
    backend.script[:] = [ChatMessage("assistant", tool_calls=(ToolCall("", "fly", {}),))]
    reply = post(server, "/v1/chat/completions", {"messages": USER, "tools": [FUNCTION]}).json()["choices"][0]
    assert reply["finish_reason"] == "tool_calls"
    assert [call["function"]["name"] for call in reply["message"]["tool_calls"]] == ["fly"]
