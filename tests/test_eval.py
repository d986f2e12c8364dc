"""Eval's arithmetic is right, nothing trained on is evaluated, and the script resumes."""

from pathlib import Path

import pytest

import templates
from eval import draw, paired, rate, rate_table, refuse_contamination, wilson
from schema import BadInputError, OperatorInfo, Scenario, Step, Trajectory, write_json
from taxonomy import Combination


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
    assert result["terminate"]["only_adapter"] == 5
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
