"""Scenarios without signal are skipped, and come back; the rest take turns, in an order that the seed decides."""

import itertools
from pathlib import Path
from typing import Any

from training.curriculum import Curriculum
from training.rl_settings import RlSettings

IDS = [f"w{at}" for at in range(10)]


def settings(**changes: Any) -> RlSettings:
    given: dict[str, Any] = {"base": "x", "adapter": Path("x"), "scenarios": Path("x"), "groups": 4}
    return RlSettings(**{**given, "skip_after": 2, "revisit_after": 6, **changes})


def run_steps(curriculum: Curriculum, rewards: dict[str, list[float]], first: int, count: int) -> list[list[str]]:
    picked = []
    for step in range(first, first + count):
        ids = curriculum.pick(step).ids
        picked.append(ids)
        for id_ in ids:
            curriculum.enter(id_, step, rewards.get(id_, [0.0, 1.0]))
    return picked


def test_every_scenario_comes_before_any_comes_again() -> None:
    seen = [id_ for ids in run_steps(Curriculum(IDS, settings()), {}, 1, 5) for id_ in ids]
    assert sorted(seen[:10]) == IDS
    assert sorted(seen[10:20]) == IDS
    assert seen[:10] != seen[10:20]  # not in the same order again


def test_the_seed_decides_the_order() -> None:
    one, two, other = (run_steps(Curriculum(IDS, settings(seed=seed)), {}, 1, 5) for seed in (1, 1, 2))
    assert one == two != other


def test_without_signal_a_scenario_is_skipped_and_revisited() -> None:
    curriculum = Curriculum(IDS, settings())
    dull = {"w0": [1.0, 1.0], "w1": [0.0, 0.0]}
    picked = run_steps(curriculum, dull, 1, 30)
    steps = [number for number, ids in enumerate(picked, 1) if "w1" in ids]
    assert all(later - earlier >= 6 for earlier, later in itertools.pairwise(steps[1:]))
    assert len(steps) >= 4  # it comes back now and then
    pick = curriculum.pick(31)
    assert pick.skipped_solved + pick.skipped_failed + pick.revisited == 2
    assert all(len(set(ids) & dull.keys()) <= 1 for ids in picked[8:])  # at most a quarter of a step


def test_a_step_is_shorter_where_too_few_scenarios_teach() -> None:
    curriculum = Curriculum(IDS, settings())
    dull = {id_: [0.0, 0.0] for id_ in IDS[3:]}
    picked = run_steps(curriculum, dull, 1, 40)
    assert min(map(len, picked)) == 3
    assert max(map(len, picked)) == 4
    assert all(set(IDS[:3]) <= set(ids) for ids in picked[10:])


def test_a_scenario_that_teaches_again_is_no_longer_skipped() -> None:
    curriculum = Curriculum(["a", "b"], settings(groups=1, revisit_after=1))
    for step in (1, 2):
        curriculum.enter("a", step, [0.0, 0.0])
    assert (curriculum.pick(3).skipped_failed, curriculum.pick(3).ids) == (1, ["b"])
    curriculum.enter("a", 3, [0.0, 1.0])
    assert curriculum.pick(4).skipped_failed == 0


def test_a_visit_without_a_scored_episode_says_nothing() -> None:
    curriculum = Curriculum(["a"], settings())
    curriculum.enter("a", 1, [0.0, 0.0])
    curriculum.enter("a", 2, [])
    assert curriculum.visits["a"].without_signal == 1
    assert curriculum.visits["a"].count == 2  # its sample numbers are taken


def test_where_nothing_teaches_any_more_the_longest_unseen_are_played() -> None:
    curriculum = Curriculum(IDS, settings())
    picked = run_steps(curriculum, {id_: [1.0, 1.0] for id_ in IDS}, 1, 20)
    assert all(len(ids) >= 1 for ids in picked)
    assert all(len(ids) == 4 for ids in picked[:5])
    assert Curriculum(IDS, settings(), curriculum.as_json()).pick(21) == curriculum.pick(21)
