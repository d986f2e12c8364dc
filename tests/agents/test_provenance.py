"""No sampled token is lost or moved: what is trained was sampled after exactly the tokens before it."""

from typing import Any

import pytest

from agents.canonical import ChatMessage, ToolCall, ToolSpec
from agents.provenance import AgentSession
from agents.templates import ChatTemplate
from tests.helpers.real_base import real_base

SHELL = [ToolSpec("sh", "Run a command.", {"type": "object", "properties": {"command": {"type": "string"}}})]


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
