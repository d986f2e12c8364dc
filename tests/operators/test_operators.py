"""An operator answers with text verbatim: endpoints told the scaffold alone, local models on exact tokens."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from authoring.scaffold import SCAFFOLD
from model import loading
from model.decoder import Decoder
from model.loading import check_model, hold, load_model, model_hash, release
from model.render import ORIENTATION, Renderer, opening, session_messages, start_prompt
from operators.chat import OLLAMA_URL
from operators.endpoint import EndpointOperator, wire_messages
from operators.local import LocalOperator
from operators.protocol import ContextFullError, OperatorError
from schema import BadInputError, Message, write_json
from tests.helpers import ROOT, tiny
from tests.helpers.chat_server import ChatServer, cut, fail, hang_up, not_json, say, slow, wrong_schema

SCENARIO = tiny.scenario()
START = [*opening(SCENARIO), *start_prompt()]


def endpoint(server: ChatServer, **settings: Any) -> EndpointOperator:
    operator = EndpointOperator(
        "test", server.url, scaffold=SCAFFOLD, **{"retries": 1, "timeout_seconds": 5.0, **settings}
    )
    operator.begin(SCENARIO, 5)
    return operator


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.base(tmp_path_factory.mktemp("operators") / "base")


@pytest.fixture(scope="session")
def loaded(base: Path) -> tuple[Any, Any]:
    return load_model(base, device="cpu")


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


def test_an_endpoints_text_comes_back_verbatim() -> None:
    text = "```sh\n ls -la \n```\n"
    with ChatServer([say(text)]) as server:
        assert endpoint(server).command(START).text == text


def test_an_endpoint_is_told_the_scaffold_in_its_system_turn_and_nothing_of_the_task() -> None:
    with ChatServer([say("ls")]) as server:
        endpoint(server).command(START)
        sent = server.requests[0].body["messages"]
    assert [turn["role"] for turn in sent] == ["system", "user"]
    assert sent[0]["content"] == f"{SCAFFOLD}\n\n{ORIENTATION}"
    assert not any(directive in json.dumps(sent) for directive in SCENARIO.directives)
    assert SCENARIO.reference_solution[0] not in json.dumps(sent)


def test_user_turns_in_a_row_are_merged_for_an_endpoint_only() -> None:
    messages = session_messages(SCENARIO, [("ls", "a.txt\n"), ("cat a.txt", "no newline")])
    wire = wire_messages(messages, SCAFFOLD)
    assert [turn["role"] for turn in wire] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert wire[3]["content"] == "a.txt\n$ "
    assert wire[5]["content"] == "no newline\n$ "


def test_scaffold_and_orientation_share_no_six_words_in_a_row() -> None:
    def grams(text: str) -> set[tuple[str, ...]]:
        words = text.lower().split()
        return {tuple(words[start : start + 6]) for start in range(len(words) - 5)}

    assert not grams(SCAFFOLD) & grams(ORIENTATION)


@pytest.mark.parametrize(
    "misbehaviour",
    [fail(429, retry_after=0), fail(500, retry_after=0), hang_up(), not_json(), cut(say("ls")), wrong_schema([1])],
    ids=["429", "500", "hang_up", "not_json", "cut", "wrong_schema"],
)
def test_an_endpoint_that_misbehaves_once_is_asked_again(misbehaviour: Any) -> None:
    with ChatServer([misbehaviour, say("ls")]) as server:
        assert endpoint(server).command(START).text == "ls"
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    "misbehaviour",
    [
        fail(429, retry_after=0), fail(503, retry_after=0), fail(401), fail(404), hang_up(), not_json(),
        wrong_schema({"choices": []}), wrong_schema({"error": "busy"}), say(None), slow(3, say("ls")),
    ],
    ids=["429", "503", "401", "404", "hang_up", "not_json", "no_choices", "error", "no_content", "slow"],
)  # fmt: skip
def test_an_endpoint_that_goes_on_misbehaving_is_an_operator_error(misbehaviour: Any) -> None:
    with ChatServer([misbehaviour]) as server, pytest.raises(OperatorError, match=r"127\.0\.0\.1"):
        endpoint(server, timeout_seconds=0.5, retries=1).command(START)


def test_a_dead_endpoint_is_an_operator_error() -> None:
    with ChatServer([say("ls")]) as server:
        url = server.url
    operator = EndpointOperator("test", url, scaffold=SCAFFOLD, retries=1)
    with pytest.raises(OperatorError, match="APIConnectionError"):
        operator.command(START)


def test_a_refusal_for_the_contexts_length_is_context_full() -> None:
    answer = fail(400, message="This model's maximum context length is 4096 tokens")
    with ChatServer([answer]) as server, pytest.raises(ContextFullError):
        endpoint(server).command(START)


def test_the_environment_names_the_endpoint_and_falls_back(monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_cache_across_turns_changes_no_token(loaded: tuple[Any, Any], temperature: float) -> None:
    with_cache = local(loaded, temperature=temperature)
    without = local(loaded, temperature=temperature, use_cache=False)
    assert play(with_cache, 5) == play(without, 5)
    assert with_cache.tokens().token_ids == without.tokens().token_ids  # type: ignore[union-attr]


def test_greedy_commands_are_those_of_transformers_generate(loaded: tuple[Any, Any]) -> None:
    import torch

    model, tokenizer = loaded
    operator = local(loaded)
    operator.begin(SCENARIO, 0)
    move = operator.command(START)
    context = Renderer.for_base(tokenizer).context(START)
    out = model.generate(torch.tensor([context]), max_new_tokens=24, do_sample=False, eos_token_id=None)
    assert move.token_ids == out[0, len(context) :].tolist()[: len(move.token_ids or [])]


def test_recorded_tokens_are_what_the_renderer_trains_on(loaded: tuple[Any, Any]) -> None:
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


def test_recorded_log_probs_are_those_of_one_pass_over_the_session(loaded: tuple[Any, Any]) -> None:
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


def test_the_same_seed_samples_the_same_session(loaded: tuple[Any, Any]) -> None:
    operator = local(loaded, temperature=1.0)
    assert play(operator, 3, seed=1) == play(operator, 3, seed=1)
    assert play(operator, 3, seed=1) != play(operator, 3, seed=2)


def test_a_full_context_is_told_and_never_cut(loaded: tuple[Any, Any]) -> None:
    operator = local(loaded, max_new_tokens=64)
    operator.limit = len(Renderer.for_base(loaded[1]).context(START)) + 10
    operator.begin(SCENARIO, 0)
    with pytest.raises(ContextFullError):
        operator.command(START)
    assert operator.tokens() is None


def test_a_base_is_frozen_and_in_fp32_on_a_cpu(loaded: tuple[Any, Any]) -> None:
    assert {str(parameter.dtype) for parameter in loaded[0].parameters()} == {"torch.float32"}
    assert not any(parameter.requires_grad for parameter in loaded[0].parameters())
    assert not loaded[0].training


def make_adapter(base: Path, directory: Path, seed: int = 0, rank: int = 4) -> Path:
    import torch
    from peft import LoraConfig, get_peft_model

    model, _ = load_model(base, device="cpu")
    torch.manual_seed(seed)
    wrapped = get_peft_model(model, LoraConfig(r=rank, target_modules=["q_proj", "v_proj"], init_lora_weights=False))
    wrapped.save_pretrained(directory)
    write_json(directory / "sekft.json", {"base": str(base), "base_hash": model_hash(base), "trained_on": []})
    return directory


def logits_of(model: Any) -> Any:
    import torch

    with torch.inference_mode():
        return model(torch.arange(20)[None]).logits


def test_an_adapter_changes_what_the_base_says_and_a_held_base_comes_back_bare(base: Path, tmp_path: Path) -> None:
    import torch

    adapter = make_adapter(base, tmp_path / "adapter")
    hold(str(base), dtype="fp32")
    held, _ = load_model(base, dtype="fp32")
    before = logits_of(held)
    tuned, _ = load_model(base, adapter, dtype="fp32")
    assert tuned.get_base_model() is held
    assert not torch.allclose(logits_of(tuned), before)
    assert not any(parameter.requires_grad for parameter in tuned.parameters())
    release()
    again, _ = load_model(base, dtype="fp32")
    assert again is held
    assert torch.equal(logits_of(again), before)
    assert {name for name, _ in again.named_parameters()} == {
        name for name, _ in load_model(base, dtype="auto", device="cpu")[0].named_parameters()
    }


def test_adapters_in_turn_on_a_held_base_are_those_of_a_fresh_load(base: Path, tmp_path: Path) -> None:
    import torch

    made = {name: make_adapter(base, tmp_path / name, seed, rank) for seed, (name, rank) in enumerate(ADAPTERS.items())}
    fresh = {name: logits_of(load_model(base, adapter, device="cpu")[0]) for name, adapter in made.items()}
    hold(str(base), dtype="fp32")
    try:
        models_seen: dict[str, Any] = {}
        for name in ("first", "second", "wider", "second", "first"):
            tuned, _ = load_model(base, made[name], dtype="fp32")
            assert torch.equal(logits_of(tuned), fresh[name]), name
            assert not any(parameter.requires_grad for parameter in tuned.parameters())
            models_seen.setdefault(name, tuned)
            release()
        assert models_seen["first"] is models_seen["second"]  # its layers were filled anew, not built
        assert models_seen["wider"] is not models_seen["second"]
    finally:
        loading._held = None


ADAPTERS = {"first": 4, "second": 4, "wider": 8}


def test_4bit_loads_on_a_cpu(tmp_path: Path) -> None:
    model, _ = load_model(tiny.base(tmp_path / "wide", hidden=128), load_4bit=True, device="cpu")
    assert any("Linear4bit" in type(module).__name__ for module in model.modules())
    assert logits_of(model).isfinite().all()


@pytest.mark.parametrize("what", ["missing", "no_tokenizer", "no_weights", "not_json", "a_file"])
def test_a_base_that_cannot_be_loaded_is_named_before_torch_is_imported(what: str, base: Path, tmp_path: Path) -> None:
    broken = tmp_path / "base"
    if what != "missing":
        shutil.copytree(base, broken)
    if what == "no_tokenizer":
        (broken / "tokenizer.json").unlink()
    if what == "no_weights":
        (broken / "model.safetensors").unlink()
    if what == "not_json":
        (broken / "config.json").write_text("{")
    if what == "a_file":
        broken = broken / "config.json"
    code = f"""
import sys
from model.loading import check_model
from schema import BadInputError
try:
    check_model({str(broken)!r})
except BadInputError as error:
    assert "torch" not in sys.modules and "\\n" not in str(error)
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert str(broken) in done.stdout, done.stderr


def test_an_adapter_for_another_base_is_refused(base: Path, tmp_path: Path) -> None:
    adapter = make_adapter(base, tmp_path / "adapter")
    check_model(base, adapter)
    other = tiny.base(tmp_path / "other", seed=1)
    with pytest.raises(BadInputError, match="trained on base"):
        check_model(other, adapter)
    (adapter / "adapter_model.safetensors").unlink()
    with pytest.raises(BadInputError, match=r"adapter_model\.safetensors"):
        check_model(base, adapter)


def test_one_changed_weight_is_another_base(base: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(base, tmp_path / "copy"))
    assert model_hash(copy) == model_hash(base)
    weights = copy / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert model_hash(copy) != model_hash(base)


@pytest.mark.parametrize("module", ["operators.endpoint", "operators.local", "model.loading", "operators.reference"])
def test_importing_an_operator_imports_no_torch(module: str) -> None:
    code = f"import sys, {module}; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=False).returncode == 0


def test_a_message_holds_no_scaffold() -> None:
    assert all(sentence not in message.content for message in START for sentence in SCAFFOLD.split(". "))
    assert all(isinstance(message, Message) for message in START)
