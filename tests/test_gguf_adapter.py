"""llama.cpp computes from the converted files what base and adapter compute here, or nothing is written."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import gguf_adapter
import sft
from model.loading import adapter_hash, model_hash
from pipeline.files import read_identity, write_record
from serving.llama_cpp import convert_adapter
from tests.helpers import tiny
from tests.helpers.real_base import real_base
from tests.helpers.training import exit_code


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random base with SmolLM2's tokenizer, which llama.cpp knows, and an adapter on it."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    place, source = tmp_path_factory.mktemp("gguf"), real_base(tmp_path_factory)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=49152, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=8192, tie_word_embeddings=True, initializer_range=0.2,
        bos_token_id=1, eos_token_id=2, pad_token_id=2,
    )  # fmt: skip
    LlamaForCausalLM(config).to(torch.float16).save_pretrained(place / "base")
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copy(source / name, place / "base" / name)
    for index in range(2):
        write_record(place / "data", tiny.trajectory(f"t{index}-s0", steps=2))
    given: list[object] = ["--data", place / "data", "--base", place / "base", "--out", place / "adapter"]
    flags = ["--render", "chat", "--epochs", 3, "--accum", 1, "--lr", "1e-2", "--no-reload", "--dtype", "fp32"]
    assert exit_code(sft, *given, *flags) == 0
    return place


def run(place: Path, out: Path, *flags: object) -> int:
    return exit_code(gguf_adapter, "--base", place / "base", "--adapter", place / "adapter", "--out", out, *flags)


def test_llama_cpp_gives_our_log_probabilities(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = model_hash(place / "base")
    assert run(place, tmp_path / "gguf") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["contexts"] == 16
    assert summary["logits_differ_by"] <= summary["allowed"] < 0.01
    assert summary["same_best_token"] == 1.0
    about = read_identity(tmp_path / "gguf")
    assert about.converted == adapter_hash(place / "adapter")
    assert about.trained_on == read_identity(place / "adapter").trained_on
    assert {"adapter.gguf", "base.gguf", "render.json", "README.md"} <= {
        one.name for one in (tmp_path / "gguf").iterdir()
    }
    assert model_hash(place / "base") == before


def test_another_adapter_is_found_and_nothing_is_left(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    convert = convert_adapter

    def of_doubled_weights(tool: Path, base: Path, adapter: Path, out: Path) -> None:
        from safetensors.torch import load_file, save_file

        shutil.copytree(adapter, tmp_path / "doubled")
        weights: dict[str, Any] = load_file(adapter / "adapter_model.safetensors")
        save_file({name: 2 * one for name, one in weights.items()}, tmp_path / "doubled" / "adapter_model.safetensors")
        convert(tool, base, tmp_path / "doubled", out)

    monkeypatch.setattr(gguf_adapter, "convert_adapter", of_doubled_weights)
    assert run(place, tmp_path / "gguf") == 1
    assert "its logits differ by" in capsys.readouterr().err
    assert sorted(one.name for one in (tmp_path / "gguf").iterdir() if one.name[0] != ".") == ["manifest.json"]
