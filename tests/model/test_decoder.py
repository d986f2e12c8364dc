"""Decoded ids do not depend on the cache, on other episodes, or on earlier weights."""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from model import decoder
from model.decoder import (
    TIE,
    Context,
    Decoder,
    Turn,
    compare_transcripts,
    first_difference,
    next_logits,
    packable,
    visible,
    weights_state,
)
from model.loading import load_model
from model.render import Renderer, session_messages
from operators.local import LocalOperator
from operators.protocol import Tokens
from tests.helpers import tiny

OUTPUTS = [f"{name}.txt\nnotes/{name}-{count}.csv\n" * 4 for count, name in enumerate(("amber", "river", "stone"))]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.base(tmp_path_factory.mktemp("decoder") / "base")


def adapted(base: Path) -> Any:
    """A tiny base with a random adapter on it."""
    import torch
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(0)
    config = LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    return get_peft_model(load_model(base, dtype="fp32", device="cpu")[0], config).eval()


def numbers(count: int, seed: int, below: int = 500) -> list[int]:
    import random

    return random.Random(seed).choices(range(below), k=count)


def context_of(ids: Sequence[int]) -> Context:
    context = Context()
    context.ids = list(ids)
    return context


def decode(decoder: Decoder, ids: Sequence[int], length: int, **settings: Any) -> Turn:
    settings = {"ended": lambda _: False, "limit": 4096, **settings}
    return decoder.decode(Turn(context_of(ids), max_new_tokens=length, **settings))


def at_once(jobs: Sequence[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def logits(decoder: Decoder, contexts: Sequence[Context]) -> Any:
    import torch

    with torch.inference_mode():
        return decoder.logits(contexts)


def mistral(window: int | None) -> Any:
    import torch
    from transformers import MistralConfig, MistralForCausalLM

    torch.manual_seed(0)
    config = MistralConfig(
        vocab_size=500, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, sliding_window=window, initializer_range=0.2,
    )  # fmt: skip
    return MistralForCausalLM(config).eval()


@pytest.mark.parametrize("window", [None, 24])
def test_packed_logits_equal_plain_forward_passes(window: int | None) -> None:
    model = mistral(window)
    decoder = Decoder(model)
    contexts = [context_of(numbers(count, seed)) for seed, count in enumerate((5, 40, 300))]
    for growth in ((1, 30, 1), (7, 1, 400), (1, 1, 1), (0, 0, 0)):  # an output among single ids; one cache has to grow
        for context, row in zip(contexts, logits(decoder, contexts), strict=True):
            expected = next_logits(model, context.ids)[0]
            assert (row - expected).abs().max() < 1e-4 * expected.abs().max()
            assert context.cached == len(context.ids)
        for context, count in zip(contexts, growth, strict=True):
            context.ids += numbers(count, count)
    assert model.config._attn_implementation == "sdpa"


def test_masks_are_made_only_where_needed() -> None:
    import torch

    like, no = torch.zeros(1, dtype=torch.float16), float("-inf")
    assert visible(1, 50, None, like) is None
    assert visible(50, 50, None, like) is None
    assert visible(2, 4, None, like).tolist() == [[0, 0, 0, no], [0, 0, 0, 0]]
    assert visible(1, 5, 2, like).tolist() == [[no, no, no, 0, 0]]
    assert visible(1, 5, 2, like).dtype == torch.float16


def operator_of(decoder: Decoder, tokenizer: Any, **settings: Any) -> LocalOperator:
    return LocalOperator(decoder, Renderer.for_base(tokenizer), **{"max_new_tokens": 24, **settings})


def session(operator: LocalOperator, number: int, turns: int = 3) -> Tokens:
    """A session with fixed outputs, so that only the operator can make two of them differ."""
    scenario = tiny.scenario(f"tiny-{number}")
    operator.begin(scenario, seed=number)
    played: list[tuple[str, str | None]] = []
    for turn in range(turns):
        move = operator.command(session_messages(scenario, played))
        played.append((move.text, OUTPUTS[(turn + number) % 3] * (number % 2 + 1)))
    tokens = operator.tokens()
    assert tokens is not None
    return tokens


def sessions_at_once(decoder: Decoder, tokenizer: Any, count: int, **settings: Any) -> list[Tokens]:
    found: dict[int, Tokens] = {}

    def job(number: int) -> Callable[[], None]:
        return lambda: found.update({number: session(operator_of(decoder, tokenizer, **settings), number)})

    at_once([job(number) for number in range(count)])
    return [found[number] for number in range(count)]


def tied(model: Any, one: Tokens, other: Tokens) -> int:
    """1 where two transcripts part at a tie, 0 where they are equal; fails where they differ."""
    apart = first_difference(model, (one.token_ids, one.assistant_mask), other.token_ids)
    assert apart is None or apart[1] <= TIE, apart
    return int(apart is not None)


class InRounds(Decoder):
    """Begins a round of turns when every session has come to its next one: on no machine do they miss each other."""

    def __init__(self, model: Any, sessions: int) -> None:
        super().__init__(model)
        self.sessions, self.begins = sessions, False
        self.all_here = threading.Barrier(sessions, self.begin, timeout=120)

    def begin(self) -> None:
        self.begins = True

    def decode(self, turn: Turn) -> Turn:
        self.all_here.wait()
        return super().decode(turn)

    def step(self, turns: Sequence[Turn]) -> None:
        while turns and self.begins:
            self.begins = self._in_progress < self.sessions
            time.sleep(0.001)
        super().step(turns)


def test_greedy_output_does_not_depend_on_cache_or_batch(base: Path) -> None:
    model, tokenizer = load_model(base, dtype="fp32", device="cpu")
    decoder = InRounds(model, 8)
    together = sessions_at_once(decoder, tokenizer, 8)
    assert decoder.steps < sum(sum(one.assistant_mask) for one in together) / 3  # they were decoded together
    alone = [session(operator_of(Decoder(model), tokenizer), number) for number in range(8)]
    plain = Decoder(model, use_cache=False)
    anew = [session(operator_of(plain, tokenizer), number) for number in range(3)]
    parted = [tied(model, one, other) for one, other in zip(together, alone, strict=True)]
    parted += [tied(model, one, other) for one, other in zip(anew, alone, strict=False)]
    assert sum(parted) <= 1, "transcripts that part at a tie are rare"
    assert len({tuple(one.token_ids) for one in alone}) == 8


def test_first_difference_and_its_gap(base: Path) -> None:
    model, _ = load_model(base, dtype="fp32", device="cpu")
    ids, mask = numbers(20, 0), [0] * 10 + [1] * 10
    assert first_difference(model, (ids, mask), ids) is None
    place, gap = first_difference(model, (ids, mask), [*ids[:15], ids[15] + 1, *ids[16:]]) or (0, 0.0)
    best, second = next_logits(model, ids[:15])[0].topk(2).values.tolist()
    assert (place, gap) == (15, best - second)
    assert first_difference(model, (ids, mask), [*ids[:5], ids[5] + 1]) == (5, float("inf"))
    assert first_difference(model, (ids, mask), ids[:12]) == (12, float("inf"))
    others = [ids, ids[:12], [*ids[:15], ids[15] + 1], [*ids[:5], ids[5] + 1]]
    counts = compare_transcripts(model, [((ids, mask), other) for other in others])
    assert counts == {"same": 1, "parted_level": 0, "differ": 2, "parted_in_output": 1, "widest_gap": float("inf")}


def test_sampled_output_depends_on_the_seed_only(base: Path) -> None:
    model, tokenizer = load_model(base, dtype="fp32", device="cpu")
    together = sessions_at_once(Decoder(model), tokenizer, 6, temperature=1.0)
    alone = [session(operator_of(Decoder(model), tokenizer, temperature=1.0), number) for number in range(6)]
    assert [one.token_ids for one in together] == [one.token_ids for one in alone]


def retrain(model: Any, *, fused: bool = False) -> None:
    import torch

    weights = [parameter for name, parameter in model.named_parameters() if "lora_" in name]
    optimizer = torch.optim.AdamW(weights, lr=0.5, fused=fused)
    model(input_ids=torch.tensor([numbers(30, 1)]), labels=torch.tensor([numbers(30, 1)])).loss.backward()
    optimizer.step()


def swap(model: Any) -> None:
    from peft import get_peft_model_state_dict, set_peft_model_state_dict

    set_peft_model_state_dict(model, {name: -2 * value for name, value in get_peft_model_state_dict(model).items()})


def retrain_fused(model: Any) -> None:
    retrain(model, fused=True)


def copy_data(model: Any) -> None:
    for name, parameter in model.named_parameters():
        if "lora_" in name:
            parameter.data.copy_(-2 * parameter.data)


def merge(model: Any) -> None:
    model.merge_adapter()


@pytest.mark.parametrize("change", [retrain_fused, copy_data, merge])
def test_uncounted_writes_change_the_weights_state(base: Path, change: Callable[[Any], None]) -> None:
    model = adapted(base)
    before, counted = weights_state(model), [parameter._version for parameter in model.parameters()]
    assert weights_state(model) == before
    change(model)
    assert [parameter._version for parameter in model.parameters()] == counted
    assert weights_state(model) != before


def switch_off(model: Any) -> None:
    model.base_model.disable_adapter_layers()


def rescale(model: Any) -> None:
    for module in model.modules():
        if hasattr(module, "active_adapters") and hasattr(module, "scaling"):
            module.scaling["default"] *= 3


@pytest.mark.parametrize("change", [retrain, retrain_fused, copy_data, swap, switch_off, rescale])
def test_cache_is_dropped_when_weights_change(base: Path, change: Callable[[Any], None]) -> None:
    model = adapted(base)
    decoder = Decoder(model)
    turn = decode(decoder, numbers(40, 0), 4)
    assert turn.context.cached == 43
    kept = dict(turn.context._layers)
    again = decoder.decode(Turn(turn.context, lambda _: False, 1, 4096))
    assert all(turn.context._layers[layer] is held for layer, held in kept.items())  # nothing changed: kept
    stale = context_of(again.context.ids)
    stale.cached, stale._layers = again.context.cached, dict(again.context._layers)
    change(model)
    expected = next_logits(model, stale.ids)[0]
    assert (logits(decoder, [stale])[0] - expected).abs().max() > 1e-2  # what a cache that stayed would give
    decoder.decode(Turn(turn.context, lambda _: False, 1, 4096))
    assert not any(turn.context._layers[layer] is held for layer, held in kept.items())
    assert (turn.context.ids[-1]) == int(expected.argmax())


def test_models_without_attention_are_decoded_plainly(capsys: pytest.CaptureFixture[str]) -> None:
    import torch
    from transformers import MambaConfig, MambaForCausalLM

    torch.manual_seed(0)
    config = MambaConfig(vocab_size=500, hidden_size=32, num_hidden_layers=2, state_size=4, initializer_range=0.5)
    model = MambaForCausalLM(config).eval()
    assert not packable(model)
    turn = decode(Decoder(model), numbers(12, 0), 6)
    expected = model.generate(torch.tensor([numbers(12, 0)]), max_new_tokens=6, do_sample=False, eos_token_id=None)
    assert turn.token_ids == expected[0, 12:].tolist()
    assert "without a cache" in capsys.readouterr().err


def test_model_errors_reach_every_waiting_thread(base: Path) -> None:
    decoder = Decoder(load_model(base, dtype="fp32", device="cpu")[0])
    failed: list[str] = []

    def job(ids: Sequence[int]) -> Callable[[], None]:
        def run() -> None:
            try:
                decode(decoder, ids, 50)
            except IndexError as error:
                failed.append(str(error))

        return run

    with decoder._wake:  # both begin in one step
        threads = [threading.Thread(target=job(ids), daemon=True) for ids in (numbers(5, 0), [10**6])]
        for thread in threads:
            thread.start()
    for thread in threads:
        thread.join(120)
    assert len(failed) in (1, 2)  # one where the other had not begun
    assert not any(thread.is_alive() for thread in threads)
    assert len(decode(decoder, numbers(5, 0), 3).token_ids) == 3


@pytest.mark.parametrize("small", [(True, True), (False, False), (True, False)])
def test_small_models_use_one_thread(base: Path, monkeypatch: pytest.MonkeyPatch, small: tuple[bool, bool]) -> None:
    import torch

    for other in threading.enumerate():
        if other.name == "decoder":  # of an earlier test: as it ends it sets the number of threads
            other.join()
    monkeypatch.setattr(decoder, "IDLE_SECONDS", 0.5)
    before, seen = torch.get_num_threads(), []
    torch.set_num_threads(3)
    try:
        model = load_model(base, dtype="fp32", device="cpu")[0]

        def ended(_: list[int]) -> bool:
            seen.append(torch.get_num_threads())
            return False

        both = [Decoder(model), Decoder(model)]  # the second begins while the first one's thread waits
        for own, is_small in zip(both, small, strict=True):
            monkeypatch.setattr(decoder, "SMALL_PARAMETERS", 10**9 if is_small else 1)
            own.decode(Turn(context_of(numbers(8, seed=1)), ended=ended, max_new_tokens=3, limit=100))
        for thread in [own._thread for own in both]:
            if thread is not None:
                thread.join()
        here = torch.get_num_threads()
        later = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
        later.start()
        later.join()
    finally:
        torch.set_num_threads(before)
    assert seen == [1 if small[0] else 3] * 3 + [1 if small[1] else 3] * 3 + [3]
    assert here == 3


def test_turns_end_at_their_limits(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.decoder.IDLE_SECONDS", 0.05)
    decoder = Decoder(load_model(base, dtype="fp32", device="cpu")[0])
    assert decode(decoder, numbers(5, 0), 3).end == "length"
    assert decode(decoder, numbers(5, 0), 9, limit=7).end == "full"
    assert len(decode(decoder, numbers(5, 0), 9, ended=lambda ids: len(ids) == 4).token_ids) == 4
    cancelled = threading.Event()
    cancelled.set()
    assert decode(decoder, numbers(5, 0), 9, cancelled=cancelled).end == "cancelled"
    thread = decoder._thread
    if thread is not None:
        thread.join(10)
    assert decoder._thread is None  # an idle decoder holds no thread
    assert decode(decoder, numbers(5, 0), 2).end == "length"


def test_decoding_replaces_layers_and_leaves_none_behind(base: Path) -> None:
    model = adapted(base)
    decoder = Decoder(model)
    decode(decoder, numbers(9, 1), 3)
    names = {type(module).__name__ for module, _ in decoder._forwards}
    assert {"Linear", "LlamaRMSNorm", "LlamaMLP"} <= names
    assert not any("forward" in vars(module) for module in model.modules())


def test_turns_that_overlap_look_at_the_weights_once(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks, began, go_on = [], threading.Event(), threading.Event()

    def counted(model: Any) -> Any:
        looks.append(model)
        return weights_state(model)

    def waits(_: list[int]) -> bool:
        began.set()
        return not go_on.wait(20)

    monkeypatch.setattr("model.decoder.weights_state", counted)
    shared = Decoder(adapted(base))
    first = threading.Thread(target=lambda: decode(shared, numbers(9, 1), 2, ended=waits))
    first.start()
    assert began.wait(20)
    second = threading.Thread(target=lambda: decode(shared, numbers(9, 2), 2))
    second.start()
    while shared._in_progress < 2:
        time.sleep(0.01)
    go_on.set()
    first.join()
    second.join()
    assert len(looks) == 1
    decode(shared, numbers(9, 3), 2)
    assert len(looks) == 2
