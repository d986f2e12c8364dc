"""A base loads frozen, adapters fit their base alone, and what cannot be loaded is named before torch is imported."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from model import hardware
from model.loading import HeldBase, check_model, load_model, model_hash
from pipeline.files import write_json
from schema import BadInputError
from tests.helpers import ROOT, tiny


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.base(tmp_path_factory.mktemp("operators") / "base")


@pytest.fixture(scope="session")
def loaded(base: Path) -> tuple[Any, Any]:
    return load_model(base, dtype="fp32", device="cpu")


@pytest.mark.parametrize(("speedup", "dtype"), [(1.2, "float32"), (1.4, "bfloat16")])
def test_auto_is_bf16_on_a_cpu_that_multiplies_faster_in_it(
    speedup: float, dtype: str, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hardware, "bf16_speedup_here", lambda: speedup)
    model, _ = load_model(base, device="cpu")
    assert {str(parameter.dtype) for parameter in model.parameters()} == {f"torch.{dtype}"}


def test_a_base_is_frozen(loaded: tuple[Any, Any]) -> None:
    assert not any(parameter.requires_grad for parameter in loaded[0].parameters())
    assert not loaded[0].training


def make_adapter(base: Path, directory: Path, seed: int = 0, rank: int = 4) -> Path:
    import torch
    from peft import LoraConfig, get_peft_model

    model, _ = load_model(base, dtype="fp32", device="cpu")
    torch.manual_seed(seed)
    wrapped = get_peft_model(model, LoraConfig(r=rank, target_modules=["q_proj", "v_proj"], init_lora_weights=False))
    wrapped.save_pretrained(directory)
    write_json(directory / "sekft.json", {"base": str(base), "base_hash": model_hash(base), "trained_on": []})
    return directory


def logits_of(model: Any) -> Any:
    import torch

    with torch.inference_mode():
        return model(torch.arange(20)[None]).logits


def test_a_held_base_comes_back_without_its_adapter(base: Path, tmp_path: Path) -> None:
    import torch

    adapter = make_adapter(base, tmp_path / "adapter")
    held = HeldBase(str(base), dtype="fp32")
    bare, _ = load_model(base, dtype="fp32", held=held)
    assert bare is held.model
    before = logits_of(bare)
    tuned, _ = load_model(base, adapter, dtype="fp32", held=held)
    assert tuned.get_base_model() is bare
    assert not torch.allclose(logits_of(tuned), before)
    assert not any(parameter.requires_grad for parameter in tuned.parameters())
    held.release()
    again, _ = load_model(base, dtype="fp32", held=held)
    assert again is bare
    assert load_model(base, dtype="fp16", held=held)[0] is not bare  # loaded in another way
    assert torch.equal(logits_of(again), before)
    assert {name for name, _ in again.named_parameters()} == {
        name for name, _ in load_model(base, dtype="auto", device="cpu")[0].named_parameters()
    }


def test_adapters_on_a_held_base_equal_a_fresh_load(base: Path, tmp_path: Path) -> None:
    import torch

    made = {name: make_adapter(base, tmp_path / name, seed, rank) for seed, (name, rank) in enumerate(ADAPTERS.items())}
    fresh = {
        name: logits_of(load_model(base, adapter, dtype="fp32", device="cpu")[0]) for name, adapter in made.items()
    }
    held = HeldBase(str(base), dtype="fp32")
    models_seen: dict[str, Any] = {}
    for name in ("first", "second", "wider", "second", "first"):
        tuned, _ = load_model(base, made[name], dtype="fp32", held=held)
        assert torch.equal(logits_of(tuned), fresh[name]), name
        assert not any(parameter.requires_grad for parameter in tuned.parameters())
        models_seen.setdefault(name, tuned)
        held.release()
    assert models_seen["first"] is models_seen["second"]  # its layers were filled again, not built again
    assert models_seen["wider"] is not models_seen["second"]


ADAPTERS = {"first": 4, "second": 4, "wider": 8}


def test_4bit_loads_on_a_cpu(tmp_path: Path) -> None:
    model, _ = load_model(tiny.base(tmp_path / "wide", hidden=128), load_4bit=True, device="cpu")
    assert any("Linear4bit" in type(module).__name__ for module in model.modules())
    assert logits_of(model).isfinite().all()


@pytest.mark.parametrize("what", ["missing", "no_tokenizer", "no_weights", "not_json", "a_file"])
def test_a_broken_base_is_named_before_torch_is_imported(what: str, base: Path, tmp_path: Path) -> None:
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
