"""The chat client retries what may pass, refuses the rest, and accepts only chat completions."""

from typing import Any

import pytest

from operators.chat import ChatClient, ContextLengthError, EndpointError, RequestRefusedError
from schema import Usage
from tests.helpers.chat_server import (
    Behaviour,
    ChatServer,
    cut,
    fail,
    hang_up,
    not_json,
    refuse_format,
    say,
    slow,
    wrong_schema as schema,
)

MESSAGES = [{"role": "user", "content": "ls?"}]
FORMAT = {"type": "json_object"}
PASSING: dict[str, Behaviour] = {
    "429": fail(429, retry_after=0), "500": fail(500, retry_after=0), "hang-up": hang_up(), "not JSON": not_json(),
    "cut": cut(say("ls")), "slow": slow(60, say("ls")), "no choices": schema({"choices": []}), "a list": schema([1]),
    "choices that are no list": schema({"choices": {"0": {}}}), "no message": schema({"choices": [{"index": 0}]}),
    "content that is no text": schema({"choices": [{"message": {"content": ["ls"]}}]}), "a surrogate": say("\ud800"),
}  # fmt: skip


def client(server: ChatServer, **changes: Any) -> ChatClient:
    return ChatClient(server.url, **{"key": "k", "timeout_seconds": 30.0, "retries": 1, **changes})


def patience(trouble: str, seconds: float) -> dict[str, float]:
    """A short timeout where the server is slow, and nowhere else: a loaded machine may take its time."""
    return {"timeout_seconds": seconds} if trouble == "slow" else {}


@pytest.mark.parametrize("trouble", PASSING)
def test_passing_failures_are_retried(trouble: str) -> None:
    with ChatServer([PASSING[trouble], say("ls")]) as server:
        # Of the slow server the second answer has to arrive within the timeout that the first one ran into.
        assert client(server, **patience(trouble, 5.0)).ask(MESSAGES, model="m").text == "ls"
        assert len(server.requests) == 2


@pytest.mark.parametrize("trouble", PASSING)
def test_lasting_failures_name_the_endpoint(trouble: str) -> None:
    with ChatServer([PASSING[trouble]]) as server, pytest.raises(EndpointError, match=server.url):
        client(server, **patience(trouble, 1.0)).ask(MESSAGES, model="m")
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [401, 403, 404])
def test_refused_keys_and_paths_are_not_retried(status: int) -> None:
    with ChatServer([fail(status)]) as server, pytest.raises(EndpointError) as caught:
        client(server).ask(MESSAGES, model="m")
    assert not isinstance(caught.value, RequestRefusedError)
    assert len(server.requests) == 1


def test_answer_without_content() -> None:
    with ChatServer([say(None), say(None), say("ls")]) as server:
        assert client(server).ask(MESSAGES, model="m").text is None
        assert client(server).ask(MESSAGES, model="m", text_required=True).text == "ls"
        assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("told", "read", "cached"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 80}}, 20, 80),
        ({"prompt_tokens_details": {"cached_tokens": None}}, 100, 0),
        ({"prompt_tokens_details": None}, 100, 0),
        ({}, 100, 0),
    ],
)
def test_cached_input_is_counted_apart(told: dict[str, Any], read: int, cached: int) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150, **told}
    choices = {
        "ask": {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ls"}},
        "complete": {"index": 0, "finish_reason": "stop", "text": "ls"},
    }
    bodies = [schema({"choices": [choice], "usage": usage}) for choice in choices.values()]
    with ChatServer(bodies) as server:
        asked = client(server)
        replies = [asked.ask(MESSAGES, model="m"), asked.complete("$ ", model="m", stop=["\n"])]
    for reply in replies:
        assert reply.usage == Usage(calls=1, input_tokens=read, cached_input_tokens=cached, output_tokens=50)
        assert reply.prompt_tokens == 100


def test_refused_response_format_is_left_out() -> None:
    with ChatServer([refuse_format(say("ls"))]) as server:
        asked = client(server)
        for _ in range(2):
            assert asked.ask(MESSAGES, model="m", response_format=FORMAT).text == "ls"
        assert [request.body.get("response_format") for request in server.requests] == [FORMAT, None, None]


def test_a_request_that_is_too_long_says_nothing_about_response_format() -> None:
    with ChatServer([fail(400, message="maximum context length is 9 tokens"), say("ls")]) as server:
        asked = client(server)
        with pytest.raises(ContextLengthError):
            asked.ask(MESSAGES, model="m", response_format=FORMAT)
        assert asked.ask(MESSAGES, model="m", response_format=FORMAT).text == "ls"
        assert [request.body.get("response_format") for request in server.requests] == [FORMAT, FORMAT]


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "This model's maximum context length is 4096 tokens", ContextLengthError),
        (422, "The context length is 4096", RequestRefusedError),
        (400, "no such role", RequestRefusedError),
    ],
)
def test_refused_requests_have_their_own_errors(status: int, message: str, kind: type[EndpointError]) -> None:
    with ChatServer([fail(status, message=message)]) as server, pytest.raises(kind, match=message) as caught:
        client(server).ask(MESSAGES, model="m")
    assert type(caught.value) is kind
    assert len(server.requests) == 1


def test_parameters_and_token_counts() -> None:
    with ChatServer([say("ls", finish_reason="length", tokens=(3, 4)), say("ls", tokens=None)]) as server:
        reply = client(server).ask(MESSAGES, model="m", temperature=0.5, max_tokens=9)
        assert (reply.finish_reason, reply.total_tokens) == ("length", 7)
        assert client(server).ask(MESSAGES, model="m").total_tokens is None
        body = server.requests[0].body
        assert (body["model"], body["temperature"], body["max_tokens"]) == ("m", 0.5, 9)
        assert body["messages"] == MESSAGES
