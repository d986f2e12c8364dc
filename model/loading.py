"""Load a base and its adapter in the one way that training, rollout, eval and a resident process share.

    from model.loading import load_model

    model, tokenizer = load_model("base/smollm2", "ckpt-run1")

There is one loader because two would give different logits: 4-bit preparation changes the norms, and dtypes differ.
dtype auto means bf16 on CUDA from sm_80 on and on a CPU that multiplies faster in it, fp16 on older CUDA devices (which
have no bf16), fp32 on other CPUs. The base is never written. Directories are checked before torch is imported.
"""

import argparse
import logging
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model import hardware
from pipeline.files import checked, read_identity, read_json
from pipeline.holdout import SelectedPath
from pipeline.stage import DEFAULT_BASE
from schema import BadInputError, SelectedAdapter, canonical, sha256

DTYPES = ("auto", "fp16", "bf16", "fp32")
BLOCK_BYTES, BLOCKS = 4096, 64
HUB_FILES = ["*.json", "model*.safetensors", "tokenizer.model", "*.jinja"]  # some hub bases hold weights twice
PEFT_ATTRIBUTES = ("peft_config", "active_adapter", "_hf_peft_config_loaded")

# peft imports bitsandbytes, which warns on some CPUs that it could not download a 4-bit kernel.
logging.getLogger("bitsandbytes.backends.cpu.ops").setLevel(logging.ERROR)


def check_model(base: str | Path, adapter: str | Path | None = None) -> None:
    """Raise BadInputError where `base` or `adapter` cannot be loaded or do not belong together.

    Imports no torch. A base that is not a directory must look like a hub name (`owner/name`); the hub is not asked.
    """
    directory = Path(base)
    if not directory.is_dir():
        if str(base) == DEFAULT_BASE:
            raise BadInputError(f"{base}: not here yet; make it with `python get_base.py`, or name another --base")
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
    """Download a base that has a hub name into the local cache, so that its hash is known; then `check_model`.

    Raises BadInputError where the base cannot be loaded, or where the hub does not answer and the cache lacks it.
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
    """SHA-256 over config, tokenizer and weights of a base; None for a hub name that is not in the local cache.

    Each weight file counts with its size, its header and 64 evenly spaced blocks of 4 KiB. So a 14 GB base is
    identified in milliseconds.
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
    """The directory with the files of a base (for a hub name: in the local cache), or None where there is none."""
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


def adapter_argument(text: str) -> Path | None:
    """The value of a flag --adapter: a directory; or what a selected.json names (a SelectedPath), None for none.

    Raises argparse's error, in one line, for a file that is none, and for an adapter that is not the selected one.
    """
    path = Path(text)
    if not path.is_file():
        return path
    try:
        chosen = checked(path, read_json(path), SelectedAdapter, "name an adapter's directory, or a selected.json")
    except BadInputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    if chosen.selected == "none":
        return None
    adapter = SelectedPath(path.parent / chosen.selected)
    if not (adapter / "adapter_model.safetensors").exists():
        raise argparse.ArgumentTypeError(f"{path}: selected: {adapter} is no adapter's directory; select again")
    if adapter_hash(adapter) != chosen.adapter_hash:
        raise argparse.ArgumentTypeError(f"{path}: selected: {adapter} has other weights since; select again")
    adapter.selected_on = chosen.selected_on
    return adapter


@dataclass
class _LastAdapter:
    """The last adapter on a held base: its peft model, and where its layers belong."""

    config: dict[str, Any]
    weight_names: set[str]
    model: Any
    layers: list[tuple[Any, str, Any]]  # parent module, name, layer
    attributes: dict[str, Any]  # that peft set on the base


class HeldBase:
    """A base that stays in memory while adapters are put on it one after the other.

        held = HeldBase("base/smollm2")
        model, tokenizer = load_model("base/smollm2", "ckpt-run1", held=held)
        held.release()

    Raises BadInputError as `load_model` does.
    """

    def __init__(self, base: str, *, dtype: str = "auto", load_4bit: bool = False) -> None:
        check_model(base)
        self.model, self.tokenizer = load_base(base, dtype=dtype, load_4bit=load_4bit)
        self._loaded = _loaded_as(base, dtype, load_4bit)
        self._last: _LastAdapter | None = None

    def is_loaded_as(self, base: str | Path, dtype: str, load_4bit: bool) -> bool:
        """True where loading `base` in this way would give the base that is held."""
        return self._loaded == _loaded_as(base, dtype, load_4bit)

    def put_on(self, adapter: Path) -> Any:
        """The frozen peft model of `adapter` on this base.

        Building the layers takes longer than filling them. So where the last adapter had the same configuration, its
        layers are put back with the weights of `adapter` in them.
        """
        from peft import get_peft_model_state_dict, load_peft_weights, set_peft_model_state_dict

        config = read_json(adapter / "adapter_config.json")
        config = {key: sorted(value) if isinstance(value, list) else value for key, value in config.items()}
        last, weights = self._last, load_peft_weights(str(adapter), device="cpu")
        if last is not None and last.config == config and last.weight_names == set(weights):
            for parent, name, layer in last.layers:
                setattr(parent, name, layer)
            for name, value in last.attributes.items():
                setattr(self.model, name, value)
            set_peft_model_state_dict(last.model, weights)
            return last.model.eval()
        model = _put_on(self.model, adapter)
        attributes = {name: vars(self.model)[name] for name in PEFT_ATTRIBUTES if name in vars(self.model)}
        names = set(get_peft_model_state_dict(model))
        self._last = _LastAdapter(config, names, model, _adapter_layers(self.model), attributes)
        return model

    def release(self) -> None:
        """Take every adapter off the base, so that the next `load_model` finds it as it was loaded."""
        for parent, name, layer in _adapter_layers(self.model):
            setattr(parent, name, layer.get_base_layer())
        for attribute in PEFT_ATTRIBUTES:
            if attribute in vars(self.model):
                delattr(self.model, attribute)
        self.model.gradient_checkpointing_disable()
        self.model.disable_input_require_grads()  # gradient_checkpointing_enable had enabled them
        self.model.requires_grad_(False)
        self.model.eval()


def _loaded_as(base: str | Path, dtype: str, load_4bit: bool) -> tuple[str, str, bool]:
    """Equal for two loads that give the same model."""
    return model_hash(base) or str(base), dtype, load_4bit


def load_model(
    base: str | Path,
    adapter: str | Path | None = None,
    *,
    dtype: str = "auto",
    load_4bit: bool = False,
    device: str | None = None,
    held: HeldBase | None = None,
) -> tuple[Any, Any]:
    """The base in eval mode and frozen, with `adapter` on it where given, and its tokenizer.

    The base comes from `held` where that is the same base, loaded in the same way.

    Returns:
        (model, tokenizer): a transformers model, or a peft model around it where there is an adapter.

    Raises BadInputError for everything that `check_model` finds, for a hub that does not answer, and for a GPU that
    this build of torch has no kernels for.
    """
    check_model(base, adapter)
    if held is not None and not held.is_loaded_as(base, dtype, load_4bit):
        held = None
    if held is not None:
        model, tokenizer = held.model, held.tokenizer
    else:
        model, tokenizer = load_base(str(base), dtype=dtype, load_4bit=load_4bit, device=device)
    if adapter is not None:
        _warn_of_other_loading(Path(adapter), model, dtype, load_4bit)
        model = held.put_on(Path(adapter)) if held is not None else _put_on(model, Path(adapter))
    return model, tokenizer


def _warn_of_other_loading(adapter: Path, model: Any, dtype: str, load_4bit: bool) -> None:
    """Print a line to stderr where the base had another dtype in training; the logits then differ a little."""
    flags = read_identity(adapter).flags
    trained = flags.get("dtype", dtype), flags.get("load_4bit", load_4bit)
    device = model.device.type
    if (pick_dtype(trained[0], device), trained[1]) != (pick_dtype(dtype, device), load_4bit):
        told = [
            f"--dtype {kind}{' --load-4bit' if quantised else ''}" for kind, quantised in (trained, (dtype, load_4bit))
        ]
        print(f"{adapter}: trained with {told[0]}, loaded with {told[1]}; its logits differ a little", file=sys.stderr)


def _put_on(model: Any, adapter: Path) -> Any:
    """A frozen peft model of `adapter` around `model`."""
    from peft import PeftModel

    model = PeftModel.from_pretrained(model, str(adapter), is_trainable=False)
    model.requires_grad_(False)
    return model.eval()


def _adapter_layers(model: Any) -> list[tuple[Any, str, Any]]:
    """Every adapter layer in `model`: parent module, name, layer."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    return [
        (parent, name, child)
        for parent in model.modules()
        for name, child in parent.named_children()
        if isinstance(child, BaseTunerLayer)
    ]


def load_base(base: str, *, dtype: str = "auto", load_4bit: bool = False, device: str | None = None) -> tuple[Any, Any]:
    """The bare base in eval mode and frozen, and its tokenizer; raises as `load_model` does."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig

    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        if line := hardware.no_gpu_here():
            print(line, file=sys.stderr)
    if device.startswith("cuda"):
        check_gpu_here(base, dtype)
    torch_dtype = pick_dtype(dtype, device)
    options: dict[str, Any] = {}
    if load_4bit:
        options["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=torch_dtype,
        )
    silence_transformers()
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


def silence_transformers() -> None:
    """Turn off transformers' warnings and progress bars; every stage prints its own."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def check_machine(base: str, dtype: str) -> None:
    """`check_gpu_here` where there is a GPU. Without an NVIDIA driver torch is not imported."""
    if not hardware.driver_here():
        return
    import torch

    if torch.cuda.is_available():
        check_gpu_here(base, dtype)


def check_gpu_here(base: str, dtype: str) -> None:
    """Check `base` and `dtype` against the current CUDA device, and patch slow attention on old ones.

    Reads no weight. Raises BadInputError where the base cannot run on this device.
    """
    from transformers import PreTrainedConfig

    try:
        config, _ = PreTrainedConfig.get_config_dict(base)
    except OSError:
        config = {}  # loading the base gives the reason
    gpu = hardware.gpu_here()
    hardware.check_gpu(gpu, dtype, config.get("quantization_config"))
    if hardware.needs_repeated_keys(gpu.capability):
        hardware.repeat_keys_in_sdpa()


def pick_dtype(dtype: str, device: str) -> Any:
    """The torch dtype for a flag on a device; auto asks the device, a CPU by timing it once per process."""
    import torch

    if dtype not in DTYPES:
        raise BadInputError(f"--dtype {dtype!r} is unknown; known: {', '.join(DTYPES)}")
    if dtype == "auto":
        if device.startswith("cuda"):
            dtype = "fp16" if hardware.gpu_here().capability < hardware.AMPERE else "bf16"
        else:
            dtype = "bf16" if hardware.bf16_speedup_here() >= hardware.WORTH_BF16 else "fp32"
    return {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}[dtype]
