"""An endpoint gets the scaffold and the messages alone, and its text comes back verbatim."""

import json
from typing import Any

import pytest

from authoring.scaffold import SCAFFOLD
from model.render import ORIENTATION, Renderer, Wire, opening, session_messages, start_prompt
from operators.chat import OLLAMA_URL
from operators.endpoint import EndpointOperator, wire_messages
from operators.protocol import ContextFullError, OperatorError, UnusableAnswerError
from schema import BadInputError, Message
from tests.helpers import tiny
from tests.helpers.chat_server import ChatServer, cut, fail, go_on, hang_up, not_json, say, slow, wrong_schema

SCENARIO = tiny.scenario()
START = [*opening(SCENARIO), *start_prompt()]


LATE = slow(60, say("ls"))


def patience(behaviour: Any) -> dict[str, float]:
    """A short timeout where the server is slow, and nowhere else: a loaded machine may take its time."""
    return {"timeout_seconds": 1.0} if behaviour is LATE else {}


def endpoint(server: ChatServer, **settings: Any) -> EndpointOperator:
    operator = EndpointOperator(
        "test", server.url, **{"scaffold": SCAFFOLD, "retries": 1, "timeout_seconds": 30.0, **settings}
    )
    operator.begin(SCENARIO, 5)
    return operator


def test_text_comes_back_verbatim() -> None:
    text = "```sh\n ls -la \n```\n"
    with ChatServer([say(text)]) as server:
        assert endpoint(server).command(START).text == text


def test_endpoint_gets_the_scaffold_and_no_directive() -> None:
    with ChatServer([say("ls")]) as server:
        endpoint(server).command(START)
        sent = server.requests[0].body["messages"]
    assert [turn["role"] for turn in sent] == ["system", "user"]
    assert sent[0]["content"] == f"{SCAFFOLD}\n\n{ORIENTATION}"
    assert not any(directive in json.dumps(sent) for directive in SCENARIO.directives)
    assert SCENARIO.reference_solution[0] not in json.dumps(sent)


def test_consecutive_user_turns_are_merged() -> None:
    messages = session_messages(SCENARIO, [("ls", "a.txt\n"), ("cat a.txt", "no newline")])
    wire = wire_messages(messages, SCAFFOLD)
    assert [turn["role"] for turn in wire] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert wire[3]["content"] == "a.txt\n$ "
    assert wire[5]["content"] == "no newline\n$ "


def test_without_a_scaffold_turns_are_sent_as_they_are() -> None:
    messages = session_messages(SCENARIO, [("ls", "a.txt\n"), ("cat a.txt", "no newline")])
    with ChatServer([say("ls")]) as server:
        endpoint(server, scaffold=None).command(messages)
        sent = server.requests[0].body["messages"]
    assert sent == [{"role": message.role, "content": message.content} for message in messages]


def test_scaffold_and_orientation_share_no_six_words() -> None:
    def grams(text: str) -> set[tuple[str, ...]]:
        words = text.lower().split()
        return {tuple(words[start : start + 6]) for start in range(len(words) - 5)}

    assert not grams(SCAFFOLD) & grams(ORIENTATION)


def test_messages_hold_no_scaffold() -> None:
    assert all(sentence not in message.content for message in START for sentence in SCAFFOLD.split(". "))
    assert all(isinstance(message, Message) for message in START)


@pytest.mark.parametrize(
    "misbehaviour",
    [fail(429, retry_after=0), fail(500, retry_after=0), hang_up(), not_json(), cut(say("ls")), wrong_schema([1])],
    ids=["429", "500", "hang_up", "not_json", "cut", "wrong_schema"],
)
def test_one_failure_is_retried(misbehaviour: Any) -> None:
    with ChatServer([misbehaviour, say("ls")]) as server:
        assert endpoint(server).command(START).text == "ls"
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    "misbehaviour",
    [
        fail(429, retry_after=0), fail(503, retry_after=0), fail(401), fail(404), hang_up(), not_json(),
        wrong_schema({"choices": []}), wrong_schema({"error": "busy"}), say(None), LATE,
    ],
    ids=["429", "503", "401", "404", "hang_up", "not_json", "no_choices", "error", "no_content", "slow"],
)  # fmt: skip
def test_lasting_failure_is_an_operator_error(misbehaviour: Any) -> None:
    with ChatServer([misbehaviour]) as server, pytest.raises(OperatorError, match=r"127\.0\.0\.1"):
        endpoint(server, retries=1, **patience(misbehaviour)).command(START)


@pytest.mark.parametrize(
    ("misbehaviour", "unusable"),
    [
        (fail(400), True), (fail(422), True), (not_json(), True), (wrong_schema({"choices": []}), True),
        (say("\ud800"), True), (say(None), True),
        (fail(401), False), (fail(503, retry_after=0), False), (hang_up(), False), (LATE, False),
    ],
    ids=["400", "422", "not_json", "no_choices", "surrogate", "no_content", "401", "503", "hang_up", "slow"],
)  # fmt: skip
def test_an_answer_that_cannot_be_used_is_told_from_none(misbehaviour: Any, unusable: bool) -> None:
    with ChatServer([misbehaviour]) as server, pytest.raises(OperatorError) as caught:
        endpoint(server, retries=1, **patience(misbehaviour)).command(START)
    assert isinstance(caught.value, UnusableAnswerError) is unusable


def test_dead_endpoint_is_an_operator_error() -> None:
    with ChatServer([say("ls")]) as server:
        url = server.url
    operator = EndpointOperator("test", url, scaffold=SCAFFOLD, retries=1)
    with pytest.raises(OperatorError, match="APIConnectionError"):
        operator.command(START)


def test_too_long_request_is_context_full() -> None:
    answer = fail(400, message="This model's maximum context length is 4096 tokens")
    with ChatServer([answer]) as server, pytest.raises(ContextFullError):
        endpoint(server).command(START)


def test_environment_names_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SEKFT_OP_MODEL", "SEKFT_OP_URL", "SEKFT_OP_KEY", "SEKFT_URL", "SEKFT_KEY"):
        monkeypatch.delenv(name, raising=False)

    def named() -> EndpointOperator:
        return EndpointOperator.from_environment(scaffold=SCAFFOLD)

    with pytest.raises(BadInputError, match="SEKFT_OP_MODEL"):
        named()
    monkeypatch.setenv("SEKFT_OP_MODEL", "m")
    assert named().url == OLLAMA_URL
    monkeypatch.setenv("SEKFT_URL", "http://teacher/v1")
    monkeypatch.setenv("SEKFT_KEY", "k")
    assert (named().url, named().key) == ("http://teacher/v1", "k")
    monkeypatch.setenv("SEKFT_OP_URL", "http://operator/v1")
    assert named().url == "http://operator/v1"


@pytest.mark.parametrize("wire", ["markers", "chat"])
@pytest.mark.parametrize("family", ["byte_level", "metaspace"])
def test_a_prompt_is_the_rendered_context_and_the_stop_string_its_end_marker(wire: Wire, family: str) -> None:
    tokenizer = tiny.tokenizer(family)
    renderer = Renderer(tokenizer, wire)
    messages = session_messages(SCENARIO, [("ls", "a.txt\n"), ("cat a.txt", " no newline")])
    with ChatServer([go_on("ls -la" + renderer.end_text), go_on("exit")]) as server:
        operator = endpoint(server, scaffold=None, renderer=renderer, temperature=0.0)
        assert operator.command(messages).text == "ls -la"
        assert operator.command(messages).text == "exit"
        (sent, path) = (server.requests[0].body, server.requests[0].path)
    assert path == "/v1/completions"
    assert sent["stop"] == [renderer.end_text]
    assert sent["temperature"] == 0.0
    ids = renderer.context(messages)
    plain = ids if renderer.bos_id is None else ids[1:]
    assert sent["prompt"] == renderer.decode(plain)
    assert sent["prompt"].endswith("<|assistant|>\n" if wire == "markers" else "<|im_start|>assistant\n")


def test_a_completion_without_a_choice_is_asked_for_again() -> None:
    renderer = Renderer(tiny.tokenizer("byte_level"), "markers")
    with ChatServer([wrong_schema({"choices": []}), wrong_schema({"choices": [{"text": 3}]})]) as server:
        with pytest.raises(OperatorError, match="unintelligible answer"):
            endpoint(server, scaffold=None, renderer=renderer).command(START)
        assert len(server.requests) == 2
