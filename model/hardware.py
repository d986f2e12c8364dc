"""Hardware check: whether GPU, dtype and base fit together, and what a training run will cost.

    from model.hardware import check_gpu, gpu_here, shape_of

    check_gpu(gpu_here(), "fp16")  # raises BadInputError before any weight is read

The rules are functions of plain facts (capability, architectures, bytes, flags), so that the rules for a V100 are
tested on machines without one. Only functions whose name ends in _here, shape_of() and usual_learning_rate() need torch
or transformers. Costs are estimates. Saved activations are counted per layer (a test measures that this is within a
third of what autograd keeps on a Llama); hours assume a third of a GPU's peak.
"""

import functools
import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schema import BadInputError

OLD_BUILD = "2.13.0+cu126"  # the last build with kernels for sm_50 to sm_70 (pytorch RELEASE.md)
AMPERE, TURING, VOLTA = (8, 0), (7, 5), (7, 0)
# Dense fp16 or bf16 tensor FLOP/s of the data sheets, by a part of the device's name.
PEAK_FLOPS = {"V100": 125e12, "T4": 65e12, "A100": 312e12, "H100": 989e12, "H200": 989e12}
UTILISATION = 0.33  # of the peak: LLaMA-Factory's 7B LoRA on an A100 under the 6N rule
NF4_BYTES = 0.53  # per weight, scales under double quantisation included
ADAPTER_BYTES = 16  # per trainable parameter: weight, gradient and two Adam moments in fp32
WORTH_BF16 = 1.3  # times as fast as fp32: from there on a CPU gains, casts included
SLOW_HOURS = 48.0  # on a CPU, where a run that is estimated to take longer is refused
LOGIT_BYTES = 12  # per trained position and vocabulary entry: fp32 logits, their softmax, their gradient


@dataclass(frozen=True)
class GPU:
    """A CUDA device, and the architectures that the installed torch was built for."""

    name: str
    capability: tuple[int, int]
    built_for: tuple[str, ...]  # torch.cuda.get_arch_list()
    torch_version: str
    free_bytes: int

    @property
    def sm(self) -> str:
        """The architecture's name, for example sm_70."""
        return "sm_{}{}".format(*self.capability)


def gpu_here() -> GPU:
    """The current CUDA device. Hides torch's own warning about an old device; check_gpu gives it in one line."""
    import torch

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"torch\.cuda")
        return GPU(
            name=torch.cuda.get_device_name(),
            capability=torch.cuda.get_device_capability(),
            built_for=tuple(torch.cuda.get_arch_list()),
            torch_version=torch.__version__,
            free_bytes=torch.cuda.mem_get_info()[0],
        )


def driver_here() -> bool:
    """True where an NVIDIA driver is loaded and not hidden, even if torch cannot use it; looks at files only."""
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    return not hidden and any(
        Path(path).exists() for path in ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg")
    )


def no_gpu(driver: bool, seen: bool, torch_version: str) -> str | None:
    """The warning for a machine with a driver on which torch sees no device, and None elsewhere."""
    if seen or not driver:
        return None
    return (
        f"an NVIDIA driver is loaded but torch {torch_version} sees no GPU, so this runs on CPU; "
        f"the build may be without CUDA or newer than the driver (a V100 takes torch {OLD_BUILD})"
    )


def no_gpu_here() -> str | None:
    """`no_gpu` for this machine; does not import torch where there is no driver."""
    if not driver_here():
        return None
    import torch

    return no_gpu(driver=True, seen=torch.cuda.is_available(), torch_version=torch.__version__)


def no_kernels(gpu: GPU) -> str | None:
    """The error for a torch that was built without kernels for this GPU, or None.

    Code for sm_XY runs on every sm_XZ with Z >= Y; compute_XY is compiled for newer devices at its first use.
    """
    for built in gpu.built_for:
        kind, _, digits = built.partition("_")
        digits = digits.rstrip("abcdefghijklmnopqrstuvwxyz")  # sm_90a
        major, minor = int(digits[:-1]), int(digits[-1])
        if kind == "compute" and (major, minor) <= gpu.capability:
            return None
        if kind == "sm" and major == gpu.capability[0] and minor <= gpu.capability[1]:
            return None
    old = (5, 0) <= gpu.capability <= VOLTA
    remedy = f"torch {OLD_BUILD} (pip with the cu126 index that pytorch.org names)" if old else "a build that has them"
    return (
        f"{gpu.name} is {gpu.sm}, torch {gpu.torch_version} has kernels for {' '.join(gpu.built_for)} only; "
        f"install {remedy}"
    )


def wrong_dtype(gpu: GPU, dtype: str) -> str | None:
    """The error for bf16 on a GPU that only emulates it, or None."""
    if dtype != "bf16" or gpu.capability >= AMPERE:
        return None
    return f"--dtype bf16: {gpu.name} ({gpu.sm}) has no bf16, torch emulates it in fp32; pass --dtype fp16"


def wrong_quantization(gpu: GPU, quantization: dict[str, Any] | None) -> str | None:
    """The error for a base quantised to 8 bits on a GPU below sm_75, which has no kernel for it, or None."""
    if not (quantization or {}).get("load_in_8bit") or gpu.capability >= TURING:
        return None
    return (
        f"quantization_config.load_in_8bit: LLM.int8() needs sm_75, {gpu.name} is {gpu.sm}; "
        "take the base in fp16 and pass --load-4bit"
    )


def check_gpu(gpu: GPU, dtype: str, quantization: dict[str, Any] | None = None) -> None:
    """Raise BadInputError with the first reason why this cannot run on `gpu`."""
    for line in (no_kernels(gpu), wrong_dtype(gpu, dtype), wrong_quantization(gpu, quantization)):
        if line:
            raise BadInputError(line)


def needs_repeated_keys(capability: tuple[int, int]) -> bool:
    """True where grouped-query attention should repeat the keys.

    transformers 5.18 asks SDPA for grouped-query attention. Below sm_80 only the slow MATH kernel supports that;
    with repeated keys the memory-efficient kernel runs (huggingface/transformers#48633). From sm_80 on repeating
    would be slower.
    """
    return capability < AMPERE


def repeat_keys_in_sdpa() -> None:
    """Make transformers repeat the keys for SDPA in this process."""
    import transformers.integrations.sdpa_attention as attention

    attention.use_gqa_in_sdpa = lambda *_, **__: False


@dataclass(frozen=True)
class ModelShape:
    """The sizes of a base. `linears` holds (in, out) of every linear layer but the head, by its last name."""

    hidden: int
    layers: int
    attention: int  # width of all query heads together
    keys: int  # width of all key heads together
    intermediate: int
    vocabulary: int
    parameters: int
    linears: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    @property
    def linear_parameters(self) -> int:
        """Weights of the linear layers without the head."""
        return sum(wide * high for shapes in self.linears.values() for wide, high in shapes)

    def trainable(self, rank: int, targets: str) -> int:
        """Parameters of an adapter; `targets` as in --lora-targets. Raises BadInputError for unknown ones."""
        names = list(self.linears) if targets == "all-linear" else targets.split(",")
        if unknown := sorted(set(names) - set(self.linears)):
            raise BadInputError(
                f"--lora-targets: {unknown} not in this base; it has {sorted(self.linears)}, or all-linear"
            )
        return sum(rank * (wide + high) for name in names for wide, high in self.linears[name])


def shape_of(base: str) -> ModelShape:
    """The shape by the base's config; reads no weights. Raises BadInputError where the config cannot be used."""
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
    return ModelShape(
        hidden=config.hidden_size,
        layers=config.num_hidden_layers,
        attention=width * heads,
        keys=width * (getattr(config, "num_key_value_heads", None) or heads),
        intermediate=getattr(config, "intermediate_size", None) or 4 * config.hidden_size,
        vocabulary=config.vocab_size,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        linears=linears,
    )


def usual_learning_rate(base: str) -> float:
    """The usual peak learning rate of LoRA on a base, to two digits: 2e-4 * 4096 / width.

    2e-4 is the recipe's rate for Mistral-7B, which is 4096 wide; a base without a config counts as 4096 wide. Under
    Adam the rate of hidden weights is proportional to 1 / width (Yang et al. 2022, Tensor Programs V). The rule was
    measured at a width of 256 (dev/LOG.md), not between 256 and 4096.
    """
    from transformers import AutoConfig

    try:
        width = AutoConfig.from_pretrained(base).get_text_config().hidden_size
    except (OSError, ValueError):
        width = 4096
    return float(f"{2e-4 * 4096 / width:.2g}")


def flops(
    shape: ModelShape, lengths: Sequence[int], trained: Sequence[int], trainable: int, *, checkpointing: bool
) -> float:
    """Floating-point operations of one pass over rows with these lengths and numbers of trained positions.

    A frozen layer costs its forward pass, the gradient of its input and, with checkpointing, its forward pass again;
    its weights get no gradient. Causal attention counts half the square; its backward counts twice its forward.
    """
    again = int(checkpointing)
    tokens = sum(lengths)
    body = 2 * shape.linear_parameters * tokens * (2 + again)
    adapter = 2 * trainable * tokens * (3 + again)
    attention = 2 * shape.layers * shape.attention * sum(length**2 for length in lengths) * (3 + again)
    head = 2 * shape.hidden * shape.vocabulary * sum(trained) * 2
    return float(body + adapter + attention + head)


def activation_bytes(shape: ModelShape, tokens: int, *, checkpointing: bool, half: bool) -> int:
    """Bytes that one micro-batch of `tokens` keeps for the backward pass, plus the layer in work."""
    layer = layer_bytes(shape, tokens, half=half)
    kept = tokens * shape.hidden * (2 if half else 4) if checkpointing else layer
    return shape.layers * kept + layer + tokens * 5 * shape.hidden


def layer_bytes(shape: ModelShape, tokens: int, *, half: bool) -> int:
    """Bytes that one layer keeps for the backward pass.

    Counted as autograd's saved tensors on transformers 5.18's Llama with peft 0.21 and adapters on all linear layers.
    Norms and residuals are fp32 copies under every dtype; the rest has the base's dtype. Adapters on the attention
    only keep up to a quarter less.
    """
    width = 2 if half else 4
    return tokens * (26 * shape.hidden + 4 * width * shape.intermediate + 2 * width * shape.keys)


@dataclass(frozen=True)
class Workload:
    """A training run as its costs see it: the sizes of its rows and the settings that matter for cost."""

    lengths: Sequence[int]  # tokens of each row
    trained: Sequence[int]  # trained positions of each row
    lora_r: int
    lora_targets: str
    epochs: int
    batch: int
    load_4bit: bool
    checkpointing: bool
    half: bool  # fp16 or bf16, not fp32


def memory(shape: ModelShape, work: Workload) -> dict[str, int]:
    """Peak bytes of a training run, by purpose and in total."""
    width = 2 if work.half else 4
    rest = shape.parameters - shape.linear_parameters
    weights = shape.parameters * width
    if work.load_4bit:  # every weight outside the linear layers is fp32 then
        weights = int(shape.linear_parameters * NF4_BYTES) + rest * 4
    longest, most = max(work.lengths, default=0), max(work.trained, default=0)
    parts = {
        "weights": weights,
        "adapter": shape.trainable(work.lora_r, work.lora_targets) * ADAPTER_BYTES,
        "activations": activation_bytes(
            shape, work.batch * longest, checkpointing=work.checkpointing, half=work.half
        ),
        "logits": work.batch * most * shape.vocabulary * LOGIT_BYTES,
    }  # fmt: skip
    return {**parts, "total": sum(parts.values())}


def costs(shape: ModelShape, work: Workload) -> dict[str, Any]:
    """Parameters, operations, memory, and hours on each GPU in PEAK_FLOPS, of a training run."""
    trainable = shape.trainable(work.lora_r, work.lora_targets)
    once = flops(shape, work.lengths, work.trained, trainable, checkpointing=work.checkpointing)
    total = work.epochs * once
    return {
        "parameters": shape.parameters,
        "trainable_parameters": trainable,
        "flops": total,
        "memory_bytes": memory(shape, work),
        "hours": {name: float(f"{hours_on(total, peak):.2g}") for name, peak in PEAK_FLOPS.items()},
    }


def hours_on(operations: float, peak: float) -> float:
    """Hours at UTILISATION of a GPU's peak."""
    return operations / (peak * UTILISATION) / 3600


def too_small(need_bytes: int, free_bytes: int | None) -> str | None:
    """The warning for a run that is likely to run out of memory; None where enough or an unknown amount is free."""
    if free_bytes is None or need_bytes <= free_bytes:
        return None
    return (
        f"this run is estimated to need {need_bytes / 2**30:.1f} GiB, {free_bytes / 2**30:.1f} GiB are free; "
        "lower --batch or --max-length-tokens, or pass --gradient-checkpointing or --load-4bit"
    )


def free_bytes_here() -> int | None:
    """Free bytes of the GPU, or of the host where there is no GPU; None where the system does not tell."""
    import torch

    if torch.cuda.is_available():
        return gpu_here().free_bytes
    try:
        rows = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return 1024 * next(int(row.split()[1]) for row in rows if row.startswith("MemAvailable"))


@functools.cache
def bf16_speedup_here() -> float:
    """How many times as fast this CPU multiplies matrices in bf16 as in fp32; takes some milliseconds."""
    import torch

    return product_flops_here(torch.bfloat16) / product_flops_here(torch.float32)


def product_flops_here(dtype: Any = None, device: Any = "cpu", size: int = 256, times: int = 30) -> float:
    """FLOP/s of matrix products (default fp32) on a device: what no training on it exceeds.

    On a CPU it is the best of `times` products on one core, times the cores: a product takes less than a millisecond,
    so that on a busy machine at least one of them is not interrupted.
    """
    import torch

    on_cpu = str(device) == "cpu"
    size = size if on_cpu else 8192
    matrix = torch.ones(size, size, dtype=dtype or torch.float32, device=device)
    cores = torch.get_num_threads()
    seconds = []
    torch.set_num_threads(1)
    try:
        for _ in range(times):
            began = time.perf_counter()
            matrix @ matrix
            if not on_cpu:
                torch.cuda.synchronize()
            seconds.append(time.perf_counter() - began)
    finally:
        torch.set_num_threads(cores)
    return (cores if on_cpu else 1) * 2.0 * size**3 / min(seconds)


@dataclass(frozen=True)
class Machine:
    """The device that a training run would use, as a probe found it."""

    kind: str  # cuda or cpu
    name: str
    free_bytes: int | None
    flops: float | None  # peak operations per second; None for a GPU that PEAK_FLOPS does not name


def machine_here() -> Machine:
    """The first CUDA device that torch sees, or else this CPU.

    torch sees no device where CUDA_VISIBLE_DEVICES is empty or -1. The speed of a CPU is measured, in milliseconds.
    """
    import torch

    if torch.cuda.is_available():
        gpu = gpu_here()
        peak = next((flops for part, flops in PEAK_FLOPS.items() if part in gpu.name), None)
        return Machine("cuda", gpu.name, gpu.free_bytes, peak)
    name = f"CPU, {torch.get_num_threads()} cores"
    return Machine("cpu", name, free_bytes_here(), product_flops_here())


def cannot_run(machine: Machine, need: dict[str, int], hours: float | None, *, allow_slow: bool) -> str | None:
    """The error for a run that this machine cannot do, or not in SLOW_HOURS; None where it can.

    Refused is what is certain: that weights and adapter alone are more than the free memory. Activations are an
    estimate, and `too_small` warns of them. On a CPU `allow_slow` overrides: memory can be swapped, and days can pass.

    Args:
        machine: the device.
        need: bytes by purpose, as `memory` counts them.
        hours: the run's estimated hours on it.
        allow_slow: the flag.
    """
    if allow_slow and machine.kind == "cpu":
        return None
    fixed, remedy = need["weights"] + need["adapter"], "take a smaller base or another machine"
    if machine.kind == "cpu":
        remedy += ", or pass --allow-slow"
    if machine.free_bytes is not None and fixed > machine.free_bytes:
        free = machine.free_bytes / 2**30
        return f"weights and adapter need {fixed / 2**30:.1f} GiB, {machine.name} has {free:.1f} GiB free; {remedy}"
    if machine.kind == "cpu" and hours is not None and hours > SLOW_HOURS:
        return f"this run is estimated to take {hours:.0f} hours on {machine.name}; {remedy}"
    return None
