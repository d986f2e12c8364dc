"""bench/episodes.py measures the ways that it names, with their costs, on a tiny base; a GPU's 4-bit case runs too."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench import episodes
from models import load_model

SHAPE = {
    "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2,
    "num_hidden_layers": 2, "vocab_size": 4096, "max_position_embeddings": 2048, "initializer_range": 0.2,
}  # fmt: skip
COSTS = {"seconds", "cpu_seconds", "peak_megabytes_above"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    episodes.SHAPES["135m"] = SHAPE
    written: Path = episodes.write_base(tmp_path_factory.mktemp("episodes"), "135m", "fp32")[0]
    return written


def passes_of(model: Any) -> list[int]:
    """A list that grows by the number of ids of each forward pass of `model`."""
    lengths: list[int] = []
    model.register_forward_pre_hook(
        lambda _, __, given: lengths.append(given["input_ids"].shape[1]), with_kwargs=True
    )  # fmt: skip
    return lengths


@pytest.mark.parametrize("load_4bit", [False, True])
def test_a_kept_cache_is_set_against_one_that_is_computed_anew_at_every_turn(base: Path, load_4bit: bool) -> None:
    model = load_model(base, device="cpu", load_4bit=load_4bit)[0]
    lengths = passes_of(model)
    table = episodes.cache(model, 1, prompt=200, turns=3, output=20)
    assert table["context_tokens"] == 200 + 2 * 20 + 3 * 20
    long = sum(length >= 200 for length in lengths) - (0 if table["transcripts"]["same"] else 1)  # compare reads, too
    assert long == 1 + 1 + 3  # to warm up, kept, anew
    for way in ("kept", "re-prefill"):
        assert set(table[way]) == COSTS | {"last_turn_seconds"}
        assert table[way]["cpu_seconds"] > 0
    assert table["transcripts"]["same"] + table["transcripts"]["parted_level"] == 1 or load_4bit


def test_sessions_one_after_the_other_are_set_against_all_at_once(base: Path) -> None:
    model = load_model(base, device="cpu")[0]
    lengths = passes_of(model)
    table = episodes.concurrency(model, 1, 3, prompt=30, turns=2)
    one_by_one = 3 * 2 * 24
    assert 2 + one_by_one + one_by_one / 3 <= len(lengths) < 2 + one_by_one * 1.8
    for way in ("1 at once", "3 at once"):
        assert set(table[way]) == COSTS | {"episodes_per_hour", "sampled_tokens_per_second"}
    assert table["transcripts"]["differ"] == 0


def test_a_swap_is_set_against_a_fresh_process_and_the_figures_are_written(tmp_path: Path) -> None:
    out = tmp_path / "episodes.json"
    assert episodes.main(only="swap", rounds=1, shape="135m", dtype="fp32", episodes=2, out=out) == 0
    table = json.loads(out.read_text())["swap"]
    assert set(table["swap"]) == set(table["cold_start"]) == COSTS
    assert table["cold_start"]["cpu_seconds"] > 1  # torch alone takes longer to import
    assert table["cold_start"]["peak_megabytes_above"] > 100
    assert table["times_as_fast"] > 1


def test_the_peak_is_what_a_block_held_and_gave_back() -> None:
    with episodes.Spent() as one:
        held = bytearray(b"x") * 300_000_000
        del held
    assert 290e6 < one.peak_bytes < 400e6
    with episodes.Spent() as none:
        pass
    assert none.peak_bytes < 50e6


@pytest.mark.docker
def test_real_episodes_are_played_alone_and_at_once(tmp_path: Path) -> None:
    table = episodes.real_eval(tmp_path, 1, 2, steps=2)
    for way in ("1 at once", "2 at once"):
        assert set(table[way]) == COSTS | {"episodes_per_hour"}
    assert sum(table["transcripts"][name] for name in ("same", "parted_level", "differ")) >= 1
    assert len(list(tmp_path.glob("0-[12]/*.json"))) == 4
