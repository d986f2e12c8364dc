"""publish.py prepares a folder whose card Hugging Face's own library reads, and says what is missing."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from huggingface_hub import DatasetCard, ModelCard, RepoCard
from huggingface_hub.repocard import metadata_load
from markdown_it import MarkdownIt

from pipeline import hidden
from authoring.templates import author
from examples.git_repositories.author import TAXONOMY, write_drafts
from exports.holdout import Holdout
from formats.cards import AdapterParts, DatasetParts, GateCounts, adapter_card, dataset_card
from formats.licence import base_licence
from generate import sample_combinations
from model.loading import adapter_hash, model_hash
from pipeline.files import read_json, write_identity, write_json, write_record, write_report
from pipeline.rates import compare_subjects
from records.overlap import CountedSessions, Overlap
from schema import (
    AdapterIdentity,
    EvalReport,
    Manifest,
    PairedDifferences,
    Scenario,
    TrainedSession,
    Trajectory,
    known_values,
)
from taxonomy import AXES, balance
from tests.helpers import ROOT, program, recorded
from tests.helpers.rollouts import made, write_scenarios
from tests.helpers.sessions import SESSIONS
from tests.helpers.tiny import scenario as tiny_scenario
from tests.helpers.upload_server import upload_server

HOSTILE = "x`|</td>\n---\nlicense: mit\n# Title"
EVIL = (
    "\x1b[31m\u202e`a`|![i](http://evil.example/p.png)<img src=x> [l](http://evil.example) http://evil.example\u2028# T"
)
SHOWN = "«ESC»[31m«U+202E»'a'/![i](http://evil.example/p.png)(img src=x) [l](http://evil.example) http://evil.example"
COUNTS = {"yield": {"reference": {"reached": 40, "passed": 10}, "untouched": {"reached": 10, "passed": 9}}}
OVERLAP = {
    "holdout": "split/holdout",
    "shared": {"data": {"directives": {"runs": 2902, "shared": 7, "examples": ["a b c"]}}},
    "whole_commands": {"distinct": 31, "distinct_read": 3, "solutions": 20, "solutions_all_read": 1},
}
# The programs of a run in a clean environment, with the project's Python first.
PATH = {"PATH": f"{Path(program('publish.py')[0]).parent}:/usr/bin:/bin"}


def identity() -> AdapterIdentity:
    one = TrainedSession(scenario_id="a", content_hash="", archetype="copy_files", trajectory_id="a-s0")
    trained = [one.model_copy(update={"content_hash": str(at // 2), "trajectory_id": f"a-s{at}"}) for at in range(6)]
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


def write_eval(place: Path, weights: str) -> None:
    """The report of an eval, and the manifest that names the weights that played."""
    write_report(place, report())
    made = {"stage": "eval", "finished": True, "inputs": {"adapter_model.safetensors": weights}}
    write_json(place / "manifest.json", made)


def head_of(card: RepoCard) -> dict[str, Any]:
    """The card's YAML head."""
    return dict(yaml.safe_load(card.data.to_yaml()))


def test_a_data_set_becomes_a_folder(tmp_path: Path) -> None:
    scenarios = write_scenarios(tmp_path / "scenarios", made())
    write_json(
        scenarios / "manifest.json", {"stage": "generate", "finished": True, "flags": {"seed": 3}, "counts": COUNTS}
    )
    sessions = [one.model_copy(update={"scenario_hash": made()[0].content_hash}) for one in SESSIONS.values()]
    for record in sessions:
        write_json(tmp_path / "sessions" / f"{record.id}.json", record.model_dump(mode="json"))
    flags = ["--scenarios", scenarios, "--data", tmp_path / "sessions", "--out", tmp_path / "out"]
    counts = {"scenarios": 11, "trajectories": len(SESSIONS), "left_out": 0}
    assert run(*flags)[:2] == (0, {"out": str(tmp_path / "out"), **counts})
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "README.md", "manifest.json", "scenarios.jsonl", "trajectories.jsonl",
    }  # fmt: skip
    lines = (tmp_path / "out" / "trajectories.jsonl").read_text().split("\n")[:-1]
    assert {one.id: one for one in map(Trajectory.model_validate_json, lines)} == {one.id: one for one in sessions}
    lines = (tmp_path / "out" / "scenarios.jsonl").read_text().split("\n")[:-1]
    assert [Scenario.model_validate_json(line) for line in lines] == sorted(made(), key=lambda one: one.id)
    head = metadata_load(tmp_path / "out" / "README.md")
    assert head is not None
    assert (head["license"], head["size_categories"]) == ("apache-2.0", ["n<1K"])
    files = [(one["split"], one["path"]) for config in head["configs"] for one in config["data_files"]]
    assert files == [("train", "scenarios.jsonl"), ("train", "trajectories.jsonl")]
    text = (tmp_path / "out" / "README.md").read_text()
    assert "| `reference` | 40 | 10 | 25.0% |" in text
    assert "says which of these scenarios are held out" in text  # no --holdout
    assert "(5 blocked)" in text
    assert "| flag `seed` | `3` |" in text
    before = (tmp_path / "out" / "README.md").stat().st_mtime_ns
    assert run(*flags)[0] == 0
    assert before == (tmp_path / "out" / "README.md").stat().st_mtime_ns


def test_an_adapter_becomes_a_folder(tmp_path: Path) -> None:
    adapter = adapter_directory(tmp_path / "ckpt")
    write_eval(tmp_path / "eval-a", "f" * 64)
    write_json(tmp_path / "eval-a" / "overlap.json", OVERLAP)
    flags = ["--adapter", adapter, "--runs", tmp_path / "eval-a", "--out", tmp_path / "out", "--base-model", "a/b"]
    code, _, message = run(*flags)
    assert (code, message.splitlines()[-1].endswith("name evals of this adapter")) == (2, True), message
    assert not (tmp_path / "out").exists()
    write_eval(tmp_path / "eval-a", adapter_hash(adapter))
    write_eval(tmp_path / "eval\u202e", adapter_hash(adapter))
    code, _, message = run(*flags, "--runs", tmp_path / "eval\u202e")
    assert (code, "eval«U+202E»: a name with characters" in message) == (2, True), message
    write_eval(tmp_path / "other", "f" * 64)
    write_json(tmp_path / "other" / "overlap.json", OVERLAP)
    code, _, message = run(*flags, "--overlap", tmp_path / "other" / "overlap.json")
    assert (code, len(message.splitlines())) == (2, 1)
    assert f"--overlap {tmp_path}/other/overlap.json: {tmp_path}/other: is no eval of the weights in" in message
    code, _, message = run(*flags, "--overlap", tmp_path / "eval-a" / "overlap.json")
    assert (code, message) == (0, "")
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
    for words in (
        "3/4 75% [30-95]",
        "| `adapter - base` |",
        "6 sessions of 3 scenarios in 1 archetypes",
        "| 2902 | 7 |",
    ):
        assert words in card.content


@pytest.mark.parametrize("kind", ["model", "dataset"])
def test_hf_upload_takes_the_folder_as_it_is(kind: str, tmp_path: Path) -> None:
    if kind == "model":
        bare = adapter_directory(tmp_path / "bare")
        assert "--base-model OWNER/NAME" in run("--adapter", bare, "--out", tmp_path / "no-base")[2]
        flags = ["--adapter", adapter_directory(tmp_path / "ckpt"), "--base-model", "a/b"]
    else:
        flags = ["--scenarios", write_scenarios(tmp_path / "scenarios", made())]
    assert run(*flags, "--out", tmp_path / "out")[0] == 0
    with upload_server() as hub:
        away = {"HF_ENDPOINT": hub.url, "HF_TOKEN": "any", "HF_HUB_OFFLINE": "0", "HF_HOME": str(tmp_path / "home")}
        words = [Path(program("publish.py")[0]).with_name("hf"), "upload", "me/it", tmp_path / "out"]
        done = subprocess.run(
            [*map(str, words), "--repo-type", kind],
            capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **away},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert hub.repository == {"name": "it", "organization": "me", "type": kind}
    written = {
        str(path.relative_to(tmp_path / "out")): path for path in (tmp_path / "out").rglob("*") if path.is_file()
    }
    assert hub.files == {name: path.read_bytes() for name, path in written.items()}
    assert hub.card == written["README.md"].read_text()


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
    card = dataset_card(DatasetParts([tiny_scenario()], manifests=[manifest]), licence="apache-2.0")
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


def recipe(run: Path, out: Path, **environment: str) -> str:
    """What runs/publish.sh prints on stderr, with a finished run."""
    done = subprocess.run(
        [str(ROOT / "runs" / "publish.sh"), str(run), str(out)],
        capture_output=True, text=True, check=False, env={**PATH, **environment}, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_the_recipe_takes_a_licence_and_names_no_base_that_it_does_not_know(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "demo", {}, ["eval"])
    identity = read_json(run / "adapter" / "sekft.json")
    for base, named in (("elsewhere/model", None), ("base/smollm2", "HuggingFaceTB/SmolLM2-135M-Instruct")):
        write_json(run / "adapter" / "sekft.json", {**identity, "base": base})
        recipe(run, tmp_path / base, LICENCE="cc-by-4.0")
        heads = {name: metadata_load(tmp_path / base / name / "README.md") for name in ("data", "adapter")}
        assert {head["license"] for head in heads.values() if head} == {"cc-by-4.0"}
        assert (heads["adapter"] or {}).get("base_model") == named


def finished_run(place: Path, holdouts: dict[str, tuple[str, list[Scenario]]], evals: list[str]) -> Path:
    """A run's directory; `holdouts` has for each held-out set how it was split and what is in it."""
    write_scenarios(place / "scenarios", made())
    write_json(place / "trajectories" / "a.json", SESSIONS["plain"].model_dump(mode="json"))
    adapter_directory(place / "adapter")
    for name, (by, held) in holdouts.items():
        for scenario in held:
            write_record(place / name / "holdout", scenario)
        write_json(place / name / "holdout" / "manifest.json", {"finished": True, "flags": {"by": by}})
    for name in evals:
        write_eval(place / name, adapter_hash(place / "adapter"))
    return place


def test_the_recipe_prepares_both_folders(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "demo", {}, ["eval"])
    assert "hf upload NAME/ADAPTER" in recipe(run, tmp_path / "out")
    for name in ("data", "adapter"):
        assert metadata_load(tmp_path / "out" / name / "README.md")
        assert "The counts are missing" in (tmp_path / "out" / name / "README.md").read_text()


LAYOUTS = {
    "demo": ({"split": ("archetype", made()[:2])}, ["eval"]),
    "evening": (
        {"archetypes": ("archetype", made()[:2]), "scenarios-split": ("scenario", made()[2:3])},
        ["eval-archetypes", "eval-scenarios"],
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_recipe_counts_and_splits_the_layouts_of_the_other_recipes(layout: str, tmp_path: Path) -> None:
    holdouts, evals = LAYOUTS[layout]
    run, out = finished_run(tmp_path / "run", holdouts, evals), tmp_path / "out"
    if layout == "evening":
        for name, side in (("other-kinds", made()[:2]), ("trained-kinds", made()[2:])):
            write_scenarios(run / name, side)
            write_json(run / name / "manifest.json", {"stage": "generate", "finished": True, "counts": COUNTS})
    before = {path for path in run.rglob("*") if path.is_file()}
    recipe(run, out)
    assert before == {path for path in run.rglob("*") if path.is_file()}
    n = sum(len(held) for _, held in holdouts.values())
    lines = (out / "data" / "scenarios-holdout.jsonl").read_text().splitlines()
    assert {json.loads(line)["id"] for line in lines} == {one.id for _, held in holdouts.values() for one in held}
    assert len((out / "data" / "scenarios-train.jsonl").read_text().splitlines()) == len(made()) - n
    for name in ("data", "adapter"):
        card = (out / name / "README.md").read_text()
        for split in holdouts:
            assert f"Held-out set `{run}/{split}/holdout`: 13-grams" in card
        assert "| `data` | `directives` | " in card
    if layout == "evening":
        assert "| `reference` | 80 | 20 | 25.0% |" in (out / "data" / "README.md").read_text()
    for name in evals:
        assert (out / "adapter" / "evals" / f"{name}.json").exists()
        assert f"`{name}`: every scenario of the archetypes `sum_column`" in (out / "adapter" / "README.md").read_text()
    assert sorted(path.name for path in out.glob("*.json")) == sorted(f"overlap-{name}.json" for name in evals)
    written = (out / "data" / "README.md").stat().st_mtime_ns
    recipe(run, out)  # a second run writes nothing
    assert (out / "data" / "README.md").stat().st_mtime_ns == written


def test_a_scenario_of_two_directories_is_refused(tmp_path: Path) -> None:
    write_scenarios(tmp_path / "one", made()[:2])
    write_scenarios(tmp_path / "two", made()[1:])
    code, _, message = run("--scenarios", tmp_path / "one", "--scenarios", tmp_path / "two", "--out", tmp_path / "out")
    assert (code, f"two directories hold a scenario {made()[1].id!r}" in message) == (2, True), message
    assert not (tmp_path / "out").exists()


def varied() -> list[Scenario]:
    """Scenarios in which every field that may be null is null somewhere and has a value elsewhere."""
    shipped = [author(one, seed=f"3/{at}", id=f"a-{at}") for at, one in enumerate(sample_combinations(45, 3))]
    own = [one.model_copy(update={"id": f"git-{at}"}) for at, one in enumerate(write_drafts(4, 1))]
    gates = [{}, {"runs": 3}, {"image": "sekft-git", "nested": [{"a": None}, {"b": 1}]}]
    return [
        one.model_copy(update={"provenance": one.provenance.model_copy(update={"gates": gates[at % 3]})})
        for at, one in enumerate([*shipped, *own])
    ]


LOAD = """
import json, sys
import datasets
found = {}
for config in sys.argv[2:]:
    read = datasets.load_dataset(sys.argv[1], config, cache_dir=sys.argv[1] + "-cache")
    found[config] = {split: list(read[split]) for split in read}
print(json.dumps(found))
"""


def test_the_package_datasets_reads_both_splits_whole(tmp_path: Path) -> None:
    """Fields that are null in all of `train` have values in `holdout`, and the other way round."""
    scenarios = varied()
    held = [one for one in scenarios if one.taxonomy or one.task in ("make_links", "repair_links", "missing_source")]
    assert all(any(file.target for file in one.fixtures) for one in held if one.task == "repair_links")
    write_scenarios(tmp_path / "scenarios", scenarios)
    write_scenarios(tmp_path / "holdout", held)
    for at, (name, record) in enumerate(SESSIONS.items()):
        of = held[0] if "token" in name or "usage" in name else next(one for one in scenarios if one not in held)
        moved = record.model_copy(update={"scenario_hash": of.content_hash})
        write_json(tmp_path / "sessions" / f"{at}.json", moved.model_dump(mode="json"))
    flags = ["--scenarios", tmp_path / "scenarios", "--data", tmp_path / "sessions", "--out", tmp_path / "out"]
    assert run(*flags, "--holdout", tmp_path / "holdout")[0] == 0
    done = subprocess.run(
        [program("publish.py")[0], "-c", LOAD, str(tmp_path / "out"), "scenarios", "trajectories"],
        capture_output=True, text=True, check=False, timeout=120, env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    for split, ids in (
        ("holdout", {one.id for one in held}),
        ("train", {one.id for one in scenarios} - {one.id for one in held}),
    ):
        rows = [Scenario.model_validate(row) for row in found["scenarios"][split]]
        assert {one.id: one for one in rows} == {one.id: one for one in scenarios if one.id in ids}
    sessions = [Trajectory.model_validate(row) for rows in found["trajectories"].values() for row in rows]
    assert {one.id for one in sessions} == {one.id for one in SESSIONS.values()}
    assert len(found["trajectories"]["holdout"]) == 4
    head = metadata_load(tmp_path / "out" / "README.md")
    assert head is not None
    assert head == yaml.safe_load(DatasetCard.load(tmp_path / "out" / "README.md").data.to_yaml())
    card = (tmp_path / "out" / "README.md").read_text()
    assert f"{len(held)} of {len(scenarios)} scenarios and 4 of {len(SESSIONS)} sessions" in card
    assert "## Must not be used for\n\n- **Unattended use.**" in card


def test_sessions_of_held_out_scenarios_are_not_published_with_the_training_side(tmp_path: Path) -> None:
    first, second = made()[:2]
    scenarios = write_scenarios(tmp_path / "train", [first])
    write_json(
        scenarios / "manifest.json",
        {"stage": "split", "finished": True, "flags": {"by": "archetype", "side": "train"}},
    )
    for name, of in (("a", first), ("b", second)):
        session = SESSIONS["plain"].model_copy(update={"id": f"{name}-s0", "scenario_hash": of.content_hash})
        write_record(tmp_path / "sessions", session)
    flags = ["--scenarios", scenarios, "--data", tmp_path / "sessions", "--out", tmp_path / "out"]
    code, summary, said = run(*flags)
    assert (code, summary["trajectories"], summary["left_out"]) == (0, 1, 1)
    assert "1 sessions are of scenarios that" in said
    (line,) = (tmp_path / "out" / "trajectories-train.jsonl").read_text().splitlines()
    assert json.loads(line)["id"] == "a-s0"


@pytest.mark.parametrize("side", ["train", "holdout"])
def test_a_side_of_a_split_says_which_it_is(side: str, tmp_path: Path) -> None:
    scenarios = write_scenarios(tmp_path / "side", made())
    flags = {"by": "archetype", "side": side}
    write_json(scenarios / "manifest.json", {"stage": "split", "finished": True, "flags": flags})
    assert run("--scenarios", scenarios, "--out", tmp_path / "out")[0] == 0
    assert [path.name for path in (tmp_path / "out").glob("*.jsonl")] == [f"scenarios-{side}.jsonl"]
    card = (tmp_path / "out" / "README.md").read_text()
    assert ("the training side of a split" in card) == (side == "train")
    assert ("held out as a whole: `absent_program`" in card) == (side == "holdout")


def test_balance_is_over_the_taxonomy_that_the_scenarios_are_of() -> None:
    drafts = write_drafts(8, 1)  # each archetype of the taxonomy once
    card = dataset_card(DatasetParts(drafts), licence="apache-2.0").content
    for axis, values in known_values(TAXONOMY).axes().items():
        used = {one.axes()[axis] for one in drafts}
        figure = balance((one.axes()[axis] for one in drafts), len(values))
        assert f"| {axis} | {len(used)} of {len(values)} | {figure:.3f} |" in card
    assert len(AXES["task"]) == 45
    assert "| task | 8 of 53 | " in card
    assert f"Of the taxonomy `{TAXONOMY.name}` the values count that occur here" in card


def hostile_cards() -> dict[str, RepoCard]:
    """Both cards with the hostile text in every place that a card takes text from."""
    gates = {"gates": {"image": EVIL}, "model": EVIL, "author": "teacher"}
    scenario = write_drafts(1, 1)[0]
    assert scenario.taxonomy is not None
    scenario = scenario.model_copy(update={
        "provenance": scenario.provenance.model_copy(update=gates),
        "taxonomy": scenario.taxonomy.model_copy(update={"name": EVIL}),
    })  # fmt: skip
    session = SESSIONS["plain"]
    session = session.model_copy(update={"operator": session.operator.model_copy(update={"model": EVIL})})
    manifest = Manifest(stage=EVIL, flags={EVIL: EVIL, "by": EVIL}, git_commit=EVIL, image_digest=EVIL)
    overlap = Overlap.model_validate({"holdout": EVIL, "shared": {EVIL: {EVIL: {"runs": 2, "shared": 1}}}})
    dataset = DatasetParts(
        [scenario], [session], [manifest], manifest, {EVIL: GateCounts(reached=2, passed=1)},
        Holdout({scenario.id}, set(), {EVIL}), [overlap],
    )  # fmt: skip
    plain = report()
    axes = {"task": {EVIL: plain.subjects["adapter"].rates}}
    subjects = {name: one.model_copy(update={"per_axis": axes}) for name, one in plain.subjects.items()}
    pair: PairedDifferences = plain.paired["adapter - base"]
    hostile = {"scenarios": EVIL, "split_by": EVIL, "adapter": EVIL, "base": EVIL, "paired": {EVIL: pair}}
    evil_report = plain.model_copy(update={**hostile, "subjects": subjects})
    one = TrainedSession(scenario_id=EVIL, content_hash=EVIL, archetype=EVIL, trajectory_id=EVIL)
    about = AdapterIdentity(base=EVIL, base_hash=EVIL, flags={EVIL: EVIL}, git_commit=EVIL, trained_on=[one])
    adapter = AdapterParts(EVIL, about, {EVIL: evil_report}, [overlap], EVIL, [EVIL])
    return {
        "dataset": dataset_card(dataset, licence=EVIL),
        "adapter": adapter_card(adapter, licence=EVIL, base_model=None),
        "adapter of a named base": adapter_card(adapter, licence=EVIL, base_model=EVIL),
    }


@pytest.mark.parametrize("which", ["dataset", "adapter", "adapter of a named base"])
def test_hostile_text_renders_as_text_in_every_place(which: str) -> None:
    card = hostile_cards()[which]
    read = MarkdownIt("commonmark").enable("table").parse(card.text)
    tokens = [inner for token in read for inner in [token, *(token.children or [])]]
    kinds = {token.type for token in tokens}
    assert not kinds & {"image", "link_open", "html_inline", "html_block", "fence", "code_block"}
    plain = " ".join(token.content for token in tokens if token.type == "text")
    assert not re.search("evil|http|img|ESC", plain)  # it is in code spans alone
    spans = [token.content for token in tokens if token.type == "code_inline"]
    assert spans.count(next(one for one in spans if one.startswith(SHOWN))) > 10
    titles = [read[at + 1].content for at, token in enumerate(read) if token.type == "heading_open"]
    assert [one for one in titles[1:] if not re.fullmatch(r"[A-Z][A-Za-z ]+", one)] == []
    tables = [part.splitlines() for part in card.text.split("\n\n") if part.startswith("|")]
    assert tables
    assert [rows for rows in tables if len({row.count("|") for row in rows}) > 1] == []
    assert card.content == hidden.as_text(card.content)  # the YAML head too
    again = type(card)(card.content)
    assert head_of(again) == head_of(card)
    assert head_of(card)["license"].startswith("«ESC»[31m«U+202E»")


def test_an_adapters_card_says_whether_the_counts_are_of_its_own_sessions() -> None:
    about = identity()
    own = [(one.trajectory_id, one.content_hash) for one in about.trained_on]
    for sessions, words in [(own[::-1], "6 sessions were read for this: those"), (own[1:], "not exactly those")]:
        counted = CountedSessions.of(sessions)
        card = adapter_card(
            AdapterParts("a", about, overlaps=[Overlap(shared={}, sessions=counted)]), licence="mit", base_model=None
        )
        assert f"{words} that the adapter was trained on." in card.text
    older = AdapterParts("a", about, overlaps=[Overlap(shared={})])
    assert "sessions were read" not in adapter_card(older, licence="mit", base_model=None).text


def test_an_overlap_file_of_another_shape_is_one_line(tmp_path: Path) -> None:
    scenarios = write_scenarios(tmp_path / "scenarios", made(1))
    spoilt: Any
    for spoilt in (
        [],
        {"shared": 3},
        {"shared": {"data": {"directives": {"runs": "x", "shared": 1}}}},
        {"shared": {"a": 1}},
    ):
        write_json(tmp_path / "overlap.json", spoilt)
        code, _, said = run("--scenarios", scenarios, "--overlap", tmp_path / "overlap.json", "--out", tmp_path / "out")
        assert (code, len(said.splitlines())) == (2, 1), said
        assert "overlap.json: " in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("yields", "words"),
    [
        ([1], "counts.yield: "),
        ({"a": None}, "counts.yield.a: "),
        ({"a": {"reached": 1}}, "counts.yield.a.passed: "),
        ({"a": {"reached": "many", "passed": 1}}, "counts.yield.a.reached: "),
        ({"a": {"reached": -1, "passed": 0}}, "counts.yield.a.reached: "),
        (7, "counts.yield: "),
    ],
)
def test_yields_of_another_shape_are_one_line(yields: Any, words: str, tmp_path: Path) -> None:
    scenarios = write_scenarios(tmp_path / "scenarios", made(1))
    write_json(scenarios / "manifest.json", {"stage": "generate", "finished": True, "counts": {"yield": yields}})
    code, _, said = run("--scenarios", scenarios, "--out", tmp_path / "out")
    assert (code, len(said.splitlines())) == (2, 1), said
    assert f"manifest.json: {words}" in said
    assert not (tmp_path / "out").exists()


def base_directory(place: Path, **files: str) -> Path:
    """A directory that counts as a base, with these files."""
    write_json(place / "config.json", {"model_type": "llama"})
    (place / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    for name, text in files.items():
        (place / name.replace("_md", ".md")).write_text(text)
    return place


HEAD = "---\nlicense: {}\n---\n# A base\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (HEAD.format("apache-2.0"), "apache-2.0"),
        (HEAD.format("other\nlicense_name: llama3"), "llama3"),
        ("# SmolLM2\n\nThe model is by Hugging Face (HuggingFaceTB/x), licence Apache-2.0. See there.\n", "apache-2.0"),
        ("License: MIT.\n", "mit"),
        ("The licence holds. Its licence is good.\n", None),
        ("---\nlicense: [\n---\n", None),
        (HEAD.format("[a, b]"), None),
        ("", None),
    ],
)
def test_the_bases_card_names_its_licence(text: str, found: str | None, tmp_path: Path) -> None:
    assert base_licence(base_directory(tmp_path / "base", README_md=text)) == found


def test_the_card_of_get_base_names_the_licence(tmp_path: Path) -> None:
    import get_base

    assert base_licence(base_directory(tmp_path / "base", README_md=get_base.CARD.format(source="x"))) == "apache-2.0"


def test_the_bases_licence_is_named_and_its_text_comes_along(tmp_path: Path) -> None:
    base = base_directory(tmp_path / "base", README_md=HEAD.format("apache-2.0"), LICENSE="Terms.\n", NOTICE="By us.\n")
    adapter = adapter_directory(tmp_path / "ckpt")
    write_identity(adapter, identity().model_copy(update={"base": str(base), "base_hash": model_hash(base)}))
    assert run("--adapter", adapter, "--out", tmp_path / "out")[0] == 0
    card = (tmp_path / "out" / "README.md").read_text()
    assert "The base's licence is `apache-2.0`, and holds beside this adapter's." in card
    assert "Its text lies here: `base_licence/LICENSE`, `base_licence/NOTICE`." in card
    assert (tmp_path / "out" / "base_licence" / "LICENSE").read_text() == "Terms.\n"
    # Another model at this place says nothing about the adapter's base.
    write_json(base / "config.json", {"model_type": "gpt2"})
    assert run("--adapter", adapter, "--out", tmp_path / "other")[0] == 0
    assert "The name of the base's licence is not known here." in (tmp_path / "other" / "README.md").read_text()
    assert not (tmp_path / "other" / "base_licence").exists()


@pytest.mark.parametrize("name", ["adapter_model.safetensors", "render.json"])
def test_half_an_adapter_is_refused(name: str, tmp_path: Path) -> None:
    (adapter_directory(tmp_path / "ckpt") / name).unlink()
    code, _, said = run("--adapter", tmp_path / "ckpt", "--out", tmp_path / "out")
    assert (code, len(said.splitlines())) == (2, 1)
    assert name in said
    assert not (tmp_path / "out").exists()
