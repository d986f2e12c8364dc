"""Load a base and its adapter, in the one way that training, rollout, eval and a resident process share.

    model, tokenizer = load_model("base", "ckpt-run1")

Reads   <base>/config.json, *.safetensors, tokenizer.json; <adapter>/adapter_model.safetensors, sekft.json
Writes  nothing
Needs   torch, transformers; peft for adapters; bitsandbytes for 4-bit

What was trained under one loader and evaluated under another gives other logits (norms in 4-bit preparation, dtypes),
so there is no second one. dtype auto: fp32 on CPU, fp16 on CUDA below sm_80 (no bf16 there), bf16 above. The base is
only ever read. Directories are checked before torch is imported.
"""

import logging
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model import hardware
from schema import BadInputError, canonical, read_identity, read_json, sha256

DTYPES = ("auto", "fp16", "bf16", "fp32")
BLOCK_BYTES, BLOCKS = 4096, 64
HUB_FILES = ["*.json", "model*.safetensors", "tokenizer.model", "*.jinja"]  # some bases have their weights twice
PEFT_ATTRIBUTES = ("peft_config", "active_adapter", "_hf_peft_config_loaded")

# Whoever imports peft imports bitsandbytes, which on some CPUs warns that a kernel for 4-bit could not be downloaded.
logging.getLogger("bitsandbytes.backends.cpu.ops").setLevel(logging.ERROR)


def check_model(base: str | Path, adapter: str | Path | None = None) -> None:
    """Raise BadInputError, without torch, when `base` or `adapter` cannot be loaded or do not belong together.

    A base that is no directory must look like a hub name (`owner/name`); the hub is not asked.
    """
    directory = Path(base)
    if not directory.is_dir():
        if directory.exists() or str(base).count("/") != 1 or str(base).startswith((".", "/", "~")):
            raise BadInputError(f"{base}: no such base directory; name a model directory or a hub name (owner/name)")
    else:
        read_json(directory / "config.json")
        if not any((directory / name).exists() for name in ("tokenizer.json", "tokenizer.model")):
            raise BadInputError(
                f"{directory}: no tokenizer.json in the base directory; copy the base's tokenizer there"
            )
        if not any(directory.glob("*.safetensors")):
            raise BadInputError(f"{directory}: no *.safetensors in the base directory; copy the base's weights there")
    if adapter is None:
        return
    adapter = Path(adapter)
    if not (adapter / "adapter_model.safetensors").exists():
        raise BadInputError(f"{adapter}: no adapter_model.safetensors; name a directory that sft.py finished")
    about = read_identity(adapter)
    found = model_hash(base)
    if found is not None and about.base_hash != found:
        raise BadInputError(
            f"{adapter}: trained on base {about.base!r} ({str(about.base_hash)[:12]}), "
            f"{base} is another ({found[:12]}); pass that --base or train anew"
        )


def fetch(base: str | Path, adapter: str | Path | None = None) -> None:
    """`check_model`, with a base under a hub's name brought into the local cache, so that its hash is known.

    Raises BadInputError where it cannot be loaded, or the hub does not answer and the cache does not have it.
    """
    check_model(base, adapter if Path(base).is_dir() else None)
    if Path(base).is_dir():
        return
    from huggingface_hub import snapshot_download

    try:
        found = snapshot_download(str(base), allow_patterns=HUB_FILES)
        if not any(Path(found).glob("*.safetensors")):  # the cache has its tokenizer alone, or there are none
            raise ValueError("no *.safetensors in it")
    except (OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0]
        raise BadInputError(
            f"{base}: no such directory, and the hub did not give it ({first}); name a directory, or "
            f"look at the name and the connection"
        ) from error
    check_model(base, adapter)


def model_hash(base: str | Path) -> str | None:
    """A fingerprint of a base: config, tokenizer and weights; None where `base` is a hub name not in the local cache.

    Weights count by size, header and 64 evenly spaced 4 KiB blocks per file: a 14 GB base over a slow link is told
    apart from any other in milliseconds, not read whole.
    """
    directory = directory_of(base)
    if directory is None:
        return None
    names = ["config.json", "tokenizer.json", "tokenizer.model"]
    rows = {name: sha256((directory / name).read_bytes()) for name in names if (directory / name).exists()}
    return sha256(
        canonical(rows | {path.name: _weights_hash(path) for path in sorted(directory.glob("*.safetensors"))})
    )


def directory_of(base: str | Path) -> Path | None:
    """Where the files of a base lie: the directory that it names, or that of a hub name in the local cache, if any."""
    if Path(base).is_dir():
        return Path(base)
    from transformers.utils import cached_file

    try:
        return Path(cached_file(str(base), "config.json", local_files_only=True)).parent
    except OSError:
        return None


def _weights_hash(path: Path) -> str:
    """SHA-256 of a safetensors file's size, header and evenly spaced blocks."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        header = int.from_bytes(stream.read(8), "little")
        parts = [str(size).encode(), stream.read(min(header, size))]
        for index in range(BLOCKS):
            stream.seek(max(0, size - BLOCK_BYTES) * index // (BLOCKS - 1))
            parts.append(stream.read(BLOCK_BYTES))
    return sha256(b"\0".join(parts))


def adapter_hash(adapter: str | Path) -> str:
    """SHA-256 of an adapter's weights."""
    return sha256((Path(adapter) / "adapter_model.safetensors").read_bytes())


@dataclass
class _Slot:
    """The last adapter that was put on the held base: its peft model, and where its layers belong."""

    config: dict[str, Any]
    weights: set[str]  # their names
    model: Any
    layers: list[tuple[Any, str, Any]]  # parent module, name, layer
    attributes: dict[str, Any]  # that peft set on the base


@dataclass
class _Held:
    """The base that a resident process keeps, and how it was loaded."""

    settings: tuple[str, str, bool]
    model: Any
    tokenizer: Any
    slot: _Slot | None = None


_held: _Held | None = None


def hold(base: str, *, dtype: str = "auto", load_4bit: bool = False) -> None:
    """Load a base once; `load_model` calls for the same one are then served from it."""
    global _held
    check_model(base)
    model, tokenizer = _load_base(base, dtype, load_4bit, None)
    _held = _Held((model_hash(base) or str(base), dtype, load_4bit), model, tokenizer)


def holds_base() -> bool:
    """True in a process that keeps a base."""
    return _held is not None


def release() -> None:
    """Take every adapter off the held base, so that the next `load_model` finds it as it was loaded."""
    if _held is None:
        return
    for parent, name, layer in _tuner_layers(_held.model):
        setattr(parent, name, layer.get_base_layer())
    for attribute in PEFT_ATTRIBUTES:
        if attribute in vars(_held.model):
            delattr(_held.model, attribute)
    _held.model.gradient_checkpointing_disable()
    _held.model.disable_input_require_grads()  # which gradient_checkpointing_enable enabled
    _held.model.requires_grad_(False)
    _held.model.eval()


def load_model(
    base: str | Path,
    adapter: str | Path | None = None,
    *,
    dtype: str = "auto",
    load_4bit: bool = False,
    device: str | None = None,
) -> tuple[Any, Any]:
    """The base in eval mode and frozen, with `adapter` on it where given, and its tokenizer.

    Returns:
        (model, tokenizer): a transformers model, or a peft model around it when there is an adapter.

    Raises BadInputError for what `check_model` finds, for a hub that does not answer, and for a GPU that this build of
    torch has no kernels for.
    """
    check_model(base, adapter)
    held = _held is not None and _held.settings == (model_hash(base) or str(base), dtype, load_4bit)
    if held:
        assert _held is not None
        model, tokenizer = _held.model, _held.tokenizer
    else:
        model, tokenizer = _load_base(str(base), dtype, load_4bit, device)
    if adapter is not None:
        _say_other_loading(Path(adapter), model, dtype, load_4bit)
        model = _swap(Path(adapter)) if held else _attach(model, Path(adapter))
    return model, tokenizer


def _say_other_loading(adapter: Path, model: Any, dtype: str, load_4bit: bool) -> None:
    """A line on stderr where `adapter` was trained beside a base of another dtype: its logits then differ a little."""
    flags = read_identity(adapter).flags
    trained = flags.get("dtype", dtype), flags.get("load_4bit", load_4bit)
    device = model.device.type
    if (pick_dtype(trained[0], device), trained[1]) != (pick_dtype(dtype, device), load_4bit):
        told = [
            f"--dtype {kind}{' --load-4bit' if quantised else ''}" for kind, quantised in (trained, (dtype, load_4bit))
        ]
        print(
            f"{adapter}: trained with {told[0]}, loaded with {told[1]}; its logits are not quite those", file=sys.stderr
        )


def _attach(model: Any, adapter: Path) -> Any:
    """A frozen peft model of `adapter` around `model`."""
    from peft import PeftModel

    model = PeftModel.from_pretrained(model, str(adapter), is_trainable=False)
    model.requires_grad_(False)
    return model.eval()


def _swap(adapter: Path) -> Any:
    """The peft model of `adapter` on the held base.

    Building the layers takes longer than filling them: where the last adapter's are of the same configuration they are
    put back with `adapter`'s weights in them.
    """
    from peft import get_peft_model_state_dict, load_peft_weights, set_peft_model_state_dict

    assert _held is not None
    config = read_json(adapter / "adapter_config.json")
    config = {key: sorted(value) if isinstance(value, list) else value for key, value in config.items()}
    slot, weights = _held.slot, load_peft_weights(str(adapter), device="cpu")
    if slot is not None and slot.config == config and slot.weights == set(weights):
        for parent, name, layer in slot.layers:
            setattr(parent, name, layer)
        for name, value in slot.attributes.items():
            setattr(_held.model, name, value)
        set_peft_model_state_dict(slot.model, weights)
        return slot.model.eval()
    model = _attach(_held.model, adapter)
    attributes = {name: vars(_held.model)[name] for name in PEFT_ATTRIBUTES if name in vars(_held.model)}
    names = set(get_peft_model_state_dict(model))
    _held.slot = _Slot(config, names, model, _tuner_layers(_held.model), attributes)
    return model


def _tuner_layers(model: Any) -> list[tuple[Any, str, Any]]:
    """Every adapter layer in `model`: parent module, name, layer."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    return [
        (parent, name, child)
        for parent in model.modules()
        for name, child in parent.named_children()
        if isinstance(child, BaseTunerLayer)
    ]


def _load_base(base: str, dtype: str, load_4bit: bool, device: str | None) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig

    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        if line := hardware.no_gpu_here():
            print(line, file=sys.stderr)
    if device.startswith("cuda"):
        check_card_here(base, dtype)
    torch_dtype = pick_dtype(dtype, device)
    options: dict[str, Any] = {}
    if load_4bit:
        options["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=torch_dtype,
        )
    try:
        tokenizer = AutoTokenizer.from_pretrained(base)
        model = AutoModelForCausalLM.from_pretrained(
            base, dtype=torch_dtype, device_map={"": device}, attn_implementation="sdpa", **options
        )
    except (OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0]
        raise BadInputError(
            f"{base}: cannot be loaded ({first}); check the directory, or whether the hub answers"
        ) from error
    if load_4bit:
        from peft import prepare_model_for_kbit_training

        # Norms and head in fp32 here and not in the trainer, so that training and eval give the same logits.
        model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
    model.requires_grad_(False)
    model.eval()
    return model, tokenizer


def check_machine(base: str, dtype: str) -> None:
    """`check_card_here` where there is a card; without an NVIDIA driver torch is not even imported."""
    if not hardware.driver_here():
        return
    import torch

    if torch.cuda.is_available():
        check_card_here(base, dtype)


def check_card_here(base: str, dtype: str) -> None:
    """Refuse what cannot work on the CUDA device here, and patch what is slow on it; reads no weight."""
    from transformers import PreTrainedConfig

    try:
        config, _ = PreTrainedConfig.get_config_dict(base)
    except OSError:
        config = {}  # loading it says why
    card = hardware.card_here()
    hardware.check_card(card, dtype, config.get("quantization_config"))
    if hardware.repeats_keys(card.capability):
        hardware.repeat_keys()


def pick_dtype(dtype: str, device: str) -> Any:
    """The torch dtype for a flag on a device."""
    import torch

    if dtype not in DTYPES:
        raise BadInputError(f"--dtype {dtype!r} is unknown; known: {', '.join(DTYPES)}")
    if dtype == "auto":
        old = device.startswith("cuda") and hardware.card_here().capability < hardware.AMPERE
        dtype = "fp32" if not device.startswith("cuda") else "fp16" if old else "bf16"
    return {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}[dtype]


def matmul_precision() -> str:
    """What torch.set_float32_matmul_precision takes for the fastest fp32 training on this CPU.

    "medium" multiplies in bf16, which matrix units (AMX) are made for; on vector units alone it is slower than fp32.
    """
    import torch

    return "medium" if torch.cpu.get_capabilities().get("amx_bf16") else "highest"
