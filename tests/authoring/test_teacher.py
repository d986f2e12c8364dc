"""The teacher survives a failing endpoint; a reply becomes a scenario or a reason."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from authoring.gate import gate
from authoring.teacher import (
    BudgetSpentError,
    BundleError,
    Teacher,
    complaint,
    parse_bundle,
    question,
    scenario_of,
)
from operators.chat import EndpointError, RequestRefusedError
from schema import Scenario
from taxonomy import Combination, combinations
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
    wrong_schema,
)
from tests.helpers.hand_scenarios import bundle

COMBINATION = Combination("sort_unique", "subcommand", "motd", "help", "medium")
MESSAGES = [{"role": "user", "content": "one bundle, please"}]


LATE = slow(60, say("late"))


def patience(behaviour: Behaviour, seconds: float) -> dict[str, float]:
    """A short timeout where the server is slow, and nowhere else: a loaded machine may take its time."""
    return {"timeout_seconds": seconds} if behaviour is LATE else {}


def teacher(server: ChatServer, raw: Path, **changes: Any) -> Teacher:
    settings: dict[str, Any] = {"model": "m", "key": "k", "timeout_seconds": 30.0, "retries": 2, **changes}
    return Teacher(raw, url=server.url, **settings)


@pytest.mark.parametrize(
    "before",
    [
        [],
        [fail(429, retry_after=0.1)],
        [fail(500), fail(503)],
        [LATE],
        [hang_up()],
        [cut(say("half"))],
        [not_json()],
        [wrong_schema({"answer": "yes"}), wrong_schema(["yes"])],
        [wrong_schema("yes")],
    ],
    ids=["none", "429", "500", "slow", "hang-up", "cut-off body", "not JSON", "wrong schema", "a string"],
)
def test_a_passing_failure_is_retried(before: list[Behaviour], tmp_path: Path) -> None:
    with ChatServer([*before, say("fine")]) as server:
        # Of the slow server the second answer has to arrive within the timeout that the first one ran into.
        short = patience(before[0], 5.0) if before else {}
        assert teacher(server, tmp_path, **short).reply("a-1", MESSAGES) == "fine"
        assert len(server.requests) == len(before) + 1


@pytest.mark.parametrize(
    "always",
    [fail(429, retry_after=0.05), fail(500), fail(401), fail(404), hang_up(), cut(say("half")), not_json(),
     wrong_schema({"answer": "yes"}), LATE],
    ids=["429", "500", "401", "404", "hang-up", "cut-off body", "not JSON", "wrong schema", "slow"],
)  # fmt: skip
def test_a_lasting_failure_names_the_endpoint(always: Behaviour, tmp_path: Path) -> None:
    with ChatServer([always]) as server, pytest.raises(EndpointError, match=server.url):
        teacher(server, tmp_path, retries=1, **patience(always, 1.0)).reply("a-1", MESSAGES)
    assert list(tmp_path.glob("*.json")) == []


def test_a_dead_endpoint_is_named(tmp_path: Path) -> None:
    with ChatServer([say("fine")]) as server:
        asked = teacher(server, tmp_path, retries=0)
        asked.reply("a-1", MESSAGES)
    with pytest.raises(EndpointError, match=server.url):
        asked.reply("a-2", MESSAGES)


def test_a_refused_response_format_is_left_out(tmp_path: Path) -> None:
    with ChatServer([refuse_format(say("fine"))]) as server:
        asked = teacher(server, tmp_path)
        assert [asked.reply(name, MESSAGES) for name in ("a-1", "a-2")] == ["fine", "fine"]
        assert ["response_format" in request.body for request in server.requests] == [True, False, False]


def test_a_refused_request_has_its_own_error(tmp_path: Path) -> None:
    with ChatServer([fail(400, message="too long")]) as server, pytest.raises(RequestRefusedError, match="too long"):
        teacher(server, tmp_path).reply("a-1", MESSAGES)


def test_a_kept_reply_is_used_again(tmp_path: Path) -> None:
    with ChatServer([say("one"), say("two")]) as server:
        assert teacher(server, tmp_path).reply("a-1", MESSAGES) == "one"
        again = teacher(server, tmp_path)
        assert again.spent_tokens == 150
        assert again.reply("a-1", MESSAGES) == "one"
        assert len(server.requests) == 1
        assert again.reply("a-1", [*MESSAGES, {"role": "user", "content": "other"}]) == "two"
    kept = json.loads((tmp_path / "a-1.json").read_text())
    assert (kept["reply"], kept["total_tokens"], kept["finish_reason"]) == ("two", 150, "stop")


def test_the_token_budget_ends_requests(tmp_path: Path) -> None:
    with ChatServer([say("one")]) as server:
        asked = teacher(server, tmp_path, max_total_tokens=300)
        for name in ("a-1", "a-2"):
            asked.reply(name, MESSAGES)
        for spent in (asked, teacher(server, tmp_path, max_total_tokens=300)):
            with pytest.raises(BudgetSpentError, match="300 of 300"):
                spent.reply("a-3", MESSAGES)
        assert len(server.requests) == 2


def test_a_server_may_count_no_tokens(tmp_path: Path) -> None:
    with ChatServer([say("one", tokens=None)]) as server:
        asked = teacher(server, tmp_path)
        assert asked.reply("a-1", MESSAGES) == "one"
        assert asked.spent_tokens == 0


@pytest.mark.parametrize(
    "reply",
    [
        bundle(),
        f"Here it is:\n```json\n{bundle()}\n```\nEnjoy {{it}}!",
        f'<think>maybe {{"provider": 1}}</think>{bundle()}',
        re.sub(r"(?<!\\)\\n", "\n", bundle()),  # real newlines inside strings
        'First {"a": 1}. ' + bundle(),
    ],
    ids=["plain", "fenced with prose", "thought about", "raw newlines", "after another object"],
)
def test_a_bundle_is_found_in_a_reply(reply: str) -> None:
    assert parse_bundle(reply) == parse_bundle(bundle())


@pytest.mark.parametrize(
    ("reply", "gate", "reason"),
    [
        ("", "reply", "no complete JSON object"),
        ("I am sorry.", "reply", "no complete JSON object"),
        (bundle()[:-200], "reply", "no complete JSON object"),
        ("[1, 2]", "reply", "no complete JSON object"),
        ('{"provider": ' + "[" * 100_000, "reply", "no complete JSON object"),
        ('{"directives": ' + "1" * 5000 + "}", "reply", "no complete JSON object"),
        ('{"provider": {"name": "duty"}}', "schema", "Field required"),
        (bundle(terminal="exit"), "schema", "terminal: Extra inputs"),
        (bundle(directives="all"), "schema", "directives"),
    ],
    ids=[
        "nothing",
        "prose",
        "cut off",
        "an array",
        "nested",
        "a long number",
        "parts missing",
        "a field of ours",
        "wrong type",
    ],
)
def test_a_reply_without_a_bundle_gives_the_reason(reply: str, gate: str, reason: str) -> None:
    with pytest.raises(BundleError, match=reason) as caught:
        parse_bundle(reply)
    assert caught.value.gate == gate


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"fixtures": [{"path": "/etc/passwd", "text": "x"}]}, "must be a normalised path below"),
        ({"fixtures": [{"path": "/home/operator/../x", "text": "x"}]}, "must be a normalised path below"),
        ({"fixtures": [{"path": "/home/operator/x", "text": "x", "mode": "rw"}]}, "fixtures"),
        ({"fixtures": [{"path": "/home/operator/x", "type": "socket"}]}, "type"),
        ({"fixtures": [{"path": "/home/operator/x", "text": "x" * 300_000}]}, "is over"),
        ({"announcement": {"text": "duty", "place": "MOTD"}}, "takes no place"),
        ({"provider": {"name": "../duty", "source": "x", "help_commands": ["x"], "directive_commands": ["x"]}}, "path"),
        ({"reference_solution": []}, "reference_solution"),
    ],
)
def test_an_invalid_bundle_names_the_field(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(BundleError, match=reason):
        made(bundle(**changes))


def made(reply: str) -> Scenario:
    return scenario_of(parse_bundle(reply), COMBINATION, id="a-1", model="m", seed=1, request_hash="h")


def test_the_model_chooses_no_axis_and_no_terminal() -> None:
    scenario = made(bundle())
    assert scenario.combination() == COMBINATION
    assert (scenario.terminal, scenario.provenance.author, scenario.provenance.gates) == ("exit", "teacher", {})


def test_blocked_work_needs_the_teachers_attempt() -> None:
    combination = Combination("missing_source", "subcommand", "motd", "help", "medium")
    (_, user), (_, ordinary) = (question(one, seed="1/0") for one in (combination, COMBINATION))
    assert "blocked_attempt holds" in user["content"]
    assert "blocked_attempt" not in ordinary["content"]
    for attempt, wanted in ([], None), (["cp ledger.txt backup.txt"], ["cp ledger.txt backup.txt"]):
        reply = bundle(blocked_outputs=["/home/operator/backup.txt"], blocked_attempt=attempt)
        scenario = scenario_of(parse_bundle(reply), combination, id="a-1", model="m", seed=1, request_hash="h")
        assert scenario.blocked_attempt == wanted
        found = gate(scenario) if not attempt else None
        assert not found or (found.gate, "wants blocked_attempt" in str(found.reason)) == ("shape", True)


def test_questions_depend_on_the_seed() -> None:
    asked = {question(combination, seed="1/0")[1]["content"] for combination in combinations()}
    assert len(asked) == sum(1 for _ in combinations())
    assert question(COMBINATION, seed="1/0") == question(COMBINATION, seed="1/0")
    assert question(COMBINATION, seed="1/0") != question(COMBINATION, seed="1/1")


def test_a_complaint_has_gate_and_reason() -> None:
    assert "'prefixes': the state after" in complaint("prefixes", "the state after the first command")["content"]
