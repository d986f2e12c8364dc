"""The second domain works as its README says: its image, its author, the gate, a rollout and a split."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from authoring.templates import Shapes, author
from authoring.templates.world import Names
from authoring.text_gate import GATES
from examples.git_repositories.author import TAXONOMY, write_drafts
from examples.git_repositories.repository import repository
from examples.git_repositories.shapes import DOABLE, SHAPES
from formats.cards import GateCounts
from model.render import ORIENTATION
from pipeline.files import read_manifest, read_scenarios, read_trajectories, write_record
from pipeline.rates import compare_subjects
from publish import yields_of
from sandbox.containers import SandboxOptions, image_tools, require_image
from sandbox.session import session
from schema import Scenario
from taxonomy import combinations
from tests.helpers import ROOT, tiny

IMAGE = "sekft-git"


def run(*command: str, code: int = 0) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, timeout=900, check=False,
        env={name: value for name, value in os.environ.items() if not name.startswith("SEKFT_")},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    if code == 2:
        return {"error": done.stderr}
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


@pytest.fixture(scope="module")
def git_image(image: str) -> str:
    """The image with git, built once; `sekft-dash` stays as it is."""
    command = ["sh", "examples/git_repositories/image.sh", IMAGE]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert require_image() == image
    return IMAGE


def test_taxonomy_has_six_kinds_of_work_and_two_that_are_blocked() -> None:
    assert Counter(one.terminal for one in TAXONOMY.archetypes) == {"exit": 6, "panic": 2}
    assert {one.name for one in TAXONOMY.archetypes} == set(SHAPES)
    assert set(DOABLE) == {one.name for one in TAXONOMY.archetypes if one.terminal == "panic"}


def test_every_shape_makes_scenarios_that_say_which_taxonomy_they_are_of() -> None:
    shapes, known = Shapes(SHAPES, DOABLE, TAXONOMY), TAXONOMY.joined()
    legal = [one for one in combinations(known) if one.task in SHAPES]
    for number, combination in enumerate(random.Random(1).sample(legal, 60)):
        made = author(combination, seed=str(number), id=f"git-{number}", shapes=shapes)
        assert made.taxonomy is not None
        assert (made.taxonomy.name, made.taxonomy.sha256) == (TAXONOMY.name, TAXONOMY.sha256)
        assert [one.name for one in made.taxonomy.archetypes] == [combination.task]
    assert write_drafts(5, 3) == write_drafts(9, 3)[:5]


def test_repository_is_the_same_for_the_same_names() -> None:
    one, other = (repository(Names(random.Random(4))).fixtures() for _ in range(2))
    assert one == other
    assert one != repository(Names(random.Random(5))).fixtures()


@pytest.mark.docker
def test_repository_is_sound_for_git_itself(git_image: str) -> None:
    made = repository(Names(random.Random(4)))
    with session(made.fixtures(), options=SandboxOptions(image=git_image)) as shell:
        assert shell.step(f"git -C {made.name} fsck --strict").exit_code == 0
        assert shell.step(f"git -C {made.name} log --reverse --format=%H").output.split() == [
            commit.hash for commit in made.commits
        ]


@pytest.mark.docker
def test_scenarios_pass_the_gate_and_are_played(git_image: str, tmp_path: Path) -> None:
    """Author, rollout and split as a user runs them; the fourth scenario is a blocked one."""
    scenarios, sessions = tmp_path / "scenarios", tmp_path / "sessions"
    flags = ["-m", "examples.git_repositories.author", "--n", "4", "--out", str(scenarios)]
    found = run(*flags)
    assert (found["attempts"], found["admitted"], found["refused"]) == (4, 4, {})
    assert run(*flags)["admitted"] == 4  # nothing is done twice, nothing lost
    manifest = read_manifest(scenarios)
    assert manifest is not None
    assert yields_of({scenarios: manifest}) == {name: GateCounts(reached=4, passed=4) for name in GATES}
    records = read_scenarios(scenarios)
    assert Counter(record.terminal for record in records) == {"exit": 3, "panic": 1}
    assert {record.provenance.gates["image"] for record in records} == {git_image}

    play = ["rollout.py", "--operator", "reference", "--scenarios", str(scenarios), "--out", str(sessions)]
    assert "pass --image sekft-git" in run(*play, code=2)["error"]
    found = run(*play, "--image", git_image)
    assert (found["rollouts"], found["kept"]) == (4, 4)
    trajectories = read_trajectories(sessions)
    for trajectory in trajectories:
        assert trajectory.messages[0].content == f"{ORIENTATION} Beside the busybox userland there are: git."
        assert trajectory.taxonomy is not None
        assert trajectory.taxonomy.sha256 == TAXONOMY.sha256
    subjects, _ = compare_subjects({"adapter": {one.scenario_id: one for one in trajectories}}, records, seed=0)
    assert set(subjects["adapter"].per_axis["task"]) == {record.task for record in records}

    parts = ["--by", "archetype", "--k", "1", "--out", str(tmp_path / "split")]
    found = run("split.py", "--scenarios", str(scenarios), *parts)
    assert found["held_out_archetypes"] == ["git_missing_ref"]  # the blocked one, as with the shipped archetypes
    held = ["--holdout", str(tmp_path / "split" / "holdout")]
    (one,) = read_scenarios(tmp_path / "split" / "holdout")
    other = {**one.model_dump(mode="json"), "id": "other", "checker": f"{one.checker}\n", "content_hash": ""}
    write_record(tmp_path / "other", Scenario.model_validate(other))
    shutil.copy(tmp_path / "split" / "holdout" / "manifest.json", tmp_path / "other")
    fit = ["sft.py", "--base", str(tiny.base(tmp_path / "base")), "--data", str(sessions), "--out", str(tmp_path / "o")]
    for holdout, what in (("split/holdout", "scenario"), ("other", "archetype")):
        error = run(*fit, "--holdout", str(tmp_path / holdout), code=2)["error"]
        assert f"1 sessions whose {what} is held out here, git_missing_ref" in error
    export = ["export.py", "--to", "openai", "--archive", str(sessions), *held, "--out", str(tmp_path / "exported")]
    assert run(*export)["held_out"] == 1


@pytest.mark.docker
def test_image_without_a_command_that_its_label_names_is_refused(git_image: str) -> None:
    assert image_tools(git_image) == ("git",)
    name = "sekft-test-label"
    for label, words in (("git no-tool", "does not find 'no-tool'"), ("git, and Run!", "is no name of a command")):
        build = ["docker", "build", "--quiet", "--label", f"sekft.tools={label}", "--tag", name, "-"]
        subprocess.run(build, input=f"FROM {git_image}\n", text=True, capture_output=True, check=True)
        try:
            assert words in run("dashdocker.py", "self-check", "--image", name, "--only", "A01", code=2)["error"]
        finally:
            subprocess.run(["docker", "rmi", name], capture_output=True, check=True)
    assert run("dashdocker.py", "self-check", "--image", git_image, "--only", "A01")["ok"] == 1


@pytest.mark.docker
def test_bad_flags_are_one_line(git_image: str, tmp_path: Path) -> None:
    for flags, words in (
        (["--n", "0", "--out", "o"], "--n"),
        (["--out", str(tmp_path), "--image", "no"], "'no' is not in"),
        (["--out", "README.md/o"], "cannot be written"),
    ):
        error = run("-m", "examples.git_repositories.author", *flags, code=2)["error"]
        assert words in error
        assert len(error.splitlines()) == 1


def test_records_of_two_taxonomies_keep_their_files_apart(tmp_path: Path) -> None:
    first, second = write_drafts(2, 1)
    write_record(tmp_path, first)
    write_record(tmp_path, second)
    assert read_scenarios(tmp_path) == sorted([first, second], key=lambda one: one.id)
