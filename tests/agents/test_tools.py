"""A call is read as the model wrote it: no argument is dropped, and prose is no call."""

import pytest

from agents.exchange import arguments_in
from agents.tools import HERMES, MISTRAL, ToolForm

OTHER_FIELD = '{"name": "sh", "parameters": {"command": "ls"}}'


@pytest.mark.parametrize(
    ("form", "text"),
    [(HERMES, f"Look.<tool_call>{OTHER_FIELD}</tool_call>"), (MISTRAL, f"Look.[TOOL_CALLS] [{OTHER_FIELD}]")],
)
def test_arguments_in_another_field_are_kept_as_text(form: ToolForm, text: str) -> None:
    content, (call,) = form.read(text)
    assert (content, call.name, call.arguments, call.raw) == ("Look.", "sh", None, '"parameters": {"command": "ls"}')
    assert arguments_in(call.raw) == (None, call.raw)  # a client that replays it replays the same call


@pytest.mark.parametrize("json", ['{"name": "sh"}', OTHER_FIELD])
def test_a_tag_that_is_not_closed_and_has_no_arguments_is_text(json: str) -> None:
    text = f"A call begins with <tool_call>{json}"
    assert HERMES.read(text) == (text, [])


def test_a_call_without_arguments_and_one_that_is_not_closed_are_calls() -> None:
    for text in ('<tool_call>{"name": "sh"}</tool_call>', '<tool_call>{"name": "sh", "arguments": {}}'):
        content, (call,) = HERMES.read(text)
        assert (content, call.name, call.arguments) == ("", "sh", {})
