"""publish.py prepares a folder whose card Hugging Face's own library reads, and says what is missing."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from huggingface_hub import DatasetCard, ModelCard, RepoCard
from huggingface_hub.repocard import metadata_load

from formats.cards import AdapterParts, DatasetParts, adapter_card, dataset_card
from pipeline.files import write_identity, write_json, write_report
from pipeline.rates import compare_subjects
from schema import AdapterIdentity, EvalReport, Manifest, Scenario, TrainedSession, Trajectory
from tests.helpers import ROOT, program, recorded
from tests.helpers.rollouts import made, write_scenarios
from tests.helpers.sessions import SESSIONS
from tests.helpers.tiny import scenario as tiny_scenario

HOSTILE = "x`|</td>\n---\nlicense: mit\n# Title"
COUNTS = {"yield": {"reference": {"reached": 40, "passed": 10}, "untouched": {"reached": 10, "passed": 9}}}
OVERLAP = {"shared": {"data": {"directives": {"shared": 7, "of": 2902}}}}


def identity() -> AdapterIdentity:
    one = TrainedSession(scenario_id="a", content_hash="", archetype="copy_files", trajectory_id="a-s0")
    trained = [one.model_copy(update={"content_hash": str(at // 2)}) for at in range(6)]
    return AdapterIdentity(base="base/x", base_hash="f" * 64, flags={"lr": 1e-3, "base": HOSTILE}, trained_on=trained)


def report(voided: bool = False) -> EvalReport:
    scenarios = [recorded.scenario("sum_column", at) for at in range(4)]
    outcome = "sandbox_failed" if voided else "exit"
    base = {one.id: recorded.episode(one, outcome, kept=False) for one in scenarios}
    adapter = {one.id: recorded.episode(one, outcome, kept=not voided and at < 3) for at, one in enumerate(scenarios)}
    subjects, paired = compare_subjects({"base": base, "adapter": adapter}, scenarios, seed=1)
    return EvalReport(
        adapter="ckpt", scenarios="split/holdout", split_by="archetype", seed=1, subjects=subjects, paired=paired
    )


def run(*flags: object) -> tuple[int, dict[str, Any], str]:
    done = subprocess.run(
        [*program("publish.py"), *map(str, flags)], capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


def adapter_directory(place: Path) -> Path:
    place.mkdir()
    (place / "adapter_model.safetensors").write_bytes(b"weights")
    write_json(place / "adapter_config.json", {"base_model_name_or_path": "base/x", "peft_type": "LORA"})
    write_json(place / "render.json", {"wire": "chat"})
    write_identity(place, identity())
    return place


def head_of(card: RepoCard) -> dict[str, Any]:
    """The card's YAML head."""
    return dict(yaml.safe_load(card.data.to_yaml()))


def test_a_data_set_becomes_a_folder(tmp_path: Path) -> None:
    scenarios = write_scenarios(tmp_path / "scenarios", made())
    write_json(
        scenarios / "manifest.json", {"stage": "generate", "finished": True, "flags": {"seed": 3}, "counts": COUNTS}
    )
    for record in SESSIONS.values():
        write_json(tmp_path / "sessions" / f"{record.id}.json", record.model_dump(mode="json"))
    flags = ["--scenarios", scenarios, "--data", tmp_path / "sessions", "--out", tmp_path / "out"]
    assert run(*flags)[:2] == (0, {"out": str(tmp_path / "out"), "scenarios": 11, "trajectories": len(SESSIONS)})
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "README.md", "manifest.json", "scenarios.jsonl", "trajectories.jsonl",
    }  # fmt: skip
    lines = (tmp_path / "out" / "trajectories.jsonl").read_text().split("\n")[:-1]
    assert {one.id: one for one in map(Trajectory.model_validate_json, lines)} == {
        one.id: one for one in SESSIONS.values()
    }
    lines = (tmp_path / "out" / "scenarios.jsonl").read_text().split("\n")[:-1]
    assert [Scenario.model_validate_json(line) for line in lines] == sorted(made(), key=lambda one: one.id)
    head = metadata_load(tmp_path / "out" / "README.md")
    assert head is not None
    assert (head["license"], head["size_categories"]) == ("apache-2.0", ["n<1K"])
    assert [one["data_files"] for one in head["configs"]] == ["scenarios.jsonl", "trajectories.jsonl"]
    text = (tmp_path / "out" / "README.md").read_text()
    assert "| reference | 40 | 10 | 25.0% |" in text
    assert "(5 blocked)" in text
    assert "| flag `seed` | `3` |" in text
    before = (tmp_path / "out" / "README.md").stat().st_mtime_ns
    assert run(*flags)[0] == 0
    assert before == (tmp_path / "out" / "README.md").stat().st_mtime_ns


def test_an_adapter_becomes_a_folder(tmp_path: Path) -> None:
    adapter = adapter_directory(tmp_path / "ckpt")
    write_report(tmp_path / "eval-a", report())
    write_json(tmp_path / "eval-a" / "overlap.json", OVERLAP)
    code, _, _ = run(
        "--adapter", adapter, "--runs", tmp_path / "eval-a", "--out", tmp_path / "out", "--base-model", "a/b"
    )
    assert code == 0
    names = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert names == {
        "README.md", "manifest.json", "adapter_model.safetensors", "adapter_config.json", "sekft.json", "render.json",
        "evals/eval-a.json",
    }  # fmt: skip
    config = json.loads((tmp_path / "out" / "adapter_config.json").read_text())
    assert config == {"base_model_name_or_path": "a/b", "peft_type": "LORA"}
    card = ModelCard.load(tmp_path / "out" / "README.md")
    head = head_of(card)
    assert (head["base_model"], head["library_name"], head["license"]) == ("a/b", "peft", "apache-2.0")
    (result,) = head["model-index"][0]["results"]
    assert {one["type"]: one["value"] for one in result["metrics"]}["clean_rate"] == 0.75
    for words in ("3/4 75% [30-95]", "| adapter - base |", "6 sessions of 3 scenarios in 1 archetypes", "2902"):
        assert words in card.content


def test_what_is_not_there_is_said_to_be_missing() -> None:
    card = dataset_card(DatasetParts([tiny_scenario()]), licence="apache-2.0")
    for words in ("The manifest is missing", "Gate yields are missing", "The counts are missing", "no sessions in it"):
        assert words in card.content
    bare = adapter_card(AdapterParts("a", AdapterIdentity(base="b")), licence="apache-2.0", base_model=None)
    for words in (
        "Rates are missing",
        "The counts are missing",
        "list of sessions is missing",
        "flags of the training",
    ):
        assert words in bare.content
    assert not {"model-index", "base_model"} & head_of(bare).keys()


def test_an_undefined_rate_is_not_zero() -> None:
    parts = AdapterParts("a", identity(), {"eval": report(voided=True)})
    card = adapter_card(parts, licence="apache-2.0", base_model=None)
    assert "model-index" not in head_of(card)  # no rate at all: every episode was voided
    assert "| adapter | - (0%) |" in card.content


def test_hostile_names_stay_in_their_cells() -> None:
    manifest = Manifest(stage="generate", flags={HOSTILE: HOSTILE, "tasks": "y" * 300}, git_commit=HOSTILE)
    card = dataset_card(DatasetParts([tiny_scenario()], manifest=manifest), licence="apache-2.0")
    again = DatasetCard(card.content)
    assert head_of(again) == head_of(card)
    assert head_of(card)["license"] == "apache-2.0"
    assert "\n# Title" not in card.content
    assert "</td>" not in card.content
    rows = [line for line in card.content.splitlines() if line.startswith(("| flag ", "| commit |"))]
    assert [row.count("|") for row in rows] == [3, 3, 3]
    assert f"`{'y' * 199}…`" in card.content


def test_a_teachers_scenarios_need_a_licence(tmp_path: Path) -> None:
    taught = tiny_scenario()
    by = taught.provenance.model_copy(update={"author": "teacher", "model": "m"})
    write_scenarios(tmp_path / "taught", [taught.model_copy(update={"provenance": by})])
    code, _, said = run("--scenarios", tmp_path / "taught", "--out", tmp_path / "out")
    assert (code, len(said.splitlines())) == (2, 1)
    assert "--licence" in said
    assert run("--scenarios", tmp_path / "taught", "--out", tmp_path / "out", "--licence", "other")[0] == 0


def test_the_recipe_prepares_both_folders(tmp_path: Path) -> None:
    place = tmp_path / "demo"
    write_scenarios(place / "scenarios", made())
    write_json(place / "trajectories" / "a.json", SESSIONS["plain"].model_dump(mode="json"))
    adapter_directory(place / "adapter")
    write_report(place / "eval", report())
    path = f"{Path(program('publish.py')[0]).parent}:/usr/bin:/bin"
    done = subprocess.run(
        [str(ROOT / "runs" / "publish.sh"), str(place), str(tmp_path / "out")],
        capture_output=True, text=True, check=False, env={"PATH": path}, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "hf upload NAME/ADAPTER" in done.stderr
    for name in ("data", "adapter"):
        assert metadata_load(tmp_path / "out" / name / "README.md")


@pytest.mark.parametrize("name", ["adapter_model.safetensors", "render.json"])
def test_half_an_adapter_is_refused(name: str, tmp_path: Path) -> None:
    (adapter_directory(tmp_path / "ckpt") / name).unlink()
    code, _, said = run("--adapter", tmp_path / "ckpt", "--out", tmp_path / "out")
    assert (code, len(said.splitlines())) == (2, 1)
    assert name in said
    assert not (tmp_path / "out").exists()
