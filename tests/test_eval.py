"""Eval's arithmetic is right, nothing trained on is evaluated, and the script resumes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tiny

import templates
from eval import draw, refuse_contamination
from report import paired, rate, rate_table, wilson
from schema import (
    BadInputError,
    OperatorInfo,
    Scenario,
    Step,
    Trajectory,
    read_json,
    read_trajectories,
    write_json,
    write_record,
)
from taxonomy import Combination

ROOT = Path(__file__).parent.parent


def scenario(task: str, index: int) -> Scenario:
    combination = Combination(task, "flags", "motd", "help", "medium")
    return templates.author(combination, seed=f"{task}/{index}", id=f"{task}-{index}")


def episode(record: Scenario, outcome: str = "exit", kept: bool = True) -> Trajectory:
    return Trajectory.model_validate(
        {
            "id": f"{record.id}-s0",
            "scenario_id": record.id,
            "scenario_hash": record.content_hash,
            "axes": record.axes(),
            "operator": OperatorInfo(kind="local"),
            "messages": [],
            "steps": [
                Step(command="ls", output="", output_bytes=0, exit_code=0, cwd="/", duration_seconds=0).model_dump()
            ],
            "terminal": "exit" if outcome == "exit" else None,
            "verified": kept,
            "command_only": True,
            "outcome": outcome,
            "kept": kept,
            "reasons": [] if kept else ["not verified"],
        }
    )


def test_the_wilson_interval_is_the_published_one() -> None:
    low, high = wilson(9, 16) or (0.0, 0.0)  # scipy.stats.binomtest(9, 16).proportion_ci(method="wilson")
    assert (round(low, 4), round(high, 4)) == (0.3318, 0.7690)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson(0, 0) is None


def test_no_episode_gives_no_rate_rather_than_zero() -> None:
    assert rate([], 0)["rate"] is None
    assert rate([], 3) == {"successes": 0, "n": 0, "rate": None, "interval": None, "rate_voided_as_failures": 0.0}


def test_voided_episodes_are_apart_and_also_counted_as_failures() -> None:
    records = [scenario("copy_files", index) for index in range(4)]
    rows = [episode(record) for record in records[:3]] + [episode(records[3], "sandbox_failed", kept=False)]
    clean = rate_table(rows)["clean"]
    assert (clean["successes"], clean["n"], clean["rate"]) == (3, 3, 1.0)
    assert clean["rate_voided_as_failures"] == 0.75


def test_paired_differences_count_only_scenarios_that_both_finished() -> None:
    records = [scenario("copy_files", index) for index in range(6)]
    before = {record.id: episode(record, "max_steps", kept=False) for record in records}
    after = {record.id: episode(record) for record in records}
    after[records[0].id] = episode(records[0], "sandbox_failed", kept=False)
    result = paired(before, after, seed=0)
    assert result["n"] == 5
    assert result["terminate"]["difference"] == 1.0
    assert result["terminate"]["only_after"] == 5
    assert result["operate"]["difference"] == 0.0


def test_a_larger_n_adds_scenarios_and_replaces_none() -> None:
    records = [scenario("copy_files", index) for index in range(10)]
    small, large = draw(records, 3, 7), draw(records, 8, 7)
    assert small == large[:3]
    assert draw(records, 3, 8) != small
    with pytest.raises(BadInputError, match="--n"):
        draw(records, 0, 0)


def test_what_was_trained_on_is_refused_by_id_hash_and_held_out_archetype(tmp_path: Path) -> None:
    seen, other, fresh = scenario("copy_files", 0), scenario("copy_files", 1), scenario("find_names", 0)
    adapter, held = tmp_path / "adapter", tmp_path / "holdout"
    row = {"scenario_id": seen.id, "content_hash": seen.content_hash, "archetype": seen.task, "trajectory_id": "t"}
    write_json(adapter / "sekft.json", {"trained_on": [row]})
    write_json(held / "manifest.json", {"finished": True, "flags": {"by": "scenario"}})
    with pytest.raises(BadInputError, match="trained on this scenario"):
        refuse_contamination(adapter, held, [fresh, seen])
    with pytest.raises(BadInputError, match="trained on this scenario"):
        refuse_contamination(adapter, held, [seen.model_copy(update={"id": "renamed"})])
    refuse_contamination(adapter, held, [fresh, other])
    write_json(held / "manifest.json", {"finished": True, "flags": {"by": "archetype"}})
    with pytest.raises(BadInputError, match="copy_files"):
        refuse_contamination(adapter, held, [fresh, other])
    refuse_contamination(adapter, held, [fresh])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny base, an adapter on it, and three held-out scenarios."""
    place = tmp_path_factory.mktemp("eval")
    tiny.base(place / "base")
    write_record(place / "data", tiny.trajectory("t0-s0", task="sum_column"))
    for index in range(3):
        write_record(place / "held", scenario("copy_files", index))
    flags = ["--data", "data", "--base", "base", "--out", "adapter", "--epochs", "1"]
    done = script(place, "sft.py", *flags)
    assert done.returncode == 0, done.stderr
    return place


def script(cwd: Path, name: str, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / name), *flags]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=environment, check=False)


FLAGS = ["--base", "base", "--adapter", "adapter", "--scenarios", "held", "--max-steps", "2", "--max-new-tokens", "8"]


@pytest.mark.docker
def test_base_and_adapter_are_paired_and_a_rerun_plays_nothing_again(place: Path) -> None:
    first = script(place, "eval.py", *FLAGS, "--n", "2", "--compare-base")
    assert first.returncode == 0, first.stderr
    summary = json.loads(first.stdout)
    assert summary["base"]["n"] == summary["adapter"]["n"] == 2
    report = read_json(place / "eval" / "adapter" / "report.json")
    assert report["paired"]["adapter - base"]["n"] == 2
    assert set(report["subjects"]["adapter"]["per_axis"]) == set(scenario("copy_files", 0).axes())
    episodes = read_trajectories(place / "eval" / "adapter" / "adapter")
    assert len(episodes) == 2
    assert all(one.operator.adapter_hash and one.token_ids and one.assistant_mask for one in episodes)
    before = {path: path.stat().st_mtime_ns for path in (place / "eval" / "adapter").glob("*/*.json")}
    again = script(place, "eval.py", *FLAGS, "--n", "2", "--compare-base")
    assert again.stdout == first.stdout
    assert {path: path.stat().st_mtime_ns for path in before} == before
    grown = script(place, "eval.py", *FLAGS, "--n", "3", "--compare-base")
    assert json.loads(grown.stdout)["adapter"]["n"] == 3
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.docker
@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--scenarios", "nowhere"], "nowhere"),
        (["--base", "nowhere/at/all"], "no such base"),
        (["--adapter", "data"], "adapter_model.safetensors"),
        (["--render", "chat"], "--render"),
        (["--n", "0"], "--n is 0"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(place: Path, flags: list[str], words: str) -> None:
    done = script(place, "eval.py", *FLAGS, "--out", "elsewhere", *flags)
    assert done.returncode == 2, done
    assert words in done.stderr.strip().splitlines()[-1]
    assert not (place / "elsewhere").exists()


def test_an_adapter_of_another_base_is_refused(place: Path, tmp_path: Path) -> None:
    tiny.base(tmp_path / "other", seed=1)
    done = script(place, "eval.py", *FLAGS, "--base", str(tmp_path / "other"))
    assert done.returncode == 2
    assert "another" in done.stderr
