"""The hardware check refuses before any weight is read; estimated costs are close to measured ones."""

import dataclasses
import json
import re
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import eval as evaluation
import rollout
from pipeline import stage
from model import hardware, loading
from model.hardware import GPU, ModelShape, Workload
from model.loading import load_model
from pipeline.files import read_json, write_json, write_record
from schema import BadInputError
from tests.helpers import ROOT, tiny
from tests.helpers.training import exit_code, fit_settings
from training import loop, run
from training.settings import TrainingSettings

CU130 = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120", "compute_120")
CU126 = ("sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90")


def gpu(capability: tuple[int, int] = (7, 0), built_for: tuple[str, ...] = CU126, name: str = "Tesla V100") -> GPU:
    return GPU(name, capability, built_for, "2.13.0+cu130" if built_for == CU130 else "2.13.0+cu126", 32 * 2**30)


def test_missing_kernels_name_the_build_to_install() -> None:
    with pytest.raises(BadInputError) as caught:
        hardware.check_gpu(gpu(built_for=CU130), "auto")
    assert "\n" not in str(caught.value)
    assert "Tesla V100 is sm_70, torch 2.13.0+cu130 has kernels for sm_75" in str(caught.value)
    assert "install torch 2.13.0+cu126" in str(caught.value)
    hardware.check_gpu(gpu(), "auto")


@pytest.mark.parametrize(
    ("capability", "built_for", "runs"),
    [
        ((7, 0), CU130, False),
        ((8, 6), ("sm_80",), True),  # same major, lower minor
        ((8, 0), ("sm_86",), False),
        ((8, 9), CU130, True),
        ((12, 1), ("sm_90", "compute_90"), True),  # compiled when first used
        ((9, 0), ("sm_90a",), True),
        ((10, 0), ("sm_120",), False),
        ((7, 0), ("sm_75", "compute_75"), False),
    ],
)
def test_architectures_match_as_in_cuda(capability: tuple[int, int], built_for: tuple[str, ...], runs: bool) -> None:
    assert (hardware.no_kernels(gpu(capability, built_for)) is None) is runs


def test_bf16_and_8_bit_are_refused_on_a_v100() -> None:
    with pytest.raises(BadInputError, match=r"--dtype bf16: Tesla V100 .*pass --dtype fp16"):
        hardware.check_gpu(gpu(), "bf16")
    with pytest.raises(BadInputError, match=r"load_in_8bit: LLM.int8\(\) needs sm_75.*--load-4bit"):
        hardware.check_gpu(gpu(), "fp16", {"load_in_8bit": True})
    hardware.check_gpu(gpu(), "fp16", {"load_in_4bit": True})
    hardware.check_gpu(gpu((8, 0)), "bf16", {"load_in_8bit": True})
    hardware.check_gpu(gpu((7, 5)), "fp16", {"load_in_8bit": True})


def test_unusable_driver_is_warned_of() -> None:
    line = hardware.no_gpu(driver=True, seen=False, torch_version="2.13.0+cu130")
    assert line is not None
    assert "sees no GPU, so this runs on CPU" in line
    assert hardware.no_gpu(driver=False, seen=False, torch_version="2.13.0+cpu") is None
    assert hardware.no_gpu(driver=True, seen=True, torch_version="2.13.0+cu126") is None


def test_repeated_keys_give_the_same_logits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    import transformers.integrations.sdpa_attention as attention

    assert [hardware.needs_repeated_keys(one) for one in ((7, 0), (7, 5), (8, 0), (9, 0))] == [True, True, False, False]
    model, _ = load_model(tiny.base(tmp_path / "base"), dtype="fp32")
    grouped: list[bool] = []
    real = torch.nn.functional.scaled_dot_product_attention

    def spy(*arguments: Any, **options: Any) -> Any:
        grouped.append(bool(options.get("enable_gqa")))
        return real(*arguments, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", spy)
    monkeypatch.setattr(attention, "use_gqa_in_sdpa", attention.use_gqa_in_sdpa)  # put back afterwards
    ids = torch.arange(40)[None]
    with torch.no_grad():
        before = model(ids).logits
        assert all(grouped)
        grouped.clear()
        hardware.repeat_keys_in_sdpa()
        after = model(ids).logits
    assert grouped
    assert not any(grouped)
    assert float((before - after).abs().max()) < 1e-5


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.base(tmp_path_factory.mktemp("hardware") / "base")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Callable[[GPU | None], None]:
    """Put a GPU into the machine (None: one that torch does not see), as the three facts that torch would give."""

    def put(one: GPU | None) -> None:
        monkeypatch.setattr(hardware, "driver_here", lambda: True)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: one is not None)
        monkeypatch.setattr(hardware, "gpu_here", lambda: one)

    import torch

    return put


def fit(base: Path, place: Path, *flags: str) -> int:
    write_record(place / "data", tiny.trajectory("t-s0"))
    return run.fit(fit_settings("--data", place / "data", "--base", base, "--no-reload", *flags))


REFUSED = {
    "build": (gpu(built_for=CU130), [], {}, "install torch 2.13.0+cu126"),
    "bf16": (gpu(), ["--dtype", "bf16"], {}, "--dtype bf16: Tesla V100"),
    "8-bit": (gpu(), [], {"load_in_8bit": True}, "needs sm_75"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_gpu_is_checked_before_weights_are_read(
    name: str, base: Path, tmp_path: Path, here: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    one, flags, quantization, words = REFUSED[name]
    base = shutil.copytree(base, tmp_path / "base")
    config = read_json(base / "config.json")
    write_json(base / "config.json", {**config, "quantization_config": quantization} if quantization else config)
    here(one)
    (base / "model.safetensors").unlink()  # as a base of a hub is before it is fetched
    with pytest.raises(BadInputError, match=re.escape(words)) as caught:
        fit(base, tmp_path, "--out", str(tmp_path / "out"), *flags)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()
    for script, needed in (evaluation, ["--scenarios", "x"]), (rollout, ["--scenarios", "x", "--operator", "local"]):
        given = ["--base", base, "--out", tmp_path / "out", *needed, *flags]
        capsys.readouterr()
        assert exit_code(script, *given) == stage.BAD_INPUT
        assert words in capsys.readouterr().err.splitlines()[-1]
    (base / "model.safetensors").write_bytes((9).to_bytes(8, "little") + b"no weight")  # reading it would fail
    with pytest.raises(BadInputError, match=re.escape(words)):
        load_model(base, dtype=flags[1] if flags else "auto")  # as in eval.py, rollout.py and resident.py
    capsys.readouterr()
    assert fit(base, tmp_path, "--inspect", *flags) == stage.BAD_INPUT
    shown = capsys.readouterr()
    assert f"ERROR gpu: {caught.value}" in shown.err
    assert "gpu" in [finding["check"] for finding in json.loads(shown.out)["findings"]]


def test_torch_warning_of_an_old_gpu_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    check: Callable[[], None] = torch.cuda._check_capability  # torch calls it at the first use of a GPU

    def first_use(*_: Any) -> tuple[int, int]:
        check()
        return 1, 1

    old = {"device_count": 1, "get_device_name": "Tesla V100", "get_device_capability": (7, 0), "get_arch_list": CU130}
    for name, value in old.items():
        monkeypatch.setattr(torch.cuda, name, lambda *_, value=value: value)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "mem_get_info", first_use)
    with pytest.warns(UserWarning, match="does not include kernels for this GPU"):
        first_use()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert hardware.no_kernels(hardware.gpu_here())
    assert said == []


def test_unusable_driver_is_warned_of_at_every_load(
    base: Path, tmp_path: Path, here: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    here(None)
    load_model(base, dtype="fp32")
    assert "sees no GPU, so this runs on CPU" in capsys.readouterr().err
    assert fit(base, tmp_path, "--inspect") == stage.DONE
    assert "WARN  gpu: an NVIDIA driver is loaded" in capsys.readouterr().err


@pytest.mark.parametrize(("capability", "patched"), [((7, 0), True), ((7, 5), True), ((8, 0), False), ((9, 0), False)])
def test_attention_is_patched_on_old_gpus_only(
    base: Path, here: Any, monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], patched: bool
) -> None:
    import transformers.integrations.sdpa_attention as attention

    real = attention.use_gqa_in_sdpa
    monkeypatch.setattr(attention, "use_gqa_in_sdpa", real)  # put back afterwards
    here(gpu(capability))
    loading.check_machine(str(base), "auto")
    assert (attention.use_gqa_in_sdpa is not real) is patched
    assert loading.pick_dtype("auto", "cuda") == (torch_dtype("float16") if patched else torch_dtype("bfloat16"))


def torch_dtype(name: str) -> Any:
    import torch

    return getattr(torch, name)


def test_too_little_memory_is_warned_of(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--out", str(tmp_path / "out"), "--epochs", "1", "--dtype", "fp32"]
    with monkeypatch.context() as patch:
        patch.setattr(hardware, "free_bytes_here", lambda: 2**20)
        assert fit(base, tmp_path, *flags, "--allow-slow") == stage.DONE
    assert "0.0 GiB are free; lower --batch" in capsys.readouterr().err
    assert fit(base, tmp_path, *flags, "--redo") == stage.DONE
    assert "are free" not in capsys.readouterr().err
    here(dataclasses.replace(gpu(), free_bytes=2**20))
    assert hardware.free_bytes_here() == 2**20
    assert fit(base, tmp_path, "--inspect") == stage.DONE
    assert "WARN  memory: this run is estimated to need" in capsys.readouterr().err


def test_unknown_targets_are_refused_before_weights_are_read(base: Path, tmp_path: Path) -> None:
    base = shutil.copytree(base, tmp_path / "base")
    (base / "model.safetensors").write_bytes((9).to_bytes(8, "little") + b"no weight")
    for flags in (["--out", str(tmp_path / "out")], ["--inspect"]):
        with pytest.raises(BadInputError, match=r"--lora-targets: \['nonsense'\] not in this base; it has .*'q_proj'"):
            fit(base, tmp_path, *flags, "--lora-targets", "q_proj,nonsense")
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def mistral(tmp_path_factory: pytest.TempPathFactory) -> ModelShape:
    """The shape of Mistral-7B, from its config alone."""
    from transformers import MistralConfig

    directory = tmp_path_factory.mktemp("mistral")
    MistralConfig().save_pretrained(directory)
    return hardware.shape_of(str(directory))


def work(lengths: list[int], trained: list[int], *, half: bool = True, **changes: Any) -> Workload:
    """The workload of sft.py's defaults with checkpointing."""
    found = fit_settings(gradient_checkpointing=True, epochs=3, **changes).workload(lengths, trained)
    return dataclasses.replace(found, half=half)


def test_v100_recipe_trains_the_attention_projections(mistral: ModelShape) -> None:
    recipe = (ROOT / "runs" / "v100.sh").read_text()
    (targets,) = re.findall(r"^targets=(\S+)$", recipe, re.M)
    assert f"{mistral.trainable(16, targets):,} parameters" in recipe
    assert mistral.trainable(16, targets) == 13_631_488
    assert recipe.count("python sft.py") == recipe.count('--lora-targets "$targets"') == 3


def test_sizes_of_mistral_7b(mistral: ModelShape) -> None:
    assert mistral.parameters == 7_241_732_096
    assert mistral.trainable(16, "q_proj,k_proj,v_proj,o_proj") == 13_631_488
    assert mistral.trainable(16, "all-linear") == 41_943_040
    half = hardware.memory(mistral, work([4096], [700]))
    assert half["weights"] == 2 * mistral.parameters
    assert 15 * 2**30 < half["total"] < 20 * 2**30  # fits a V100 of 32 GB
    assert hardware.memory(mistral, work([4096], [700], load_4bit=True))["weights"] < 5.2 * 2**30
    without = hardware.memory(mistral, dataclasses.replace(work([4096], [700]), checkpointing=False))
    line = hardware.too_small(without["total"], 32 * 2**30)
    assert line is not None
    assert "--gradient-checkpointing" in line
    assert hardware.too_small(half["total"], 32 * 2**30) is None


@pytest.mark.parametrize(("width", "rate"), [(256, 0.0032), (576, 0.0014), (2048, 0.0004), (4096, 0.0002)])
def test_usual_learning_rate_falls_with_width(width: int, rate: float, tmp_path: Path) -> None:
    from transformers import LlamaConfig

    assert hardware.usual_learning_rate(str(tmp_path)) == 0.0002  # without a config
    LlamaConfig(hidden_size=width, num_attention_heads=4).save_pretrained(tmp_path)
    assert hardware.usual_learning_rate(str(tmp_path)) == rate


def test_operations_follow_the_6n_rule(mistral: ModelShape) -> None:
    tokens = [2048] * 4
    per_token = hardware.flops(mistral, tokens, [0] * 4, 0, checkpointing=True) / sum(tokens)
    assert per_token == pytest.approx(6 * mistral.linear_parameters, rel=0.06)  # attention is the rest
    assert hardware.flops(mistral, tokens, [0] * 4, 0, checkpointing=False) / sum(tokens) < per_token * 0.7
    found = hardware.costs(mistral, work(tokens, [300] * 4))
    assert found["hours"]["V100"] > 6 * found["hours"]["H100"] > 0


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("checkpointing", [False, True])
def test_estimated_activations_are_close_to_autograds(dtype: str, checkpointing: bool) -> None:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        hidden_size=128, intermediate_size=320, num_hidden_layers=6, num_attention_heads=4, num_key_value_heads=2,
        vocab_size=500,
    )  # fmt: skip
    torch.manual_seed(0)
    model = LlamaForCausalLM(config).to(getattr(torch, dtype)).requires_grad_(False)
    model = loop.add_lora(model, TrainingSettings(lora_r=4, lora_alpha=8)).train()
    if checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        model.enable_input_require_grads()
    kept: dict[int, Any] = {}
    weights = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}

    def keep(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage  # held, so that no address comes twice
        return tensor

    ids = torch.randint(0, 500, (2, 96))
    labels = torch.where(torch.arange(96) > 90, ids, -100)
    with (
        torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
        torch.autocast("cpu", dtype=torch.float16, enabled=dtype == "float16"),
    ):
        loop.compact_loss(model, {"input_ids": ids, "labels": labels})
    found = sum(storage.nbytes() for storage in kept.values())
    how: dict[str, bool] = {"checkpointing": checkpointing, "half": dtype == "float16"}
    estimated = hardware.activation_bytes(ModelShape(128, 6, 128, 64, 320, 500, 0), 192, **how)
    estimated -= hardware.layer_bytes(
        ModelShape(128, 6, 128, 64, 320, 500, 0), 192, half=how["half"]
    )  # in work only later
    assert found * 0.75 < estimated < found * 1.34
