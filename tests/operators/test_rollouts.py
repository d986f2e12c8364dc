"""Every episode is written as it ends, voided ones run again, and failures in a row end the run."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from operators.episode import Episode, EpisodeLimits, run_episode
from operators.protocol import Operator, OperatorError, UnusableAnswerError
from operators.rollouts import FAILURES_IN_A_ROW, RolloutPlan, read_finished, run_episodes
from pipeline.files import read_json, read_trajectories, write_record
from sandbox import containers
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
def test_void_episode_is_played_again_twice_and_then_stays(tmp_path: Path) -> None:
    def break_it() -> str:
        containers.remove_all()
        return "ls"

    one = samples(1)
    for attempt in (1, 2, 3):
        assert read_finished(tmp_path, one[0]) is None
        (played,) = run_episodes(plan(lambda: Scripted(break_it)), one, tmp_path, label="rollout").values()
        assert (played.outcome, played.attempt) == ("sandbox_failed", attempt)
    assert read_finished(tmp_path, one[0]) == played


@pytest.mark.docker
def test_unusable_answers_are_attempts_and_a_dead_endpoint_is_none(tmp_path: Path) -> None:
    one, failures = samples(1), [OperatorError("503"), *[UnusableAnswerError("400")] * 3]
    attempts = []
    for failure in failures:
        assert read_finished(tmp_path, one[0]) is None
        (played,) = run_episodes(plan(lambda: Scripted(failure)), one, tmp_path, label="rollout").values()  # noqa: B023
        assert (played.outcome, played.kept) == ("operator_failed", False)
        attempts.append(played.attempt)
    assert attempts == [1, 1, 2, 3]
    assert read_finished(tmp_path, one[0]) == played


@pytest.mark.docker
def test_replay_of_a_void_episode_is_numbered(tmp_path: Path) -> None:
    one = samples(1)[0]
    broken = {"outcome": "sandbox_failed", "kept": False, "reasons": ["voided"]}
    write_record(tmp_path, tiny.trajectory(one.id).model_copy(update=broken))
    commands = [*hand().reference_solution, "exit"]
    (played,) = run_episodes(plan(lambda: Scripted(*commands)), [one], tmp_path, label="rollout").values()
    assert (played.kept, played.attempt) == (True, 2)
    assert read_finished(tmp_path, one) == played


@pytest.mark.docker
def test_sandbox_lives_as_long_as_the_limits_allow(tmp_path: Path) -> None:
    deadlines: list[float] = []

    def look() -> str:
        found = containers.api().containers(filters={"label": f"sekft.run={containers.RUN}"})
        deadlines.extend(float(one["Labels"]["sekft.deadline"]) - time.time() for one in found)
        return "exit"

    slow = EpisodeLimits(max_steps=50, timeout_seconds=3600)
    run_episodes(replace(plan(lambda: Scripted(look)), limits=slow), samples(1), tmp_path, label="rollout")
    run_episode(Scripted(look), samples(1)[0], seed=0, limits=slow)
    assert len(deadlines) >= 2
    assert min(deadlines) > 50 * 3600


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
