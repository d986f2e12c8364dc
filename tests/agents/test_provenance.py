"""No sampled token is lost or moved: what is trained was sampled after exactly the tokens before it."""

import random
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agents.canonical import ChatMessage, ToolCall, ToolSpec, same_message
from agents.provenance import AgentSession
from agents.templates import ChatTemplate
from schema import Segment
from tests.helpers.agent_sessions import CharacterTemplate, Log, conversations, play, violations
from tests.helpers.real_base import real_base

PAIRS = 20_000  # random sessions; each is played in two orders of arrival
CHUNKS = 8
SHELL = [ToolSpec("sh", "Run a command.", {"type": "object", "properties": {"command": {"type": "string"}}})]


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_sessions_keep_every_property_in_any_order_of_arrival(chunk: int) -> None:
    for seed in range(chunk, PAIRS, CHUNKS):
        named = seed % 2 == 0  # without names, conversations meet in the same messages: the order then decides
        one, other = play(seed, 0, named=named), play(seed, 1, named=named)
        assert (seed, violations(one), violations(other)) == (seed, [], [])
        if named:
            assert (seed, rows(one), counts(one)) == (seed, rows(other), counts(other))


def test_the_random_sessions_hold_every_case() -> None:
    """A property that is never tried holds anyway."""
    seen: set[str] = set()
    for seed in range(300):
        seen |= {name for name, count in play(seed).session.counts().items() if count}
    assert seen == {
        "requests", "calls", "forks", "openings", "encoded_tokens", "sampled_tokens", "trained_tokens", "discarded",
        "cut_by_length", "empty_replies", "side_call_calls", "retry_calls", "log_probs_calls", "untrained_side_call",
        "untrained_retry", "untrained_log_probs", "untrained_not_sent", "fork_assistant_edited",
        "fork_assistant_unknown", "fork_history_dropped", "fork_history_edited", "fork_history_replaced",
        "fork_new_conversation", "fork_system_changed", "fork_template", "fork_tools_changed",
    }  # fmt: skip


def test_conversations_in_threads_give_the_rows_that_they_give_one_after_the_other() -> None:
    for seed in range(100):
        expected = play(seed, named=True)
        log = Log(AgentSession(CharacterTemplate()))
        randomness = random.Random(f"{seed}")
        going = [one.go_on(log, randomness.choice([1, 1, 2, 3])) for one in conversations(randomness, log, named=True)]
        threads = [threading.Thread(target=list, args=(one,)) for one in going]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert violations(log) == []
        assert (rows(log), counts(log)) == (rows(expected), counts(expected))


def drop_a_token(row: Segment) -> None:
    at = row.assistant_mask.index(1)
    for values in (row.token_ids, row.assistant_mask, row.log_probs):
        del values[at]


def shift_the_mask(row: Segment) -> None:
    row.assistant_mask[:] = [0, *row.assistant_mask[:-1]]


def shift_the_log_probs(row: Segment) -> None:
    row.log_probs[:] = [None, *row.log_probs[:-1]]


def change_a_token_before(row: Segment) -> None:
    row.token_ids[0] += 1


def train_the_context(row: Segment) -> None:
    row.assistant_mask[0], row.log_probs[0] = 1, -1.0


def train_a_part(row: Segment) -> None:
    at = row.assistant_mask.index(1)
    row.assistant_mask[at], row.log_probs[at] = 0, None


@pytest.mark.parametrize(
    "plant",
    [drop_a_token, shift_the_mask, shift_the_log_probs, change_a_token_before, train_the_context, train_a_part],
)
def test_a_planted_fault_in_a_row_is_seen(plant: Callable[[Segment], None]) -> None:
    for seed in range(50):
        log = play(seed)
        segments = [row for row in log.session.segments() if sum(row.assistant_mask) > 1]
        if segments:
            plant(segments[0])
            assert violations(log, segments) != []


def test_a_row_too_many_or_too_few_is_seen() -> None:
    log = play(7)
    segments = log.session.segments()
    assert violations(log, [*segments, segments[0]]) != []
    assert violations(log, segments[1:]) != []


def test_a_linear_session_whose_template_strips_old_reasoning_is_one_segment() -> None:
    talk = Talk()
    for turn in range(5):
        reply = talk.reply(f"(thought {turn})text!sh=a!sh=b")
        talk.messages.append(ChatMessage("assistant", reply.content + " ", "", reply.tool_calls))
        talk.messages += [ChatMessage("tool", "out", tool_call_id=call.id) for call in reply.tool_calls]
    (row,) = talk.session.segments()
    assert trained(row) == "".join(f"(thought {turn})text!sh=a!sh=b\1" for turn in range(5))
    assert talk.counts("forks", "openings") == [0, 1]


def test_encoded_tokens_of_a_linear_session_are_those_that_were_not_sampled() -> None:
    encoded = []
    for turns in (10, 20, 40):
        talk = Talk()
        for _ in range(turns):
            talk.turn("text!sh=a", "output")
        (row,) = talk.session.segments()
        encoded += talk.counts("encoded_tokens")
        assert encoded[-1] == row.assistant_mask.count(0)
    assert encoded[2] - encoded[1] == 2 * (encoded[1] - encoded[0])


class Talk:
    """A client with one conversation."""

    def __init__(self, session: AgentSession | None = None, opening: str = "go", tools: Any = SHELL) -> None:
        self.session = session or AgentSession(CharacterTemplate())
        self.messages = [ChatMessage("system", "s"), ChatMessage("user", opening)]
        self.tools = tools

    def reply(self, text: str, *, log_probs: int | None = None) -> ChatMessage:
        """What the model says now; nothing is added to the conversation. `text` empty: not even an end marker."""
        request = self.session.prepare(self.messages, self.tools)
        ids = [ord(letter) for letter in text] + [1] * bool(text)
        return self.session.record(request, ids, [-0.5] * (len(ids) if log_probs is None else log_probs), "stop")

    def turn(self, text: str, then: str) -> ChatMessage:
        """What the model says now, and the user's or the tool's answer to it."""
        reply = self.reply(text)
        results = [ChatMessage("tool", then, tool_call_id=call.id) for call in reply.tool_calls]
        self.messages += [reply, *(results or [ChatMessage("user", then)])]
        return reply

    def counts(self, *names: str) -> list[int]:
        """Some of the session's counts."""
        counts = self.session.counts()
        return [counts.get(name, 0) for name in names]

    def rows(self) -> list[str]:
        """The trained text of each segment."""
        return [trained(row) for row in self.session.segments()]


def test_a_retried_request_reads_the_same_ids_and_one_reply_is_trained() -> None:
    talk = Talk()
    talk.turn("one!sh=a", "out")
    first = talk.reply("lost")
    encoded = talk.counts("encoded_tokens")
    second = talk.reply("kept")
    assert talk.counts("encoded_tokens") == encoded
    assert talk.rows() == ["one!sh=a\1kept\1"]  # none is continued: the last
    talk.messages += [first, ChatMessage("user", "on")]
    talk.reply("end")
    assert second.content == "kept"
    assert talk.rows() == ["one!sh=a\1lost\1end\1"]  # the continued one
    assert talk.counts("retry_calls", "untrained_retry", "forks", "fork_retry") == [1, 5, 0, 0]


def test_a_middle_turn_that_the_client_skips_is_a_fork() -> None:
    talk = Talk()
    talk.turn("one", "on")
    talk.turn("two", "further")
    talk.messages = [*talk.messages[:2], *talk.messages[4:]]
    talk.reply("three")
    assert sorted(talk.rows()) == ["one\1two\1", "three\1"]
    assert talk.counts("fork_assistant_edited") == [1]


@pytest.mark.parametrize(
    ("at", "content", "cause", "expected"),
    [
        (1, "go now", "history_replaced", ["end\1", "one\1two\1"]),  # before an output
        (4, "onn", "assistant_edited", ["end\1", "one\1two\1"]),
        (2, "on", "assistant_edited", ["end\1", "one\1two\1"]),  # inside an output
    ],
)
def test_drift_is_a_fork_and_nothing_sampled_is_overwritten(
    at: int, content: str, cause: str, expected: list[str]
) -> None:
    talk = Talk()
    talk.turn("one", "on")
    talk.turn("two", "further")
    talk.messages[at] = ChatMessage(talk.messages[at].role, content)
    talk.reply("end")
    assert sorted(talk.rows()) == expected
    assert talk.counts("forks", f"fork_{cause}") == [1, 1]


def test_reasoning_that_the_client_changes_is_a_fork_and_reasoning_that_it_leaves_out_is_none() -> None:
    for replayed, forks in (("", 0), (" why ", 0), ("why not", 1)):
        talk = Talk()
        reply = talk.reply("(why)one")
        talk.messages += [ChatMessage("assistant", reply.content, replayed), ChatMessage("user", "on")]
        talk.reply("two")
        assert (replayed, talk.counts("forks")) == (replayed, [forks])


def test_a_request_that_comes_again_with_other_reasoning_is_a_fork() -> None:
    talk = Talk()
    reply = talk.reply("(why)one")
    for replayed, forks in (("why", 0), ("why not", 1)):
        talk.messages = [*talk.messages[:2], replace(reply, reasoning=replayed), ChatMessage("user", "on")]
        talk.reply("two")
        assert talk.counts("forks") == [forks]


def test_drift_after_an_output_shares_it_and_trains_it_once() -> None:
    talk = Talk()
    talk.turn("one", "on")
    talk.reply("two")
    talk.messages[-1] = ChatMessage("user", "differently")
    talk.reply("three")
    assert sorted(talk.rows()) in (["one\1two\1", "three\1"], ["one\1three\1", "two\1"])
    assert all("one" in text_of(row) for row in talk.session.segments())
    assert talk.counts("forks") == [0]


def test_a_history_that_shrinks_and_then_comes_back_goes_on_where_it_was() -> None:
    talk = Talk()
    talk.turn("one", "on")
    full = [*talk.messages]
    talk.messages = full[:2]
    talk.messages[-1] = ChatMessage("user", "so far: one")
    talk.turn("compacted", "on")
    talk.messages = [*full]
    talk.reply("two")
    assert sorted(talk.rows()) == ["compacted\1", "one\1two\1"]
    assert talk.counts("forks", "fork_history_replaced") == [1, 1]


def test_an_empty_output_is_counted_and_gives_no_row() -> None:
    talk = Talk()
    talk.turn("", "on")
    assert talk.rows() == []
    talk.reply("one")
    assert talk.rows() == ["one\1"]
    assert talk.counts("empty_replies", "openings") == [1, 1]


def test_log_probs_that_do_not_fit_are_not_trained_and_stay_context() -> None:
    talk = Talk()
    reply = talk.reply("one", log_probs=2)
    talk.messages += [reply, ChatMessage("user", "on")]
    talk.reply("two")
    (row,) = talk.session.segments()
    assert trained(row) == "two\1"
    assert "one" in text_of(row)
    assert talk.counts("untrained_log_probs", "trained_tokens") == [4, 4]


def test_log_probs_that_are_not_finite_are_not_trained() -> None:
    talk = Talk()
    request = talk.session.prepare(talk.messages, talk.tools)
    talk.session.record(request, [ord("a"), 1], [-0.5, float("nan")], "stop")
    assert talk.rows() == []
    assert talk.counts("untrained_log_probs") == [2]


def test_sub_agents_in_parallel_are_rows_of_their_own() -> None:
    """A again after B; slime's state machine of June 2026 cut A in two here."""
    main = Talk()
    dispatch = main.reply("!task=a!task=b")
    a, b = Talk(main.session, "sub a"), Talk(main.session, "sub b")
    a.turn("a1", "on")
    b.reply("b1")
    a.reply("a2")
    results = [ChatMessage("tool", "done", tool_call_id=call.id) for call in reversed(dispatch.tool_calls)]
    main.messages += [dispatch, *results]
    main.reply("end")
    assert sorted(main.rows()) == ["!task=a!task=b\1end\1", "a1\1a2\1", "b1\1"]


@pytest.mark.parametrize("at_once", [False, True])
def test_of_two_conversations_that_begin_at_once_one_is_a_fork(at_once: bool) -> None:
    a, b = Talk(), Talk(opening="look")
    b.session = a.session
    if at_once:
        requests = [a.session.prepare(one.messages, one.tools) for one in (a, b)]
        for request in requests:
            a.session.record(request, [65, 1], [-0.5, -0.5], "stop")
    else:
        for one in (a, b):
            one.reply("A")
    assert a.counts("openings", "forks", "fork_history_replaced") == [2, 1, 1]


def test_a_sub_agent_that_never_returns_and_one_that_compacts() -> None:
    main = Talk()
    main.reply("!task=a")
    sub = Talk(main.session, "sub")
    sub.turn("s1", "on")
    sub.messages = [*sub.messages[:2], ChatMessage("user", "so far")]
    sub.reply("s2")
    assert sorted(main.rows()) == ["!task=a\1", "s1\1", "s2\1"]


@pytest.mark.parametrize("system", ["You are a title generator.", "s"])
def test_a_call_for_a_title_between_two_turns_is_not_trained_and_cuts_nothing(system: str) -> None:
    main = Talk()
    main.turn("one", "on")
    side = Talk(main.session, "name this", tools=SHELL if "title" in system else [])
    side.messages[0] = ChatMessage("system", system)
    side.reply("A title")
    main.reply("two")
    assert main.rows() == ["one\1two\1"]
    assert main.counts("side_call_calls", "untrained_side_call") == [1, 8]


def test_a_call_for_a_summary_is_not_trained() -> None:
    main = Talk()
    main.turn("one", "Your task is to create a detailed summary of the conversation so far.")
    main.reply("a summary")
    assert main.rows() == ["one\1"]


def test_a_request_without_messages_is_no_side_call() -> None:
    assert not AgentSession(CharacterTemplate()).is_side_call([], SHELL)


def test_an_agent_that_offers_no_tools_at_all_is_trained() -> None:
    talk = Talk(tools=[])
    talk.turn("one", "on")
    talk.reply("two")
    assert talk.rows() == ["one\1two\1"]


def test_the_rule_of_a_session_says_what_a_side_call_is() -> None:
    talk = Talk(AgentSession(CharacterTemplate(), lambda messages, tools: "quietly" in messages[-1].content))
    talk.turn("one", "quietly now")
    talk.reply("two")
    assert talk.rows() == ["one\1"]


def test_a_reply_that_was_not_sent_is_counted_and_its_request_can_come_again() -> None:
    talk = Talk()
    request = talk.session.prepare(talk.messages, talk.tools)
    talk.session.read(request, [65, 1])
    talk.session.discard(request, [65, 1])
    assert talk.session.answers_to(request) == 0
    with pytest.raises(ValueError, match="before"):
        talk.session.record(request, [65, 1], [-0.5, -0.5], "stop")
    talk.reply("one")
    assert talk.rows() == ["one\1"]
    assert talk.counts("untrained_not_sent", "discarded", "retry_calls") == [2, 1, 0]


def test_a_request_waits_for_the_record_of_the_reply_that_it_continues() -> None:
    talk = Talk()
    request = talk.session.prepare(talk.messages, talk.tools)
    reply = talk.session.read(request, [65, 1])
    assert talk.session.answers_to(request) == 1
    timer = threading.Timer(0.3, talk.session.record, (request, [65, 1], [-0.5, -0.5], "stop"))
    timer.start()
    talk.messages += [reply, ChatMessage("user", "on")]
    talk.reply("two")
    timer.join()
    assert talk.rows() == ["A\1two\1"]


def test_ids_of_calls_that_the_client_changes_from_request_to_request_do_not_count() -> None:
    talk = Talk()
    for turn in range(3):
        talk.turn("one!sh=a!sh=b", "out")
        new = {call.id: f"{turn}/{call.id}" for message in talk.messages for call in message.tool_calls}
        talk.messages = [
            replace(
                message,
                tool_calls=tuple(replace(call, id=new[call.id]) for call in message.tool_calls),
                tool_call_id=new.get(message.tool_call_id or "", message.tool_call_id),
            )
            for message in talk.messages
        ]
    assert talk.counts("forks") == [0]
    assert len(talk.rows()) == 1


def test_numbers_that_javascript_writes_differently_are_the_same() -> None:
    def call(**arguments: Any) -> ChatMessage:
        return ChatMessage("assistant", tool_calls=(ToolCall("x", "sh", arguments),))

    assert same_message(call(a=1.0, b=[2**53 + 1]), call(b=[2**53], a=1))
    assert not same_message(call(a=1.5), call(a=1))
    assert not same_message(call(a=True), call(a=1))
    assert not same_message(call(a="1"), call(a=1))


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(real_base(tmp_path_factory))


def test_a_linear_session_of_the_real_base_is_one_segment(smollm2: Any) -> None:
    template = ChatTemplate.of(smollm2)
    session = AgentSession(template)
    messages = [ChatMessage("system", "Use the shell."), ChatMessage("user", "List the files.")]
    sampled: list[int] = []
    for turn in range(3):
        request = session.prepare(messages, SHELL)
        calls = (ToolCall("a", "sh", {"command": f"ls {turn}"}), ToolCall("b", "sh", {"command": "pwd"}))
        ids = template.write(ChatMessage("assistant", "Look.", tool_calls=calls))
        reply = session.record(request, ids, [-0.5] * len(ids), "tool")
        results = [ChatMessage("tool", "a.txt", tool_call_id=call.id) for call in reply.tool_calls]
        messages = [*messages, reply, *results]
        sampled += ids
    (segment,) = session.segments()
    assert [one for one, on in zip(segment.token_ids, segment.assistant_mask, strict=True) if on] == sampled
    assert session.counts()["forks"] == 0
    assert session.counts()["encoded_tokens"] == segment.assistant_mask.count(0)


def counts(log: Log) -> dict[str, int]:
    """The counts of a session without the causes of its forks, which depend on what was recorded before."""
    return {name: count for name, count in log.session.counts().items() if not name.startswith("fork_")}


def rows(log: Log) -> list[str]:
    """The segments of a session in an order of their own."""
    return sorted(row.model_dump_json() for row in log.session.segments())


def trained(row: Segment) -> str:
    """The trained text of a row of the character template."""
    return "".join(chr(id_) for id_, on in zip(row.token_ids, row.assistant_mask, strict=True) if on)


def text_of(row: Segment) -> str:
    """The whole text of a row of the character template."""
    return "".join(map(chr, row.token_ids))
