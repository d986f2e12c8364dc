"""Every episode is written as it ends, voided ones run again, and failures in a row end the run."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from operators.episode import Episode, EpisodeLimits
from operators.protocol import Operator, OperatorError
from operators.rollouts import FAILURES_IN_A_ROW, RolloutPlan, read_finished, run_episodes
from pipeline.files import read_json, read_trajectories, write_record
from tests.helpers import tiny
from tests.helpers.hand_scenarios import hand
from tests.helpers.rollouts import Scripted


def plan(operator: Callable[[], Operator], workers: int = 1) -> RolloutPlan:
    limits = EpisodeLimits(max_steps=9, timeout_seconds=10)
    return RolloutPlan(operator, seed=0, limits=limits, workers=workers, cancelled=threading.Event())


def samples(count: int) -> list[Episode]:
    return [Episode(hand(), sample) for sample in range(count)]


def test_only_records_that_are_not_voided_are_finished(tmp_path: Path) -> None:
    one = samples(1)[0]
    assert read_finished(tmp_path, one) is None
    record = tiny.trajectory(one.id)
    path = write_record(tmp_path, record)
    assert read_finished(tmp_path, one) == record
    for outcome in ("operator_failed", "sandbox_failed"):
        write_record(tmp_path, record.model_copy(update={"outcome": outcome, "kept": False, "reasons": ["voided"]}))
        assert read_finished(tmp_path, one) is None
        assert read_json(path)["outcome"] == outcome


@pytest.mark.docker
def test_every_episode_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commands = [*hand().reference_solution, "exit"]
    done = run_episodes(plan(lambda: Scripted(*commands), workers=2), samples(2), tmp_path, label="rollout")
    assert sorted(done) == [one.id for one in samples(2)]
    assert read_trajectories(tmp_path) == [done[name] for name in sorted(done)]
    assert all(one.kept for one in done.values())
    assert capsys.readouterr().err.count(" kept\n") == 2


@pytest.mark.docker
def test_failures_in_a_row_end_the_run(tmp_path: Path) -> None:
    failing = plan(lambda: Scripted(OperatorError("503")))
    done = run_episodes(failing, samples(FAILURES_IN_A_ROW + 5), tmp_path, label="rollout")
    assert failing.cancelled.is_set()
    assert FAILURES_IN_A_ROW <= len(done) < FAILURES_IN_A_ROW + 5
    assert {one.outcome for one in done.values()} == {"operator_failed"}
    assert len(list(tmp_path.glob("*.json"))) == len(done)
    assert read_finished(tmp_path, samples(1)[0]) is None


@pytest.mark.docker
def test_failures_between_successes_do_not_end_the_run(tmp_path: Path) -> None:
    turns = iter(range(100))
    commands = [*hand().reference_solution, "exit"]

    def alternating() -> Operator:
        return Scripted(OperatorError("503")) if next(turns) % 2 == 0 else Scripted(*commands)

    mixed = plan(alternating)
    done = run_episodes(mixed, samples(2 * FAILURES_IN_A_ROW), tmp_path, label="rollout")
    assert not mixed.cancelled.is_set()
    assert len(done) == 2 * FAILURES_IN_A_ROW
    assert sum(one.outcome == "operator_failed" for one in done.values()) == FAILURES_IN_A_ROW
