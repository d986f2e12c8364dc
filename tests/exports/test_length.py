"""A session is counted as documented, and cut on whole round trips, under budget, without an orphan."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from exports.chat import tools_of
from exports.length import OVERHEAD_TOKENS, counter, cut, estimated_tokens
from exports.rows import Row, fault_of, opening_length, own_row
from tests.helpers import tiny
from tests.helpers.foreign import call, foreign, trip


def row_of(messages: list[dict[str, Any]]) -> Row:
    return Row("a:1", "i", "h", None, "m", "cheap", True, messages)


def test_the_estimate_is_the_documented_one() -> None:
    assert estimated_tokens([]) == 0
    assert estimated_tokens([{"role": "user", "content": ""}]) == 2
    assert estimated_tokens([{"role": "user", "content": "abcd"}]) == 3
    assert estimated_tokens([{"role": "user", "content": "\U0001f600é"}]) == 3
    one = {"id": "ab", "type": "function", "function": {"name": "x", "arguments": "{ }"}}
    assert estimated_tokens([{"role": "assistant", "content": None, "tool_calls": [one]}]) == 4


@given(sizes=st.lists(st.integers(0, 400), min_size=1, max_size=8), budget=st.integers(1, 600))
def test_a_cut_session_is_under_budget_and_has_every_call_and_its_result(sizes: list[int], budget: int) -> None:
    calls = [call("bash", command="ls"), call("read", path="x")]
    messages = foreign("i", trips=[trip(at, calls, "y" * size) for at, size in enumerate(sizes)])["messages"]
    count = counter(None)
    whole = row_of(messages)
    shorter = cut(whole, budget_tokens=budget, count=count)
    if count(whole) <= budget:
        return
    if shorter is None:
        assert count(row_of([*messages[:2], *messages[-4:]])) > budget  # the last trip with calls, and the last word
        return
    assert shorter.truncated
    assert shorter.tokens == count(shorter) <= budget
    assert fault_of(shorter.messages) is None
    assert shorter.messages[:2] == messages[:2]
    kept = len(shorter.messages) - 2
    assert shorter.messages[2:] == messages[-kept:]  # an end of the session, unchanged
    longer = messages[:2] + messages[-(kept + 3) :]  # one more round trip would not have fitted
    assert kept + 3 > len(messages) - 2 or count(row_of(longer)) > budget


CALLS: list[dict[str, Any]] = [
    {"role": "user", "content": "Fix it."},
    {"role": "assistant", "content": None, "tool_calls": [call("bash", command="ls")]},
    {"role": "tool", "tool_call_id": "c1", "content": "README.md"},
]
SCHEMA = json.dumps(tools_of(row_of(CALLS)))
TOOLS = "{{ tools | tojson if tools else '' }}{% for m in messages %}{{ m.content + '.' }}{% endfor %}"


@pytest.mark.parametrize(
    ("template", "texts"),
    [
        (TOOLS, [SCHEMA + "Fix it." + ".." + "README.md."]),  # the null content is empty, and the schemas are counted
        (
            "{{ raise_exception('no') }}",
            ["Fix it.", "README.md", "c1", "bash", '{"command": "ls"}', SCHEMA[1:-1]],
        ),
    ],
)
def test_a_base_counts_what_the_forms_write(tmp_path: Path, template: str, texts: list[str]) -> None:
    assert '"command": {"type": "string"}' in SCHEMA
    fast = copy.deepcopy(tiny.tokenizer("byte_level"))
    fast.chat_template = template
    fast.save_pretrained(tmp_path)
    count = counter(str(tmp_path))
    expected = sum(len(fast.encode(text, add_special_tokens=False)) for text in texts)
    assert count(row_of(CALLS)) == expected + (OVERHEAD_TOKENS * len(CALLS) if len(texts) > 1 else 0)
    broken = [*CALLS[:1], {"role": "assistant", "content": None, "tool_calls": [call("bash")]}]
    broken[1]["tool_calls"][0]["function"]["arguments"] = "no JSON"
    assert count(row_of(broken).replaced(unusable="broken")) > 0


@pytest.mark.parametrize(
    ("turns", "kept"),
    [
        (trip(0, [call("bash", command="ls")], "y" * 4000) * 2, None),  # only the last word would fit
        ([*trip(0, [call("bash", command="ls")], "y" * 4000), *trip(1, [call("bash", command="ls")])], 3),
        ([{"role": "assistant", "content": "```sh\nls\n```"}, {"role": "user", "content": "y" * 4000}] * 2, None),
        ([{"role": "assistant", "content": "Why?"}, {"role": "user", "content": "y" * 4000}] * 2, 1),  # mere talk
    ],
)
def test_a_cut_leaves_work_where_there_was_some(turns: list[dict[str, Any]], kept: int | None) -> None:
    opening, done = {"role": "user", "content": "x"}, {"role": "assistant", "content": "Done."}
    shorter = cut(row_of([opening, *turns, done]), budget_tokens=200, count=counter(None))
    assert (shorter and len(shorter.messages) - 1) == kept


def test_a_cut_of_our_session_leaves_a_command() -> None:
    row = own_row(Path("t"), tiny.trajectory(steps=3))
    turns = row.messages[opening_length(row.messages) :]
    size = counter(None)(row.replaced(messages=[*row.messages[: -len(turns)], *turns[-1:]]))  # of `exit` alone
    assert turns[-1] == {"role": "assistant", "content": "exit"}
    assert cut(row, budget_tokens=size, count=counter(None)) is None
    shorter = cut(row, budget_tokens=counter(None)(row) - 1, count=counter(None))
    assert shorter is not None
    assert len(shorter.messages) < len(row.messages)


def test_one_giant_turn_cannot_be_cut() -> None:
    messages = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y" * 4000}]
    assert cut(row_of(messages), budget_tokens=100, count=counter(None)) is None
