"""bench/train.py runs the same training in all trainers, part by part; a failed run loses nothing else. Tiny bases."""

import gc
import json
import math
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch

from bench import figures, train
from model import hardware, loading
from pipeline.files import write_record
from schema import BadInputError
from tests.helpers import tiny

SHAPE = {
    "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2,
    "num_hidden_layers": 2, "vocab_size": 4096,
}  # fmt: skip
RUN = {"tokens_per_second": 50.0, "cpu_seconds": 2.0, "peak_bytes_above_weights": 100, "losses": [2.0], "norms": [1.0]}


@pytest.fixture(scope="module", autouse=True)
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A miniature in the place of the real base, of which only the tokenizer is read."""
    train.BASE = tiny.base(tmp_path_factory.mktemp("own") / "base")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(train.random_base(tmp_path_factory.mktemp("bench") / "base", SHAPE))


def specification(base: str, shape: str, case: str, **changes: Any) -> dict[str, Any]:
    return {"base": base, "share": 0.4, "epochs": 1, **train.cases(shape)[case][1], "lengths": [96] * 4, **changes}


def command(out: Path, only: list[str], **changes: Any) -> int:
    """`main` with its defaults, but one round of a base with two layers."""
    flags: dict[str, Any] = {
        "only": only, "shape": "small", "rounds": 1, "sweep_rounds": 1, "layers": 2, "one_process": None,
        "keep_base": None, "data": None, "out": out, "worker": False,
    }  # fmt: skip
    return train.main(**{**flags, **changes})


def test_rows_have_the_wanted_trained_share() -> None:
    for share in train.SHARES:
        (row,) = train.random_rows([2048], share, 600)
        assert len(row["input_ids"]) == 2048
        assert sum(label != -100 for label in row["labels"]) / 2048 == pytest.approx(share, abs=0.02)


def test_all_trainers_train_the_same(base: str) -> None:
    spec = specification(base, "small", "batch2", lengths=[90, 120, 64, 100])
    runs = {trainer: train.train_once({**spec, "trainer": trainer}) for trainer in train.TRAINERS}
    for found in runs.values():
        assert found["losses"] == pytest.approx(runs["sekft"]["losses"], abs=1e-5)
        assert found["norms"] == pytest.approx(runs["sekft"]["norms"], abs=1e-5)
        assert found["tokens_per_second"] > 0
        assert found["cpu_seconds"] > 0


def test_recorded_sessions_are_trained_on_in_all_trainers(tmp_path: Path) -> None:
    for index in range(train.SESSIONS + 1):
        write_record(tmp_path / "data", tiny.trajectory(f"t{index:02d}-s0", steps=1 + index % 3))
    rows = train.session_rows(tmp_path / "data")
    assert len(rows) == train.SESSIONS
    assert all(0 < sum(label != -100 for label in row["labels"]) < len(row["labels"]) for row in rows)
    spec = {**train.cases(train.REAL)["fp32"][1], "base": str(train.BASE), "share": 0, "epochs": 1, "rows": rows}
    runs = {trainer: train.train_once({**spec, "trainer": trainer}) for trainer in train.TRAINERS}
    for found in runs.values():
        assert found["losses"] == pytest.approx(runs["sekft"]["losses"], abs=1e-5)
        assert found["norms"] == pytest.approx(runs["sekft"]["norms"], abs=1e-4)
    in_one_process = list(train.serve([{**spec, "trainer": "sekft"}] * 2))
    assert [found["losses"] for found in in_one_process] == [pytest.approx(runs["sekft"]["losses"], abs=1e-5)] * 2
    write_record(tmp_path / "few", tiny.trajectory())
    with pytest.raises(BadInputError, match="holds 1 kept sessions, 12 are needed"):
        train.session_rows(tmp_path / "few")


def test_mfu_leaves_out_repeated_work(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "PEAK_FLOPS", {"CPU": 1e8})
    spec = specification(base, "7b", "fp16", dtype="fp32", trainer="sekft")
    once, again = (train.train_once({**spec, "gradient_checkpointing": on}) for on in (False, True))
    assert once["mfu"] == once["hfu"] > 0
    assert 1.2 < again["hfu"] / again["mfu"] < 1.5


def test_weights_are_loaded_before_the_peak_is_measured(tmp_path: Path) -> None:
    wide = {**SHAPE, "vocab_size": 400_000}  # 102 MB of embeddings, of which a run of few labels reads few
    base = train.random_base(tmp_path / "base", {**wide, "tie_word_embeddings": True})
    model = loading.load_model(base, dtype="fp32")[0]
    held = train.Memory(model)
    with torch.no_grad():
        model(input_ids=torch.arange(0, 400_000, 1000)[None], logits_to_keep=1)
    assert held.peak_above() < 50e6


@pytest.mark.parametrize("case", ["fp16", "4bit"])
def test_one_process_loads_the_base_once(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "MISTRAL", SHAPE)
    base = str(train.random_base(tmp_path / "base", None))
    loads, load = [], loading.load_base

    def counted(*given: Any, **options: Any) -> Any:
        model, tokenizer = load(*given, **options)
        loads.append(weakref.ref(model))
        return model, tokenizer

    monkeypatch.setattr(loading, "load_base", counted)
    spec = specification(base, "7b", case)
    jobs = [{**spec, "trainer": trainer} for trainer in ("trl", "trainer", "sekft", "sekft")]
    jobs.insert(3, {**jobs[-1], "share": 0.0001})  # no label: our trainer stops at a loss of nan
    *runs, failed, last = train.serve(jobs)
    assert len(loads) == 1
    gc.collect()
    assert loads[0]() is None  # the held base is freed
    assert failed == {"failed": "loss is nan at step 1; lower --lr, or compute in --dtype fp32"}
    alone = train.train_once(jobs[-1])
    assert (last["losses"], last["norms"]) == (alone["losses"], alone["norms"])
    for found in runs:
        assert found["losses"] == pytest.approx(alone["losses"], rel=1e-4)
        assert found["norms"] == pytest.approx(alone["norms"], rel=1e-4)
        assert found["flops_per_second"] > 0


def test_kept_base_is_used_again(tmp_path: Path) -> None:
    kept = tmp_path / "base"
    train.random_base(kept, SHAPE)
    before = (kept / "model.safetensors").stat().st_mtime_ns
    assert train.random_base(kept, SHAPE) == kept
    assert (kept / "model.safetensors").stat().st_mtime_ns == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base"]
    with pytest.raises(BadInputError, match="another shape \\(num_hidden_layers\\)"):
        train.random_base(kept, {**SHAPE, "num_hidden_layers": 3})


def test_ratios_are_medians_over_the_rounds() -> None:
    runs = {trainer: [dict(RUN) for _ in range(3)] for trainer in train.TRAINERS}
    for speed, one in zip((100.0, 150.0, 400.0), runs["sekft"], strict=True):
        one["tokens_per_second"] = speed
    table = train.compare_trainers(runs, exact=True)
    assert table["sekft over trl"] == {"tokens_per_second": 3, "cpu_seconds": 1, "peak_bytes_above_weights": 1}
    runs["trl"][1] = {"failed": "out of memory"}
    table = train.compare_trainers(runs, exact=True)
    assert table["trl"] == {"failed": "out of memory"}
    assert {"sekft over trainer"} == {row for row in table if "over" in row}


def test_figures_of_other_trainers_are_kept_where_ours_failed() -> None:
    runs = {trainer: [dict(RUN)] for trainer in train.TRAINERS}
    runs["sekft"] = [{"failed": "out of memory"}, dict(RUN)]
    table = train.compare_trainers(runs, exact=True)
    assert set(table) == set(train.TRAINERS)
    assert table["trl"]["tokens_per_second"] == 50


@pytest.mark.parametrize(
    "other", [{"losses": [2.001]}, {"norms": [1.001]}, {"losses": [math.nan]}, {"losses": [2.0, 2.0]}]
)
def test_different_losses_are_not_compared(other: dict[str, Any]) -> None:
    runs = {trainer: [dict(RUN)] for trainer in train.TRAINERS}
    runs["trl"] = [{**RUN, **other}]
    table = train.compare_trainers(runs, exact=True)
    assert table["failed"].startswith("trl trains something else")
    assert not any("over" in row for row in table)
    assert "failed" not in train.compare_trainers(runs, exact=False)


def test_parts_of_another_device_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    for part in ("one", "two", "one"):
        figures.add(out, figures.open_figures(out, {"device": "H200"}), part, {"x": {"failed": part}}, 5)
    found = figures.open_figures(out, {"device": "H200"})
    assert set(found) == {"device", "measured", "one", "two"}
    assert found["measured"]["two"]["rounds"] == 5
    assert sorted(figures.failures(found)) == ["one", "two"]
    with pytest.raises(BadInputError, match="its device is 'H200', this one 'V100'; name another --out"):
        figures.open_figures(out, {"device": "V100"})


def test_case_of_another_shape_is_refused() -> None:
    with pytest.raises(BadInputError, match="--only fp16: the cases of --shape small are batch2 and batch1"):
        train.measurements_of("small", ["compare", "fp16"])
    assert set(train.measurements_of("7b", ["4bit", "length"])) == {"Mistral-7B shape, 4-bit NF4 LoRA", "by length"}


@pytest.mark.parametrize(("device", "axis", "first"), [("CPU, 1 core", "CPU seconds", 7), ("RTX 9000", "seconds", 3)])
def test_picture_shows_the_devices_time(device: str, axis: str, first: float) -> None:
    row = {"cpu_seconds_per_1000_tokens": 7, "seconds_per_1000_tokens": 3, "peak_bytes_above_weights": 2**30}
    table = {x: dict.fromkeys(train.TRAINERS, row) for x in ("1024", "256")}
    drawn = train.drawn({"device": device, "base": "2 x 64", "by length": {**table, "64": {**table["256"], "trl": {}}}})
    time, _ = drawn.axes
    assert time.get_ylabel() == f"{axis} per 1,000 tokens"
    assert drawn.get_suptitle() == f"Training, {device}; 2 x 64"
    ours, trl, _ = time.lines
    assert [list(xy) for xy in ours.get_xydata()] == [[64, first], [256, first], [1024, first]]
    assert len(trl.get_xydata()) == 2


def test_failed_run_keeps_earlier_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "train.json"
    monkeypatch.setattr(train, "SMALL", SHAPE)
    assert command(out, ["batch1"]) == 0  # three processes
    assert not out.with_suffix(".png").exists()
    # Sessions of 64 tokens have no label at the usual share: our trainer stops at a loss of nan, TRL trains nothing.
    monkeypatch.setattr(train, "SWEEPS", {"small": ((64, 320), 64, [64])})
    assert command(out, ["length"], one_process=True) == 1
    found = json.loads(out.read_text())
    assert out.with_suffix(".png").stat().st_size > 10_000
    assert found["base"] == "2 x 64, vocabulary 4,096"
    assert "loss is nan" in found["by length"]["64"]["sekft"]["failed"]
    assert found["by length"]["64"]["trl"]["tokens_per_second"] > 0
    assert not any("over" in row for row in found["by length"]["64"])
    for table in (found["batch 1, accumulation 4"], found["by length"]["320"]):
        assert table["trl"]["largest_difference_of_loss_or_norm"] < train.AGREE
        for other in ("trl", "trainer"):
            ratios = table[f"sekft over {other}"]
            assert {"tokens_per_second", "cpu_seconds"} <= set(ratios)
            for key, value in ratios.items():
                assert math.isfinite(value)
                assert value == pytest.approx(table["sekft"][key] / table[other][key], abs=6e-4)
