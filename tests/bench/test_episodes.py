"""bench/episodes.py measures every way with its costs, on a tiny base and in 4-bit too."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from bench import episodes
from model import hardware
from model.decoder import Decoder, next_logits
from model.loading import load_model
from tests.helpers import tiny

SHAPE = {
    "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2,
    "num_hidden_layers": 2, "vocab_size": 4096, "max_position_embeddings": 2048, "initializer_range": 0.2,
}  # fmt: skip
COSTS = {"seconds", "cpu_seconds", "held_megabytes", "peak_megabytes_above"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    episodes.SHAPES["135m"] = episodes.SHAPES["7b"] = SHAPE
    episodes.BASE = tiny.base(tmp_path_factory.mktemp("own") / "base")
    written: Path = episodes.write_base(tmp_path_factory.mktemp("episodes"), "135m", "fp32")[0]
    return written


@pytest.fixture
def peak(monkeypatch: pytest.MonkeyPatch) -> None:
    """A peak for the CPU, without which nothing says what share of it was used."""
    monkeypatch.setattr(hardware, "PEAK_FLOPS", {"CPU": 1e8})


def passes_of(model: Any) -> list[int]:
    """A list that grows by the number of ids of each forward pass of `model`."""
    lengths: list[int] = []
    model.register_forward_pre_hook(
        lambda _, __, given: lengths.append(given["input_ids"].shape[1]), with_kwargs=True
    )  # fmt: skip
    return lengths


@pytest.mark.parametrize("load_4bit", [False, True])
def test_kept_cache_is_compared_with_re_prefill(base: Path, load_4bit: bool, peak: None) -> None:
    model = load_model(base, dtype="fp32", device="cpu", load_4bit=load_4bit)[0]
    lengths = passes_of(model)
    table = episodes.cache(model, hardware.shape_of(str(base)), 1, prompt=200, turns=3, output=20)
    assert table["context_tokens"] == 200 + 2 * 20 + 3 * 20
    long = sum(length >= 200 for length in lengths) - (0 if table["transcripts"]["same"] else 1)  # compare reads, too
    assert long == 1 + 1 + 3  # to warm up, kept, anew
    for way in ("kept", "re-prefill"):
        assert set(table[way]) == COSTS | {"last_turn_seconds", "tokens_per_second", "mfu", "hfu"}
        assert table[way]["cpu_seconds"] > 0
        assert table[way]["tokens_per_second"] == pytest.approx(60 / table[way]["seconds"], rel=1e-3)
    assert table["kept"]["mfu"] == table["kept"]["hfu"] > 0
    assert 1.5 < table["re-prefill"]["hfu"] / table["re-prefill"]["mfu"] < 3
    assert table["transcripts"]["same"] + table["transcripts"]["parted_level"] == 1 or load_4bit


@pytest.mark.parametrize("load_4bit", [False, True])
def test_sessions_alone_are_compared_with_all_at_once(base: Path, load_4bit: bool, peak: None) -> None:
    model = load_model(base, dtype="fp32", device="cpu", load_4bit=load_4bit)[0]
    lengths = passes_of(model)
    table = episodes.concurrency(model, hardware.shape_of(str(base)), 1, 3, prompt=30, turns=2)
    one_by_one = 3 * 2 * 24
    assert 2 + one_by_one + one_by_one / 3 <= len(lengths) < 2 + one_by_one * 1.8
    for way in ("1 at once", "3 at once"):
        assert set(table[way]) == COSTS | {"episodes_per_hour", "tokens_per_second", "mfu", "hfu"}
        assert table[way]["mfu"] == table[way]["hfu"] > 0
        assert table[way]["tokens_per_second"] == pytest.approx(one_by_one / table[way]["seconds"], rel=1e-3)
    assert sum(table["transcripts"][name] for name in ("same", "parted_level", "differ")) == 3
    assert table["transcripts"]["differ"] == 0 or load_4bit


def test_operations_equal_the_matrix_products(base: Path) -> None:
    model, shape = load_model(base, dtype="fp32", device="cpu")[0], hardware.shape_of(str(base))
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        next_logits(model, list(range(300)))
    counts = {str(name): count for name, count in counter.get_flop_counts()["Global"].items()}
    whole_square = counts["aten.bmm"]  # and the products of the rotary embedding
    expected = counts["aten.mm"] + whole_square / 2
    assert episodes.forward_operations(shape, [(0, 300)], 1) == pytest.approx(expected, rel=1e-3)
    assert whole_square / 2 > 0.2 * expected
    halves = episodes.forward_operations(shape, [(0, 100), (100, 300)], 1)
    assert halves == episodes.forward_operations(shape, [(0, 300)], 1)


def test_parts_go_into_one_file(base: Path, tmp_path: Path) -> None:
    out = tmp_path / "episodes.json"
    flags: dict[str, Any] = {"rounds": 1, "shape": "7b", "dtype": "fp16", "episodes": 2, "out": out}
    assert episodes.main(only=["cache", "concurrency"], weights=["plain", "4bit"], **flags) == 0
    assert episodes.main(only=["swap"], weights=["4bit"], **flags) == 0
    tables = json.loads(out.read_text())
    assert tables["dtype"] == "fp16"
    for part in ("cache", "cache, 4-bit", "concurrency", "concurrency, 4-bit"):
        assert tables["measured"][part]["rounds"] == 1
        for way in tables[part].values():
            assert not isinstance(way, dict) or "same" in way or way["tokens_per_second"] > 0
    swapped = tables["swap, 4-bit"]
    assert swapped["cold_start"]["cpu_seconds"] > swapped["swap"]["cpu_seconds"] > 0


def test_swap_is_compared_with_a_cold_start(base: Path, tmp_path: Path) -> None:
    out = tmp_path / "episodes.json"
    done = episodes.main(
        only=["swap"], weights=None, rounds=1, shape="135m", dtype="fp32", episodes=2, out=out
    )  # fmt: skip
    assert done == 0
    table = json.loads(out.read_text())["swap"]
    assert set(table["swap"]) == set(table["cold_start"]) == COSTS
    assert table["cold_start"]["cpu_seconds"] > 0.3  # torch alone takes longer to import
    assert table["cold_start"]["peak_megabytes_above"] > 100
    assert table["times_as_fast"] > 1


def test_missing_docker_engine_fails_only_its_part(tmp_path: Path) -> None:
    out, base = tmp_path / "episodes.json", tiny.base(tmp_path / "base")
    on_base = f"from bench import episodes; episodes.BASE = {str(base)!r}; "
    start = "from pipeline import stage; stage.run_script(episodes.main, episodes.parser())"
    command = [sys.executable, "-c", on_base + start, "--only", "eval", "--rounds", "1"]
    environment = {**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/none.sock"}
    done = subprocess.run([*command, "--out", str(out)], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1, done.stderr
    assert "no Docker engine answers" in json.loads(out.read_text())["eval"]["failed"]


def test_peak_counts_freed_memory() -> None:
    with episodes.Spent() as one:
        held = bytearray(b"x") * 300_000_000
        del held
    assert 290e6 < one.peak_bytes < 400e6
    with episodes.Spent() as none:
        pass
    assert none.peak_bytes < 50e6


@pytest.mark.docker
def test_real_episodes_alone_and_at_once(base: Path, tmp_path: Path) -> None:
    vocabulary = hardware.shape_of(str(episodes.BASE)).vocabulary
    model, tokenizer = load_model(episodes.BASE, dtype="fp32", device="cpu")
    end = len(tokenizer.encode("<|end|>", add_special_tokens=False))
    for place, operator in ("own", model), ("shape", episodes.model_of("135m", "fp32", vocab_size=vocabulary)):
        table = episodes.real_eval(operator, tmp_path / place, 1, 2, waves=2, steps=2, length=6)
        for way in ("1 at once", "2 at once"):
            assert set(table[way]) == COSTS | {"episodes_per_hour"}
        records = [json.loads(path.read_text()) for path in tmp_path.glob(f"{place}/0-[12]/*.json")]
        assert len(records) == 2 * 4
        assert all(2 <= sum(record["assistant_mask"]) <= 2 * (6 + end) for record in records)
        counts = table["transcripts"]
        assert counts["differ"] == 0
        assert counts["same"] + counts["parted_level"] + counts.get("parted_in_output", 0) == 4


def test_different_episode_is_counted(base: Path) -> None:
    model = load_model(base, dtype="fp32", device="cpu")[0]
    (ids, mask), _ = episodes.play(Decoder(model), 0, prompt=30, turns=1, output=0, length=4)
    changed = [*ids[:-1], (ids[-1] + 1) % 4096]
    counts = episodes.transcripts(model, [[(ids, mask), (ids, mask)], [(ids, mask), (changed, mask)]])
    assert (counts["same"], counts["differ"]) == (1, 1)
