"""Pairs have two sides of one operator, scenario and opening, and every row counts once."""

import random
from typing import Any

import pytest

from schema import Message, Trajectory
from tests.helpers.tiny import trajectory
from training.pairs import LEFT_OUT, Candidate, candidate_of, pair_up


def row(id_: str, *, kept: bool, steps: int = 2, **changes: Any) -> Trajectory:
    return trajectory(id_, kept=kept, steps=steps).model_copy(update=changes)


def paired(*rows: Trajectory, per_scenario: int = 4) -> Any:
    found = pair_up([candidate_of(one) for one in rows], per_scenario=per_scenario)
    left_out = [id_ for ids in found.left_out.values() for id_ in ids]
    used = {id_ for pair in found.pairs for id_ in pair}
    assert sorted([*left_out, *used]) == sorted(one.id for one in rows)  # every row once
    counts = found.counts()
    assert counts["read"] == counts["paired"] + sum(counts["left_out"].values()) == len(rows)
    return found


def reasons(found: Any) -> dict[str, list[str]]:
    return {reason: ids for reason, ids in found.left_out.items() if ids}


def by(row_: Trajectory, **changes: Any) -> dict[str, Any]:
    return {"operator": row_.operator.model_copy(update=changes)}


GOOD, BAD = row("a-s0", kept=True), row("a-s1", kept=False, steps=3)


def test_a_kept_and_a_rejected_session_make_a_pair() -> None:
    found = paired(BAD, GOOD)
    assert found.pairs == [("a-s0", "a-s1")]
    assert reasons(found) == {}


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (row("a-s1", kept=True, steps=3), "one_sided"),
        (row("b-s1", kept=False, steps=3), "one_sided"),  # another scenario
        (BAD.model_copy(update={"scenario_hash": "0" * 64}), "one_sided"),  # a scenario that was changed
        (BAD.model_copy(update=by(BAD, kind="local")), "off_policy"),
        (BAD.model_copy(update=by(BAD, model="m")), "off_policy"),
        (BAD.model_copy(update=by(BAD, adapter_hash="1" * 64)), "off_policy"),
        (
            BAD.model_copy(update={"messages": [Message(role="system", content="other"), *BAD.messages[1:]]}),
            "other_opening",
        ),
    ],
)
def test_the_sides_belong_together(other: Trajectory, reason: str) -> None:
    found = paired(GOOD, other)
    assert found.pairs == []
    assert reasons(found) == {reason: sorted([GOOD.id, other.id])}


@pytest.mark.parametrize("outcome", ["sandbox_failed", "operator_failed", "cancelled", "checker_failed"])
def test_broken_sessions_are_no_evidence(outcome: str) -> None:
    found = paired(GOOD, BAD, row("a-s2", kept=False, steps=4, outcome=outcome))
    assert found.pairs == [("a-s0", "a-s1")]
    assert reasons(found) == {"checker_failed" if outcome == "checker_failed" else "voided": ["a-s2"]}


@pytest.mark.parametrize("outcome", ["max_steps", "context_full", "locked_out", "exit", "panic"])
def test_the_operators_own_failures_are_rejected_sides(outcome: str) -> None:
    assert paired(GOOD, BAD.model_copy(update={"outcome": outcome})).pairs == [("a-s0", "a-s1")]


def test_sampling_and_seed_may_differ() -> None:
    assert paired(GOOD, BAD.model_copy(update=by(BAD, seed=7, sampling={"temperature": 1.0}))).pairs


def test_a_session_without_a_command_is_left_out() -> None:
    found = paired(GOOD, BAD.model_copy(update={"messages": BAD.messages[:2]}))
    assert reasons(found) == {"no_turn": ["a-s1"], "one_sided": ["a-s0"]}


def test_equal_sessions_count_once_and_never_on_both_sides() -> None:
    again, twin = row("a-s5", kept=True), row("a-s6", kept=False)  # the messages of GOOD
    found = paired(GOOD, BAD, again)
    assert (found.pairs, reasons(found)) == ([("a-s0", "a-s1")], {"duplicate": ["a-s5"]})
    found = paired(GOOD, BAD, twin)
    assert (found.pairs, reasons(found)) == ([], {"both_sides": ["a-s0", "a-s6"], "one_sided": ["a-s1"]})


def test_the_cap_holds_for_each_scenario_and_operator() -> None:
    rows = [row(f"{name}-s{at}", kept=at < 2, steps=2 + at) for name in ("a", "b") for at in range(7)]
    found = paired(*rows, per_scenario=3)
    assert found.pairs == [
        (f"{name}-s{good}", f"{name}-s{bad}") for name in ("a", "b") for good, bad in ((0, 2), (1, 3), (0, 4))
    ]
    assert reasons(found) == {"beyond_cap": ["a-s5", "a-s6", "b-s5", "b-s6"]}
    assert len(set(paired(*rows, per_scenario=99).pairs)) == 2 * 5  # all rows, no pair twice


def test_the_order_of_the_rows_does_not_matter() -> None:
    rows = [row(f"{name}-s{at}", kept=at % 3 == 0, steps=2 + at % 5) for name in ("a", "b", "c") for at in range(9)]
    first = paired(*rows)
    for seed in range(5):
        random.Random(seed).shuffle(rows)
        assert vars(paired(*rows)) == vars(first)


def test_rows_of_another_archive_can_be_paired() -> None:
    same = {"scenario": "django-1", "operator": "glm", "opening": "o"}
    rows = [Candidate("x", content="1", success=True, **same), Candidate("y", content="2", success=False, **same)]
    assert pair_up(rows).pairs == [("x", "y")]
    assert set(pair_up(rows).left_out) == set(LEFT_OUT)
