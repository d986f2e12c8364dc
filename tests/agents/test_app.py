"""The endpoint speaks each protocol as its own SDK reads it, and records what was handed out."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import httpx2
import pytest

from agents.app import EndpointServer
from agents.backend import Sampling
from agents.canonical import ChatMessage, ToolCall
from agents.endpoint_session import SessionLimits
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
USER: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
BEARER = {"authorization": "Bearer one"}


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


def post(
    server: EndpointServer, path: str, body: Any, headers: dict[str, str] | None = None, secret: str = "one"
) -> Any:
    """A request without an SDK."""
    named = {"authorization": f"Bearer {secret}", **(headers or {})}
    return httpx2.post(server.url + path, json=body, headers=named, timeout=120)


def until(true: Callable[[], bool]) -> None:
    """Wait for something that other threads do."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


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


@pytest.mark.parametrize("stream", [False, True])
def test_the_openai_sdk_plays_a_loop_over_responses(
    server: EndpointServer, backend: ScriptedBackend, stream: bool
) -> None:
    backend.script[0] = replace(TWO_CALLS, reasoning="I look around.")
    session = server.open_session("one")
    client, items = openai_client(server), list[dict[str, Any]]([{"role": "user", "content": "Go."}])
    function = {"type": "function", "name": "shell", "description": "Run.", "parameters": PARAMETERS, "strict": False}
    asked = {"model": "any", "instructions": "Act.", "tools": [function]}
    if stream:
        with client.responses.stream(**asked, input=items) as events:
            kinds = [one.type for one in events]
            reply = events.get_final_response()
        assert kinds[:2] == ["response.created", "response.in_progress"]
        assert kinds[-1] == "response.completed"
    else:
        reply = client.responses.create(**asked, input=items)
    assert [one.type for one in reply.output] == ["reasoning", "message", "function_call", "function_call"]
    assert reply.output_text == "Two at once."
    calls = [one for one in reply.output if one.type == "function_call"]
    assert [json.loads(one.arguments) for one in calls] == [{"command": "ls -la"}, {"command": "pwd"}]
    items += [one.model_dump(exclude_none=True) for one in reply.output]
    items += [{"type": "function_call_output", "call_id": one.call_id, "output": "out"} for one in calls]
    last = client.responses.create(**asked, input=items)
    assert last.output_text == "Done."
    assert last.usage.input_tokens == len(backend.asked[1][0])
    server.close_session("one")
    assert len(session.segments()) == 1
    assert sum(session.segments()[0].assistant_mask) == session.counts()["sampled_tokens"]


def test_without_an_open_sessions_secret_nothing_is_answered(server: EndpointServer, backend: ScriptedBackend) -> None:
    import anthropic
    import openai

    server.open_session("one")
    with pytest.raises(openai.AuthenticationError) as refused:
        openai_client(server, "other").chat.completions.create(model="any", messages=USER)
    assert refused.value.code == "invalid_api_key"
    with pytest.raises(openai.AuthenticationError):
        openai_client(server, "other").responses.create(model="any", input="Go.")
    with pytest.raises(openai.AuthenticationError):
        openai_client(server, "other").models.list()
    for call in ("create", "count_tokens"):
        given = {"max_tokens": 9} if call == "create" else {}
        with pytest.raises(anthropic.AuthenticationError) as denied:
            getattr(anthropic_client(server, "other").messages, call)(model="any", messages=USER, **given)
        assert denied.value.response.json()["error"]["type"] == "authentication_error"
    server.close_session("one")
    with pytest.raises(openai.AuthenticationError):
        openai_client(server).chat.completions.create(model="any", messages=USER)
    assert backend.asked == []


BAD_CALLS: list[tuple[str, Any, int, str]] = [
    ("/v1/chat/completions", "no JSON", 400, "the body is no JSON"),
    ("/v1/chat/completions", [], 400, "must be a JSON object"),
    ("/v1/chat/completions", {}, 400, "messages: is missing"),
    ("/v1/chat/completions", {"messages": [{"role": "wizard"}]}, 400, "messages[0].role: 'wizard' is none of"),
    ("/v1/chat/completions", {"messages": USER, "n": 2}, 400, "n: this server cannot follow it"),
    ("/v1/chat/completions", {"messages": USER, "stop": [1]}, 400, "stop: must be texts"),
    ("/v1/chat/completions", {"messages": USER, "temperature": True}, 400, "temperature: has the wrong type"),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, 400, "text alone"),
    ("/v1/chat/completions", {"messages": []}, 400, "messages: the last must be a user or tool turn"),
    ("/v1/messages", {"messages": USER}, 400, "max_tokens: is missing"),
    ("/v1/messages", {"messages": USER, "max_tokens": 0}, 400, "max_tokens: must be at least 1"),
    ("/v1/messages", {"messages": USER, "max_tokens": 9, "tools": [{"type": "web_search_20250305", "name": "web"}]},
     400, "'web_search_20250305' is not here"),
    ("/v1/messages", {"messages": [{"role": "user", "content": [{"type": "image"}]}], "max_tokens": 9}, 400, "alone"),
    ("/v1/messages", {"messages": USER, "max_tokens": 9, "tool_choice": {"type": "any"}}, 400, "tool_choice: this"),
    ("/v1/responses", {"input": "Go.", "previous_response_id": "resp_1"}, 400, "previous_response_id: this server"),
    ("/v1/responses", {"input": [{"type": "computer_call"}]}, 400, "'computer_call' items are not known"),
    ("/v1/messages/batches", {}, 404, "there is no such route"),
    ("/v1/embeddings", {}, 404, "there is no such route"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "status", "said"), BAD_CALLS, ids=lambda value: str(value)[:40])
def test_a_bad_call_has_its_protocols_envelope(
    server: EndpointServer, backend: ScriptedBackend, path: str, body: Any, status: int, said: str
) -> None:
    session = server.open_session("one")
    content = body if isinstance(body, str) else json.dumps(body)
    reply = httpx2.post(server.url + path, content=content, headers={"authorization": "Bearer one"})
    assert reply.status_code == status
    found = reply.json()
    assert ("type" in found) == path.startswith("/v1/messages")
    assert set(found["error"]) == ({"type", "message"} if "type" in found else {"message", "type", "param", "code"})
    assert said in found["error"]["message"]
    assert backend.asked == []
    server.close_session("one")
    assert session.counts()["unfinished_requests"] == 0


def test_a_context_that_overflows_is_refused_as_each_protocol_says_it(
    template: ChatTemplate, backend: ScriptedBackend
) -> None:
    import anthropic
    import openai

    backend.context_tokens = 20
    with EndpointServer(template, backend) as server:
        session = server.open_session("one")
        long = [{"role": "user", "content": "word " * 30}]
        with pytest.raises(openai.BadRequestError) as refused:
            openai_client(server).chat.completions.create(model="any", messages=long)
        assert refused.value.code == "context_length_exceeded"
        assert "maximum context length is 20 tokens" in refused.value.message
        with pytest.raises(openai.BadRequestError, match="maximum context length"):
            openai_client(server).responses.create(model="any", input="word " * 30)
        events = list(openai_client(server).responses.create(model="any", input="word " * 30, stream=True))
        assert [one.type for one in events] == ["response.created", "response.in_progress", "response.failed"]
        assert events[-1].response.error.code == "context_length_exceeded"
        with pytest.raises(anthropic.BadRequestError, match=r"prompt is too long: [0-9]+ tokens > 19 maximum"):
            anthropic_client(server).messages.create(model="any", max_tokens=9, messages=long)
        server.close_session("one")
    assert backend.asked == []
    assert session.counts()["unfinished_requests"] == 0


def test_a_reply_that_fills_the_context_says_so(template: ChatTemplate, backend: ScriptedBackend) -> None:
    count = len(template.opening_ids([ChatMessage("user", "Go.")], []))
    backend.context_tokens = count + 3
    with EndpointServer(template, backend) as server:
        server.open_session("one")
        reply = anthropic_client(server).messages.create(model="any", max_tokens=90, messages=USER)
        assert (reply.stop_reason, reply.usage.output_tokens) == ("model_context_window_exceeded", 3)
        reply = anthropic_client(server).messages.create(model="any", max_tokens=2, messages=USER)
        assert (reply.stop_reason, reply.usage.output_tokens) == ("max_tokens", 2)
        assert openai_client(server).chat.completions.create(
            model="any", messages=USER).choices[0].finish_reason == "length"  # fmt: skip
        response = openai_client(server).responses.create(model="any", input="Go.")
        assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")


def test_a_session_has_its_turns_and_no_more(server: EndpointServer, backend: ScriptedBackend) -> None:
    import anthropic
    import openai

    session = server.open_session("one", SessionLimits(max_turns=1))
    openai_client(server).chat.completions.create(model="any", messages=USER)
    retrying = openai_client(server).with_options(max_retries=2)
    with pytest.raises(openai.RateLimitError, match="had its 1 replies"):
        retrying.chat.completions.create(model="any", messages=USER)
    with pytest.raises(anthropic.RateLimitError) as refused:
        anthropic_client(server).messages.create(model="any", max_tokens=9, messages=USER)
    assert refused.value.response.json()["error"]["type"] == "rate_limit_error"
    assert refused.value.response.headers["x-should-retry"] == "false"
    assert len(backend.asked) == 1
    assert session.limit_hit == "turns"


def test_a_session_has_its_tokens_and_no_more(server: EndpointServer, backend: ScriptedBackend) -> None:
    session = server.open_session("one", SessionLimits(max_sampled_tokens=10))
    replies = [post(server, "/v1/chat/completions", {"messages": USER, "max_tokens": 7}) for _ in range(3)]
    assert [one.status_code for one in replies] == [200, 200, 429]
    assert [sampling.max_new_tokens for _, sampling in backend.asked] == [7, 3]
    assert session.limit_hit == "tokens"
    server.close_session("one")
    assert session.counts()["sampled_tokens"] == 10


STREAMED = [
    ("/v1/chat/completions", {"messages": USER, "stream": True}, b": keepalive\n\n"),
    ("/v1/messages", {"messages": USER, "max_tokens": 400, "stream": True}, b"event: ping\n"),
    ("/v1/responses", {"input": "Go.", "stream": True}, b": keepalive\n\n"),
]


@pytest.mark.parametrize(("path", "body", "sign"), STREAMED, ids=lambda value: str(value)[:30])
def test_a_stream_stays_alive_while_the_model_samples(
    server: EndpointServer, backend: ScriptedBackend, path: str, body: Any, sign: bytes
) -> None:
    server.open_session("one")
    backend.held.set()
    got = b""
    with httpx2.stream("POST", server.url + path, json=body, headers=BEARER, timeout=60) as reply:
        for part in reply.iter_raw():
            got += part
            if got.count(sign) == 3:
                backend.held.clear()
    assert got.count(sign) >= 3
    assert got.index(sign) > got.index(b"data: ")  # the opening comes first
    assert b"Two at once." in got[got.rindex(sign) :]


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_frees_its_slot(server: EndpointServer, backend: ScriptedBackend, stream: bool) -> None:
    session = server.open_session("one", SessionLimits(max_turns=1))
    backend.held.set()
    with pytest.raises(httpx2.ReadTimeout), httpx2.stream(
        "POST", f"{server.url}/v1/chat/completions", json={"messages": USER, "stream": stream}, headers=BEARER,
        timeout=httpx2.Timeout(30, read=0.5 if not stream else 0.01),
    ) as reply:  # fmt: skip
        for _ in reply.iter_raw():
            pass
    until(lambda: backend.cancelled == 1)
    until(lambda: session.counts()["unfinished_requests"] == 0)
    assert session.counts()["discarded"] == 1
    backend.held.clear()
    assert post(server, "/v1/chat/completions", {"messages": USER}).status_code == 200  # it was no turn
    server.close_session("one")
    assert session.counts()["calls"] == 1


def test_a_request_that_is_repeated_while_it_is_under_way_is_answered_once(
    server: EndpointServer, backend: ScriptedBackend
) -> None:
    session = server.open_session("one")
    backend.held.set()
    replies: list[Any] = []
    threads = [
        threading.Thread(target=lambda: replies.append(post(server, "/v1/chat/completions", {"messages": USER})))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
        until(lambda: backend.under_way == 1)
    until(lambda: [one.waiting for one in [*session.under_way.values()]] == [3])  # the others have arrived
    backend.held.clear()
    for thread in threads:
        thread.join(60)
    assert len({one.content for one in replies}) == 1
    assert len(replies) == 3
    assert len(backend.asked) == 1
    server.close_session("one")
    assert (session.counts()["calls"], session.counts()["requests"]) == (1, 1)


def test_a_retry_of_an_answered_request_gets_the_same_answer(server: EndpointServer, backend: ScriptedBackend) -> None:
    session = server.open_session("one")
    first = post(server, "/v1/chat/completions", {"messages": USER})
    retry = post(server, "/v1/chat/completions", {"messages": USER}, {"x-stainless-retry-count": "1"})
    assert retry.content == first.content
    assert len(backend.asked) == 1
    another = post(server, "/v1/chat/completions", {"messages": USER})  # no retry: the client wants another reply
    assert another.content != first.content
    server.close_session("one")
    assert session.counts()["calls"] == 2


def test_a_retry_does_not_get_an_answer_that_was_discarded(server: EndpointServer, backend: ScriptedBackend) -> None:
    session = server.open_session("one")
    backend.deaf = True
    backend.held.set()
    with pytest.raises(httpx2.TimeoutException):
        httpx2.post(f"{server.url}/v1/chat/completions", json={"messages": USER}, headers=BEARER, timeout=1.0)
    until(lambda: any(one.cancelled.is_set() for one in session.under_way.values()))
    backend.held.clear()
    until(lambda: session.counts().get("discarded") == 1)
    retry = post(server, "/v1/chat/completions", {"messages": USER}, {"x-stainless-retry-count": "1"})
    assert retry.status_code == 200
    server.close_session("one")
    assert len(backend.asked) == 2
    assert (session.counts()["calls"], len(session.segments())) == (1, 1)


def test_a_client_that_gives_up_and_retries_is_recorded_once(server: EndpointServer, backend: ScriptedBackend) -> None:
    """The SDK's own time-out and retry: the first try is cancelled, the second is answered."""
    session = server.open_session("one")
    backend.held.set()

    def let_go() -> None:
        until(lambda: backend.cancelled == 1)
        backend.held.clear()

    threading.Thread(target=let_go, daemon=True).start()
    client = openai_client(server).with_options(timeout=1.0, max_retries=5)
    assert client.chat.completions.create(model="any", messages=USER).choices
    server.close_session("one")
    counts = session.counts()
    assert (counts["calls"], counts["unfinished_requests"]) == (1, 0)
    assert counts["discarded"] == backend.cancelled


def test_sampling_is_the_servers_where_it_records_and_the_clients_elsewhere(
    template: ChatTemplate, backend: ScriptedBackend
) -> None:
    asked = {"messages": USER, "temperature": 0.1, "seed": 5, "max_tokens": 400, "stop": ["at"]}
    mine = Sampling(temperature=0.7, max_new_tokens=100, seed=3)
    with EndpointServer(template, backend, sampling=mine) as server:
        server.open_session("one", seed=8)
        server.open_session("two", seed=8)
        for secret in ("one", "two"):
            assert post(server, "/v1/chat/completions", {**asked, "top_p": 0.5}, secret=secret).status_code == 200
        [one, two] = [sampling for _, sampling in backend.asked]
        assert one == two
        assert (one.temperature, one.max_new_tokens, one.stop) == (0.7, 100, ())
        assert one.seed != 5
    with EndpointServer(template, backend, sampling=mine, recording=False) as server:
        assert post(server, "/v1/chat/completions", asked).status_code == 200
        assert backend.asked[-1][1] == Sampling(0.1, 100, 5, ("at",))
        assert post(server, "/v1/chat/completions", {"messages": USER}).status_code == 200
        assert backend.asked[-1][1].temperature == 0.7
        refused = post(server, "/v1/chat/completions", {**asked, "top_p": 0.5})
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, "top_p")


def test_without_recording_an_api_key_is_asked_for_where_there_is_one(
    template: ChatTemplate, backend: ScriptedBackend
) -> None:
    with EndpointServer(template, backend, recording=False, key="open") as server:
        replies = [
            post(server, "/v1/chat/completions", {"messages": USER}, secret=one) for one in ("open", "x", "opeN")
        ]
    assert [one.status_code for one in replies] == [200, 401, 401]


class ThreadsSeen(ChatTemplate):
    """A template that notes in which thread it works, and takes its time."""

    seen: ClassVar[set[str]] = set()
    seconds = 0.0

    def opening_ids(self, messages: Any, tools: Any) -> list[int]:
        self.seen.add(threading.current_thread().name)
        time.sleep(self.seconds)
        return super().opening_ids(messages, tools)

    def tail_ids(self, *given: Any, **named: Any) -> list[int] | None:
        self.seen.add(threading.current_thread().name)
        return super().tail_ids(*given, **named)

    def parse(self, token_ids: Any) -> ChatMessage:
        self.seen.add(threading.current_thread().name)
        return super().parse(token_ids)


def test_nothing_encodes_on_the_event_loop(template: ChatTemplate) -> None:
    slow = ThreadsSeen.of(template.tokenizer)
    assert isinstance(slow, ThreadsSeen)
    with EndpointServer(slow, ScriptedBackend(template, [DONE])) as server:
        server.open_session("one")
        first = post(server, "/v1/chat/completions", {"messages": USER}).json()["choices"][0]["message"]
        post(server, "/v1/chat/completions", {"messages": [*USER, first, *USER]})
        post(server, "/v1/messages/count_tokens", {"messages": USER})
        assert slow.seen
        assert server._thread is not None
        assert server._thread.name not in slow.seen
        slow.seconds = 3.0
        other = threading.Thread(target=post, args=(server, "/v1/chat/completions", {"messages": USER * 2}))
        other.start()
        time.sleep(0.5)
        began = time.monotonic()
        assert httpx2.get(f"{server.url}/health").status_code == 200
        assert time.monotonic() - began < 2.0  # while the other is being encoded
        other.join()


def test_counts_and_lists_are_true(server: EndpointServer, backend: ScriptedBackend) -> None:
    server.open_session("one")
    client = anthropic_client(server)
    asked = {"model": "any", "system": "Act.", "messages": USER, "tools": [TOOL]}
    counted = client.messages.count_tokens(**asked).input_tokens
    assert counted == client.messages.create(**asked, max_tokens=400).usage.input_tokens == len(backend.asked[0][0])
    [model] = list(client.models.list())
    assert (model.id, client.models.retrieve("scripted").id) == ("scripted", "scripted")
    [model] = list(openai_client(server).models.list())
    assert (model.id, model.max_model_len) == ("scripted", 4096)
    assert openai_client(server).models.retrieve("scripted") == model
    assert httpx2.get(f"{server.url}/v1/models/other", headers=BEARER).status_code == 404


class Follower:
    """A watch that ends the session with the second reply."""

    def __init__(self) -> None:
        self.replies: list[tuple[Any, ChatMessage, list[int]]] = []
        self.failures: list[tuple[str, str]] = []

    def __call__(self, request: Any, message: ChatMessage, token_ids: Any) -> bool:
        assert not request.ended  # it is not recorded yet
        self.replies.append((request, message, list(token_ids)))
        return len(self.replies) == 2

    def failed(self, outcome: Any, error: str) -> None:
        self.failures.append((outcome, error))


def test_a_watch_sees_each_reply_and_ends_the_session(server: EndpointServer, backend: ScriptedBackend) -> None:
    follower = Follower()
    session = server.open_session("one", watch=follower)
    first = post(server, "/v1/chat/completions", {"messages": USER, "tools": [FUNCTION]}).json()["choices"][0][
        "message"
    ]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "out"} for call in first["tool_calls"]]
    asked = {"messages": [*USER, first, *results], "tools": [FUNCTION]}
    assert post(server, "/v1/chat/completions", asked).status_code == 200
    last = {"messages": [*asked["messages"], {"role": "assistant", "content": "Done."}, *USER], "tools": [FUNCTION]}
    assert post(server, "/v1/chat/completions", last).status_code == 429
    assert len(backend.asked) == 2
    assert session.limit_hit == "watch"
    assert [call.id for call in follower.replies[0][1].tool_calls] == [call["id"] for call in first["tool_calls"]]
    assert follower.failures == []


def test_a_backend_of_its_own_answers_one_session(server: EndpointServer, template: ChatTemplate) -> None:
    server.open_session("one", backend=ScriptedBackend(template, [ChatMessage("assistant", "Mine.")]))
    assert "Mine." in post(server, "/v1/chat/completions", {"messages": USER}).text


def test_a_unix_socket_is_served_and_removed(template: ChatTemplate, backend: ScriptedBackend, tmp_path: Path) -> None:
    path = tmp_path / "endpoint"
    with EndpointServer(template, backend, uds=path) as server:
        server.open_session("one")
        assert server.address == str(path)
        with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(path)), base_url="http://model") as client:
            assert client.post("/v1/chat/completions", json={"messages": USER}, headers=BEARER).status_code == 200
    assert not path.exists()


def test_closing_stops_what_is_under_way(server: EndpointServer, backend: ScriptedBackend) -> None:
    session = server.open_session("one")
    backend.held.set()
    replies: list[Any] = []
    body = {"messages": USER}
    thread = threading.Thread(target=lambda: replies.append(post(server, "/v1/chat/completions", body)))
    thread.start()
    until(lambda: backend.under_way == 1)
    server.close_session("one")
    assert session.counts()["unfinished_requests"] == 0
    thread.join(60)
    assert [one.status_code for one in replies] == [401]
    assert backend.cancelled == 1


def test_anthropic_turns_are_read_as_they_were_meant(server: EndpointServer, backend: ScriptedBackend) -> None:
    """What Claude Code sends: a system turn behind the first, results before text, thinking, cache marks."""
    backend.script = [ChatMessage("assistant", "Look.", "I think.", (ToolCall("", "shell", None, "{broken"),)), DONE]
    session = server.open_session("one")
    system = [{"type": "text", "text": "Act.", "cache_control": {"type": "ephemeral"}}]
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]},
        {"role": "system", "content": "# Environment"},
    ]
    asked = {"model": "any", "max_tokens": 400, "system": system, "tools": [TOOL], "thinking": {"type": "adaptive"},
             "output_config": {"effort": "high"}}  # fmt: skip
    reply = post(server, "/v1/messages", {**asked, "messages": messages}).json()
    assert [one["type"] for one in reply["content"]] == ["thinking", "text", "tool_use"]
    messages.append({"role": "assistant", "content": reply["content"]})
    result = {"type": "tool_result", "tool_use_id": reply["content"][2]["id"], "is_error": True,
              "content": [{"type": "text", "text": "no JSON"}]}  # fmt: skip
    messages.append({"role": "user", "content": [result, {"type": "text", "text": "Try again."}]})
    assert post(server, "/v1/messages", {**asked, "messages": messages}).status_code == 200
    server.close_session("one")
    (row,) = session.segments()
    text = backend.template.decode(row.token_ids)
    order = [text.index(one) for one in ("Act.", "One.\nTwo.", "# Environment", "{broken", "no JSON", "Try again.")]
    assert order == sorted(order)
