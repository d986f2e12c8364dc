"""A local operator records the tokens that it read and wrote, and its seed decides its session."""

import os
import subprocess
import sys
from typing import Any

import pytest

from model.decoder import Decoder
from model.loading import load_model
from model.render import Renderer, opening, session_messages, start_prompt
from operators.local import LocalOperator
from operators.protocol import ContextFullError
from tests.helpers import ROOT, tiny

SCENARIO = tiny.scenario()
START = [*opening(SCENARIO), *start_prompt()]


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    return load_model(tiny.base(tmp_path_factory.mktemp("operators") / "base"), dtype="fp32", device="cpu")


def local(loaded: tuple[Any, Any], **settings: Any) -> LocalOperator:
    model, tokenizer = loaded
    decoder = Decoder(model, use_cache=settings.pop("use_cache", True))
    return LocalOperator(decoder, Renderer.for_base(tokenizer), **{"max_new_tokens": 24, **settings})


def play(operator: LocalOperator, turns: int, seed: int = 3) -> list[tuple[str, str | None]]:
    operator.begin(SCENARIO, seed)
    played: list[tuple[str, str | None]] = []
    for index in range(turns):
        move = operator.command(session_messages(SCENARIO, played))
        played.append((move.text, "" if index % 2 else f"amber {index}\n"))
    return played


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_cache_changes_no_token(loaded: tuple[Any, Any], temperature: float) -> None:
    with_cache = local(loaded, temperature=temperature)
    without = local(loaded, temperature=temperature, use_cache=False)
    assert play(with_cache, 5) == play(without, 5)
    assert with_cache.tokens().token_ids == without.tokens().token_ids  # type: ignore[union-attr]


def test_greedy_commands_equal_transformers_generate(loaded: tuple[Any, Any]) -> None:
    import torch

    model, tokenizer = loaded
    operator = local(loaded)
    operator.begin(SCENARIO, 0)
    move = operator.command(START)
    context = Renderer.for_base(tokenizer).context(START)
    out = model.generate(torch.tensor([context]), max_new_tokens=24, do_sample=False, eos_token_id=None)
    assert move.token_ids == out[0, len(context) :].tolist()[: len(move.token_ids or [])]


def test_recorded_tokens_equal_the_rendered_session(loaded: tuple[Any, Any]) -> None:
    operator = local(loaded, temperature=1.0)
    operator.begin(SCENARIO, 11)
    turns: list[tuple[str, str | None]] = []
    recorded: list[list[int] | None] = []
    for index in range(4):
        move = operator.command(session_messages(SCENARIO, turns))
        recorded.append(move.token_ids)
        turns.append((move.text, f"river {index}\n"))
    tokens = operator.tokens()
    assert tokens is not None
    encoded = Renderer.for_base(loaded[1]).encode(session_messages(SCENARIO, turns), recorded)
    assert tokens.token_ids == encoded.token_ids
    assert tokens.assistant_mask == encoded.mask
    sampled = sum(len(ids) for ids in recorded if ids)
    assert sum(value is not None for value in tokens.log_probs) == sampled
    assert all(value is None or mask for value, mask in zip(tokens.log_probs, tokens.assistant_mask, strict=True))


def test_recorded_log_probs_equal_one_forward_pass(loaded: tuple[Any, Any]) -> None:
    import torch

    operator = local(loaded, temperature=0.7)
    play(operator, 3)
    tokens = operator.tokens()
    assert tokens is not None
    with torch.inference_mode():
        logits = loaded[0](torch.tensor([tokens.token_ids])).logits[0]  # (T, V)
    expected = torch.log_softmax(logits / 0.7, dim=-1)
    for index, value in enumerate(tokens.log_probs):
        if value is not None:
            assert value == pytest.approx(float(expected[index - 1, tokens.token_ids[index]]), abs=1e-3)


def test_same_seed_samples_the_same_session(loaded: tuple[Any, Any]) -> None:
    operator = local(loaded, temperature=1.0)
    assert play(operator, 3, seed=1) == play(operator, 3, seed=1)
    assert play(operator, 3, seed=1) != play(operator, 3, seed=2)


def test_full_context_is_an_error(loaded: tuple[Any, Any]) -> None:
    operator = local(loaded, max_new_tokens=64)
    operator.limit = len(Renderer.for_base(loaded[1]).context(START)) + 10
    operator.begin(SCENARIO, 0)
    with pytest.raises(ContextFullError):
        operator.command(START)
    assert operator.tokens() is None


@pytest.mark.parametrize(
    "module", ["operators.chat", "operators.endpoint", "operators.local", "model.loading", "operators.reference"]
)
def test_importing_an_operator_imports_no_torch(module: str) -> None:
    code = f"import sys, {module}; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=False).returncode == 0


def test_usage_counts_what_each_call_read_and_wrote(loaded: tuple[Any, Any]) -> None:
    operator = local(loaded)
    operator.begin(tiny.scenario(), seed=0)
    messages = [*opening(tiny.scenario()), *start_prompt()]
    first = operator.command(messages)
    held = len(operator.context.ids)
    messages = session_messages(tiny.scenario(), [(first.text, "out\n")])
    second = operator.command(messages)
    assert first.usage is not None
    assert second.usage is not None
    assert first.usage.cached_input_tokens == 0
    assert first.usage.output_tokens == len(first.token_ids or [])
    assert second.usage.cached_input_tokens == held  # all that the first call read and wrote
    total = second.usage.cached_input_tokens + second.usage.input_tokens + second.usage.output_tokens
    assert len(operator.context.ids) - total in (0, len(operator.renderer.operator_ids("")))
