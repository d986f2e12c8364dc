"""split.py holds out scenarios or whole archetypes, as its seed decides, and refuses impossible splits."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from authoring import templates
from pipeline.files import read_scenarios, write_record
from split import choose_archetypes
from taxonomy import ARCHETYPES, Combination
from tests.helpers import ROOT

TASKS = ["copy_files", "find_names", "sum_column", "make_links", "missing_source", "broken_archive"]


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("split") / "scenarios"
    for task in TASKS:
        for index in range(4):
            combination = Combination(task, "flags", "motd", "help", "medium")
            write_record(out, templates.author(combination, seed=f"{task}/{index}", id=f"{task}-{index}"))
    return out


def split(*flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "split.py", *flags], cwd=ROOT, capture_output=True, text=True, check=False)


def test_archetypes_are_held_out_whole(scenarios: Path, tmp_path: Path) -> None:
    flags = ["--scenarios", str(scenarios), "--out", str(tmp_path / "s"), "--by", "archetype", "--k", "3"]
    first = split(*flags)
    assert first.returncode == 0, first.stderr
    summary = json.loads(first.stdout)
    train, holdout = (read_scenarios(tmp_path / "s" / side) for side in ("train", "holdout"))
    assert len(train) == len(holdout) == 12
    held = {record.task for record in holdout}
    assert not held & {record.task for record in train}
    assert any(ARCHETYPES[task].terminal == "panic" for task in held)
    assert sorted(held) == summary["held_out_archetypes"]
    assert split(*flags).stdout == first.stdout


def test_fraction_is_held_out_within_each_archetype(scenarios: Path, tmp_path: Path) -> None:
    done = split("--scenarios", str(scenarios), "--out", str(tmp_path), "--by", "scenario", "--fraction", "0.25")
    assert done.returncode == 0, done.stderr
    holdout = read_scenarios(tmp_path / "holdout")
    assert sorted(record.task for record in holdout) == sorted(TASKS)


def test_a_side_of_another_split_is_refused_before_anything_is_written(scenarios: Path, tmp_path: Path) -> None:
    flags = ["--scenarios", str(scenarios), "--out", str(tmp_path), "--by", "scenario", "--fraction", "0.25"]
    assert split(*flags, "--seed", "1").returncode == 0
    shutil.rmtree(tmp_path / "train")
    done = split(*flags, "--seed", "2")
    assert (done.returncode, "--seed was 1, is 2" in done.stderr) == (2, True), done.stderr
    assert not list((tmp_path / "train").glob("[!.]*-*.json"))


def test_split_depends_on_the_seed(scenarios: Path) -> None:
    records = read_scenarios(scenarios)
    splits = {tuple(choose_archetypes(records, None, 2, seed)) for seed in range(20)}
    assert len(splits) > 3


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--by", "archetype"], "exactly one of --archetypes and --k"),
        (["--by", "archetype", "--k", "6"], "leave at least one"),
        (["--by", "archetype", "--archetypes", "knitting"], "knitting"),
        (["--by", "scenario", "--fraction", "1.5"], "--fraction between 0 and 1"),
        (["--by", "scenario", "--fraction", "0.5", "--k", "2"], "neither"),
    ],
)
def test_bad_flags_are_one_line_and_exit_2(scenarios: Path, tmp_path: Path, flags: list[str], message: str) -> None:
    done = split("--scenarios", str(scenarios), "--out", str(tmp_path / "o"), *flags)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2
    assert not (tmp_path / "o").exists()


def test_missing_directory_is_named(tmp_path: Path) -> None:
    done = split("--scenarios", str(tmp_path / "no"), "--out", str(tmp_path / "o"), "--by", "archetype", "--k", "1")
    assert done.returncode == 2
    assert str(tmp_path / "no") in done.stderr
