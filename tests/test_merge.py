"""A merged directory is an ordinary model with the logits of base and adapter, and says what it is made of."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import merge
import sft
from model.loading import adapter_hash, load_model, model_hash
from operators.evaluation import evaluate
from pipeline.files import read_identity, write_json, write_record
from sandbox.containers import IMAGE
from schema import BadInputError
from serving import conversion
from tests.helpers import tiny
from tests.helpers.training import exit_code


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny base with a licence and a card, and an adapter on it."""
    place = tmp_path_factory.mktemp("merge")
    tiny.base(place / "base")
    (place / "base" / "LICENSE").write_text("Apache-2.0")
    (place / "base" / "README.md").write_text("# The base's own card")
    for index in range(3):
        write_record(place / "data", tiny.trajectory(f"t{index}-s0", steps=2))
    given: list[object] = ["--data", place / "data", "--base", place / "base", "--out", place / "adapter"]
    assert exit_code(sft, *given, "--epochs", 2, "--accum", 1, "--lr", "5e-3", "--no-reload", "--dtype", "fp32") == 0
    return place


def run(place: Path, out: Path, *flags: object) -> int:
    return exit_code(merge, "--base", place / "base", "--adapter", place / "adapter", "--out", out, *flags)


def logits(base: Path, adapter: Path | None, dtype: str = "fp32") -> Any:
    import torch

    model, _ = load_model(base, adapter, dtype=dtype, device="cpu")
    with torch.inference_mode():
        return model(torch.arange(40)[None]).logits.float()


def test_the_merged_model_is_base_and_adapter(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = model_hash(place / "base")
    assert run(place, tmp_path / "merged") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["contexts"] == 16
    assert 0 <= summary["logits_differ_by"] <= summary["allowed"] < 0.01
    ours, merged = logits(place / "base", place / "adapter"), logits(tmp_path / "merged", None)
    assert (ours - merged).abs().max() <= summary["allowed"]
    assert (ours - logits(place / "base", None)).abs().max() > 100 * summary["allowed"]
    assert model_hash(place / "base") == before


def test_identity_render_and_licence_travel_along(place: Path, tmp_path: Path) -> None:
    assert run(place, tmp_path / "merged") == 0
    about, adapter = read_identity(tmp_path / "merged"), read_identity(place / "adapter")
    assert about.base_hash == adapter.base_hash
    assert about.converted == adapter_hash(place / "adapter")
    assert about.trained_on == adapter.trained_on
    assert (tmp_path / "merged" / "LICENSE").read_text() == "Apache-2.0"
    assert (tmp_path / "merged" / "BASE_README.md").read_text() == "# The base's own card"
    assert (tmp_path / "merged" / "render.json").read_bytes() == (place / "adapter" / "render.json").read_bytes()


def test_what_a_merged_base_has_read_counts_in_training_and_eval(place: Path, tmp_path: Path) -> None:
    assert run(place, tmp_path / "merged") == 0
    write_record(tmp_path / "held", tiny.scenario("t1"))
    flags = dict.fromkeys(("n", "base_n", "render", "against")) | dict.fromkeys(
        ("compare_base", "clean_up", "load_4bit", "no_cache", "partial", "redo"), False
    )
    settings = merge_eval(tmp_path, flags)
    with pytest.raises(BadInputError, match=r"merged was trained on 1 sessions whose scenario is held out here, t1-s0"):
        evaluate(settings)
    write_record(tmp_path / "data", tiny.trajectory("u0-s0", steps=2))
    given: list[object] = ["--data", tmp_path / "data", "--base", tmp_path / "merged", "--out", tmp_path / "second"]
    assert exit_code(sft, *given, "--epochs", 1, "--accum", 1, "--lr", "1e-3", "--no-reload", "--dtype", "fp32") == 0
    seen = {row.trajectory_id for row in read_identity(tmp_path / "second").trained_on}
    assert seen == {"t0-s0", "t1-s0", "t2-s0", "u0-s0"}


def merge_eval(tmp_path: Path, flags: dict[str, Any]) -> Any:
    from operators.evaluation import EvalSettings

    return EvalSettings(
        base=str(tmp_path / "merged"), adapter=None, scenarios=tmp_path / "held", seed=0, out=tmp_path / "eval",
        max_steps=2, max_new_tokens=4, timeout_seconds=5.0, temperature=0.0, workers=1, dtype="fp32", image=IMAGE,
        ray=None, **flags,
    )  # fmt: skip


def test_a_rerun_does_nothing(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(place, tmp_path / "merged") == 0
    first = capsys.readouterr().out
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "merged").iterdir() if path.name[0] != "."}
    assert run(place, tmp_path / "merged") == 0
    assert capsys.readouterr().out == first
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
def test_half_precision_is_within_its_own_bound(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], dtype: str
) -> None:
    assert run(place, tmp_path / "merged", "--dtype", dtype) == 0
    summary = json.loads(capsys.readouterr().out)
    assert 0 < summary["logits_differ_by"] <= summary["allowed"]


def test_a_merge_that_went_wrong_leaves_no_model(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def plain_base(model: Any, tokenizer: Any, out: Path, dtype: str) -> None:
        model.unload().save_pretrained(out)
        tokenizer.save_pretrained(out)

    monkeypatch.setattr(merge, "write_merged", plain_base)
    assert run(place, tmp_path / "merged") == 1
    assert "is allowed; nothing was written there" in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "merged").iterdir() if path.name[0] != ".") == ["manifest.json"]


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_weak_adapter_that_is_lost_is_noticed_in_half_precision(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], share: float
) -> None:
    """Its effect is within the bound of bf16, so only the comparison with the bare base tells."""

    def scaled(model: Any, tokenizer: Any, out: Path, dtype: str) -> None:
        for name, weight in model.named_parameters():
            if "lora_B" in name:
                weight.data *= share
        model.merge_and_unload().save_pretrained(out)
        tokenizer.save_pretrained(out)

    monkeypatch.setattr(merge, "write_merged", scaled)
    monkeypatch.setitem(conversion.BOUNDS, "bf16", 10.0)
    assert run(place, tmp_path / "merged", "--dtype", "bf16") == 1
    assert "the adapter is lost" in capsys.readouterr().err


def test_other_directories_are_never_written(place: Path, tmp_path: Path) -> None:
    def refused(words: str, out: Path, *flags: str) -> None:
        before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
        with pytest.raises(BadInputError, match=words):
            merge.main(
                base=str(place / "base"), adapter=place / "adapter", scenarios=None, out=out, dtype="fp32", redo=True
            )
        assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before

    refused("is the base", place / "base")
    refused("is the base", place / "base" / "merged")
    refused("is the adapter", place / "adapter")
    shutil.copytree(place / "base", tmp_path / "other-base")
    refused("is a model directory of its own", tmp_path / "other-base")
    write_json(tmp_path / "other-base" / "manifest.json", {"stage": "get_base", "finished": True})
    refused("holds the output of stage 'get_base'", tmp_path / "other-base")


def test_scenarios_that_were_trained_on_are_no_held_out_ones(place: Path, tmp_path: Path) -> None:
    write_record(tmp_path / "seen", tiny.scenario("t1"))
    with pytest.raises(BadInputError, match="was trained on 1 sessions whose scenario is held out"):
        run_main(place, tmp_path / "seen", tmp_path / "merged")
    assert not (tmp_path / "merged").exists()
    write_record(tmp_path / "unseen", tiny.scenario("n0"))
    assert run_main(place, tmp_path / "unseen", tmp_path / "merged") == 0


def run_main(place: Path, scenarios: Path, out: Path) -> int:
    return merge.main(
        base=str(place / "base"), adapter=place / "adapter", scenarios=scenarios, out=out, dtype="fp32", redo=False
    )
