"""Text = tokens = text, and the mask covers the operator's turns alone, on the tokenizer of the real base."""

import random
from pathlib import Path
from typing import Any

import pytest

from bench.served import differing_contexts, probe
from bench.tokenizers import random_session, violations, writable_with
from model.render import Renderer, Wire, session_messages
from operators.endpoint import wire_messages
from tests.helpers.real_base import real_base
from tests.helpers.tiny import scenario

SESSIONS = 500


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(real_base(tmp_path_factory))


@pytest.mark.slow
@pytest.mark.parametrize("wire", ["markers", "chat"])
def test_random_sessions_keep_every_invariant(smollm2: Any, wire: Wire) -> None:
    renderer = Renderer.for_base(smollm2, wire)
    writable = writable_with(renderer)
    for index in range(SESSIONS):
        messages = random_session(random.Random(f"real/{index}"), writable)
        assert violations(renderer, messages) == [], index


def test_a_broken_invariant_is_seen(smollm2: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a letter that the tokenizer has no token for, turns that are left out of a context, a mask over all."""
    renderer = Renderer.for_base(smollm2, "chat")
    messages = session_messages(scenario(), [("ls", "a.txt\n"), ("exit", None)])
    assert violations(renderer, messages) == []
    lossy = session_messages(scenario(), [("ls \x04", "a.txt\n"), ("exit", None)])
    assert violations(renderer, lossy) == ["text", "mask"]
    with monkeypatch.context() as planted:
        planted.setattr(renderer, "environment_ids", lambda messages: [])
        assert violations(renderer, messages) == ["context"]
    monkeypatch.setattr("model.render._mask", lambda offsets, spans: [1] * len(offsets))
    assert violations(renderer, messages) == ["mask"]


def test_a_server_reads_the_ids_of_the_chat_render(smollm2: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    renderer = Renderer.for_base(smollm2, "chat")
    sessions = [probe(scenario())]
    assert differing_contexts(smollm2, renderer, sessions) == []
    monkeypatch.setattr(
        "bench.served.wire_messages", lambda messages, _: wire_messages(messages, "Act as a shell user.")
    )
    assert len(differing_contexts(smollm2, renderer, sessions)) == 6


def test_the_directory_says_where_it_comes_from(tmp_path_factory: pytest.TempPathFactory) -> None:
    card: Path = real_base(tmp_path_factory) / "README.md"
    assert "Apache-2.0" in card.read_text()
