"""Faster layers on a CPU, for training and decoding: transformers' and peft's sums in fewer passes over memory.

    from model.layers import fast_layers

    with fast_layers(model):
        loss.backward()

On a CPU autograd's bookkeeping, casts and temporary tensors take as long as the matrix products of a small base. Each
class here is one node of autograd with its backward pass written out; it keeps what it must and computes the rest
again. What is not listed in `fast_layers` (another kind of layer, a layer with dropout) keeps its own forward pass.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

NORMS = ("LlamaRMSNorm", "MistralRMSNorm", "Qwen2RMSNorm", "Qwen3RMSNorm")
GATED = ("LlamaMLP", "MistralMLP", "Qwen2MLP", "Qwen3MLP")


class LoraLinear(Function):
    """x W^T + bias + scale (x A^T) B^T with W frozen (Hu et al. 2021, arXiv 2106.09685, section 4.1).

    x (..., in) and W (out, in) have one dtype; A (r, in) and B (out, r) are fp32 and so are their gradients.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, a: Tensor, b: Tensor, scale: float) -> Tensor:
        """The layer's output (..., out)."""
        rows = x.reshape(-1, x.shape[-1])
        a, b = a.to(x.dtype), (b * scale).to(x.dtype)
        low = rows @ a.T  # (N, r)
        out = torch.nn.functional.linear(rows, weight, bias).addmm_(low, b.T)
        ctx.save_for_backward(rows, weight, a, b, low)
        ctx.shape, ctx.scale = x.shape, scale
        return out.view(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """Gradients of forward's arguments, in their order."""
        rows, weight, a, b, low = ctx.saved_tensors
        gradient = gradient.reshape(-1, gradient.shape[-1])
        low_gradient = gradient @ b
        of_b = (gradient.T @ low).float().mul_(ctx.scale)
        of_a = (low_gradient.T @ rows).float()
        of_x = None
        if ctx.needs_input_grad[0]:
            of_x = (gradient @ weight).addmm_(low_gradient, a).view(*ctx.shape)
        return of_x, None, None, of_a, of_b, None


class RMSNorm(Function):
    """weight * x / sqrt(mean(x^2) + eps) over the last axis (Zhang and Sennrich 2019, arXiv 1910.07467), weight frozen.

    The sums are in fp32 under every dtype of x.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        """The normed x, in its dtype."""
        wide = x.float()
        inverse = torch.linalg.vector_norm(wide, dim=-1, keepdim=True).square_().div_(x.shape[-1]).add_(eps).rsqrt_()
        ctx.save_for_backward(x, weight, inverse)
        normed: Tensor = (wide * inverse).to(x.dtype) * weight
        return normed

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """Gradients of forward's arguments, in their order."""
        x, weight, inverse = ctx.saved_tensors
        normed = x.float() * inverse
        wide = (gradient * weight).float()
        mean = (wide * normed).mean(-1, keepdim=True)
        return wide.sub_(normed.mul_(mean)).mul_(inverse).to(x.dtype), None, None


class Gate(Function):
    """silu(gate) * up (Shazeer 2020, arXiv 2002.05202)."""

    @staticmethod
    def forward(ctx: Any, gate: Tensor, up: Tensor) -> Tensor:
        """The gated values, in their dtype."""
        ctx.save_for_backward(gate, up)
        return torch.nn.functional.silu(gate).mul_(up)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """Gradients of forward's arguments, in their order."""
        gate, up = ctx.saved_tensors
        of_up = torch.nn.functional.silu(gate).mul_(gradient)
        return torch.ops.aten.silu_backward(gradient * up, gate), of_up


@contextmanager
def fast_layers(model: Any) -> Iterator[None]:
    """Inside the block the layers of a peft model on a CPU compute by this module; afterwards by their own code."""
    with replaced(fast_forwards(model)):
        yield


Forwards = list[tuple[Any, Any]]  # modules, and the forward pass of each


def fast_forwards(model: Any) -> Forwards:
    """The modules that compute by this one, with their forward passes; none on another device than a CPU.

    These are LoRA layers of plain linear layers (one adapter, no dropout) and the norms and gated blocks of Llama,
    Mistral and Qwen. A forward pass holds until adapters are switched, merged, scaled or taken away.
    """
    if model.device.type != "cpu":
        return []
    return [(module, forward) for module in model.modules() if (forward := fast_forward(module))]


@contextmanager
def replaced(forwards: Forwards) -> Iterator[None]:
    """Inside the block these modules compute by these forward passes."""
    for module, forward in forwards:
        module.__dict__["forward"] = forward  # quicker than Module.__setattr__
    try:
        yield
    finally:
        for module, _ in forwards:
            del module.__dict__["forward"]


def fast_forward(module: Any) -> Any:
    """The forward pass of this module by a Function above, or None where it keeps its own."""
    from peft.tuners.lora import Linear

    norm: Any = RMSNorm  # torch does not type `apply`
    gate: Any = Gate
    linear: Any = LoraLinear
    kind = type(module).__name__
    if kind in NORMS:
        return lambda x: norm.apply(x, module.weight, module.variance_epsilon)
    if kind in GATED and module.config.hidden_act == "silu":
        return lambda x: module.down_proj(gate.apply(module.gate_proj(x), module.up_proj(x)))
    if type(module) is Linear and is_plain_lora(module):
        (name,) = module.active_adapters
        base, a, b = module.base_layer, module.lora_A[name], module.lora_B[name]
        scale = module.scaling[name]
        return lambda x: linear.apply(x, base.weight, base.bias, a.weight, b.weight, scale)
    return None


def is_plain_lora(layer: Any) -> bool:
    """True for a LoRA layer that is one adapter without dropout, bias or variant on a torch.nn.Linear."""
    if len(layer.active_adapters) != 1 or layer.merged or layer.disable_adapters:
        return False
    (name,) = layer.active_adapters
    return (
        type(layer.base_layer) is torch.nn.Linear
        and name not in layer.lora_variant
        and isinstance(layer.lora_dropout[name], torch.nn.Identity)
        and layer.lora_B[name].bias is None
    )
