"""Which episodes are under way is in a file that appears with the run, follows it, and is gone at its end."""

import threading
from pathlib import Path

import pytest

from pipeline import stage
from operators.episode import Episode, EpisodeLimits
from operators.rollouts import RolloutPlan, run_episodes
from operators.under_way import UnderWay
from pipeline.files import LIVE, read_json, read_trajectories
from pipeline.stage import hash_directory
from schema import LiveRun
from tests.helpers.hand_scenarios import hand
from tests.helpers.rollouts import Scripted


def live(out: Path) -> LiveRun:
    return LiveRun.model_validate(read_json(out / LIVE))


def test_the_file_follows_the_episodes(tmp_path: Path) -> None:
    with UnderWay(tmp_path, total=5) as under_way:
        assert (live(tmp_path).total, live(tmp_path).episodes) == (5, [])
        with under_way.episode("a") as told, under_way.episode("b"):
            told("ls")
            told("x" * 1000)
            assert [(one.id, one.steps, one.command) for one in live(tmp_path).episodes] == [
                ("a", 2, "x" * 200),
                ("b", 0, None),
            ]
        assert live(tmp_path).episodes == []
    assert list(tmp_path.iterdir()) == []


def test_a_dropped_episode_leaves_no_file_behind(tmp_path: Path) -> None:
    """After an interrupt the threads of a pool may go on for a moment."""
    with UnderWay(tmp_path, total=1) as under_way:
        dropped = under_way.episode("a")
        told = dropped.__enter__()
    told("ls")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("no directory")
    with UnderWay(tmp_path / "out", total=1) as under_way, under_way.episode("a") as told:
        told("ls")


def test_what_a_killed_run_left_is_removed_and_counts_for_nothing(tmp_path: Path) -> None:
    first = stage.begin(tmp_path, stage="rollout", flags={})
    before = hash_directory(tmp_path)
    UnderWay(tmp_path, total=1).__enter__()
    UnderWay(tmp_path / "base", total=1).path.parent.mkdir()
    UnderWay(tmp_path / "base", total=1).__enter__()
    assert hash_directory(tmp_path) == before
    again = stage.begin(tmp_path, stage="rollout", flags={})
    assert not list(tmp_path.glob(f"**/{LIVE}"))
    assert first == again
    stage.finish(tmp_path, again, ids=[], counts={})


@pytest.mark.docker
def test_a_run_shows_its_commands_and_removes_the_file(tmp_path: Path) -> None:
    seen: list[LiveRun] = []

    def look() -> str:
        seen.append(live(tmp_path))
        return "echo two"

    plan = RolloutPlan(
        lambda: Scripted("echo one", look, "exit"), seed=0, limits=EpisodeLimits(max_steps=5, timeout_seconds=30),
        workers=1, cancelled=threading.Event(),
    )  # fmt: skip
    done = run_episodes(plan, [Episode(hand(), sample) for sample in range(2)], tmp_path, label="rollout")
    assert [(one.total, [(e.id, e.steps, e.command) for e in one.episodes]) for one in seen] == [
        (2, [(id_, 1, "echo one")]) for id_ in sorted(done)
    ]
    assert {path.name for path in tmp_path.iterdir()} == {f"{id_}.json" for id_ in done}
    assert [one.id for one in read_trajectories(tmp_path)] == sorted(done)
