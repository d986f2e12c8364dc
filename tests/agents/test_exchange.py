"""What a client replays is read whatever it is."""

from typing import Any

import pytest

from agents.exchange import arguments_in, dumps


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ({}, "")), ('{"command":"ls"}', ({"command": "ls"}, "")), ("ls -la", (None, "ls -la")),
        ("[1]", (None, "[1]")), ("[" * 30_000, (None, "[" * 30_000)), ('{"command": NaN}', (None, '{"command": NaN}')),
    ],
)  # fmt: skip
def test_replayed_arguments_that_are_no_object_are_text(text: str, found: tuple[Any, str]) -> None:
    assert arguments_in(text) == found


def test_half_a_character_can_be_sent_back() -> None:
    assert dumps({"metadata": "cut \ud800"}).encode() == b'{"metadata":"cut ?"}'
