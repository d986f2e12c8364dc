"""Say before any weight is read whether card, dtype and base go together, and what a run will cost.

    from model.hardware import Card, card_here, check_card, costs, shape_of

Reads   <base>/config.json (shape_of, usual_rate)
Writes  nothing
Needs   torch and transformers for what ends in _here, shape_of() and usual_rate(); the rules themselves need nothing

The rules are functions of plain facts (capability, architectures, bytes, flags), so that what holds for a V100 is
tested where there is none. Costs are estimates: saved activations are counted per layer (within a third of what
autograd keeps on a Llama, a test measures it), hours assume a third of a card's peak.
"""

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schema import BadInputError

OLD_BUILD = "2.13.0+cu126"  # the last line of builds with kernels for sm_50 to sm_70 (pytorch RELEASE.md)
AMPERE, TURING, VOLTA = (8, 0), (7, 5), (7, 0)
# Dense fp16 or bf16 tensor FLOP/s of the data sheets, by a part of the device's name.
PEAK_FLOPS = {"V100": 125e12, "T4": 65e12, "A100": 312e12, "H100": 989e12, "H200": 989e12}
UTILISATION = 0.33  # of the peak: LLaMA-Factory's 7B LoRA on an A100 under the 6N rule
NF4_BYTES = 0.53  # per weight, with double quantisation's share of the scales
ADAPTER_BYTES = 16  # per trainable parameter: weight, gradient and two Adam moments in fp32
LOGIT_BYTES = 12  # per labelled position and vocabulary entry: fp32 logits, their softmax, their gradient


@dataclass(frozen=True)
class Card:
    """A CUDA device, and what the installed torch was built for."""

    name: str
    capability: tuple[int, int]
    built_for: tuple[str, ...]  # torch.cuda.get_arch_list()
    torch_version: str
    free_bytes: int

    @property
    def sm(self) -> str:
        """The architecture's name, sm_70 say."""
        return "sm_{}{}".format(*self.capability)


def card_here() -> Card:
    """The current CUDA device. What torch warns of an old one, in several lines, is left to check_card."""
    import torch

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"torch\.cuda")
        return Card(
            name=torch.cuda.get_device_name(),
            capability=torch.cuda.get_device_capability(),
            built_for=tuple(torch.cuda.get_arch_list()),
            torch_version=torch.__version__,
            free_bytes=torch.cuda.mem_get_info()[0],
        )


def driver_here() -> bool:
    """True where an NVIDIA driver is loaded and not hidden, whether torch can use it or not; looks at files alone."""
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    return not hidden and any(
        Path(path).exists() for path in ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg")
    )


def no_gpu(driver: bool, seen: bool, torch_version: str) -> str | None:
    """The line for a machine with a driver on which torch sees no device, and would train on CPU without a word."""
    if seen or not driver:
        return None
    return (
        f"an NVIDIA driver is loaded but torch {torch_version} sees no GPU, so this runs on CPU; "
        f"the build may be without CUDA or newer than the driver (a V100 takes torch {OLD_BUILD})"
    )


def no_gpu_here() -> str | None:
    """`no_gpu` of this machine; does not import torch where there is no driver."""
    if not driver_here():
        return None
    import torch

    return no_gpu(driver=True, seen=torch.cuda.is_available(), torch_version=torch.__version__)


def no_kernels(card: Card) -> str | None:
    """The line for a torch that was built without this card's architecture.

    Code for sm_XY runs on every sm_XZ with Z >= Y; compute_XY is compiled for anything newer when it is first used.
    """
    for built in card.built_for:
        kind, _, digits = built.partition("_")
        digits = digits.rstrip("abcdefghijklmnopqrstuvwxyz")  # sm_90a
        major, minor = int(digits[:-1]), int(digits[-1])
        if kind == "compute" and (major, minor) <= card.capability:
            return None
        if kind == "sm" and major == card.capability[0] and minor <= card.capability[1]:
            return None
    old = (5, 0) <= card.capability <= VOLTA
    remedy = f"torch {OLD_BUILD} (pip with the cu126 index that pytorch.org names)" if old else "a build that has them"
    return (
        f"{card.name} is {card.sm}, torch {card.torch_version} has kernels for {' '.join(card.built_for)} only; "
        f"install {remedy}"
    )


def wrong_dtype(card: Card, dtype: str) -> str | None:
    """The line for bf16 on a card that only emulates it."""
    if dtype != "bf16" or card.capability >= AMPERE:
        return None
    return f"--dtype bf16: {card.name} ({card.sm}) has no bf16, torch emulates it in fp32; pass --dtype fp16"


def wrong_quantization(card: Card, quantization: dict[str, Any] | None) -> str | None:
    """The line for a base that comes quantised to 8 bits, which has no kernel before sm_75."""
    if not (quantization or {}).get("load_in_8bit") or card.capability >= TURING:
        return None
    return (
        f"quantization_config.load_in_8bit: LLM.int8() needs sm_75, {card.name} is {card.sm}; "
        "take the base in fp16 and pass --load-4bit"
    )


def check_card(card: Card, dtype: str, quantization: dict[str, Any] | None = None) -> None:
    """Raise BadInputError with the first thing that cannot work on this card."""
    for line in (no_kernels(card), wrong_dtype(card, dtype), wrong_quantization(card, quantization)):
        if line:
            raise BadInputError(line)


def repeats_keys(capability: tuple[int, int]) -> bool:
    """True where grouped-query attention must repeat the keys.

    transformers 5.18 asks SDPA for grouped-query attention, which below sm_80 only the slow MATH kernel has; repeating
    keeps the memory-efficient one (huggingface/transformers#48633). Elsewhere repeating would be the slower way.
    """
    return capability < AMPERE


def repeat_keys() -> None:
    """Switch transformers to repeating the keys, for this process."""
    import transformers.integrations.sdpa_attention as attention

    attention.use_gqa_in_sdpa = lambda *_, **__: False


@dataclass(frozen=True)
class Shape:
    """What a base's costs come from. `linears` are the (in, out) of every linear layer but the head, by last name."""

    hidden: int
    layers: int
    attention: int  # width of all heads together
    keys: int  # width of all key heads together
    intermediate: int
    vocabulary: int
    parameters: int
    linears: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    @property
    def linear_parameters(self) -> int:
        """Weights of the linear layers, head left out."""
        return sum(wide * high for shapes in self.linears.values() for wide, high in shapes)

    def trainable(self, rank: int, targets: str) -> int:
        """Parameters of an adapter; `targets` as in --lora-targets. Raises BadInputError for unknown ones."""
        names = list(self.linears) if targets == "all-linear" else targets.split(",")
        if unknown := sorted(set(names) - set(self.linears)):
            raise BadInputError(
                f"--lora-targets: {unknown} not in this base; it has {sorted(self.linears)}, or all-linear"
            )
        return sum(rank * (wide + high) for name in names for wide, high in self.linears[name])


def shape_of(base: str) -> Shape:
    """The shape that a base's config gives, weights unread. Raises BadInputError where there is none to be had."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    try:
        config = AutoConfig.from_pretrained(base)
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(config)
    except (OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0]
        raise BadInputError(f"{base}: config.json cannot be used ({first}); copy the base's config there") from error
    linears: dict[str, list[tuple[int, int]]] = {}
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear) and module is not model.get_output_embeddings():
            linears.setdefault(name.rpartition(".")[2], []).append((module.in_features, module.out_features))
    heads = config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // heads
    return Shape(
        hidden=config.hidden_size,
        layers=config.num_hidden_layers,
        attention=width * heads,
        keys=width * (getattr(config, "num_key_value_heads", None) or heads),
        intermediate=getattr(config, "intermediate_size", None) or 4 * config.hidden_size,
        vocabulary=config.vocab_size,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        linears=linears,
    )


def usual_rate(base: str) -> float:
    """The usual peak learning rate of LoRA on a base, to two digits: 2e-4 * 4096 / width.

    2e-4 is the recipe's for Mistral-7B, which is 4096 wide; a base without a config counts as that. Under Adam the rate
    of hidden weights goes with the inverse of the width (Yang et al. 2022, Tensor Programs V). At a width of 256 it was
    measured (dev/LOG.md); in between it was not.
    """
    from transformers import AutoConfig

    try:
        width = AutoConfig.from_pretrained(base).get_text_config().hidden_size
    except (OSError, ValueError):
        width = 4096
    return float(f"{2e-4 * 4096 / width:.2g}")


def flops(shape: Shape, lengths: Sequence[int], labels: Sequence[int], trainable: int, *, checkpointing: bool) -> float:
    """Floating-point operations of one pass over rows of these lengths with so many labelled positions each.

    A frozen layer costs its forward, the gradient of its input and, with checkpointing, its forward again; no gradient
    of its weights. Causal attention counts half the square; its backward counts twice its forward.
    """
    again = int(checkpointing)
    tokens = sum(lengths)
    body = 2 * shape.linear_parameters * tokens * (2 + again)
    adapter = 2 * trainable * tokens * (3 + again)
    attention = 2 * shape.layers * shape.attention * sum(length**2 for length in lengths) * (3 + again)
    head = 2 * shape.hidden * shape.vocabulary * sum(labels) * 2
    return float(body + adapter + attention + head)


def activation_bytes(shape: Shape, tokens: int, *, checkpointing: bool, half: bool) -> int:
    """What one micro-batch of `tokens` keeps for the backward, and the layer that is being worked on."""
    layer = layer_bytes(shape, tokens, half=half)
    kept = tokens * shape.hidden * (2 if half else 4) if checkpointing else layer
    return shape.layers * kept + layer + tokens * 5 * shape.hidden


def layer_bytes(shape: Shape, tokens: int, *, half: bool) -> int:
    """What one layer keeps.

    Counted on transformers 5.18's Llama with peft 0.21 and adapters on all linear layers (autograd's saved tensors):
    norms and residuals are fp32 copies whatever the dtype, the rest follows it. Adapters on the attention alone keep
    up to a quarter less.
    """
    width = 2 if half else 4
    return tokens * (26 * shape.hidden + 4 * width * shape.intermediate + 2 * width * shape.keys)


def memory(
    shape: Shape, lengths: Sequence[int], labels: Sequence[int], settings: dict[str, Any], *, half: bool
) -> dict[str, int]:
    """Bytes that training takes at its peak, by what they are for; `settings` are sft.py's flags."""
    width = 2 if half else 4
    rest = shape.parameters - shape.linear_parameters
    weights = shape.parameters * width
    if settings["load_4bit"]:  # what is not a linear layer is held in fp32 then
        weights = int(shape.linear_parameters * NF4_BYTES) + rest * 4
    batch = settings["batch"]
    longest, most = max(lengths, default=0), max(labels, default=0)
    parts = {
        "weights": weights,
        "adapter": shape.trainable(settings["lora_r"], settings["lora_targets"]) * ADAPTER_BYTES,
        "activations": activation_bytes(
            shape,
            batch * longest,
            checkpointing=bool(settings["gradient_checkpointing"]),
            half=half,
        ),
        "logits": batch * most * shape.vocabulary * LOGIT_BYTES,
    }
    return {**parts, "total": sum(parts.values())}


def costs(
    shape: Shape, lengths: Sequence[int], labels: Sequence[int], settings: dict[str, Any], *, half: bool
) -> dict[str, Any]:
    """What a run will take: parameters, operations, memory, and hours on cards that are known by name."""
    trainable = shape.trainable(settings["lora_r"], settings["lora_targets"])
    checkpointing = bool(settings["gradient_checkpointing"])
    total = settings["epochs"] * flops(shape, lengths, labels, trainable, checkpointing=checkpointing)
    return {
        "parameters": shape.parameters,
        "trainable_parameters": trainable,
        "flops": total,
        "memory_bytes": memory(shape, lengths, labels, settings, half=half),
        "hours": {name: float(f"{hours_on(total, peak):.2g}") for name, peak in PEAK_FLOPS.items()},
    }


def costs_here(base: str, lengths: Sequence[int], labels: Sequence[int], settings: dict[str, Any]) -> dict[str, Any]:
    """`costs` with what sft.py does on the device here where its flags leave that open."""
    import torch

    on_gpu = torch.cuda.is_available()
    half = settings["dtype"] in ("fp16", "bf16") or (settings["dtype"] == "auto" and on_gpu)
    checkpointing = settings["gradient_checkpointing"]
    settings = {**settings, "gradient_checkpointing": on_gpu if checkpointing is None else checkpointing}
    return costs(shape_of(base), lengths, labels, settings, half=half)


def hours_on(operations: float, peak: float) -> float:
    """Hours at the usual share of a card's peak."""
    return operations / (peak * UTILISATION) / 3600


def too_small(need_bytes: int, free_bytes: int | None) -> str | None:
    """The line for a run that is likely to run out of memory; none where it is not known what is free."""
    if free_bytes is None or need_bytes <= free_bytes:
        return None
    return (
        f"this run is estimated to need {need_bytes / 2**30:.1f} GiB, {free_bytes / 2**30:.1f} GiB are free; "
        "lower --batch or --max-length-tokens, or pass --gradient-checkpointing or --load-4bit"
    )


def free_bytes_here() -> int | None:
    """Memory that the card, or without one the host, could still give; None where the system does not say."""
    import torch

    if torch.cuda.is_available():
        return card_here().free_bytes
    try:
        rows = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return 1024 * next(int(row.split()[1]) for row in rows if row.startswith("MemAvailable"))
