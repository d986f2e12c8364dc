"""The mean of adapters has the mean of their weights and the trained sessions of all of them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import average
import dpo
import sft
from model.loading import load_model
from pages import picture
from pipeline.files import read_identity, read_json, write_json, write_record
from pipeline.holdout import refuse_overlap
from schema import BadInputError, Manifest
from tests.helpers import tiny
from tests.helpers.preference import QUICK, start_adapter, write_sessions
from tests.helpers.training import exit_code
from training import reload

WEIGHTS = "adapter_model.safetensors"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny base and three adapters: two rates on the same four sessions, and one on other sessions."""
    place = tmp_path_factory.mktemp("average")
    tiny.base(place / "base")
    for index in range(4):
        write_record(place / "data", tiny.trajectory(f"t{index}-s0", steps=2 + index % 3))
        write_record(place / "more", tiny.trajectory(f"m{index}-s0", steps=2 + index % 3))
    fit(place, "fast", "--lr", "5e-3")
    fit(place, "slow", "--lr", "2e-3")
    fit(place, "other", "--lr", "5e-3", data="more")
    return place


def run(script: Any, *flags: object) -> None:
    assert exit_code(script, *flags) == 0


def fit(place: Path, out: str, *flags: str, data: str = "data") -> None:
    given: list[object] = ["--data", place / data, "--base", place / "base", "--out", place / out, "--epochs", 4]
    run(sft, *given, "--accum", 1, "--no-reload", "--dtype", "fp32", *flags)


def mean(place: Path, out: str, *members: str) -> Path:
    run(average, "--base", place / "base", "--adapters", *[place / name for name in members], "--out", place / out)
    return place / out


def weights(adapter: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    found: dict[str, Any] = load_file(adapter / WEIGHTS)
    return found


def test_every_entry_is_the_mean(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = mean(place, "mean", "fast", "slow")
    summary = json.loads(capsys.readouterr().out)
    assert summary["logits_differ_by"] == 0
    fast, slow, both = (weights(adapter) for adapter in (place / "fast", place / "slow", out))
    assert fast.keys() == both.keys()
    assert any(not fast[name].equal(slow[name]) for name in fast)
    for name in both:
        assert both[name].equal((fast[name] + slow[name]) / 2), name
    model, _ = load_model(place / "base", out, dtype="fp32")
    assert reload.compare_logits(model, out)[0] == 0
    other, _ = load_model(place / "base", place / "fast", dtype="fp32")
    assert reload.compare_logits(other, out)[0] > 1e-3


def test_order_of_members_does_not_matter(place: Path) -> None:
    one, other = mean(place, "one", "fast", "slow", "other"), mean(place, "two", "other", "fast", "slow")
    assert (one / WEIGHTS).read_bytes() == (other / WEIGHTS).read_bytes()


def test_rerun_does_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = mean(place, "again", "fast", "slow")
    names = {path.name for path in out.iterdir()} - {"manifest.json"}
    assert WEIGHTS in names
    before = {name: ((out / name).stat().st_mtime_ns, (out / name).read_bytes()) for name in names}
    first = capsys.readouterr().out
    mean(place, "again", "fast", "slow")
    assert capsys.readouterr().out == first
    assert {name: ((out / name).stat().st_mtime_ns, (out / name).read_bytes()) for name in before} == before
    assert read_json(out / "manifest.json")["finished"]
    with pytest.raises(BadInputError, match="--adapters was"):
        average.main(base=str(place / "base"), adapters=[place / "fast", place / "other"], out=out, redo=False)


def test_a_member_is_no_place_for_the_mean(place: Path) -> None:
    before = (place / "fast" / WEIGHTS).read_bytes()
    with pytest.raises(BadInputError, match="is one of --adapters"):
        average.main(base=str(place / "base"), adapters=[place / "fast", place / "slow"], out=place / "fast", redo=True)
    assert (place / "fast" / WEIGHTS).read_bytes() == before


def test_sessions_of_one_id_and_other_content_are_all_remembered(place: Path) -> None:
    about = [read_identity(place / name) for name in ("fast", "slow")]
    (one, *_) = about[0].trained_on
    other = one.model_copy(update={"content_hash": "0" * 64})
    about[1] = about[1].model_copy(update={"trained_on": [other]})
    manifest = Manifest(stage="average", flags={"adapters": []}, inputs={}, git_commit="none")
    assert {one.content_hash, other.content_hash} <= {
        row.content_hash for row in average.mean_identity(dict(zip("ab", about, strict=True)), manifest).trained_on
    }


def test_sessions_of_all_members_are_remembered(place: Path) -> None:
    out = mean(place, "joined", "fast", "other")
    about = read_json(out / "sekft.json")
    assert {row["trajectory_id"] for row in about["trained_on"]} == {f"{k}{n}-s0" for k in "tm" for n in range(4)}
    assert len(about["data_hash"]) == 2

    def refuse(name: str) -> None:
        seen = read_identity(out).trained_on
        refuse_overlap(seen, place, [tiny.scenario(name)], trained="it was trained on", remedy="take others")

    for name in ("t0", "m0"):
        with pytest.raises(BadInputError, match="was trained on 1 sessions whose scenario is held out"):
            refuse(name)
    refuse("n0")


def test_means_can_be_averaged_again(place: Path) -> None:
    inner = mean(place, "inner", "fast", "slow")
    outer = mean(place, "outer", "inner", "other")
    three, two = weights(outer), weights(inner)
    assert all(three[name].equal((two[name] + part) / 2) for name, part in weights(place / "other").items())
    assert read_json(inner / "sekft.json")["flags"]["lr"] == [5e-3, 2e-3]
    trained, log = picture.read_log(outer)
    logs = [picture.read_log(place / name)[1] for name in ("fast", "slow", "other")]
    assert trained == 8
    assert log[-1]["loss"] == pytest.approx(logs[0][-1]["loss"] / 4 + logs[1][-1]["loss"] / 4 + logs[2][-1]["loss"] / 2)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--seed", "1"], "flags.seed is 1"),
        (["--lora-r", "8"], "flags.lora_r is 8"),
        (["--lora-targets", "q_proj"], "flags.lora_targets is 'q_proj'"),
        (["--render", "markers"], "flags.render is 'markers'"),
        (["--dtype", "bf16"], "flags.dtype is 'bf16'"),
    ],
)
def test_members_of_different_settings_are_refused(place: Path, tmp_path: Path, flags: list[str], words: str) -> None:
    name = flags[0].strip("-")
    fit(place, name, "--lr", "5e-3", *flags)
    with pytest.raises(BadInputError, match=words):
        average.main(base=str(place / "base"), adapters=[place / "fast", place / name], out=tmp_path / "m", redo=False)
    assert not (tmp_path / "m").exists()


def test_runs_of_dpo_from_one_adapter_are_averaged_whatever_their_seeds(place: Path, tmp_path: Path) -> None:
    base = place / "base"
    pairs = write_sessions(tmp_path / "pairs", start_adapter(base, tmp_path / "start"), scenarios=3)
    for seed in (0, 1):
        flags = [
            "--data",
            pairs,
            "--base",
            base,
            "--adapter",
            tmp_path / "start",
            "--seed",
            seed,
            "--accum",
            1,
            *QUICK,
            "--lr",
            "1e-3",
        ]
        run(dpo, *flags, "--out", tmp_path / f"dpo-{seed}")
    members = [tmp_path / "dpo-0", tmp_path / "dpo-1"]
    run(average, "--base", base, "--adapters", *members, "--out", tmp_path / "mean")
    found, parts = weights(tmp_path / "mean"), [weights(one) for one in members]
    assert any(not parts[0][name].equal(parts[1][name]) for name in found)
    assert all(part.equal((parts[0][name] + parts[1][name]) / 2) for name, part in found.items())
    about = read_json(tmp_path / "mean" / "sekft.json")
    assert (about["flags"]["seed"], len(about["earlier"])) == ([0, 1], 1)
    saved = tmp_path / "saved"  # as rl.py keeps the adapters of its steps
    saved.mkdir()
    for name in (WEIGHTS, "adapter_config.json", "render.json", "sekft.json"):
        shutil.copy(members[1] / name, saved)
    run(average, "--base", base, "--adapters", saved, members[0], "--out", tmp_path / "mean-2")
    assert all(part.equal(found[name]) for name, part in weights(tmp_path / "mean-2").items())
    shutil.copytree(saved, tmp_path / "saved-2")
    (tmp_path / "saved-2" / WEIGHTS).write_bytes((members[0] / WEIGHTS).read_bytes())
    with pytest.raises(BadInputError, match="name a finished run, too"):
        average.main(base=str(base), adapters=[saved, tmp_path / "saved-2"], out=tmp_path / "m", redo=False)
    with pytest.raises(BadInputError, match=r"flags\.adapter is "):
        average.main(base=str(base), adapters=[members[0], place / "fast"], out=tmp_path / "m", redo=False)
    run(average, "--base", base, "--adapters", tmp_path / "start", members[0], "--out", tmp_path / "half")
    begun = weights(tmp_path / "start")  # where a run began may be a member
    assert all(part.equal((begun[name] + parts[0][name]) / 2) for name, part in weights(tmp_path / "half").items())
    half, whole = read_json(tmp_path / "half" / "sekft.json"), read_json(members[0] / "sekft.json")
    assert (half["flags"], half["earlier"], len(half["averaged"])) == (whole["flags"], whole["earlier"], 2)
    ids = [sorted(row["trajectory_id"] for row in one["trained_on"]) for one in (half, whole)]
    assert ids[0] == ids[1]


def test_unusable_members_are_refused(place: Path, tmp_path: Path) -> None:
    def refused(words: str, *members: Path) -> None:
        with pytest.raises(BadInputError, match=words):
            average.main(base=str(place / "base"), adapters=list(members), out=tmp_path / "m", redo=False)
        assert not (tmp_path / "m").exists()

    refused("at least two", place / "fast")
    refused("name each adapter once", place / "fast", place / "slow", place / "fast")
    refused("no adapter_model", place / "fast", tmp_path)
    copy = tmp_path / "copy"
    shutil.copytree(place / "slow", copy)
    write_json(copy / "manifest.json", {**read_json(copy / "manifest.json"), "finished": False})
    refused("finished: false", place / "fast", copy)
    write_json(copy / "sekft.json", {**read_json(copy / "sekft.json"), "base_hash": "0" * 64})
    refused("is another", place / "fast", copy)
