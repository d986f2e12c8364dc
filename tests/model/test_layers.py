"""The faster layers give the losses and gradients of transformers and peft, and leave nothing behind."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import pytest
import torch

from model import layers
from training import loop
from training.loop import add_gradients, add_lora, collate, compact_loss, late_cores
from training.settings import TrainingSettings

KINDS = ("Llama", "Mistral", "Qwen2", "Qwen3")
Gradients = dict[str, torch.Tensor]


def model_of(kind: str = "Llama", dtype: torch.dtype = torch.float32, **changes: Any) -> Any:
    """A random model of two layers with an adapter whose every gradient differs from zero."""
    import transformers

    torch.manual_seed(3)
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=97, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=8, attention_bias=True, pad_token_id=None, **changes,
    )  # fmt: skip
    model = getattr(transformers, f"{kind}ForCausalLM")(config).to(dtype)
    model.requires_grad_(False)
    for name, parameter in model.named_parameters():
        if "norm" in name:
            torch.nn.init.normal_(parameter, mean=1.0, std=0.2)
    model = add_lora(model, TrainingSettings(lora_r=4))
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.1)
    return model.train()


def batch_of(*lengths: int) -> dict[str, torch.Tensor]:
    """A padded batch with every third token labelled, and the last one."""
    generator = torch.Generator().manual_seed(5)
    rows = []
    for length in lengths:
        ids = torch.randint(0, 97, (length,), generator=generator).tolist()
        rows.append({"input_ids": ids, "labels": [id_ if at % 3 == 2 else -100 for at, id_ in enumerate(ids)]})
    return collate(rows)


def found(model: Any, batch: dict[str, torch.Tensor], *, fast: bool) -> tuple[float, Gradients]:
    """Loss and gradients of one batch."""
    model.zero_grad()
    half = model.dtype != torch.float32
    with layers.fast_layers(model) if fast else nullcontext():
        with torch.autocast("cpu", dtype=model.dtype) if half else nullcontext():
            loss = compact_loss(model, batch)
        loss.backward()
    return loss.item(), {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}


def largest_error(gradients: Gradients, right: Gradients) -> float:
    """The largest relative error of a parameter's gradient."""
    assert gradients.keys() == right.keys()
    return max(float((gradients[name] - right[name]).norm() / right[name].norm()) for name in right)


@pytest.mark.parametrize("kind", KINDS)
def test_losses_and_gradients_equal_the_stock_layers(kind: str) -> None:
    model, batch = model_of(kind), batch_of(33, 20)
    loss, right = found(model, batch, fast=False)
    fast_loss, fast = found(model, batch, fast=True)
    assert fast_loss == pytest.approx(loss, rel=1e-6)
    assert len(right) == 2 * 2 * 7
    assert largest_error(fast, right) < 1e-5


@pytest.mark.parametrize("kind", KINDS)
def test_every_layer_that_is_named_is_replaced(kind: str) -> None:
    forwards = [type(m).__name__ for m in model_of(kind).modules() if layers.fast_forward(m)]
    norms = 5 + (4 if kind == "Qwen3" else 0)  # two a layer and the last; Qwen3 norms queries and keys too
    assert len(forwards) == norms + 2 + 14


def test_bf16_is_no_further_from_fp32_than_the_stock_layers() -> None:
    batch = batch_of(64)
    _, right = found(model_of(), batch, fast=False)
    model = model_of(dtype=torch.bfloat16)
    errors = [largest_error(found(model, batch, fast=fast)[1], right) for fast in (False, True)]
    assert errors[1] < 1.5 * errors[0] < 0.2


def test_nothing_is_left_behind_even_after_an_error() -> None:
    model = model_of()
    replaced = []
    with suppress(KeyError), layers.fast_layers(model):
        replaced = [module for module in model.modules() if "forward" in vars(module)]
        raise KeyError
    assert replaced
    assert not any("forward" in vars(module) for module in model.modules())


def test_layers_with_dropout_or_another_gate_keep_their_own_pass() -> None:
    model = model_of(hidden_act="gelu")
    for module in model.modules():
        if hasattr(module, "lora_dropout"):
            module.lora_dropout["default"] = torch.nn.Dropout(0.5)
    assert {type(m).__name__ for m in model.modules() if layers.fast_forward(m)} == {"LlamaRMSNorm"}


@pytest.mark.parametrize("cores", [1, 2, 3, 5])  # 5: as many as rows
def test_rows_side_by_side_sum_to_the_gradients_of_the_padded_batch(cores: int) -> None:
    model, batch = model_of(), batch_of(33, 7, 20, 12, 29)
    labels = int((batch["labels"] != -100).sum())
    loss, right = found(model, batch, fast=False)
    model.zero_grad()
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(cores)
        assert float(add_gradients(model, batch, labels, nullcontext)) == pytest.approx(loss / labels, rel=1e-6)
        assert torch.get_num_threads() == cores
    finally:
        torch.set_num_threads(before)
    gradients = {n: p.grad * labels for n, p in model.named_parameters() if p.grad is not None}
    assert largest_error(gradients, right) < 1e-5


@pytest.fixture
def threads() -> Iterator[None]:
    """Restore the number of threads."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(("share", "after_forward", "after_backward"), [(0.2, 3, 3), (0.6, 1, 3), (1.0, 1, 1)])
def test_a_thread_has_all_cores_from_its_share_on(
    share: float, after_forward: int, after_backward: int, threads: None
) -> None:
    model, batch = model_of(), batch_of(20)
    torch.set_num_threads(1)
    with late_cores(model, share, 3):
        loss = compact_loss(model, batch)
        assert torch.get_num_threads() == after_forward
        loss.backward()
        assert torch.get_num_threads() == after_backward
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_the_longest_row_gets_the_cores_of_the_others(threads: None, monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch, seen = model_of(), batch_of(60, 36), list[tuple[float, int]]()

    @contextmanager
    def noted(model: Any, share: float, cores: int) -> Iterator[None]:
        seen.append((share, cores))
        with late_cores(model, share, cores):
            yield

    monkeypatch.setattr(loop, "late_cores", noted)
    torch.set_num_threads(2)
    found = []
    for _ in range(5):
        model.zero_grad()
        add_gradients(model, batch, 1, nullcontext)
        found.append([p.grad for p in model.parameters() if p.grad is not None])
    assert seen == [(36 / 60, 2)] * 5
    assert all(torch.equal(a, b) for one in found[1:] for a, b in zip(found[0], one, strict=True))
